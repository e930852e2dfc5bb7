"""Filters as boolean masks over rows: they apply before any cut, so a selective filter never loses an answer."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from fnmatch import translate

import numpy as np
from numpy.typing import NDArray

from vademecum.retrieval.features import definitions
from vademecum.retrieval.files import FILE_KINDS, FileTable
from vademecum.retrieval.view import View
from vademecum.types import KINDS, Query


def is_filtered(query: Query) -> bool:
    """Whether a query filters at all, but for its regular expression."""
    return bool(query.languages or query.paths or query.exclude or query.symbol) or KINDS[query.kind] != KINDS["all"]


def row_mask(view: View, query: Query) -> NDArray[np.bool_]:
    """Return bool (R,): the rows that pass every filter of a query but its regular expression."""
    mask = file_mask(view.files, query)[view.row_file]
    if query.symbol:
        mask &= definitions(view, [query.symbol])[view.row_chunk] > 0
    return mask


def file_mask(files: FileTable, query: Query) -> NDArray[np.bool_]:
    """Return bool (F,): the files that pass the filters on language, kind and path."""
    mask = np.ones(len(files), bool)
    if query.languages:
        wanted = [name in query.languages for name in files.language_names]
        mask &= np.array(wanted, bool)[files.languages] if wanted else False
    if KINDS[query.kind] != KINDS["all"]:
        mask &= np.array([kind in KINDS[query.kind] for kind in FILE_KINDS], bool)[files.kinds]
    if query.paths:
        mask &= _matching(files.paths, query.paths)
    if query.exclude:
        mask &= ~_matching(files.paths, query.exclude)
    return mask


def _matching(paths: list[str], globs: Iterable[str]) -> NDArray[np.bool_]:
    mask = np.zeros(len(paths), bool)
    for glob in globs:
        hits = _hits(paths, glob_pattern(glob.replace("[", "[[]"))) if "[" in glob else mask[:0]
        mask |= hits if hits.any() else _hits(paths, glob_pattern(glob))
    return mask


def _hits(paths: list[str], pattern: str) -> NDArray[np.bool_]:
    match = re.compile(pattern).match
    return np.fromiter((match(path) is not None for path in paths), bool, len(paths))


def below(files: FileTable, prefixes: Iterable[str]) -> NDArray[np.bool_]:
    """Return bool (F,): the files that are one of `prefixes` or lie below it. No character is a wildcard."""
    mask = np.zeros(len(files), bool)
    for prefix in prefixes:  # paths ascend, and what lies below a directory stands together
        mask[bisect_left(files.paths, f"{prefix}/") : bisect_left(files.paths, f"{prefix}0")] = True  # "0" follows "/"
        mask[bisect_left(files.paths, prefix) : bisect_right(files.paths, prefix)] = True
    return mask


def glob_pattern(glob: str) -> str:
    """Return a regular expression for a glob, or for everything below a path without wildcards.

    A glob without a slash matches names at any depth, as in `.gitignore`; `*` also matches across slashes. Brackets may
    be meant as they are (`app/[slug]` is how some frameworks name routes), so they match both ways.

        >>> def hits(glob, path): return bool(re.match(glob_pattern(glob), path))
        >>> hits("src/*.py", "src/a/b.py"), hits("*.py", "src/b.py"), hits("src", "src/b.py"), hits("src", "srcs/b.py")
        (True, True, True, False)
    """
    glob = glob.removeprefix("./").rstrip("/")
    if not glob or glob == ".":
        return ""
    anywhere = "" if "/" in glob else "(?:.*/)?"
    literal = rf"{anywhere}{re.escape(glob)}(?:/|\Z)"
    if not re.search(r"[*?\[]", glob):
        return f"(?:{literal})"
    parts = [translate(part).removeprefix("(?s:")[:-3] for part in glob.split("**/")]  # each ends in `)\Z`
    return rf"(?:{literal}|{anywhere}(?s:{'(?:.*/)?'.join(parts)})\Z)"

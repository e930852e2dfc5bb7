"""Filters as boolean masks over rows: they apply before any cut, so a selective filter never loses an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate

import numpy as np
from numpy.typing import NDArray

from vademecum.retrieval.features import loose_symbol_key, symbol_key
from vademecum.retrieval.files import FILE_KINDS, FileTable
from vademecum.retrieval.view import View
from vademecum.types import KINDS, Query


def row_mask(view: View, query: Query) -> NDArray[np.bool_]:
    """Return bool (R,): the rows that pass every filter of a query but its regular expression."""
    mask = file_mask(view.files, query)[view.row_file]
    if query.symbol:
        mask &= _defining(view, query.symbol)
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
    match = re.compile("|".join(glob_pattern(glob) for glob in globs)).match
    return np.fromiter((match(path) is not None for path in paths), bool, len(paths))


def glob_pattern(glob: str) -> str:
    """Return a regular expression for a glob, or for everything below a path without wildcards.

    A glob without a slash matches names at any depth, as in `.gitignore`.

        >>> def hits(glob, path): return bool(re.match(glob_pattern(glob), path))
        >>> hits("src/*.py", "src/a/b.py"), hits("*.py", "src/b.py"), hits("src", "src/b.py"), hits("src", "srcs/b.py")
        (True, True, True, False)
    """
    glob = glob.removeprefix("./").rstrip("/")
    if not glob or glob == ".":
        return ""
    if not re.search(r"[*?\[]", glob):
        return rf"(?:{'' if '/' in glob else '(?:.*/)?'}{re.escape(glob)}(?:/|\Z))"
    anywhere = "" if "/" in glob else "(?:.*/)?"
    return rf"(?:{anywhere}{translate(glob.replace('**/', '*'))})"


def _defining(view: View, name: str) -> NDArray[np.bool_]:
    chunks = np.zeros(int(view.bases[-1]), bool)
    keys = np.array([symbol_key(name), loose_symbol_key(name)], np.uint64)
    for segment, base in zip(view.segments, view.bases, strict=False):
        where, _ = segment.postings.find(keys)
        chunks[segment.postings.docs[where] + base] = True
    return chunks[view.row_chunk]

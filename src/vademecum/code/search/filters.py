"""Filters as boolean masks over rows.

Filters apply before any cut, so a selective filter never loses an answer.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from vademecum.code.search.features import definitions, holding
from vademecum.code.snapshot.files import FILE_KINDS, FileTable
from vademecum.code.snapshot.view import View
from vademecum.index.query import is_meant, is_within, split_name
from vademecum.matching import glob_pattern
from vademecum.types import KINDS, Query

FEW_ROWS = 32  # so few rows are read without a look-up first


def is_filtered(query: Query) -> bool:
    """Return whether a query has filters besides its regular expression."""
    return bool(query.languages or query.paths or query.exclude or query.symbol) or KINDS[query.kind] != KINDS["all"]


def row_mask(view: View, query: Query) -> NDArray[np.bool_]:
    """Return the rows that pass every filter, bool (R,).

    The regular expression is not applied.
    """
    mask = file_mask(view.files, query)[view.row_file]
    if query.symbol:
        parts = split_name(query.symbol) or [query.symbol]
        mask &= definitions(view, parts[-1:])[view.row_chunk] > 0
        if len(parts) > 1:
            rows = np.flatnonzero(mask)
            mask[rows] = meant_rows(view, rows, parts)
    return mask


def meant_rows(view: View, rows: NDArray[np.intp], parts: Sequence[str]) -> NDArray[np.bool_]:
    """Return the rows that a qualified name means, bool (m,).

    If no row is meant exactly, rows that a package exports under the name count.
    """
    found = np.zeros(len(rows), bool)
    likely = _likely(view, rows, parts) if len(rows) > FEW_ROWS else np.arange(len(rows))
    rows = rows[likely]
    files = view.row_file.take(rows).tolist()
    held = [(each.symbols, view.files.paths[file]) for each, file in zip(view.said(rows.tolist()), files, strict=True)]
    strictly = np.array([any(is_meant(parts, name, path) for name in names) for names, path in held], bool)
    if not strictly.any():
        strictly = np.array([any(is_within(parts, name, path) for name in names) for names, path in held], bool)
    found[likely[strictly]] = True
    return found


def _likely(view: View, rows: NDArray[np.intp], parts: Sequence[str]) -> NDArray[np.intp]:
    """Return the places of rows that may match a qualified name.

    The part before the last must occur in the row's file or path. Reading a row's symbols means reading its text, and a
    common name has hundreds of declarations.
    """
    around = parts[-2] if len(parts) > 1 else ""
    writing, paths = holding(view, around), view.files.paths
    files = view.row_file.take(rows)
    beside = np.fromiter((around in paths[file] for file in files.tolist()), bool, len(rows))
    return np.flatnonzero(writing.take(files) | beside)


def file_mask(files: FileTable, query: Query) -> NDArray[np.bool_]:
    """Return the files that pass the filters, bool (F,).

    The filters are language, kind and path.
    """
    mask = np.ones(len(files), bool)
    if query.languages:
        wanted = [name in query.languages for name in files.language_names]
        mask &= np.array(wanted, bool)[files.languages] if wanted else False
    if KINDS[query.kind] != KINDS["all"]:
        mask &= np.array([kind in KINDS[query.kind] for kind in FILE_KINDS], bool)[files.kinds]
    if query.paths:
        mask &= matching(files.paths, query.paths)
    if query.exclude:
        mask &= ~matching(files.paths, query.exclude)
    return mask


def matching(paths: list[str], globs: Iterable[str]) -> NDArray[np.bool_]:
    """Return the paths that a glob or directory covers, bool (F,)."""
    mask = np.zeros(len(paths), bool)
    for glob in globs:
        hits = _hits(paths, glob_pattern(glob.replace("[", "[[]"))) if "[" in glob else mask[:0]
        mask |= hits if hits.any() else _hits(paths, glob_pattern(glob))
    return mask


def _hits(paths: list[str], pattern: str) -> NDArray[np.bool_]:
    match = re.compile(pattern).match
    return np.fromiter((match(path) is not None for path in paths), bool, len(paths))


def below(files: FileTable, prefixes: Iterable[str]) -> NDArray[np.bool_]:
    """Return the files at or below a prefix, bool (F,).

    No character is a wildcard.
    """
    mask = np.zeros(len(files), bool)
    for prefix in prefixes:  # paths ascend, so a directory's files are contiguous
        mask[bisect_left(files.paths, f"{prefix}/") : bisect_left(files.paths, f"{prefix}0")] = True  # "0" follows "/"
        mask[bisect_left(files.paths, prefix) : bisect_right(files.paths, prefix)] = True
    return mask

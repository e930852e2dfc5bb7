"""Every piece of one file, in order: what stands around a piece that was found."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

import numpy as np

from vademecum.codebase.evidence import evidence_of, stored_chunks
from vademecum.codebase.freshness import check_file
from vademecum.codebase.repository import Opened
from vademecum.types import Evidence


def pieces_of(each: Opened, path: str) -> tuple[Evidence, ...]:
    """Return a file's chunks as evidence, first to last, as the file is now; () where it is not indexed.

    `metadata` is what is kept of each chunk; `part` and `parts` are in it where a long declaration was cut.
    """
    files = each.view.files
    number = bisect_left(files.paths, path)
    if files.paths[number : number + 1] != [path]:
        return ()
    first, last = np.searchsorted(each.view.row_file, [number, number + 1]).tolist()
    rows = range(first, last)
    state = check_file(each, number)
    found: dict[str, Evidence] = {}
    for row, stored in zip(rows, stored_chunks(each, rows), strict=True):
        evidence = evidence_of(each, row, stored, 0.0, {}, state)
        found.setdefault(evidence.id, replace(evidence, metadata=dict(stored[0].metadata)))
    return tuple(found.values())

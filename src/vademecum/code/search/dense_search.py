"""Cosines from local arrays or from an external vector index.

An external index returns its nearest points. Each point is looked up in the searched snapshot, by path, content and
place. Points of other snapshots, or that fail the filters, are dropped, and more are requested until enough pass.
Chunks that the index does not return get no dense score. If the index fails or is out of date, the local arrays answer
and the answer says so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from vademecum.code.search.signals import Floats
from vademecum.code.snapshot.mirror import Mirror
from vademecum.code.snapshot.repository import Opened
from vademecum.code.snapshot.view import View
from vademecum.points import Filter, Near, Payload
from vademecum.result import Err, Ok
from vademecum.types import KINDS, Query

ENOUGH = 500  # chunks with a dense score: more than the candidates of the second step
MOST_ASKED = 16 * ENOUGH  # the most points to request
FOR_SCALE = 20  # unfiltered points requested for scale; some may be of another snapshot
FEW_FILES = 500  # a filter that so few files pass is sent as their paths


def nearness_of(
    opened: Sequence[Opened], vector: Floats | None, query: Query, masks: Sequence[NDArray[np.bool_]] | None
) -> tuple[list[Floats | None], str]:
    """Return each repository's chunk cosines, float32 (N,), and any problems.

    None in place of cosines means that the local arrays are used. `masks`, bool (R,), give the rows that pass the
    filters; None for all. The message is "" without problems.
    """
    if vector is None:
        return [None] * len(opened), ""
    found: list[Floats | None] = []
    said: list[str] = []
    for number, each in enumerate(opened):
        near, trouble = _asked(each, vector, query, None if masks is None else masks[number])
        found.append(near)
        if trouble:
            said.append(f"meaning is from this machine's own vectors, since {trouble}")
    return found, "; ".join(dict.fromkeys(said))


def _asked(each: Opened, vector: Floats, query: Query, mask: NDArray[np.bool_] | None) -> tuple[Floats | None, str]:
    mirror = each.repo.mirror
    if mirror is None:
        return None, ""
    standing = mirror.standing()
    if not standing.is_whole:
        return None, standing.said
    return _nearest(each, mirror, vector, _filter_of(each.view, query, mask), mask)


def _nearest(
    each: Opened, mirror: Mirror, vector: Floats, where: Filter, mask: NDArray[np.bool_] | None
) -> tuple[Floats | None, str]:
    scores = np.zeros(int(each.view.bases[-1]), np.float32)
    if mask is not None:  # signals are divided by their maximum over all chunks, whatever the filters
        match mirror.index().nearest(vector, FOR_SCALE, Filter()):
            case Err(error):
                return None, mirror.failed(error)
            case Ok(found):
                add_scores(scores, each.view, found, None)
    wanted = ENOUGH
    while True:
        match mirror.index().nearest(vector, wanted, where):
            case Err(error):
                return None, mirror.failed(error)
            case Ok(found):
                passed = add_scores(scores, each.view, found, mask)
                if passed >= ENOUGH or len(found) < wanted or wanted >= MOST_ASKED:
                    return scores, ""
        wanted *= 4


def add_scores(scores: Floats, view: View, found: Iterable[Near], mask: NDArray[np.bool_] | None) -> int:
    """Add the scores of matching points to their chunks.

    A point matches if it is a row of the view that the mask allows. Returns the number of matching points.
    """
    passed = 0
    for near in found:
        row = row_of(view, near.payload)
        if row is not None and (mask is None or mask[row]):
            chunk = view.row_chunk[row]
            scores[chunk] = max(scores[chunk], near.score)
            passed += 1
    return passed


def row_of(view: View, payload: Payload) -> int | None:
    """Return a point's row in a view, or None.

    None means that the point belongs to another snapshot.
    """
    files = view.files
    file = bisect_left(files.paths, payload.path)
    if file == len(files) or files.paths[file] != payload.path:
        return None
    if files.digests[file].tobytes().hex() != payload.blob:
        return None
    first, last = np.searchsorted(view.row_file, [file, file + 1])
    row = int(first) + payload.ordinal
    return row if payload.ordinal >= 0 and row < last else None


def _filter_of(view: View, query: Query, mask: NDArray[np.bool_] | None) -> Filter:
    """Return the part of a query's filters to send.

    The results are filtered again here.
    """
    if mask is None:
        return Filter()
    files = np.unique(view.row_file[mask]).tolist()
    if len(files) <= FEW_FILES:
        return Filter(files=tuple(view.files.paths[file] for file in files) or ("",))
    kinds = KINDS[query.kind]
    return Filter(languages=query.languages, file_kinds=() if kinds == KINDS["all"] else tuple(sorted(kinds)))


def missing_said(views: Sequence[View]) -> str:
    """Return a note on chunks without vectors, or ""."""
    missing, every = sum(view.awaiting for view in views), sum(map(len, views))
    return (
        f"{missing} of {every} pieces have no vector yet and are found by words alone: `vade index` makes them"
        if missing
        else ""
    )

"""Cosines of a question with chunks, by arrays or a vector index.

An index outside gives its nearest points; each is looked up in the snapshot that is searched, by path, content and place.
What is of another snapshot, or does not pass the filters, is left, and more is asked for until enough has passed. Chunks
that it does not return have no part in meaning. Where it fails, or is behind, the arrays answer and the answer says so.
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

ENOUGH = 500  # pieces that have a part in meaning: more than ranking looks at closely
MOST_ASKED = 16 * ENOUGH  # points, of which enough should have passed
FOR_SCALE = 20  # of all points, some of which may be of another snapshot
FEW_FILES = 500  # a filter that lets no more pass is sent as their paths


def nearness_of(
    opened: Sequence[Opened], vector: Floats | None, query: Query, masks: Sequence[NDArray[np.bool_]] | None
) -> tuple[list[Floats | None], str]:
    """Return, for each repository, float32 (N,): the cosine of each chunk with a question, None for that of the arrays.

    `masks` say, bool (R,), which rows the filters let pass; None for all. Beside it stands what is to be said of indexes that
    did not answer, "" where all went well.
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
    if mask is not None:  # signals are weighed by their most, which is that of all pieces, whatever the filters
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
    """Put the score of each point that is a row of the view, and that a mask lets pass, to its chunk; return how many they are."""
    passed = 0
    for near in found:
        row = row_of(view, near.payload)
        if row is not None and (mask is None or mask[row]):
            chunk = view.row_chunk[row]
            scores[chunk] = max(scores[chunk], near.score)
            passed += 1
    return passed


def row_of(view: View, payload: Payload) -> int | None:
    """Return the row of a view that a point belongs to, None where it belongs to another snapshot."""
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
    """Return the part of a query's filters that is worth sending: what comes back is looked at again."""
    if mask is None:
        return Filter()
    files = np.unique(view.row_file[mask]).tolist()
    if len(files) <= FEW_FILES:
        return Filter(files=tuple(view.files.paths[file] for file in files) or ("",))
    kinds = KINDS[query.kind]
    return Filter(languages=query.languages, file_kinds=() if kinds == KINDS["all"] else tuple(sorted(kinds)))


def missing_said(views: Sequence[View]) -> str:
    """Return how many pieces cannot be found by meaning yet, "" where all can."""
    missing, every = sum(view.awaiting for view in views), sum(map(len, views))
    return (
        f"{missing} of {every} pieces have no vector yet and are found by words alone: `vade index` makes them"
        if missing
        else ""
    )

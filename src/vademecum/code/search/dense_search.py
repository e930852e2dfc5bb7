"""Dense search in an external vector index.

An external index returns its nearest points. Each point is looked up in the searched snapshot, by path, content and
place. Points of other snapshots, or that fail the filters, are dropped, and more are requested until enough pass.
Chunks that the index does not return get no dense score. If the index fails or is out of date, the local arrays answer
and the answer says so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from vademecum.code.search.signals import Floats
from vademecum.code.snapshot.mirror import Mirror
from vademecum.code.snapshot.observed import index_failed
from vademecum.code.snapshot.repository import Alone, DenseSearch
from vademecum.code.snapshot.view import View
from vademecum.errors import ConsentError, EmbedError, PluginError, StoreError, UsageError
from vademecum.points import Filter, Near, Payload
from vademecum.protocols import Progress, VectorIndex, silent
from vademecum.result import Err, Ok
from vademecum.types import KINDS, Check, Query

ENOUGH = 500  # chunks with a dense score: more than the candidates of the second step
MOST_ASKED = 16 * ENOUGH  # the most points to request
FOR_SCALE = 20  # unfiltered points requested for scale; some may be of another snapshot
FEW_FILES = 500  # a filter that so few files pass is sent as their paths

Mask = NDArray[np.bool_] | None


class MirroredVectors(DenseSearch):
    """Dense search in the external index that mirrors a repository's vectors."""

    def __init__(self, mirror: Mirror) -> None:
        self.mirror = mirror

    def cosines(self, view: View, vector: Floats, query: Query, mask: Mask) -> tuple[Floats, str]:
        """Return the cosines of the nearest chunks, 0 for all others."""
        state = self.mirror.standing()
        problem = state.said
        if state.is_whole:
            index = self.mirror.index()
            try:
                return nearest(index, view, vector, filter_of(view, query, mask), mask), ""
            except StoreError as error:
                problem = self.mirror.failed(error)
        index_failed()
        scores, _ = super().cosines(view, vector, query, mask)
        return scores, f"meaning is from this machine's own vectors, since {problem}"

    def catch_up(self, alone: Alone, progress: Progress) -> str:
        """Write the catalogue's changes to the index."""
        return self.mirror.catch_up(alone, progress).said

    def checks(self, alone: Alone, *, repair: bool) -> list[Check]:
        """Compare the points of the index with its ledger."""
        return [check_vectors(self.mirror, alone, repair=repair)]


def nearest(index: VectorIndex, view: View, vector: Floats, where: Filter, mask: Mask) -> Floats:
    """Return the cosines of an index's nearest chunks, float32 (N,).

    Raises `StoreError` when the index fails.
    """
    scores = np.zeros(int(view.bases[-1]), np.float32)
    if mask is not None:  # signals are divided by their maximum over all chunks, whatever the filters
        add_scores(scores, view, index.nearest(vector, FOR_SCALE, Filter()).unwrap(), None)
    wanted = ENOUGH
    while True:
        found = index.nearest(vector, wanted, where).unwrap()
        if add_scores(scores, view, found, mask) >= ENOUGH or len(found) < wanted or wanted >= MOST_ASKED:
            return scores
        wanted *= 4


def add_scores(scores: Floats, view: View, found: Iterable[Near], mask: Mask) -> int:
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


def filter_of(view: View, query: Query, mask: Mask) -> Filter:
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


def check_vectors(mirror: Mirror, alone: Alone, *, repair: bool) -> Check:
    """Compare the points of an external vector index with the ledger."""
    try:
        name = mirror.index().name
        match mirror.repair(alone, silent) if repair else mirror.drift():
            case Err(error):
                return Check("vectors", ok=False, detail=str(error), fix="mend that, then run `vade doctor --repair`")
            case Ok(drift):
                behind = mirror.standing()
    except (ConsentError, EmbedError, PluginError, UsageError) as error:
        return Check("vectors", ok=False, detail=str(error), fix="see the message, or set search.vectors to exact")
    where = f"{name}{', from another machine' if mirror.index().remote else ''}"
    if repair and drift.said:
        return Check("vectors", ok=True, detail=f"{where}: mended, there were {drift.said}")
    if drift.said or behind.lacking or behind.left_over:
        late = (
            f"{behind.lacking + behind.left_over} files still to be brought up to date" if not behind.is_whole else ""
        )
        said = ", ".join(filter(None, (drift.said, late)))
        return Check("vectors", ok=False, detail=f"{where}: {said}", fix="run `vade doctor --repair`")
    return Check("vectors", ok=True, detail=f"{where}: {drift.expected} points, all as they should be")

"""Points for an external vector index.

A point is one chunk of one content at one path. Its id is the same whenever the point is built.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vademecum.code.checkout.classify import file_kind
from vademecum.code.snapshot.mirror_ledger import THERE, Placement, placements_in
from vademecum.code.snapshot.store import Catalogue
from vademecum.index.segment import PENDING, Segment
from vademecum.index.sparse import sparse_weights
from vademecum.points import Payload, Point, point_key


def ready(catalogue: Catalogue, placements: Sequence[Placement]) -> list[Placement]:
    """Return the placements whose vectors are all made.

    A slow embedder may not have made some vectors yet.
    """
    there = _places(catalogue, sorted({each.blob for each in placements}))
    return [each for each in placements if each.blob in there]


def points_of(catalogue: Catalogue, repo: str, placements: Sequence[Placement], *, with_tokens: bool) -> list[Point]:
    """Return the points of placements.

    Content whose arrays are lost has none until the content is analysed again.
    """
    blobs = sorted({each.blob for each in placements})
    vectors = _vectors(catalogue, blobs)
    store = catalogue.store
    named = {row[0]: row[1:3] for row in store.get("blobs", [(blob,) for blob in blobs]).unwrap()}
    points: list[Point] = []
    for each in placements:
        own = vectors.get(each.blob)
        if own is None or each.blob not in named:
            continue
        digest, language = named[each.blob]
        chunks = catalogue.chunks([(each.blob, ordinal) for ordinal in range(len(own))])
        for ordinal, ((chunk, chunk_hash), vector) in enumerate(zip(chunks, own, strict=True)):
            symbols = tuple(symbol.qualified for symbol in chunk.symbols) or ((chunk.qualified,) if chunk.name else ())
            payload = Payload(
                evidence_id(repo, each, chunk_hash), repo, each.branch, each.label, each.path, language,
                chunk.start_line, chunk.end_line, str(chunk.kind), file_kind(each.path).value, symbols,
                chunk.text, digest, ordinal,
            )  # fmt: skip
            tokens = sparse_weights(f"{chunk.qualified} {chunk.signature} {chunk.text}") if with_tokens else {}
            points.append(Point(payload, vector, tokens))
    return points


def expected_keys(
    catalogue: Catalogue, repo: str, space: str, states: Sequence[int] = (THERE,)
) -> dict[str, Placement]:
    """Map the keys of expected points to their placements.

    Only placements in the given states count.
    """
    placements = placements_in(catalogue.store, space, states)
    blobs = sorted({each.blob for each in placements})
    hashes: dict[int, list[str]] = {}
    for blob, digest in catalogue.store.scan("chunks", [("blob", "in", blobs)], ("blob", "hash")).unwrap():
        hashes.setdefault(blob, []).append(digest)
    return {
        point_key(evidence_id(repo, each, digest)): each for each in placements for digest in hashes.get(each.blob, ())
    }


def evidence_id(repo: str, each: Placement, chunk_hash: str) -> str:
    """Return a point's stable id."""
    return f"{repo}:{each.label}:{each.path}:{chunk_hash}"


def _vectors(catalogue: Catalogue, blobs: Sequence[int]) -> dict[int, NDArray[np.float32]]:
    """Return float32 (chunks, dim) of unit length for each content.

    Content that lacks some vectors is left out.
    """
    found: dict[int, NDArray[np.float32]] = {}
    for blob, (segment, rows) in _places(catalogue, blobs).items():
        whole = segment.vectors[rows].astype(np.float32) * segment.scales[rows, None]
        lengths = np.linalg.norm(whole, axis=1, keepdims=True)
        found[blob] = np.asarray(whole / np.where(lengths > 0, lengths, 1), np.float32)
    return found


def _places(catalogue: Catalogue, blobs: Sequence[int]) -> dict[int, tuple[Segment, slice]]:
    """Return the segment and rows of each content's vectors.

    The newest segment counts. Content with pending vectors is left out.
    """
    found: dict[int, tuple[Segment, slice]] = {}
    for segment in _segments(catalogue):
        for blob, slot in zip(blobs, np.searchsorted(segment.blobs, blobs).tolist(), strict=True):
            if blob not in found and slot < len(segment.blobs) and segment.blobs[slot] == blob:
                found[blob] = segment, slice(*segment.starts[slot : slot + 2].tolist())
    return {blob: place for blob, place in found.items() if not (place[0].scales[place[1]] == PENDING).any()}


def _segments(catalogue: Catalogue) -> Sequence[Segment]:
    for snapshot in catalogue.snapshots():
        loaded = catalogue.load(snapshot.kind, snapshot.place)
        if loaded is not None:
            return loaded[1].segments
    return ()

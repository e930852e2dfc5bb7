"""Publication of indexed contents for the server's search: postings and vectors.

The source are the arrays stored for each content. A batch is written at a time: documents with their lengths, and for each
term one row with its positions in the batch. No two writers change the same row. A term's document frequency is the sum over
its rows, so the inserts themselves keep it current, without a counter to wait for and without a trigger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from vademecum.storage.postgres.connect import features_of

if TYPE_CHECKING:
    from vademecum.index.segment import Segment

DEAD_SHARE = 0.5  # of a space's documents: if more belong to no content, all are written anew
ANALYSED_FROM = 100  # contents in one batch
M, EF_CONSTRUCTION = 16, 64  # of the graph over vectors (HNSW): pgvector's own defaults
FIELDS = ("body", "name", "signature", "docs")
PUBLISHERS = 0x7075  # the class of the publishers' advisory locks: "pu"


def unpublished(connection: psycopg.Connection, space: int, embedder: str, most: int) -> list[int]:
    """Return contents with stored arrays that are not searchable yet.

    Deleted contents are forgotten first. At most `most` contents are returned.
    """
    with connection.transaction():
        _lock(connection, space)
        _forget_dead(connection, space)
    values = {"space": space, "embedder": embedder, "most": most}
    found = connection.execute(_UNPUBLISHED.format(_DOCUMENT), values).fetchall()
    if not found and features_of(connection).vectors:
        found = connection.execute(_UNPUBLISHED.format(_EMBEDDING), values).fetchall()
    return [blob for (blob,) in found]


def publish(connection: psycopg.Connection, space: int, embedder: str, batch: Segment) -> None:
    """Make contents searchable: all or none, each only once.

    Several processes may publish the same contents.
    """
    if features_of(connection).vectors and batch.vectors.size:
        make_graph(connection, "derived_embeddings", batch.vectors.shape[1])
    with connection.transaction():
        _lock(connection, space)
        known = "SELECT count(DISTINCT blob) FROM search_documents WHERE space_id = %s AND blob = ANY(%s)"
        row = connection.execute(known, [space, batch.blobs.tolist()]).fetchone()
        if row == (0,):
            _write(connection, space, batch)
        elif row != (len(batch.blobs),):
            return  # another process has just published some of them; the rest comes with the next batch
        if features_of(connection).vectors and batch.vectors.size:
            _write_vectors(connection, space, batch, embedder)
    if len(batch.blobs) >= ANALYSED_FROM:  # until the server has statistics, it plans for empty tables
        connection.execute("ANALYZE search_documents, search_postings, files, blobs, symbols")


def forget(connection: psycopg.Connection, space: int) -> None:
    """Delete all that is published of a space."""
    with connection.transaction():
        _lock(connection, space)
        for table in TABLES if features_of(connection).vectors else TABLES[:-1]:
            connection.execute(f"DELETE FROM {table} WHERE space_id = %s", [space])


TABLES = ("search_postings", "search_documents", "search_batches", "derived_embeddings")
_UNPUBLISHED = """
SELECT blob FROM arrays WHERE space_id = %(space)s AND embedder = %(embedder)s AND NOT EXISTS ({}) ORDER BY blob LIMIT %(most)s
"""
_DOCUMENT = "SELECT 1 FROM search_documents known WHERE known.space_id = arrays.space_id AND known.blob = arrays.blob"
# a content without chunks has no vector either
_EMBEDDING = """
    SELECT 1 FROM derived_embeddings known WHERE known.space_id = arrays.space_id AND known.blob = arrays.blob
    AND known.embedder = arrays.embedder UNION ALL SELECT 1 FROM search_documents empty
    WHERE empty.space_id = arrays.space_id AND empty.blob = arrays.blob AND empty.document < 0
"""


def _lock(connection: psycopg.Connection, space: int) -> None:
    """Lock out other publishers of this space; indexing goes on."""
    connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", [PUBLISHERS, space])


def _forget_dead(connection: psycopg.Connection, space: int) -> None:
    """Drop documents of deleted contents.

    If most documents are of deleted contents, all are dropped, so that term frequencies count current documents.
    """
    gone = "NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.space_id = own.space_id AND blobs.id = own.blob)"
    connection.execute(f"DELETE FROM search_documents own WHERE space_id = %s AND {gone}", [space])
    if features_of(connection).vectors:
        connection.execute(f"DELETE FROM derived_embeddings own WHERE space_id = %s AND {gone}", [space])
    row = connection.execute(
        "SELECT (SELECT count(*) FROM search_documents WHERE space_id = %(s)s AND document >= 0), "
        "(SELECT coalesce(sum(documents), 0)::bigint FROM search_batches WHERE space_id = %(s)s)",
        {"s": space},
    ).fetchone()
    assert row is not None
    alive, written = row
    if alive < (1 - DEAD_SHARE) * written:
        for table in TABLES[:3]:
            connection.execute(f"DELETE FROM {table} WHERE space_id = %s", [space])


def _write(connection: psycopg.Connection, space: int, batch: Segment) -> None:
    lengths = batch.lengths.astype(np.int64).reshape(-1, len(FIELDS))
    row = connection.execute(
        f"INSERT INTO search_batches (space_id, documents, {','.join(FIELDS)}) VALUES (%s, %s, %s, %s, %s, %s) RETURNING batch",
        [space, len(lengths), *lengths.sum(axis=0).tolist()],
    ).fetchone()
    assert row is not None
    number = row[0]
    columns = f"space_id, batch, document, blob, ordinal, {', '.join(FIELDS)}"
    with connection.cursor().copy(f"COPY search_documents ({columns}) FROM STDIN") as copy:
        for document in _documents(batch, lengths):
            copy.write_row((space, number, *document))
    columns = f"space_id, term, batch, documents, {', '.join(FIELDS)}"
    with connection.cursor().copy(f"COPY search_postings ({columns}) FROM STDIN") as copy:
        for term, where, counts in _postings(batch):
            copy.write_row((space, term, number, where, *counts))


def _documents(batch: Segment, lengths: NDArray[np.int64]) -> Iterator[tuple[int, ...]]:
    """Yield each chunk's number, content, ordinal and lengths."""
    empty = -1
    for place, blob in enumerate(batch.blobs.tolist()):
        first, last = int(batch.starts[place]), int(batch.starts[place + 1])
        for document in range(first, last):
            yield (document, blob, document - first, *lengths[document].tolist())
        if first == last:
            yield (empty, blob, -1, 0, 0, 0, 0)
            empty -= 1


def _postings(batch: Segment) -> Iterator[tuple[int, list[int], list[list[int]]]]:
    """Yield each term's int64 id, documents, and frequencies per field."""
    postings = batch.postings
    terms = postings.keys.view(np.int64).tolist()
    bounds = postings.offsets.tolist()
    docs, tf = postings.docs.tolist(), postings.tf.astype(np.int16).T.tolist()
    for number, term in enumerate(terms):
        start, end = bounds[number], bounds[number + 1]
        yield term, docs[start:end], [field[start:end] for field in tf]


def make_graph(connection: psycopg.Connection, table: str, dim: int) -> None:
    """Create the graph over vectors of one length, if missing."""
    name = f"{table}_{dim}"
    if connection.execute("SELECT to_regclass(%s) IS NULL", [name]).fetchone() == (True,):
        connection.execute(
            f"CREATE INDEX IF NOT EXISTS {name} ON {table} USING hnsw ((embedding::halfvec({dim})) halfvec_cosine_ops) "
            f"WITH (m = {M}, ef_construction = {EF_CONSTRUCTION}) WHERE vector_dims(embedding) = {dim}"
        )


def _write_vectors(connection: psycopg.Connection, space: int, batch: Segment, embedder: str) -> None:
    connection.execute(
        "DELETE FROM derived_embeddings WHERE space_id = %s AND embedder = %s AND blob = ANY(%s)",
        [space, embedder, batch.blobs.tolist()],
    )
    whole = batch.vectors.astype(np.float32) * batch.scales[:, None]
    counts = np.diff(batch.starts)
    blobs = np.repeat(batch.blobs, counts).tolist()
    # vectors not made yet
    pending = {blob for blob, scale in zip(blobs, batch.scales.tolist(), strict=True) if scale < 0}
    ordinals = (np.arange(len(blobs)) - np.repeat(batch.starts[:-1], counts)).tolist()
    columns = "space_id, blob, ordinal, embedder, embedding"
    with connection.cursor().copy(f"COPY derived_embeddings ({columns}) FROM STDIN") as copy:
        for blob, ordinal, vector in zip(blobs, ordinals, whole, strict=True):
            if blob in pending:
                continue
            copy.write_row((space, blob, ordinal, embedder, as_text(vector)))


def as_text(vector: NDArray[np.float32]) -> str:
    """Return a vector as pgvector reads it.

    >>> as_text(np.array([0.5, -1], np.float32))
    '[0.5,-1]'
    """
    values: list[Any] = vector.tolist()
    return "[" + ",".join(f"{value:.6g}" for value in values) + "]"

"""Search in the server: words, meaning and names, over all spaces.

Words are ranked by BM25F, meaning by pgvector, names by pg_trgm, each over the newest snapshots of all spaces.

    idf(t) = ln(1 + (N - n_t + 0.5) / (n_t + 0.5))        tf~ = sum over fields of w_f * tf_f / (1 - b_f + b_f * len_f / mean len_f)
    score  = sum over terms of idf(t) * tf~ / (k1 + tf~)

which is `index.bm25` in SQL, with N and n_t those of the searched spaces. Filters apply before the cut to k. If only a few
chunks pass, vectors are compared one by one: a graph over vectors (HNSW) loses most of the right answers under a selective
filter (recall 0.15 at 2 %, measured). If the graph is used, it is read until enough chunks passed (`hnsw.iterative_scan`).

Contents are published from the arrays stored for each. A batch is written at a time: documents with their lengths, and for each
term one row with its positions in the batch. No two writers change the same row. A term's document frequency is the sum over
its rows, so the inserts themselves keep it current, without a counter to wait for and without a trigger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.rows import dict_row

from vademecum.errors import StoreError
from vademecum.result import Result
from vademecum.storage.postgres.connect import connections, features_of, is_local, place_of
from vademecum.storage.postgres.statements import unescaped
from vademecum.storage.postgres.store import TIMEOUT_SECONDS
from vademecum.types import Bm25f, Hit, Scope, TermStatistics

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


EXACT_BELOW = 50_000  # chunks in the searched spaces: fewer vectors are compared one by one
EF_SEARCH = 100  # least candidates that the graph keeps at hand
SCAN = "strict_order"  # the graph is read, nearest first, until enough chunks passed the filters
LOOKED_AT = 10  # times `k`: chunks that are scored first, those with the rarest terms
SIMILAR = 0.4  # least share of common trigrams of two similar names


class PostgresSearch:
    """Searches every repository of one database. Safe to use from several threads."""

    def __init__(self, url: str, *, timeout_s: float = TIMEOUT_SECONDS) -> None:
        self.name = f"postgres at {place_of(url)}"
        self.remote = not is_local(url)
        self._ask = connections(url, timeout_s).ask

    def unpublished(self, space: str, embedder: str, most: int) -> Result[list[int], StoreError]:
        """Return at most `most` contents of a space not searchable yet."""
        return self._ask(lambda c: unpublished(c, _space(c, space), embedder, most), slow=True)

    def publish(self, space: str, embedder: str, batch: Segment) -> Result[None, StoreError]:
        """Publish the arrays of contents; all or none."""
        return self._ask(lambda c: publish(c, _space(c, space), embedder, batch), slow=True)

    def forget(self, space: str) -> Result[None, StoreError]:
        """Delete all that is published of a space; its arrays stay."""
        return self._ask(lambda c: forget(c, _space(c, space)), slow=True)

    def words(self, terms: Sequence[int], scope: Scope, k: int, constants: Bm25f) -> Result[list[Hit], StoreError]:
        """Return the `k` best chunks for the terms."""
        norms = {
            f"{name}_{field}": value
            for name, values in (("w", constants.weights), ("b", constants.b))
            for field, value in zip(FIELDS, values, strict=True)
        }
        values = _values(scope) | norms | {"terms": list(terms), "k": k, "k1": constants.k1, "looked": LOOKED_AT * k}
        return self._ask(lambda connection: _read(connection.execute(_words(scope), values)))

    def statistics(self, terms: Sequence[int], scope: Scope) -> Result[TermStatistics, StoreError]:
        """Return the statistics of the searched repositories for the terms."""
        values = _values(scope) | {"terms": list(terms)}

        def ask(connection: psycopg.Connection) -> TermStatistics:
            [[documents, *means, holding]] = connection.execute(_with(scope) + _STATISTICS, values).fetchall()
            return TermStatistics(int(documents), tuple(means), tuple(holding))

        return self._ask(ask)

    def near(
        self, vector: NDArray[np.float32], embedder: str, scope: Scope, k: int
    ) -> Result[list[Hit] | None, StoreError]:
        """Return the `k` chunks nearest by cosine; None without pgvector."""
        values = _values(scope) | {"vector": as_text(vector), "embedder": embedder, "k": k}

        def ask(connection: psycopg.Connection) -> list[Hit] | None:
            if not features_of(connection).vectors:
                return None
            count = connection.execute(_with(scope) + _SIZE, values).fetchone()
            narrow = scope.repos or scope.symbol or scope.paths or scope.languages  # too selective for the graph
            if count is None or count[0] < EXACT_BELOW or narrow:
                return _read(connection.execute(_with(scope) + _NEAR, values))
            with connection.transaction():
                connection.execute(f"SET LOCAL hnsw.iterative_scan = {SCAN}")
                connection.execute(f"SET LOCAL hnsw.ef_search = {max(EF_SEARCH, min(2 * k, 1000))}")
                return _read(connection.execute(_graph(scope, len(vector)), values))

        return self._ask(ask)

    def named(self, names: Sequence[str], scope: Scope, k: int) -> Result[list[Hit], StoreError]:
        """Return chunks that define one of these names or a similar one.

        A chunk with the name itself scores 1, one with a similar name less.
        """
        values = _values(scope) | {"names": list(names), "k": k, "similar": SIMILAR}

        def ask(connection: psycopg.Connection) -> list[Hit]:
            if not names:
                return []
            if not features_of(connection).trigrams:
                return _read(connection.execute(_with(scope) + _NAMED, values))
            with connection.transaction():  # sets the threshold of `%` for the index
                connection.execute(f"SET LOCAL pg_trgm.similarity_threshold = {SIMILAR}")
                connection.execute(f"SET LOCAL pg_trgm.word_similarity_threshold = {1 - SIMILAR / 2}")
                return _read(connection.execute(_with(scope) + _SPELLED, values))

        return self._ask(ask)

    def arrays(
        self, contents: Sequence[tuple[str, int]], embedder: str
    ) -> Result[list[tuple[str, str, bytes]], StoreError]:
        """Return language, embedder and packed arrays of each content."""
        values = {
            "spaces": [space for space, _ in contents],
            "blobs": [blob for _, blob in contents],
            "embedder": embedder,
        }

        def ask(connection: psycopg.Connection) -> list[tuple[str, str, bytes]]:
            rows = connection.execute(_ARRAYS, values).fetchall()
            return [(unescaped(language), unescaped(by), data) for language, by, data in rows]

        return self._ask(ask)

    def read(self, hits: Sequence[Hit]) -> Result[list[Mapping[str, Any]], StoreError]:
        """Return the stored record of each hit, in order."""
        columns = {
            "spaces": [hit.space for hit in hits], "snapshots": [hit.snapshot for hit in hits],
            "paths": [hit.path for hit in hits], "blobs": [hit.blob for hit in hits], "ordinals": [hit.ordinal for hit in hits],
        }  # fmt: skip

        def ask(connection: psycopg.Connection) -> list[Mapping[str, Any]]:
            rows = connection.cursor(row_factory=dict_row).execute(_READ, columns).fetchall()
            return [{k: unescaped(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows]

        return self._ask(ask)


def _space(connection: psycopg.Connection, name: str) -> int:
    row = connection.execute("SELECT id FROM spaces WHERE name = %s", [name]).fetchone()
    return -1 if row is None else int(row[0])


def _read(cursor: psycopg.Cursor[Any]) -> list[Hit]:
    return [Hit(*row) for row in cursor.fetchall()]


def _values(scope: Scope) -> dict[str, Any]:
    return {
        "repos": list(scope.repos), "languages": list(scope.languages), "symbol": scope.symbol,
        "paths": [f"^{each}" for each in scope.paths], "exclude": [f"^{each}" for each in scope.exclude],
    }  # fmt: skip


def _with(scope: Scope) -> str:
    """Return the common beginning of every statement.

    It selects the newest snapshot of each space, and the files that pass the filters. A commit goes before a worktree, which
    is one person's own.
    """
    conditions = [
        ("languages", _WRITTEN_IN),
        ("paths", "files.path ~ ANY(%(paths)s)"),
        ("exclude", "NOT files.path ~ ANY(%(exclude)s)"),
    ]  # fmt: skip
    narrowed = "".join(f" AND {clause}" for name, clause in conditions if getattr(scope, name))
    return f"""
        WITH visible AS MATERIALIZED (
            SELECT DISTINCT ON (snapshots.space_id) snapshots.space_id, snapshots.id AS snapshot, spaces.name
            FROM snapshots JOIN spaces ON spaces.id = snapshots.space_id
            WHERE starts_with(spaces.name, 'code:') AND (%(repos)s::text[] = '{{}}'
                OR substring(regexp_replace(spaces.name, '/\\.git$', '') FROM '[^/:]+$') = ANY(%(repos)s))
            ORDER BY snapshots.space_id, (snapshots.kind = 'commit') DESC, snapshots.indexed_at DESC, snapshots.id DESC
        ), f AS NOT MATERIALIZED (
            SELECT visible.space_id, visible.snapshot, visible.name, files.path, files.blob
            FROM visible JOIN files ON files.space_id = visible.space_id AND files.snapshot = visible.snapshot
            WHERE files.blob > 0{narrowed}
        )
    """


_WRITTEN_IN = """EXISTS (SELECT 1 FROM blobs WHERE blobs.space_id = files.space_id AND blobs.id = files.blob
    AND blobs.language = ANY(%(languages)s))"""
_FOUND = "SELECT f.name, f.snapshot, f.path, f.blob, {ordinal}::integer, {score}::double precision"
_DEFINES = """(%(symbol)s = '' OR EXISTS (SELECT 1 FROM symbols s WHERE s.space_id = f.space_id AND s.blob = f.blob
    AND s.ordinal = {of}.ordinal AND lower(s.name) = lower(%(symbol)s::text COLLATE "C")))"""
_ORDER = "ORDER BY 6 DESC, f.name, f.path, 5 LIMIT %(k)s"
_SIZE = "SELECT coalesce(sum(documents), 0) FROM search_batches JOIN visible USING (space_id)"
_TF = " + ".join(
    f"%(w_{field})s * m.{field} / (1 - %(b_{field})s + %(b_{field})s * d.{field} / size.{field})" for field in FIELDS
)
# A chunk scores no more than the idf of its terms. The chunks that could score most are scored first, with their lengths and
# files; of the rest only those that could still beat the best. `OFFSET 0` keeps the server from joining before it unpacks the
# postings, which it would otherwise do once for each chunk.
_SCORED = f"""
    {_FOUND.format(ordinal="scored.ordinal", score="scored.score")}
    FROM (
        SELECT d.space_id, d.blob, d.ordinal, sum(m.idf * x.tf / (%(k1)s + x.tf) ORDER BY m.place) AS score
        FROM (
            SELECT p.space_id, p.batch, idf.idf, idf.place, one.*
            FROM postings p JOIN idf USING (term)
            CROSS JOIN LATERAL unnest(p.documents, p.body, p.name, p.signature, p.docs)
                AS one (document, body, name, signature, docs) OFFSET 0
        ) m JOIN {{which}} USING (space_id, batch, document) JOIN search_documents d USING (space_id, batch, document)
        CROSS JOIN size CROSS JOIN LATERAL (SELECT {_TF} AS tf) x
        GROUP BY d.space_id, d.blob, d.ordinal
    ) scored JOIN f ON f.space_id = scored.space_id AND f.blob = scored.blob
    WHERE {_DEFINES.format(of="scored")}
"""
_KNOWN = f"""
    , wanted AS (SELECT term, place FROM unnest(%(terms)s::bigint[]) WITH ORDINALITY AS w (term, place)
    ), size AS (
        SELECT coalesce(sum(documents), 0)::double precision AS n,
            {
    ", ".join(
        f"greatest(sum(b.{field})::double precision / greatest(sum(documents), 1), 1) AS {field}" for field in FIELDS
    )
}
        FROM search_batches b JOIN visible USING (space_id)
    ), postings AS MATERIALIZED (
        SELECT p.*, wanted.place FROM wanted CROSS JOIN visible
        JOIN search_postings p ON p.space_id = visible.space_id AND p.term = wanted.term
    ), known AS (
        SELECT wanted.term, wanted.place, coalesce(sum(cardinality(p.documents)), 0)::double precision AS n
        FROM wanted LEFT JOIN postings p USING (term) GROUP BY wanted.term, wanted.place
    )
"""
_STATISTICS = f"""{_KNOWN}
    SELECT size.n, {", ".join(f"size.{field}" for field in FIELDS)},
        coalesce((SELECT array_agg(known.n ORDER BY place) FROM known), '{{}}') FROM size
"""
_WORDS = f"""{_KNOWN}
    , idf AS (
        SELECT term, place, ln(1 + (size.n - known.n + 0.5) / (known.n + 0.5)) AS idf FROM known, size
    {{allowed}}), bound AS MATERIALIZED (
        SELECT m.space_id, m.batch, m.document, sum(m.idf) AS most
        FROM (
            SELECT p.space_id, p.batch, one.document, idf.idf
            FROM postings p JOIN idf USING (term) CROSS JOIN LATERAL unnest(p.documents) AS one (document) OFFSET 0
        ) m {{among}}
        GROUP BY m.space_id, m.batch, m.document
    ), likely AS MATERIALIZED (SELECT space_id, batch, document FROM bound ORDER BY most DESC LIMIT %(looked)s
    ), first AS MATERIALIZED ({_SCORED.format(which="likely")}
    ), least AS (SELECT coalesce((SELECT score FROM first ORDER BY score DESC OFFSET %(k)s - 1 LIMIT 1), 0) AS score
    ), others AS MATERIALIZED (
        SELECT space_id, batch, document FROM bound WHERE most >= 0.999999 * (SELECT score FROM least)
        EXCEPT SELECT space_id, batch, document FROM likely
    ), rest AS ({_SCORED.format(which="others")}
    )
    SELECT * FROM (SELECT * FROM first UNION ALL SELECT * FROM rest) found (name, snapshot, path, blob, ordinal, score)
    ORDER BY score DESC, name, path, ordinal LIMIT %(k)s
"""
# a text without words has a zero vector, whose cosine is NaN, and PostgreSQL sorts NaN before all numbers
_COSINE = "coalesce(nullif(1 - (e.embedding <=> %(vector)s::halfvec), 'NaN'), 0)"
_NEAR = f"""
    {_FOUND.format(ordinal="e.ordinal", score=_COSINE)}
    FROM f JOIN derived_embeddings e ON e.space_id = f.space_id AND e.blob = f.blob AND e.embedder = %(embedder)s
    WHERE {_DEFINES.format(of="e")} {_ORDER}
"""
_NAMED = f"""
    {_FOUND.format(ordinal="s.ordinal", score="1")}
    FROM symbols s JOIN f ON f.space_id = s.space_id AND f.blob = s.blob
    WHERE lower(s.name) = ANY(ARRAY(SELECT lower(unnest(%(names)s::text[]) COLLATE "C"))) AND {_DEFINES.format(of="s")}
    GROUP BY f.name, f.snapshot, f.path, f.blob, s.ordinal {_ORDER}
"""
# searches the names and signatures of definitions, and paths, for the bare name
_SPELLED = f"""
    , looked AS (SELECT unnest(%(names)s::text[]) AS name
    ), spelled AS (
        SELECT s.space_id, s.blob, s.ordinal, CASE WHEN lower(s.name) = lower(looked.name COLLATE "C") THEN 1
            ELSE least(similarity(s.name, looked.name), 0.99) END AS alike
        FROM looked JOIN symbols s ON s.name %% looked.name
        UNION ALL
        SELECT s.space_id, s.blob, s.ordinal, least(word_similarity(looked.name, s.signature), 0.9) * 0.9
        FROM looked JOIN symbols s ON looked.name <%% s.signature
        UNION ALL
        SELECT files.space_id, files.blob, 0, least(word_similarity(looked.name, files.path), 0.9) * 0.8
        FROM looked JOIN files ON looked.name <%% files.path JOIN visible
            ON visible.space_id = files.space_id AND visible.snapshot = files.snapshot
    ), best AS (SELECT space_id, blob, ordinal, max(alike) AS alike FROM spelled GROUP BY space_id, blob, ordinal)
    {_FOUND.format(ordinal="best.ordinal", score="best.alike")}
    FROM best JOIN f ON f.space_id = best.space_id AND f.blob = best.blob WHERE {_DEFINES.format(of="best")} {_ORDER}
"""
_ARRAYS = """
    SELECT blobs.language, coalesce(found.embedder, ''), coalesce(found.data, '')
    FROM unnest(%(spaces)s::text[], %(blobs)s::bigint[]) WITH ORDINALITY AS asked (space, blob, place)
    JOIN spaces ON spaces.name = asked.space
    JOIN blobs ON blobs.space_id = spaces.id AND blobs.id = asked.blob
    LEFT JOIN LATERAL (
        SELECT embedder, data FROM arrays WHERE arrays.space_id = spaces.id AND arrays.blob = asked.blob
        ORDER BY (embedder = %(embedder)s) DESC, embedder LIMIT 1
    ) found ON true
    ORDER BY asked.place
"""
_READ = """
    SELECT chunks.*, spaces.name AS of, hit.path, blobs.language, blobs.hash AS content, snapshots.branch, snapshots.label,
        snapshots.commit_id, snapshots.kind AS snapshot_kind, snapshots.place,
        convert_from(substring(blobs.content FROM chunks.start_byte::integer + 1
            FOR (chunks.end_byte - chunks.start_byte)::integer), 'UTF8') AS text,
        ARRAY(SELECT qualified FROM symbols s WHERE s.space_id = chunks.space_id AND s.blob = chunks.blob
            AND s.ordinal = chunks.ordinal ORDER BY position) AS symbols
    FROM unnest(%(spaces)s::text[], %(snapshots)s::bigint[], %(paths)s::text[], %(blobs)s::bigint[], %(ordinals)s::integer[])
        WITH ORDINALITY AS hit (space, snapshot, path, blob, ordinal, place)
    JOIN spaces ON spaces.name = hit.space
    JOIN chunks ON chunks.space_id = spaces.id AND chunks.blob = hit.blob AND chunks.ordinal = hit.ordinal
    JOIN blobs ON blobs.space_id = spaces.id AND blobs.id = hit.blob
    JOIN snapshots ON snapshots.space_id = spaces.id AND snapshots.id = hit.snapshot
    ORDER BY hit.place
"""


def _words(scope: Scope) -> str:
    """Return the statement that ranks by words.

    With a filter on languages or paths, only the files that pass are read.
    """
    few = bool(scope.languages or scope.paths)
    allowed = "), allowed AS MATERIALIZED (SELECT d.space_id, d.batch, d.document FROM f JOIN search_documents d USING (space_id, blob)\n    "
    parts = (
        {"allowed": allowed, "among": "JOIN allowed USING (space_id, batch, document)"}
        if few
        else dict.fromkeys(("allowed", "among"), "")
    )
    return _with(scope) + _WORDS.format(**parts)


def _graph(scope: Scope, dim: int) -> str:
    """Return the statement that reads the vector graph in order.

    The graph is read until enough vectors passed.

    `OFFSET 0` makes the server look up each vector as it comes; a join would first read all that the graph may give.
    """
    return f"""{_with(scope)}
        SELECT f.name, f.snapshot, f.path, f.blob, e.ordinal, coalesce(nullif(1 - e.distance, 'NaN'), 0) FROM (
            SELECT space_id, blob, ordinal, embedding::halfvec({dim}) <=> %(vector)s::halfvec({dim}) AS distance
            FROM derived_embeddings
            WHERE vector_dims(embedding) = {dim} AND embedder = %(embedder)s AND EXISTS (
                SELECT 1 FROM f WHERE f.space_id = derived_embeddings.space_id AND f.blob = derived_embeddings.blob OFFSET 0
            ) ORDER BY embedding::halfvec({dim}) <=> %(vector)s::halfvec({dim}) LIMIT %(k)s
        ) e JOIN f ON f.space_id = e.space_id AND f.blob = e.blob ORDER BY e.distance, f.name, f.path LIMIT %(k)s
    """

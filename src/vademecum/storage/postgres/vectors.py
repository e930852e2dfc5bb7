"""`VectorIndex` on pgvector: one table, a graph per vector length.

Vectors are stored whole; the graph (HNSW, m 16, ef_construction 64, cosine) is over their 16-bit form (`halfvec`). If fewer than
`EXACT_BELOW` points pass a filter, they are compared one by one, by an index on the filtered columns: there a graph loses most of
the right answers (recall 0.15 at a 2 % filter, measured). If the graph is used, it is read until enough points passed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import wraps
from typing import Any, TypeVar

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.rows import dict_row

from vademecum.errors import StoreError, VectorIndexError
from vademecum.matching import defined_names, is_exact, matches, nearest_passing, places, said_by_places
from vademecum.points import Filter, Near, Payload, Point, payload_of
from vademecum.result import Err, Ok, Result
from vademecum.storage.postgres.connect import ATTEMPTS, Connections, connections, is_local, is_lost, named, place_of
from vademecum.storage.postgres.encode import escaped, unescaped
from vademecum.storage.postgres.features import features_of
from vademecum.storage.postgres.publish import EF_CONSTRUCTION, M, as_text
from vademecum.storage.postgres.store import TIMEOUT_SECONDS

T = TypeVar("T")

EXACT_BELOW = 20_000  # points that pass a filter: fewer are compared one by one
EF_SEARCH = 100
MOST_INDEXED = 4_000  # the most dimensions of a graph's vectors
AT_ONCE = 1_000  # points in one transaction
_PLAIN = ("id", "repo", "branch", "commit", "path", "language", "start_line", "end_line", "kind", "file_kind", "symbols",
          "text", "blob", "ordinal")  # fmt: skip


def _outcome(method: Callable[..., T]) -> Callable[..., Ok[T] | Err[StoreError]]:
    """Return errors as a `Result`, retrying after a lost connection.

    Retrying is safe because every method may run twice.
    """

    @wraps(method)
    def wrapped(index: PgvectorIndex, *args: Any) -> Ok[T] | Err[StoreError]:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return Ok(method(index, *args))
            except StoreError as ours:
                return Err(ours)
            except psycopg.Error as error:
                if attempt == ATTEMPTS or not is_lost(error):
                    return Err(named(error, index.url))
                index.reconnect()
        raise AssertionError("the last attempt returns")

    return wrapped


class PgvectorIndex:
    """The points of one model in a shared database.

    Args:
        collection, model, dim: the arguments of every vector index.
        url: the database, as `storage.url`.
        timeout_s: the longest wait for the database, in seconds.
    """

    def __init__(self, collection: str, model: str, dim: int, *, url: str, timeout_s: float = TIMEOUT_SECONDS) -> None:
        self.name = f"pgvector at {place_of(url)}"
        self.remote = not is_local(url)
        self.url, self.dim = url, dim
        self._own = {"collection": collection, "model": model}
        self._timeout_s = timeout_s
        self._closed = False

    @_outcome
    def upsert(self, points: Sequence[Point]) -> int:
        """Write points, replacing those with the same key.

        Each thousand is written together or not at all.
        """
        for point in points:
            self._check(point.vector, point.payload.id)
        with self._connections().borrowed() as connection, connection.unhurried():  # may build a graph over vectors
            self._prepare(connection)
            for start in range(0, len(points), AT_ONCE):
                part = sorted(
                    points[start : start + AT_ONCE], key=lambda point: point.payload.key
                )  # one order, so that writers never deadlock
                with connection.transaction(), connection.cursor() as cursor:
                    cursor.executemany(_UPSERT, [self._row(point) for point in part])
        return len(points)

    def delete(self, which: Filter | Sequence[str]) -> Result[None, StoreError]:
        """Delete the points that match a filter, or have these keys."""
        if not isinstance(which, Filter):
            return self._delete(list(which))
        match self.keys(which):
            case Ok(keys):
                return self._delete(sorted(keys))
            case Err() as failed:
                return failed

    @_outcome
    def _delete(self, keys: list[str]) -> None:
        statement = f"DELETE FROM derived_points WHERE {_MINE} AND key = ANY(%(keys)s::uuid[])"
        with self._connections().borrowed() as connection:
            self._check_server(connection)
            connection.execute(statement, self._own | {"keys": keys})

    def nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> Result[list[Near], StoreError]:
        """Return up to `k` points that match a filter, nearest first."""
        return nearest_passing(lambda count: self._nearest(vector, count, where), k, where)

    @_outcome
    def _nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> list[Near]:
        self._check(vector, "what is asked for")
        passing, values = _passing(where)
        values |= self._own | {"vector": as_text(vector), "k": k, "most": EXACT_BELOW}
        with self._connections().borrowed() as connection:
            self._check_server(connection)
            count = f"SELECT count(*) FROM (SELECT 1 FROM derived_points WHERE {_MINE}{passing} LIMIT %(most)s) few"
            few = connection.execute(count, values).fetchone()
            cursor = connection.cursor(row_factory=dict_row)
            if few is None or few[0] < EXACT_BELOW or self.dim > MOST_INDEXED:
                return [_near(row) for row in cursor.execute(_EXACT.format(passing=passing), values)]
            with connection.transaction():
                connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
                connection.execute(f"SET LOCAL hnsw.ef_search = {max(EF_SEARCH, min(2 * k, 1000))}")
                return [_near(row) for row in cursor.execute(_GRAPH.format(passing=passing, dim=self.dim), values)]

    @_outcome
    def keys(self, where: Filter) -> set[str]:
        """Return the keys of all points that match a filter."""
        passing, values = _passing(where)
        wanted = "key" if is_exact(where) else f"key, {_COLUMNS}"
        with self._connections().borrowed() as connection:
            self._check_server(connection)
            cursor = connection.cursor(row_factory=dict_row)
            rows = cursor.execute(f"SELECT {wanted} FROM derived_points WHERE {_MINE}{passing}", self._own | values)
            return {str(row["key"]) for row in rows if is_exact(where) or matches(where, _payload(row))}

    @_outcome
    def activate(self) -> None:
        """Make this model's points current: drop other models' points."""
        with self._connections().borrowed() as connection:
            self._check_server(connection)
            connection.execute(
                "DELETE FROM derived_points WHERE collection = %(collection)s AND model <> %(model)s", self._own
            )

    def reconnect(self) -> None:
        """Close idle connections, which are probably dead like the lost one."""
        self._connections().close()

    def close(self) -> None:
        """Close the connections to the database."""
        self._closed = True
        connections(self.url, self._timeout_s).close()

    def _connections(self) -> Connections:
        if self._closed:
            raise VectorIndexError(f"{self.name} is closed")
        return connections(self.url, self._timeout_s)

    def _check(self, vector: NDArray[np.float32], what: str) -> None:
        if vector.shape != (self.dim,):
            said = "x".join(map(str, vector.shape))
            raise VectorIndexError(f"{self.name} holds vectors of {self.dim} numbers, and {what} has {said}")

    def _check_server(self, connection: psycopg.Connection) -> None:
        if not features_of(connection).vectors:
            raise VectorIndexError(
                f"{self.name}: the server has no pgvector: install it there and run `vade db upgrade`, or set search.vectors to exact"
            )

    def _prepare(self, connection: psycopg.Connection) -> None:
        """Create the graph for this vector length, unless there is one.

        Repeating the statement would lock out writers.
        """
        self._check_server(connection)
        name = f"derived_points_{self.dim}"
        if self.dim <= MOST_INDEXED and connection.execute("SELECT to_regclass(%s) IS NULL", [name]).fetchone() == (
            True,
        ):
            connection.execute(
                f"CREATE INDEX IF NOT EXISTS {name} ON derived_points USING hnsw ((embedding::halfvec({self.dim})) "
                f"halfvec_cosine_ops) WITH (m = {M}, ef_construction = {EF_CONSTRUCTION}) "
                f"WHERE vector_dims(embedding) = {self.dim}"
            )

    def _row(self, point: Point) -> dict[str, Any]:
        values = {name: _kept(value) for name, value in asdict(point.payload).items()}
        names = [escaped(name) for name in defined_names(point.payload.symbols)]
        above = [escaped(place) for place in places(point.payload.path)]
        own = {"key": point.payload.key, "names": names, "places": above, "embedding": as_text(point.vector)}
        return values | self._own | own


def _kept(value: Any) -> Any:
    return (
        escaped(value) if isinstance(value, str) else [escaped(e) for e in value] if isinstance(value, tuple) else value
    )


_MINE = "collection = %(collection)s AND model = %(model)s"
_COLUMNS = ", ".join(_PLAIN)
_WRITTEN = ("collection", "model", "key", *_PLAIN, "names", "places", "embedding")
_UPSERT = f"""
    INSERT INTO derived_points ({", ".join(_WRITTEN)}) VALUES ({", ".join(f"%({name})s" for name in _WRITTEN)})
    ON CONFLICT (collection, model, key) DO UPDATE SET {", ".join(f"{n} = excluded.{n}" for n in _WRITTEN[3:])}
"""
# a zero vector has no direction: pgvector's NaN becomes a right angle here
_EXACT = f"""
    SELECT {_COLUMNS}, 1 - distance AS score FROM (
        SELECT *, coalesce(nullif(embedding <=> %(vector)s::vector, 'NaN'), 1) AS distance
        FROM derived_points WHERE {_MINE}{{passing}}
    ) passed ORDER BY distance, key LIMIT %(k)s
"""
_GRAPH = f"""
    SELECT {_COLUMNS}, 1 - (embedding <=> %(vector)s::vector) AS score FROM (
        SELECT * FROM derived_points WHERE vector_dims(embedding) = {{dim}} AND {_MINE}{{passing}}
        ORDER BY embedding::halfvec({{dim}}) <=> %(vector)s::halfvec({{dim}}) LIMIT %(k)s
    ) passed ORDER BY score DESC, key
"""


def _passing(where: Filter) -> tuple[str, dict[str, Any]]:
    """Return the filter's SQL part as " AND …", with values."""
    said: list[tuple[str, str, Any]] = [
        ("repo", "repo = %(repo)s", where.repo), ("commit", "commit = %(commit)s", where.commit),
        ("files", "path = ANY(%(files)s)", list(where.files)), ("languages", "language = ANY(%(languages)s)", list(where.languages)),
        ("kinds", "kind = ANY(%(kinds)s)", list(where.kinds)), ("file_kinds", "file_kind = ANY(%(file_kinds)s)", list(where.file_kinds)),
        ("symbol", "%(symbol)s = ANY(names)", where.symbol), ("paths", "places && %(paths)s", said_by_places(where.paths)),
    ]  # fmt: skip
    used = [(name, clause, value) for name, clause, value in said if value]
    values = {
        name: escaped(value) if isinstance(value, str) else [escaped(e) for e in value] for name, _, value in used
    }
    return "".join(f" AND {clause}" for _, clause, _ in used), values


def _payload(row: Mapping[str, Any]) -> Payload:
    plain = {n: unescaped(v) if isinstance(v, str) else v for n, v in row.items()}
    try:
        return payload_of(plain | {"symbols": [unescaped(name) for name in plain["symbols"]]})
    except ValueError as error:
        raise VectorIndexError(
            f"a point of the database is none of ours: {error}: run `vade doctor --repair`"
        ) from error


def _near(row: Mapping[str, Any]) -> Near:
    return Near(_payload(row), float(row["score"]))

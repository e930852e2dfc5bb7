"""`VectorIndex` on pgvector: one table, a graph per vector length.

Vectors are stored whole; the graph (HNSW, m 16, ef_construction 64, cosine) is over their 16-bit form (`halfvec`). If fewer than
`EXACT_BELOW` points pass a filter, they are compared one by one, by an index on the filtered columns: there a graph loses most of
the right answers (recall 0.15 at a 2 % filter, measured). If the graph is used, it is read until enough points passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.rows import dict_row

from vademecum.errors import VectorIndexError
from vademecum.matching import Filter, Near, Point, payload_of
from vademecum.storage.collection import LISTS, Collection, conditions, record_of
from vademecum.storage.postgres.connect import ATTEMPTS, connections, features_of, is_local, is_lost, named, place_of
from vademecum.storage.postgres.searcher import as_text, make_graph
from vademecum.storage.postgres.statements import escaped, unescaped
from vademecum.storage.postgres.store import TIMEOUT_SECONDS

T = TypeVar("T")

EXACT_BELOW = 20_000  # points that pass a filter: fewer are compared one by one
EF_SEARCH = 100
MOST_INDEXED = 4_000  # the most dimensions of a graph's vectors
_PLAIN = ("id", "repo", "branch", "commit", "path", "language", "start_line", "end_line", "kind", "file_kind", "symbols",
          "text", "blob", "ordinal")  # fmt: skip


class PgvectorIndex(Collection):
    """The points of one model in a shared database."""

    most_points = 1_000  # in one transaction

    def __init__(self, collection: str, model: str, dim: int, *, url: str, timeout_s: float = TIMEOUT_SECONDS) -> None:
        super().__init__(f"pgvector at {place_of(url)}", collection, model, dim)
        self.remote = not is_local(url)
        self._own = {"collection": collection, "model": model}
        self._connections = connections(url, timeout_s)
        self._closed = False

    def run(self, step: Callable[[], T], *, reading: bool) -> T:
        """Run a step, again after a lost connection."""
        for attempt in range(1, ATTEMPTS + 1):
            if self._closed:
                raise VectorIndexError(f"{self.name} is closed")
            try:
                return super().run(step, reading=reading)
            except ValueError as error:
                raise VectorIndexError(
                    f"a point of the database is none of ours: {error}: run `vade doctor --repair`"
                ) from error
            except psycopg.Error as error:
                if attempt == ATTEMPTS or not is_lost(error):
                    raise named(error, self._connections.url) from error
                self._connections.close()  # idle ones are probably dead too
        raise AssertionError("the last attempt returns")

    def write(self, points: Sequence[Point]) -> None:
        """Write points with distinct keys, all or none."""
        ordered = sorted(points, key=lambda point: point.payload.key)  # one order, so that writers never deadlock
        with self._connections.borrowed() as connection, connection.unhurried():  # may build a graph over vectors
            self._check_server(connection)
            if self.dim <= MOST_INDEXED:
                make_graph(connection, "derived_points", self.dim)
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(_UPSERT, [self._row(point) for point in ordered])

    def remove(self, keys: Sequence[str]) -> None:
        """Delete the points with these keys."""
        self._execute(f"DELETE FROM derived_points WHERE {_MINE} AND key = ANY(%(keys)s::uuid[])", {"keys": list(keys)})

    def find(self, vector: NDArray[np.float32], count: int, where: Filter) -> list[Near]:
        """Return the nearest points that pass `conditions`."""
        passing, values = _passing(where)
        values |= self._own | {"vector": as_text(vector), "k": count, "most": EXACT_BELOW}
        with self._connections.borrowed() as connection:
            self._check_server(connection)
            counted = f"SELECT count(*) FROM (SELECT 1 FROM derived_points WHERE {_MINE}{passing} LIMIT %(most)s) few"
            few = connection.execute(counted, values).fetchone()
            cursor = connection.cursor(row_factory=dict_row)
            if few is None or few[0] < EXACT_BELOW or self.dim > MOST_INDEXED:
                return [_near(row) for row in cursor.execute(_EXACT.format(passing=passing), values)]
            with connection.transaction():
                connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
                connection.execute(f"SET LOCAL hnsw.ef_search = {max(EF_SEARCH, min(2 * count, 1000))}")
                return [_near(row) for row in cursor.execute(_GRAPH.format(passing=passing, dim=self.dim), values)]

    def listed(self, where: Filter, *, whole: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the points that pass `conditions`: keys, and records if `whole`."""
        passing, values = _passing(where)
        wanted = f"key, {_COLUMNS}" if whole else "key"
        with self._connections.borrowed() as connection:
            self._check_server(connection)
            cursor = connection.cursor(row_factory=dict_row)
            rows = cursor.execute(f"SELECT {wanted} FROM derived_points WHERE {_MINE}{passing}", self._own | values)
            yield from ((str(row.pop("key")), _record(row)) for row in rows)

    def switch(self) -> None:
        """Make this model's points current: drop other models' points."""
        self._execute("DELETE FROM derived_points WHERE collection = %(collection)s AND model <> %(model)s", {})

    def close(self) -> None:
        """Close the connections to the database."""
        self._closed = True
        self._connections.close()

    def _execute(self, statement: str, values: dict[str, Any]) -> None:
        with self._connections.borrowed() as connection:
            self._check_server(connection)
            connection.execute(statement, self._own | values)

    def _check_server(self, connection: psycopg.Connection) -> None:
        if not features_of(connection).vectors:
            raise VectorIndexError(
                f"{self.name}: the server has no pgvector: install it there and run `vade db upgrade`, or set search.vectors to exact"
            )

    def _row(self, point: Point) -> dict[str, Any]:
        record = {name: _kept(value) for name, value in record_of(point).items()}
        return record | self._own | {"key": point.payload.key, "embedding": as_text(point.vector)}


def _kept(value: Any) -> Any:
    if isinstance(value, list):
        return [escaped(each) for each in value]
    return escaped(value) if isinstance(value, str) else value


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
    said = {field: _kept(values) for field, values in conditions(where).items()}
    clauses = (f"{f} && %({f})s" if f in LISTS else f"{f} = ANY(%({f})s)" for f in said)
    return "".join(f" AND {clause}" for clause in clauses), said


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: unescaped(value) if isinstance(value, str) else value for name, value in row.items()}
    return plain | {"symbols": [unescaped(name) for name in row["symbols"]]} if "symbols" in row else plain


def _near(row: Mapping[str, Any]) -> Near:
    return Near(payload_of(_record(row)), float(row["score"]))

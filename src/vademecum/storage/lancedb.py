"""`VectorIndex` on LanceDB: a local directory, one table per model.

Several processes may read and write the directory.

A table is searched exactly, by computing every product, until it has `index_from` rows. Then activating builds an index
(IVF, HNSW, scalar quantisation), whose best candidates are scored again with the whole vectors. The part of a filter without
globs is an expression that LanceDB applies before the search.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import lancedb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vademecum.errors import StoreError
from vademecum.matching import defined_names, is_exact, matches, nearest_passing, places, said_by_places
from vademecum.points import Filter, Near, Point, payload_of
from vademecum.private import private_folder
from vademecum.result import Result
from vademecum.storage.directory import SCHEMA, DirectoryIndex, outcome

T = TypeVar("T")

INDEX_FROM = 200_000  # rows; fewer are searched exactly in some 0.1 s
KEPT_VERSIONS = timedelta(hours=1)  # of a table, for concurrent readers
REFINED = 5  # times `k`: candidates that are scored again with whole vectors
KEYS_AT_ONCE = 500  # in one expression
_NUMBERS = ("start_line", "end_line", "ordinal")
_LISTS = ("symbols", "places", "names")
_TEXTS = ("key", "id", "repo", "branch", "commit", "path", "language", "kind", "file_kind", "text", "blob")


# LanceDB has no errors of its own
_outcome = outcome(OSError, RuntimeError, ValueError, KeyError, pa.ArrowException)


class LanceIndex(DirectoryIndex):
    """The points of one model in a LanceDB directory.

    The directory is created if missing. From `index_from` rows on, searches are approximate.
    """

    def __init__(
        self, collection: str, model: str, dim: int, *, directory: str | Path, index_from: int = INDEX_FROM
    ) -> None:
        super().__init__("lancedb", collection, model, dim, directory)
        self._index_from = index_from
        self._db: Any = None

    def upsert(self, points: Sequence[Point]) -> Result[int, StoreError]:
        """Write points, replacing those with the same key.

        All go into one version of the table.
        """
        return self._upsert(points)

    @_outcome
    def _upsert(self, points: Sequence[Point]) -> int:
        self.check_points(points)
        if points:
            unique = {point.payload.key: point for point in points}
            rows = pa.Table.from_pylist([_row(point) for point in unique.values()], schema=self._schema())
            merging = self._table(make=True).merge_insert("key")
            merging.when_matched_update_all().when_not_matched_insert_all().execute(rows)
        return len(points)

    def delete(self, which: Filter | Sequence[str]) -> Result[None, StoreError]:
        """Delete the points that match a filter, or have these keys."""
        return self._delete(which)

    @_outcome
    def _delete(self, which: Filter | Sequence[str]) -> None:
        table = self._table()
        if table is None:
            return
        if isinstance(which, Filter) and is_exact(which):
            table.delete(_expression(which) or "true")
            return
        keys = sorted(self._passing(table, which)) if isinstance(which, Filter) else list(which)
        for first in range(0, len(keys), KEYS_AT_ONCE):
            table.delete(_any_of("key", keys[first : first + KEYS_AT_ONCE]))

    def nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> Result[list[Near], StoreError]:
        """Return up to `k` points that match a filter, nearest first."""
        return nearest_passing(lambda count: self._asked(vector, count, where), k, where)

    @_outcome
    def _asked(self, vector: NDArray[np.float32], count: int, where: Filter) -> list[Near]:
        self.check_length(vector, "the question")
        table = self._table()
        if table is None:
            return []
        columns = [*(set(_TEXTS) - {"key"}), *_NUMBERS, "symbols", "_distance"]
        query = table.search(np.asarray(vector, np.float32), vector_column_name="vector").distance_type("cosine")
        query = query.refine_factor(REFINED).select(columns).limit(count)
        expression = _expression(where)
        if expression:
            query = query.where(expression, prefilter=True)
        found = [Near(payload_of(row), _cosine(row["_distance"])) for row in query.to_list()]
        return sorted(found, key=lambda near: -near.score)

    def keys(self, where: Filter) -> Result[set[str], StoreError]:
        """Return the keys of all points that match a filter."""
        return self._keys(where)

    @_outcome
    def _keys(self, where: Filter) -> set[str]:
        table = self._table()
        return set() if table is None else set(self._passing(table, where))

    def _passing(self, table: Any, where: Filter) -> Iterator[str]:
        exact = is_exact(where)
        query = table.search().select(["key"] if exact else [*_TEXTS, *_NUMBERS, "symbols"])
        expression = _expression(where)
        if expression:
            query = query.where(expression)
        for row in query.limit(table.count_rows() or 1).to_list():
            if exact or matches(where, payload_of(row)):
                yield row["key"]

    def activate(self) -> Result[None, StoreError]:
        """Make this model's table current, compact it, drop other models' tables."""
        return self._activate()

    @_outcome
    def _activate(self) -> None:
        table = self._table(make=True)
        table.optimize(cleanup_older_than=KEPT_VERSIONS)
        if table.count_rows() >= self._index_from and not table.list_indices():
            table.create_index(metric="cosine", index_type="IVF_HNSW_SQ", vector_column_name="vector")
        for other in self.make_current(self._names()):
            self._db.drop_table(other)

    def close(self) -> None:
        """Close the directory."""
        self._db = None

    # -- the table -----------------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        if self._db is None:
            private_folder(self.directory)
            self._db = lancedb.connect(str(self.directory))
        return list(self._db.list_tables(limit=10_000).tables)

    def _table(self, *, make: bool = False) -> Any:
        """Return the table; create the table if `make`, else None.

        Raises `StoreError` for a table that this index cannot use.
        """
        if self.named not in self._names():
            return self._db.create_table(self.named, schema=self._schema(), exist_ok=True) if make else None
        table = self._db.open_table(self.named)
        said = json.loads((table.schema.metadata or {}).get(b"vademecum", b"{}"))
        self.check_kept(said.get("schema"), table.schema.field("vector").type.list_size)
        return table

    def _schema(self) -> pa.Schema:
        fields = [pa.field(name, pa.string()) for name in _TEXTS]
        fields += [pa.field(name, pa.int64()) for name in _NUMBERS]
        fields += [pa.field(name, pa.list_(pa.string())) for name in _LISTS]
        fields.append(pa.field("vector", pa.list_(pa.float32(), self.dim)))
        return pa.schema(fields, {"vademecum": json.dumps({"schema": SCHEMA, "model": self.model})})


def _row(point: Point) -> Mapping[str, Any]:
    payload = point.payload
    more = {"places": places(payload.path), "names": defined_names(payload.symbols), "symbols": list(payload.symbols)}
    return asdict(payload) | more | {"key": payload.key, "vector": point.vector.tolist()}


def _cosine(distance: float | None) -> float:
    """Return the cosine for LanceDB's cosine distance.

    The distance of an all-zero vector is no number; its cosine is 0.
    """
    return 1.0 - distance if distance is not None and math.isfinite(distance) else 0.0


def _expression(where: Filter) -> str:
    """Return the part of a filter that SQL can express: no globs.

    >>> _expression(Filter(repo="it's", languages=("go", "c")))
    "`repo` = 'it''s' AND `language` IN ('go', 'c')"
    """
    parts = [
        f"`{column}` = {_text(value)}" for column, value in (("repo", where.repo), ("commit", where.commit)) if value
    ]
    some = [
        ("path", where.files),
        ("language", where.languages),
        ("kind", where.kinds),
        ("file_kind", where.file_kinds),
    ]
    parts += [_any_of(column, values) for column, values in some if values]
    if where.symbol:
        parts.append(f"array_has(`names`, {_text(where.symbol)})")
    if said := said_by_places(where.paths):
        parts.append(f"array_has_any(`places`, [{', '.join(map(_text, said))}])")
    return " AND ".join(parts)


def _any_of(column: str, values: Sequence[str]) -> str:
    return f"`{column}` IN ({', '.join(map(_text, values))})"


def _text(value: str) -> str:
    """Return a value as a quoted SQL string, safe against injection."""
    return "'" + value.replace("'", "''") + "'"

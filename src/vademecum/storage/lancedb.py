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
from datetime import timedelta
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vademecum.matching import Filter, Near, Point, payload_of
from vademecum.private import private_folder
from vademecum.storage.collection import LISTS, SCHEMA, DirectoryCollection, conditions, record_of

INDEX_FROM = 200_000  # rows; fewer are searched exactly in some 0.1 s
KEPT_VERSIONS = timedelta(hours=1)  # of a table, for concurrent readers
REFINED = 5  # times `k`: candidates that are scored again with whole vectors
_NUMBERS = ("start_line", "end_line", "ordinal")
_TEXTS = ("key", "id", "repo", "branch", "commit", "path", "language", "kind", "file_kind", "text", "blob")
_PAYLOAD = [*_TEXTS, *_NUMBERS, "symbols"]


class LanceIndex(DirectoryCollection):
    """The points of one model in a LanceDB directory.

    The directory is created if missing. From `index_from` rows on, searches are approximate.
    """

    raised = (OSError, RuntimeError, ValueError, KeyError, pa.ArrowException)  # LanceDB has no errors of its own

    def __init__(
        self, collection: str, model: str, dim: int, *, directory: str | Path, index_from: int = INDEX_FROM
    ) -> None:
        super().__init__("lancedb", collection, model, dim, directory)
        self._index_from = index_from
        self._db: Any = None

    def write(self, points: Sequence[Point]) -> None:
        """Write points with distinct keys, in one version of the table."""
        rows = pa.Table.from_pylist([_row(point) for point in points], schema=self._schema())
        merging = self._table(make=True).merge_insert("key")
        merging.when_matched_update_all().when_not_matched_insert_all().execute(rows)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete the points with these keys."""
        if (table := self._table()) is not None:
            table.delete(_any_of("key", keys))

    def find(self, vector: NDArray[np.float32], count: int, where: Filter) -> list[Near]:
        """Return the nearest points that pass `conditions`."""
        table = self._table()
        if table is None:
            return []
        query = table.search(np.asarray(vector, np.float32), vector_column_name="vector").distance_type("cosine")
        query = query.refine_factor(REFINED).select([*_PAYLOAD, "_distance"]).limit(count)
        if expression := _expression(where):
            query = query.where(expression, prefilter=True)
        found = [Near(payload_of(row), _cosine(row["_distance"])) for row in query.to_list()]
        return sorted(found, key=lambda near: -near.score)

    def listed(self, where: Filter, *, whole: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the points that pass `conditions`: keys, and records if `whole`."""
        table = self._table()
        if table is None:
            return
        query = table.search().select(_PAYLOAD if whole else ["key"])
        if expression := _expression(where):
            query = query.where(expression)
        yield from ((row["key"], row) for row in query.limit(table.count_rows() or 1).to_list())

    def switch(self) -> None:
        """Make this model's table current, compact it, drop other models' tables."""
        table = self._table(make=True)
        table.optimize(cleanup_older_than=KEPT_VERSIONS)
        if table.count_rows() >= self._index_from and not table.list_indices():
            table.create_index(metric="cosine", index_type="IVF_HNSW_SQ", vector_column_name="vector")
        for other in self.make_current(self._names()):
            self._db.drop_table(other)

    def close(self) -> None:
        """Close the directory."""
        self._db = None

    def _names(self) -> list[str]:
        if self._db is None:
            private_folder(self.directory)
            self._db = lancedb.connect(str(self.directory))
        return list(self._db.list_tables(limit=10_000).tables)

    def _table(self, *, make: bool = False) -> Any:
        """Return the table; create the table if `make`, else None.

        Raises `StoreError` for a table that this index cannot use.
        """
        if self.collection not in self._names():
            return self._db.create_table(self.collection, schema=self._schema(), exist_ok=True) if make else None
        table = self._db.open_table(self.collection)
        said = json.loads((table.schema.metadata or {}).get(b"vademecum", b"{}"))
        self.check_kept(said.get("schema"), table.schema.field("vector").type.list_size)
        return table

    def _schema(self) -> pa.Schema:
        fields = [pa.field(name, pa.string()) for name in _TEXTS]
        fields += [pa.field(name, pa.int64()) for name in _NUMBERS]
        fields += [pa.field(name, pa.list_(pa.string())) for name in ("symbols", "places", "names")]
        fields.append(pa.field("vector", pa.list_(pa.float32(), self.dim)))
        return pa.schema(fields, {"vademecum": json.dumps({"schema": SCHEMA, "model": self.model})})


def _row(point: Point) -> Mapping[str, Any]:
    return record_of(point) | {"key": point.payload.key, "vector": point.vector.tolist()}


def _cosine(distance: float | None) -> float:
    """Return the cosine for LanceDB's distance, 0 for an all-zero vector."""
    return 1.0 - distance if distance is not None and math.isfinite(distance) else 0.0


def _expression(where: Filter) -> str:
    """Return the part of a filter that SQL can express: no globs.

    >>> _expression(Filter(repo="it's", languages=("go", "c")))
    "`repo` IN ('it''s') AND `language` IN ('go', 'c')"
    """
    return " AND ".join(_any_of(field, values) for field, values in conditions(where).items())


def _any_of(column: str, values: Sequence[str]) -> str:
    listed = ", ".join("'" + value.replace("'", "''") + "'" for value in values)  # quoted, safe against injection
    return f"array_has_any(`{column}`, [{listed}])" if column in LISTS else f"`{column}` IN ({listed})"

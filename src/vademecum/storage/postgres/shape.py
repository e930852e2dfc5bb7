"""The record families as PostgreSQL tables, derived from the SQLite schema.

The two schemas therefore cannot differ. Every table has one more column, `space_id`, at the head of its key: the repository,
memory or owner that the row belongs to. Text is compared by its bytes (`COLLATE "C"`), as in SQLite.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import Literal

from vademecum.storage.schema import FAMILIES, MIGRATIONS

Kind = Literal["bigint", "double precision", "text", "bytea"]

_KINDS: dict[str, Kind] = {"INTEGER": "bigint", "REAL": "double precision", "TEXT": "text", "BLOB": "bytea"}


@dataclass(frozen=True, slots=True)
class Shape:
    """One family's table.

    Attributes:
        columns: each column's type, in the order of the family.
        nullable: columns that may be NULL.
        key: the key, without `space_id`.
        unique: other sets of columns with distinct values within a space.
        indexes: further indexes, by name.
        folded: columns compared without regard to the case of ASCII letters.
        indexed: text columns in a key or an index, whose length PostgreSQL limits.
    """

    columns: dict[str, Kind]
    nullable: frozenset[str]
    key: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...]
    indexes: dict[str, tuple[str, ...]]
    folded: frozenset[str]
    indexed: frozenset[str]


@cache
def shapes() -> dict[str, Shape]:
    """Return every family's table.

    >>> shapes()["symbols"].folded
    frozenset({'name'})
    """
    with closing(sqlite3.connect(":memory:")) as db:
        for script in MIGRATIONS:
            db.executescript(script)
        return {name: _shape(db, name) for name in FAMILIES}


def _shape(db: sqlite3.Connection, name: str) -> Shape:
    # number, name, type, NOT NULL, default, place in the key
    rows = db.execute(f"PRAGMA table_info({name})").fetchall()
    columns = {column: _KINDS[kind] for _, column, kind, *_ in rows}
    optional = frozenset(column for _, column, _, required, _, place in rows if not required and not place)
    unique: list[tuple[str, ...]] = []
    indexes: dict[str, tuple[str, ...]] = {}
    folded: set[str] = set()
    for _, index, _, origin, _ in db.execute(f"PRAGMA index_list({name})").fetchall():
        # 5: the row is a column of the index
        parts = [row for row in db.execute(f"PRAGMA index_xinfo({index})") if row[5]]
        own = tuple(column for _, _, column, *_ in parts)
        folded |= {column for _, _, column, _, collation, _ in parts if collation == "NOCASE"}
        if origin == "u":
            unique.append(own)
        elif origin == "c":
            indexes[index] = own
    key = FAMILIES[name].key
    indexed = {column for part in (key, *unique, *indexes.values()) for column in part if columns[column] == "text"}
    return Shape(columns, optional, key, tuple(sorted(unique)), indexes, frozenset(folded), frozenset(indexed))

"""The SQL of a store's operations, with its values.

Lists travel as one array each, so a statement's text does not depend on the number of rows and is planned once.

PostgreSQL stores exactly SQLite's values, after a conversion. PostgreSQL's text cannot hold U+0000, and a B-tree entry cannot exceed 2,704 bytes. An escape replaces U+0000; it keeps order
and prefixes except around that character. The second limit concerns only keys and indexed names: beyond
1,200 bytes such a text keeps its first 300 characters and a digest of the whole, so equality still finds it.

The tables are derived from the SQLite schema. The two schemas therefore cannot differ. Every table has one more column, `space_id`, at the head of its key: the repository,
memory or owner that the row belongs to. Text is compared by its bytes (`COLLATE "C"`), as in SQLite.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from string import ascii_uppercase
from typing import Any, Literal

from vademecum.protocols import Condition, Row
from vademecum.storage.sqlite import FAMILIES, MIGRATIONS

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


_ESCAPE = "\x10"  # DLE, the control character for this purpose
MOST_INDEXED_BYTES = 1200
_KEPT = 300


def escaped(text: str) -> str:
    r"""Return a text without U+0000.

    >>> escaped("a\x00b\x10"), unescaped(escaped("a\x00b\x10"))
    ('a\x100b\x10P', 'a\x00b\x10')
    """
    if _ESCAPE in text or "\0" in text:
        return text.replace(_ESCAPE, _ESCAPE + "P").replace("\0", _ESCAPE + "0")
    return text


def unescaped(text: str) -> str:
    """Return the original of an escaped text."""
    return text.replace(_ESCAPE + "0", "\0").replace(_ESCAPE + "P", _ESCAPE) if _ESCAPE in text else text


def shortened(text: str) -> str:
    """Return a text that fits into an index.

    >>> len(shortened("x" * 5000)), shortened("short")
    (317, 'short')
    """
    if len(text) * 4 <= MOST_INDEXED_BYTES or len(text.encode()) <= MOST_INDEXED_BYTES:
        return text
    return f"{text[:_KEPT]}\x11{blake2b(text.encode(), digest_size=8).hexdigest()}"


def encode(shape: Shape, column: str, value: Any) -> Any:
    """Return a value in its column's type."""
    if value is None:
        return None
    match shape.columns[column]:
        case "text":
            text = escaped(str.__str__(value))  # also for an enum that is a string
            return shortened(text) if column in shape.indexed else text
        case "bigint":
            return int(value)
        case "double precision":
            return float(value)
        case "bytea":
            return bytes(value)


def columns_of(shape: Shape, rows: Sequence[Row]) -> list[list[Any]]:
    """Return rows as one list of values for each column."""
    return [[encode(shape, column, row[place]) for row in rows] for place, column in enumerate(shape.columns)]


def decode(kinds: Sequence[Kind], rows: list[Row]) -> list[Row]:
    """Return rows with their texts unescaped."""
    places = [place for place, kind in enumerate(kinds) if kind == "text"]
    if not places:
        return rows
    found = list(rows)
    for number, row in enumerate(rows):
        for place in places:
            value = row[place]
            if value is not None and _ESCAPE in value:
                found[number] = tuple(unescaped(each) if isinstance(each, str) else each for each in row)
                break
    return found


BYTES = 'COLLATE "C"'  # by bytes: `lower` then folds ASCII letters only, as SQLite's NOCASE does
_LOWER = {ord(letter): letter.lower() for letter in ascii_uppercase}
_OPERATORS = {"=": "=", ">": ">", ">=": ">=", "<": "<", "<=": "<="}


def known(family: str, columns: Sequence[str]) -> Sequence[str]:
    """Return the columns of a family. Raises `ValueError` for an unknown one."""
    unknown = set(columns) - set(shapes()[family].columns)
    if unknown:
        raise ValueError(f"{family} has no column {', '.join(sorted(unknown))}")
    return columns


def conditions(family: str, where: Sequence[Condition], table: str = "") -> tuple[str, list[Any]]:
    """Return " AND …" per condition, to follow `space_id = …`, and the values."""
    shape = shapes()[family]
    known(family, [column for column, _, _ in where])
    parts: list[str] = []
    values: list[Any] = []
    for column, operator, value in where:
        kind, named = shape.columns[column], f"{table}{column}"
        if operator == "in":
            folded = f"lower(unnest(%s::text[]) {BYTES})" if column in shape.folded else ""
            parts.append(
                f"{_folded(shape, column, named)} = ANY({f'ARRAY(SELECT {folded})' if folded else f'%s::{kind}[]'})"
            )
            values.append([encode(shape, column, each) for each in value])
        elif operator == "prefix":
            begin = encode(shape, column, value)
            parts.append(f"{_folded(shape, column, named)} >= %s AND {_folded(shape, column, named)} < %s")
            begin = begin.translate(_LOWER) if column in shape.folded else begin
            values += [begin, begin + "\U0010ffff"]
        else:
            mark = 'lower(%s::text COLLATE "C")' if column in shape.folded else f"%s::{kind}"
            parts.append(f"{_folded(shape, column, named)} {_OPERATORS[operator]} {mark}")
            values.append(encode(shape, column, value))
    return "".join(f" AND {part}" for part in parts), values


def _folded(shape: Shape, column: str, named: str) -> str:
    return f"lower({named})" if column in shape.folded else named


def select(
    family: str, where: Sequence[Condition], columns: Sequence[str], order: Sequence[str]
) -> tuple[str, list[Any]]:
    """Return the statement that reads rows; the space is its first value."""
    shape = shapes()[family]
    clause, values = conditions(family, where)
    chosen = ",".join(known(family, columns or tuple(shape.columns)))
    tail = f" ORDER BY {','.join(_folded(shape, each, each) for each in known(family, order))}" if order else ""
    return f"SELECT {chosen} FROM {family} WHERE space_id = %s{clause}{tail}", values


def newest(family: str, where: Sequence[Condition], order: Sequence[str]) -> tuple[str, list[Any]]:
    """Return the statement that reads an order's last rows, last first.

    The space is the first value, the number of rows the last.
    """
    shape = shapes()[family]
    clause, values = conditions(family, where)
    by = ",".join(f"{_folded(shape, each, each)} DESC" for each in known(family, order))
    return f"SELECT {','.join(shape.columns)} FROM {family} WHERE space_id = %s{clause} ORDER BY {by} LIMIT %s", values


@lru_cache(maxsize=256)
def upsert(family: str) -> str:
    """Return the upsert statement, for the space and an array per column."""
    shape = shapes()[family]
    arrays = ",".join(f"{'%b' if kind == 'bytea' else '%s'}::{kind}[]" for kind in shape.columns.values())
    changes = ",".join(f"{name}=excluded.{name}" for name in shape.columns if name not in shape.key)
    return (
        f"INSERT INTO {family} (space_id,{','.join(shape.columns)}) SELECT %s, * FROM unnest({arrays}) "
        f"ON CONFLICT (space_id,{','.join(shape.key)}) DO {f'UPDATE SET {changes}' if changes else 'NOTHING'}"
    )


@lru_cache(maxsize=256)
def by_key(family: str, parts: int) -> str:
    """Return the statement that reads rows by partial keys.

    A partial key is the first `parts` columns. The values are one array for each of them, then the space.
    """
    shape = shapes()[family]
    key = shape.key[:parts]
    arrays = ",".join(f"%s::{shape.columns[each]}[]" for each in key)
    wanted = ",".join(f"found.{each}" for each in shape.columns)
    same = " AND ".join(f"found.{each} = wanted.{each}" for each in key)
    return (
        f"SELECT {wanted} FROM unnest({arrays}) AS wanted ({','.join(key)}) "
        f"JOIN {family} found ON found.space_id = %s AND {same}"
    )


def reach(
    family: str, start: Sequence[int], along: tuple[str, str], where: Sequence[Condition], depth: int, space: int
) -> tuple[str, list[Any]]:
    """Return the statement that follows rows as edges, with its values."""
    here, there = known(family, along)
    clause, values = conditions(family, where, "way.")
    # UNION drops repeated (node, steps) pairs; the depth ends cycles
    statement = (
        "WITH RECURSIVE reached (node, steps) AS ("
        "SELECT unnest(%s::bigint[]), 0 UNION "
        f"SELECT way.{there}, reached.steps + 1 FROM reached JOIN {family} way ON way.{here} = reached.node "
        f"WHERE way.space_id = %s{clause} AND reached.steps < %s"
        ") SELECT node, min(steps) FROM reached GROUP BY node ORDER BY min(steps), node"
    )
    return statement, [list(start), space, *values, depth]

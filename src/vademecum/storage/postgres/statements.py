"""The SQL of a store's operations, with its values.

Lists travel as one array each, so a statement's text does not depend on the number of rows and is planned once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from string import ascii_uppercase
from typing import Any

from vademecum.protocols import Condition
from vademecum.storage.postgres.encode import encode
from vademecum.storage.postgres.shape import Shape, shapes

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

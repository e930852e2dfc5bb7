"""The record families: their tables in SQLite, columns and keys.

A family's rows are tuples in the order of its columns, everywhere. A new family or column needs one more version in
`schema.sql`; a version is never edited once released.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Family:
    """The shape of one kind of record."""

    columns: tuple[str, ...]
    key: tuple[str, ...]


_SCRIPTS = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
MIGRATIONS = tuple(re.split(r"^-- version \d+\n", _SCRIPTS, flags=re.MULTILINE)[1:])
_COLUMNS = """
    SELECT family.name, part.name, part.pk FROM sqlite_schema family JOIN pragma_table_info(family.name) part
    WHERE family.type = 'table' AND family.name NOT LIKE 'sqlite%' ORDER BY family.rowid, part.cid
"""


def _families() -> dict[str, Family]:
    """Return the families that the migrations lead to."""
    columns: dict[str, list[str]] = {}
    keys: dict[str, dict[int, str]] = {}
    with closing(sqlite3.connect(":memory:")) as db:
        for script in MIGRATIONS:
            db.executescript(script)
        for family, column, place in db.execute(_COLUMNS):  # `place` in the key counts from 1
            columns.setdefault(family, []).append(column)
            if place:
                keys.setdefault(family, {})[place] = column
    return {name: Family(tuple(own), tuple(keys[name][n] for n in sorted(keys[name]))) for name, own in columns.items()}


FAMILIES = _families()

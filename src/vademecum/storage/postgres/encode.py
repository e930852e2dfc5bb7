"""Conversion of values for PostgreSQL, which then stores exactly SQLite's values.

PostgreSQL's text cannot hold U+0000, and a B-tree entry cannot exceed 2,704 bytes. An escape replaces U+0000; it keeps order
and prefixes except around that character. The second limit concerns only keys and indexed names: beyond
1,200 bytes such a text keeps its first 300 characters and a digest of the whole, so equality still finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from vademecum.protocols import Row
from vademecum.storage.postgres.shape import Kind, Shape

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

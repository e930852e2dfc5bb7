"""Tables in a TOML text: insertion and removal.

The rest of the text stays. Our table goes to the end of the file. An existing table of the same name gets its values
changed in place, and keeps others' additions. `tomllib` verifies the result: it must read the earlier values and our
table. The hint holds:

    glue        the text put before the table, so that an empty line precedes it
    replaced    the text of an earlier table
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

from vademecum.install.part import MEND, EditError, Hint, Part, contains, cut, newline_of, value_at, verify

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")
# Pieces of a value: four kinds of strings, comments, brackets, and the rest.
_PIECE = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[{]|[\]}]|\n|[^"\'#\[\]{}\n]+',
    re.DOTALL,
)


class Statement(NamedTuple):
    """A header, or a pair of key and value."""

    is_header: bool
    path: tuple[str, ...]
    start: int
    end: int
    value: int  # where a pair's value begins


def upsert(text: str, part: Part) -> tuple[str, Hint]:
    """Insert the table, as `formats.upsert` does."""
    before, newline = _read(text), newline_of(text)
    if contains(value_at(before, part.path), part.value):
        return text, {}
    span = _span(text, part)
    if span is None:
        glue = "" if not text else newline if text.endswith("\n") else newline * 2
        new, hint = text + glue + _table(part).replace("\n", newline), {"glue": glue}
    else:
        new, hint = _merged(text, part, newline), {"replaced": text[slice(*span)]}
    try:
        after = _read(new)
    except EditError as error:
        raise EditError(f"{'.'.join(part.path)} is written in a form that cannot be added to") from error
    verify(before, after, part)
    return new, hint


def remove(text: str, part: Part, hint: Hint) -> str:
    """Remove the table, as `formats.remove` does."""
    _read(text)
    span = _span(text, part)
    return text if span is None else cut(text, span, hint)


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise EditError(f"it is not valid TOML: {error}: {MEND}") from error


def _table(part: Part) -> str:
    header = ".".join(key if _BARE_KEY.match(key) else json.dumps(key) for key in part.path)
    return f"[{header}]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in part.value.items())


def _value(value: Any) -> str:
    # A TOML basic string accepts JSON's escapes; only U+007F must be escaped in addition.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _span(text: str, part: Part) -> tuple[int, int] | None:
    """Return the start and end of a table with its subtables."""
    start = end = -1
    inside = False
    for statement in _statements(text):
        if statement.is_header:
            inside = statement.path[: len(part.path)] == part.path
            if inside and start < 0:
                start = statement.start
            elif start >= 0 and not inside:
                break
        if inside:
            end = statement.end
    return None if start < 0 else (start, end)


def _merged(text: str, part: Part, newline: str) -> str:
    for key, value in part.value.items():
        header = at = None
        for statement in _statements(text):
            if statement.is_header:
                header = statement if statement.path == part.path else None
                at = header or at
            elif header and statement.path == (key,):
                break
        else:
            if at is None:
                raise EditError(f"{'.'.join(part.path)} is written in a form that cannot be added to")
            text = f"{text[: at.end]}{key} = {_value(value)}{newline}{text[at.end :]}"
            continue
        if tomllib.loads(text[statement.start : statement.end])[key] != value:
            line_end = newline if text[: statement.end].endswith("\n") else ""
            text = text[: statement.value] + _value(value) + line_end + text[statement.end :]
    return text


def _statements(text: str) -> Iterator[Statement]:
    """Yield the headers and pairs of a valid text."""
    place = 0
    while place < len(text):
        end, value, depth, says = place, -1, 0, False
        for piece in _PIECE.finditer(text, place):
            word, end = piece[0], piece.end()
            if word == "\n" and depth <= 0:
                break
            if value < 0 and not word.startswith(("#", "\n", '"', "'")) and "=" in word:
                gap = word.index("=") + 1
                rest = word[gap:]
                value = piece.start() + gap + len(rest) - len(rest.lstrip(" \t"))
            depth += (word in "[{") - (word in "]}")
            says = says or not (word.startswith("#") or word.isspace())
        else:
            end = len(text)
        if says:
            said = text[place:end]
            yield Statement(value < 0, _keys(said), place, end, value)
        place = max(end, place + 1)


def _keys(said: str) -> tuple[str, ...]:
    """Return the keys of a header, or a pair's first key."""
    value: Any = tomllib.loads(said)
    if not said.lstrip().startswith("["):
        return (next(iter(value)),)
    path = []
    while isinstance(value, dict) and value:
        key = next(iter(value))
        path.append(key)
        value = value[key]
        value = value[0] if isinstance(value, list) and value else value
    return tuple(path)

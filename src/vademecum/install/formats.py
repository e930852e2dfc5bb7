"""File formats: one function to add a part, one to remove it.

JSON and YAML have modules of their own. Here are the marked block, for instructions in Markdown and for our own files in
YAML, TOML and JavaScript, and the table in a TOML text. A block's hint holds:

    glue        the line ends put before the block, so that an empty line precedes it
    headed      the file was empty, and its head is ours
    replaced    the earlier block

A table goes to the end of its file, and the rest of the text stays. An existing table of the same name gets its values
changed in place, and keeps others' additions. `tomllib` verifies the result: it must read the earlier values and our
table. A table's hint holds:

    glue        the text put before the table, so that an empty line precedes it
    replaced    the text of an earlier table
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from vademecum.install import json_text
from vademecum.install.part import MEND, EditError, Hint, Part, contains, cut, newline_of, value_at, verify

BOM = "\ufeff"
BEGIN = "vademecum:begin -- `vade uninstall` removes this block"
END = "vademecum:end"
_MARKS = {"markdown": ("<!-- ", " -->"), "yaml-file": ("# ", ""), "toml-file": ("# ", ""), "javascript": ("// ", "")}


def upsert(text: str, part: Part) -> tuple[str, Hint]:
    """Insert the part; return the text and a hint for removal.

    The hint is {} if the part was already there.

    Raises:
        EditError: the text breaks its format, or the part cannot be added.
    """
    mark, text = _split_mark(text)
    text, hint = _editor(part)[0](text, part)
    return mark + text, hint


def remove(text: str, part: Part, hint: Hint) -> str:
    """Return the text without the part.

    The earlier text is restored, except for others' later changes. Raises as `upsert` does.
    """
    mark, text = _split_mark(text)
    return mark + _editor(part)[1](text, part, hint)


def _editor(part: Part) -> tuple[Callable[[str, Part], tuple[str, Hint]], Callable[[str, Part, Hint], str]]:
    """Return the two functions of a part's format."""
    match part.format:
        case "json" | "jsonc":
            return json_text.upsert, json_text.remove
        case "toml":
            return _upsert_table, _remove_table
        case "yaml":
            from vademecum.install import yaml_text

            return yaml_text.upsert, yaml_text.remove
    return _upsert_block, _remove_block


def decoded(content: bytes) -> str:
    """Return a file's content as text. Raises `EditError` unless UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditError("it is not UTF-8") from error


def _split_mark(text: str) -> tuple[str, str]:
    return text[: text.startswith(BOM)], text.removeprefix(BOM)


def _upsert_block(text: str, part: Part) -> tuple[str, Hint]:
    newline = newline_of(text)
    opening, closing = _MARKS[part.format]
    block = f"{opening}{BEGIN}{closing}\n{str(part.value).strip()}\n{opening}{END}{closing}\n".replace("\n", newline)
    span = _block_span(text, part)
    if span is not None:
        there = text[slice(*span)]
        if there.rstrip("\r\n") == block.rstrip("\r\n"):
            return text, {}
        block = block if there.endswith("\n") else block.rstrip("\r\n")
        return text[: span[0]] + block + text[span[1] :], {"replaced": there}
    if not text:
        return part.head + block, {"headed": True}
    glue = newline if text.endswith("\n") else newline * 2
    return text + glue + block, {"glue": glue}


def _remove_block(text: str, part: Part, hint: Hint) -> str:
    span = _block_span(text, part)
    if span is None:
        return text
    rest = cut(text, span, hint)
    return "" if hint.get("headed") and rest.strip() == part.head.strip() else rest


def _block_span(text: str, part: Part) -> tuple[int, int] | None:
    opening, closing = map(re.escape, _MARKS[part.format])
    begins = list(re.finditer(rf"^{opening}vademecum:begin\b[^\r\n]*{closing}[ \t]*\r?$", text, re.MULTILINE))
    ends = list(re.finditer(rf"^{opening}vademecum:end{closing}[ \t]*(?:\r?\n|\Z)", text, re.MULTILINE))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        raise EditError("its vademecum block does not begin and end once: mend the marks, or take them out")
    return begins[0].start(), ends[0].end()


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


def _upsert_table(text: str, part: Part) -> tuple[str, Hint]:
    """Insert the table, as `upsert` does."""
    before, newline = _read_toml(text), newline_of(text)
    if contains(value_at(before, part.path), part.value):
        return text, {}
    span = _span(text, part)
    if span is None:
        glue = "" if not text else newline if text.endswith("\n") else newline * 2
        new, hint = text + glue + _table(part).replace("\n", newline), {"glue": glue}
    else:
        new, hint = _merged(text, part, newline), {"replaced": text[slice(*span)]}
    try:
        after = _read_toml(new)
    except EditError as error:
        raise EditError(f"{'.'.join(part.path)} is written in a form that cannot be added to") from error
    verify(before, after, part)
    return new, hint


def _remove_table(text: str, part: Part, hint: Hint) -> str:
    """Remove the table, as `remove` does."""
    _read_toml(text)
    span = _span(text, part)
    return text if span is None else cut(text, span, hint)


def _read_toml(text: str) -> dict[str, Any]:
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

"""A part: one entry of ours in a file, with undo data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from vademecum.errors import UsageError

Hint = dict[str, Any]  # plain JSON with a format's data for removal
MEND = "mend it and run this again"  # the fix for an unreadable file


class EditError(UsageError):
    """A file cannot be changed without damage, and stays as it is."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of our entries in one file."""

    id: str  # within the file: `mcp`, `instructions`, `hook session-start`
    format: str  # json, jsonc, toml, yaml, or a kind of block
    value: Any  # a mapping for an entry, a text for a block
    path: tuple[str, ...] = ()  # the keys of the entry, or of the list that `value` is added to
    mark: str = ""  # for a list: text by which our element is recognised
    head: str = ""  # for a block: the beginning of a file that we create


@dataclass(frozen=True, slots=True)
class Placed:
    """A part in a file, with its undo data and its agents."""

    part: Part
    hint: Hint = field(default_factory=dict)
    agents: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the placed part as plain JSON."""
        return asdict(self.part) | {"hint": self.hint, "agents": self.agents}


def placed(record: Mapping[str, Any]) -> Placed:
    """Return the part from `Placed.record`. Raises `KeyError` or `TypeError`."""
    names = {name: str(record[name]) for name in ("id", "format", "mark", "head")}
    part = Part(value=record["value"], path=tuple(map(str, record["path"])), **names)
    return Placed(part, dict(record["hint"]), tuple(map(str, record["agents"])))


def newline_of(text: str) -> str:
    r"""Return the line end that most lines of a text use.

    >>> newline_of("a\r\nb\r\n"), newline_of("a\nb"), newline_of("")
    ('\r\n', '\n', '\n')
    """
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def value_at(value: Any, path: tuple[str, ...]) -> Any:
    """Return the value at the keys of a path, or None."""
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def contains(there: Any, wanted: Any) -> bool:
    """Return whether an entry holds the wanted keys and values.

    Other keys do not matter.

    >>> contains({"command": "a", "disabled": True}, {"command": "a"})
    True
    """
    if isinstance(there, dict) and isinstance(wanted, dict):
        return all(key in there and there[key] == value for key, value in wanted.items())
    return bool(there == wanted)


def without(value: Any, path: tuple[str, ...]) -> Any:
    """Return a value without an entry and without emptied parents.

    >>> without({"a": {"b": 1}, "c": 2}, ("a", "b"))
    {'c': 2}
    """
    if not isinstance(value, dict) or path[0] not in value:
        return value
    rest = {key: each for key, each in value.items() if key != path[0]}
    inner = without(value[path[0]], path[1:]) if path[1:] else None
    return rest if inner in (None, {}, []) else rest | {path[0]: inner}


def verify(before: Any, after: Any, part: Part) -> None:
    """Check that a file gained an entry and nothing else. Raises `EditError`."""
    if not contains(value_at(after, part.path), part.value) or without(after, part.path) != without(before, part.path):
        raise EditError(f"{'.'.join(part.path)} cannot be added without changing something else")


def cut(text: str, span: tuple[int, int], hint: Hint) -> str:
    """Return a text without our lines, or with the replaced lines.

    The hint holds the earlier lines in `replaced`, and the line ends put before ours in `glue`.
    """
    start, end = span
    if "replaced" in hint:
        return text[:start] + str(hint["replaced"]) + text[end:]
    kept = text[:start].removesuffix(str(hint.get("glue", "")))
    if text[end:] and kept and not kept.endswith("\n"):  # others appended text: it must begin on its own line
        kept += newline_of(text)
    return kept + text[end:]

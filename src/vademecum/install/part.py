"""A part: one entry of ours in a file, with undo data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vademecum.errors import UsageError

Hint = dict[str, Any]  # plain JSON with a format's data for removal
MEND = "mend it and run this again"  # the fix for an unreadable file


class EditError(UsageError):
    """A file cannot be changed without damage.

    The file is left as it is, and the message names the problem.
    """


@dataclass(frozen=True, slots=True)
class Part:
    """One of our entries in one file.

    Attributes:
        id: Its name within the file: `mcp`, `instructions`, `hook session-start`.
        format: The format of the file: json, jsonc, toml, yaml, or a kind of block.
        value: The value to insert: a mapping for an entry, a text for a block.
        path: The keys of the entry, or of the list that `value` is added to.
        mark: For a list: text by which our element is recognised.
        head: For a block: the beginning of a file that we create.
    """

    id: str
    format: str
    value: Any
    path: tuple[str, ...] = ()
    mark: str = ""
    head: str = ""

    def record(self) -> dict[str, Any]:
        """Return the part as plain JSON."""
        return {
            "id": self.id,
            "format": self.format,
            "value": self.value,
            "path": list(self.path),
            "mark": self.mark,
            "head": self.head,
        }


@dataclass(frozen=True, slots=True)
class Placed:
    """A part in a file, with its undo data and its agents."""

    part: Part
    hint: Hint = field(default_factory=dict)
    agents: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the placed part as plain JSON."""
        return self.part.record() | {"hint": self.hint, "agents": list(self.agents)}


def placed(record: Mapping[str, Any]) -> Placed:
    """Return the placed part from its `Placed.record`.

    Raises:
        KeyError, TypeError: the record has another form.
    """
    part = Part(
        str(record["id"]),
        str(record["format"]),
        record["value"],
        tuple(map(str, record["path"])),
        str(record["mark"]),
        str(record["head"]),
    )
    return Placed(part, dict(record["hint"]), tuple(map(str, record["agents"])))


def newline_of(text: str) -> str:
    r"""Return the line end that most lines of a text use.

    >>> newline_of("a\r\nb\r\n"), newline_of("a\nb"), newline_of("")
    ('\r\n', '\n', '\n')
    """
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def contains(there: Any, wanted: Any) -> bool:
    """Return whether an entry holds the wanted keys and values.

    Other keys do not matter.

    >>> contains({"command": "a", "disabled": True}, {"command": "a"})
    True
    """
    if isinstance(there, dict) and isinstance(wanted, dict):
        return all(key in there and there[key] == value for key, value in wanted.items())
    return bool(there == wanted)

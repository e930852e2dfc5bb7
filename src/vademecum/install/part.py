"""What is put into a file, and what is remembered so that it can be taken out again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vademecum.errors import UsageError

Hint = dict[str, Any]  # plain JSON: what a format needs to know to undo what it did
MEND = "mend it and run this again"  # what to do about a file that cannot be read


class EditError(UsageError):
    """A file cannot be changed without damage; it is left as it is, and the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing of ours in one file.

    Attributes:
        id: Its name within the file: `mcp`, `instructions`, `hook session-start`.
        format: What the file is written in, a key of `formats.FORMATS`.
        value: What is put there: a mapping for an entry, a text for a block.
        path: Where: the keys that lead to an entry, or to the list that `value` is added to.
        mark: For a list: what the text of our element contains, by which it is known again.
        head: For a block: what a file of our own opens with.
    """

    id: str
    format: str
    value: Any
    path: tuple[str, ...] = ()
    mark: str = ""
    head: str = ""

    def record(self) -> dict[str, Any]:
        """Return it as plain JSON."""
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
    """A part that is in a file, with what undoes it and the agents that it is for."""

    part: Part
    hint: Hint = field(default_factory=dict)
    agents: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return self.part.record() | {"hint": self.hint, "agents": list(self.agents)}


def placed(record: Mapping[str, Any]) -> Placed:
    """Return what `Placed.record` wrote.

    Raises:
        KeyError, TypeError: it is something else.
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
    r"""Return how most lines of a text end.

    >>> newline_of("a\r\nb\r\n"), newline_of("a\nb"), newline_of("")
    ('\r\n', '\n', '\n')
    """
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def contains(there: Any, wanted: Any) -> bool:
    """Return whether an entry says what is wanted, whatever else it says.

    >>> contains({"command": "a", "disabled": True}, {"command": "a"})
    True
    """
    if isinstance(there, dict) and isinstance(wanted, dict):
        return all(key in there and there[key] == value for key, value in wanted.items())
    return bool(there == wanted)

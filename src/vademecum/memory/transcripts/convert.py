"""Convert records of any transcript into events of limited length."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vademecum.beneath import from_folder
from vademecum.memory.records import Event, Role, event_id, is_time

# Most characters kept by role. Longer texts lose their middle, since the end of an output holds its result.
MOST = {
    Role.USER: 20_000,
    Role.ASSISTANT: 20_000,
    Role.COMMAND: 4_000,
    Role.OUTPUT: 2_000,
    Role.EDIT: 2_000,
    Role.COMMIT: 8_000,
}
CUT = "\n[…]\n"
_FETCHING = re.compile(r"(?s)\b(?:curl|wget|lynx)\b.*(?:://|\w\.\w)|\bgh api\b")


@dataclass(frozen=True, slots=True)
class Session:
    """The session that a record belongs to."""

    id: str
    agent: str
    cwd: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Directories whose transcripts are wanted, with all below."""

    roots: tuple[str, ...]

    def repository(self, cwd: str) -> str | None:
        """Return the first root if `cwd` is wanted, else None."""
        inside = cwd in self.roots or any(from_folder(cwd, root) for root in self.roots)
        return self.roots[0] if inside else None


def event(session: Session, repo: str, role: Role, text: str, at: float, **metadata: Any) -> Iterator[Event]:
    """Yield an event, or nothing if text or time is missing."""
    text = cut(text.strip(), MOST[role])
    if not text or at <= 0 or not is_time(at):
        return
    known = {"agent": session.agent, "branch": session.branch, **metadata}
    kept = {name: value for name, value in known.items() if value not in ("", None, False)}
    yield Event(event_id(session.id, role, text, at), at, role, text, session.id, repo, "", kept)


def cut(text: str, most: int) -> str:
    r"""Shorten a text to `most` characters by cutting its middle out.

    >>> cut("0123456789" * 3, 15)
    '01234\n[…]\n56789'
    """
    if len(text) <= most:
        return text
    half = (most - len(CUT)) // 2
    return text[:half] + CUT + text[-half:]


def command_line(value: Any) -> str:
    """Return a command as one line, without the shell that wraps it.

    >>> command_line(["bash", "-lc", "make test"]), command_line(["git", "status"]), command_line("ls")
    ('make test', 'git status', 'ls')
    """
    if isinstance(value, str):
        return value
    words = [str(word) for word in value] if isinstance(value, list) else []
    if (
        len(words) == 3
        and re.fullmatch(r"(?:.*/)?(?:ba|z|k)?sh|powershell|pwsh", words[0])
        and words[1].startswith("-")
    ):
        return words[2]
    return " ".join(words)


def change(path: str, old: str, new: str) -> str:
    """Return an edit as text: the path, removed lines, added lines."""
    lines = [f"-{line}" for line in old.splitlines()] + [f"+{line}" for line in new.splitlines()]
    return "\n".join([path, *lines])


def kind_of_command(line: str) -> str:
    """Return "fetched" for a command that gets a page, else "command".

    >>> kind_of_command("curl -s https://example.com/setup.md"), kind_of_command("make test")
    ('fetched', 'command')
    """
    return "fetched" if _FETCHING.search(line) else "command"


def remember(carry: dict[str, Any], call: str, what: str, most: int = 64) -> None:
    """Store the kind of a call until its result arrives.

    Only the latest `most` calls are kept.
    """
    calls = carry.setdefault("calls", {})
    calls[call] = what
    for old in list(calls)[: max(0, len(calls) - most)]:
        del calls[old]


def paths_of(patch: str) -> Sequence[str]:
    """Return the files that a patch in Codex's format names."""
    return re.findall(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", patch, re.MULTILINE)

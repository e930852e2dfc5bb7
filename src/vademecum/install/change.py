"""The planned change of one file, and its unified diff for people."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from vademecum.install.agent_file import File, digest_of
from vademecum.install.formats import decoded, remove, upsert
from vademecum.install.installed_parts import Journal, Record
from vademecum.install.json_text import bare
from vademecum.install.part import Placed
from vademecum.version import __version__

CONTEXT = 1  # lines around a change; few, because settings hold secrets and terminals are shared
WIDTH = 160


@dataclass(frozen=True, slots=True)
class Change:
    """The planned change of one file."""

    file: File
    new: bytes | None  # the planned content, None for no file
    clean: bytes | None  # the content without our parts
    record: Record | None  # the planned journal entry; `before` is filled in when the file is written
    was: str = ""  # the digest of the content before our parts, if known

    @property
    def is_written(self) -> bool:
        """True if the file changes, and not the journal alone."""
        return self.file.content != self.new

    @property
    def done(self) -> str:
        """The change in one word, to be followed by its path."""
        if self.new is None:
            return "removed"
        if self.record is not None:
            return "wrote"
        return "restored" if digest_of(self.new) == self.was else "took ours out of"


def with_parts(
    file: File, wanted: Sequence[Placed], installing: Collection[str], journal: Journal, project: str
) -> Change | None:
    """Return the change that adds parts to a file.

    Parts that only the installing agents use, and that are no longer wanted, are removed. None if nothing changes, not
    even the journal.

    Raises:
        EditError: the file breaks its format, or a part cannot be added.
    """
    old = _record(file, journal)
    text = decoded(file.content or b"")
    known: dict[str, Placed] = {}
    stale: list[Placed] = []
    for each in old.parts if old else ():
        others = tuple(agent for agent in each.agents if agent not in installing)
        if any(one.part.id == each.part.id for one in wanted):
            known[each.part.id] = each
        elif others:
            known[each.part.id] = replace(each, agents=others)
        else:
            stale.append(each)
    text = _removed(text, stale)
    for each in wanted:
        text = _added(text, each, known)
    new, parts, clean = text.encode(), tuple(known.values()), _clean(file, old, journal)
    if not parts:
        return Change(file, clean, clean, None, old.before) if old else None
    if file.content == new and old and old.parts == parts and old.after == (digest_of(new),):
        return None
    return Change(file, new, clean, Record("", (digest_of(new),), parts, __version__, project))


def _added(text: str, wanted: Placed, known: dict[str, Placed]) -> str:
    """Add a part to a text and to the known parts."""
    part = wanted.part
    before = known.get(part.id)
    if before is not None and before.part.head and text.startswith(before.part.head):
        text = part.head + text.removeprefix(before.part.head)  # the head of an older version, unchanged
    text, hint = upsert(text, part)
    if before is not None and (not hint or "replaced" in hint):
        hint = before.hint  # the part is ours already: its earlier hint still undoes it
    if hint or before:  # an equal entry that somebody wrote by hand stays theirs
        agents = {*(before.agents if before else ()), *wanted.agents}
        known[part.id] = Placed(part, hint, tuple(sorted(agents)))
    return text


def without_parts(file: File, old: Record, agents: Collection[str], journal: Journal) -> Change | None:
    """Return the change that removes some agents' parts.

    Parts that other agents also use stay. None if nothing changes.

    Raises:
        EditError: the file now breaks its format.
    """
    staying = tuple(
        replace(each, agents=others)
        for each in old.parts
        if (others := tuple(agent for agent in each.agents if agent not in agents))
    )
    if staying == old.parts:
        return None
    clean = _clean(file, _record(file, journal), journal)
    if not staying:
        return Change(file, clean, clean, None, old.before)
    remaining = {each.part.id for each in staying}
    text = _removed(decoded(file.content or b""), [each for each in old.parts if each.part.id not in remaining])
    new = text.encode()
    return Change(file, new, clean, replace(old, before="", after=(digest_of(new),), parts=staying))


def _removed(text: str, parts: Sequence[Placed]) -> str:
    for each in reversed(parts):
        text = remove(text, each.part, each.hint)
    return text


def _record(file: File, journal: Journal) -> Record | None:
    """Return a file's record, None for a file without our parts."""
    old = journal.records.get(str(file.path))
    return None if old is None or digest_of(file.content) == old.before else old


def _clean(file: File, old: Record | None, journal: Journal) -> bytes | None:
    """Return the exact backup, or others' later content without our parts."""
    if old is None or file.content is None:
        return file.content
    if digest_of(file.content) in old.after:
        if not old.before:
            return None
        if (kept := journal.kept(old.before)) is not None:
            return kept
    text = _removed(decoded(file.content), old.parts)
    return None if not old.before and not text.strip("\ufeff \t\r\n") else text.encode()


def diff(change: Change, home: Path) -> str:
    """Return a change as a unified diff.

    "" if only the journal changes. Settings on one long line are wrapped for the diff, so that a reader sees every
    command before agreeing.
    """
    if not change.is_written:
        return ""
    path, now = change.file.path, change.file.content
    name = f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)
    old, new = _lines(now), _lines(change.new)
    note = ""
    if any(len(line) > WIDTH for line in set(old) - set(new) - {line.removesuffix(",") for line in new}):
        rewrapped = _rewrapped(now), _rewrapped(change.new)
        if all(rewrapped):
            (old, new), note = rewrapped, "  (wrapped anew to be read: the file keeps its lines)"
    lines = difflib.unified_diff(
        old,
        new,
        name if now is not None else "/dev/null",
        name + note if change.new is not None else "/dev/null",
        lineterm="",
        n=CONTEXT,
    )
    return "".join(f"{_clipped(line, old)}\n" for line in lines)


def _lines(content: bytes | None) -> list[str]:
    text = (content or b"").decode("utf-8", "replace")
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    return [*lines[:-1], lines[-1] + " (no line end)"]


def _rewrapped(content: bytes | None) -> list[str]:
    """Return a JSON file with an entry a line; else []."""
    try:
        value = json.loads(bare((content or b"").decode("utf-8-sig")))
    except ValueError:
        return []
    return json.dumps(value, indent=2, ensure_ascii=False).split("\n")


def _clipped(line: str, old: Collection[str]) -> str:
    """Shorten a very long line, unless the line is our addition."""
    ours = line.startswith("+") and line[1:].removesuffix(",") not in old
    return line if ours or len(line) <= WIDTH else f"{line[:WIDTH]}…"

"""The planned change of one file: adding or removing our parts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from vademecum.install.files import Found
from vademecum.install.formats import decoded, remove, upsert
from vademecum.install.journal import Journal, Record, digest_of
from vademecum.install.part import Part, Placed
from vademecum.version import __version__


@dataclass(frozen=True, slots=True)
class Change:
    """The planned change of one file; None means no file.

    Attributes:
        path: The real path.
        now: The current content.
        new: The planned content.
        clean: The content without our parts.
        record: The planned journal entry, None for none. `before` is filled in when the file is written.
        mode: The planned permissions.
        owner: The user and group.
        folders: Directories to create for the file, outermost first.
        was: The digest of the content before our parts, if known.
    """

    path: Path
    now: bytes | None
    new: bytes | None
    clean: bytes | None
    record: Record | None
    mode: int
    owner: tuple[int, int] | None
    folders: tuple[str, ...] = ()
    was: str = ""

    @property
    def done(self) -> str:
        """The change in one word, to be followed by its path."""
        if self.new is None:
            return "removed"
        if self.record is not None:
            return "wrote"
        return "restored" if digest_of(self.new) == self.was else "took ours out of"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A part to add to a file, and its agents."""

    part: Part
    agents: tuple[str, ...]


def with_parts(
    found: Found, wanted: Sequence[Wanted], mine: Collection[str], journal: Journal, project: str
) -> Change | None:
    """Return the change that adds parts to a file.

    None if nothing changes, not even the journal.

    Args:
        found: The file.
        wanted: The parts.
        mine: The agents being installed. Parts that only they use and that are no longer wanted are removed.
        journal: The journal of files.
        project: The repository of the file; "" for the user's own.

    Raises:
        EditError: the file breaks its format, or a part cannot be added.
    """
    old = _record(found, journal)
    text = decoded(found.content or b"")
    kept, stale = _divided(old.parts if old else (), mine, {each.part.id for each in wanted})
    for gone in reversed(stale):
        text = remove(text, gone.part, gone.hint)
    known = {each.part.id: each for each in kept}
    for each in wanted:
        before = known.get(each.part.id)
        if before is not None and before.part.head and text.startswith(before.part.head):
            text = each.part.head + text.removeprefix(before.part.head)  # the head of an older version, unchanged
        text, hint = upsert(text, each.part)
        if before is not None and (not hint or "replaced" in hint):
            hint = before.hint  # the part is ours already: its earlier hint still undoes it
        if hint or before:  # an equal entry that somebody wrote by hand stays theirs
            agents = {*(before.agents if before else ()), *each.agents}
            known[each.part.id] = Placed(each.part, hint, tuple(sorted(agents)))
    new = text.encode()
    parts = tuple(known.values())
    if not parts:
        clean = _clean(found, old, journal)
        return (
            Change(found.path, found.content, clean, clean, None, found.mode, found.owner, was=old.before)
            if old
            else None
        )
    if found.content == new and old and old.parts == parts and old.after == (digest_of(new),):
        return None
    record = Record("", (digest_of(new),), parts, __version__, project)
    return Change(
        found.path, found.content, new, _clean(found, old, journal), record, found.mode, found.owner, found.folders
    )


def without_parts(found: Found, old: Record, chosen: Collection[str], journal: Journal) -> Change | None:
    """Return the change that removes the chosen agents' parts.

    Parts that other agents also use stay. None if nothing changes.

    Raises:
        EditError: the file now breaks its format.
    """
    staying = tuple(
        Placed(each.part, each.hint, agents)
        for each in old.parts
        if (agents := tuple(agent for agent in each.agents if agent not in chosen))
    )
    if staying == old.parts:
        return None
    clean = _clean(found, _record(found, journal), journal)
    if not staying:
        return Change(found.path, found.content, clean, clean, None, found.mode, found.owner, was=old.before)
    text, remaining = decoded(found.content or b""), {each.part.id for each in staying}
    for each in reversed(old.parts):
        if each.part.id not in remaining:
            text = remove(text, each.part, each.hint)
    new = text.encode()
    record = Record("", (digest_of(new),), staying, old.version, old.project)
    return Change(found.path, found.content, new, clean, record, found.mode, found.owner)


def _record(found: Found, journal: Journal) -> Record | None:
    """Return the journal's record of a file.

    None if the file has its earlier content, without our parts.
    """
    old = journal.records.get(str(found.path))
    return None if old is None or digest_of(found.content) == old.before else old


def _divided(
    parts: Sequence[Placed], mine: Collection[str], wanted: Collection[str]
) -> tuple[list[Placed], list[Placed]]:
    """Return the parts that stay, and those only these agents used."""
    kept: list[Placed] = []
    stale: list[Placed] = []
    for each in parts:
        others = tuple(agent for agent in each.agents if agent not in mine)
        if each.part.id in wanted:
            kept.append(each)
        elif others:
            kept.append(Placed(each.part, each.hint, others))
        else:
            stale.append(each)
    return kept, stale


def _clean(found: Found, old: Record | None, journal: Journal) -> bytes | None:
    """Return a file's content without our parts.

    It is the exact backup, unless others changed the file since.
    """
    if old is None or found.content is None:
        return found.content
    if digest_of(found.content) in old.after:
        if not old.before:
            return None
        if (kept := journal.kept(old.before)) is not None:
            return kept
    text = decoded(found.content)
    for each in reversed(old.parts):
        text = remove(text, each.part, each.hint)
    return None if not old.before and not text.strip("\ufeff \t\r\n") else text.encode()

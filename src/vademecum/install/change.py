"""What one file would become: with our parts in it, or without them."""

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
    """A file, what is in it now and what is to be; None stands for no file.

    Attributes:
        path: Where it really is.
        now: What is in it.
        new: What is to be in it.
        clean: What would be in it without us.
        record: What the journal is to say of it; None for nothing. `before` is not filled in before it is written.
        mode: Permissions it is to have.
        owner: Its user and group.
        folders: Directories that have to be made for it, outermost first.
        was: The digest of what was in it before us, where that is known.
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
        """What making it does to the file, in a word that its path can follow."""
        if self.new is None:
            return "removed"
        if self.record is not None:
            return "wrote"
        return "restored" if digest_of(self.new) == self.was else "took ours out of"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A part that is to be in a file, and the agents it is for."""

    part: Part
    agents: tuple[str, ...]


def with_parts(
    found: Found, wanted: Sequence[Wanted], mine: Collection[str], journal: Journal, project: str
) -> Change | None:
    """Return what a file becomes with the parts in it; None where nothing changes, not even in the journal.

    Args:
        found: The file.
        wanted: The parts.
        mine: The agents that are being installed: parts that were there for them alone and are wanted no more go out.
        journal: What is known of files.
        project: The repository that the file belongs to; "" for the user's own.

    Raises:
        EditError: the file is not what its format asks for, or a part does not fit in.
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
            text = each.part.head + text.removeprefix(before.part.head)  # nobody changed what an older version wrote
        text, hint = upsert(text, each.part)
        if before is not None and (not hint or "replaced" in hint):
            hint = before.hint  # ours already: what undoes it is what undid it
        if hint or before:  # an entry that somebody wrote by hand, and that says the same, stays theirs
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
    """Return what a file becomes without the parts that are there for none but the agents chosen; None where nothing changes.

    Raises:
        EditError: the file is no longer what its format asks for.
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
    """What the journal knows of a file, unless it is as it was before: then nothing of ours is in it."""
    old = journal.records.get(str(found.path))
    return None if old is None or digest_of(found.content) == old.before else old


def _divided(
    parts: Sequence[Placed], mine: Collection[str], wanted: Collection[str]
) -> tuple[list[Placed], list[Placed]]:
    """The parts that stay, and those that only these agents wanted."""
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
    """A file's content without us: byte for byte as it was, or, if others wrote there since, without our parts."""
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

"""Assembly of memory, tools and contexts from an engine's parts.

Memory and tools are imported when they are first needed: a search imports neither.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from vademecum.code.codebase import Codebase
from vademecum.errors import AccessError, UsageError
from vademecum.wiring.parts import Parts
from vademecum.wiring.stores import TOOLS

if TYPE_CHECKING:
    from vademecum.code.checkout.root import Root
    from vademecum.code.snapshot.repository import Repository
    from vademecum.memory.anchors import Site
    from vademecum.memory.ledger import Scope
    from vademecum.memory.memory import Memory
    from vademecum.memory.records import Note, Reading, Role
    from vademecum.memory.sync import Outside
    from vademecum.protocols import Store
    from vademecum.tools.tools import Tools
    from vademecum.types import CommitMessage


def assemble_scopes(parts: Parts, repos: Sequence[Repository]) -> tuple[Scope, ...]:
    """Open the memories of several repositories, the nearest first.

    A personal engine has the global memory too. Outside of git there is the global memory alone. Repositories are
    numbered in their order, and worktrees of one repository share a memory.

    Raises:
        AccessError: only the global memory exists, and the caller may not see it.
    """
    first = _nearest(repos)
    if not parts.personal and not first.root.common_dir:
        raise AccessError(f"{first.name} is no git repository and has no memory of its own: ask about one that has")
    from vademecum.memory.ledger import GLOBAL, REPOSITORY, scope_of

    roots: dict[Path, Root] = {}
    for repo in repos:
        if repo.root.common_dir:
            roots.setdefault(repo.catalogue.directory, repo.root)
    places: list[tuple[str, Root | None, Path]] = [(REPOSITORY, root, at) for at, root in roots.items()]
    places += [(GLOBAL, None, parts.settings.home)] if parts.personal else []
    scopes = []
    for number, (name, root, directory) in enumerate(places):
        store = parts.stores.memory(root)
        parts.closing.append(store.close)
        scopes.append(scope_of(number, name, root.path if root else "", directory, store))
    return tuple(scopes)


def assemble_memory(parts: Parts, repos: Sequence[Repository], codebase: Codebase, scopes: tuple[Scope, ...]) -> Memory:
    """Return a memory over several repositories; new events join the first."""
    from vademecum.memory.memory import Memory

    first = _nearest(repos)
    memory = Memory(
        scopes, first.prose, extract, parts.clock, look_up=partial(look_up, repos, codebase),
        language=parts.settings.memory.language, outside=surroundings(first, parts), sharing=parts.sharing,
    )  # fmt: skip
    parts.closing.append(memory.close)
    return memory


def _nearest(repos: Sequence[Repository]) -> Repository:
    """Return the first git repository; without one, the first folder."""
    return next((repo for repo in repos if repo.root.common_dir), repos[0])


def code_notes(
    repos: Sequence[Repository], codebase: Codebase, scopes: Sequence[Scope], symbols: Callable[[], Mapping[str, str]]
) -> list[Note]:
    """Return the current facts about symbols of the code.

    None of the rest of memory is loaded. `symbols` makes qualified name → the shown symbol that calls it, or "" for a symbol
    that is shown itself; it is called only where a fact is about code.
    """
    from vademecum.memory.anchors import Anchoring, any_anchored

    if not any_anchored(scopes):
        return []
    anchoring, wanted = Anchoring(partial(look_up, repos, codebase)), symbols()
    return [note for scope in scopes for note in anchoring.about(scope, wanted)]


def extract(text: str, role: Role, *, later: bool = False) -> Reading:
    """Read the statements in a text; the first call loads the reader."""
    from vademecum.memory.extract import read

    return read(text, role, later=later)


def surroundings(repo: Repository, parts: Parts) -> Outside:
    """Return a repository's surroundings: agents' files, commits and extractor.

    Memory reads these besides recorded events. Outside of git there is the extractor alone.
    """
    from vademecum.code.checkout.commits import messages
    from vademecum.code.checkout.root import worktrees
    from vademecum.memory.sync import Outside

    if not repo.root.common_dir:
        return Outside(extractor=parts.extractor)  # other projects' texts must not enter the global memory

    def commits(known: str) -> list[CommitMessage]:
        return messages(repo.root, known).unwrap()

    return Outside(os.path.expanduser("~"), os.environ, tuple(worktrees(repo.root)), commits, parts.extractor)


def look_up(repos: Sequence[Repository], codebase: Codebase, names: Sequence[str]) -> dict[str, list[Site]] | None:
    """Return the places of names, refreshed; None without an index."""
    indexed = [repo for repo in repos if repo.catalogue.load("worktree", repo.root.path) is not None]
    if not indexed:
        return None
    codebase.refresh()
    return {name: [site for repo in indexed for site in _defined(codebase, repo, name)] for name in names}


def _defined(codebase: Codebase, repo: Repository, name: str) -> list[Site]:
    from vademecum.memory.anchors import MOST_SITES, Site

    try:
        found = codebase.symbol(name, k=MOST_SITES + 1, repo=repo.name, refresh=False, nearest=False)
    except UsageError:  # no language allows such a name
        return []
    return [Site(each.symbols[0], each.path, each.id.rpartition(":")[2]) for each in found.evidence]


def assemble_tools(parts: Parts) -> Tools:
    """Return the user's tools.

    Their database is opened when first needed. A damaged file is never set aside, because its records cannot be made
    again.
    """
    from vademecum.tools.tools import Tools

    @cache
    def opened() -> Store:
        if not parts.personal:
            raise AccessError(
                "tools and how they were used belong to the user, not to a repository: ask with the user's key"
            )
        store = parts.stores.tools()
        parts.closing.extend((store.close, tools.close))  # the last one is closed first
        return store

    own = parts.settings.tools
    tools = Tools(
        opened, lambda: parts.embedders.prose, parts.clock, parts.stores.where(parts.settings.home / TOOLS),
        reliability=own.reliability, min_score=own.min_score,
    )  # fmt: skip
    return tools

"""The flow of installation: gather, plan, show and write.

    install      find agents → gather parts by file → plan → show → write
    uninstall    read the journal → plan → show → write

Nothing is written before it was planned and shown. If the user was asked meanwhile, the plan is made again under the
journal's lock, and a file whose planned content differs by then is not changed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_fields
from pathlib import Path

from vademecum.errors import SourceError, UsageError
from vademecum.install.agents import AGENTS, BY_ID, Agent, Config
from vademecum.install.change import Change, Wanted, with_parts, without_parts
from vademecum.install.command import Command
from vademecum.install.files import Found, look
from vademecum.install.formats import decoded, upsert
from vademecum.install.hook_events import Hooks, Program
from vademecum.install.instructions import INSTRUCTIONS
from vademecum.install.journal import Journal, Record, make, sweep
from vademecum.install.journal import replace as replace_file
from vademecum.install.part import EditError, Part
from vademecum.install.places import Places

NAME = "vademecum"


@dataclass(frozen=True, slots=True)
class Plan:
    """Planned changes, problems, notes, and files that are left alone."""

    changes: tuple[Change, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    left_alone: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """The agents, the scope, and the kinds of parts to install."""

    agents: tuple[Agent, ...]
    scope: str
    command: Command
    rules: bool = True
    hooks: bool = True
    hints: bool = False


Planner = Callable[[Journal], Plan]


def chosen(names: Sequence[str], places: Places) -> tuple[Agent, ...]:
    """Return the named agents, or those found on this machine.

    Without names, returns the found agents.

    Raises:
        UsageError: a name belongs to no agent.
    """
    unknown = [name for name in names if name not in BY_ID]
    if unknown:
        raise UsageError(f"there is no agent {unknown[0]!r}: it is one of {', '.join(BY_ID)}")
    return tuple(agent for agent in AGENTS if (agent.id in names if names else is_found(agent, places)))


def is_found(agent: Agent, places: Places) -> bool:
    """Return whether an agent is in use on this machine.

    True if its command or one of its traces exists.
    """
    return any(shutil.which(name) for name in agent.commands) or any(
        os.path.lexists(places.path(trace)) for trace in agent.traces
    )


def install(choice: Choice, places: Places) -> Planner:
    """Return a function that plans adding our parts to agents."""

    def plan(journal: Journal) -> Plan:
        wanted, notes = gather(choice, places)
        whole = _planned_for(choice, wanted, notes, journal)
        serverless = _serverless(choice, wanted, whole.left_alone)
        if not serverless:
            return whole
        # An agent that cannot have the server must not get instructions to use the server.
        rest = with_fields(choice, agents=tuple(agent for agent in choice.agents if agent not in serverless))
        said = (f"nothing is installed for {agent.title}, which cannot have the server" for agent in serverless)
        kept = _planned_for(rest, *gather(rest, places), journal)
        problems = dict.fromkeys((*whole.problems, *kept.problems, *said))
        return Plan(kept.changes, tuple(problems), kept.notes, whole.left_alone)

    def _planned_for(
        choice: Choice, wanted: Mapping[Path, Sequence[Wanted]], notes: tuple[str, ...], journal: Journal
    ) -> Plan:
        within = places.project if choice.scope == "project" else None
        project = str(places.project) if within else ""

        mine = {agent.id for agent in choice.agents}
        earlier = [Path(path) for path, record in journal.records.items() if record.project == project]

        def change_of(found: Found) -> Change | None:
            return with_parts(found, wanted.get(found.path, ()), mine, journal, project)

        return _planned(((path, within) for path in dict.fromkeys((*wanted, *earlier))), change_of, notes)

    return plan


def _serverless(
    choice: Choice, wanted: Mapping[Path, Sequence[Wanted]], left_alone: Collection[Path]
) -> tuple[Agent, ...]:
    """Return agents that cannot have the server.

    The file for it is left alone, and does not have the server yet.
    """
    ids = {
        agent
        for path in left_alone
        for each in wanted.get(path, ())
        if each.part.id == "mcp" and _lacks(path, each.part)
        for agent in each.agents
    }
    return tuple(agent for agent in choice.agents if agent.id in ids)


def _lacks(path: Path, part: Part) -> bool:
    """Return whether a file lacks a part; True if unreadable."""
    try:
        return bool(upsert(decoded(path.read_bytes()), part)[1])
    except (OSError, EditError):
        return True


def uninstall(agents: Collection[str], is_meant: Callable[[Record], bool]) -> Planner:
    """Return a function that plans removing our parts.

    It covers the files whose records `is_meant` accepts.
    """

    def plan(journal: Journal) -> Plan:
        def change_of(found: Found) -> Change | None:
            return without_parts(found, journal.records[str(found.path)], agents, journal)

        known = [Path(path) for path, record in journal.records.items() if is_meant(record)]
        return _planned(((path, None) for path in known), change_of, ())

    return plan


def gather(choice: Choice, places: Places) -> tuple[dict[Path, list[Wanted]], tuple[str, ...]]:
    """Return all agents' parts by file, and notes about them.

    Raises:
        UsageError: the scope is a repository, and the current one is the home directory.
    """
    if choice.scope == "project" and places.homeless:
        raise UsageError("the home directory is no repository: change to one, or leave out --scope project")
    wanted: dict[Path, list[Wanted]] = {}
    notes: list[str] = []
    for agent in choice.agents:
        scope = agent.project if choice.scope == "project" else agent.user
        parts = list(_parts(agent, choice, places))
        if scope.config is None:
            notes.append(
                f"{agent.title} has no servers {_of(choice.scope)}: only {'instructions and hooks' if scope.hooks else 'instructions'}"
                if parts
                else f"{agent.title} has nothing {_of(choice.scope)}: try --scope {_other(choice.scope)}"
            )
        elif scope.config.argument == "{repository}":
            served = f"this one serves {places.project}"
            said = "run this in the one to be served" if _is_homeless(scope.config, places) else served
            notes.append(f"{agent.title} starts its servers outside of any repository: {said}")
        for path, part in parts:
            _add(wanted.setdefault(Path(os.path.realpath(path)), []), part, agent.id)
    if choice.scope == "project" and choice.command.local and wanted:
        notes.append(
            f"these files name {choice.command.words[0]}, a place on this machine: for a team, --command 'uvx {NAME}'"
        )
    return wanted, tuple(notes)


def agreed(plan: Plan, shown: Plan) -> Plan:
    """Return the part of a plan that the user agreed to.

    A file whose planned content has changed since is left alone.
    """
    seen = {change.path: (change.now, change.new) for change in shown.changes}
    same = [change for change in plan.changes if seen.get(change.path) == (change.now, change.new)]
    others = [change for change in plan.changes if seen.get(change.path) != (change.now, change.new)]
    said = (f"{change.path} changed meanwhile, and is left alone: run this again" for change in others)
    return Plan(tuple(same), (*plan.problems, *said), plan.notes, plan.left_alone)


def write(plan: Plan, journal: Journal) -> tuple[list[Path], list[str]]:
    """Write the plan; return the written files and the problems.

    The caller holds the journal's lock.

    Raises:
        SourceError: the journal cannot be written.
    """
    written, problems = [], []
    for change in plan.changes:
        try:
            write_one(change, journal)
        except SourceError as error:
            problems.append(str(error))
        else:
            if change.now != change.new:
                written.append(change.path)
    journal.tidy()
    return written, problems


def write_one(change: Change, journal: Journal) -> None:
    """Write one change.

    After a crash between any two lines, `uninstall` still restores the file.

    Raises:
        SourceError: the file or the journal cannot be written.
    """
    sweep(change.path)
    before = journal.keep(change.clean)
    old = journal.records.get(str(change.path))
    record = None if change.record is None else with_fields(change.record, before=before)
    if record is not None:
        journal.put(
            change.path, with_fields(record, after=(*record.after, *(old.after if old else ()))), change.folders
        )
    if change.new is None:
        _unlink(change.path)
    elif change.new != change.now:
        make(change.path.parent)
        replace_file(change.path, change.new, change.mode, change.owner)
    journal.put(change.path, record)


def _unlink(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise SourceError(f"cannot remove {path}: {error.strerror}; remove it by hand") from error


def _planned(
    files: Iterable[tuple[Path, Path | None]], change_of: Callable[[Found], Change | None], notes: tuple[str, ...]
) -> Plan:
    changes: list[Change] = []
    problems: dict[Path, str] = {}
    for path, within in files:
        try:
            change = change_of(look(path, within))
        except EditError as error:
            problems[path] = f"{path} is left alone: {error}"
            continue
        if change is not None:
            changes.append(change)
    return Plan(tuple(changes), tuple(problems.values()), notes, tuple(problems))


def _parts(agent: Agent, choice: Choice, places: Places) -> Iterable[tuple[Path, Part]]:
    scope = agent.project if choice.scope == "project" else agent.user
    if scope.config is not None and not _is_homeless(scope.config, places):
        yield _server(scope.config, choice.command, places)
    if scope.rules is not None and choice.rules:
        yield places.path(scope.rules.file), Part("instructions", "markdown", INSTRUCTIONS, head=scope.rules.head)
    for text in scope.texts if choice.rules else ():
        yield places.path(text.file), Part(text.of, text.format, text.words(), head=text.head)
    if scope.hooks is not None and choice.hooks:
        path = places.path(scope.hooks.file)
        if isinstance(scope.hooks, Program):
            yield path, Part("plugin", "javascript", scope.hooks.text(choice.command.words))
        else:
            yield from ((path, part) for part in _hooks(scope.hooks, choice.command, hints=choice.hints))


def _server(config: Config, command: Command, places: Places) -> tuple[Path, Part]:
    arguments = [*command.words[1:], "mcp"]
    if config.argument:
        arguments.append(config.argument.replace("{repository}", str(places.project)))
    value = config.server(command.words[0], arguments)
    path = (*config.path, NAME) if config.path else ()
    return places.first(config.files), Part("mcp", config.format, value, path)


def _hooks(hooks: Hooks, command: Command, *, hints: bool) -> Iterable[Part]:
    if hooks.version is not None:
        yield Part("hooks version", hooks.format, hooks.version, ("version",))
    names = [hook.split()[0] for hook in hooks.events.values()]
    for event, hook in hooks.events.items():
        name = hook.split()[0]
        id_ = f"hook {name}" if names.count(name) == 1 else f"hook {name} {event}"
        element = hooks.element(command.hook(hook), hooks.timeout)
        yield Part(id_, hooks.format, element, ("hooks", event), f"memory hook {name}")
    if hints and hooks.hint is not None:
        element = hooks.hint.element(command.hook("hint"), hooks.timeout)
        yield Part("hook hint", hooks.format, element, ("hooks", hooks.hint.event), "memory hook hint")


def _add(parts: list[Wanted], part: Part, agent: str) -> None:
    """Add a part for an agent.

    Several agents may read the same file: a part that two of them need is added once.
    """
    for index, each in enumerate(parts):
        if each.part.id == part.id:
            parts[index] = Wanted(each.part, (*each.agents, agent))
            return
    parts.append(Wanted(part, (agent,)))


def _is_homeless(config: Config, places: Places) -> bool:
    """Return whether a server needs a repository's path, and there is none."""
    return config.argument == "{repository}" and places.homeless


def _of(scope: str) -> str:
    return "of a repository's own" if scope == "project" else "for all repositories"


def _other(scope: str) -> str:
    return "user" if scope == "project" else "project"


def state(agent: Agent, journal: Journal) -> Mapping[str, str]:
    """Return an agent's installed files, with the version that wrote each."""
    return {
        path: record.version
        for path, record in journal.records.items()
        if any(agent.id in each.agents for each in record.parts)
    }


def obstacle(agent: Agent, command: Command, places: Places) -> str:
    """Return the reason that an agent's settings cannot take the server.

    "" if they can, or have the server already.
    """
    wanted, _ = gather(Choice((agent,), "user", command, rules=False, hooks=False), places)
    for path, parts in wanted.items():
        try:
            content = look(path, None).content or b""
            for each in parts:
                upsert(decoded(content), each.part)
        except EditError as error:
            if any(_lacks(path, each.part) for each in parts):
                return f"{path} is left alone: {error}"
    return ""

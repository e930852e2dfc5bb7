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
from dataclasses import dataclass, replace
from pathlib import Path

from vademecum.errors import SourceError, UsageError
from vademecum.install.agents import AGENTS, BY_ID, Agent, Command, Config, Hooks, Places, Program, Scope
from vademecum.install.change import Change, Journal, Record, with_parts, without_parts
from vademecum.install.formats import decoded, upsert
from vademecum.install.part import EditError, File, Part, Placed, delete, look, make, sweep
from vademecum.install.part import replace as replace_file

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

    Raises:
        UsageError: a name belongs to no agent.
    """
    unknown = [name for name in names if name not in BY_ID]
    if unknown:
        raise UsageError(f"there is no agent {unknown[0]!r}: it is one of {', '.join(BY_ID)}")
    return tuple(agent for agent in AGENTS if (agent.id in names if names else is_found(agent, places)))


def is_found(agent: Agent, places: Places) -> bool:
    """Return whether an agent's command or a trace exists."""
    return any(shutil.which(name) for name in agent.commands) or any(
        os.path.lexists(places.path(trace)) for trace in agent.traces
    )


def install(choice: Choice, places: Places) -> Planner:
    """Return a function that plans adding our parts to agents."""

    def plan(journal: Journal) -> Plan:
        wanted, notes = gather(choice, places)
        whole = _addition(choice, wanted, notes, places, journal)
        serverless = _serverless(choice, wanted, whole.left_alone)
        if not serverless:
            return whole
        # An agent that cannot have the server must not get instructions to use the server.
        rest = replace(choice, agents=tuple(agent for agent in choice.agents if agent not in serverless))
        kept = _addition(rest, *gather(rest, places), places, journal)
        left_out = (f"nothing is installed for {agent.title}, which cannot have the server" for agent in serverless)
        problems = dict.fromkeys((*whole.problems, *kept.problems, *left_out))
        return Plan(kept.changes, tuple(problems), kept.notes, whole.left_alone)

    return plan


def _addition(
    choice: Choice, wanted: Mapping[Path, Sequence[Placed]], notes: tuple[str, ...], places: Places, journal: Journal
) -> Plan:
    within = places.project if choice.scope == "project" else None
    project = str(places.project) if within else ""
    ids = {agent.id for agent in choice.agents}
    earlier = (Path(path) for path, record in journal.records.items() if record.project == project)

    def change_of(file: File) -> Change | None:
        return with_parts(file, wanted.get(file.path, ()), ids, journal, project)

    return _planned(dict.fromkeys((*wanted, *earlier)), within, change_of, notes)


def _serverless(
    choice: Choice, wanted: Mapping[Path, Sequence[Placed]], left_alone: Collection[Path]
) -> tuple[Agent, ...]:
    """Return the agents that cannot have the server."""
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
    """Return a function that plans removing our parts from accepted records."""

    def plan(journal: Journal) -> Plan:
        def change_of(file: File) -> Change | None:
            return without_parts(file, journal.records[str(file.path)], agents, journal)

        known = [Path(path) for path, record in journal.records.items() if is_meant(record)]
        return _planned(known, None, change_of, ())

    return plan


def _planned(
    paths: Iterable[Path], within: Path | None, change_of: Callable[[File], Change | None], notes: tuple[str, ...]
) -> Plan:
    changes: list[Change] = []
    problems: dict[Path, str] = {}
    for path in paths:
        try:
            change = change_of(look(path, within))
        except EditError as error:
            problems[path] = f"{path} is left alone: {error}"
            continue
        if change is not None:
            changes.append(change)
    return Plan(tuple(changes), tuple(problems.values()), notes, tuple(problems))


def gather(choice: Choice, places: Places) -> tuple[dict[Path, list[Placed]], tuple[str, ...]]:
    """Return all agents' parts by file, and notes about them.

    Raises:
        UsageError: the scope is a repository, and the current one is the home directory.
    """
    if choice.scope == "project" and places.homeless:
        raise UsageError("the home directory is no repository: change to one, or leave out --scope project")
    covers, other = (
        ("of a repository's own", "user") if choice.scope == "project" else ("for all repositories", "project")
    )
    wanted: dict[Path, dict[str, Placed]] = {}
    notes: list[str] = []
    for agent in choice.agents:
        scope = agent.project if choice.scope == "project" else agent.user
        parts = list(_parts(scope, choice, places))
        if scope.config is None and parts:
            kinds = "instructions and hooks" if scope.hooks else "instructions"
            notes.append(f"{agent.title} has no servers {covers}: only {kinds}")
        elif scope.config is None:
            notes.append(f"{agent.title} has nothing {covers}: try --scope {other}")
        elif scope.config.argument == "{repository}":
            advice = "run this in the one to be served" if places.homeless else f"this one serves {places.project}"
            notes.append(f"{agent.title} starts its servers outside of any repository: {advice}")
        for path, part in parts:  # several agents may read the same file: a part that two of them need is added once
            of_file = wanted.setdefault(Path(os.path.realpath(path)), {})
            earlier = of_file.get(part.id, Placed(part))
            of_file[part.id] = replace(earlier, agents=(*earlier.agents, agent.id))
    if choice.scope == "project" and choice.command.local and wanted:
        notes.append(
            f"these files name {choice.command.words[0]}, a place on this machine: for a team, --command 'uvx {NAME}'"
        )
    return {path: list(of_file.values()) for path, of_file in wanted.items()}, tuple(notes)


def agreed(plan: Plan, shown: Plan) -> Plan:
    """Return the plan without files whose planned content has changed since."""
    seen = {(change.file.path, change.file.content, change.new) for change in shown.changes}
    same, problems = [], list(plan.problems)
    for change in plan.changes:
        if (change.file.path, change.file.content, change.new) in seen:
            same.append(change)
        else:
            problems.append(f"{change.file.path} changed meanwhile, and is left alone: run this again")
    return replace(plan, changes=tuple(same), problems=tuple(problems))


def write(plan: Plan, journal: Journal) -> tuple[list[Path], list[str]]:
    """Write the plan; return the written files and the problems.

    The caller holds the journal's lock.

    Raises:
        SourceError: the journal cannot be written.
    """
    written, problems = [], []
    for change in plan.changes:
        try:
            _write_one(change, journal)
        except SourceError as error:
            problems.append(str(error))
        else:
            if change.is_written:
                written.append(change.file.path)
    journal.tidy()
    return written, problems


def _write_one(change: Change, journal: Journal) -> None:
    # After a crash between any two lines, `uninstall` still restores the file.
    path = change.file.path
    sweep(path)
    before = journal.keep(change.clean)
    old = journal.records.get(str(path))
    record = None if change.record is None else replace(change.record, before=before)
    if record is not None:
        during = replace(record, after=(*record.after, *(old.after if old else ())))
        journal.put(path, during, change.file.folders)
    if change.new is None:
        delete(path)
    elif change.is_written:
        make(path.parent)
        replace_file(path, change.new, change.file.mode, change.file.owner)
    journal.put(path, record)


def _parts(scope: Scope, choice: Choice, places: Places) -> Iterable[tuple[Path, Part]]:
    if scope.config is not None and not (scope.config.argument == "{repository}" and places.homeless):
        yield _server(scope.config, choice.command, places)
    for text in filter(None, (scope.rules, *scope.texts)) if choice.rules else ():
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
        element = hooks.part(event, name, command.hook(hook))
        yield Part(id_, hooks.format, element, ("hooks", event), f"memory hook {name}")
    if hints and hooks.hint:
        element = hooks.part(hooks.hint, "hint", command.hook("hint"))
        yield Part("hook hint", hooks.format, element, ("hooks", hooks.hint), "memory hook hint")


def state(agent: Agent, journal: Journal) -> Mapping[str, str]:
    """Return an agent's installed files, with the version that wrote each."""
    return {
        path: record.version
        for path, record in journal.records.items()
        if any(agent.id in each.agents for each in record.parts)
    }


def obstacle(agent: Agent, command: Command, places: Places) -> str:
    """Return the reason that an agent cannot have the server, "" for none."""
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

"""The verbs that add vademecum to coding agents and to git."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from vademecum.amounts import counted
from vademecum.cli import FAILURE, NOT_FOUND
from vademecum.cli.session import Group, emit, emit_json, examples, json_option, opened, paths_argument, say, table
from vademecum.errors import UsageError

if TYPE_CHECKING:
    from vademecum.install.agents import Places
    from vademecum.install.change import Journal, Record
    from vademecum.install.install import Plan, Planner


def _agents(context: click.Context, parameter: click.Parameter, beginning: str) -> list[str]:  # noqa: ARG001 -- click's
    from vademecum.install.agents import BY_ID

    return [name for name in BY_ID if name.startswith(beginning)]


@click.command()
@click.argument("agents", nargs=-1, metavar="[AGENT]...", shell_complete=_agents)
@click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="For all repositories, or for this one.",
)
@click.option("-y", "--yes", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--no-hooks", is_flag=True, help="Leave out hooks for memory.")
@click.option(
    "--hints", is_flag=True, help="Add a hook: tell an agent that greps for prose of `search`, once a session."
)
@click.option("--no-instructions", is_flag=True, help="Leave out instructions, the skill and the explorer.")
@click.option(
    "--command", "words", metavar="COMMAND", default="", help="What agents run, instead of what is installed here."
)
@click.option("--list", "only_list", is_flag=True, help="List the agents: which are found, and what is installed.")
@json_option
@examples("vade install --dry-run", "vade install claude codex --yes", "vade install cursor --scope project")
def install(  # noqa: PLR0913 -- one for each option
    agents: tuple[str, ...],
    scope: str,
    words: str,
    *,
    yes: bool,
    dry_run: bool,
    no_hooks: bool,
    hints: bool,
    no_instructions: bool,
    only_list: bool,
    as_json: bool,
) -> int:
    """Add vademecum to coding agents: server, instructions, skill, explorer, hooks.

    Without AGENT, adds it to the agents found on this machine. Every change is shown as a diff before it is written.
    Exits with 1 if no agent is found, with 3 if a file could not be changed.
    """
    from vademecum.install import install as flow
    from vademecum.install.agents import BY_ID, command

    places, journal = _opened()
    if only_list:
        return _list(places, journal, as_json=as_json)
    found = flow.chosen(agents, places)
    if not found:
        click.echo(f"no coding agent found: name one of {', '.join(BY_ID)}", err=True)
        return NOT_FOUND
    choice = flow.Choice(found, scope, command(words), rules=not no_instructions, hooks=not no_hooks, hints=hints)
    return _carry_out(flow.install(choice, places), journal, places, yes=yes, dry_run=dry_run, as_json=as_json)


@click.command()
@click.argument("agents", nargs=-1, metavar="[AGENT]...", shell_complete=_agents)
@click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    help="Only what is for all repositories, or only what is for this one.",
)
@click.option("--everywhere", is_flag=True, help="Take it out of other repositories too.")
@click.option("-y", "--yes", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@json_option
def uninstall(
    agents: tuple[str, ...], scope: str | None, *, everywhere: bool, yes: bool, dry_run: bool, as_json: bool
) -> int:
    """Remove the additions of `vade install` from coding agents.

    A file that nobody changed since is restored. From any other file vademecum's entries are removed, and the rest stays.
    """
    from vademecum.install import install as flow
    from vademecum.install.agents import BY_ID

    places, journal = _opened()
    if agents:
        flow.chosen(agents, places)

    def is_meant(record: Record) -> bool:
        if record.project:
            return scope != "user" and (everywhere or record.project == str(places.project))
        return scope != "project"

    planner = flow.uninstall(agents or tuple(BY_ID), is_meant)
    return _carry_out(planner, journal, places, yes=yes, dry_run=dry_run, as_json=as_json)


def _opened() -> tuple[Places, Journal]:
    from vademecum.code.checkout.root import find_root
    from vademecum.config import load
    from vademecum.install.agents import places
    from vademecum.install.change import Journal

    home = load(None).home
    return places(os.environ, Path(find_root(os.getcwd()).path)), Journal(home / "installs")


def _carry_out(planner: Planner, journal: Journal, places: Places, *, yes: bool, dry_run: bool, as_json: bool) -> int:
    """Show a plan, ask, and write exactly the shown changes."""
    from vademecum.install.install import agreed, write

    if yes and not dry_run:
        with journal.exclusive():
            plan = planner(journal)
            _show(plan, places, as_json=as_json)
            return _reported(plan, *write(plan, journal), as_json=as_json)
    plan = planner(journal)
    _show(plan, places, as_json=as_json)
    if dry_run or not any(change.is_written for change in plan.changes):
        return _reported(plan, [], [], as_json=as_json)
    if not _agreed(plan, as_json=as_json):
        click.echo("nothing was written", err=True)
        return 0
    with journal.exclusive():
        plan = agreed(planner(journal), plan)
        return _reported(plan, *write(plan, journal), as_json=as_json)


def _agreed(plan: Plan, *, as_json: bool) -> bool:
    """Ask for consent on a terminal. Raises `UsageError` without a terminal."""
    if as_json or not sys.stdin.isatty():
        raise UsageError("nothing was written: add --yes to write it, or run this on a terminal to be asked")
    changes = [change for change in plan.changes if change.is_written]
    verb = "Write" if any(change.done == "wrote" for change in changes) else "Restore"
    return click.confirm(f"{verb} {counted(len(changes), 'file')}?", err=True)


def _show(plan: Plan, places: Places, *, as_json: bool) -> None:
    from vademecum.answers.render import visible
    from vademecum.install.change import diff

    if as_json:
        return
    for change in plan.changes:
        emit("".join(f"{visible(line)}\n" for line in diff(change, places.home).split("\n")[:-1]))
    for note in plan.notes:
        click.echo(visible(note), err=True)
    if not plan.problems and not any(change.is_written for change in plan.changes):
        click.echo("nothing to do: everything is as it should be", err=True)


def _reported(plan: Plan, written: list[Path], problems: list[str], *, as_json: bool) -> int:
    from vademecum.answers.render import visible

    problems = [*plan.problems, *problems]
    if as_json:
        changes = [{"path": str(each.file.path), "action": each.action, "done": each.done} for each in plan.changes]
        record = {"changes": changes, "written": [str(path) for path in written]}
        emit_json(record | {"problems": problems, "notes": list(plan.notes)})
    else:
        done = {change.file.path: change.done for change in plan.changes}
        for path in written:
            click.echo(f"{done[path]} {visible(str(path))}", err=True)
        for problem in problems:
            click.echo(f"vade: {visible(problem)}", err=True)
    return FAILURE if problems else 0


def _list(places: Places, journal: Journal, *, as_json: bool) -> int:
    from vademecum.install.agents import AGENTS, command
    from vademecum.install.install import is_found, obstacle, state

    rows = []
    for agent in AGENTS:
        found = is_found(agent, places)
        row = {"id": agent.id, "title": agent.title, "found": found, "installed": dict(state(agent, journal))}
        rows.append(row | {"problem": obstacle(agent, command(), places) if found else ""})
    text = table([(row["id"], row["title"], "found" if row["found"] else "", _installed(row)) for row in rows])
    say(rows, text, as_json=as_json)
    return 0


def _installed(row: Mapping[str, Any]) -> str:
    """Return an agent's installed versions, with an upgrade hint."""
    from vademecum.version import __version__

    versions = set(row["installed"].values())
    if row["problem"]:
        return f"no server: {row['problem']}"
    if not versions:
        return ""
    said = f"installed ({', '.join(sorted(versions))})"
    return said if versions == {__version__} else f"{said}: `vade install {row['id']}` brings it to {__version__}"


@click.group(cls=Group, meant={"add": "install", "remove": "uninstall", "list": "status"}, invoke_without_command=True)
@click.pass_context
def hooks(ctx: click.Context) -> int:
    """Index in the background after commits, merges, checkouts and rewrites.

    Without a command, shows which hooks are installed.
    """
    return int(ctx.invoke(hooks_status)) if ctx.invoked_subcommand is None else 0


@hooks.command("install")
@paths_argument
@json_option
def hooks_install(paths: tuple[str, ...], *, as_json: bool) -> int:
    """Install the hooks; existing hooks run as before."""
    return _hooked("install", paths, as_json=as_json)


@hooks.command("uninstall")
@paths_argument
@json_option
def hooks_uninstall(paths: tuple[str, ...], *, as_json: bool) -> int:
    """Remove the hooks; other hooks stay unchanged."""
    return _hooked("uninstall", paths, as_json=as_json)


@hooks.command("status")
@paths_argument
@json_option
def hooks_status(paths: tuple[str, ...] = (), *, as_json: bool = False) -> int:
    """Show which hooks are installed."""
    return _hooked("status", paths, as_json=as_json)


@hooks.command("run")
def hooks_run() -> int:
    """Index in the background; the hooks call this command."""
    if hasattr(os, "nice"):
        os.nice(10)
    with opened(()) as engine:
        engine.codebase.catch_up()
    return 0


def _hooked(action: Literal["status", "install", "uninstall"], paths: tuple[str, ...], *, as_json: bool) -> int:
    with opened(paths) as engine:
        found = engine.codebase.hooks(action)
    text = table((hook.name, hook.state, hook.path, hook.detail) for hook in found)
    say([asdict(hook) for hook in found], text, as_json=as_json)
    return 0

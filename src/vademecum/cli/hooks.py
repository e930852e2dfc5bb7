"""The verb for git hooks that keep the index warm."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Literal

import click

from vademecum.cli.session import Group, json_option, opened, paths_argument, say, table


@click.group(cls=Group, meant={"add": "install", "remove": "uninstall", "list": "status"}, invoke_without_command=True)
@click.pass_context
def hooks(ctx: click.Context) -> int:
    """Index in the background after commits, merges, checkouts and rewrites.

    Without a command, shows which hooks are installed.
    """
    return int(ctx.invoke(status)) if ctx.invoked_subcommand is None else 0


@hooks.command()
@paths_argument
@json_option
def install(paths: tuple[str, ...], *, as_json: bool) -> int:
    """Install the hooks; existing hooks run as before."""
    return _do("install", paths, as_json=as_json)


@hooks.command()
@paths_argument
@json_option
def uninstall(paths: tuple[str, ...], *, as_json: bool) -> int:
    """Remove the hooks; other hooks stay unchanged."""
    return _do("uninstall", paths, as_json=as_json)


@hooks.command()
@paths_argument
@json_option
def status(paths: tuple[str, ...] = (), *, as_json: bool = False) -> int:
    """Show which hooks are installed."""
    return _do("status", paths, as_json=as_json)


@hooks.command()
def run() -> int:
    """Index in the background; the hooks call this command."""
    if hasattr(os, "nice"):
        os.nice(10)
    with opened(()) as engine:
        engine.codebase.catch_up()
    return 0


def _do(action: Literal["status", "install", "uninstall"], paths: tuple[str, ...], *, as_json: bool) -> int:
    with opened(paths) as engine:
        found = engine.codebase.hooks(action)
    text = table((hook.name, hook.state, hook.path, hook.detail) for hook in found)
    say([asdict(hook) for hook in found], text, as_json=as_json)
    return 0

"""Shared parts of verbs: paths, settings, and an open engine."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from vademecum.config import Settings, load
from vademecum.errors import UsageError

if TYPE_CHECKING:
    from vademecum.engine import Engine

F = TypeVar("F", bound=Callable[..., object])


def paths_argument(function: F) -> F:
    """Take any number of directories; none means the current one."""
    return click.argument("paths", nargs=-1, metavar="[PATH]...")(function)


def json_option(function: F) -> F:
    """Take `--json`."""
    return click.option("as_json", "--json", is_flag=True, help="Print JSON.")(function)


def number_option(
    *names: str, about: str, default: int | None = None, setting: str = "", least: int = 1
) -> Callable[[F], F]:
    """Take a whole number, by default this one or a setting's."""
    shown = setting or default is not None
    return click.option(
        *names, type=click.IntRange(least), metavar="N", default=default, show_default=shown, help=about
    )


def list_option(flag: str, name: str, metavar: str, about: str) -> Callable[[F], F]:
    """Take any number of values, each after its own `flag`."""
    return click.option(flag, name, multiple=True, metavar=metavar, help=about)


def examples(*lines: str) -> Callable[[F], F]:
    """Add example lines to a command's help."""

    def shown(function: F) -> F:
        # Click does not rewrap a paragraph that begins with a backspace.
        function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), "", "\b", *lines])
        return function

    return shown


def check_exist(paths: Iterable[str], hint: str) -> None:
    """Check that the paths exist.

    A query without quotes looks like a query and several paths, so `hint` says how to fix it.
    """
    for path in paths:
        if not Path(path).exists():
            raise UsageError(f"no such file or directory {path!r}: {hint}")


def from_here(location: str) -> str:
    """Resolve a location against the current directory if it exists there.

    Other locations count from the repository's top.
    """
    path, colon, lines = location.partition(":")
    return f"{Path(path).resolve()}{colon}{lines}" if Path(path).is_file() else location


def settings_for(paths: Sequence[str]) -> Settings:
    """Return settings for these paths; a repository's file holds for it alone."""
    return load(paths[0] if len(paths) == 1 else None if paths else ".")


def ask_first(paths: Sequence[str], settings: Settings) -> None:
    """Ask before indexing a home directory, disk or huge folder.

    Without a terminal it refuses.

    Raises `UsageError`: nobody agreed.
    """
    from vademecum.wiring.roots import unasked

    for path, why in unasked(paths or (".",), settings).items():
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(f"{path} {why}: name a folder in it, or agree with `vade index {path} --yes`")
        if not click.confirm(f"{path} {why}. Index it?", err=True):
            raise UsageError("nothing was indexed: name the folder that you mean")


@contextmanager
def opened(paths: Sequence[str], settings: Settings | None = None, *, indexing: bool = False) -> Iterator[Engine]:
    """Open an engine on these paths, and close it at the end.

    With `indexing` it asks first if the paths are very wide.
    """
    settings = settings or settings_for(paths)
    if indexing:
        ask_first(paths, settings)
    # A thread pool for matrix products costs more to start than one question saves.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from vademecum.engine import Engine

    with Engine.open(*(paths or (".",)), settings=settings) as engine:
        yield engine

"""What every verb shares: the paths it takes, the settings, and an engine that is closed again."""

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


def examples(*lines: str) -> Callable[[F], F]:
    """Show lines that can be typed below what a command says of itself."""

    def shown(function: F) -> F:
        # Click leaves a paragraph that begins with a backspace as it is.
        function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), "", "\b", *lines])
        return function

    return shown


def check_exist(paths: Iterable[str], hint: str) -> None:
    """A query without quotes looks like a query and several paths: say so before anything is opened."""
    for path in paths:
        if not Path(path).exists():
            raise UsageError(f"no such file or directory {path!r}: {hint}")


def from_here(location: str) -> str:
    """A path that is there as seen from the current directory is meant so; others count from the repository's top."""
    path, colon, lines = location.partition(":")
    return f"{Path(path).resolve()}{colon}{lines}" if Path(path).is_file() else location


def settings_for(paths: Sequence[str]) -> Settings:
    """Return the settings that hold for these paths: a repository's own file speaks for that repository alone."""
    return load(paths[0] if len(paths) == 1 else None if paths else ".")


def ask_first(paths: Sequence[str], settings: Settings) -> None:
    """Ask before a home directory, a whole disk or a very large folder is indexed; without a terminal, refuse.

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
    """An engine on these paths, closed at the end; one that is `indexing` asks first where the paths are very wide."""
    settings = settings or settings_for(paths)
    if indexing:
        ask_first(paths, settings)
    # A thread pool for matrix products costs more to start than one question saves.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from vademecum.engine import Engine

    with Engine.open(*(paths or (".",)), settings=settings) as engine:
        yield engine

"""The verbs for the graph: callers, callees, impact, path, related, graph."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from vademecum.amounts import counted
from vademecum.answers.neighbours import items_record, items_text, neighbours_record, neighbours_text
from vademecum.cli import NOT_FOUND
from vademecum.cli.session import (
    emit,
    examples,
    from_here,
    json_option,
    opened,
    paths_argument,
    say,
    style_for,
    write_file,
)
from vademecum.errors import UsageError

if TYPE_CHECKING:
    from vademecum.engine import Engine
    from vademecum.items import NamedItem
    from vademecum.types import Neighbours

F = TypeVar("F", bound=Callable[..., object])


def _repo_options(depth: int) -> Callable[[F], F]:
    """Take the number of steps, by default `depth`, and a repository."""
    repo = click.option("--repo", default="", metavar="PATH", help="Another repository than the current one.")
    steps = click.option(
        "--depth", type=int, default=depth, show_default=True, metavar="1|2|3", help="How many steps to follow."
    )
    return lambda function: steps(repo(function))


@contextmanager
def _asked(paths: Sequence[str], repo: str) -> Iterator[tuple[Engine, tuple[str, ...]]]:
    """Open one repository, of the paths or as named.

    Yields the engine, and the parts of the repository in which the names must be declared.
    """
    from vademecum.wiring.roots import narrow

    if paths and repo:
        raise UsageError("say where by PATH or by --repo, not by both")
    roots = narrow(paths) if paths else {}
    if len(roots) > 1:
        places = ", ".join(root.path for root in roots)
        raise UsageError(f"a graph is that of one repository: ask about one of {places} at a time")
    with opened(paths or (repo or ".",), indexing=True) as engine:
        yield engine, next(iter(roots.values()), ())


@click.command()
@click.argument("name")
@paths_argument
@_repo_options(1)
@click.option("--guesses", is_flag=True, help="Show guessed edges too.")
@json_option
@examples("vade callers Engine.open", "vade callers src/app.py --depth 3")
def callers(name: str, paths: tuple[str, ...], depth: int, repo: str, *, guesses: bool, as_json: bool) -> int:
    """Show who calls NAME or names it otherwise, direct callers first.

    NAME may be qualified, or a file's path. The answer is `none` if there is no caller, and `unknown` if that cannot be
    decided. Exits with 1 if NAME is not found or the answer is unknown.
    """
    with _asked(paths, repo) as (engine, below):
        return _show(engine.codebase.callers(name, depth, below=below, guesses=guesses), as_json=as_json)


@click.command()
@click.argument("name")
@paths_argument
@_repo_options(1)
@click.option("--guesses", is_flag=True, help="Show guessed edges too.")
@json_option
@examples("vade callees Engine.open --depth 2")
def callees(name: str, paths: tuple[str, ...], depth: int, repo: str, *, guesses: bool, as_json: bool) -> int:
    """Show the callees of NAME, and other names it uses.

    Of a class, these are the callees of its methods.
    """
    with _asked(paths, repo) as (engine, below):
        return _show(engine.codebase.callees(name, depth, below=below, guesses=guesses), as_json=as_json)


@click.command()
@click.argument("name", default="")
@paths_argument
@click.option("--diff", default="", metavar="RANGE", help="Ask about what a git range changed.")
@_repo_options(2)
@json_option
@examples("vade impact Engine.open", "vade impact --diff HEAD~3..HEAD")
def impact(name: str, paths: tuple[str, ...], diff: str, depth: int, repo: str, *, as_json: bool) -> int:
    """Show code and tests that a change of NAME affects.

    With --diff, shows the same for the changes of a git range.
    """
    if diff and name and Path(name).exists():  # with --diff there is no NAME: the first argument is a PATH
        name, paths = "", (name, *paths)
    if bool(name) == bool(diff):
        raise UsageError("`vade impact` takes a NAME or a --diff RANGE, one of the two: see `vade impact --help`")
    with _asked(paths, repo) as (engine, below):
        return _show(engine.codebase.impact(name, depth, diff=diff, below=below), as_json=as_json)


@click.command("path")
@click.argument("source", metavar="A")
@click.argument("target", metavar="B")
@paths_argument
@_repo_options(2)
@json_option
@examples("vade path main Store.save --depth 3")
def path(source: str, target: str, paths: tuple[str, ...], depth: int, repo: str, *, as_json: bool) -> int:
    """Show the shortest way from A to B.

    The search takes up to --depth steps from each end.
    """
    with _asked(paths, repo) as (engine, below):
        return _show(engine.codebase.path(source, target, depth, below=below), as_json=as_json)


@click.command()
@click.argument("location", metavar="PATH:LINE|NAME")
@paths_argument
@click.option("-q", "--question", default="", metavar="TEXT", help="Rank by relevance to this.")
@_repo_options(2)
@json_option
@examples('vade related src/app.py:40 -q "how is it retried"')
def related(location: str, paths: tuple[str, ...], question: str, depth: int, repo: str, *, as_json: bool) -> int:
    """Show code related to a line, a file or a name.

    Related code is callers, callees, tests, contracts and neighbours.
    """
    with _asked(paths, repo) as (engine, below):
        answer = engine.codebase.related(from_here(location), question, depth, below=below)
        return _show(answer, engine.codebase.items_at(answer), as_json=as_json)


@click.command()
@click.argument("name", default="")
@click.option(
    "--html",
    "file",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Draw it as a page in this file; - for standard output.",
)
@_repo_options(2)
@examples("vade graph Engine.open", "vade graph Engine.open --html around.html")
def graph(name: str, file: str | None, depth: int, repo: str) -> int:
    """Show the graph around NAME, as text or as a page.

    NAME is a symbol or a file. The page is one file that needs nothing else. Without NAME the page draws the most central
    files.
    """
    if file is None and not name:
        raise UsageError("`vade graph` takes a NAME, or --html FILE to draw the most central files, or both")
    if file is None:
        with opened((repo or ".",), indexing=True) as engine:
            return _show(engine.codebase.related(from_here(name), "", depth), as_json=False)
    from vademecum.answers.neighbours import graph_page
    from vademecum.code.graph.surroundings import surroundings

    with opened((repo or ".",), indexing=True) as engine:
        file_here = from_here(name).removeprefix(engine.roots[0].path + os.sep)
        drawn = surroundings(engine.codebase.graph(), file_here.replace(os.sep, "/"), depth)
        page = graph_page(drawn, engine.roots[0].name, depth)
    write_file(file, page)
    if file == "-":
        return 0
    emit(f"{file}: {counted(len(drawn.nodes), 'node')}, {counted(len(drawn.edges), 'edge')}\n")
    return 0


def _show(answer: Neighbours, items: Sequence[NamedItem] = (), *, as_json: bool) -> int:
    record = {**neighbours_record(answer), **({"items": items_record(items)} if items else {})}
    say(record, neighbours_text(answer, style=style_for()) + items_text(items), as_json=as_json)
    return 0 if answer or answer.verdict == "none" else NOT_FOUND

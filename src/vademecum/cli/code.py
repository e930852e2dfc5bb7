"""The verbs about code and its graph: search, open, map, callers, ..."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from vademecum.amounts import counted
from vademecum.answers.render import (
    answer_record,
    answer_text,
    evidence_lines,
    evidence_record,
    found_record,
    found_text,
)
from vademecum.cli import NOT_FOUND
from vademecum.cli.session import (
    Progress,
    check_exist,
    emit,
    emit_json,
    examples,
    from_here,
    index_text,
    json_option,
    list_option,
    number_option,
    opened,
    paths_argument,
    say,
    settings_for,
    style_for,
    write_file,
)
from vademecum.errors import UsageError
from vademecum.types import KINDS

if TYPE_CHECKING:
    from vademecum.answers.pack import Within
    from vademecum.engine import Engine
    from vademecum.memory.records import Note, Recalled

if TYPE_CHECKING:
    from vademecum.engine import Engine
    from vademecum.items import NamedItem
    from vademecum.types import Neighbours


@click.command()
@click.argument("task")
@paths_argument
@number_option("--budget", about="Never more than N tokens.", setting="context.budget")
@list_option("--path", "only", "GLOB", "Search only files that match; may be repeated.")
@list_option("--exclude", "exclude", "GLOB", "Show no files that match; may be repeated.")
@click.option("--commit", default="", metavar="REV", help="Search this commit instead of the files on disk.")
@click.option("--session", default="", metavar="NAME", help="Leave out what was shown under this name before.")
@click.option("--no-refresh", is_flag=True, help="Answer from the index as it is.")
@json_option
@examples(
    'vade context "retries stop too early" --budget 4000',
    "vade context - --session fix-417 < issue.md",
    'vade context "retries stop too early" src/ --commit v1.2',
)
def context(task: str, paths: tuple[str, ...], **options: Any) -> int:
    """Print the code to read for TASK, within a token budget.

    TASK is the work to do: a line, a whole issue, or the output of a failing test. TASK `-` is read from standard input.
    A PATH limits the code that matches the task; related code, such as callers and tests, may be elsewhere. Exits with 1
    if there is nothing to show.
    """
    task = sys.stdin.read() if task == "-" else task
    check_exist(paths, "put a task of several words in quotes")
    with opened(paths, indexing=True) as engine, Progress() as progress:
        found = engine.context(
            task,
            options["budget"],
            paths=options["only"],
            exclude=options["exclude"],
            commit=options["commit"],
            session=options["session"],
            form="json" if options["as_json"] else "markdown",
            refresh=not options["no_refresh"],
            progress=progress,
        )
    _show(found.text)
    return 0 if found else NOT_FOUND


@click.command("map")
@paths_argument
@number_option("--budget", about="Never more than N tokens.", setting="context.map_budget")
@click.option("--task", default="", metavar="TEXT", help="Begin from what a search for this finds.")
@list_option("--path", "only", "GLOB", "Only files that match; may be repeated.")
@click.option("--session", default="", metavar="NAME", help="Leave out what was shown under this name before.")
@click.option("--no-refresh", is_flag=True, help="Answer from the index as it is.")
@json_option
@examples("vade map --budget 1000", 'vade map src/ --task "retries stop too early"')
def map_(paths: tuple[str, ...], budget: int | None, task: str, **options: Any) -> int:
    """Print the most central declarations by file, within a token budget.

    A directory PATH narrows the map. From a file PATH the map begins, as from a --task.
    """
    from vademecum.code.checkout.root import find_root

    check_exist(paths, "name files and directories, and a task with --task")
    files = [os.path.realpath(path) for path in paths if os.path.isfile(path)]
    folders = tuple(path for path in paths if not os.path.isfile(path)) or tuple(
        sorted({find_root(os.path.dirname(file)).path for file in files})
    )
    with opened(folders, indexing=True) as engine, Progress() as progress:
        tops = [os.path.realpath(root.path) + os.sep for root in engine.roots]
        own = [file.removeprefix(top).replace(os.sep, "/") for file in files for top in tops if file.startswith(top)]
        drawn = engine.map(
            own, budget, task=task, within=options["only"], session=options["session"],
            form="json" if options["as_json"] else "markdown", refresh=not options["no_refresh"], progress=progress,
        )  # fmt: skip
    _show(drawn.text)
    return 0 if drawn else NOT_FOUND


def _show(text: str) -> None:
    """Print the text, or a note on standard error if empty."""
    emit(text)
    if not text:
        click.echo("vade: nothing fits into so few tokens: give more with --budget", err=True)


SCREEN_RESULTS, SCREEN_LINES = 5, 4  # on a terminal, unless asked for

snippet_option = number_option(
    "--snippet-lines", about="Lines of each result; 0 for places only.", setting="search.snippet_lines", least=0
)


@click.command()
@click.argument("query")
@paths_argument
@number_option("-k", about="How many results.", setting="search.k")
@list_option("--lang", "languages", "LANG", "Only this language; may be repeated.")
@list_option("--path", "only", "GLOB", "Only files that match; may be repeated.")
@list_option("--exclude", "exclude", "GLOB", "No files that match; may be repeated.")
@click.option("--kind", type=click.Choice(sorted(KINDS)), default="all", help="Only files of this kind.")
@click.option("--symbol", default="", metavar="NAME", help="Only where this name is defined.")
@click.option("-e", "--regex", "pattern", default="", metavar="REGEX", help="Only code that matches; QUERY ranks it.")
@list_option("--repo", "repos", "NAME|PATH", "Only this repository; a path has a slash; may be repeated.")
@click.option(
    "--scope",
    type=click.Choice(["repo", "repos", "all", "shared"]),
    show_default="search.scope",
    help="The first repository, those opened, all indexed here, or all in the shared database.",
)
@list_option("--source", "sources", "NAME", "Only this backlog or source of documents; `all` for all.")
@click.option("--commit", default="", metavar="REV", help="Search this commit instead of the files on disk.")
@number_option("--budget", about="Tokens at most.", setting="search.budget")
@snippet_option
@click.option("--ranker", default="", metavar="NAME", help="Order by default, constants, fused, rrf, bm25f or dense.")
@click.option(
    "--reranker", default="", metavar="NAME", help="What reorders the first results: built-in, none, llm:MODEL, ..."
)
@click.option("--no-refresh", is_flag=True, help="Answer from the index as it is.")
@click.option("--why", is_flag=True, help="Show the signals behind each rank.")
@click.option("--memory", "with_memory", is_flag=True, help="Search memory too.")
@json_option
@examples(
    'vade search "how is the token budget split"',
    'vade search "retry with backoff" src tests --lang python',
    "vade search \"parse header\" -e 'Content-.*' -k 5 --snippet-lines 0",
)
def search(query: str, paths: tuple[str, ...], **options: Any) -> int:
    """Find code that answers QUERY, here or in each PATH.

    Indexes changed files first. QUERY `-` is read from standard input. Exits with 1 if nothing is found.
    """
    query = sys.stdin.read() if query == "-" else query
    check_exist(paths, "put a query of several words in quotes")
    named = tuple(repo for repo in options["repos"] if _is_path(repo))
    check_exist(named, "a name without a slash is looked up among the repositories")
    paths = paths or named
    settings = settings_for(paths)
    with opened(paths, settings, indexing=not options["no_refresh"]) as engine, Progress() as progress:
        within = _within(engine, options)
        k = options["k"] or settings.search.k
        memory = engine.memory.recall(query, k=k) if options["with_memory"] else None
        refresh, size = not options["no_refresh"], _size(options)
        found = engine.search(query, within=within, refresh=refresh, progress=progress, **size)
        several = len(engine.roots) > 1 or within.scope in {"all", "shared"}
    if options["as_json"]:
        from vademecum.answers.remembered import recalled_record

        emit_json(found_record(found) | ({} if memory is None else {"memory": recalled_record(memory)}))
    else:
        style = style_for(query, options["pattern"])
        emit(found_text(found, name_repos=several, why=options["why"], style=style) + _remembered((), memory))
    return 0 if found or memory else NOT_FOUND


def _within(engine: Engine, options: Mapping[str, Any]) -> Within:
    from vademecum.answers.pack import Within

    scope = options["scope"] or engine.scope(options["pattern"], options["commit"], options["sources"])
    return Within(
        paths=options["only"], exclude=options["exclude"], commit=options["commit"], languages=options["languages"],
        kind=options["kind"], symbol=options["symbol"], pattern=options["pattern"],
        repos=_names(engine, options["repos"]), scope=scope, sources=options["sources"], ranker=options["ranker"],
        reranker=options["reranker"],
    )  # fmt: skip


def _size(options: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the size of the answer.

    Without options, a terminal gets a screen of results, and a pipe or JSON a budget.
    """
    size = {"budget_tokens": options["budget"], "most": options["k"], "lines": options["snippet_lines"]}
    if set(size.values()) == {None} and sys.stdout.isatty() and not options["as_json"]:
        size |= {"most": SCREEN_RESULTS, "lines": SCREEN_LINES}
    return size


@click.command("open")
@click.argument("location")
@click.option("--repo", default="", metavar="NAME|PATH", help="The repository; a path has a slash.")
@click.option("--commit", default="", metavar="REV", help="Print the file as of this commit.")
@json_option
@examples("vade open src/app.py:10-40", "vade open src/app.py --commit HEAD~3")
def open_location(location: str, repo: str, commit: str, *, as_json: bool) -> int:
    """Print a file, or lines of a file, as now on disk.

    LOCATION is path, path:10 or path:10-40.
    """
    with opened((repo,) if _is_path(repo) else ()) as engine:
        evidence = engine.codebase.open(from_here(location), commit=commit, repo="" if _is_path(repo) else repo)
    text = "\n".join(evidence_lines(evidence, style=style_for())) + "\n"
    say(evidence_record(evidence), text, as_json=as_json)
    return 0


@click.command()
@click.argument("name")
@paths_argument
@number_option("-k", about="How many definitions.", setting="search.k")
@click.option("--repo", default="", metavar="NAME", help="Only this repository.")
@snippet_option
@json_option
@examples("vade symbol Engine.open", "vade symbol requests.get --json")
def symbol(name: str, paths: tuple[str, ...], **options: Any) -> int:
    """Show the definitions of NAME, or the nearest names.

    NAME may be qualified: Class.method, module.function, module::Type. Exits with 1 if it is not found.
    """
    from vademecum.answers.neighbours import items_record, items_text

    settings = settings_for(paths)
    with opened(paths, settings, indexing=True) as engine:
        answer = engine.codebase.symbol(name, k=options["k"] or settings.search.k, repo=options["repo"])
        several = len(engine.roots) > 1
        notes = [] if options["as_json"] else engine.notes(answer)
        items = engine.codebase.items(answer.evidence)
    lines = options["snippet_lines"]
    if options["as_json"]:
        emit_json(answer_record(answer, snippet_lines=lines) | ({"items": items_record(items)} if items else {}))
        return 0 if answer else NOT_FOUND
    shown = settings.search.snippet_lines if lines is None else lines
    emit(
        answer_text(answer, snippet_lines=shown, name_repos=several, facts=True, style=style_for(name))
        + items_text(items)
        + _remembered(notes)
    )
    return 0 if answer else NOT_FOUND


@click.command()
@paths_argument
@click.option("--full", is_flag=True, help="Read every file again, whatever is known.")
@click.option("--commit", default="", metavar="REV", help="Index this commit instead of the files on disk.")
@click.option("-v", "--verbose", is_flag=True, help="List what was skipped, and why.")
@list_option(
    "--scip", "scip", "FILE", "Take a compiler's answers for the graph from a SCIP index; `none` forgets those taken."
)
@list_option(
    "--only",
    "only",
    "PATH",
    "Index only this file or folder, from now on; may be repeated. The repository's top lifts it.",
)
@click.option("--yes", is_flag=True, help="Index a home directory or a very large folder without asking.")
@json_option
@examples(
    "vade index", "vade index --commit v1.2", "vade index --only src --only docs", "vade index --scip build/index.scip"
)
def index(
    paths: tuple[str, ...], commit: str, *, full: bool, verbose: bool, yes: bool, as_json: bool, **about: Any
) -> int:
    """Update the index of the current repository, or each PATH.

    A search does this too; use it to index beforehand. An `index.scip` at the repository's top is taken without --scip.
    What --only chose is remembered for this checkout, and answers say what they do not cover.
    """
    about["only"] = [str(Path(part).resolve()) if Path(part).exists() else part for part in about["only"]]
    with opened(paths, indexing=not yes) as engine, Progress() as progress:
        if not any(about.values()):
            reports = engine.codebase.index_all(progress=progress, full=full, commit=commit)
        elif len(engine.roots) == 1:
            reports = [engine.codebase.index(progress, full=full, commit=commit, **about)]
        else:
            raise UsageError("--scip and --only are about one repository: index one PATH at a time")
    say([asdict(report) for report in reports], index_text(reports, verbose=verbose), as_json=as_json)
    return 0


def _remembered(notes: Sequence[Note], found: Recalled | None = None) -> str:
    """Return memory's additions to an answer as text."""
    if not notes and found is None:
        return ""
    from vademecum.answers.remembered import notes_text, recalled_text

    return notes_text(notes) + ("" if found is None else f"\nremembered: {recalled_text(found)}")


def _is_path(repo: str) -> bool:
    return "/" in repo or os.sep in repo or repo in {".", ".."}


def _names(engine: Engine, repos: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the given repositories, some given as paths."""
    names: list[str] = []
    for repo in repos:
        if not _is_path(repo):
            names.append(repo)
            continue
        here = Path(repo).resolve()
        found = [root.name for root in engine.roots if here.is_relative_to(Path(root.path).resolve())]
        if not found:
            raise UsageError(f"{repo!r} is not among the repositories opened: name it as a PATH too")
        names += found
    return tuple(names)


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
        return _tell(engine.codebase.callers(name, depth, below=below, guesses=guesses), as_json=as_json)


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
        return _tell(engine.codebase.callees(name, depth, below=below, guesses=guesses), as_json=as_json)


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
        return _tell(engine.codebase.impact(name, depth, diff=diff, below=below), as_json=as_json)


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
        return _tell(engine.codebase.path(source, target, depth, below=below), as_json=as_json)


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
        return _tell(answer, engine.codebase.items_at(answer), as_json=as_json)


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
            return _tell(engine.codebase.related(from_here(name), "", depth), as_json=False)
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


def _tell(answer: Neighbours, items: Sequence[NamedItem] = (), *, as_json: bool) -> int:
    from vademecum.answers.neighbours import items_record, items_text, neighbours_record, neighbours_text

    record = {**neighbours_record(answer), **({"items": items_record(items)} if items else {})}
    say(record, neighbours_text(answer, style=style_for()) + items_text(items), as_json=as_json)
    return 0 if answer or answer.verdict == "none" else NOT_FOUND

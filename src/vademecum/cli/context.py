"""The verbs for reading material: context, map."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from vademecum.cli.progress import Progress
from vademecum.cli.render import emit
from vademecum.cli.session import check_exist, examples, json_option, list_option, number_option, opened, paths_argument

NOTHING = 1


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
    return 0 if found else NOTHING


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
    check_exist(paths, "name files and directories, and a task with --task")
    files = [os.path.realpath(path) for path in paths if os.path.isfile(path)]
    folders = tuple(path for path in paths if not os.path.isfile(path)) or tuple(
        sorted({top_of(file) for file in files})
    )
    with opened(folders, indexing=True) as engine, Progress() as progress:
        tops = [os.path.realpath(root.path) + os.sep for root in engine.roots]
        own = [file.removeprefix(top).replace(os.sep, "/") for file in files for top in tops if file.startswith(top)]
        drawn = engine.map(
            own, budget, task=task, within=options["only"], session=options["session"],
            form="json" if options["as_json"] else "markdown", refresh=not options["no_refresh"], progress=progress,
        )  # fmt: skip
    _show(drawn.text)
    return 0 if drawn else NOTHING


def _show(text: str) -> None:
    """Print the text, or a note on standard error if empty."""
    emit(text)
    if not text:
        click.echo("vade: nothing fits into so few tokens: give more with --budget", err=True)


def top_of(file: str) -> str:
    """Return the top of the repository that a file lies in."""
    from vademecum.code.checkout.root import find_root

    return find_root(os.path.dirname(file)).path

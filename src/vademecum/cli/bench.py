"""The verb `bench`: measure search quality on this repository."""

from __future__ import annotations

import os

import click

from vademecum.cli.progress import Progress
from vademecum.cli.render import say, style_for
from vademecum.cli.session import json_option, paths_argument, settings_for

NOTHING_ASKED = 1


@click.command()
@paths_argument
@click.option(
    "--questions",
    type=click.IntRange(1),
    metavar="N",
    show_default="100",
    help="At most how many questions of each kind.",
)
@click.option("--history/--no-history", default=True, help="Whether to ask about commits.")
@click.option("--seed", type=int, metavar="N", show_default="7", help="The same seed draws the same questions.")
@json_option
def bench(paths: tuple[str, ...], questions: int | None, seed: int | None, *, history: bool, as_json: bool) -> int:
    """Measure how much vademecum helps here, beside BM25 and grep.

    Asks the current repository, or that of each PATH, questions made from its own docstrings, names and commits. Nothing
    is changed: copies and indexes are temporary. Exits with 1 if no questions could be made.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its thread pool costs more to start than it saves
    from vademecum.bench.bench import QUESTIONS, SEED
    from vademecum.bench.bench import bench as measured
    from vademecum.bench.report import report_record, report_text

    with Progress() as progress:
        reports = measured(
            *paths,
            questions=questions or QUESTIONS,
            history=history,
            seed=SEED if seed is None else seed,
            settings=settings_for(paths),
            progress=progress,
        )
    text = "\n".join(report_text(report, style_for()) for report in reports)
    say([report_record(report) for report in reports], text, as_json=as_json)
    return 0 if any(report.measured for report in reports) else NOTHING_ASKED

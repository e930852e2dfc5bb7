"""The verb `bench`: measure search quality on this repository."""

from __future__ import annotations

import os

import click

from vademecum.cli.progress import Progress
from vademecum.cli.render import say, style_for
from vademecum.cli.session import json_option, number_option, paths_argument, settings_for

NOTHING_ASKED = 1


@click.command()
@paths_argument
@number_option("--questions", about="At most how many questions of each kind.", default=100)
@click.option("--history/--no-history", default=True, help="Whether to ask about commits.")
@click.option(
    "--seed", type=int, metavar="N", default=7, show_default=True, help="The same seed draws the same questions."
)
@json_option
def bench(paths: tuple[str, ...], questions: int, seed: int, *, history: bool, as_json: bool) -> int:
    """Measure how much vademecum helps here, beside BM25 and grep.

    Asks the current repository, or that of each PATH, questions made from its own docstrings, names and commits. Nothing
    is changed: copies and indexes are temporary. Exits with 1 if no questions could be made.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its thread pool costs more to start than it saves
    from vademecum.bench.bench import bench as measured
    from vademecum.bench.report import report_record, report_text

    with Progress() as progress:
        reports = measured(
            *paths,
            questions=questions,
            history=history,
            seed=seed,
            settings=settings_for(paths),
            progress=progress,
        )
    text = "\n".join(report_text(report, style_for()) for report in reports)
    say([report_record(report) for report in reports], text, as_json=as_json)
    return 0 if any(report.measured for report in reports) else NOTHING_ASKED

"""The verbs for the index: status, doctor, gc, config, watch, enrich."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from vademecum.amounts import counted
from vademecum.answers.render import visible
from vademecum.cli.group import Group
from vademecum.cli.progress import Progress
from vademecum.cli.render import (
    emit,
    emit_json,
    index_text,
    say,
    say_checks,
    size,
    skipped_lines,
    skipped_record,
    table,
)
from vademecum.cli.session import examples, json_option, opened, paths_argument, settings_for
from vademecum.errors import UsageError

if TYPE_CHECKING:
    from vademecum.types import EnrichReport, IndexReport, RepoStatus

FAILURE = 3


@click.command()
@paths_argument
@click.option("-v", "--verbose", is_flag=True, help="List what was skipped, and why.")
@json_option
def status(paths: tuple[str, ...], *, verbose: bool, as_json: bool) -> int:
    """Show the indexed repositories, their freshness and skipped files."""
    with opened(paths) as engine:
        repos = engine.codebase.status()
    records = [{**asdict(repo), "skipped": skipped_record(repo.skipped, whole=verbose)} for repo in repos]
    say(records, "\n".join(_status_text(repo, verbose=verbose) for repo in repos), as_json=as_json)
    return 0


@click.command()
@paths_argument
@click.option(
    "--repair", is_flag=True, help="Write what an index of vectors lacks, and delete what does not belong there."
)
@json_option
def doctor(paths: tuple[str, ...], *, repair: bool, as_json: bool) -> int:
    """Check that everything works, and suggest fixes.

    Also lists the data that may leave this machine, with its destination. Exits with 3 if something is wrong.
    """
    from vademecum.wiring.doctor import check_providers

    settings = settings_for(paths)
    with opened(paths, settings) as engine:
        checks = [
            *engine.codebase.doctor(repair=repair), *engine.check_memory(), *engine.sources.doctor(),
            *check_providers(settings),
        ]  # fmt: skip
    return say_checks(checks, settings.warnings, as_json=as_json)


@click.command()
@paths_argument
@json_option
def gc(paths: tuple[str, ...], *, as_json: bool) -> int:
    """Delete index data that no branch, commit or checkout needs."""
    with opened(paths) as engine:
        report = engine.codebase.gc()
    dropped = f"{counted(report.blobs, 'file')} and {counted(report.chunks, 'chunk')}"
    note = f"note: {report.note}\n" if report.note else ""
    say(asdict(report), f"dropped {dropped}, freed {size(report.bytes)}\n{note}", as_json=as_json)
    return 0


@click.command()
@paths_argument
def watch(paths: tuple[str, ...]) -> int:
    """Keep the index up to date as files change, until interrupted.

    Answers are fresh without this: it only moves indexing out of the next search. Needs the extra `watch`.
    """
    import threading

    from vademecum.types import IndexReport

    def report(done: IndexReport | EnrichReport) -> None:
        emit(index_text([done], verbose=False) if isinstance(done, IndexReport) else enrich_text(done))

    with opened(paths, indexing=True) as engine:
        places = ", ".join(visible(root.path) for root in engine.roots)
        click.echo(f"watching {places}: Ctrl-C ends it", err=True)
        engine.codebase.watch(report, threading.Event())
    return 0


@click.command()
@paths_argument
@json_option
def enrich(paths: tuple[str, ...], *, as_json: bool) -> int:
    """Have a language model describe each chunk of code in a sentence.

    The sentences are searched and shown. The model is set as enrich.provider. Each answer is stored at once, so you can
    interrupt at any time: the next run continues there. Exits with 3 if everything failed.
    """
    with opened(paths, indexing=True) as engine, Progress() as progress:
        reports = engine.codebase.enrich(progress)
    say([asdict(report) for report in reports], "".join(map(enrich_text, reports)), as_json=as_json)
    return FAILURE if any(report.failed and not report.made for report in reports) else 0


def enrich_text(report: EnrichReport) -> str:
    """Return the report of one enrichment run, as text."""
    done = report.known + report.made
    text = (
        f"{report.repo}: {done} of {counted(report.wanted, 'chunk')} described, {report.made} now, by {report.enricher}"
    )
    failed = f"; {counted(report.failed, 'failure')}, the last: {visible(report.problem)}" if report.failed else ""
    return f"{text}{failed} ({report.seconds:.1f} s)\n"


@click.group(cls=Group, meant={"get": "show", "list": "show"}, invoke_without_command=True)
@click.pass_context
def config(ctx: click.Context) -> int:
    """Show settings and the origin of each."""
    return int(ctx.invoke(show)) if ctx.invoked_subcommand is None else 0


@config.command()
@click.argument("path", default=".")
@json_option
@examples("vade config show", "vade config show search.k")
def show(path: str, *, as_json: bool) -> int:
    """Print every setting, its value and the layer that set it.

    PATH is the directory whose settings are shown, or the name of one setting, which is then printed alone.
    """
    from vademecum.config import KNOWN, nearest_setting

    named = path if path in KNOWN and not os.path.exists(path) else ""
    if not named and not os.path.exists(path):
        raise UsageError(f"{path!r} is neither a directory nor a setting: {nearest_setting(path)}")
    settings = settings_for(("." if named else path,))
    rows = [row for row in settings.items() if named in ("", row[0])]
    if as_json:
        emit_json({key: {"value": value, "origin": origin} for key, value, origin in rows})
        return 0
    import json

    emit(table((key, json.dumps(value), f"# {origin}") for key, value, origin in rows))
    if named:
        return 0
    emit(f"data is in {settings.home}\n")
    emit("".join(f"note: {warning}\n" for warning in settings.warnings))
    return 0


def _status_text(repo: RepoStatus, *, verbose: bool) -> str:
    languages = sorted(repo.languages.items(), key=lambda item: (-item[1], item[0]))
    rows = [
        ("root", repo.root),
        ("branch", repo.branch or "none"),
        ("commit", repo.commit or ("none yet" if repo.branch else "none: not under git")),
        ("indexed", f"{counted(repo.files, 'file')}, {counted(repo.chunks, 'chunk')}"),
        ("fresh", "yes" if repo.fresh else "no: the next search or `vade index` brings it up to date"),
        ("when", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(repo.indexed_at)) if repo.indexed_at else "never"),
        ("languages", ", ".join(f"{name} {count}" for name, count in languages) or "none"),
        ("embedder", repo.embedder + (f"; {counted(repo.pending, 'chunk')} without a vector" if repo.pending else "")),
        ("database", f"{repo.database} ({size(repo.bytes)})"),
        ("skipped", f"{len(repo.skipped)}" + ("" if verbose or not repo.skipped else " (-v shows which)")),
    ]
    rows += [("note", repo.note)] if repo.note else []
    skipped = "\n".join(skipped_lines(repo.skipped)) + "\n" if verbose and repo.skipped else ""
    return f"{repo.repo}\n{table(rows, indent='  ')}{skipped}"

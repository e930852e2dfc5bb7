"""The verbs that look after indexes, sources, settings and figures, and `help`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vademecum.amounts import counted, long_ago
from vademecum.answers.render import visible
from vademecum.cli import FAILURE, NOT_FOUND
from vademecum.cli.session import (
    Group,
    Progress,
    emit,
    emit_json,
    examples,
    index_text,
    json_option,
    number_option,
    opened,
    paths_argument,
    say,
    say_checks,
    settings_for,
    size,
    skipped_lines,
    skipped_record,
    style_for,
    table,
)
from vademecum.errors import Error, SourceError, UsageError

if TYPE_CHECKING:
    from vademecum.items import SourceStatus
    from vademecum.savings import Row
    from vademecum.types import EnrichReport, IndexReport, RepoStatus
    from vademecum.wiring.stores import Kept

NONE_SET = "no source is set: set one up under [sources.NAME] in your user file, see `vade help sources`"


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="Fetch from every source that is set.")
@click.option("--full", is_flag=True, help="Fetch everything again, and drop what is gone.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and keep nothing.")
@json_option
@examples("vade sync", "vade sync work --dry-run")
def sync(names: tuple[str, ...], *, every: bool, full: bool, dry_run: bool, as_json: bool) -> int:
    """Fetch changes from the backlogs and documents called NAME.

    Without NAME, lists the configured sources. You can interrupt at any time: the next run continues there. Exits with 3
    if a source cannot be asked.
    """
    from vademecum.answers.neighbours import sync_text

    with opened(()) as engine, Progress() as progress:
        if not names and not every:
            sources = engine.sources.status()
            text = table(map(_source_row, sources)) if sources else f"{NONE_SET}\n"
            say([asdict(source) for source in sources], text, as_json=as_json)
            return 0
        chosen = engine.sources.names if every else tuple(dict.fromkeys(names))
        if not chosen:
            raise UsageError(NONE_SET)
        reports, problems = [], {}
        for name in chosen:
            try:
                reports.append(engine.sources.sync(name, progress, full=full, dry_run=dry_run))
            except Error as error:
                if len(chosen) == 1 or isinstance(error, UsageError):
                    raise
                problems[name] = error  # the other sources are still asked
    failed = [{"source": name, "problem": str(error)} for name, error in problems.items()]
    text = "".join([*map(sync_text, reports), *(f"{name}: {error}\n" for name, error in problems.items())])
    say([*map(asdict, reports), *failed], text, as_json=as_json)
    return FAILURE if problems else 0


def _source_row(source: SourceStatus) -> tuple[str, ...]:
    from vademecum.answers.remembered import stamp

    when = stamp(source.synced_at) if source.synced_at else "never"
    cut = ", a run was cut short: the next one goes on with it" if source.pending else ""
    return (source.source, source.provider, source.place, counted(source.items, "item"), f"synced {when}{cut}")


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
    from vademecum.bench.bench import report_record, report_text

    with Progress() as progress:
        reports = measured(
            *paths, questions=questions, history=history, seed=seed, settings=settings_for(paths), progress=progress
        )
    text = "\n".join(report_text(report, style_for()) for report in reports)
    say([report_record(report) for report in reports], text, as_json=as_json)
    return 0 if any(report.measured for report in reports) else NOT_FOUND


MOST_DAYS = 36_500
UNKNOWN = """\
A file counts whole for each answer that shows lines of it. What an agent would have read without these answers is not
known: it might have read less than the whole files, or more of them. Tokens are estimated from bytes.
"""


@click.command()
@click.option(
    "--days", type=click.IntRange(1, MOST_DAYS), default=30, metavar="N", show_default=True, help="Of the last N days."
)
@json_option
@examples("vade savings", "vade savings --days 7 --json")
def savings(days: int, *, as_json: bool) -> int:
    """Show the tokens of answers, beside those of whole files.

    The files are those whose lines the answers show. Counts are by day and repository, on this machine, for answers to
    agents over MCP. Exits with 1 if no answer was counted.
    """
    from vademecum.savings import rows

    settings = settings_for(())
    try:
        found = rows(settings.home, datetime.now().astimezone().date() - timedelta(days - 1))
    except OSError as error:
        raise SourceError(f"cannot read {error.filename}: {error.strerror}; make it readable, or delete it") from error
    if as_json:
        emit_json({"days": days, "enabled": settings.savings.enabled, "rows": [asdict(row) for row in found]})
    elif found:
        emit(_page(found))
    if not found and not as_json:
        why = "none was given" if settings.savings.enabled else "savings.enabled is false"
        click.echo(f"no answer to an agent was counted in the last {counted(days, 'day')}: {why}", err=True)
    return 0 if found else NOT_FOUND


def _page(found: list[Row]) -> str:
    answers, held, whole = (
        sum(getattr(row, name) for row in found) for name in ("answers", "answer_tokens", "file_tokens")
    )
    listed = [
        (row.day, _shown(row.repo), f"{row.answers:,}", f"{row.answer_tokens:,}", f"{row.file_tokens:,}", _share(row.answer_tokens, row.file_tokens))
        for row in found
    ]  # fmt: skip
    total = ("all", "", f"{answers:,}", f"{held:,}", f"{whole:,}", _share(held, whole))
    heads = ("day", "repository", "answers", "tokens held", "files whole", "share")
    return f"{table([heads, *listed, total])}\n{UNKNOWN}"


def _shown(repo: str) -> str:
    path = Path(repo)
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else repo


def _share(held: int, whole: int) -> str:
    return f"{held / whole:.0%}" if whole else ""


@click.group(cls=Group, meant={"delete": "remove", "rm": "remove", "forget": "remove"}, invoke_without_command=True)
@json_option
@click.pass_context
def repos(ctx: click.Context, *, as_json: bool) -> int:
    """List this machine's indexes: name, size, age and path.

    Indexes in a shared database are not listed. `vade repos remove` deletes one.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    from vademecum.wiring.stores import kept_indexes

    kept = kept_indexes(settings_for(()).home)
    total = f"{counted(len(kept), 'index')}, {size(sum(each.bytes for each in kept))}\n"
    say([asdict(each) for each in kept], table(map(_row, kept)) + total, as_json=as_json)
    return 0


def _row(kept: Kept) -> tuple[str, ...]:
    age = long_ago(time.time() - kept.indexed_at) if kept.indexed_at else "never"  # as `3 days ago`
    memory = f"memory {size(kept.memory_bytes)}" if kept.memory_bytes else ""
    return kept.name, size(kept.bytes), memory, age, _places(kept)


@repos.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME|PATH...")
@click.option("--memory", is_flag=True, help="Delete what was remembered of the repository, too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@examples("vade repos remove old-project", "vade repos remove ~/src/app --yes")
def remove(names: tuple[str, ...], *, memory: bool, yes: bool) -> int:
    """Delete a repository's index; keep its files and its memory.

    NAME or PATH is as `vade repos` lists it. The next search in the repository makes the index again; nothing makes a
    memory again.
    """
    from vademecum.wiring.stores import delete_index, index_called, kept_indexes

    kept = kept_indexes(settings_for(()).home)
    for each in dict.fromkeys(index_called(kept, name) for name in names):
        what = f"the index of {visible(each.name)} ({size(each.bytes)}), {_places(each)}"
        what += f", and its memory ({size(each.memory_bytes)}), for good" if memory and each.memory_bytes else ""
        if not yes:
            _ask(what)
        freed = delete_index(each, memory=memory)
        left = f"; its memory is kept ({size(each.memory_bytes)}): --memory deletes it too"
        emit(f"deleted {what}: freed {size(freed)}{left if each.memory_bytes and not memory else ''}\n")
    return 0


def _ask(what: str) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"nothing was deleted of {what}: add --yes, there is no terminal to ask on")
    if not click.confirm(f"Delete {what}?", err=True):
        raise UsageError(f"nothing was deleted of {what}: you did not agree")


def _places(kept: Kept) -> str:
    places = (f"{path} (gone)" if path in kept.gone else path for path in kept.paths)
    return visible(", ".join(places) or kept.note) or "no files indexed"


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
    from vademecum.hooks.hook import check_runs
    from vademecum.wiring.doctor import check_providers

    settings = settings_for(paths)
    with opened(paths, settings) as engine:
        checks = [
            *engine.codebase.doctor(repair=repair), *engine.check_memory(), *check_runs(settings.home),
            *engine.sources.doctor(), *check_providers(settings),
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


INDEX = "index"
SHELLS = ("bash", "zsh", "fish")
PACKAGE = Path(__file__).parents[1]
# In a wheel the pages are in the package, in a clone at its top.
PLACES = (PACKAGE / "docs", PACKAGE.parents[1] / "docs")


def _topics(context: click.Context, parameter: click.Parameter, beginning: str) -> list[str]:  # noqa: ARG001 -- click's
    whole = context.find_root()
    verbs = whole.command.list_commands(whole) if isinstance(whole.command, click.Group) else []
    known = [*pages(), *verbs]
    return [name for name in dict.fromkeys(known) if name.startswith(beginning)]


@click.command(name="help")
@click.argument("topic", nargs=-1, shell_complete=_topics)
@click.option("--plain", is_flag=True, help="Print the page without a pager.")
@click.pass_context
def help_(context: click.Context, topic: tuple[str, ...], *, plain: bool) -> int:
    """Show a page of the documentation, or a command's help.

    Without TOPIC, lists the pages. TOPIC is a page, the number of a decision, or a command.
    """
    known = pages()
    if not topic:
        emit(table((name, title_of(path)) for name, path in known.items()))
        return 0
    if len(topic) > 1 or topic[0] not in known:
        click.echo(_said_by_itself(context, topic, [*known]))
        return 0
    text = known[topic[0]].read_text(encoding="utf-8")
    click.echo_via_pager(text) if sys.stdout.isatty() and not plain else click.echo(text, nl=False)
    return 0


def _said_by_itself(context: click.Context, words: Sequence[str], pages_known: Sequence[str]) -> str:
    """Return the help of a command or subcommand.

    Raises:
        UsageError: neither a command nor a page has the name.
    """
    here = context.find_root()
    for number, word in enumerate(words):
        group = here.command if isinstance(here.command, click.Group) else None
        command = group.get_command(here, word) if group else None
        if command is None:
            names = [*(pages_known if not number else ()), *(group.list_commands(here) if group else ())]
            import difflib

            close = difflib.get_close_matches(word, names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "`vade help` lists them"
            raise UsageError(f"there is no topic {' '.join(words[: number + 1])!r}: {hint}")
        here = click.Context(command, info_name=word, parent=here)
    return here.get_help()


def pages() -> Mapping[str, Path]:
    """Return the topics: pages by name, decisions by number.

    The index page comes first.

    Raises:
        UsageError: the package came without its documentation.
    """
    for folder in PLACES:
        if (folder / f"{INDEX}.md").exists():
            paths = sorted(folder.glob("*.md"), key=lambda path: (path.stem != INDEX, path.stem))
            decisions = sorted((folder / "decisions").glob("*.md"))
            return {path.stem: path for path in paths} | {path.stem[:4]: path for path in decisions}
    raise UsageError("this package came without its documentation: install it from a wheel")


def title_of(path: Path) -> str:
    """Return the heading of a page."""
    return path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ").replace("`", "")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completions(shell: str) -> int:
    """Print a shell's completions of commands, options and names.

    \b
    bash    vade completions bash > ~/.local/share/bash-completion/completions/vade
    zsh     vade completions zsh > a directory of $fpath, as _vade
    fish    vade completions fish > ~/.config/fish/completions/vade.fish
    """  # noqa: D301 -- click reads the backspace as "leave these lines as they are"
    from click.shell_completion import get_completion_class

    from vademecum.cli import cli

    known = get_completion_class(shell)
    assert known is not None
    script = known(cli, {}, "vade", "_VADE_COMPLETE")
    # Not `script.source()`: for bash that would start a bash to check its version.
    emit(script.source_template % script.source_vars() + "\n")
    return 0

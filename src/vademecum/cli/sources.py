"""The verb for backlogs and documents: sync."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from vademecum.amounts import counted
from vademecum.answers.items import sync_text
from vademecum.answers.remembered import stamp
from vademecum.cli.progress import Progress
from vademecum.cli.render import say, table
from vademecum.cli.session import examples, json_option, opened
from vademecum.errors import Error, UsageError

if TYPE_CHECKING:
    from vademecum.items import SourceStatus

FAILURE = 3
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
    with opened(()) as engine, Progress() as progress:
        if not names and not every:
            sources = engine.sources.status()
            text = table(map(_row, sources)) if sources else f"{NONE_SET}\n"
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


def _row(source: SourceStatus) -> tuple[str, ...]:
    when = stamp(source.synced_at) if source.synced_at else "never"
    cut = ", a run was cut short: the next one goes on with it" if source.pending else ""
    return (source.source, source.provider, source.place, counted(source.items, "item"), f"synced {when}{cut}")

"""The verb `savings`: tokens of answers, compared with whole files."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vademecum.amounts import counted
from vademecum.cli.render import emit, emit_json, table
from vademecum.cli.session import examples, json_option, settings_for
from vademecum.errors import SourceError

if TYPE_CHECKING:
    from vademecum.savings import Row

NOT_FOUND = 1
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

"""Items of backlogs and documents, as text and as records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from vademecum.amounts import counted
from vademecum.answers.piece import Form, Piece, Section
from vademecum.answers.render import visible
from vademecum.items import NamedItem, SyncReport
from vademecum.types import Evidence

ITEMS_SHARE = 10.0  # of a context's budget, beside primary 60, related 30 and graph 10
MOST_SHOWN = 8
WHY_CHARACTERS = 120


def sync_text(report: SyncReport) -> str:
    """Return the report of one sync, as a line."""
    would = "would have " if report.dry_run else ""
    went_on = ", going on with a run that was cut short" if report.resumed else ""
    asked = "everything" if report.full else "what changed"
    return (
        f"{visible(report.source)}: {would}{report.added} new, {report.changed} changed, {report.unchanged} as they were, {report.removed} "
        f"removed; {counted(report.items, 'item')} now (asked {report.provider} for {asked}{went_on}) in {report.seconds:.1f} s\n"
    )  # fmt: skip


def items_text(items: Sequence[NamedItem]) -> str:
    """Return linked items as text after a blank line; else ""."""
    lines = [f"  {_said(item)}  {item.url}  ({item.why[:WHY_CHARACTERS]})" for item in items[:MOST_SHOWN]]
    if len(items) > MOST_SHOWN:
        lines.append(f"  ... and {len(items) - MOST_SHOWN} more")
    return "\nitems\n" + "".join(f"{visible(line)}\n" for line in lines) if lines else ""


def items_record(items: Sequence[NamedItem]) -> list[dict[str, Any]]:
    """Return items as JSON-serialisable values."""
    return [asdict(item) for item in items]


def items_section(linked: Sequence[NamedItem], found: Sequence[Evidence], share: float = ITEMS_SHARE) -> Section:
    """Return items as a section of a context.

    Items linked to the shown code come first, then items that match the task.
    """
    pieces = [
        Piece(
            visible(f"{_said(item)}  {item.url}"),
            (visible(item.why[:WHY_CHARACTERS]),),
            Form.LINE,
            keys=(f"item:{item.source}:{item.key}",),
        )
        for item in linked[:MOST_SHOWN]
    ]
    for item in found:
        said = " ".join(item.snippet.split())[: WHY_CHARACTERS * 3]
        facts = [item.metadata.get("key", ""), item.metadata.get("title", "")]
        title = "  ".join(dict.fromkeys(filter(None, facts)))
        key = f"item:{item.repo}:{item.metadata.get('key', item.path)}"
        pieces.append(
            Piece(
                visible(f"{title}  {item.url}  {said}"),
                (f"{item.repo}", f"updated {item.updated[:10]}"),
                Form.LINE,
                keys=(key,),
            )
        )
    return Section("items", share, [(piece,) for piece in pieces])


def _said(item: NamedItem) -> str:
    state = f"  [{item.state}]" if item.state else ""
    return f"{item.key}  {' '.join(item.title.split())[:WHY_CHARACTERS]}{state}"

"""Terminal output: colours, width, tables, and closed pipes."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from vademecum.amounts import counted
from vademecum.answers.render import PLAIN, Style, visible

if TYPE_CHECKING:
    from vademecum.types import Check, IndexReport

VERDICT_COLOURS = {
    "resolved": "green", "likely": "green", "ambiguous": "yellow", "not found": "red", "▲": "green", "▼": "red"
}  # fmt: skip
SKIPPED_SHOWN = 20  # lists may have thousands; JSON with -v has them all
EXAMPLES = 5  # of each list in JSON without -v
LACKING = {"metadata": "searchable, but without details such as parameters and complexity"}


def style_for(query: str = "", pattern: str = "") -> Style:
    """Return the terminal's style; a pipe or `NO_COLOR` is plain."""
    if not sys.stdout.isatty():
        return PLAIN
    width, height = shutil.get_terminal_size()
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return Style(code=_untab, width=width, height=height)
    matched = _matcher(query, pattern)

    def code(line: str) -> str:
        return matched.sub(lambda match: click.style(match[0], fg="yellow", bold=True), _untab(line))

    return Style(
        place=lambda text: click.style(text, fg="cyan", bold=True),
        dim=lambda text: click.style(text, dim=True),
        verdict=lambda text: click.style(text, fg=VERDICT_COLOURS.get(text), bold=True),
        code=code,
        width=width,
        height=height,
    )


def emit(text: str) -> None:
    """Write the result; ignore a closed pipe.

    A reader such as `| head` closes the pipe when it has enough.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes again at exit: give it a valid file to flush to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# characters that control a terminal, reorder text or are not seen: JSON strings can spell each
_UNSEEN = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def emit_json(value: Any) -> None:
    """Write a JSON document, indented on a terminal, else one line."""
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)
    emit(_UNSEEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text) + "\n")


def say(record: Any, text: str, *, as_json: bool) -> None:
    """Write a result, as JSON or as text."""
    if as_json:
        emit_json(record)
    else:
        emit(text)


def say_checks(checks: Sequence[Check], notes: Iterable[str] = (), *, as_json: bool) -> int:
    """Write checks with fixes; return 3 if one failed, else 0."""
    text = table(("ok" if check.ok else "WRONG", check.name, check.detail) for check in checks)
    text += "".join(f"{check.name}: {check.fix}\n" for check in checks if not check.ok and check.fix)
    say([asdict(check) for check in checks], text + "".join(f"note: {note}\n" for note in notes), as_json=as_json)
    return 0 if all(check.ok for check in checks) else 3


def index_text(reports: Sequence[IndexReport], *, verbose: bool) -> str:
    """Return a report of indexing, a line per repository."""
    lines: list[str] = []
    for report in reports:
        lines.append(
            f"{report.repo}: {counted(report.files, 'file')}, {counted(report.chunks, 'chunk')} "
            f"({report.added} new, {_moved(report)}{report.removed} removed, {report.unchanged} unchanged) in {report.seconds:.1f} s"
        )
        notes = {"skipped": len(report.skipped), "kept by windows only": len(report.failures)}
        notes |= {LACKING.get(step, f"without {step}"): count for step, count in report.degraded.items()}
        lines += (f"  {count} {said}" for said, count in notes.items() if count)
        lines += [f"  {visible(report.trouble)}"] if report.trouble else []
        if verbose:
            lines += (f"  {_reason(item)}" for item in (*report.skipped, *report.failures))
        elif report.skipped or report.failures:
            lines[-1] += " (-v shows which)"
        lines += (f"  {visible(note)}" for note in report.notes)
    return "\n".join(lines) + "\n"


def _moved(report: IndexReport) -> str:
    """Return the number of files known by content at another path."""
    moved = report.files - report.added - report.unchanged
    return f"{moved} moved or as once before, " if moved > 0 else ""


def table(rows: Iterable[Sequence[object]], indent: str = "") -> str:
    """Return rows as aligned columns."""
    texts = [[visible(str(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in texts)
    return "".join(f"{indent}{line.rstrip()}\n" for line in lines)


def skipped_lines(skipped: Sequence[Any]) -> list[str]:
    """Return lines about skipped files, with reasons."""
    lines = [f"  {_reason(item)}" for item in skipped[:SKIPPED_SHOWN]]
    if len(skipped) > SKIPPED_SHOWN:
        lines.append(f"  … and {len(skipped) - SKIPPED_SHOWN} more: -v --json lists all")
    return lines


def skipped_record(skipped: Sequence[Any], *, whole: bool) -> dict[str, Any]:
    """Return skipped files as JSON-serialisable values."""
    counts = Counter(item.reason for item in skipped).most_common()
    listed = [asdict(item) for item in (skipped if whole else skipped[:EXAMPLES])]
    return {"count": len(skipped), "reasons": dict(counts), "files" if whole else "examples": listed}


def size(count: int) -> str:
    """Return a number of bytes for people, such as `1.5 MB`."""
    amount, units = float(count), iter(("bytes", "kB", "MB", "GB"))
    unit = next(units)
    while amount >= 1000 and unit != "GB":
        amount, unit = amount / 1000, next(units)
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"


def _reason(skipped: Any) -> str:
    return visible(f"{skipped.path}: {skipped.why}")


def _untab(line: str) -> str:
    return line.expandtabs(4)


def _matcher(query: str, pattern: str) -> re.Pattern[str]:
    """Return a pattern for highlighting: query words and the regex."""
    words = sorted({re.escape(word) for word in re.findall(r"\w{3,}", query)}, key=len, reverse=True)[:64]
    try:
        return re.compile("|".join([*([f"(?:{pattern})"] if pattern else []), *words]) or r"(?!)", re.IGNORECASE)
    except re.error:  # the engine reports the bad pattern; highlight the words alone
        return re.compile("|".join(words) or r"(?!)", re.IGNORECASE)


def _plain(value: Any) -> Any:
    """Convert mappings, paths and sets for `json`."""
    return dict(value) if hasattr(value, "keys") else str(value)

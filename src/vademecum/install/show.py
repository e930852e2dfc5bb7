"""A plan for people: what would change, as unified diffs."""

from __future__ import annotations

import difflib
from pathlib import Path

from vademecum.install.change import Change

CONTEXT = 1  # lines around a change: settings hold secrets, and a terminal's contents travel
WIDTH = 160


def diff(change: Change, home: Path) -> str:
    """Return a change as a unified diff; "" where only the journal changes."""
    if change.now == change.new:
        return ""
    name = shown(change.path, home)
    lines = difflib.unified_diff(
        _lines(change.now),
        _lines(change.new),
        name if change.now is not None else "/dev/null",
        name if change.new is not None else "/dev/null",
        lineterm="",
        n=CONTEXT,
    )
    return "".join(f"{_clipped(line)}\n" for line in lines)


def shown(path: Path, home: Path) -> str:
    """Return a path as people write it, with `~` for the home."""
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)


def _lines(content: bytes | None) -> list[str]:
    text = (content or b"").decode("utf-8", "replace")
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    return [*lines[:-1], lines[-1] + " (no line end)"]


def _clipped(line: str) -> str:
    """A line that is not endless: some agents keep all their settings on one."""
    if len(line) <= WIDTH:
        return line
    place = line.find("vademecum")
    start = max(1, place - WIDTH // 2)
    end = start + WIDTH
    return f"{line[0]}{'…' if start > 1 else ''}{line[start:end]}{'…' if end < len(line) else ''}"

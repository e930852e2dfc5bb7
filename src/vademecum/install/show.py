"""The plan for people: unified diffs."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection
from pathlib import Path

from vademecum.install.change import Change
from vademecum.install.json_tree import bare

CONTEXT = 1  # lines around a change; few, because settings hold secrets and terminals are shared
WIDTH = 160


def diff(change: Change, home: Path) -> str:
    """Return a change as a unified diff.

    "" if only the journal changes. Settings on one long line are wrapped for the diff, so that a reader sees every
    command before agreeing.
    """
    if change.now == change.new:
        return ""
    name, old, new = shown(change.path, home), _lines(change.now), _lines(change.new)
    note = ""
    if any(len(line) > WIDTH for line in set(old) - set(new) - {line.removesuffix(",") for line in new}):
        rewrapped = _rewrapped(change.now), _rewrapped(change.new)
        if all(rewrapped):
            (old, new), note = rewrapped, "  (wrapped anew to be read: the file keeps its lines)"
    lines = difflib.unified_diff(
        old,
        new,
        name if change.now is not None else "/dev/null",
        name + note if change.new is not None else "/dev/null",
        lineterm="",
        n=CONTEXT,
    )
    return "".join(f"{_clipped(line, old)}\n" for line in lines)


def shown(path: Path, home: Path) -> str:
    """Return a path with `~` for the home."""
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)


def _lines(content: bytes | None) -> list[str]:
    text = (content or b"").decode("utf-8", "replace")
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    return [*lines[:-1], lines[-1] + " (no line end)"]


def _rewrapped(content: bytes | None) -> list[str]:
    """Return a JSON file with an entry a line; else []."""
    try:
        value = json.loads(bare((content or b"").decode("utf-8-sig")))
    except ValueError:
        return []
    return json.dumps(value, indent=2, ensure_ascii=False).split("\n")


def _clipped(line: str, old: Collection[str]) -> str:
    """Shorten a very long line, unless the line is our addition."""
    ours = line.startswith("+") and line[1:].removesuffix(",") not in old
    return line if ours or len(line) <= WIDTH else f"{line[:WIDTH]}…"

"""Tell which changed lines and files a text shows after N tokens.

One reader for each form of a text. A line counts only where what is shown is what stands there in the file, so a heading
that promises other lines than those under it gains nothing, and neither does a mistake of a reader here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics import Target
from vademecum.index.tokenize import PatternCounter

BUDGETS = (500, 1_000, 2_000, 4_000, 8_000)
COMPARED = 60  # characters of a line that are compared with the file's: long lines are cut
_HEADING = re.compile(r"(?:#+ )?(?P<path>[^\s:`][^:`]*?):(?P<start>\d+)(?:-(?P<end>\d+))?(?P<rest>(?:[\s,].*)?)$")
_MORE_RANGES = re.compile(r", (\d+)-(\d+)(?=[ ,]|$)")
_NUMBERED = re.compile(r"\s*(\d+)(?:\t|  |$)(.*)$")
_FENCE = re.compile(r"\s*(`{3,})")
_LEFT_OUT = "⋮"
_FIELD = re.compile(
    r'"(path|file_path|start_line|snippet_line|snippet|content)":\s*(?:"((?:[^"\\]|\\.)*)"|(\d+))', re.DOTALL
)
_ESCAPED_END = re.compile(r"((?:[^\\]|\\[^n])*?)(?:\\n|$)", re.DOTALL)
_ECHO = re.compile(r'\A(?:\{"query": "(?:[^"\\]|\\.)*"|# .*)')  # the question said again tells nothing


@dataclass(frozen=True)
class Seen:
    """One line of code, read once the text was read up to `end`."""

    end: int
    path: str
    line: int
    code: str


Reader = Callable[[str], Iterator[Seen]]


def in_text(text: str) -> Iterator[Seen]:
    r"""Yield the lines of code in a text with headings.

    A line counts by its own number, or in a fence by the ranges of its heading.

    >>> rows = in_text("likely 0.8 | fresh\n\na/b.py:3-9  def f()\n  4  def f():\n  5\n  ...  2 more lines\nb.py:7 g\n7\tx = 1\n")
    >>> [(seen.path, seen.line, seen.code) for seen in rows]
    [('a/b.py', 4, 'def f():'), ('a/b.py', 5, ''), ('b.py', 7, 'x = 1')]
    >>> rows = in_text("# Context: f\n### a.py:1-2 (words), 9-9 (path)\n```python\nx:1-2\n\n⋮\ny\n```\n- c.py:1-4 `g()`\n")
    >>> [(seen.path, seen.line, seen.code) for seen in rows]
    [('a.py', 1, 'x:1-2'), ('a.py', 2, ''), ('a.py', 9, 'y')]
    """
    path, ranges, expected, fence, end = "", [(0, 0)], iter(()), "", 0
    for line in text.split("\n"):
        end += len(line) + 1
        if fence and line.strip() == fence:
            fence = ""
        elif fence and line == _LEFT_OUT:
            expected = _numbers(ranges := ranges[1:])
        elif fence:
            if number := next(expected, 0):
                yield Seen(end, path, number, line)
        elif found := _FENCE.match(line):
            fence, expected = found[1], _numbers(ranges)
        elif numbered := _NUMBERED.match(line):
            yield Seen(end, path, int(numbered[1]), numbered[2])
        elif heading := _HEADING.match(line):
            path, start = heading["path"], int(heading["start"])
            more = [(int(a), int(b)) for a, b in _MORE_RANGES.findall(heading["rest"])]
            ranges = [(start, int(heading["end"] or start)), *more]


def _numbers(ranges: list[tuple[int, int]]) -> Iterator[int]:
    return iter(range(ranges[0][0], ranges[0][1] + 1) if ranges else ())


def in_windows(text: str) -> Iterator[Seen]:
    r"""Yield the lines of code in windows, each below its place.

    >>> [(seen.path, seen.line, seen.end) for seen in in_windows("a.py:2-3\nx\ny:4-5\nb.c:1-1\nz\n")]
    [('a.py', 2, 11), ('a.py', 3, 17), ('b.c', 1, 27)]
    """
    path, left, end = "", iter(()), 0
    for line in text.split("\n"):
        end += len(line) + 1
        number = next(left, 0)
        if number:
            yield Seen(end, path, number, line)
        elif heading := _HEADING.match(line):
            path, left = heading["path"], iter(range(int(heading["start"]), int(heading["end"]) + 1))


def in_json(text: str) -> Iterator[Seen]:
    r"""Yield the lines of code in JSON: our structured content, and semble's.

    >>> rows = in_json('{"results": [{"file_path": "a.py", "start_line": 3, "end_line": 9, "content": "x = \\"\\\\n\\"\\ny"}]}')
    >>> [(seen.path, seen.line, seen.code) for seen in rows]
    [('a.py', 3, 'x = "\\n"'), ('a.py', 4, 'y')]
    >>> [seen.line for seen in in_json('{"path":"a.py","start_line":3,"snippet":"x\\ny","snippet_line":8}')]
    [8, 9]
    """
    path, first, pending = "", 1, []
    for field in [*_FIELD.finditer(text), None]:
        name = field[1] if field else "path"
        if name in {"path", "file_path"}:  # a record begins: what the last one holds is known now
            yield from (Seen(end, path, first + n, code) for n, (end, code) in enumerate(pending))
            pending, path = [], json.loads(f'"{field[2]}"') if field and field[2] else ""
        elif name in {"start_line", "snippet_line"}:
            first = int(field[3] or 1)
        else:
            rows = (row for row in _ESCAPED_END.finditer(field[2] or "") if row.end() > row.start())
            pending = [(field.start(2) + row.end(), json.loads(f'"{row[1]}"', strict=False)) for row in rows]


def read(text: str, reader: Reader, targets: tuple[Target, ...], tree: Path) -> dict[str, Any]:
    """Return the shares of changed lines and files that a text holds.

    `lines` and `files` are shares after each of BUDGETS; `first` and `half` are tokens until the first and until half of
    the lines, the largest budget where that never comes. `wrong` is the share of shown lines that the file does not hold.
    """
    changed = {(t.path, number) for t in targets for first, last in t.spans for number in range(first, last + 1)}
    ends: dict[tuple[str, int], int] = {}
    files: dict[str, list[str]] = {}
    shown = wrong = 0
    for seen in reader(text):
        if seen.path not in files:
            files[seen.path] = _lines_of(tree, seen.path)
        own = files[seen.path]
        shown += 1
        if not 0 < seen.line <= len(own) or not _same(seen.code, own[seen.line - 1]):
            wrong += 1
        elif (seen.path, seen.line) in changed:
            ends.setdefault((seen.path, seen.line), seen.end)
    names = {t.path: _named_at(t.path, text) for t in targets}
    counter = PatternCounter()
    at = sorted(counter.count(text[:end]) for end in ends.values())
    named = [counter.count(text[:end]) for end in names.values() if end]
    half = (len(changed) + 1) // 2
    return {
        "lines": [sum(tokens <= n for tokens in at) / len(changed) for n in BUDGETS],
        "files": [sum(tokens <= n for tokens in named) / len(names) for n in BUDGETS],
        "first": min(at[0] if at else BUDGETS[-1], BUDGETS[-1]),
        "half": min(at[half - 1] if len(at) >= half else BUDGETS[-1], BUDGETS[-1]),
        "tokens": counter.count(text),
        "characters": len(text),
        "shown": shown,
        "wrong": round(wrong / max(1, shown), 4),
    }


def _same(code: str, line: str) -> bool:
    """Return True if a shown line is the file's, perhaps cut at an end."""
    code, line = code.strip(), line.strip()
    return line[:COMPARED].rstrip().startswith(code[:COMPARED].rstrip(" \u2026.")) or line.endswith(code)


def _lines_of(tree: Path, path: str) -> list[str]:
    file = tree / path
    return file.read_bytes().decode("utf-8", "replace").split("\n") if path and file.is_file() else []


def _named_at(path: str, text: str) -> int:
    """Return the end of a path's first mention outside the echoed question, or 0."""
    echo = _ECHO.match(text)
    name = re.compile(rf"(?<![\w/.-]){re.escape(path)}(?![\w/-])")
    found = name.search(text, echo.end() if echo else 0)
    return found.end() if found else 0

"""An answer about code, as Markdown for agents and as JSON.

    likely 0.83 | fresh

    ### src/budget.py:10-42 split, 90-94 Budget.left
    ```python
    def split(total: int) -> Budget:
    ...
    ⋮
    def left(self) -> int:
    ...
    ```
    - src/spend.py:50-71 Budget.spend

Markdown and JSON have the same content. A heading names exactly the lines below it. Lines have no numbers: numbers would
take a sixth of the budget.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vademecum.answers.pack import CODE, MATCHED, Context, Form, Part, Piece
from vademecum.answers.render import LINE_CHARACTERS, declared, freshness_of, visible
from vademecum.types import Answer, Evidence, Freshness

HEADLINE_CHARACTERS = 100
MOST_NAMES = 3  # symbols named for one range of lines
LEFT_OUT = "⋮"  # between shown blocks of a file with a gap between them
_FENCES = re.compile(r"^ *(`{3,})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Heading:
    """The verdict above the pieces of an answer."""

    task: str
    answer: Answer
    name_repos: bool = False  # whether paths are prefixed with their repository's name
    shown_before: int = 0  # pieces left out because the session has them


def headline(task: str) -> str:
    r"""Return the first line of a task that is not blank.

    >>> headline("\n  Split the budget\n\nby weight")
    'Split the budget'
    """
    return next((line.strip() for line in task.splitlines() if line.strip()), "")


def markdown(heading: Heading, parts: Sequence[Part]) -> str:
    """Return the page as Markdown that ends in a newline."""
    lines = list(_head(heading, parts))
    for number, part in enumerate(parts):
        if part.pieces:
            lines += ["", *([f"## {part.name}"] if number else [])]
            lines += _body(part.pieces, name_repos=heading.name_repos)
    return "\n".join(lines) + "\n"


def alone(piece: Piece, *, name_repos: bool = False) -> str:
    """Return one piece as Markdown, with its repository's name if `name_repos`."""
    return "\n".join(_body((piece,), name_repos=name_repos)) + "\n"


def record_text(heading: Heading, parts: Sequence[Part], facts: dict[str, Any]) -> str:
    """Return the page as one line of JSON, with newline."""
    return json.dumps(record(heading, parts, facts), ensure_ascii=False, separators=(",", ":")) + "\n"


def alone_text(piece: Piece) -> str:
    """Return one piece as JSON."""
    return json.dumps(chunk_record(piece), ensure_ascii=False, separators=(",", ":"))


def record(heading: Heading, parts: Sequence[Part], facts: dict[str, Any]) -> dict[str, Any]:
    """Return a page as JSON-serialisable values."""
    answer = heading.answer
    said: dict[str, Any] = {"task": heading.task} if heading.task else {}
    said |= {"verdict": str(answer.verdict), "probability": round(answer.probability, 4)}
    said |= {name: value for name, value in (("reason", answer.reason), ("nearest", list(answer.nearest))) if value}
    sections = [
        {"name": part.name, "chunks": [chunk_record(piece) for piece in part.pieces]} for part in parts if part.pieces
    ]
    return said | facts | {"sections": sections}


def context_record(found: Context) -> dict[str, Any]:
    """Return all shown parts of an answer as JSON-serialisable values."""
    answer = Answer(found.task, found.verdict, found.probability, (), found.reason, found.nearest)
    facts = {
        "tokens": found.tokens,
        "budget": found.budget,
        "left_out": found.left_out,
        "shown_before": found.shown_before,
    }
    return record(Heading("", answer), found.parts, facts)


def chunk_record(piece: Piece) -> dict[str, Any]:
    """Return a piece as JSON-serialisable values."""
    said: dict[str, Any] = {"why": list(piece.why), "form": str(piece.form)}
    if piece.place is not None:
        place = piece.place
        said |= {
            "id": place.id, "repo": place.repo, "path": place.path, "start_line": place.start_line,
            "end_line": place.end_line, "freshness": str(place.freshness), "symbols": list(place.symbols),
        }  # fmt: skip
    return said | {"text": piece.text}


def _head(heading: Heading, parts: Sequence[Part]) -> Iterator[str]:
    answer = heading.answer
    verdict = f"{str(answer.verdict).replace('_', ' ')} {answer.probability:.2f}"
    places = [piece.place for part in parts for piece in part.pieces if piece.place]
    before = f"{heading.shown_before} shown before" if heading.shown_before else ""
    yield " | ".join(filter(None, (verdict, freshness_of(places), before)))
    if answer.reason:
        yield visible(answer.reason)
    if answer.nearest:
        yield visible(f"nearest: {', '.join(answer.nearest)}")


def _body(pieces: Sequence[Piece], *, name_repos: bool) -> Iterator[str]:
    """Yield code by file, best piece first, then places, then other lines.

    Places that are better than all code stand before it.
    """
    files: dict[tuple[str, str], list[Piece]] = {}
    better: dict[tuple[str, str], list[Piece]] = {}
    places: dict[tuple[str, str], list[Piece]] = {}
    for piece in pieces:
        if piece.place is not None and piece.form in (*CODE, Form.SIGNATURE):
            by_file = files if piece.form in CODE else places if files else better
            by_file.setdefault((piece.place.repo, piece.place.path), []).append(piece)
    for own in better.values():
        yield f"- {_ranges([[piece] for piece in own], name_repos=name_repos)}"
    for own in files.values():
        yield from _file(_blocks(own), name_repos=name_repos)
    for own in places.values():
        yield f"- {_ranges([[piece] for piece in own], name_repos=name_repos)}"
    for piece in pieces:
        if piece.place is None or piece.form is Form.LINE:
            yield f"- {visible(piece.text)} {_why([piece])}".rstrip()


def _blocks(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Group the pieces of one file into blocks of adjacent lines."""
    blocks: list[list[Piece]] = []
    for piece in sorted(pieces, key=_start):
        before = blocks[-1][-1] if blocks else None
        if before is not None and before.next_line == _start(piece) and _freshness_of(before) == _freshness_of(piece):
            blocks[-1].append(piece)
        else:
            blocks.append([piece])
    return blocks


def _start(piece: Piece) -> int:
    return piece.place.start_line if piece.place else 0


def _freshness_of(piece: Piece) -> Freshness:
    return piece.place.freshness if piece.place else Freshness.FRESH


def _file(blocks: Sequence[Sequence[Piece]], *, name_repos: bool) -> Iterator[str]:
    """Yield a file's heading and its fenced code, gaps marked."""
    place = blocks[0][0].place
    assert place is not None
    lines: list[str] = []
    for block in blocks:
        lines += [LEFT_OUT] if lines else []
        lines += _lines(block)
    fence = "`" * max(3, 1 + max((len(run) for run in _FENCES.findall("\n".join(lines))), default=0))
    yield f"### {_ranges(blocks, name_repos=name_repos)}"
    yield f"{fence}{place.language if place.language != 'text' else ''}"
    yield from lines
    yield fence


def _ranges(blocks: Sequence[Sequence[Piece]], *, name_repos: bool) -> str:
    """Return path, ranges and symbols: `a.py:10-42 split, 90-94 Budget.left`."""
    place = blocks[0][0].place
    assert place is not None
    return f"{_path(place, name_repos=name_repos)}:{', '.join(map(_range, blocks))}"


def _lines(block: Sequence[Piece]) -> list[str]:
    lines: list[str] = []
    for piece in block:
        lines += [""] * (_start(piece) - _start(block[0]) - len(lines))  # blank lines between pieces
        lines += (_line(line) for line in piece.text.split("\n"))
    return lines


def _range(block: Sequence[Piece]) -> str:
    """Return a block's lines, freshness, symbols and relation to the matches."""
    last, state = block[-1].place, _freshness_of(block[0])
    mark = "" if state is Freshness.FRESH else f"[{state}]"
    span = f"{_start(block[0])}-{last.end_line if last else 0}"
    wholes = {"{}-{}".format(*piece.whole) if piece.whole else span for piece in block}
    part = f"of {wholes.pop()}" if len(wholes) == 1 and span not in wholes else ""
    return " ".join(filter(None, (span, part, mark, _symbols(block), _why(block))))


def _symbols(block: Sequence[Piece]) -> str:
    """Return the first names that a block declares, members left out."""
    names = declared(name for piece in block if piece.place is not None for name in piece.place.symbols)
    said = " ".join(names[:MOST_NAMES]) or (block[0].text if block[0].form is Form.SIGNATURE else "")
    said = visible(" ".join(said.split())) if any(map(str.isalpha, said)) else ""
    return said if len(said) <= HEADLINE_CHARACTERS else said[: HEADLINE_CHARACTERS - 1] + "…"


def _path(place: Evidence, *, name_repos: bool) -> str:
    return visible(f"{place.repo}:{place.path}" if name_repos or place.url else place.path)


def _line(line: str) -> str:
    line = visible(line.removesuffix("\r"))
    return line if len(line) <= LINE_CHARACTERS else line[: LINE_CHARACTERS - 1] + "…"


def _why(pieces: Sequence[Piece]) -> str:
    reasons = dict.fromkeys(reason for piece in pieces for reason in piece.why)
    said = visible(", ".join(reason for reason in reasons if reason not in MATCHED))
    return f"({said})" if said else ""

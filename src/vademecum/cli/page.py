"""A page of the documentation, made readable on a terminal: headings, tables and links without their marks."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import click

FENCE = "```"
NO_BREAK = "\x02"
_LINK = re.compile(r"!?\[([^\]]+)\]\(([^)\s]+)\)")
_CODE = re.compile(r"(`[^`]+`)")
_STRONG = re.compile(r"\*\*([^*]+)\*\*")
_WEAK = re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])")
_LIST = re.compile(r"(\s*)([-*]|\d+\.) (.*)")
_RULE = re.compile(r"\|[\s:|-]+\|\s*")


@dataclass(frozen=True, slots=True)
class Look:
    """How wide a page is, and whether it has colours."""

    width: int
    colours: bool

    def strong(self, text: str) -> str:
        """Return a text that stands out."""
        return click.style(text, bold=True) if self.colours else text

    def code(self, text: str) -> str:
        """Return a text as code."""
        return click.style(text, fg="cyan") if self.colours else text


def page(markdown: str, look: Look) -> str:
    r"""Return a page for a terminal.

    >>> print(page("# Title\n\nSome *words*, [a link](a.md).\n\n| a | b |\n| - | - |\n| 1 | `x` |\n", Look(40, False)))
    TITLE
    <BLANKLINE>
    Some words, a link.
    <BLANKLINE>
    a  b
    -  -
    1  x
    <BLANKLINE>
    """
    return "\n".join(line.rstrip() for block in _blocks(markdown.splitlines()) for line in _shown(block, look)) + "\n"


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Paragraphs, items, tables, code and empty lines, each as the lines it is made of."""
    block: list[str] = []
    fenced = False
    for line in lines:
        if fenced:
            block.append(line)
            fenced = not line.startswith(FENCE)
            if not fenced:
                yield block
                block = []
        elif block and _goes_on(block[0], line):
            block.append(line)
        else:
            if block:
                yield block
            block, fenced = [line], line.startswith(FENCE)
    if block:
        yield block


def _goes_on(first: str, line: str) -> bool:
    """Whether a line belongs to the paragraph, item or table that begins with another."""
    if first.startswith("|"):
        return line.startswith("|")
    begins = not line or line.startswith((FENCE, "#", "|")) or bool(_LIST.match(line))
    return bool(first) and not first.startswith(("#", FENCE)) and not begins


def _shown(block: list[str], look: Look) -> Iterator[str]:
    first = block[0]
    if first.startswith(FENCE):
        yield from (look.code(f"    {line}") for line in block[1:-1])
    elif first.startswith("#"):
        marks, _, title = first.partition(" ")
        said = _plain(title).upper() if len(marks) == 1 else _plain(title)
        yield from map(look.strong, textwrap.wrap(said, look.width))
    elif first.startswith("|"):
        yield from _table(block, look)
    elif found := _LIST.match(first):
        margin, mark, said = found.groups()
        hanging = margin + " " * (len(mark) + 1)
        yield from _filled(" ".join([said, *(line.strip() for line in block[1:])]), look, f"{margin}{mark} ", hanging)
    else:
        yield from _filled(" ".join(line.strip() for line in block), look)


def _filled(text: str, look: Look, first: str = "", rest: str = "") -> Iterator[str]:
    lines = textwrap.wrap(
        _marked(text), look.width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    ) or [""]
    yield from (_coloured(line, look) for line in lines)


def _table(block: list[str], look: Look) -> Iterator[str]:
    rows = [[_plain(cell.strip()) for cell in _cells(line)] for line in block if not _RULE.fullmatch(line)]
    columns = max(map(len, rows))
    rows = [row + [""] * (columns - len(row)) for row in rows]
    widths = [max(len(row[index]) for row in rows) for index in range(columns)]
    longest = [max(len(word) for row in rows for word in (row[index].split() or [""])) for index in range(columns)]
    while sum(widths) + 2 * (columns - 1) > look.width:
        spare = [width - least for width, least in zip(widths, longest, strict=True)]
        if max(spare) <= 0:  # words would have to be cut: a row becomes a few lines
            yield from _records(rows, look)
            return
        widths[spare.index(max(spare))] -= 1
    for number, row in enumerate(rows):
        cells = [
            textwrap.wrap(cell, width, break_on_hyphens=False) or [""] for cell, width in zip(row, widths, strict=True)
        ]
        for line in range(max(map(len, cells))):
            parts = [cell[line] if line < len(cell) else "" for cell in cells]
            said = "  ".join(f"{part:<{width}}" for part, width in zip(parts, widths, strict=True)).rstrip()
            yield look.strong(said) if number == 0 else said
        if number == 0:
            yield "  ".join("-" * width for width in widths)


def _records(rows: list[list[str]], look: Look) -> Iterator[str]:
    """A table that is too wide for columns: each row under its first cell, with the names of the others."""
    names, *others = rows
    for row in others:
        yield look.strong(row[0])
        for name, cell in zip(names[1:], row[1:], strict=True):
            if cell:
                yield from textwrap.wrap(
                    f"{name}: {cell}", look.width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
                )


def _cells(line: str) -> list[str]:
    return re.split(r"(?<!\\)\|", line.strip().strip("|"))


def _plain(text: str) -> str:
    return _marked(text).replace("\x01", "").replace(NO_BREAK, " ").replace("\\|", "|")


def _marked(text: str) -> str:
    """A text without links' targets and emphasis; code stands between marks that are gone once it is shown, its spaces kept together."""
    pieces = _CODE.split(_LINK.sub(r"\1", text))
    return "".join(
        f"\x01{piece[1:-1].replace(' ', NO_BREAK)}\x01"
        if piece.startswith("`")
        else _WEAK.sub(r"\1", _STRONG.sub(r"\1", piece))
        for piece in pieces
    )


def _coloured(line: str, look: Look) -> str:
    pieces = line.replace(NO_BREAK, " ").split("\x01")
    return "".join(look.code(piece) if index % 2 else piece for index, piece in enumerate(pieces))

"""A repository in so many tokens: its files with their most central declarations, or those nearest to a task.

    # Map of handbook
    ```
    src/budget.py
      4 class Budget
      10   def split(self, share: float) -> int
    ```

Like a context it is packed under a budget and counted as a page. Central is what the trusted edges of the graph lead to
(`codebase.centrality`), from everywhere, or from where a task or files begin.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vademecum.codebase.outline import Entry
from vademecum.context.budget import pack
from vademecum.context.code import check
from vademecum.context.document import HEADLINE_CHARACTERS, headline
from vademecum.context.piece import Form, Part, Piece, Section
from vademecum.context.render import LINE_CHARACTERS, visible
from vademecum.protocols import TokenCounter

MOST_ENTRIES = 4_000  # that a budget is offered: nobody reads a longer map
SIGNATURE_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Map:
    """A repository, or several, in so many tokens.

    Attributes:
        text: the map, ready to be read; never more than `budget` tokens.
        tokens: how many tokens `text` is, by `counter`.
        entries: what is on it, by repository, the most central first.
        left_out: how many declarations and files found no room.
    """

    task: str
    text: str
    tokens: int
    budget: int
    counter: str
    entries: tuple[Entry, ...] = ()
    left_out: int = 0

    def __bool__(self) -> bool:
        """True when anything is on it."""
        return bool(self.entries)


def draw(
    repositories: Sequence[tuple[str, Sequence[Entry]]],
    budget: int,
    counter: TokenCounter,
    *,
    task: str = "",
    form: str = "markdown",
) -> Map:
    """Return a map of repositories, given by name with their declarations, the most central first.

    Raises:
        UsageError: the budget or the form makes no sense.
    """
    check(budget, form)
    entries = {f"{repo}\0{n}": entry for repo, own in repositories for n, entry in enumerate(own[:MOST_ENTRIES])}
    sections = [
        Section(repo, 1.0, [(_piece(f"{repo}\0{n}", entry, own),) for n, entry in enumerate(own[:MOST_ENTRIES])])
        for repo, own in repositories
    ]
    facts = {"task": task, "budget": budget, "counter": counter.name}

    def whole(parts: Sequence[Part]) -> str:
        chosen = [(part.name, [entries[piece.keys[0]] for piece in part.pieces]) for part in parts]
        return markdown(chosen, task) if form == "markdown" else _json(record(chosen) | facts)

    parts = pack(sections, budget, lambda piece: counter.count(piece.text), lambda parts: counter.count(whole(parts)))
    shown = tuple(entries[piece.keys[0]] for part in parts for piece in part.pieces)
    text = whole(parts)
    if counter.count(text) > budget:
        text, shown = "", ()
    return Map(task, text, counter.count(text), budget, counter.name, shown, len(entries) - len(shown))


def _piece(key: str, entry: Entry, own: Sequence[Entry]) -> Piece:
    """An entry as a piece: its line, and where it is the first of its file, that of the file."""
    first = next(other for other in own if other.path == entry.path) is entry
    line = _line(entry) + "\n"
    return Piece(f"{entry.path}\n{line}" if first else line, (), Form.LINE, None, (key,))


def markdown(repositories: Sequence[tuple[str, Sequence[Entry]]], task: str = "") -> str:
    """Return a map as Markdown that ends in a newline."""
    lines: list[str] = []
    wanted = visible(headline(task))[:HEADLINE_CHARACTERS]
    for repo, entries in repositories:
        lines += [f"# Map of {visible(repo)}" + (f" for: {wanted}" if wanted else "")]
        if entries:
            lines += ["```", *_lines(entries), "```"]
    return "\n".join(lines) + "\n"


def _lines(entries: Sequence[Entry]) -> list[str]:
    lines: list[str] = []
    for path in dict.fromkeys(entry.path for entry in entries):
        own = sorted((entry for entry in entries if entry.path == path), key=lambda entry: entry.line)
        lines += [visible(path), *(_line(entry) for entry in own if entry.qualified)]
    return lines


def _line(entry: Entry) -> str:
    """Where a declaration begins and what it is; a member stands further in."""
    depth = entry.qualified.count(".") + entry.qualified.count("::")
    said = " ".join(entry.signature.split()) or f"{entry.kind} {entry.qualified}"
    if len(said) > SIGNATURE_CHARACTERS:
        said = said[: SIGNATURE_CHARACTERS - 1] + "…"
    return visible(f"  {entry.line} {'  ' * depth}{said}")[:LINE_CHARACTERS].replace("```", "'''")


def record(repositories: Sequence[tuple[str, Sequence[Entry]]]) -> dict[str, Any]:
    """Return a map as JSON-serialisable values: repositories with files, the most central first, with their declarations."""
    return {
        "repositories": [
            {
                "repo": repo,
                "files": [
                    {
                        "path": path,
                        "declarations": [
                            {"name": e.qualified, "kind": e.kind, "line": e.line, "end_line": e.end_line, "signature": e.signature}
                            for e in entries
                            if e.path == path and e.qualified
                        ],
                    }
                    for path in dict.fromkeys(entry.path for entry in entries)
                ],
            }
            for repo, entries in repositories
        ]
    }  # fmt: skip


def _json(said: dict[str, Any]) -> str:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n"

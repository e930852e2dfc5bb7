"""A map of repositories within a token budget.

It lists files with their most central declarations, or those nearest to a task.

    # Map of handbook
    ```
    src/budget.py
      4 class Budget
      10   def split(self, share: float) -> int
    ```

Like a context the map is packed under a budget and counted as a page. A declaration is central if many trusted edges of
the graph lead to it (`code.graph.centrality`), from everywhere, or from the task's matches or the given files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from vademecum.answers.document import HEADLINE_CHARACTERS, headline
from vademecum.answers.pack import Form, Part, Piece, Section, pack
from vademecum.answers.render import LINE_CHARACTERS, visible
from vademecum.code.checkout.classify import words
from vademecum.code.graph.outline import Entry
from vademecum.context.code import Turn, check
from vademecum.protocols import TokenCounter

SIGNATURE_CHARACTERS = 120
_ALL = words(
    "a all an architecture code codebase entire general give high layout level map me of overview project repo repository "
    "show structure summary the this whole"
)


@dataclass(frozen=True, slots=True)
class Map:
    """A map of repositories within a token budget.

    Attributes:
        text: the whole map; never more than `budget` tokens.
        tokens: tokens of `text`, by `counter`.
        entries: the shown declarations and files, by repository, the most central first.
        left_out: number of declarations and files that did not fit.
        shown_before: number of entries that the session was shown before.
    """

    task: str
    text: str
    tokens: int
    budget: int
    counter: str
    entries: tuple[Entry, ...] = ()
    left_out: int = 0
    shown_before: int = 0

    def __bool__(self) -> bool:
        """True when the map has any entry."""
        return bool(self.entries)

    def facts(self) -> dict[str, Any]:
        """Return facts about the map, with each declaration's place."""
        shown = [f"{entry.path}:{entry.line}" for entry in self.entries if entry.qualified]
        return {"tokens": self.tokens, "left_out": self.left_out, "shown_before": self.shown_before, "shown": shown}


def asks_for_all(task: str) -> bool:
    """Return whether a task names nothing but the repository as a whole.

    >>> asks_for_all("an overview of the codebase"), asks_for_all("overview of the parser")
    (True, False)
    """
    return _ALL.issuperset(re.findall(r"\w+", task.lower()))


def draw(
    repositories: Sequence[tuple[str, Sequence[Entry]]],
    budget: int,
    counter: TokenCounter,
    *,
    task: str = "",
    form: str = "markdown",
    own: Turn | None = None,
) -> Map:
    """Draw a map of repositories.

    Repositories are given by name, with their declarations, the most central first. Entries that the session of `own` was
    shown before are left out, and the drawn ones are added to the session.

    Raises:
        UsageError: the budget or the form makes no sense.
        StoreError: the session cannot be stored.
    """
    check(budget, form)
    own = Turn() if own is None else own
    entries: dict[str, Entry] = {}
    sections = []
    for repo, every in repositories:
        first = {entry.path: entry for entry in reversed(every)}
        pieces = [_piece(entry, first[entry.path] is entry) for entry in every]
        fresh = [own.is_new(piece) for piece in pieces]
        own.left += fresh.count(False)
        entries |= {p.keys[0]: e for p, e, is_new in zip(pieces, every, fresh, strict=False) if is_new}
        sections.append(Section(repo, 1.0, [(p,) for p, is_new in zip(pieces, fresh, strict=True) if is_new]))
    facts = {"task": task, "budget": budget, "counter": counter.name, "shown_before": own.left}

    def whole(parts: Sequence[Part]) -> str:
        chosen = [(part.name, [entries[piece.keys[0]] for piece in part.pieces]) for part in parts]
        return markdown(chosen, task, own.left) if form == "markdown" else _json(record(chosen) | facts)

    parts = pack(sections, budget, lambda piece: counter.count(piece.text), lambda parts: counter.count(whole(parts)))
    shown = tuple(entries[piece.keys[0]] for part in parts for piece in part.pieces)
    text = whole(parts)
    if counter.count(text) > budget:
        text, shown, parts = "", (), ()
    own.remember(parts)
    left_out = len(entries) - len(shown)
    return Map(task, text, counter.count(text), budget, counter.name, shown, left_out, own.left)


def _piece(entry: Entry, is_first: bool) -> Piece:
    """Return an entry as a piece.

    The first entry of a file also has the file's line. The key names the declaration and its signature: a moved
    declaration counts as shown, one with other parameters does not.
    """
    said = blake2b(entry.signature.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    key = f"map:{entry.repo}:{entry.path}:{entry.qualified}:{said}".replace("\n", " ")
    line = _line(entry) + "\n"
    return Piece(f"{entry.path}\n{line}" if is_first else line, (), Form.LINE, None, (key,))


def markdown(repositories: Sequence[tuple[str, Sequence[Entry]]], task: str = "", shown_before: int = 0) -> str:
    """Return a map as Markdown that ends in a newline."""
    lines = [f"{shown_before} shown before in this session"] if shown_before else []
    wanted = visible(headline(task))[:HEADLINE_CHARACTERS]
    for repo, entries in repositories:
        lines += [f"# Map of {visible(repo)}" + (f" for: {wanted}" if wanted else "")]
        if entries:
            lines += ["```", *_lines(entries), "```"]
    return "\n".join(lines) + "\n"


def _lines(entries: Sequence[Entry]) -> list[str]:
    lines: list[str] = []
    for path, own in _by_file(entries).items():
        own.sort(key=lambda entry: entry.line)
        lines += [visible(path), *(_line(entry) for entry in own if entry.qualified)]
    return lines


def _by_file(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Return entries by path, in their order."""
    by_file: dict[str, list[Entry]] = {}
    for entry in entries:
        by_file.setdefault(entry.path, []).append(entry)
    return by_file


def _line(entry: Entry) -> str:
    """Return an entry's line: number, indentation and signature."""
    depth = entry.qualified.count(".") + entry.qualified.count("::")
    said = " ".join(entry.signature.split()) or f"{entry.kind} {entry.qualified}"
    if len(said) > SIGNATURE_CHARACTERS:
        said = said[: SIGNATURE_CHARACTERS - 1] + "…"
    return visible(f"  {entry.line} {'  ' * depth}{said}")[:LINE_CHARACTERS].replace("```", "'''")


def record(repositories: Sequence[tuple[str, Sequence[Entry]]]) -> dict[str, Any]:
    """Return a map as JSON-serialisable values."""
    return {
        "repositories": [
            {
                "repo": repo,
                "files": [
                    {
                        "path": path,
                        "declarations": [
                            {"name": e.qualified, "kind": e.kind, "line": e.line, "end_line": e.end_line, "signature": e.signature}
                            for e in own
                            if e.qualified
                        ],
                    }
                    for path, own in _by_file(entries).items()
                ],
            }
            for repo, entries in repositories
        ]
    }  # fmt: skip


def _json(said: dict[str, Any]) -> str:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n"

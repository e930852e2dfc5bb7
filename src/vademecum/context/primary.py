"""What matches a task: the search for it, and what it found as pieces that stand by themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

from vademecum.context.document import HEADLINE_CHARACTERS, headline
from vademecum.context.piece import Form, Offer, Piece
from vademecum.errors import UsageError
from vademecum.types import Answer, Evidence, Freshness

MOST_FOUND = 200  # pieces asked of a search: as many as ranking looks at closely
TOKENS_PER_PIECE = 25  # nothing that is worth a place is shorter
POINTED_AT = 0.5  # of a file's probability is what it is worth to be shown its best piece
Search = Callable[[str, int], Answer]
Pieces = Callable[[str, str], Sequence[Evidence]]  # path and repository to all pieces of the file, in order

_SIGNALS = (("definition", "name"), ("lexical", "words"), ("dense", "meaning"), ("path", "path"))


def find(search: Search, task: str, budget: int) -> Answer:
    """Return the answer to the task, with as much evidence as a budget could show.

    Raises:
        UsageError: the task is empty.
    """
    if not task.strip():
        raise UsageError("the task is empty: say what is to be done, in a line or in a page")
    return search(task, min(MOST_FOUND, max(10, budget // TOKENS_PER_PIECE)))


def offers_of(found: Sequence[Evidence], pieces: Pieces) -> list[Offer]:
    """Return each thing that was found in its forms: the whole declaration, the part that matches, its signature."""
    best = {name: max((item.signals.get(name, 0.0) for item in found), default=0.0) for name, _ in _SIGNALS}
    worth = worth_of(found)
    files: dict[tuple[str, str], File] = {}
    begun: set[str] = set()
    offers: list[Offer] = []
    for item in found:
        own = item.repo, item.path
        if own not in files:
            files[own] = File(pieces(item.path, item.repo), worth)
        offers.append(files[own].offer(item, why(item, best), alone=not begun.isdisjoint(files[own].together(item))))
        begun.update(files[own].together(item))
    return offers


def worth_of(found: Sequence[Evidence]) -> dict[str, float]:
    """Return by key which share of all that is asked for each piece is expected to hold; {} where no search says it.

    The best piece of a file is worth more than its lines: it points at the file. Where others put the pieces into their order,
    worth goes by place.
    """
    worth = {key_of(item): item.signals.get("worth", 0.0) for item in found}
    moved = [key_of(item) for item in found if "rerank" in item.signals]
    worth |= zip(moved, sorted((worth[key] for key in moved), reverse=True), strict=True)
    best: dict[tuple[str, str], Evidence] = {}
    for item in sorted(found, key=lambda item: -worth[key_of(item)]):
        best.setdefault((item.repo, item.path), item)
    for item in best.values():
        worth[key_of(item)] += POINTED_AT * item.signals.get("file", 0.0)
    return worth


def why(item: Evidence, best: dict[str, float]) -> tuple[str, ...]:
    """Say which signals speak for a piece: those with at least half of what the best one has."""
    return tuple(word for name, word in _SIGNALS if 0 < best[name] <= 2 * item.signals.get(name, 0.0))


def key_of(item: Evidence) -> str:
    """Return what names a piece of content at a path, whatever the commit and the lines."""
    return f"{item.repo}:{item.path}:{item.id.rpartition(':')[2]}"


class File:
    """All pieces of one file, and which of them belong together."""

    def __init__(self, pieces: Sequence[Evidence], worth: Mapping[str, float] = MappingProxyType({})) -> None:
        self._worth = worth
        self._pieces = {key_of(piece): piece for piece in pieces}
        self._next = {key_of(one): other.start_line for one, other in pairwise(pieces)}
        self._order = list(self._pieces)
        self._places = {key: place for place, key in enumerate(self._order)}

    def at(self, ordinal: int, line: int) -> Evidence | None:
        """Return the piece of a number that holds a line, or the first one that does; None where none does."""
        every = list(self._pieces.values())
        counted = every[ordinal : ordinal + 1] if ordinal >= 0 else []
        return next((piece for piece in (*counted, *every) if piece.start_line <= line <= piece.end_line), None)

    def together(self, item: Evidence) -> tuple[str, ...]:
        """Return the keys of all parts of the declaration that a piece is of; of a piece by itself, its own."""
        key = key_of(item)
        known = self._pieces.get(key)
        if known is None or known.freshness is not Freshness.FRESH:
            return (key,)
        part, parts = known.metadata.get("part", 1), known.metadata.get("parts", 1)
        first = self._places[key] - part + 1
        return tuple(self._order[first : first + parts]) if first >= 0 else (key,)

    def offer(self, item: Evidence, reason: tuple[str, ...], *, alone: bool = False) -> Offer:
        """Return the forms of what was found; `alone` the piece only, where its declaration is offered already."""
        keys = self.together(item)
        own = self.joined([item], reason, Form.PART if len(keys) > 1 else Form.WHOLE)
        if alone:
            return (own,)
        forms = [self.joined([self._pieces[key] for key in keys], reason, Form.WHOLE)] if len(keys) > 1 else []
        forms.append(own)
        said = item.signature or headline(item.snippet)[:HEADLINE_CHARACTERS]
        if said:
            place = replace(forms[0].place or item, snippet=said)
            forms.append(Piece(said, reason, Form.SIGNATURE, place, keys))
        return tuple(forms)

    def joined(self, pieces: Sequence[Evidence], reason: tuple[str, ...], form: Form) -> Piece:
        """Several neighbouring pieces as one."""
        first, last = pieces[0], pieces[-1]
        lines: list[str] = []
        for piece in pieces:
            lines += [""] * (piece.start_line - first.start_line - len(lines))
            lines += piece.snippet.split("\n")
        text = "\n".join(lines)
        place = replace(first, snippet=text, end_line=last.end_line) if len(pieces) > 1 else first
        keys = tuple(map(key_of, pieces))
        worth = sum(self._worth.get(key, 0.0) for key in keys)
        return Piece(text, reason, form, place, keys, self._next.get(keys[-1], 0), worth)

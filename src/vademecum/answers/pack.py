"""Pieces of an answer, and their choice within a token budget.

The budget is never exceeded, with any token counter.

    1. Each section takes its best pieces, fullest form first, up to its share. A piece that does not fit is skipped, and
       leftover tokens go to the next section, finally to the first, which then chooses again. The best piece has the most
       worth per token; without worths, the order of the offers decides. A small reserve shows signatures of files of which
       nothing else is shown.
    2. The whole page is counted as it will be shown. If it is too long, the last pieces are dropped.
    3. The rest of the budget is offered once more: full forms of every section, then signatures.

Source: CodeRAG design decision 5, which fills each section greedily and stops there; greedy by worth for cost is Khuller,
Moss and Naor, "The budgeted maximum coverage problem", 1999.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from vademecum.protocols import Reranker
from vademecum.types import Answer, Evidence, Verdict


class Form(StrEnum):
    """The form in which a piece is shown."""

    WHOLE = "whole"  # a declaration, or any other piece of a file, from first to last line
    PART = "part"  # the parts of a long declaration that match
    PASSAGE = "passage"  # matching pieces near each other in a file, with the lines between them
    LINES = "lines"  # the lines of a declaration that match best
    SIGNATURE = "signature"  # its first line only
    LINE = "line"  # a line that is no code: an edge of the graph, a note


MATCHED = (
    "name",
    "words",
    "meaning",
    "path",
    "past commits",
)  # reasons for pieces that match the question; other reasons are relations
CODE = frozenset({Form.WHOLE, Form.PART, Form.PASSAGE, Form.LINES})  # forms that show lines of a file as they are


@dataclass(frozen=True, slots=True)
class Within:
    """Limits of a question: search filters and ranking.

    Attributes:
        paths: globs or directories of results.
        exclude: globs of files to leave out.
        commit: a revision; "" for the files on disk.
        languages: languages of the files.
        kind: a key of `types.KINDS`.
        symbol: a name that the chunks define.
        pattern: a regular expression that the chunks match.
        repos: names of repositories; all open ones unless given.
        scope: "repo", "repos", "all" or "shared".
        sources: names of backlogs and sources of documents.
        ranker: a name in `code.search.rank.RANKERS`; "" for the setting.
        reranker: a provider or its name; "" for the setting.
    """

    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    commit: str = ""
    languages: tuple[str, ...] = ()
    kind: str = "all"
    symbol: str = ""
    pattern: str = ""
    repos: tuple[str, ...] = ()
    scope: str = "repos"
    sources: tuple[str, ...] = ()
    ranker: str = ""
    reranker: Reranker | str = ""

    def filters(self) -> dict[str, Any]:
        """Return the limits as `Codebase.search` takes them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


ANYWHERE = Within()


@dataclass(frozen=True, slots=True)
class Piece:
    """A candidate for the answer.

    Attributes:
        text: the text to show, without the last line end.
        why: the reasons: the signals that match the task, or the relation to a match.
        form: the form of the code in `text`.
        place: the lines of a file, with their freshness; None for text from no file.
        keys: identities of the content; two pieces that share a key are never shown together.
        next_line: the first line of the next piece in the file, 0 if unknown: adjacent pieces are joined.
        worth: the expected share of the answer in this piece; 0 if unknown.
        whole: first and last line of the declaration that this is a part of.
    """

    text: str
    why: tuple[str, ...]
    form: Form = Form.WHOLE
    place: Evidence | None = None
    keys: tuple[str, ...] = ()
    next_line: int = 0
    worth: float = 0.0
    whole: tuple[int, int] | None = None

    @property
    def brief(self) -> bool:
        """True for a signature, the fallback for longer forms."""
        return self.form is Form.SIGNATURE


Offer = tuple[Piece, ...]  # the forms of one piece of code, the fullest first; at most one is shown


@dataclass(frozen=True, slots=True)
class Section:
    """Offers of one kind, the best first.

    Attributes:
        share: of the budget, in proportion to all shares.
        full: number of offers shown in full, None for all. The others show signatures, unless budget is left at the end.
    """

    name: str
    share: float
    offers: Sequence[Offer]
    full: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """The chosen pieces of a section, the best first."""

    name: str
    pieces: tuple[Piece, ...]


# Makes further sections, such as notes, from the evidence that will be shown.
Source = Callable[[Sequence[Evidence]], Sequence[Section]]


@dataclass(frozen=True, slots=True)
class Context:
    """The code and notes for a task, within a budget.

    Attributes:
        task: as given.
        text: the whole answer; never more than `budget` tokens.
        tokens: tokens of `text`, by `counter`.
        budget: the most tokens allowed.
        counter: the name of the token counter.
        verdict, probability, reason, nearest, searched: of the search for the task, see `types.Answer`.
        parts: the shown pieces, by section.
        left_out: number of offers that did not fit.
        shown_before: number of offers that the session was shown before.
    """

    task: str
    text: str
    tokens: int
    budget: int
    counter: str
    verdict: Verdict
    probability: float
    reason: str = ""
    nearest: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    left_out: int = 0
    shown_before: int = 0
    searched: int = 0

    @property
    def answer(self) -> Answer:
        """The matches as an answer, with the shown lines only.

        A match shown as a signature has no lines.
        """
        matches = self.parts[0].pieces if self.parts else ()
        evidence = tuple(
            replace(piece.place, snippet="" if piece.brief else piece.text, best_line=0)
            for piece in matches
            if piece.place is not None
        )
        return Answer(
            self.task, self.verdict, self.probability, evidence, self.reason, self.nearest, searched=self.searched
        )

    @property
    def shown(self) -> tuple[Evidence, ...]:
        """The evidence whose lines are in the text."""
        pieces = (piece for part in self.parts for piece in part.pieces if piece.form in CODE)
        return tuple(piece.place for piece in pieces if piece.place is not None)

    def __bool__(self) -> bool:
        """True when the context shows anything."""
        return any(part.pieces for part in self.parts)


SURE_SHARE, UNSURE_SHARE = 0.5, 0.2  # of the budget for one piece, if a shorter form also shows code
POINTERS = 0.08  # of the budget, reserved for signatures in files of which nothing else is shown
COST_COUNTS = 0.7  # exponent of the tokens in worth / tokens
VAIN = 20  # pages counted in vain before the rest of a section is left out
LEAST_COST = 60  # tokens a piece counts for at least: tiny pieces cost a reader more than their tokens


def pack(
    sections: Sequence[Section],
    budget: int,
    price: Callable[[Piece], int],
    whole: Callable[[Sequence[Part]], int],
    probability: float = 1.0,
) -> tuple[Part, ...]:
    """Choose the pieces of each section, and their forms.

    Args:
        sections: in the order in which leftovers are handed on.
        budget: tokens of the whole page.
        price: returns the tokens a piece adds to the page, approximately.
        whole: returns the exact tokens of a page with these parts.
        probability: of the pieces holding the answer, 0..1; a less sure answer shows less of more pieces.

    >>> one, two = Piece("a" * 6, (), keys=("a",)), Piece("b" * 3, (), keys=("b",))
    >>> total = lambda parts: sum(len(piece.text) for part in parts for piece in part.pieces)
    >>> parts = pack([Section("found", 1, [(one,), (two,)])], 5, lambda piece: len(piece.text), total)
    >>> [piece.text for piece in parts[0].pieces]
    ['bbb']
    """
    packing = _Packing(sections, budget, price, whole, probability)
    if packing.spent < budget:
        packing.fill_shares()
        packing.shrink()
        packing.fill_rest()
    return packing.parts()


class _Packing:
    """The chosen form of each chosen offer, by section and place."""

    def __init__(
        self,
        sections: Sequence[Section],
        budget: int,
        price: Callable[[Piece], int],
        whole: Callable[[Sequence[Part]], int],
        probability: float,
    ) -> None:
        self._most_of_one = budget * (UNSURE_SHARE + (SURE_SHARE - UNSURE_SHARE) * probability)
        self._sections = sections
        self._budget = budget
        self._price = price
        self._whole = whole
        self._orders = [self._wanted(section) for section in sections]
        # The first section's most wanted offer, which the verdict is about; -1 without one
        self._best = (0, next(iter(self._orders[0]), -1)) if sections else (0, -1)
        self._taken: dict[tuple[int, int], Piece] = {}
        self._keys: set[str] = set()
        self.spent = whole(self.parts())

    def parts(self) -> tuple[Part, ...]:
        """Return the chosen pieces, each section in its own order."""
        by_section: list[list[Piece]] = [[] for _ in self._sections]
        for place in sorted(self._taken):
            by_section[place[0]].append(self._taken[place])
        return tuple(
            Part(section.name, tuple(pieces)) for section, pieces in zip(self._sections, by_section, strict=True)
        )

    def fill_shares(self) -> None:
        """Fill each section up to its share plus earlier leftovers.

        The best offer of the first section borrows from the others if its share is too small for it.
        """
        total = sum(section.share for section in self._sections)
        spare, room = self._budget - self.spent, 0.0
        for number, section in enumerate(self._sections):
            room += spare * section.share / total if total else spare / len(self._sections)
            borrowed = max(0.0, min(self._best_price(), spare) - room) if not number else 0.0
            room += borrowed
            left = self._fill(number, section, room, brief=False)
            if left == room:  # no full form fits: show signatures before the next sections take the room
                left = self._fill(number, section, room, brief=True)
            room = left - borrowed
        self._refill(room)

    def _refill(self, more: float) -> None:
        """Let the first section choose again with all leftovers."""
        own = [place for place in self._taken if not place[0]]
        room = more + sum(self._price(self._taken[place]) for place in own)
        for place in own:
            self._drop(place)
        if self._sections:
            kept = min(POINTERS * self._budget, max(0.0, room - self._best_price()))
            self._point(self._sections[0], kept + self._fill(0, self._sections[0], room - kept, brief=False))

    def _best_price(self) -> int:
        """Return the tokens of the best offer's shortest code; 0 without one."""
        offer = self._sections[0].offers[self._best[1]] if self._best[1] >= 0 else ()
        return min((self._price(piece) for piece in self._forms(offer, brief=False)), default=0)

    def _point(self, section: Section, room: float) -> None:
        """Show signatures of further files, the best first, one a file."""
        places = [piece.place for piece in self._taken.values() if piece.place]
        files = {(place.repo, place.path) for place in places}
        for number in sorted(range(len(section.offers)), key=lambda number: -section.offers[number][0].worth):
            for piece in self._forms(section.offers[number], brief=True):
                file = (piece.place.repo, piece.place.path) if piece.place else ("", "")
                price = self._price(piece)
                if file not in files and price <= room and self._is_new(piece):
                    self._take((0, number), piece)
                    files.add(file)
                    room -= price

    def _fill(self, number: int, section: Section, room: float, *, brief: bool) -> float:
        """Take pieces that fit, fullest form first; return the leftover."""
        full = 0
        for place in self._orders[number]:
            offer = section.offers[place]
            forms = [*self._forms(offer, brief=brief or full == section.full)]
            if (number, place) == self._best:
                forms += self._forms(offer, brief=True)
            for piece in forms:
                price = self._price(piece)
                if price <= room and self._is_new(piece):
                    self._take((number, place), piece)
                    room -= price
                    full += not piece.brief
                    break
        return room

    def shrink(self) -> None:
        """Drop the last pieces until the page fits, the best offer last.

        Prices are of single pieces, and a page takes more than their sum.
        """
        self.spent = self._whole(self.parts())
        while self.spent > self._budget and self._taken:
            self._drop(next((place for place in reversed(self._taken) if place != self._best), self._best))
            self.spent = self._whole(self.parts())

    def fill_rest(self) -> None:
        """Spend the rest on pieces that fit, counting whole pages."""
        for brief in (False, True):
            for number, section in enumerate(self._sections):
                vain = 0
                for place in self._orders[number]:
                    if (number, place) not in self._taken and vain < VAIN:
                        vain += self._try((number, place), [p for p in section.offers[place] if p.brief is brief])

    def _try(self, place: tuple[int, int], forms: Sequence[Piece]) -> int:
        """Take the first form that fits; return pages counted in vain."""
        vain = 0
        for piece in forms:
            if self._is_new(piece) and self._price(piece) <= self._budget - self.spent:
                self._take(place, piece)
                spent = self._whole(self.parts())
                if spent <= self._budget:
                    self.spent = spent
                    return vain
                self._drop(place)
                vain += 1
        return vain

    def _wanted(self, section: Section) -> list[int]:
        """Return the places of a section's offers by worth per token."""

        def rate(place: int) -> float:
            offer = section.offers[place]
            piece = next(self._forms(offer, brief=False), offer[0])
            return piece.worth / max(1, LEAST_COST, self._price(piece)) ** COST_COUNTS if piece.worth else 0.0

        return sorted(range(len(section.offers)), key=rate, reverse=True)

    def _forms(self, offer: Offer, *, brief: bool) -> Iterator[Piece]:
        """Yield an offer's signatures, or its fuller forms.

        A very long form is skipped if there is a shorter one.
        """
        forms = [piece for piece in offer if piece.brief is brief]
        for piece in forms:
            if piece is forms[-1] or self._price(piece) <= self._most_of_one:
                yield piece

    def _is_new(self, piece: Piece) -> bool:
        return self._keys.isdisjoint(piece.keys)

    def _take(self, place: tuple[int, int], piece: Piece) -> None:
        self._taken[place] = piece
        self._keys.update(piece.keys)

    def _drop(self, place: tuple[int, int]) -> None:
        self._keys.difference_update(self._taken.pop(place).keys)

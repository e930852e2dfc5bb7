"""Packing: the choice of pieces within a token budget.

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

from vademecum.answers.piece import Offer, Part, Piece, Section

SURE_SHARE, UNSURE_SHARE = 0.5, 0.2  # of the budget for one piece, if a shorter form also shows code
POINTERS = 0.08  # of the budget, reserved for signatures in files of which nothing else is shown
COST_COUNTS = 0.7  # exponent of the tokens in worth / tokens
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
                for place in self._orders[number]:
                    if (number, place) not in self._taken:
                        self._try((number, place), [p for p in section.offers[place] if p.brief is brief])

    def _try(self, place: tuple[int, int], forms: Sequence[Piece]) -> None:
        for piece in forms:
            if self._is_new(piece) and self._price(piece) <= self._budget - self.spent:
                self._take(place, piece)
                spent = self._whole(self.parts())
                if spent <= self._budget:
                    self.spent = spent
                    return
                self._drop(place)

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

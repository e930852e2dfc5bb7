"""The flow of `search` and `context`, within a budget.

`context` adds related code to the matches.

find → offer in several forms → add relations and notes → pack → render
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vademecum.amounts import counted
from vademecum.answers import document
from vademecum.answers.document import Heading
from vademecum.answers.pack import pack
from vademecum.answers.piece import Context, Offer, Part, Piece, Section, Source
from vademecum.context.primary import ChunksOf, Search, find, of_use, offers_of
from vademecum.errors import UsageError
from vademecum.protocols import TokenCounter
from vademecum.settings import SearchSettings
from vademecum.types import Evidence

if TYPE_CHECKING:
    from vademecum.context.shown import Turn

NO_BUDGET = 1_000_000  # tokens, when results and lines are limited instead
FORMATS = ("markdown", "json")
IN_FULL = 1  # neighbours shown whole; others seldom need a change, so their signatures suffice
DEFAULT_SHARES = (60.0, 30.0, 10.0)  # primary, related, graph: CodeRAG design decision 5


@dataclass(frozen=True, slots=True)
class Makers:
    """The functions and settings that make a context.

    Attributes:
        search: answers a question with so many pieces of evidence.
        pieces: returns every piece of a file, given its path and repository.
        counter: counts tokens.
        related: returns the offers of the sections `related` and `graph` for some evidence.
        sources: make further sections, such as notes about the shown code.
        home: the folder that holds sessions.
    """

    search: Search
    pieces: ChunksOf
    counter: TokenCounter
    related: Callable[[str, Sequence[Evidence]], tuple[Sequence[Offer], Sequence[Offer]]]
    sources: Sequence[Source]
    home: Path
    shares: tuple[float, float, float] = DEFAULT_SHARES
    name_repos: bool = False
    clock: Callable[[], float] = field(default=time.time)


def sized(
    own: SearchSettings, budget: int | None, most: int | None, lines: int | None
) -> tuple[int, int | None, int | None]:
    """Return the most tokens, results and lines.

    The budget decides unless results or lines are given.

    >>> sized(SearchSettings(), None, None, None), sized(SearchSettings(), None, 3, None)
    ((750, None, None), (1000000, 3, 10))
    """
    if most is None and lines is None:
        return own.budget if budget is None else budget, None, None
    return (
        NO_BUDGET if budget is None else budget,
        own.k if most is None else most,
        own.snippet_lines if lines is None else lines,
    )


def search(makers: Makers, question: str, budget: int, *, most: int | None = None, lines: int | None = None) -> Context:
    """Answer a question within a budget; arguments and errors as of `Engine.search`."""
    check(budget, FORMATS[0])
    answer = find(makers.search, question, budget)
    offers = offers_of(question, answer.evidence, makers.pieces, budget, lines=lines)[:most]
    sections = [Section("primary", makers.shares[0], offers)]
    sections += [section for source in makers.sources for section in source(answer.evidence)]
    return answered(makers, Heading(question, answer, name_repos=makers.name_repos), sections, budget, FORMATS[0])


def context(makers: Makers, task: str, budget: int, *, session: str = "", form: str = "markdown") -> Context:
    """Return the code for a task; arguments and errors as of `Engine.context`."""
    check(budget, form)
    answer = of_use(find(makers.search, task, budget))
    related, graph = makers.related(task, answer.evidence)
    shares = makers.shares
    beside = [
        Section("related", shares[1], related, IN_FULL), Section("graph", shares[2], graph),
        *(section for source in makers.sources for section in source(answer.evidence)),
    ]  # fmt: skip
    from vademecum.context.shown import turn

    with turn(makers.home, session, makers.clock) as own:
        offers = offers_of(task, answer.evidence, makers.pieces, budget, seen=own.shown)
        fresh = [unseen(section, own) for section in (Section("primary", shares[0], offers), *beside)]
        heading = Heading(task, answer, name_repos=makers.name_repos, shown_before=own.left)
        found = answered(makers, heading, fresh, budget, form)
        own.remember(found.parts)
    return found


def answered(makers: Makers, heading: Heading, sections: Sequence[Section], budget: int, form: str) -> Context:
    """Return sections packed into a budget, as text and as pieces."""
    page = Page(heading, budget, makers.counter, form)
    parts, text = page.packed(sections)
    if reason := page.too_long(sections, parts):
        answer = replace(heading.answer, reason="; ".join(filter(None, (heading.answer.reason, reason))))
        heading = replace(heading, answer=answer)
        told, with_reason = Page(heading, budget, makers.counter, form).packed(sections)
        parts, text = (told, with_reason) if with_reason else (parts, text)
    answer = heading.answer
    left_out = sum(len(section.offers) for section in sections) - sum(len(part.pieces) for part in parts)
    return Context(
        heading.task, text, makers.counter.count(text), budget, makers.counter.name, answer.verdict,
        answer.probability, answer.reason, answer.nearest, parts, left_out, heading.shown_before, answer.searched,
    )  # fmt: skip


def check(budget: int, form: str) -> None:
    """Refuse an impossible budget or an unknown form."""
    if budget < 1:
        raise UsageError(f"a budget of {budget} tokens holds nothing: give at least 1, as a rule some thousands")
    if form not in FORMATS:
        raise UsageError(f"form {form!r} is not one of {', '.join(FORMATS)}")


def unseen(section: Section, own: Turn) -> Section:
    """Return a section without pieces the session was shown."""
    offers = [tuple(piece for piece in offer if own.is_new(piece)) for offer in section.offers]
    own.left += sum(not left for left in offers)
    return replace(section, offers=[left for left in offers if left])


@dataclass(frozen=True, slots=True)
class Page:
    """A page to fill with pieces, within a budget."""

    heading: Heading
    budget: int
    counter: TokenCounter
    form: str
    prices: dict[int, int] = field(default_factory=dict)  # by identity, because each piece is priced often

    def packed(self, sections: Sequence[Section]) -> tuple[tuple[Part, ...], str]:
        """Return the chosen parts and their page."""
        parts = pack(sections, self.budget, self._price, self._tokens, self.heading.answer.probability)
        text = self._whole(parts)
        if self.counter.count(text) <= self.budget:
            return parts, text
        return tuple(Part(part.name, ()) for part in parts), ""

    def too_long(self, sections: Sequence[Section], parts: Sequence[Part]) -> str:
        """Return the reason that some matches fit no page; "" if all fit."""
        shown = {id(piece) for piece in parts[0].pieces}
        room = self.budget - self._tokens(())
        left = [offer for offer in sections[0].offers if shown.isdisjoint(map(id, offer))]
        long = [offer[-1] for offer in left if self._price(offer[-1]) > room]  # the last form is the shortest
        if not long:
            return ""
        needed = self.budget + self._tokens([Part(sections[0].name, (min(long, key=self._price),))])
        seen = "it" if len(long) == 1 else "the shortest"
        one = counted(len(long), "result")
        return f"{one} alone would take more than {self.budget} tokens: give a budget of {-(-needed // 100)}00 to see {seen}"

    def _price(self, piece: Piece) -> int:
        if id(piece) not in self.prices:
            names = self.heading.name_repos
            alone = document.alone(piece, name_repos=names) if self.form == "markdown" else document.alone_text(piece)
            self.prices[id(piece)] = self.counter.count(alone)
        return self.prices[id(piece)]

    def _tokens(self, parts: Sequence[Part]) -> int:
        return self.counter.count(self._whole(parts))

    def _whole(self, parts: Sequence[Part]) -> str:
        if self.form == "markdown":
            return document.markdown(self.heading, parts)
        return document.record_text(self.heading, parts, {"budget": self.budget, "counter": self.counter.name})

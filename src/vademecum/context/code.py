"""The flow of `search` and `context`, within a budget.

`context` adds related code to the matches.

find → offer in several forms → add relations and notes → pack → render
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

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
    from vademecum.context.session import Turn

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
    """Return the code that answers a question, within a budget.

    Arguments and errors are those of `Engine.search`.
    """
    check(budget, FORMATS[0])
    answer = find(makers.search, question, budget)
    offers = offers_of(question, answer.evidence, makers.pieces, budget, lines=lines)[:most]
    sections = [Section("primary", makers.shares[0], offers)]
    sections += [section for source in makers.sources for section in source(answer.evidence)]
    return answered(makers, Heading(question, answer, name_repos=makers.name_repos), sections, budget, FORMATS[0])


def context(makers: Makers, task: str, budget: int, *, session: str = "", form: str = "markdown") -> Context:
    """Return the code for a task: matches, related code, edges.

    Arguments and errors are those of `Engine.context`.
    """
    check(budget, form)
    answer = of_use(find(makers.search, task, budget))
    related, graph = makers.related(task, answer.evidence)
    shares = makers.shares
    beside = [
        Section("related", shares[1], related, IN_FULL), Section("graph", shares[2], graph),
        *(section for source in makers.sources for section in source(answer.evidence)),
    ]  # fmt: skip
    from vademecum.context.session import turn

    with turn(makers.home, session, makers.clock) as own:
        offers = offers_of(task, answer.evidence, makers.pieces, budget, seen=own.shown)
        fresh = [unseen(section, own) for section in (Section("primary", shares[0], offers), *beside)]
        heading = Heading(task, answer, name_repos=makers.name_repos, shown_before=own.left)
        found = answered(makers, heading, fresh, budget, form)
        own.remember(found.parts)
    return found


def answered(makers: Makers, heading: Heading, sections: Sequence[Section], budget: int, form: str) -> Context:
    """Return sections packed into a budget, as text and as pieces."""
    answer = heading.answer
    parts, text = packed(heading, sections, budget, makers.counter, form)
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


def packed(
    heading: Heading, sections: Sequence[Section], budget: int, counter: TokenCounter, form: str
) -> tuple[tuple[Part, ...], str]:
    """Return the chosen parts and their page."""

    def whole(parts: Sequence[Part]) -> str:
        if form == "markdown":
            return document.markdown(heading, parts)
        return document.record_text(heading, parts, {"budget": budget, "counter": counter.name})

    alone = partial(document.alone, name_repos=heading.name_repos) if form == "markdown" else document.alone_text
    prices: dict[int, int] = {}  # by identity, because each piece is priced often

    def price(piece: Piece) -> int:
        if id(piece) not in prices:
            prices[id(piece)] = counter.count(alone(piece))
        return prices[id(piece)]

    parts = pack(sections, budget, price, lambda parts: counter.count(whole(parts)), heading.answer.probability)
    text = whole(parts)
    return (parts, text) if counter.count(text) <= budget else (tuple(Part(part.name, ()) for part in parts), "")

"""The flow of `search` and `context`, within a budget.

`context` adds related code to the matches.

find → offer in several forms → add relations and notes → pack → render

Code and events are stored separately, each with its own metadata (MnemoLite ADR-001: separate tables, a merge where both
are asked). Their scores mean different things, so the merge goes by rank: reciprocal rank fusion, k = 60.

In a session no piece is shown twice. An agent chooses its name. The keys of shown pieces are below the data directory, one file per session, a key a
line, under a lock: two processes that ask in one session at once never show the same piece. A key names content, not
lines, so changed content is new. A file that did not grow for 30 days is deleted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vademecum.amounts import counted
from vademecum.answers import document
from vademecum.answers.document import Heading
from vademecum.answers.pack import Context, Offer, Part, Piece, Section, Source, pack
from vademecum.context.primary import ChunksOf, Search, find, of_use, offers_of
from vademecum.digests import blake2b
from vademecum.errors import StoreError, UsageError
from vademecum.index.fusion import RRF_K
from vademecum.private import exclusive, private_opener
from vademecum.protocols import TokenCounter
from vademecum.settings import SearchSettings
from vademecum.types import Answer, Evidence, Verdict

if TYPE_CHECKING:  # a search of code alone loads no memory
    from vademecum.memory.records import Evidence as Memory
    from vademecum.memory.records import Recalled

WAIT_SECONDS = 30.0  # another process of the session needs a fraction of a second
KEPT_SECONDS = 30 * 86_400.0
LONGEST_NAME = 200
_BRIEFLY = "signature "  # prefix of keys shown as signatures; these may still be shown whole


@dataclass(slots=True)
class Turn:
    """One answer in a session: keys shown before, and pieces left out."""

    shown: frozenset[str] = frozenset()
    left: int = 0
    _path: Path | None = field(default=None, repr=False)

    def is_new(self, piece: Piece) -> bool:
        """Return whether the session was shown nothing of a piece."""
        keys = {*piece.keys, *(_BRIEFLY + key for key in piece.keys if piece.brief)}
        return self.shown.isdisjoint(keys)

    def remember(self, parts: Iterable[Part]) -> None:
        """Store the keys of the pieces about to be shown. Raises `StoreError`."""
        if self._path is None:
            return
        keys = [_BRIEFLY + key if piece.brief else key for part in parts for piece in part.pieces for key in piece.keys]
        try:
            torn = self._path.exists() and not self._path.read_bytes().endswith(b"\n")  # a process died while writing
            with open(self._path, "ab", opener=private_opener) as file:
                file.write(b"\n" * torn + "".join(f"{key}\n" for key in keys).encode("utf-8", "surrogatepass"))
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror}; ask without a session") from error


@contextmanager
def turn(home: Path, session: str, clock: Callable[[], float] = time.time) -> Iterator[Turn]:
    """Open one turn of a session, with its shown keys.

    Other answers of the session wait until this turn ends.

    Raises:
        UsageError: the name is too long.
        StoreError: the session's file cannot be read or written.
    """
    if not session:
        yield Turn()
        return
    if len(session) > LONGEST_NAME:
        raise UsageError(f"a session's name of {len(session)} characters is too long: take {LONGEST_NAME} at most")
    folder = home / "sessions"
    name = blake2b(session.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    with exclusive(folder / f"{name}.lock", WAIT_SECONDS):
        _sweep(folder, clock() - KEPT_SECONDS)
        path = folder / f"{name}.shown"
        try:
            shown = path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}; ask without a session") from error
        yield Turn(frozenset(shown.split("\n")), 0, path)


def _sweep(folder: Path, before: float) -> None:
    for path in folder.glob("*.shown"):
        with suppress(OSError):  # another process was faster
            if path.stat().st_mtime < before:
                path.unlink()


@dataclass(frozen=True, slots=True)
class Unified:
    """The answers of code and memory, and both merged, best first."""

    code: Answer
    memory: Recalled
    merged: tuple[Evidence | Memory, ...]


def unified(code: Answer, memory: Recalled, k: int) -> Unified:
    """Merge two answers by rank.

    An answer with verdict `not_found` comes after the other, because its first result is no answer. Raises nothing; if
    both are empty, so is the merge.
    """
    ranked: list[tuple[float, int, Evidence | Memory]] = []
    both: list[tuple[Sequence[Evidence | Memory], Verdict]] = [
        (code.evidence, code.verdict),
        (memory.evidence, memory.verdict),
    ]
    for place, (found, verdict) in enumerate(both):
        behind = 0.0 if verdict is not Verdict.NOT_FOUND else 1.0
        ranked += [(1 / (RRF_K + rank) - behind, place, item) for rank, item in enumerate(found, 1)]
    ranked.sort(key=lambda each: (-each[0], each[1]))
    return Unified(code, memory, tuple(item for _, _, item in ranked[:k]))


# An ambiguous answer less probable than this names its best places and shows no code, unless a size is asked for
SHOWN_FROM, PLACES = 0.3, 3
PLACES_ALONE = "this is hardly an answer, so only the nearest places are named"
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


def search(
    makers: Makers,
    question: str,
    budget: int,
    *,
    most: int | None = None,
    lines: int | None = None,
    usual: bool = False,
) -> Context:
    """Answer a question within a budget; arguments and errors as of `Engine.search`.

    `usual` says that nobody named a size: an answer that hardly is one then names places alone.
    """
    check(budget, FORMATS[0])
    answer = find(makers.search, question, budget)
    offers = offers_of(question, answer.evidence, makers.pieces, budget, lines=lines)[:most]
    if usual and answer.verdict is Verdict.AMBIGUOUS and answer.probability < SHOWN_FROM:
        offers = [offer[-1:] for offer in offers[:PLACES]]
        answer = replace(answer, reason="; ".join(filter(None, (answer.reason, PLACES_ALONE))))
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

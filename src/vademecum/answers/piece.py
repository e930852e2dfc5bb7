"""Pieces of a context, their forms, and sections sharing a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

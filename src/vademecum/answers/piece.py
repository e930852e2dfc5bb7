"""What a context is made of: pieces, the forms each may be shown in, and the sections that share a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from vademecum.protocols import Reranker
from vademecum.types import Answer, Evidence, Verdict


class Form(StrEnum):
    """How much of something is shown."""

    WHOLE = "whole"  # a declaration, or any other piece of a file, from first to last line
    PART = "part"  # the parts of a long declaration that match
    PASSAGE = "passage"  # pieces of a file that match and stand near each other, with what lies between them
    LINES = "lines"  # the lines of a declaration that match best
    SIGNATURE = "signature"  # its first line only
    LINE = "line"  # a line that is no code: what calls what, a note


MATCHED = ("name", "words", "meaning", "path")  # reasons of a piece that matches the question; others are relations
CODE = frozenset({Form.WHOLE, Form.PART, Form.PASSAGE, Form.LINES})  # forms that show lines of a file as they are


@dataclass(frozen=True, slots=True)
class Within:
    """Limits of a question: the filters of `Codebase.search`, and how results are ranked.

    Attributes:
        paths: globs or directories that results lie in.
        exclude: globs of files that are not shown.
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
    """Something that may be shown.

    Attributes:
        text: what is shown, without the line end after it.
        why: why it is here: what of it matches the task, or how it belongs to what does.
        form: how much it is of what it is taken from.
        place: where it stands, and whether that still holds; None for what stands in no file.
        keys: what it is about; two pieces that share one are never shown together.
        next_line: where the next piece of its file begins, 0 where that is not known: pieces that touch are joined.
        worth: the share of all that is asked for that it is expected to hold; 0 where nothing tells.
    """

    text: str
    why: tuple[str, ...]
    form: Form = Form.WHOLE
    place: Evidence | None = None
    keys: tuple[str, ...] = ()
    next_line: int = 0
    worth: float = 0.0

    @property
    def brief(self) -> bool:
        """Whether it stands for something longer, and is shown only where that found no room."""
        return self.form is Form.SIGNATURE


Offer = tuple[Piece, ...]  # the forms of one thing, the fullest first: one of them is shown, or none


@dataclass(frozen=True, slots=True)
class Section:
    """Offers of one sort, the most wanted first.

    Attributes:
        share: of the budget, in proportion to all shares.
        full: how many of the offers are shown in full, the others by their signatures, as long as there is more to choose
            from elsewhere; None for all.
    """

    name: str
    share: float
    offers: Sequence[Offer]
    full: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """What was chosen from a section, the most wanted first."""

    name: str
    pieces: tuple[Piece, ...]


# What more there is to say about code that will be shown, such as notes about it: from its evidence to sections.
Source = Callable[[Sequence[Evidence]], Sequence[Section]]


@dataclass(frozen=True, slots=True)
class Context:
    """What to read for a task, within a budget.

    Attributes:
        task: as it was given.
        text: all of it, ready to be read; never more than `budget` tokens.
        tokens: how many tokens `text` is, by `counter`.
        budget: how many it could have been.
        counter: the name of what counted them.
        verdict, probability, reason, nearest, searched: of the search for the task, see `types.Answer`.
        parts: what is shown, by section.
        left_out: how many things were found and found no room.
        shown_before: how many were left out because the session has them.
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
        """The matches as an answer: each with exactly the lines that are shown of it, or with none."""
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
        """The evidence whose lines stand in the text."""
        pieces = (piece for part in self.parts for piece in part.pieces if piece.form in CODE)
        return tuple(piece.place for piece in pieces if piece.place is not None)

    def __bool__(self) -> bool:
        """True when it shows anything."""
        return any(part.pieces for part in self.parts)

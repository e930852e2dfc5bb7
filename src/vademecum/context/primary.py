"""What matches a task: the search for it, and what it found as passages that stand by themselves."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from types import MappingProxyType

import numpy as np

from vademecum.answers.document import HEADLINE_CHARACTERS, headline
from vademecum.answers.piece import MATCHED, Form, Offer, Piece
from vademecum.code.search.chunks import FileChunks
from vademecum.context.lines import LONG, WINDOW, Matching
from vademecum.errors import UsageError
from vademecum.index.spans import LONGEST, spans_of
from vademecum.types import Answer, Evidence, FileKind, Freshness

MOST_FOUND = 200  # pieces asked of a search: as many as ranking looks at closely
TOKENS_PER_PIECE = 25  # nothing that is worth a place is shorter
# Of a budget for each line that a passage may have: an eighth of it, a line of code being ten tokens
TOKENS_PER_LINE = 80
POINTED_AT = 0.5  # of a file's probability is what it is worth to be shown its best piece
# Documents that tell of earlier changes: nobody has to read or change them for a task
_NEWS = re.compile(
    r"(?:^|/)(?:change(?:log|s)|history|news|release(?:s|[-_ ]?notes)|what'?s[-_ ]?new|blog|_?posts)(?:[-_./]|$)",
    re.IGNORECASE,
)
_ASKS_FOR_NEWS = re.compile(r"\b(?:changelog|release|news|blog|announce)", re.IGNORECASE)
Search = Callable[[str, int], Answer]
ChunksOf = Callable[[str, str], FileChunks]  # path and repository to all pieces of the file, in order

_SIGNALS = tuple(zip(("definition", "lexical", "dense", "path"), MATCHED, strict=True))


def of_use(answer: Answer) -> Answer:
    """Return an answer without changelogs, release notes and blog posts, unless it is asked for them or has only those."""
    if _ASKS_FOR_NEWS.search(answer.query):
        return answer
    kept = tuple(item for item in answer.evidence if item.file_kind != FileKind.DOC or not _NEWS.search(item.path))
    return replace(answer, evidence=kept) if kept else answer


def find(search: Search, task: str, budget: int) -> Answer:
    """Return the answer to the task, with as much evidence as a budget could show.

    Raises:
        UsageError: the task is empty.
    """
    if not task.strip():
        raise UsageError("the task is empty: say what is to be done, in a line or in a page")
    return search(task, min(MOST_FOUND, max(10, budget // TOKENS_PER_PIECE)))


@dataclass(frozen=True, slots=True)
class Passage:
    """Matches near each other in one file: the best one, why each was found, and all the places that are shown."""

    best: Evidence
    reasons: tuple[str, ...]
    places: range


def offers_of(
    question: str,
    found: Sequence[Evidence],
    pieces: ChunksOf,
    budget: int,
    *,
    seen: AbstractSet[str] = frozenset(),
    lines: int | None = None,
) -> list[Offer]:
    """Return passages in their forms: whole declarations, matching chunks, matching lines, a signature.

    Args:
        question: the text that was asked.
        found: single pieces, best first.
        pieces: returns every piece of a file, given its path and repository.
        budget: tokens that all of it may take; a passage is about an eighth of that at most.
        seen: keys of what was shown before: no passage reaches across it.
        lines: lines of each offer at most, 0 for its signature only; no limit unless given.
    """
    worth, own = worth_of(found), dict.fromkeys((item.repo, item.path) for item in found)
    files = {(repo, path): File(pieces(path, repo), worth, seen) for repo, path in own}
    passages = passages_of(found, files, min(LONGEST, budget // TOKENS_PER_LINE))
    shown: dict[tuple[str, str], list[range]] = {}
    for each in passages:
        shown.setdefault((each.best.repo, each.best.path), []).append(each.places)
    matching = Matching(question, [item.snippet for item in found])
    return [
        limited(
            with_lines(
                files[file].offer(each.best, each.reasons, each.places, shown[file]), each.best, matching, lines
            ),
            lines,
        )
        for each in passages
        for file in [(each.best.repo, each.best.path)]
    ]


def with_lines(offer: Offer, best: Evidence, matching: Matching, most: int | None) -> Offer:
    """Return an offer with one more form before its signature: the lines of a long piece that match."""
    full = [form for form in offer if not form.brief]
    lines = best.snippet.split("\n")
    if (full[-1].text.count("\n") < most) if most else (len(lines) <= LONG):
        return offer
    first, last = matching.window(best.snippet, most or WINDOW)
    text = "\n".join(lines[first : last + 1])
    start = best.start_line + first
    place = replace(best, start_line=start, end_line=start + last - first, snippet=text)
    piece = Piece(text, offer[0].why, Form.LINES, place, (key_of(best),), 0, matching.share(best.snippet, first, last))
    return (*full, replace(piece, worth=piece.worth * full[-1].worth), *(form for form in offer if form.brief))


def limited(offer: Offer, lines: int | None) -> Offer:
    """Return the forms of an offer that have at most so many lines; its shortest where none has."""
    if lines is None:
        return offer
    fitting = tuple(form for form in offer if form.brief or form.text.count("\n") < lines)
    return fitting or offer[-1:]


def passages_of(found: Sequence[Evidence], files: Mapping[tuple[str, str], File], longest: int) -> list[Passage]:
    """Join what was found near each other, as a search joins its results, in so many lines at most; best first."""
    best = {name: max((item.signals.get(name, 0.0) for item in found), default=0.0) for name, _ in _SIGNALS}
    stretches: dict[tuple[object, ...], int] = {}
    rows = np.zeros((len(found), 2), np.int64)  # the place of each in its file, and a number for the stretch it is in
    for number, item in enumerate(found):
        file = files[item.repo, item.path]
        place = file.place_of(item)
        stretch = (number,) if place is None else (item.repo, item.path, file.stretches[place])
        rows[number] = place or 0, stretches.setdefault(stretch, len(stretches))
    lines = np.array([(item.start_line, item.end_line) for item in found], np.int64).reshape(-1, 2)
    worth = np.array([item.signals.get("worth", 0.0) for item in found])
    passages: list[Passage] = []
    for span in spans_of(rows[:, 0], rows[:, 1], lines, None, worth, len(found), longest=longest):
        inside = (rows[:, 1] == rows[span.place, 1]) & (span.first <= rows[:, 0]) & (rows[:, 0] <= span.last)
        reasons = dict.fromkeys(
            reason for number in np.flatnonzero(inside).tolist() for reason in why(found[number], best)
        )
        passages.append(Passage(found[span.place], tuple(reasons), range(span.first, span.last + 1)))
    return passages


def worth_of(found: Sequence[Evidence]) -> dict[str, float]:
    """Return for each piece, by its key, the share of the answer it is expected to hold; {} where the search says none.

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
    """All pieces of one file, and which of them belong together.

    Attributes:
        stretches: a number for each piece; those of one number follow each other, share no line, and were not shown before.
    """

    def __init__(
        self,
        pieces: FileChunks,
        worth: Mapping[str, float] = MappingProxyType({}),
        seen: AbstractSet[str] = frozenset(),
    ) -> None:
        self._worth = worth
        self._pieces = pieces
        shown = [bool(seen) and key_of(piece) in seen for piece in (pieces if seen else ())] or [False] * len(pieces)
        apart = (
            other[0] <= one[1] or before or after
            for (one, other), (before, after) in zip(pairwise(pieces.lines), pairwise(shown), strict=True)
        )
        self.stretches = tuple(accumulate(apart, initial=0))

    def at(self, ordinal: int, line: int) -> Evidence | None:
        """Return the piece of this number if it holds a line, else the first that does; None where none does."""
        places = (place for place, (first, last) in enumerate(self._pieces.lines) if first <= line <= last)
        holding = list(places)
        place = ordinal if ordinal in holding else next(iter(holding), None)
        return None if place is None else self._pieces[place]

    def place_of(self, item: Evidence) -> int | None:
        """Return the place of evidence among the file's pieces; None where the file was changed since."""
        lines = self._pieces.lines
        for place in range(bisect_left(lines, (item.start_line, 0)), bisect_left(lines, (item.start_line + 1, 0))):
            if key_of(self._pieces[place]) == key_of(item):
                return place if self._pieces[place].freshness is Freshness.FRESH else None
        return None

    def offer(
        self, best: Evidence, reason: tuple[str, ...], passage: range = range(0), others: Sequence[range] = ()
    ) -> Offer:
        """Return the forms of a passage: its whole declarations, unless another passage shows parts of them; itself; a signature.

        Args:
            best: what stands for it.
            reason: why it is here.
            passage: the places it shows; that of `best` alone unless given.
            others: the places that all passages of the file show.
        """
        place = self.place_of(best)
        if place is None:
            forms = [self._piece([best], best, reason, Form.WHOLE, len(self._pieces))]
            declared = forms[0]
        else:
            own = passage or range(place, place + 1)
            wide = range(self._declaration(own[0])[0], self._declaration(own[-1])[-1] + 1)
            widened = wide != own and all(_fits(other, wide) for other in others if other != own)
            forms = [self._run(each, best, reason) for each in ([wide] if widened else []) + [own]]
            declared = self._run(self._declaration(place), best, reason)
        said = best.signature or headline(best.snippet)[:HEADLINE_CHARACTERS]
        if said and declared.place:
            forms.append(Piece(said, reason, Form.SIGNATURE, replace(declared.place, snippet=said), forms[0].keys))
        return tuple(forms)

    def _declaration(self, place: int) -> range:
        """Return the places of all parts of the declaration that a piece belongs to; its own where it belongs to none."""
        known = self._pieces[place].metadata
        first = place - known.get("part", 1) + 1
        return range(first, first + known.get("parts", 1)) if first >= 0 else range(place, place + 1)

    def _run(self, places: range, best: Evidence, reason: tuple[str, ...]) -> Piece:
        """Return pieces that follow each other as one."""
        declared = self._declaration(places[0])
        form = Form.WHOLE if places == declared else Form.PART if places[-1] in declared else Form.PASSAGE
        return self._piece([self._pieces[place] for place in places], best, reason, form, places[-1] + 1)

    def _piece(
        self, pieces: Sequence[Evidence], best: Evidence, reason: tuple[str, ...], form: Form, after: int
    ) -> Piece:
        first, last = pieces[0], pieces[-1]
        lines: list[str] = []
        for piece in pieces:
            lines += [""] * (piece.start_line - first.start_line - len(lines))
            lines += piece.snippet.split("\n")
        text = "\n".join(lines)
        place = best
        if len(pieces) > 1:
            symbols = tuple(dict.fromkeys(name for piece in (best, *pieces) for name in piece.symbols))
            place = replace(best, start_line=first.start_line, end_line=last.end_line, snippet=text, symbols=symbols)
        keys = tuple(map(key_of, pieces))
        following = self._pieces.lines[after][0] if after < len(self._pieces) else 0
        return Piece(text, reason, form, place, keys, following, sum(self._worth.get(key, 0.0) for key in keys))


def _fits(one: range, wide: range) -> bool:
    """Whether all places lie in the others or none does, so that no two passages share a part."""
    return one[-1] < wide[0] or one[0] > wide[-1] or (wide[0] <= one[0] and one[-1] <= wide[-1])

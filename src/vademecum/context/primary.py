"""Matches of a task: the search, and its results as passages."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import accumulate, chain, compress, pairwise
from math import fsum, log
from operator import not_
from types import MappingProxyType

import numpy as np

from vademecum.answers.document import HEADLINE_CHARACTERS, headline
from vademecum.answers.pack import MATCHED, Form, Offer, Piece
from vademecum.code.checkout.classify import asks_for_news, is_news
from vademecum.code.search.evidence import LONGEST, PRICE, FileChunks, spans_of
from vademecum.errors import UsageError
from vademecum.index.query import main_request, places_in, title_of
from vademecum.index.tokenize import query_terms, run_terms, runs
from vademecum.types import Answer, Evidence, FileKind, Freshness

WINDOW = 20  # lines shown of a chunk that is longer than LONG
LONG = 50  # lines; shorter chunks are shown whole (docs/context.md)
# Budget tokens for each line of a window, and characters for each budget token: a longer chunk has no room whole
TOKENS_PER_WINDOW_LINE, CHARACTERS_PER_TOKEN = 30, 2.5
FIRST_LINE = 0.5  # weight of a chunk's first line, its declaration, relative to the commonest term
NAMED = 100.0  # weight of a line that the question names, as a trace does: more than all words of a window
TITLE = 2.0  # factor for terms in the first line of a long question
MOST_FOUND = 200  # pieces a search returns at most; ranking examines as many closely
TOKENS_PER_PIECE = 25  # no useful piece is shorter
# Budget tokens for each line of a passage: a passage takes an eighth of the budget, at ten tokens a line
TOKENS_PER_LINE = 80
POINTED_AT = 0.5  # factor of a file's probability that is added to the worth of its best piece
# Passages worth less, and less than a tenth of the best, are named: shown, they bring next to nothing (docs/context.md).
# The best few are shown whatever they are worth.
LEAST_WORTH, LEAST_OF_BEST, BEST = 0.01, 0.1, 5
MOST_NAMED = 20  # of them
# Of further files, one for each so many tokens over a budget that is full without them, the few lines that match best are
# shown instead, if worth it and if there is room
FEW, FULL_BUDGET, TOKENS_PER_FILE, WORTH_OF_FEW = 4, 4_000, 400, 0.003
Search = Callable[[str, int], Answer]
ChunksOf = Callable[[str, str], FileChunks]  # path and repository to all pieces of the file, in order

_SIGNALS = tuple(zip(("definition", "lexical", "dense", "path", "history"), MATCHED, strict=True))


class Matching:
    """Weights of a question's terms, by their rarity in the results.

    A term's rarity is the number of lines that have it, in the snippets of the found chunks.
    """

    def __init__(self, question: str, snippets: Sequence[str]) -> None:
        self._title, self._snippets, self._places = title_of(question), snippets, places_in(question)
        asked = frozenset(query_terms(main_request(question))[0])
        # cached, because most names are on many lines
        self._asked_in = cache(lambda run: asked.intersection(run_terms(run)))

    @cached_property
    def _weights(self) -> dict[str, float]:
        title = set(query_terms(self._title)[0])
        lines = [line for snippet in self._snippets for line in snippet.split("\n")]
        counts = Counter(chain.from_iterable(map(self._matches, lines)))
        return {term: log(1 + len(lines) / count) * (TITLE if term in title else 1.0) for term, count in counts.items()}

    def _matches(self, line: str) -> set[str]:
        """Return the question's terms in a line."""
        return set().union(*map(self._asked_in, runs(line)))

    def window(self, piece: Evidence, most: int = WINDOW) -> tuple[int, int]:
        """Return first and last line of the best window, from 0."""
        sums = self._sums(piece)
        size = min(most, len(sums) - 1)
        first = max(range(len(sums) - size), key=lambda start: sums[start + size] - sums[start])
        return first, first + size - 1

    def share(self, piece: Evidence, first: int, last: int) -> float:
        """Return the share of a chunk's matches in some lines, 0..1."""
        sums = self._sums(piece)
        return (sums[last + 1] - sums[first]) / sums[-1] if sums[-1] else (last - first + 1) / (len(sums) - 1)

    def _sums(self, piece: Evidence) -> list[float]:
        weights = self._weights
        scores = [fsum(weights.get(term, 0.0) for term in self._matches(line)) for line in piece.snippet.split("\n")]
        scores[0] += FIRST_LINE
        for place in self._places:
            line, ends = place.first - piece.start_line, f"/{place.path}".endswith(f"/{piece.path}")
            if 0 <= line < len(scores) and (ends or f"/{piece.path}".endswith(f"/{place.path}")):
                scores[line] += NAMED
        return list(accumulate(scores, initial=0.0))


def of_use(answer: Answer) -> Answer:
    """Return an answer without changelogs, release notes and blog posts.

    They stay if the task asks for them, or if there is nothing else.
    """
    if asks_for_news(answer.query):
        return answer
    kept = tuple(item for item in answer.evidence if item.file_kind != FileKind.DOC or not is_news(item.path))
    return replace(answer, evidence=kept) if kept else answer


def find(search: Search, task: str, budget: int) -> Answer:
    """Search for the task, with evidence for the whole budget. Raises `UsageError`."""
    if not task.strip():
        raise UsageError("the question is empty: say what to look for, in a line or in a page")
    return search(task, min(MOST_FOUND, max(10, budget // TOKENS_PER_PIECE)))


@dataclass(frozen=True, slots=True)
class Passage:
    """Matches near each other in one file."""

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
    """Return passages as offers, each in several forms.

    The forms are whole declarations, matching chunks, matching lines, and a signature.

    Args:
        question: the question's text.
        found: single pieces, best first.
        pieces: returns every piece of a file, given its path and repository.
        budget: tokens of the whole answer; a passage takes about an eighth at most.
        seen: keys of pieces shown before; no passage includes these.
        lines: lines of each offer at most, 0 for its signature only; no limit unless given.
    """
    worth, own = worth_of(found), dict.fromkeys((item.repo, item.path) for item in found)
    files = {(repo, path): File(pieces(path, repo), worth, seen) for repo, path in own}
    passages = passages_of(found, files, min(LONGEST, budget // TOKENS_PER_LINE))
    shown: dict[tuple[str, str], list[range]] = {}
    for each in passages:
        shown.setdefault((each.best.repo, each.best.path), []).append(each.places)
    matching = Matching(question, [item.snippet for item in found])

    def offer_of(each: Passage, most: int | None) -> Offer:
        file = each.best.repo, each.best.path
        offer = files[file].offer(each.best, each.reasons, each.places, shown[file])
        return limited(with_lines(offer, each.best, matching, most, budget), most)

    offers = [offer_of(each, lines) for each in passages]
    if lines is not None:
        return offers
    return worth_showing(
        offers, lambda number: offer_of(passages[number], FEW), (budget - FULL_BUDGET) // TOKENS_PER_FILE
    )


def worth_showing(offers: Sequence[Offer], few_lines: Callable[[int], Offer], further: int) -> list[Offer]:
    """Return offers, those that add next to nothing as signatures.

    They are worth little, or less than their lines, and none of the best few, or say what a better one says. Only the
    first of them are kept. The best of each of some `further` files is shown by few lines; `few_lines` gives them, by an
    offer's number.
    """
    worth = [max(form.worth for form in offer) for offer in offers]
    best = sorted(worth, reverse=True)[:BEST] or [0.0]
    least, said = min(LEAST_WORTH, LEAST_OF_BEST * best[0], best[-1]), dict[str, Offer]()
    offers = [
        offer if own >= best[-1] else tuple(form for form in offer if form.brief or pays(form))
        for offer, own in zip(offers, worth, strict=True)
    ]
    adds = [
        own >= least and not offer[0].brief and said.setdefault(offer[0].text, offer) is offer
        for offer, own in zip(offers, worth, strict=True)
    ]
    files = {file_of(offer) for offer in compress(offers, adds)}
    few, named = list[Offer](), list[Offer]()
    for number, offer in compress(enumerate(offers), map(not_, adds)):
        is_first = worth[number] >= WORTH_OF_FEW and len(few) < further and file_of(offer) not in files
        if is_first and said.setdefault(offer[0].text, offer) is offer:
            files.add(file_of(offer))
            few.append(tuple(replace(form, worth=0.0) for form in few_lines(number)))  # after all that is worth more
        else:
            named.append(offer[-1:])
    return [*compress(offers, adds), *few, *named[:MOST_NAMED]]


def pays(form: Piece) -> bool:
    """Return whether a form is worth its lines."""
    return form.worth >= PRICE * (form.text.count("\n") + 1)


def file_of(offer: Offer) -> tuple[str, str]:
    """Return an offer's repository and path, empty without a place."""
    place = offer[0].place
    return (place.repo, place.path) if place else ("", "")


def with_lines(offer: Offer, best: Evidence, matching: Matching, most: int | None, budget: int) -> Offer:
    """Add the matching lines of a long piece to an offer.

    A piece that takes most of the budget is long, too.
    """
    full = [form for form in offer if not form.brief]
    fits = best.snippet.count("\n") < LONG and len(full[-1].text) <= CHARACTERS_PER_TOKEN * budget
    if full[-1].text.count("\n") < most if most else fits:
        return offer
    first, last = matching.window(best, most or max(1, min(WINDOW, budget // TOKENS_PER_WINDOW_LINE)))
    text = "\n".join(best.snippet.split("\n")[first : last + 1])
    start = best.start_line + first
    place = replace(best, start_line=start, end_line=start + last - first, snippet=text)
    around = offer[-1].place or best
    piece = Piece(
        text, offer[0].why, Form.LINES, place, (key_of(best),), 0, matching.share(best, first, last),
        (around.start_line, around.end_line),
    )  # fmt: skip
    return (*full, replace(piece, worth=piece.worth * full[-1].worth), *(form for form in offer if form.brief))


def limited(offer: Offer, lines: int | None) -> Offer:
    """Return an offer's forms that fit into lines, or the shortest."""
    if lines is None:
        return offer
    fitting = tuple(form for form in offer if form.brief or form.text.count("\n") < lines)
    return fitting or offer[-1:]


def passages_of(found: Sequence[Evidence], files: Mapping[tuple[str, str], File], longest: int) -> list[Passage]:
    """Join matches near each other into passages, best first.

    A search joins its results in the same way. A passage has `longest` lines at most.
    """
    best = {name: max((item.signals.get(name, 0.0) for item in found), default=0.0) for name, _ in _SIGNALS}
    stretches: dict[tuple[object, ...], int] = {}
    rows = np.zeros((len(found), 2), np.int64)  # (place in the file, number of the stretch)
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
    """Return each piece's expected share of the answer, by key.

    {} if the search gives none. The best piece of a file gets extra worth, because it points at the file. If a reranker
    ordered the pieces, worth follows that order.
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
    """Return the signals of a piece that are strong.

    A strong signal has at least half of the best piece's value.
    """
    return tuple(word for name, word in _SIGNALS if 0 < best[name] <= 2 * item.signals.get(name, 0.0))


def key_of(item: Evidence) -> str:
    """Return the identity of a piece's content at its path."""
    return f"{item.repo}:{item.path}:{item.id.rpartition(':')[2]}"


class File:
    """All pieces of one file, grouped into stretches.

    `stretches` numbers the pieces: those of one number follow each other, share no line, and were not shown before.
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
        """Return the piece of a line, preferably numbered `ordinal`; None without."""
        places = (place for place, (first, last) in enumerate(self._pieces.lines) if first <= line <= last)
        holding = list(places)
        place = ordinal if ordinal in holding else next(iter(holding), None)
        return None if place is None else self._pieces[place]

    def place_of(self, item: Evidence) -> int | None:
        """Return evidence's place among its file's pieces, None in a changed file."""
        lines = self._pieces.lines
        for place in range(bisect_left(lines, (item.start_line, 0)), bisect_left(lines, (item.start_line + 1, 0))):
            if key_of(self._pieces[place]) == key_of(item):
                return place if self._pieces[place].freshness is Freshness.FRESH else None
        return None

    def offer(
        self, best: Evidence, reason: tuple[str, ...], passage: range = range(0), others: Sequence[range] = ()
    ) -> Offer:
        """Return the forms of a passage, fullest first.

        The forms are its whole declarations, the passage itself (the places of its pieces; only `best` unless given), and a
        signature. Whole declarations are left out if one of `others`, the file's passages, shows parts of them.
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
        """Return the places of all parts of a piece's declaration.

        A piece that is no part of a declaration has its own place alone.
        """
        known = self._pieces[place].metadata
        first = place - known.get("part", 1) + 1
        return range(first, first + known.get("parts", 1)) if first >= 0 else range(place, place + 1)

    def _run(self, places: range, best: Evidence, reason: tuple[str, ...]) -> Piece:
        """Return consecutive pieces as one piece."""
        declared = self._declaration(places[0])
        form = Form.WHOLE if places == declared else Form.PART if places[-1] in declared else Form.PASSAGE
        run = self._piece([self._pieces[place] for place in places], best, reason, form, places[-1] + 1)
        lines = self._pieces.lines
        return replace(run, whole=(lines[declared[0]][0], lines[declared[-1]][1])) if form is Form.PART else run

    def _piece(
        self, pieces: Sequence[Evidence], best: Evidence, reason: tuple[str, ...], form: Form, after: int
    ) -> Piece:
        first, last = pieces[0], pieces[-1]
        lines: list[str] = []
        for piece in pieces:
            gap, own = piece.start_line - first.start_line - len(lines), piece.snippet.split("\n")
            if gap < 0:  # it begins in the last line
                lines[-1] += own.pop(0)
            lines += [""] * gap + own
        text = "\n".join(lines)
        place = best
        if len(pieces) > 1:
            symbols = tuple(dict.fromkeys(name for piece in (best, *pieces) for name in piece.symbols))
            place = replace(best, start_line=first.start_line, end_line=last.end_line, snippet=text, symbols=symbols)
        keys = tuple(map(key_of, pieces))
        following = self._pieces.lines[after][0] if after < len(self._pieces) else 0
        return Piece(text, reason, form, place, keys, following, sum(self._worth.get(key, 0.0) for key in keys))


def _fits(one: range, wide: range) -> bool:
    """Return whether `wide` has all places of a passage, or none."""
    return one[-1] < wide[0] or one[0] > wide[-1] or (wide[0] <= one[0] and one[-1] <= wide[-1])

"""Search: from a question to an answer with evidence.

plan query → words + meaning + names, for every chunk → filter → join → rank → confidence → freshness
→ rerank → evidence

Reranking of the first results by a provider.

If the provider fails, the order stays and the answer says so. A provider only sees evidence that passed every filter,
and only its scores are used: it can move results, but never add or change them. Verdict and probability do not change
either: they were fitted on the ranking's order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vademecum.code.checkout.classify import asks_for_news, is_news, is_translation
from vademecum.code.search.evidence import SAID, SAID_BY_TRANSLATION, gather_evidence, rows_that_say, texts_of
from vademecum.code.search.filters import allowed_masks, check_pattern
from vademecum.code.search.rank import (
    RANKERS,
    Ranked,
    fitted_for,
    meant_first,
    rank,
    set_aside,
    weighed_together,
    with_places,
)
from vademecum.code.search.signals import (
    Floats,
    Rows,
    Signals,
    as_path,
    as_qualified,
    known_ending,
    laid_end_to_end,
    rows_of_places,
    signals_of,
)
from vademecum.code.search.verdict import (
    missing_vectors,
    nearest_names,
    probability,
    translation_said,
    unwritten,
    verdict,
    why_not,
)
from vademecum.code.snapshot.repository import Opened
from vademecum.code.snapshot.view import FILE_KINDS, View
from vademecum.errors import RerankError, UsageError
from vademecum.index.query import Plan, place_of, plan_place, plan_query, title_of
from vademecum.metrics import counter, histogram, span
from vademecum.protocols import Reranker
from vademecum.result import Err, Ok, Result
from vademecum.types import KINDS, Answer, Evidence, FileKind, Passage, Query, Verdict

PASSAGE_CHARACTERS = 2_000  # about the 512 tokens that most cross-encoders read
QUESTION_CHARACTERS = 2_000  # an issue states its question before its log


@dataclass(frozen=True, slots=True)
class Reranking:
    """Settings for the final order of the first results.

    Attributes:
        name: "built-in", "none", or the provider's.
        provider: the reranker; None for the ranking's own order.
        depth: the number of results that the provider sees.
    """

    name: str = "built-in"
    provider: Reranker | None = None
    depth: int = 20


AS_RANKED = Reranking()


def rerank(
    by: Reranking, question: str, found: Callable[[int], tuple[Evidence, ...]], k: int
) -> tuple[tuple[Evidence, ...], str]:
    """Return the best `k` results, and "" or the provider's problem.

    With a problem the results keep their order.

    Args:
        by: The settings.
        question: The question's text.
        found: Returns the given number of results in ranking order.
        k: The number of results to return.
    """
    if by.provider is None:
        return found(k), ""
    ranked = found(max(k, by.depth))
    match scored(by.provider, question, ranked[: by.depth]):
        case Ok(scores):
            return (*by_score(ranked[: by.depth], scores), *ranked[by.depth :])[:k], ""
        case Err(error):
            return found(k), f"not reranked: {error}"


def by_score(ranked: Sequence[Evidence], scores: Sequence[float]) -> list[Evidence]:
    """Return evidence in order of `scores`, highest first.

    Equal scores keep their order. The new score joins the signals. The evidence's own score becomes that of its new
    place, so the scores still fall.
    """
    order = sorted(range(len(ranked)), key=lambda place: -scores[place])
    return [
        replace(ranked[old], score=place.score, signals={**ranked[old].signals, "rerank": round(scores[old], 4)})
        for old, place in zip(order, ranked, strict=True)
    ]


def scored(reranker: Reranker, question: str, ranked: Sequence[Evidence]) -> Result[list[float], RerankError]:
    """Return one finite score per piece of evidence, or an error."""
    if not ranked:
        return Ok([])
    passages = [passage_of(each) for each in ranked]
    outcome: object = reranker.rerank(_readable(question[:QUESTION_CHARACTERS]), passages)
    match outcome:
        case Ok(scores):
            return checked(reranker.name, scores, len(ranked))
        case Err(error):
            return Err(RerankError(" ".join(str(error).split())))
        case _:
            return Err(_malformed(reranker.name, "did not return a Result"))


def checked(name: str, scores: object, wanted: int) -> Result[list[float], RerankError]:
    """Return the scores as floats, or an error.

    >>> checked("mine", (2, 0.5), 2)
    Ok(value=[2.0, 0.5])
    >>> checked("mine", [1.0], 2).error
    RerankError("reranker 'mine' gave 1 scores for 2 passages: report it to its author, or choose another reranker")
    """
    try:
        numbers = [float(score) for score in scores]  # type: ignore[attr-defined] # checked here
    except (TypeError, ValueError, OverflowError):
        return Err(_malformed(name, "did not answer with numbers"))
    if len(numbers) != wanted:
        return Err(_malformed(name, f"gave {len(numbers)} scores for {wanted} passages"))
    if not all(map(math.isfinite, numbers)):
        return Err(_malformed(name, "gave a score that is not a number"))
    return Ok(numbers)


def _malformed(name: str, what: str) -> RerankError:
    return RerankError(f"reranker {name!r} {what}: report it to its author, or choose another reranker")


def passage_of(evidence: Evidence) -> Passage:
    """Return the text for a reranker: path, signature and first lines."""
    text = evidence.snippet
    if len(text) > PASSAGE_CHARACTERS:
        text = text[:PASSAGE_CHARACTERS].rpartition("\n")[0] or text[:PASSAGE_CHARACTERS]
    return Passage(_readable(text), _readable(evidence.signature), _readable(evidence.path))


def _readable(text: str) -> str:
    """Return text that UTF-8 can encode.

    A question typed in another encoding may hold lone surrogates.
    """
    return text.encode("utf-8", "replace").decode()


_STAGES = histogram("vademecum_search_stage_duration_seconds", "Seconds that a search took, by stage.")
_VERDICTS = counter("vademecum_search_verdicts_total", "Answers to searches, by verdict.")
_FRESHNESS = counter("vademecum_evidence_total", "Evidence shown, by freshness.")
_EMBEDDER = counter("vademecum_embedder_errors_total", "Questions that no vector could be made of.")
_BEHIND = counter("vademecum_vector_index_errors_total", "Searches that an index of vectors outside did not answer.")
for _errors in (_EMBEDDER, _BEHIND):
    _errors.add(0)  # starts at 0, so that the first error shows as a rise
JUDGED = 10  # results that confidence judges, even when `k` is lower
TITLED = ("default", "constants")  # rankers whose scores of two readings can be added
JOINED = (*TITLED, "fused")  # rankers that look at more candidates than requested


def search(opened: Sequence[Opened], query: Query, ranker: str = "default", reranking: Reranking = AS_RANKED) -> Answer:
    """Answer a question from one or several repositories.

    Results of all repositories are ranked against each other.

    Raises:
        UsageError: the question or a filter is not usable.
        StoreError: the database failed.
    """
    check_query(query, ranker)
    plan = read(opened, query.text)
    ranker = "fused" if ranker == "default" and reranking.name == "none" else ranker
    by = AS_RANKED if plan.is_bare else reranking  # a name's definitions come first
    with stage("filter"):
        masks = allowed_masks(opened, query)
    judged = max(query.k, JUDGED)
    request = Request(opened, query, masks, ranker, judged, max(judged, by.depth))
    found = together(*(find(request, reading) for reading in readings_of(plan, query.text, ranker)))
    decided = verdict(plan, found.ranked.first(judged), found.probable, found.unknown)
    _VERDICTS.add(verdict=str(decided))
    notes, translated = notes_of(opened), translation_said(opened, found.ranked)
    if decided is Verdict.NOT_FOUND:
        why = joined(why_not(opened, query, plan, found.ranked, found.unknown), translated, found.dense_note)
        return Answer(
            query.text, decided, 0.0 if plan.is_symbol else found.probable, (), as_it_stands(notes, why),
            nearest_names(opened, plan, found.unknown) if found.ranked.searched else (), found.ranked.searched,
        )  # fmt: skip
    with stage("rerank"):  # includes reading the evidence
        evidence, problem = rerank(by, query.text, lambda count: request.evidence(found.ranked, plan, count), query.k)
    for each in evidence:
        _FRESHNESS.add(freshness=each.freshness.value)
    reason = joined(found.trouble, found.dense_note, problem, notes, unwritten(plan, found.unknown), translated)
    return Answer(query.text, decided, found.probable, evidence, reason, (), found.ranked.searched)


def read(opened: Sequence[Opened], text: str) -> Plan:
    """Parse a question, as a location if one matches.

    A location needs a file of that path. It may have no line.
    """
    path, *lines = place_of(text) or (as_path(text), 0, 0)
    for each in opened:
        if path and (ending := known_ending(each.view.files, path)):
            return plan_place(ending, *lines)
    return plan_query(text)


def readings_of(plan: Plan, text: str, ranker: str) -> list[Plan]:
    """Return the readings of a question: the whole, and its title."""
    title = title_of(text) if ranker in TITLED else ""
    return [plan, replace(plan_query(title), places=plan.places)] if title else [plan]


def as_it_stands(notes: str, why: str) -> str:
    """Return the reason for no results, after any problem with the index.

    The problem may be the reason.
    """
    return "; as it stands, ".join(filter(None, (notes, why)))


def notes_of(opened: Sequence[Opened]) -> str:
    """Return the notes on problems with the indexes, or ""."""
    return joined(*dict.fromkeys(each.note for each in opened))


def joined(*notes: str) -> str:
    """Return the notes that say something, as one."""
    return "; ".join(filter(None, notes))


@dataclass(frozen=True, slots=True)
class Request:
    """The parts of a request shared by all readings of its question."""

    opened: Sequence[Opened]
    query: Query
    masks: Sequence[NDArray[np.bool_]] | None  # the allowed rows of each repository; None for all
    ranker: str
    judged: int  # candidates that confidence judges
    depth: int  # the largest number of results needed

    def cosines(self, vector: Floats | None) -> tuple[list[Floats | None], str]:
        """Return each repository's chunk cosines, float32 (N,), and a note.

        Without a vector there are none.
        """
        if vector is None:
            return [None] * len(self.opened), ""
        masks: Sequence[NDArray[np.bool_] | None] = self.masks or [None] * len(self.opened)
        pairs = [
            each.repo.dense.cosines(each.view, vector, self.query, mask)
            for each, mask in zip(self.opened, masks, strict=True)
        ]
        _BEHIND.add(sum(bool(note) for _, note in pairs))
        return [scores for scores, _ in pairs], joined(*dict.fromkeys(note for _, note in pairs))

    def evidence(self, ranked: Ranked, plan: Plan, count: int) -> tuple[Evidence, ...]:
        """Read the first results."""
        joins = self.query.joined and self.ranker in JOINED and not plan.is_bare
        # A pattern or symbol filters row by row: rows between two matches did not pass, so results do not span them.
        across = not (self.query.pattern or self.query.symbol)
        with stage("evidence"):
            return gather_evidence(self.opened, ranked, count, joined=joins, across=across)


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates for a question, their probability, and problems.

    `unknown` are the terms that no repository has.
    """

    ranked: Ranked
    probable: float
    unknown: set[str]
    trouble: str
    dense_note: str  # failures of external vector indexes


def find(request: Request, plan: Plan) -> Found:
    """Rank the allowed rows for one reading of the question."""
    opened, kinds = request.opened, KINDS[request.query.kind]
    with stage("question"):
        vector, trouble = question_vector(opened, plan, request.ranker)
    with stage("nearness"):
        dense, dense_note = request.cosines(vector)
    with stage("signals"):
        found = [
            signals_of(each.view, plan, vector, kinds, own, None if plan.is_bare else each.history)
            for each, own in zip(opened, dense, strict=True)
        ]
    embedder = "" if vector is None else opened[0].repo.embedder().name
    allowed = None if request.masks is None else np.flatnonzero(np.concatenate(request.masks))
    with stage("rank"):
        views, own_signals = [each.view for each in opened], [signals for signals, _ in found]
        ranked = ranked_together(
            views, own_signals, plan, allowed, request.depth, partial(texts_of, opened), ranker=request.ranker, embedder=embedder
        )  # fmt: skip
    unknown = set.intersection(*(terms for _, terms in found))
    trouble = joined(trouble, "" if vector is None else missing_vectors(opened))
    return Found(ranked, probability(ranked.first(request.judged), embedder), unknown, trouble, dense_note)


def ranked_together(
    views: Sequence[View],
    signals: Sequence[Signals],
    plan: Plan,
    allowed: Rows,
    depth: int,
    texts: Callable[[NDArray[np.int64]], Iterable[str]],
    *,
    ranker: str,
    embedder: str,
) -> Ranked:
    """Rank the rows of several views against each other.

    `texts` reads ascending rows: those that hold most of the question weigh like its places. `embedder` names the
    embedder of the question's vector, "" without one. Returns more than `depth` rows where more were looked at.
    """
    joined_signals = laid_end_to_end(as_qualified(views, signals, plan))
    ranked = rank(joined_signals, plan, allowed, depth, ranker, model=fitted_for(embedder))
    saying = np.zeros(0, np.int64)
    if ranker in JOINED and not plan.is_symbol:
        translations = _unasked(views, joined_signals, ranked.rows, FileKind.CONFIG, is_translation)
        news = _unasked(views, joined_signals, ranked.rows, FileKind.DOC, is_news) & (not asks_for_news(plan.text))
        if ranked.gain is not None:
            shares = np.where(news, np.inf, np.where(translations, SAID_BY_TRANSLATION, SAID))
            saying = rows_that_say(ranked, plan.text, texts, shares)
        ranked = set_aside(ranked, translations, news)
    if plan.places and ranked.gain is not None:
        rows, weights = rows_of_places(views, plan.places)
        passed = np.ones(len(rows), bool) if allowed is None else np.isin(rows, allowed)
        if passed.any():
            ranked = with_places(ranked, joined_signals, rows[passed], weights[passed])
    if plan.is_symbol:
        return meant_first(ranked)
    if len(saying):
        ranked = with_places(ranked, joined_signals, saying, np.ones(len(saying), np.float32))
    return ranked


def _unasked(
    views: Sequence[View], signals: Signals, rows: NDArray[np.int64], kind: FileKind, test: Callable[[str], bool]
) -> NDArray[np.bool_]:
    """Return the rows of unasked files that pass a test."""
    files, bases = signals.files.take(rows), np.cumsum([0, *(len(view.files) for view in views)])
    found = {}
    for file in np.unique(files[signals.unasked.take(files) == FILE_KINDS.index(kind)]).tolist():
        which = int(np.searchsorted(bases, file, side="right")) - 1
        found[file] = test(views[which].files.paths[file - bases[which]])
    return np.isin(files, [file for file, passed in found.items() if passed])


def together(whole: Found, title: Found | None = None) -> Found:
    """Join two readings by the mean of their scores.

    A long text is often an issue: its title states the topic, and the text adds other observations. Scores are expected
    gains, so they add up. Measured on issues and commits outside every reported evaluation (docs/ranking.md).
    """
    if title is None or not len(title.ranked.rows):
        return whole
    if not len(whole.ranked.rows):
        return title
    ranked = weighed_together([title.ranked, whole.ranked])
    return Found(ranked, max(whole.probable, title.probable), whole.unknown, whole.trouble, whole.dense_note)


def check_query(query: Query, ranker: str = "default") -> None:
    """Reject an invalid query with a message that names valid values."""
    if not query.text.strip():
        raise UsageError("the question is empty: say what to look for, in words or as a name")
    check_count(query.k)
    if query.kind not in KINDS:
        raise UsageError(f"kind {query.kind!r} is not one of {', '.join(KINDS)}")
    if query.pattern:
        check_pattern(query.pattern)
    if ranker not in RANKERS:
        raise UsageError(f"ranker {ranker!r} is not one of {', '.join(RANKERS)}")


def check_count(k: int) -> None:
    """Reject a `k` below 1."""
    if k < 1:
        raise UsageError(f"k is {k}: ask for at least 1 result")


def question_vector(opened: Sequence[Opened], plan: Plan, ranker: str) -> tuple[Floats | None, str]:
    """Return the question's vector, or None and the problem.

    Without a vector, words alone answer.
    """
    if ranker == "bm25f":
        return None, ""
    match opened[0].repo.embedder().embed([Passage(plan.text)], "query"):
        case Ok(vectors):
            return vectors[0], ""
        case Err(error):
            _EMBEDDER.add()
            return None, f"ranked by words alone: {error}"


def stage(name: str) -> AbstractContextManager[None]:
    """Measure one stage of a search."""
    return span(f"search.{name}", _STAGES, stage=name)

"""Search: from a question to an answer with evidence.

plan query → words + meaning + names, for every chunk → filter → join → rank → confidence → freshness
→ rerank → evidence
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vademecum.code.search.confidence import probability, verdict
from vademecum.code.search.dense_search import missing_said, nearness_of
from vademecum.code.search.did_you_mean import nearest_names
from vademecum.code.search.evidence import gather_evidence
from vademecum.code.search.explain import unwritten, why_not
from vademecum.code.search.features import known_ending
from vademecum.code.search.filters import below, is_filtered, row_mask
from vademecum.code.search.model import fitted_for
from vademecum.code.search.rank import RANKERS, Ranked, meant_first, rank, weighed_together
from vademecum.code.search.regex_worker import check_pattern, matched_lines
from vademecum.code.search.rerank import AS_RANKED, Reranking, rerank
from vademecum.code.search.signals import Floats, Rows, as_qualified, laid_end_to_end, signals_of
from vademecum.code.snapshot.observed import count_freshness, count_verdict, embedder_failed, index_failed, stage
from vademecum.code.snapshot.repository import Opened
from vademecum.errors import UsageError
from vademecum.index.query import Plan, place_of, plan_place, plan_query, title_of
from vademecum.result import Err, Ok
from vademecum.types import KINDS, Answer, Evidence, Passage, Query, Verdict

JUDGED = 10  # results that confidence judges, even when `k` is lower
TITLE_COUNTS = 2.0
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
    plan, title = read(opened, query.text), title_of(query.text)
    ranker = "fused" if ranker == "default" and reranking.name == "none" else ranker
    by = AS_RANKED if plan.is_bare else reranking  # a name's definitions come first
    with stage("filter"):
        masks = allowed_masks(opened, query)
    asked = Asked(opened, query, masks, ranker, max(query.k, JUDGED, by.depth))
    found = find(asked, plan)
    if title and ranker in TITLED:
        found = together(found, find(asked, plan_query(title)))
    decided = verdict(plan, found.ranked.first(asked.judged), found.probable, found.unknown)
    away = away_said(opened)
    count_verdict(decided)
    if decided is Verdict.NOT_FOUND:
        return Answer(
            query.text, decided, 0.0 if plan.is_symbol else found.probable, (),
            as_it_stands(away, _said(why_not(opened, query, plan, found.ranked, found.unknown), found.behind)),
            nearest_names(opened, plan), found.ranked.searched,
        )  # fmt: skip

    def best(count: int) -> tuple[Evidence, ...]:
        joined = query.joined and ranker in JOINED and not plan.is_bare
        # A pattern or symbol filters row by row: rows between two matches did not pass, so results do not span them.
        across = not (query.pattern or query.symbol)
        with stage("evidence"):
            return gather_evidence(opened, found.ranked, count, joined=joined, across=across)

    with stage("rerank"):  # includes reading the evidence
        evidence, said = rerank(by, query.text, best, query.k)
    count_freshness(evidence)
    trouble = _said(found.trouble, found.behind, said, away, unwritten(plan, found.unknown))
    return Answer(query.text, decided, found.probable, evidence, trouble, (), found.ranked.searched)


def read(opened: Sequence[Opened], text: str) -> Plan:
    """Parse a question, as a location if one matches.

    A location needs a file of that path.
    """
    if place := place_of(text):
        path, *lines = place
        for each in opened:
            if ending := known_ending(each.view.files, path):
                return plan_place(ending, *lines)
    return plan_query(text)


def as_it_stands(away: str, why: str) -> str:
    """Return the reason for no results, after any index problem.

    `away` is the problem with the index, which may be the reason.
    """
    return "; as it stands, ".join(filter(None, (away, why)))


def away_said(opened: Sequence[Opened]) -> str:
    """Return notes about repositories whose database is unreachable, or ""."""
    return _said(*dict.fromkeys(each.away for each in opened))


def _said(*parts: str) -> str:
    return "; ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Asked:
    """The parts of a request shared by all readings of its question."""

    opened: Sequence[Opened]
    query: Query
    masks: Sequence[NDArray[np.bool_]] | None  # the allowed rows of each repository; None for all
    ranker: str
    depth: int  # the largest number of results needed

    @property
    def rows(self) -> Rows:
        """The rows that may be found; None for all.

        Rows are numbered consecutively over the repositories.
        """
        return None if self.masks is None else np.flatnonzero(np.concatenate(self.masks))

    @property
    def judged(self) -> int:
        """The number of candidates that confidence judges."""
        return max(self.query.k, JUDGED)


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates for a question, their probability, and problems.

    `unknown` are the terms that no repository has.
    """

    ranked: Ranked
    probable: float
    unknown: set[str]
    trouble: str
    behind: str  # failures of external vector indexes


def find(asked: Asked, plan: Plan) -> Found:
    """Rank the allowed rows for one reading of the question."""
    opened, kinds = asked.opened, KINDS[asked.query.kind]
    with stage("question"):
        vector, trouble = question_vector(opened, plan, asked.ranker)
    with stage("nearness"):
        near, behind = nearness_of(opened, vector, asked.query, asked.masks)
    if behind:
        index_failed()
    with stage("signals"):
        found = [signals_of(each.view, plan, vector, kinds, own) for each, own in zip(opened, near, strict=True)]
        own_signals = as_qualified([each.view for each in opened], [signals for signals, _ in found], plan)
        signals = laid_end_to_end(own_signals)
    embedder = "" if vector is None else opened[0].repo.embedder().name
    with stage("rank"):
        ranked = rank(signals, plan, asked.rows, asked.depth, asked.ranker, model=fitted_for(embedder))
    if plan.is_symbol and (
        plan.qualified or plan.lines[0]
    ):  # a single word may be prose, even if something has that name
        ranked = meant_first(ranked)
    unknown = set.intersection(*(terms for _, terms in found))
    unread = "" if vector is None else missing_said([each.view for each in opened])
    return Found(ranked, probability(ranked.first(asked.judged), embedder), unknown, _said(trouble, unread), behind)


def together(whole: Found, title: Found) -> Found:
    """Join two readings by the sum of scores, the title's twice.

    A long text is often an issue: its title states the topic, and the text adds other observations. Scores are expected
    gains, so they add up. Measured on issues outside every reported evaluation (docs/ranking.md).
    """
    if not len(whole.ranked.rows) or not len(title.ranked.rows):
        return whole if len(whole.ranked.rows) else title
    ranked = weighed_together([title.ranked, whole.ranked], [TITLE_COUNTS, 1.0])
    return Found(ranked, max(whole.probable, title.probable), whole.unknown, whole.trouble, whole.behind)


def check_query(query: Query, ranker: str) -> None:
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
            embedder_failed()
            return None, f"ranked by words alone: {error}"


def allowed_masks(opened: Sequence[Opened], query: Query) -> list[NDArray[np.bool_]] | None:
    """Return each repository's rows that pass the filters, bool (R,).

    Returns None when there are no filters.
    """
    if not (is_filtered(query) or query.pattern or any(each.prefixes for each in opened)):
        return None
    return [_mask(each, query) for each in opened]


def _mask(each: Opened, query: Query) -> NDArray[np.bool_]:
    """Return one repository's rows that pass every filter, bool (R,)."""
    mask = row_mask(each.view, query)
    if each.prefixes:
        mask &= below(each.view.files, each.prefixes)[each.view.row_file]
    if query.pattern:
        mask &= _matching(each, query.pattern, mask)
    return mask


def _matching(each: Opened, pattern: str, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the rows on a line with a match, bool (R,)."""
    view = each.view
    matched = np.zeros(len(view), bool)
    files = np.flatnonzero(np.bincount(view.row_file[mask])).tolist()
    texts = (each.repo.catalogue.content(int(view.files.blobs[file])) for file in files)
    total = int(view.files.sizes[files].sum())
    for file, hit in zip(files, matched_lines(pattern, texts, total), strict=True):
        if len(hit):
            first, last = np.searchsorted(view.row_file, [file, file + 1])
            lines = view.lines[first:last]
            matched[first:last] = ((hit[:, 1:] >= lines[:, 0]) & (hit[:, :1] <= lines[:, 1])).any(axis=0)
    return matched

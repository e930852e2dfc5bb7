"""The flow out: from a question to an answer with evidence.

plan query → words + meaning + names, for every chunk → filter → join → cut → confidence → freshness → rerank → evidence
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from vademecum.codebase.analyse import chunk_hashes
from vademecum.codebase.enrich import summarise
from vademecum.codebase.explain import nearest_names, why_not
from vademecum.codebase.freshness import FileState, check_file, corresponding
from vademecum.codebase.observed import count_freshness, count_verdict, embedder_failed, stage
from vademecum.codebase.repository import Opened
from vademecum.codebase.rerank import AS_RANKED, Reranking, rerank
from vademecum.errors import UsageError
from vademecum.result import Err, Ok
from vademecum.retrieval.confidence import probability, verdict
from vademecum.retrieval.files import FILE_KINDS
from vademecum.retrieval.filters import below, is_filtered, row_mask
from vademecum.retrieval.model import fitted_for
from vademecum.retrieval.query import Plan, plan_query
from vademecum.retrieval.rank import RANKERS, Ranked, rank
from vademecum.retrieval.signals import Floats, laid_end_to_end, signals_of
from vademecum.types import KINDS, Answer, Chunk, Evidence, Freshness, Passage, Query, Verdict

JUDGED = 10  # results that confidence looks at, however few are asked for


def search(opened: Sequence[Opened], query: Query, ranker: str = "default", reranking: Reranking = AS_RANKED) -> Answer:
    """Answer a question about code from one or several repositories, weighed against each other.

    Raises:
        UsageError: the question or a filter is not usable.
        StoreError: the database said no.
    """
    check_query(query, ranker)
    plan = plan_query(query.text)
    with stage("question"):
        vector, trouble = question_vector(opened, plan, ranker)
    with stage("signals"):
        found = [signals_of(each.view, plan, vector, KINDS[query.kind]) for each in opened]
        signals = laid_end_to_end([signals for signals, _ in found])
    with stage("filter"):
        rows = allowed_rows(opened, query)
    embedder = "" if vector is None else opened[0].repo.embedder().name
    ranker = "fused" if ranker == "default" and reranking.name == "none" else ranker
    with stage("rank"):
        ranked = rank(signals, plan, rows, max(query.k, JUDGED), ranker, model=fitted_for(embedder))
    probable = probability(ranked, embedder)
    decided = verdict(plan, ranked, probable)
    count_verdict(decided)
    if decided is Verdict.NOT_FOUND:
        unknown = set.intersection(*(terms for _, terms in found))
        return Answer(
            query.text, decided, probable, (), why_not(opened, query, plan, ranked, unknown),
            nearest_names(opened, plan), ranked.searched,
        )  # fmt: skip

    def best(count: int) -> tuple[Evidence, ...]:
        wider = (
            ranked
            if count <= max(query.k, JUDGED)
            else rank(signals, plan, rows, count, ranker, model=fitted_for(embedder))
        )
        with stage("evidence"):
            return gather_evidence(opened, wider.first(count))

    by = AS_RANKED if plan.is_bare else reranking  # a name is answered by its definitions, before all else
    with stage("rerank"):  # reading the evidence among it
        evidence, said = rerank(by, query.text, best, query.k)
    count_freshness(evidence)
    trouble = "; ".join(filter(None, (trouble, said)))
    return Answer(query.text, decided, probable, evidence, trouble, (), ranked.searched)


def check_query(query: Query, ranker: str) -> None:
    """Refuse what cannot be answered, saying what can."""
    if not query.text.strip():
        raise UsageError("the question is empty: say what to look for, in words or as a name")
    check_count(query.k)
    if query.kind not in KINDS:
        raise UsageError(f"kind {query.kind!r} is not one of {', '.join(KINDS)}")
    if ranker not in RANKERS:
        raise UsageError(f"ranker {ranker!r} is not one of {', '.join(RANKERS)}")


def check_count(k: int) -> None:
    """Refuse to look for no results."""
    if k < 1:
        raise UsageError(f"k is {k}: ask for at least 1 result")


def question_vector(opened: Sequence[Opened], plan: Plan, ranker: str) -> tuple[Floats | None, str]:
    """Return the question's vector, or None and what went wrong: words alone still answer."""
    if ranker == "bm25f":
        return None, ""
    match opened[0].repo.embedder().embed([Passage(plan.text)], "query"):
        case Ok(vectors):
            return vectors[0], ""
        case Err(error):
            embedder_failed()
            return None, f"ranked by words alone: {error}"


def allowed_rows(opened: Sequence[Opened], query: Query) -> NDArray[np.int64] | None:
    """Return the rows, of the repositories laid end to end, that every filter lets through; None for all of them."""
    if not (is_filtered(query) or query.pattern or any(each.prefixes for each in opened)):
        return None
    return np.flatnonzero(np.concatenate([_mask(each, query) for each in opened]))


def _mask(each: Opened, query: Query) -> NDArray[np.bool_]:
    """Return bool (R,): the rows of one repository that every filter lets through."""
    mask = row_mask(each.view, query)
    if each.prefixes:
        mask &= below(each.view.files, each.prefixes)[each.view.row_file]
    if query.pattern:
        mask &= _matching(each, query.pattern, mask)
    return mask


def _matching(each: Opened, pattern: str, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return bool (R,): the rows that share a line with a match."""
    try:
        regex = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise UsageError(f"{pattern!r} is not a regular expression: {error}") from error
    view = each.view
    matched = np.zeros(len(view), bool)
    for file in np.flatnonzero(np.bincount(view.row_file[mask])).tolist():
        text = each.repo.catalogue.content(int(view.files.blobs[file])).decode()
        spans = [(match.start(), max(match.start(), match.end() - 1)) for match in regex.finditer(text)]
        if spans:
            first, last = np.searchsorted(view.row_file, [file, file + 1])
            newlines = np.fromiter(accumulate((len(line) + 1 for line in text.split("\n")), initial=0), np.int64)
            hit = np.searchsorted(newlines, spans, side="right")  # first and last line of each match, from 1
            lines = view.lines[first:last]
            matched[first:last] = ((hit[:, 1] >= lines[:, :1]) & (hit[:, 0] <= lines[:, 1:])).any(axis=1)
    return matched


def gather_evidence(opened: Sequence[Opened], ranked: Ranked) -> tuple[Evidence, ...]:
    """Read what the ranked rows say, and check the files they come from."""
    bases = list(accumulate((len(each.view) for each in opened), initial=0))
    places: dict[int, list[int]] = {}  # per repository, the ranked rows that are its own
    for place, row in enumerate(ranked.rows.tolist()):
        places.setdefault(bisect_right(bases, row) - 1, []).append(place)
    signals = [dict(zip(ranked.signals, values, strict=True)) for values in _rounded(ranked)]
    found: dict[int, Evidence] = {}
    for which, own in places.items():
        each, rows = opened[which], [int(ranked.rows[place]) - bases[which] for place in own]
        states = {file: check_file(each, file) for file in dict.fromkeys(each.view.row_file[rows].tolist())}
        for place, row, stored in zip(own, rows, stored_chunks(each, rows), strict=True):
            state = states[int(each.view.row_file[row])]
            found[place] = evidence_of(each, row, stored, float(ranked.scores[place]), signals[place], state)
    return tuple(found[place] for place in range(len(found)))


def _rounded(ranked: Ranked) -> list[list[float]]:
    """Return every ranked row's signals to four places."""
    values: list[list[float]] = np.round(np.array(list(ranked.signals.values()), np.float64).T, 4).tolist()
    return values


def evidence_of(
    each: Opened, row: int, stored: tuple[Chunk, str], score: float, signals: dict[str, float], state: FileState
) -> Evidence:
    """Return one row, whose chunk was stored with its hash, as evidence: as its file is now."""
    files = each.view.files
    file = int(each.view.row_file[row])
    chunk, digest = stored
    label, freshness = each.snapshot.label, state.freshness
    if state.now is not None:
        new = corresponding(chunk, state.now)
        if new is None:
            freshness = Freshness.STALE
        else:
            digest = chunk_hashes([new], state.now.language)[0]
            chunk = new
            label = f"{each.snapshot.commit}+edited" if each.snapshot.commit else "edited"
    path, kind = files.paths[file], FILE_KINDS[files.kinds[file]]
    return Evidence(
        id=f"{each.repo.name}:{label}:{path}:{digest}", repo=each.repo.name, branch=each.snapshot.branch, commit=label,
        path=path, start_line=chunk.start_line, end_line=chunk.end_line, snippet=chunk.text.rstrip("\n"),
        score=round(score, 6), kind=str(chunk.kind), language=files.language(file),
        symbols=tuple(symbol.qualified for symbol in chunk.symbols) or ((chunk.qualified,) if chunk.name else ()),
        signature=chunk.signature, summary=chunk.summary or summarise(chunk, files.language(file)),
        file_kind=kind.value, signals=signals, freshness=freshness,
    )  # fmt: skip


def stored_chunks(each: Opened, rows: Sequence[int]) -> list[tuple[Chunk, str]]:
    """Return the chunks of rows as they were indexed, each with its hash."""
    view = each.view
    blobs = view.files.blobs[view.row_file[rows]].tolist()
    return each.repo.catalogue.chunks(list(zip(blobs, view.ordinals(rows).tolist(), strict=True)))

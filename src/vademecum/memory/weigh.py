"""How well each event answers a question: words, meaning, who said it, and what stands around it.

In a log of work with an agent a message stands for itself: messages are long, and what the user said weighs more than the
agent's long answers, which repeat every word of the field.

    score = speaker * (words + DENSE * meaning)

In a talk between people a turn leans on what surrounds it: an answer rarely repeats the question, and a name or a topic
was said some turns before.

    score = named * (words + BEFORE * words of the turn before + AFTER * words of the turn after + SESSION * words of the session)

Words are BM25 and meaning is the cosine, each divided by its highest value, so that weights mean the same for every
question. Constants were chosen on three conversations and six chats, each left out in turn, and rounded; they are flat
around these values. A static embedder adds nothing to short turns between people, which the same test says.

Only candidates are weighed: the rows that match best by words, those next to them, those of the sessions that match best,
and those nearest in meaning. Up to EXACT_BELOW events meaning is looked for everywhere; beyond, in the sessions whose mean
is nearest, for a message about something is mostly in a session about it, and reading every vector would cost more than
all the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.records import Role
from vademecum.memory.segment import ROLES
from vademecum.memory.view import View
from vademecum.retrieval.dense import products
from vademecum.retrieval.fusion import top
from vademecum.retrieval.lexical import inverse_document_frequency
from vademecum.retrieval.segment import quantise

DENSE = 0.6
BEFORE, AFTER, SESSION = 0.5, 0.3, 0.5
NAMED = 1.4  # a speaker whom the question names
SPEAKER = {Role.USER: 2.0, Role.NOTE: 2.0}  # in a log of work; all others 1
TURNS = 2  # of a session that speak for it
EXACT_BELOW = 20_000  # events whose vectors are all compared
CANDIDATES = 400  # rows by words, and rows by meaning
NEAR_SESSIONS = 10  # sessions all of whose turns are candidates in talks
NEAR_ROWS = 1_600  # rows of the sessions nearest in meaning

Floats = NDArray[np.float32]
Rows = NDArray[np.integer[Any]]
_WEIGHTS = np.array([SPEAKER.get(role, 1.0) for role in ROLES], np.float32)


@dataclass(frozen=True)
class Weighed:
    """What is known of the C candidates for one question: float32 (C,) unless said otherwise; higher is better."""

    rows: Rows  # (C,) ascending
    score: Floats
    words: Floats  # BM25
    meaning: Floats  # cosine, 0 where it is negative
    share: Floats  # how much of the question's idf the row holds, 0..1
    idf: NDArray[np.float64]  # (T,) of each term of the question
    missing: float  # the share of the question's idf in terms that nobody ever wrote
    sessions: Floats  # (S,) BM25 of each session
    alone: Floats  # words and meaning by speaker, without what stands around


def weigh(
    view: View,
    keys: NDArray[np.uint64],
    vector: Floats,
    named: NDArray[np.bool_] | None,
    mask: NDArray[np.bool_] | None,
) -> Weighed:
    """Weigh the rows of a view that may answer.

    Args:
        view: what is remembered.
        keys: uint64 (T,), the question's terms.
        vector: float32 (dim,), the question as a unit vector.
        named: bool (P,), which of the view's speakers the question names; None where it names nobody.
        mask: bool (N,), which rows may be found; None for all that are alive.
    """
    rows, terms, counts = _matches(view, keys)
    holding = np.bincount(terms, minlength=len(keys)).astype(np.float64)
    living = len(view) if view.is_whole else int(np.count_nonzero(view.alive))
    idf = inverse_document_frequency(living, holding)
    total = max(float(idf.sum()), 1e-9)
    said = _said(rows, idf[terms] * (counts / (counts + view.norms[rows])), idf[terms] / total)
    sessions = _sessions(view, rows, terms, counts, len(keys))
    meant, cosine = _nearest(view, vector)
    chosen = _candidates(view, said, sessions, meant, cosine)
    if mask is not None:
        chosen = chosen[mask[chosen]]
    elif not view.is_whole:
        chosen = chosen[view.alive[chosen]]
    meaning = _cosines(view, vector, chosen, meant, cosine)
    words = said.of(chosen)
    score, alone = _score(view, said, meaning, sessions, named, chosen)
    missing = float(idf[holding == 0].sum() / total)
    return Weighed(chosen, score, words, meaning, said.share_of(chosen), idf, missing, sessions, alone)


@dataclass(frozen=True)
class _Said:
    """What the question's words find: only rows that hold one, for most of a large memory holds none."""

    rows: Rows  # (U,) ascending
    words: Floats  # (U,) BM25
    share: Floats  # (U,) of the question's idf

    def of(self, rows: Rows) -> Floats:
        """Return BM25 of any rows, 0 where none of the words is."""
        return self._found(self.words, rows)

    def share_of(self, rows: Rows) -> Floats:
        """Return the share of the question's idf that any rows hold."""
        return self._found(self.share, rows)

    def _found(self, values: Floats, rows: Rows) -> Floats:
        if not len(self.rows):
            return np.zeros(len(rows), np.float32)
        place = np.searchsorted(self.rows, rows)
        place[place == len(self.rows)] = 0
        return np.where(self.rows[place] == rows, values[place], np.float32(0))


def _said(rows: Rows, scores: NDArray[np.float64], shares: NDArray[np.float64]) -> _Said:
    """Add up the matches of each row. Arrays as long as the memory would cost more than the sums."""
    order = np.argsort(rows, kind="stable")  # the matches of each term are in order already: these runs merge fast
    ascending = rows[order]
    first = np.flatnonzero(np.diff(ascending, prepend=-1))
    if not len(first):
        return _Said(rows, np.zeros(0, np.float32), np.zeros(0, np.float32))
    words, share = np.add.reduceat(scores[order], first), np.add.reduceat(shares[order], first)
    return _Said(ascending[first], words.astype(np.float32), share.astype(np.float32))


def session_scores(view: View, weighed: Weighed) -> Floats:
    """Return how well each session answers: its own words, and the best of its turns: float32 (S,).

    A session that speaks of everything wins by words alone; one turn that says it is a surer sign. So the mean of its
    best turns counts twice.
    """
    session = view.session[weighed.rows]
    order = np.lexsort((-weighed.alone, session))
    codes, first = np.unique(session[order], return_index=True)
    size = np.diff(np.append(first, len(order)))
    best = np.zeros(len(view.session_names), np.float32)
    for place in range(TURNS):
        has = size > place
        best[codes[has]] += weighed.alone[order[first[has] + place]]
    there = np.zeros(len(best), bool)
    there[codes] = True
    return np.where(there, _scaled(weighed.sessions) + 2 * _scaled(best), 0).astype(np.float32)


def _candidates(view: View, said: _Said, sessions: Floats, meant: Rows, cosine: Floats) -> Rows:
    """Return the rows worth weighing, ascending."""
    best = said.rows[top(said.words, CANDIDATES)]
    found = [best, meant[top(cosine, CANDIDATES)]]
    if view.has_talk:
        before, after = view.neighbours
        around = np.concatenate((before[best], after[best]))
        found.append(around[around < len(view)])
        found += [view.rows_of(int(code)) for code in top(sessions, NEAR_SESSIONS) if sessions[code] > 0]
    ascending = np.sort(np.concatenate(found))
    return ascending[np.flatnonzero(np.diff(ascending, prepend=-1))]


def _score(
    view: View, said: _Said, meaning: Floats, sessions: Floats, named: NDArray[np.bool_] | None, rows: Rows
) -> tuple[Floats, Floats]:
    """Return the candidates' scores, and the same without what stands around them."""
    highest = np.float32(said.words.max(initial=0.0) or 1.0)
    words = said.of(rows) / highest
    talk = view.is_talk[rows]
    alone = words + np.float32(DENSE) * _scaled(meaning)
    alone *= np.where(talk, np.float32(1), _WEIGHTS[view.roles[rows]])
    score = alone
    if talk.any():
        before, after = view.neighbours
        around: Floats = words + np.float32(BEFORE) / highest * said.of(
            before[rows]
        )  # no neighbour is no row, and says nothing
        around += np.float32(AFTER) / highest * said.of(after[rows])
        around += np.float32(SESSION) * _scaled(sessions)[view.session[rows]]
        score = np.where(talk, around, alone)
    if named is not None:
        called = np.where(named[view.speakers[0][rows]], np.float32(NAMED), np.float32(1))
        score, alone = score * called, alone * called
    return score, alone


def _matches(view: View, keys: NDArray[np.uint64]) -> tuple[Rows, NDArray[np.int64], Floats]:
    """Return (row, term, count) of every match of a living row."""
    rows, terms, counts = [], [], []
    base = 0
    for segment in view.segments:
        docs, tf, term = segment.postings.find(keys)
        rows.append(docs.astype(np.int64) + base)
        terms.append(term)
        counts.append(tf[:, 0].astype(np.float32))
        base += segment.size
    if not rows:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32)
    row, which, count = np.concatenate(rows), np.concatenate(terms), np.concatenate(counts)
    if view.is_whole:
        return row, which, count
    living = view.alive[row]
    return row[living], which[living], count[living]


def _sessions(view: View, rows: Rows, terms: NDArray[np.int64], counts: Floats, asked: int) -> Floats:
    """BM25 of each session as one document: float32 (S,)."""
    total = len(view.session_names)
    held = np.bincount(view.session[rows] * asked + terms, counts, total * asked).reshape(total, asked)
    idf = inverse_document_frequency(total, (held > 0).sum(axis=0).astype(np.float64))
    return np.asarray((held / (held + view.session_norms[:, None])) @ idf, np.float32)


def _nearest(view: View, vector: Floats) -> tuple[Rows, Floats]:
    """Return rows that may be near in meaning, and their cosines: all of a small view, else those of near sessions."""
    if len(view) <= EXACT_BELOW:
        return np.arange(len(view)), _all_cosines(view, vector)
    means, scales = view.session_means
    near = top(products(means, quantise(vector[None, :])[0]) * scales, NEAR_ROWS // 8)
    sizes = np.cumsum(view.session_sizes[near])
    chosen = near[: int(np.searchsorted(sizes, NEAR_ROWS)) + 1]
    rows = np.concatenate([view.rows_of(int(code)) for code in chosen])[: 2 * NEAR_ROWS]
    return rows, _cosines_of(view, vector, rows)


def _cosines(view: View, vector: Floats, chosen: Rows, meant: Rows, cosine: Floats) -> Floats:
    """Return the cosines of the chosen rows, looked up where all are known."""
    return cosine[chosen] if len(meant) == len(view) else _cosines_of(view, vector, chosen)


def _cosines_of(view: View, vector: Floats, rows: Rows) -> Floats:
    whole, scale = quantise(vector[None, :])
    found = np.zeros(len(rows), np.float32)
    base = 0
    for segment in view.segments:
        here = (rows >= base) & (rows < base + segment.size)
        if here.any():
            own = rows[here] - base
            found[here] = products(np.ascontiguousarray(segment.vectors[own]), whole) * (segment.scales[own] * scale)
        base += segment.size
    return np.maximum(found, np.float32(0))


def _all_cosines(view: View, vector: Floats) -> Floats:
    if not len(view):
        return np.zeros(0, np.float32)
    whole, scale = quantise(vector[None, :])
    parts = [products(segment.vectors, whole) * (segment.scales * scale) for segment in view.segments if segment.size]
    return np.asarray(np.maximum(np.concatenate(parts), 0), np.float32)


def _scaled(values: Floats) -> Floats:
    highest = float(values.max(initial=0.0))
    return np.asarray(values / np.float32(highest), np.float32) if highest > 0 else values

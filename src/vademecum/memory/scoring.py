"""Score events for a question: words, meaning, speaker, and neighbours.

In a log of work with an agent a message stands for itself: messages are long, and what the user said weighs more than the
agent's long answers, which repeat every word of the field.

    score = speaker * (words + DENSE * meaning)

In a talk between people a turn leans on what surrounds it: an answer rarely repeats the question, and a name or a topic
was said some turns before.

    score = named * (words + BEFORE * words of the turn before + AFTER * words of the turn after + SESSION * words of the session)

Words are BM25 and meaning is the cosine, each divided by its highest value, so that weights mean the same for every
question. Constants were chosen on three conversations and six chats, each left out in turn, and rounded; they are flat
around these values. Lists of their own for what people said and what was answered, each divided by its own highest value,
find less of the evidence (0.60 of it among five on these chats, where one list finds 0.615). A static embedder adds nothing to short turns between people, which the same test says.

A question that names a time weighs what was recorded then up to twice, and less the further from it. It is a weight and no
filter: what happened in July is often told in August, and people misremember by days. Measured on the questions that name
one, 90 % of the evidence is among ten instead of 82.

The verdict follows the probability that memory holds the answer:

    log-odds = bias + missing * m + meaning * c + first * f + ten * t + lonely * l

- m: the share of the question's idf in words that occur in no event. Few events make it weak evidence.
- c: the highest cosine among the first three events.
- f: the share of the question's idf in the first event. An answer says most of the question; words that are scattered over
  several events answer nothing.
- t: the highest such share among the first ten events, which takes back what `f` owes to words that are everywhere.
- l: the relative drop in cosine from the first to the twentieth event, among people's words alone. A topic mentioned once
  has one event far above the rest; a discussed topic has several.

The height of a BM25 score says nothing (measured area under the ROC curve: 0.4-0.5). `training/memory_verdicts.py` fits the
weights on questions to a conversation, questions to other conversations, and near misses: questions about what somebody else
said, or about details never mentioned. A question is answered when one of ten events holds its evidence. The answer is called
resolved only if the first event says most of the question and is by whom the question names. Cosines of different embedders do
not compare, so an embedder without fitted weights is judged by words alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.index.bm25 import bm25f, inverse_document_frequency, saturated
from vademecum.index.fusion import top
from vademecum.index.segment import cosines, quantise
from vademecum.memory.event_segment import EVENT, PEOPLE, ROLES, WHOLE_SESSION, View
from vademecum.memory.records import Role
from vademecum.types import Verdict

Floats = NDArray[np.float32]


class Matches:
    """The occurrences of a question's terms in living rows."""

    def __init__(self, view: View, keys: NDArray[np.uint64]) -> None:
        """Look the terms up and score every row. Raises `StoreCorruptError`."""
        self._view = view
        copies = None if view.is_whole else view.alive.astype(np.int64)
        self._found = bm25f(EVENT, view.segments, copies, view.norms, keys, len(keys))
        self.idf = self._found.idf
        self.known = self._found.known

    @cached_property
    def rows(self) -> Floats:
        """BM25 of rows, then 0 for none: float32 (N + 1,)."""
        score = self._found.score if self._view.is_whole else np.where(self._view.alive, self._found.score, 0)
        return np.append(score, np.float32(0))

    @cached_property
    def sessions(self) -> Floats:
        """float32 (S,): BM25 of each session as one document."""
        view, found = self._view, self._found.matches
        docs, term, tf = found.docs, found.terms, found.tf
        count, terms = view.session_count, len(self.idf)
        occurrences = tf[:, 0] if view.is_whole else tf[:, 0] * view.alive.take(docs)
        places = view.session.take(docs) * np.int64(terms) + term
        counts = np.bincount(places, occurrences, count * terms).reshape(count, terms)
        idf = inverse_document_frequency(count, np.count_nonzero(counts, axis=0).astype(np.float64))
        return (saturated(WHOLE_SESSION, counts, view.session_terms) @ idf).astype(np.float32)

    def share(self, rows: NDArray[np.integer[Any]]) -> Floats:
        """Return each living row's share of the question's idf, float32 (R,)."""
        found = self._found.matches
        return np.bincount(found.docs, found.share, len(self._view)).take(rows).astype(np.float32)


DENSE = 0.6
BEFORE, AFTER, SESSION = 0.5, 0.3, 0.5
NAMED = 1.4  # a speaker whom the question names
SPEAKER = {Role.USER: 2.5, Role.NOTE: 2.5}  # in a log of work; all others 1
TURNS = 2  # of a session that speak for it
TIMED = 1.0  # how much more it weighs to be of the time that is asked about
TIMED_HALF_DAYS = 7.0  # half of that for each so many days away

Rows = NDArray[np.integer[Any]]
_WEIGHTS = np.array([SPEAKER.get(role, 1.0) for role in ROLES], np.float32)
_NAMED = np.array([1, NAMED], np.float32)  # by whether the question names who said it


@dataclass(frozen=True)
class Weighed:
    """The scores and signals of C rows: float32 (C,); higher is better."""

    rows: Rows  # (C,) ascending
    score: Floats
    words: Floats  # BM25
    meaning: Floats  # cosine, 0 where it is negative
    idf: NDArray[np.float64]  # (T,) of each term of the question
    missing: float  # the share of the question's idf in terms that nobody ever wrote
    own: Floats  # words again, divided by the highest of all
    by_people: NDArray[np.bool_]  # (C,) what a person said or noted
    matches: Matches

    def share(self, places: NDArray[np.integer[Any]]) -> Floats:
        """Return the share of the question's idf in candidates at some places."""
        return self.matches.share(self.rows[places])


class By(StrEnum):
    """The signals that events are weighed by."""

    BOTH = "both"
    WORDS = "words"  # what holds none is not found
    MEANING = "meaning"


@dataclass(frozen=True)
class Asking:
    """A question to a view, and the rows it may find.

    Attributes:
        keys: uint64 (T,), the question's terms.
        vector: float32 (dim,), the question as a unit vector.
        only_asking: bool (T,), which of the terms only name the time or the kind of answer: neither is written in it.
        named: bool (P,), which of the view's speakers the question names; None where it names nobody.
        mask: bool (N,), which rows may be found; None for all that are alive.
        period: the time it asks about, seconds since the epoch, half-open; None for any.
        by: words, meaning or both.
    """

    keys: NDArray[np.uint64]
    vector: Floats
    only_asking: NDArray[np.bool_]
    named: NDArray[np.bool_] | None = None
    mask: NDArray[np.bool_] | None = None
    period: tuple[float, float] | None = None
    by: By = By.BOTH


def weigh(view: View, asking: Asking) -> Weighed:
    """Weigh the rows of a view that may answer."""
    matches = Matches(view, asking.keys)
    said, passing = matches.rows, asking.mask if asking.mask is not None else view.alive
    rows = np.flatnonzero(passing if asking.by is not By.WORDS else passing & (said[:-1] > 0))
    meaning = np.maximum(cosines(view.segments, quantise(asking.vector[None]))[rows], np.float32(0))
    found = said.take(rows)
    own = found / (said.max() or np.float32(1))
    score = meaning if asking.by is By.MEANING else _alone(view, asking, rows, own, meaning)
    if view.has_talk and asking.by is not By.MEANING:
        talk = view.talks.take(view.session.take(rows))
        score = np.where(talk, _with_around(view, matches, rows, own), score)
    score = _when_and_who(view, asking, rows, score)
    missing = float(matches.idf[~matches.known & ~asking.only_asking].sum() / max(float(matches.idf.sum()), 1e-9))
    by_people = PEOPLE.take(view.roles.take(rows))
    return Weighed(rows, score, found, meaning, matches.idf, missing, own, by_people, matches)


def nearest_in_meaning(view: View, asking: Asking, rows: Rows, count: int) -> tuple[Rows, Floats]:
    """Return the rows nearest in meaning, nearest first, and their positive cosines."""
    if asking.mask is not None:
        rows = rows[asking.mask[rows]]
    cosine = cosines(view.segments, quantise(asking.vector[None]))[rows]
    best = top(cosine, count)
    best = best[cosine[best] > 0]
    return rows[best], cosine[best]


def session_scores(view: View, asking: Asking, weighed: Weighed) -> Floats:
    """Return the scores of sessions, by words and turns: float32 (S,).

    A session that speaks of everything wins by words alone; one turn that says it is a surer sign. So the mean of its
    best turns counts twice.
    """
    session = view.session[weighed.rows]
    alone = _alone(view, asking, weighed.rows, weighed.own, weighed.meaning)
    alone = _when_and_who(view, asking, weighed.rows, alone)
    order = np.lexsort((-alone, session))
    codes, first = np.unique(session[order], return_index=True)
    size = np.diff(np.append(first, len(order)))
    best = np.zeros(view.session_count, np.float32)
    for place in range(TURNS):
        has = size > place
        best[codes[has]] += alone[order[first[has] + place]]
    there = np.zeros(len(best), bool)
    there[codes] = True
    return np.where(there, _scaled(weighed.matches.sessions) + 2 * _scaled(best), 0).astype(np.float32)


def _alone(view: View, asking: Asking, rows: Rows, own: Floats, meaning: Floats) -> Floats:
    """Return words and meaning, weighed by speaker outside of talks."""
    alone = own + np.float32(DENSE) * _scaled(meaning) if asking.by is By.BOTH else own
    talk = view.talks.take(view.session.take(rows))
    return alone * np.where(talk, np.float32(1), _WEIGHTS.take(view.roles.take(rows)))


def _with_around(view: View, matches: Matches, rows: Rows, own: Floats) -> Floats:
    """Return the words of rows, plus those of their neighbours and sessions."""
    said = matches.rows / (matches.rows.max() or np.float32(1))
    around = np.float32(BEFORE) * said.take(view.before(rows)) + np.float32(AFTER) * said.take(view.after(rows))
    return own + around + np.float32(SESSION) * _scaled(matches.sessions).take(view.session.take(rows))


def _when_and_who(view: View, asking: Asking, rows: Rows, score: Floats) -> Floats:
    """Return scores weighed by the period and the speaker the question names."""
    if asking.period is not None:
        score = score * _timed(view.at.take(rows), asking.period)
    if asking.named is not None and asking.by is not By.MEANING:
        score = score * _NAMED.take(asking.named.take(view.speaker.take(rows)))
    return score


def _timed(at: NDArray[np.int64], period: tuple[float, float]) -> Floats:
    """Return the weights of moments, in milliseconds, for a period.

    >>> _timed(np.array([0, 10_000, 10_000 + 7 * 86_400_000]), (0.0, 10.0)).tolist()
    [2.0, 2.0, 1.5]
    """
    since, until = (1000 * moment for moment in period)
    days = np.maximum(np.maximum(since - at, at - until), 0) / 86_400_000
    return np.asarray(1 + TIMED * 0.5 ** (days / TIMED_HALF_DAYS), np.float32)


def _scaled(values: Floats) -> Floats:
    highest = float(values.max(initial=0.0))
    return np.asarray(values / np.float32(highest), np.float32) if highest > 0 else values


RESOLVED_FROM, LIKELY_FROM, FOUND_FROM = 0.85, 0.6, 0.15
UNDECIDED = 0.5  # the most that a commit without a decision can be worth to a question for one
SAID = 0.7  # the share of the question's idf in the first event, from which an answer may be resolved
LITTLE = 50  # events; with this many, m and l count half
LONELY = 0.39  # mean of l, used where there are no events
_HEAD, _TEN, _TWENTY = 3, 10, 20


@dataclass(frozen=True, slots=True)
class Calibration:
    """Constants of the model above."""

    bias: float
    missing: float
    meaning: float
    first: float
    ten: float
    lonely: float


CALIBRATIONS = {"static:static-2": Calibration(-0.86, -3.81, 5.06, 2.42, -1.3, -2.17)}
BY_WORDS = Calibration(-0.43, -4.24, 0.0, 2.71, -1.0, 0.0)


@dataclass(frozen=True)
class Found:
    """Candidates that recall found, to be judged."""

    weighed: Weighed
    best: NDArray[np.int64]  # the places of the best candidates, best first
    shares: NDArray[np.float32]  # share of the question's words in each
    events: int  # number of events
    searched: int  # number of events that passed the filters
    by_meaning: bool = False  # the search used meaning alone
    undecided: bool = False  # the question asks for a choice, and the first event is a commit that states none
    by_another: bool = False  # the question names a speaker, and the first event is another's


def signals(found: Found) -> tuple[float, float, float, float, float]:
    """Return the five signals of the model above, each 0..1.

    There is at least one candidate.
    """
    weighed, best = found.weighed, found.best
    written = found.events / (found.events + LITTLE)
    lonely = LONELY + (_fallen(weighed.meaning[weighed.by_people]) - LONELY) * written
    meaning = float(weighed.meaning[best[:_HEAD]].max())
    return weighed.missing * written, meaning, float(found.shares[0]), float(found.shares[:_TEN].max()), lonely


def probability(found: Found, embedder: str) -> float:
    """Return the probability, 0..1, that the candidates hold the answer.

    `embedder` names the embedder of the cosines; it selects the weights.
    """
    if not len(found.best):
        return 0.0
    c = CALIBRATIONS.get(embedder, BY_WORDS)
    weights = (c.missing, c.meaning, c.first, c.ten, c.lonely)
    odds = c.bias + sum(weight * each for weight, each in zip(weights, signals(found), strict=True))
    return 1 / (1 + math.exp(-odds))


def _fallen(values: NDArray[np.float32]) -> float:
    """Return the relative drop from the highest value to the twentieth.

    Of fewer values the last one counts.

    >>> _fallen(np.array([0.5, 2, 1], np.float32)), _fallen(np.zeros(0, np.float32))
    (0.75, 0.0)
    """
    if not values.any():
        return 0.0
    highest = np.partition(values, max(len(values) - _TWENTY, 0))[-_TWENTY:]
    return 1 - float(highest.min()) / float(highest.max())


def judge(found: Found, embedder: str) -> tuple[Verdict, float, str]:
    """Return verdict and probability, and the reason if not resolved."""
    if not found.searched:
        return Verdict.NOT_FOUND, 0.0, "the filters leave nothing" if found.events else "nothing is recorded yet"
    if not len(found.best) or not (found.by_meaning or found.weighed.words[found.best].any()):
        return Verdict.NOT_FOUND, 0.0, "nothing in memory shares a word with it"
    return _stated(found, probability(found, embedder))


def _stated(found: Found, probable: float) -> tuple[Verdict, float, str]:
    if probable < FOUND_FROM:
        return Verdict.NOT_FOUND, probable, "memory hardly speaks of this"
    if found.undecided and probable >= LIKELY_FROM:
        return Verdict.AMBIGUOUS, UNDECIDED, "commits touch on it, and nobody said a decision"
    if probable < LIKELY_FROM:
        return Verdict.AMBIGUOUS, probable, "memory speaks of it in part, or of something near"
    says_most = float(found.shares[0]) >= SAID and not found.by_another
    return (Verdict.RESOLVED if probable >= RESOLVED_FROM and says_most else Verdict.LIKELY), probable, ""

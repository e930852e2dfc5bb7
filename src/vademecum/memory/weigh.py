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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.records import Role
from vademecum.memory.segment import ROLES
from vademecum.memory.view import View
from vademecum.retrieval.dense import products
from vademecum.retrieval.lexical import inverse_document_frequency
from vademecum.retrieval.segment import quantise

DENSE = 0.6
BEFORE, AFTER, SESSION = 0.5, 0.3, 0.5
NAMED = 1.4  # a speaker whom the question names
SPEAKER = {Role.USER: 2.0, Role.NOTE: 2.0}  # in a log of work; all others 1
TURNS = 2  # of a session that speak for it

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Weighed:
    """What is known of every row for one question: float32 (N,) each, higher is better."""

    score: Floats
    words: Floats  # BM25
    meaning: Floats  # cosine, 0 where it is negative
    share: Floats  # how much of the question's idf the row holds, 0..1
    idf: NDArray[np.float64]  # (T,) of each term of the question
    missing: float  # the share of the question's idf in terms that nobody ever wrote
    sessions: Floats  # (S,) BM25 of each session


def weigh(view: View, keys: NDArray[np.uint64], vector: Floats | None, named: NDArray[np.bool_] | None) -> Weighed:
    """Weigh every row of a view.

    Args:
        view: what is remembered.
        keys: uint64 (T,), the question's terms.
        vector: float32 (dim,), the question as a unit vector; None does without meaning.
        named: bool (N,), rows whose speaker the question names; None where it names nobody.
    """
    rows, terms, counts = _matches(view, keys)
    holding = np.bincount(terms, minlength=len(keys)).astype(np.float64)
    living = len(view) if view.is_whole else int(view.alive.sum())
    idf = inverse_document_frequency(living, holding)
    words = np.bincount(rows, idf[terms] * (counts / (counts + view.norms[rows])), len(view)).astype(np.float32)
    share = np.bincount(rows, idf[terms] / max(float(idf.sum()), 1e-9), len(view)).astype(np.float32)
    sessions = _sessions(view, rows, terms, counts, len(keys))
    meaning = _meaning(view, vector)
    score = _score(view, words, meaning, sessions, named)
    missing = float(idf[holding == 0].sum() / max(float(idf.sum()), 1e-9))
    return Weighed(score, words, meaning, share, idf, missing, sessions)


def session_scores(
    view: View, weighed: Weighed, mask: NDArray[np.bool_], named: NDArray[np.bool_] | None = None
) -> Floats:
    """Return how well each session answers: its own words, and the best of its turns: float32 (S,).

    A session that speaks of everything wins by words alone; one turn that says it is a surer sign. So the mean of its
    best turns counts twice.
    """
    own = _scaled(weighed.words) + np.float32(DENSE) * _scaled(weighed.meaning)
    own = np.where(mask, own * _speaker(view), 0)
    if named is not None:
        own = np.where(named, own * np.float32(NAMED), own)
    order = np.lexsort((-own, view.session))
    codes, first = np.unique(view.session[order], return_index=True)
    size = np.diff(np.append(first, len(order)))
    best = np.zeros(len(view.session_names), np.float32)
    for place in range(TURNS):
        has = size > place
        best[codes[has]] += own[order[first[has] + place]]
    there = np.bincount(view.session[mask], minlength=len(best)) > 0
    return np.where(there, _scaled(weighed.sessions) + 2 * _scaled(best), 0).astype(np.float32)


def _score(
    view: View, words: Floats, meaning: Floats, sessions: Floats, named: NDArray[np.bool_] | None
) -> Floats:
    lexical = _scaled(words)
    score: Floats = (lexical + np.float32(DENSE) * _scaled(meaning)) * _speaker(view)
    talk = view.is_talk
    if talk.any():
        before, after = view.neighbours
        lent = np.append(lexical, np.float32(0))  # the last stands for no neighbour
        around = lexical + np.float32(BEFORE) * lent[before] + np.float32(AFTER) * lent[after]
        around += np.float32(SESSION) * _scaled(sessions)[view.session]
        score = np.where(talk, around, score)
    if named is not None:
        score = np.where(named, score * np.float32(NAMED), score)
    return score if view.is_whole else np.where(view.alive, score, np.float32(0))


def _speaker(view: View) -> Floats:
    """float32 (N,): how much the one who said it counts; in a talk between people all count alike."""
    weights = np.array([SPEAKER.get(role, 1.0) for role in ROLES], np.float32)[view.roles]
    return np.where(view.is_talk, np.float32(1), weights)


def _matches(view: View, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return (row, term, count) of every match of a living row."""
    rows, terms, counts = [], [], []
    base = 0
    for segment in view.segments:
        where, term = segment.postings.find(keys)
        rows.append(segment.postings.docs[where].astype(np.int64) + base)
        terms.append(term)
        counts.append(segment.postings.tf[where, 0].astype(np.float32))
        base += segment.size
    if not rows:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32)
    row, which, count = np.concatenate(rows), np.concatenate(terms), np.concatenate(counts)
    if view.is_whole:
        return row, which, count
    living = view.alive[row]
    return row[living], which[living], count[living]


def _sessions(view: View, rows: NDArray[np.int64], terms: NDArray[np.int64], counts: Floats, asked: int) -> Floats:
    """BM25 of each session as one document: float32 (S,)."""
    total = len(view.session_names)
    held = np.bincount(view.session[rows] * asked + terms, counts, total * asked).reshape(total, asked)
    idf = inverse_document_frequency(total, (held > 0).sum(axis=0).astype(np.float64))
    return np.asarray((held / (held + view.session_norms[:, None])) @ idf, np.float32)


def _meaning(view: View, vector: Floats | None) -> Floats:
    if vector is None or not len(view):
        return np.zeros(len(view), np.float32)
    whole, scale = quantise(vector[None, :])
    parts = [products(segment.vectors, whole) * (segment.scales * scale) for segment in view.segments]
    return np.maximum(np.concatenate(parts), np.float32(0))


def _scaled(values: Floats) -> Floats:
    highest = float(values.max(initial=0.0))
    return values / np.float32(highest) if highest > 0 else values

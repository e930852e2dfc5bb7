"""Texts of tools and past intents, compared with an intent.

Two readings of each: its words (an inverted index, scored by BM25 and by the cosine of tf-idf) and its meaning (the
embedder's vector). What was tokenised and embedded once is kept, so that one more text costs one more text.

    >>> texts = Texts(["read a file", "send a mail"], None)
    >>> texts.tfidf(Question.of("which tool reads files?")).astype(float).round(2).tolist()
    [0.48, 0.0]
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise, starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.index.bm25 import field_norms, gains, inverse_document_frequency
from vademecum.index.postings import Postings, build
from vademecum.index.schema import Schema
from vademecum.index.segment import quantise, quantised
from vademecum.index.stopwords import STOP_WORDS
from vademecum.index.tokenize import key, run_terms, runs, term_table
from vademecum.index.vectors import scaled_products

Floats = NDArray[np.float32]

SCHEMA = Schema(("text",), (1.0,), (0.75,))  # textbook values
_TABLE = term_table()  # words are cut once per process
_CLAUSE = re.compile(r"[.,;:!?\n]+|\b(?:and|then|also|after that|finally)\b", re.IGNORECASE)
_LEAST_WORDS = 3  # of a clause that means something by itself
_MOST_CLAUSES = 16
_SENTENCE = 8  # words further on than the first is where a text ends that says things in their order
_LONGEST_KEPT = 40  # characters of a word that is cut once


@dataclass(frozen=True, slots=True)
class Question:
    """An intent, read once: its terms, their places, and its vector.

    Attributes:
        text: what it says.
        keys: uint64 (T,), the terms.
        counts: float32 (T,), how often each is said.
        places: float32 (T,), where each is first said, 0 the beginning and 1 the end, or the ninth word of a shorter text:
            "refund the order" does not say that the refund comes first.
        vector: float32 (dim,), of unit length; None where there is no embedder.
        parts: float32 (P, dim), the same of each of its `clauses`.
        steps: each of its `clauses` as a question of words alone; () for a text of one clause.
    """

    text: str
    keys: NDArray[np.uint64]
    counts: Floats
    places: Floats
    vector: Floats | None = None
    parts: Floats | None = None
    steps: tuple[Question, ...] = ()

    @classmethod
    def of(cls, text: str, vector: Floats | None = None, parts: Floats | None = None) -> Question:
        """Read a text. Stop words are dropped unless nothing else is there."""
        said = [(place, run) for place, run in enumerate(runs(text))]
        content = [(place, run) for place, run in said if run.lower() not in STOP_WORDS] or said
        count, first = dict[int, int](), dict[int, int]()  # in the order in which they are said
        for place, run in content:
            for term in _kept(run) if len(run) <= _LONGEST_KEPT else _keys(run):
                count[term] = count.get(term, 0) + 1
                first.setdefault(term, place)
        return cls(
            text,
            np.array(list(count), np.uint64),
            np.array(list(count.values()), np.float32),
            np.array([place / max(len(said) - 1, _SENTENCE) for place in first.values()], np.float32),
            vector,
            parts,
            tuple(cls.of(step) for step in clauses(text)),
        )


@dataclass(frozen=True)
class Matches:
    """The question's terms in texts: P entries, by term.

    Attributes:
        holders: int64, the text of every posting there is.
        held: int64 (T,), how many texts say each term.
        idf: float32 (T,), of each term.
        runs: the postings of each term that any text says.
        slot: int64 (T,), the number of each term among those that any text says; V, how many these are, for one that none says.
    """

    holders: NDArray[np.int64]
    held: NDArray[np.int64]
    idf: Floats
    runs: Sequence[slice]
    slot: NDArray[np.int64]

    @cached_property
    def text(self) -> NDArray[np.int64]:
        """int64 (P,): which text."""
        return _joined(self.holders, self.runs)

    @cached_property
    def term(self) -> NDArray[np.int64]:
        """int64 (P,): which term of the question."""
        return np.arange(len(self.held)).repeat(self.held)

    @cached_property
    def worth(self) -> float:
        """The total weight of all terms, above 0."""
        return max(float(np.add.reduce(self.idf)), 1e-9)

    def each(self, value: Floats) -> Floats:
        """Return each entry's value from a value per term, float32 (P,)."""
        return value.repeat(self.held)

    def sums(self, value: Floats) -> Floats:
        """Return sums over each term's entries, float32 (T,)."""
        found, said = np.zeros(len(self.held), np.float32), self.held.nonzero()[0]
        if len(said):
            found[said] = np.add.reduceat(value, (self.held.cumsum() - self.held).take(said))
        return found


class Texts:
    """A list of texts, ready to be scored against questions.

    Args:
        texts: what they say.
        vectors: float32 (n, dim), their meaning; None where there is no embedder.
    """

    def __init__(self, texts: Sequence[str], vectors: Floats | None) -> None:
        counted = _TABLE.count([without_stop_words(text) for text in texts])
        self.size = len(texts)
        self.vectors = vectors
        tf = np.minimum(counted.count, 255).astype(np.uint8)[:, None]
        self.postings: Postings = build(counted.values[counted.code], counted.text.astype(np.int32), tf)
        length = np.bincount(counted.text, counted.count, self.size).astype(np.float32)
        mean = max(float(length.mean()) if self.size else 0.0, 1e-9)
        self.norms: Floats = field_norms(SCHEMA, length[:, None], np.array([mean]))

    def matches(self, question: Question) -> Matches:
        """Return where the question's terms stand in the texts."""
        held, idf = self._terms
        numbers, runs = self._numbers
        nowhere = len(runs)
        slots = [numbers.get(key, nowhere) for key in question.keys.tolist()]
        said = [runs[slot] for slot in slots if slot < nowhere]
        slot = np.array(slots, np.int64)
        return Matches(self._holders, held.take(slot), idf.take(slot), said, slot)

    def bm25(self, question: Question, matches: Matches | None = None) -> Floats:
        """Return BM25 as a share of its maximum, float32 (n,), 0..1.

        `matches` is what the method of this name returned, if it is at hand.
        """
        found = matches or self.matches(question)
        return self.summed(found, self._holders, self._gained, self.size, over=found.worth)

    def summed(
        self,
        matches: Matches,
        place: NDArray[np.int64],
        value: Floats,
        size: int,
        *,
        factors: Floats | None = None,
        norms: Floats | None = None,
        over: float = 1.0,
    ) -> Floats:
        """Return the weights of matches summed by place, float32 (size,).

        Args:
            matches: where the texts say the terms of a question.
            place: int64, a place for each posting, as `everything` has them.
            value: float32, what each is worth.
            size: how many places there are.
            factors: float32 (T,), what that is to be times, for each term.
            norms: float32 (size,), what the sum of each place is divided by.
            over: what every sum is divided by.
        """
        if not matches.runs:
            return np.zeros(size, np.float32)
        given = _joined(value, matches.runs)
        if factors is not None:
            given = matches.each(factors) * given
        text = matches.text if place is self._holders else _joined(place, matches.runs)
        total = np.bincount(text, given, size) / (over if norms is None else np.float32(over) * norms)
        return total.astype(np.float32)

    def gained(self, matches: Matches) -> Floats:
        """Return each match's part of BM25, float32 (P,)."""
        return self.read(self._gained, matches)

    def read(self, value: NDArray[Any], matches: Matches) -> NDArray[Any]:
        """Return the matches' values out of a value per posting, (P,)."""
        return _joined(value, matches.runs)

    @property
    def everything(self) -> Matches:
        """Every posting, as a question with all terms would match."""
        held, idf = self._terms
        every = slice(0, len(self._holders))
        return Matches(self._holders, held[:-1], idf[:-1], (every,), np.arange(len(held) - 1))

    def tfidf(self, question: Question, matches: Matches | None = None) -> Floats:
        """Return float32 (n,): the cosine of tf-idf vectors, 0..1."""
        found = matches or self.matches(question)
        weight = question.counts * found.idf
        length = max(math.sqrt(weight @ weight), 1e-9)
        return self.summed(
            found, self._holders, self._tfidf, self.size, factors=weight, norms=self._tfidf_norm, over=length
        )

    @cached_property
    def _terms(self) -> tuple[NDArray[np.int64], Floats]:
        """(number of postings, idf) of every term, then of an unknown term."""
        held = np.append(np.diff(self.postings.offsets), 0)
        return held, _idf(self.size, held)

    @cached_property
    def _numbers(self) -> tuple[dict[int, int], list[slice]]:
        """The number of each term by its key, and its postings."""
        keys, offsets = self.postings.keys.tolist(), self.postings.offsets.tolist()
        return dict(zip(keys, range(len(keys)), strict=True)), list(starmap(slice, pairwise(offsets)))

    @cached_property
    def _holders(self) -> NDArray[np.int64]:
        """The text of every posting, as it is counted by."""
        return self.postings.docs.astype(np.int64)

    @cached_property
    def _tfidf(self) -> Floats:
        """Tf * idf of every posting."""
        held, idf = self._terms
        return np.asarray(self.postings.tf[:, 0] * idf.repeat(held), np.float32)

    @cached_property
    def _gained(self) -> Floats:
        """Each posting's part of BM25."""
        held, idf = self._terms
        norms = self.norms.take(self._holders, axis=0)
        return gains(SCHEMA, self.postings.tf, norms, idf.repeat(held)).astype(np.float32)

    @cached_property
    def _tfidf_norm(self) -> Floats:
        """The Euclidean length of each text's tf-idf vector."""
        square = np.bincount(self._holders, self._tfidf.astype(np.float64) ** 2, self.size)
        return np.sqrt(np.maximum(square, 1e-9)).astype(np.float32)

    def dense(self, question: Question) -> Floats:
        """Return the cosines of meanings, float32 (n,); 0 without an embedder."""
        if self.vectors is None or question.vector is None or not self.size:
            return np.zeros(self.size, np.float32)
        rows, scales = self.whole
        whole, scale = quantised(question.vector)
        return scaled_products(rows, whole, scales, scale)

    @cached_property
    def whole(self) -> tuple[NDArray[np.int8], Floats]:
        """The quantised vectors and scales, int8 (n, dim) and float32 (n,)."""
        return quantise(np.zeros((0, 0), np.float32) if self.vectors is None else self.vectors)

    def nearest(self, question: Question) -> Floats:
        """Return the cosine with the nearest clause or question, float32 (n,).

        One vector for several needs is near to none of them.
        """
        if self.vectors is None or question.vector is None:
            return np.zeros(self.size, np.float32)
        if question.parts is None or not len(question.parts):
            alone: Floats = self.vectors @ question.vector
            return alone
        cosines: Floats = np.concatenate([question.vector[None], question.parts]) @ self.across
        return np.asarray(np.maximum.reduce(cosines, axis=0), np.float32)

    @cached_property
    def across(self) -> Floats:
        """The vectors as columns, float32 (dim, n), for faster products."""
        return np.zeros((0, 0), np.float32) if self.vectors is None else np.ascontiguousarray(self.vectors.T)


def _joined(values: NDArray[Any], runs: Sequence[slice]) -> NDArray[Any]:
    return np.concatenate([values[run] for run in runs] or [values[:0]])


def _keys(run: str) -> tuple[int, ...]:
    """Return the keys of the terms of a run of word characters."""
    return tuple(key(term) for term in run_terms(run))


_kept = lru_cache(maxsize=16_384)(_keys)  # people say the same words again and again


def clauses(text: str) -> list[str]:
    """Return the separate requests of a text; none for a single one.

    >>> clauses("Find the latest report, translate it and mail it to Ann.")
    ['Find the latest report', 'mail it to Ann']
    """
    cut = [part.strip() for part in _CLAUSE.split(text)]
    found = [part for part in cut if len(part.split()) >= _LEAST_WORDS]
    return [] if found == [text.strip()] else found[:_MOST_CLAUSES]


def without_stop_words(text: str) -> str:
    """Return the content words of a text, else all words."""
    said = runs(text)
    return " ".join([run for run in said if run.lower() not in STOP_WORDS] or said)


def _idf(texts: int, holding: NDArray[np.integer]) -> Floats:
    return inverse_document_frequency(texts, holding.astype(np.float64)).astype(np.float32)

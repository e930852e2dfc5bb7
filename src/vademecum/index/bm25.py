"""BM25F scores of documents for the words of a question.

    tf~(t, d) = sum over fields f of  w_f * tf_f / (1 - b_f + b_f * length_f / mean length_f)
    BM25F(q, d) = sum over terms t of  idf(t) * tf~ / (k1 + tf~)
    idf(t) = ln(1 + (N - n_t + 0.5) / (n_t + 0.5))

Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields" (CIKM 2004). A `Schema` names the fields
and their constants. With one field this is plain BM25. Documents lie in segments, end to end.

`Postings` is an inverted index as four arrays: the documents of each term.

keys     uint64 (T,)      term keys, ascending
offsets  int64  (T + 1,)  term t owns postings offsets[t] : offsets[t + 1]
docs     int32  (P,)      document numbers, ascending within a term
tf       uint8  (P, F)    occurrences per field, clipped at 255

>>> p = build(np.array([7, 3, 7], np.uint64), np.array([0, 0, 1], np.int32), np.array([[1], [2], [3]], np.uint8))
>>> p.keys.tolist(), p.docs.tolist(), p.tf[:, 0].tolist()
([3, 7], [0, 0, 1], [2, 1, 3])
>>> docs, tf, which = p.find(np.array([7, 9], np.uint64))
>>> docs.tolist(), tf[:, 0].tolist(), which.tolist()
([0, 1], [1, 3], [0, 0])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import StoreCorruptError
from vademecum.index.arrays import ranges
from vademecum.index.tokenize import key, terms
from vademecum.types import TermStatistics


@dataclass(frozen=True, slots=True)
class Postings:
    """An inverted index over documents 0..n, with `tf.shape[1]` fields."""

    keys: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    docs: NDArray[np.int32]
    tf: NDArray[np.uint8]

    def find(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]]:
        """Return the documents, occurrences and term indexes of all postings of terms.

        Raises `StoreCorruptError` where they lie outside.
        """
        if not len(self.keys):
            return self.docs[:0], self.tf[:0], np.zeros(0, np.int64)
        try:
            slot = self.keys.searchsorted(keys)
            known = (self.keys.take(slot, mode="clip") == keys).nonzero()[0]
            slot = slot.take(known)
            begins, ends = self.offsets.take(slot), self.offsets.take(slot + 1)
            if begins.min(initial=0) < 0 or ends.max(initial=0) > len(self.docs):
                raise IndexError("postings begin or end outside")  # noqa: TRY301 - as numpy does for other places
            rows = ranges(begins, ends - begins)
            return self.docs.take(rows), self.tf.take(rows, axis=0), np.repeat(known, ends - begins)
        except (IndexError, ValueError) as error:
            raise damaged(error) from error


@dataclass(frozen=True, slots=True)
class Matches:
    """The postings of a question's terms, term by term.

    Attributes:
        docs: int32 (M,), the document of each, counted over all segments.
        terms: int64 (M,), ascending.
        share: float32 (M,), the term's share of the question.
        tf: uint8 (M, F), occurrences per field.
    """

    docs: NDArray[np.int32]
    terms: NDArray[np.int64]
    share: NDArray[np.float32]
    tf: NDArray[np.uint8]


def damaged(error: Exception | str) -> StoreCorruptError:
    """Return the error for a number that points outside an index file."""
    return StoreCorruptError(f"an index file is damaged ({error}): run `vade index --full`")


def build(keys: NDArray[np.uint64], docs: NDArray[np.int32], tf: NDArray[np.uint8]) -> Postings:
    """Return postings of (key, doc, tf) triples.

    Each pair appears once, and the documents of a key ascend.
    """
    order = np.argsort(keys, kind="stable")  # stable: keeps each term's documents ascending
    keys, docs, tf = keys[order], docs[order], tf[order]
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.zeros(0, np.int64)
    offsets = np.concatenate((first, [len(keys)])).astype(np.int64)
    return Postings(keys[first], offsets, docs, tf)


def merge(pieces: Sequence[Postings], renumber: Sequence[NDArray[np.int32]]) -> Postings:
    """Join postings, and renumber their documents.

    `renumber[i][d]` is the new number of document d of piece i, or -1 to drop it.

    New numbers ascend within a piece.
    """
    keys, docs, tf = [], [], []
    for piece, new in zip(pieces, renumber, strict=True):
        number = new[piece.docs]
        keep = number >= 0
        keys.append(np.repeat(piece.keys, np.diff(piece.offsets))[keep])
        docs.append(number[keep])
        tf.append(piece.tf[keep])
    key, doc, count = np.concatenate(keys), np.concatenate(docs), np.concatenate(tf)
    numbers = np.concatenate(renumber)
    if (np.diff(numbers[numbers >= 0]) < 0).any():  # pieces interleave
        order = np.argsort(doc, kind="stable")
        key, doc, count = key[order], doc[order], count[order]
    return build(key, doc, count)


Copies = NDArray[np.int64] | None
Norms = NDArray[np.float32]
Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Schema:
    """The fields of a document, in the order of its term counts.

    Attributes:
        fields: names.
        weights: how much one occurrence in each field counts.
        b: how much a long field is held against its words, 0..1, for each field.
        k1: how soon repeated words stop to count.
    """

    fields: tuple[str, ...]
    weights: tuple[float, ...]
    b: tuple[float, ...]
    k1: float = 1.2  # the textbook value


# Chunks of code. Docs weigh 2 (CodeRAG decision 1). Long bodies are penalised, long names hardly.
CODE = Schema(("body", "name", "signature", "docs"), (1.0, 3.0, 1.0, 2.0), (0.75, 0.3, 0.5, 0.5))


class Indexed(Protocol):
    """A segment: documents 0..size, with their postings."""

    @property
    def size(self) -> int:
        """Number of documents."""
        ...

    @property
    def postings(self) -> Postings:
        """The terms of the documents."""
        ...


@dataclass(frozen=True, slots=True)
class Lexical:
    """The matches of a question's words, by document and by term.

    Terms that no document holds weigh most in coverage: a word missing everywhere may be what the question is about.
    """

    score: NDArray[np.float32]
    idf: NDArray[np.float64]  # (T,), per query term
    known: NDArray[np.bool_]  # (T,), whether any counted document holds the term
    term_share: NDArray[np.float32]  # (T,), each term's share of the question's idf, 0 for terms nobody asked for
    matches: Matches  # the postings of the terms


def field_norms(schema: Schema, lengths: NDArray[np.float32], mean_lengths: NDArray[np.float64]) -> Norms:
    """Return one occurrence's part of tf~, float32 (N, F)."""
    weights, b = np.array(schema.weights, np.float32), np.array(schema.b, np.float32)
    return np.asarray(weights / (1 - b + b * lengths / mean_lengths.astype(np.float32)), np.float32)


def inverse_document_frequency(documents: int, holding: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the idf of terms that `holding` of `documents` documents hold.

    >>> inverse_document_frequency(100, np.array([1.0, 50.0])).round(2).tolist()
    [4.21, 0.69]
    """
    return np.log1p((documents - holding + 0.5) / (holding + 0.5))


def gains(schema: Schema, tf: NDArray[np.integer[Any]], norms: Norms, idf: NDArray[Any]) -> NDArray[Any]:
    """Return the BM25F gain of each posting: (P,), typed as `idf`.

    Args:
        schema: the fields F and their constants.
        tf: integers (P, F), occurrences.
        norms: float32 (P, F), the rows of `field_norms` for the postings' documents.
        idf: (P,), of the postings' terms.
    """
    by_field = norms * tf
    frequency = by_field[:, 0]
    # subtle: a product of matrices rounds the last rows otherwise than others
    for field in range(1, len(schema.fields)):
        frequency = frequency + by_field[:, field]
    return idf * (frequency / (schema.k1 + frequency))


def saturated(schema: Schema, counts: NDArray[Any], lengths: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the saturated counts of documents of one field: (N, T).

    Times the idf of each term, their sum is BM25. `counts` is (N, T), `lengths` (N,).

    >>> plain = Schema(("text",), (1.0,), (0.75,))
    >>> saturated(plain, np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([4.0, 4.0])).round(2).tolist()
    [[0.45, 0.0], [0.63, 0.45]]
    """
    mean = max(float(lengths.sum()) / max(len(lengths), 1), 1.0)
    b, k1 = schema.b[0], schema.k1
    held: NDArray[np.float64] = counts / (counts + (k1 * (1 - b) + lengths * np.float32(k1 * b / mean))[:, None])
    return held


def bm25f(
    schema: Schema,
    segments: Sequence[Indexed],
    copies: Copies,
    norms: Norms,
    keys: Keys,
    asked: int,
    *,
    whole: TermStatistics | None = None,
) -> Lexical:
    """Score every document of the segments for the terms of a question.

    Args:
        schema: the fields F and their constants.
        segments: the documents.
        copies: int64 (N,), how often each document counts in statistics: at how many paths of a snapshot a chunk stands, 0 for
            a deleted event. None where each counts once.
        norms: float32 (N, F), as `field_norms` returns.
        keys: uint64 (T,), the question's terms.
        asked: how many of the first keys count for coverage.
        whole: the statistics of the collection that the segments are a part of; None where they are all of it.

    Raises:
        StoreCorruptError: postings name documents that do not exist.
    """
    try:
        docs, tf, term = _matches(schema, segments, keys)
        weight = None if copies is None else copies.take(docs)
        count = len(norms) if copies is None else int(copies.sum())
        holding = np.bincount(term, weight, len(keys)).astype(np.float64)
        if whole is not None:
            count, holding = whole.documents, np.array(whole.holding, np.float64)
        idf = inverse_document_frequency(count, holding)
        gained = gains(schema, tf, norms.take(docs, axis=0), idf.take(term))
        score = np.bincount(docs, gained, len(norms)).astype(np.float32)
    except (IndexError, ValueError) as error:
        raise damaged(error) from error
    share = np.where(np.arange(len(keys)) < asked, idf / max(float(idf[:asked].sum()), 1e-9), 0.0).astype(np.float32)
    return Lexical(score, idf, holding > 0, share, Matches(docs, term, share.take(term), tf))


def _matches(
    schema: Schema, segments: Sequence[Indexed], keys: Keys
) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]]:
    """Return the documents, occurrences and terms of all matches, term by term."""
    docs, tfs = [np.zeros(0, np.int32)], [np.zeros((0, len(schema.fields)), np.uint8)]
    terms = [np.zeros(0, np.int64)]
    base = 0
    for segment in segments:
        doc, tf, term = segment.postings.find(keys)
        docs.append(doc + np.int32(base))
        tfs.append(tf)
        terms.append(term)
        base += segment.size
    term = np.concatenate(terms)
    order = np.argsort(term, kind="stable")  # one order of sums, whatever segment a document is in
    return np.concatenate(docs).take(order), np.concatenate(tfs).take(order, axis=0), term.take(order)


def term_keys(terms: Sequence[str]) -> NDArray[np.uint64]:
    """Return the keys of terms as an array."""
    return np.array([key(term) for term in terms], np.uint64)


MEAN_TERMS = 80  # of a chunk of code; a constant, so that a text's weights never depend on other texts
_K1, _B = 1.2, 0.75


def sparse_weights(text: str) -> dict[int, float]:
    """Return the weight of each term of a text, by number, ascending.

    Search servers get a text as this sparse vector. A weight is the saturated frequency without the rarity, which the
    server knows of its own collection: tf (k1 + 1) / (tf + k1 (1 - b + b terms / MEAN_TERMS)). Two terms share a number
    with odds of 1 in 4 billion; then each is found by the other, as little as that says. Source: Robertson and Zaragoza,
    "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), 3.4.

    >>> list(sparse_weights("open the file, open_file").values()) == sorted(sparse_weights("file").values())
    False
    """
    counts = Counter(key(term) & 0xFFFFFFFF for term in terms(text))  # numbers in a sparse vector are below 2**32
    length = _K1 * (1 - _B + _B * counts.total() / MEAN_TERMS)
    return {number: round(tf * (_K1 + 1) / (tf + length), 4) for number, tf in sorted(counts.items())}

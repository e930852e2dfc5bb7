"""BM25F: how well a chunk's words answer the question's words.

    tf~(t, d) = sum over fields f of  w_f * tf_f / (1 - b_f + b_f * length_f / mean length_f)
    BM25F(q, d) = sum over terms t of  idf(t) * tf~ / (k1 + tf~)
    idf(t) = ln(1 + (N - n_t + 0.5) / (n_t + 0.5))

Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields" (CIKM 2004). Fields are a chunk's
body, name (with its scope), signature, and docs (comment and summary). Statistics are those of the snapshot's rows, so
what other branches hold does not count. Paths are scored apart (`features.path_share`): they belong to files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from vademecum.index.postings import Matches, damaged
from vademecum.index.segment import Segment
from vademecum.index.tokenize import query_keys

Segments = Sequence[Segment]
Copies = NDArray[np.int64] | None
Norms = NDArray[np.float32]
Keys = NDArray[np.uint64]

K1 = 1.2  # the textbook value; saturation of repeated words
FIELD_WEIGHTS = (1.0, 3.0, 1.0, 2.0)  # body, name, signature, docs (2: CodeRAG decision 1 for summaries)
_EVERY_FIELD = np.ones(len(FIELD_WEIGHTS), np.float32)
FIELD_B = (0.75, 0.3, 0.5, 0.5)  # length normalisation: long bodies are penalised, long names hardly


@dataclass(frozen=True, slots=True)
class Lexical:
    """What the words of a question find: per chunk, float32 (N,), the BM25F score; per term, the rest.

    Terms that no row holds weigh most in coverage: what is missing everywhere is what the question may be about.
    """

    score: NDArray[np.float32]
    idf: NDArray[np.float64]  # (T,), per query term
    known: NDArray[np.bool_]  # (T,), whether any row holds the term
    term_share: NDArray[np.float32]  # (T,), each term's share of the question's idf, 0 for those nobody wrote
    matches: Matches  # where the terms stand


def field_norms(lengths: NDArray[np.float32], mean_lengths: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return float32 (N, 4): what one occurrence of a term in each field of each chunk adds to tf~."""
    weights, b = np.array(FIELD_WEIGHTS, np.float32), np.array(FIELD_B, np.float32)
    return np.asarray(weights / (1 - b + b * lengths / mean_lengths.astype(np.float32)), np.float32)


def inverse_document_frequency(rows: int, holding: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the idf of terms held by `holding` of `rows` rows.

    >>> inverse_document_frequency(100, np.array([1.0, 50.0])).round(2).tolist()
    [4.21, 0.69]
    """
    return np.log1p((rows - holding + 0.5) / (holding + 0.5))


def bm25f(
    segments: Segments,
    copies: Copies,
    norms: Norms,
    keys: Keys,
    asked: int,
    rows: int | None = None,
) -> Lexical:
    """Score every chunk of the segments, laid end to end, for the terms of a question.

    Args:
        segments: where the chunks are.
        copies: int64 (N,), at how many paths of the snapshot each chunk stands; chunks at none do not count. None where
            each stands at one.
        norms: what `field_norms` returns for these chunks.
        keys: uint64 (T,), the question's terms.
        asked: how many of them, the first ones, coverage is counted by.
        rows: how many rows there are, the sum of `copies`, where that is known.

    Raises:
        StoreCorruptError: postings are of chunks that there are not.
    """
    if rows is None:
        rows = len(norms) if copies is None else int(copies.sum())
    try:
        return _scored(segments, copies, norms, keys, asked, rows)
    except (IndexError, ValueError) as error:
        raise damaged(error) from error


def _scored(segments: Segments, copies: Copies, norms: Norms, keys: Keys, asked: int, rows: int) -> Lexical:
    """Score every chunk, with postings that may lie outside."""
    found = _matches(segments, keys)
    docs, term, _, tf = found.laid_out()
    begins = np.searchsorted(term, np.arange(len(keys) + 1))  # of each term's matches, which follow each other
    matches = np.diff(begins)
    holding = _holding(docs, begins, matches, copies)
    idf = inverse_document_frequency(rows, holding)
    frequency = (norms.take(docs, axis=0) * tf) @ _EVERY_FIELD
    weight = np.repeat(idf, matches)
    weight *= frequency / (K1 + frequency)
    score = np.bincount(docs, weight, len(norms)).astype(np.float32)
    share = np.where(np.arange(len(keys)) < asked, idf / max(float(idf[:asked].sum()), 1e-9), 0.0).astype(np.float32)
    return Lexical(score, idf, holding > 0, share, replace(found, share=share.take(found.runs[:, 0])))


def _holding(
    docs: NDArray[np.int32], begins: NDArray[np.int64], matches: NDArray[np.int64], copies: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Return float64 (T,): how many rows hold each term."""
    found = matches.astype(np.float64)
    held = np.flatnonzero(matches)
    if copies is not None and len(held):
        found[held] = np.add.reduceat(copies.take(docs), begins[held])
    return found


def _matches(segments: Segments, keys: Keys) -> Matches:
    """Return the matches of every term, in the question's order of terms; shares are not known yet."""
    parts = tuple((segment.postings.docs, segment.postings.tf, base) for segment, base in _based(segments))
    runs = [segment.postings.places(keys) for segment in segments]
    numbered = [np.column_stack([each[:, 0], np.full(len(each), part), each[:, 1:]]) for part, each in enumerate(runs)]
    every = np.concatenate([np.zeros((0, 4), np.int64), *numbered])
    every = every[np.argsort(every[:, 0], kind="stable")]  # whatever segment a chunk is in, sums have one order
    return Matches(parts, every, np.zeros(len(every), np.float32))


def _based(segments: Segments) -> list[tuple[Segment, int]]:
    """Return each segment with the number of its first chunk among those of all."""
    return list(zip(segments, accumulate((segment.size for segment in segments), initial=0), strict=False))


def term_keys(terms: Sequence[str]) -> NDArray[np.uint64]:
    """Return the keys of terms as an array."""
    return np.array(query_keys(terms), np.uint64)

"""Probability that a right tool is among the shown ones.

A search compares tools with one another, so that one of them always fits best. Whether any fits is in how near the nearest
one is, on scales that do not depend on the others:

    log-odds = -4.64 + 6.98 c + 8.12 t + 9.8 m         by text
             + 15 n / (n + 25) * (a - 0.2)             by memory, of n traces

    c   the highest cosine of meaning between a tool and the intent or one of its clauses
    t   the highest tf-idf cosine
    m   the mean cosine of meaning over all tools: how far the catalogue is about such things at all
    a   the highest tf-idf cosine with a past intent, or the cosine of words as they stand, less 0.2:
        what all of a few intents say is no less said

Few traces say nothing by their silence. So with fewer than `FEW` of them memory only adds, and no answer is less sure than without.
The weights were fitted by `benchmarks/tools_found.py` on questions that a catalogue's tools fit, and on as many of other
catalogues. These hold for the built-in embedder; an embedder of the user's own has those of all-MiniLM-L6-v2, and without an
embedder words decide alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from vademecum.tools.intent_features import Asked
from vademecum.tools.texts import Floats

FOUND_FROM = 0.05  # below, no tool fits: right 24 of 25 times, where as many questions fit as do not
FEW = 20  # traces
_TEXT = np.array([-4.64, 6.98, 8.12, 9.8])  # bias, nearest meaning, tf-idf, mean of meaning
_OWN = np.array([-6.77, 10.74, 5.79, 7.68])  # the same, beside an embedder of the user's own
_WORDS = np.array([-2.5, 11.9])  # bias, tf-idf
_MEMORY, _TRACES, _ALIKE, _PLAIN = 15.0, 25.0, 0.2, 0.2


def probability(asked: Asked, allowed: NDArray[np.bool_]) -> float:
    """Return the probability that a shown tool is right, 0..1.

    Args:
        asked: the intent.
        allowed: bool (n,), the tools that may be shown.
    """
    if not allowed.any():
        return 0.0
    near, words, mean = text_signals(asked, allowed)
    documents = asked.view.documents
    meant = asked.question.vector is not None and documents.vectors is not None
    by_meaning = _OWN if documents.own else _TEXT
    odds = float(by_meaning @ (1, near, words, mean) if meant else _WORDS @ (1, words))
    traces, alike = memory_signals(asked)
    by_memory = _MEMORY * traces / (traces + _TRACES) * (alike - _ALIKE)
    return 1 / (1 + math.exp(-(odds + (max(by_memory, 0.0) if traces < FEW else by_memory))))


def text_signals(asked: Asked, allowed: NDArray[np.bool_]) -> Floats:
    """Return the signals c, t and m, float32 (3,)."""
    meanings = asked.view.documents.dense(asked.question)
    signals = asked.meaning[allowed].max(), asked.tfidf[allowed].max(), meanings[allowed].mean()
    return np.array(signals, np.float32)


def memory_signals(asked: Asked) -> tuple[int, float]:
    """Return the number of speaking traces, and the signal a."""
    speaks = asked.weight > 0
    alike = np.maximum(asked.alike, asked.plain - _PLAIN)
    return int(speaks.sum()), float(alike[speaks].max(initial=0.0))

"""A text as a sparse vector of terms, for search servers.

The weight of a term is BM25's saturated frequency, without its rarity, which the server knows of its own collection:

    weight = tf (k1 + 1) / (tf + k1 (1 - b + b terms / MEAN_TERMS))        k1 = 1.2, b = 0.75

Two terms share a number with odds of 1 in 4 billion; then each is found by the other, as little as that says.
Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), 3.4.
"""

from __future__ import annotations

from collections import Counter

from vademecum.index.tokenize import key, terms

K1, B = 1.2, 0.75
MEAN_TERMS = 80  # of a chunk of code; a constant, so that a text's weights never depend on other texts


def sparse_weights(text: str) -> dict[int, float]:
    """Return the weight of each term of a text, by number, ascending.

    >>> list(sparse_weights("open the file, open_file").values()) == sorted(sparse_weights("file").values())
    False
    """
    counts = Counter(key(term) & 0xFFFFFFFF for term in terms(text))  # numbers in a sparse vector are below 2**32
    length = K1 * (1 - B + B * counts.total() / MEAN_TERMS)
    return {number: round(tf * (K1 + 1) / (tf + length), 4) for number, tf in sorted(counts.items())}

"""The fields of a document, and how BM25 weighs their words.

Each capability has a schema of its own: a chunk of code has four fields, an event of memory has one.
"""

from __future__ import annotations

from dataclasses import dataclass


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

"""Batching shared by the embedders: bounded batches of texts, checked vectors.

    passages → texts with the model's prompt → long texts cut → batches, shortest text first → vectors, checked
    → unit length, back in the caller's order; empty texts stay zero

A batch is bounded by its number of texts, and by its tokens after padding every text to the longest. The bound limits the
memory of a local model and the size of a request to a server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import ProviderError
from vademecum.providers.embedders.presets import Preset
from vademecum.settings import EmbeddingSettings
from vademecum.types import EmbedKind, Passage

Matrix = NDArray[np.float32]
CHARACTERS_PER_TOKEN = 3  # of code, a low guess: 4.0 were measured over all, 3.0 in the densest twentieth of chunks


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one batch: texts, padded tokens, and tokens per text."""

    texts: int = 64
    tokens: int = 2_048
    text_tokens: int = 1_024


DEFAULTS = EmbeddingSettings()


LOCAL_TOKENS = 2_048  # of a local model: larger batches were slower and took more memory (benchmarks/embedders.py)
SERVED_TOKENS = 32_768  # of a request: a quarter of Voyage's limit for its code model, a tenth of OpenAI's


def limits_of(settings: EmbeddingSettings, usual: int) -> Limits:
    """Return the configured limits; `usual` is the default for batch tokens."""
    return Limits(settings.batch_texts, settings.batch_tokens or usual, settings.text_tokens)


def texts_of(passages: Sequence[Passage], kind: EmbedKind, preset: Preset, limits: Limits) -> list[str]:
    r"""Return the model's input for each passage; "" for blank ones.

    >>> texts_of([Passage("def f(): ...", "f", "Box"), Passage(" ")], "query", Preset(query="search_query: "), Limits())
    ['search_query: Box\ndef f(): ...', '']
    """
    before = preset.query if kind == "query" else preset.document
    most = min(limits.text_tokens, preset.most_tokens) * CHARACTERS_PER_TOKEN
    joined = (passage.joined[:most].encode("utf-8", "replace").decode() for passage in passages)
    return [before + text if text.strip() else "" for text in joined]


def tokens_of(text: str) -> int:
    """Return a text's estimated tokens, too many rather than too few."""
    return len(text) // CHARACTERS_PER_TOKEN + 2


def batches(lengths: Sequence[int], limits: Limits) -> Iterator[list[int]]:
    """Yield batches of text indices within `limits`, shortest texts first.

    `lengths` holds the tokens of each text.

    A text that is too long by itself is a batch of its own. Sorting by length keeps padding small: 40 % fewer tokens
    were measured on chunks of Python.

        >>> list(batches([5, 100, 5, 90], Limits(texts=3, tokens=200)))
        [[0, 2], [3, 1]]
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        if batch and (len(batch) == limits.texts or (len(batch) + 1) * lengths[place] > limits.tokens):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def embed_texts(
    texts: Sequence[str],
    limits: Limits,
    embed: Callable[[list[str]], Matrix],
    measure: Callable[[list[str]], Sequence[int]] | None = None,
) -> Matrix:
    """Return float32 (len(texts), dim) of unit length; empty texts are zero.

    The shape is (n, 0) if all texts are empty.

    `embed` returns a row for each text of a batch; `measure` returns the texts' tokens, which are estimated without it.
    """
    told = [place for place, text in enumerate(texts) if text]
    found = np.zeros((len(texts), 0), np.float32)
    said = [texts[place] for place in told]
    for batch in batches([tokens_of(text) for text in said] if measure is None else measure(said), limits):
        places = [told[number] for number in batch]
        rows = unit(embed([texts[place] for place in places]))
        if not found.shape[1]:
            found = np.zeros((len(texts), rows.shape[1]), np.float32)
        found[places] = rows
    return found


def unit(rows: NDArray[np.floating[Any]]) -> Matrix:
    """Return rows of unit length.

    Raises `ProviderError` for a row without a direction.

    >>> unit(np.array([[3e200, 4e200]]))
    array([[0.6, 0.8]], dtype=float32)
    """
    exact = rows.astype(np.float64)
    largest = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    if not np.isfinite(largest).all() or not (largest > 0).all():
        raise ProviderError("a vector is zero or holds what is no number")
    exact /= largest  # so that squares of large numbers stay finite
    return np.asarray(exact / np.linalg.norm(exact, axis=1, keepdims=True), np.float32)

"""The built-in embedder: weighted word pieces and a small residual network.

    x(text)  = normalise( sum over distinct pieces t of  w(t) * sqrt(count of t) * E[t] )
    y(text)  = normalise( x + W2 gelu(W1 16 x + b) )

E is a table of 32,000 word pieces. Queries and documents share E; each side has its own w, W1, b and W2, because queries and code are
written differently. For documents the pieces of the title (a symbol's name) count 4 more and those of the context (its scope)
1.5 more. The model was trained from scratch on docstrings and the code below them; `model/CARD.md` gives data, method and quality.

A model without networks ends with x: `prose-1` is such a table for prose, `model/CARD-prose.md`.

No torch, no tokenizer library, no download: numpy and a memory-mapped file, about 90 microseconds a query. Word order is
ignored: a text is a bag of pieces.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import EmbedError, StoreCorruptError
from vademecum.index.arrays import RunTable, load_arrays
from vademecum.result import attempt
from vademecum.types import EmbedKind, Passage

Matrix = NDArray[np.float32]

_RUN = re.compile(r"[A-Za-z]+|[0-9]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
TITLE_WEIGHT = 4.0  # measured in the model's card, as are the next two
CONTEXT_WEIGHT = 1.5
HEAD_SCALE = 16.0
_LETTER_COST = -16.0  # log-probability of a letter that no piece covers: the letter is dropped, at this price
_LONGEST_PART = 40
_BLOCK = 64  # passages per pass through the network
# Rows and multiplications of each matrix product. In products of more rows the last bits depend on the row, in longer
# ones on the number of threads (OpenBLAS).
_PRODUCT, _ONE_THREAD = 8, 1 << 18
_ROWS = 1024  # table rows summed at once: in single precision they fit in a core's cache
MODELS = Path(__file__).parent / "model"


class WordPieces:
    """Cuts runs into word pieces; unknown words are cut by Viterbi."""

    def __init__(self, words: Sequence[str], log_probability: Sequence[float]) -> None:
        self._index = {word: i for i, word in enumerate(words)}
        self._log_probability = log_probability
        self._longest = max(map(len, words), default=0)
        self._of_letters = lru_cache(maxsize=2048)(self._cut)

    def __call__(self, run: str) -> list[int]:
        """Return the pieces of one run of letters or digits."""
        if run[0].isdigit():
            # there are endless numbers: unknown ones are dropped
            return [self._index[run]] if run in self._index else []
        return self._of_letters(run)

    def _cut(self, run: str) -> list[int]:
        found: list[int] = []
        for part in (run,) if run.islower() else _PART.findall(run):
            word = part.lower()
            found += [self._index[word]] if word in self._index else self._viterbi(word[:_LONGEST_PART])
        return found

    def _viterbi(self, word: str) -> list[int]:
        """Return the word's most probable cut; single letters are dropped.

        best[j] is the score of the best cut of word[:j], back[j] where its last piece starts.
        """
        best, back = [0.0] + [-1e9] * len(word), [0] * (len(word) + 1)
        for end in range(1, len(word) + 1):
            for start in range(max(0, end - self._longest), end):
                piece = self._index.get(word[start:end]) if end - start > 1 else None
                if piece is None and end - start > 1:
                    continue
                score = best[start] + (_LETTER_COST if piece is None else self._log_probability[piece])
                if score > best[end]:
                    best[end], back[end] = score, start
        cut, end = [], len(word)
        while end > 0:
            if end - back[end] > 1:
                cut.append(self._index[word[back[end] : end]])
            end = back[end]
        return cut[::-1]


Cut = Callable[[str], list[int]]
Layers = tuple[Matrix, Matrix, Matrix]
Heads = dict[str, Layers]


@lru_cache(maxsize=4)
def _model(name: str) -> tuple[Cut, RunTable, dict[str, Any], dict[str, Matrix], Heads]:
    """Return the parts that all embedders of one model share.

    The tuple holds the function that cuts a run into pieces, the table of runs that were cut, the model's arrays, the
    weights of pieces by kind of text, and the networks loaded so far. Raises `StoreCorruptError`.
    """
    arrays, _ = load_arrays(MODELS / f"{name}.safetensors")
    words = arrays["words"].tobytes().decode().split("\n")
    cut = WordPieces(words, arrays["logp"].tolist())
    weight = {kind: np.asarray(arrays[f"{kind}_weight"], np.float32) for kind in ("query", "document")}
    return cut, RunTable(_RUN, cut), dict(arrays), weight, {}


class StaticEmbedder:
    """The built-in embedder; see the module's docstring."""

    remote = False

    def __init__(self, model: str = "") -> None:
        """Load the model "static-2", or "prose-1". Raises `EmbedError` if damaged."""
        self.name = f"static:{model or 'static-2'}"
        try:
            known = _model(model or "static-2")
        except StoreCorruptError as error:
            raise EmbedError(f"the built-in model cannot be read: reinstall vademecum ({error})") from error
        self._cut, self._pieces, self._arrays, self._weight, self._heads = known
        self._table = self._arrays["table"]
        self.dim = int(self._table.shape[1])

    @attempt(EmbedError, MemoryError)
    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Matrix:
        """Return float32 of shape (len(passages), dim).

        Rows have unit length, or are zero if no piece is known.

        A passage's vector is the same to the last bit, whichever batch the passage is embedded in.
        """
        if kind == "query":
            # one product per question gives the same bits in any batch; each matrix is applied to all before the next is read
            return self._head(self._questions([passage.text for passage in passages])[:, None], kind)[:, 0]
        bags = _normalise(self._sums(*self._weighted(passages), len(passages)))  # of unit length
        padded = np.zeros((-(-len(bags) // _BLOCK) * _BLOCK, self.dim), np.float32)
        padded[: len(bags)] = bags
        parts = padded.reshape(-1, _BLOCK // _PRODUCT, _PRODUCT, self.dim)
        return np.concatenate([padded[:0], *(self._head(part, kind).reshape(-1, self.dim) for part in parts)])[
            : len(bags)
        ]

    def _questions(self, texts: Sequence[str]) -> Matrix:
        """Return the unit bag vectors of a few short texts.

        Built without an array per text, which would cost more than it saves here.
        """
        runs = [_RUN.findall(text) for text in texts]
        # the clauses of a question repeat the words of the whole
        cut = {run: self._cut(run) for run in dict.fromkeys(chain.from_iterable(runs))}
        counts = [Counter(chain.from_iterable(map(cut.__getitem__, said))) for said in runs]
        said = [pair for count in counts for pair in sorted(count.items())]
        pieces, weight = np.array([piece for piece, _ in said], np.int64), np.array([n for _, n in said], np.float32)
        weight *= self._weight["query"].take(pieces)
        rows = self._table.take(pieces, axis=0).astype(np.float32)
        found, end = np.zeros((len(texts), self.dim), np.float32), 0
        for row, count in zip(found, counts, strict=True):
            begin, end = end, end + len(count)
            bag: Matrix = weight[begin:end] @ rows[begin:end]  # one product per text: the same bits in any batch
            row[:] = bag / (np.float32(math.sqrt(bag @ bag)) or 1)
        return found

    def _sums(
        self, text: NDArray[np.int64], piece: NDArray[np.int64], weight: NDArray[np.float32], number: int
    ) -> Matrix:
        """Return the bag vectors of passages: weighted sums of table rows."""
        bags = np.zeros((number, self.dim), np.float32)
        first = np.flatnonzero(np.diff(text, prepend=-1))  # where each passage's pieces begin
        cuts = [0, *(int(np.searchsorted(first, n)) for n in range(_ROWS, len(text), _ROWS)), len(first)]
        for begin, end in pairwise(cuts):
            if begin < end:
                rows = slice(first[begin], first[end] if end < len(first) else len(text))
                scaled = self._table[piece[rows]].astype(np.float32)
                scaled *= weight[rows, None]
                bags[text[first[begin:end]]] = np.add.reduceat(scaled, first[begin:end] - first[begin], axis=0)
        return bags

    def _weighted(
        self, passages: Sequence[Passage]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Return (passage, piece, weight), each (m,), sorted by passage and piece."""
        # A server embeds new events for as long as it runs: words of small batches are not cached.
        pieces = self._pieces if len(passages) > _BLOCK else RunTable(_RUN, self._cut)
        said = [passage.text for passage in passages]
        said += [passage.title for passage in passages]
        said += [passage.context for passage in passages]
        counts = pieces.count(said)
        part, number = np.divmod(counts.text, max(len(passages), 1))
        weight = np.select(
            [part == 0, part == 1], [np.sqrt(counts.count), TITLE_WEIGHT * counts.count], CONTEXT_WEIGHT
        ).astype(np.float32)
        size = len(self._table)
        key = number * size + counts.values.astype(np.int64)[counts.code]
        order = np.argsort(key, kind="stable")
        key, weight = key[order], weight[order]
        if len(key):
            first = np.flatnonzero(np.diff(key, prepend=-1))
            key, weight = key[first], np.add.reduceat(weight, first)
        number, piece = np.divmod(key, size)
        return number, piece, weight * self._weight["document"][piece]

    def _head(self, x: Matrix, kind: EmbedKind) -> Matrix:
        if f"{kind}_in" not in self._arrays:
            return x
        w_in, bias, w_out = self._network(kind)
        hidden = _product(x * np.float32(HEAD_SCALE), w_in)
        hidden += bias
        hidden *= np.float32(0.5) * (1 + np.tanh(0.7978845608 * hidden * (1 + 0.044715 * hidden * hidden)))
        y = np.asarray(x + _product(hidden, w_out), np.float32)
        y *= x.any(axis=-1, keepdims=True)  # a text without a known piece stays zero, without the bias
        return _normalise(y)

    def _network(self, kind: EmbedKind) -> Layers:
        """Return the head: (dim, hidden), bias (hidden,), (hidden, dim)."""
        if kind not in self._heads:  # half precision on disk, converted once
            w_in, w_out = (self._arrays[f"{kind}_{name}"].T.astype(np.float32, order="C") for name in ("in", "out"))
            self._heads[kind] = (w_in, self._arrays[f"{kind}_bias"].astype(np.float32), w_out)
        return self._heads[kind]


def _product(x: Matrix, w: Matrix) -> Matrix:
    """Return x @ w, in parts small enough for one thread of BLAS."""
    width = _ONE_THREAD // (x.shape[-2] * x.shape[-1])
    return np.concatenate([x @ w[:, at : at + width] for at in range(0, w.shape[1], width)], axis=-1)


def _normalise(x: Matrix) -> Matrix:
    norm = np.sqrt(np.einsum("...j,...j->...", x, x))[..., None]
    norm[norm == 0] = 1
    normal: Matrix = np.divide(x, norm, dtype=np.float32)
    return normal

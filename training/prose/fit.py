"""Fit a table of words for prose: their sum in a sentence is what a sentence model makes of the sentence.

    python fit.py sentences.txt prose-N.safetensors --teacher onnx:DIRECTORY --vectors teacher.npz

A sentence s is a bag of word pieces, x(s, t) the square root of how often it says t, scaled so that the bag's vector has
unit length; y(s) is the teacher's vector in its first DIM principal directions. The table E is a ridge regression towards
E0, the teacher's vector of each piece alone times the piece's weight in questions:

    E = argmin |X E - Y|^2 + RIDGE |E - E0|^2

solved by conjugate gradients for all columns at once, three times, as the scale of X depends on E. Pieces are those of
the built-in embedder; the most common of the sentences stay, then the most common of its vocabulary. The teacher is any
embedder of vademecum's; its vectors are kept in `--vectors`. Needs `scipy`; minutes for the teacher, seconds for the fit.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from vademecum.index.arrays import load_arrays, save_arrays
from vademecum.plugins import load
from vademecum.providers.embedders.static import _RUN, MODELS, WordPieces
from vademecum.types import Passage

Matrix = NDArray[np.float32]
PIECES, DIM, RIDGE, ROUNDS, STEPS = 12_000, 192, 0.3, 3, 40
_COMMON, _LEAST_WEIGHT, _BASIS = 2, 0.05, 20_000


def bag(cut: WordPieces, text: str) -> Counter[int]:
    """Count the pieces of a text."""
    return Counter(piece for run in _RUN.findall(text) for piece in cut(run))


def chosen(cut: WordPieces, said: Sequence[str], known: int) -> list[int]:
    """Return the pieces to keep: those that two sentences say, then the vocabulary's most common."""
    count = Counter(piece for text in said for piece in set(bag(cut, text)))
    common = [piece for piece, times in count.most_common(PIECES) if times >= _COMMON]
    rest = [piece for piece in range(known) if piece not in set(common)]
    return sorted(common + rest[: PIECES - len(common)])


def bags(cut: WordPieces, said: Sequence[str], pieces: int) -> sparse.csr_matrix:
    """Return (sentences, pieces), the square roots of counts."""
    counts = [bag(cut, text) for text in said]
    rows = np.repeat(np.arange(len(said)), list(map(len, counts)))
    columns = np.array([piece for count in counts for piece in count])
    values = np.sqrt(np.array([times for count in counts for times in count.values()], np.float32))
    return sparse.csr_matrix((values, (rows, columns)), shape=(len(said), pieces))


def fitted(counts: sparse.csr_matrix, table: Matrix, target: Matrix) -> Matrix:
    """Return the table after ROUNDS of ridge regression, each towards the one before."""
    for _ in range(ROUNDS):
        length = np.maximum(np.linalg.norm(counts @ table, axis=1), 1e-6)
        table = regressed((sparse.diags(1 / length) @ counts).tocsr(), table, target)
    return table


def regressed(x: sparse.csr_matrix, table: Matrix, target: Matrix) -> Matrix:
    """Solve one ridge regression by conjugate gradients."""
    found, left = table.copy(), x.T @ (target - x @ table)
    way, size = left.copy(), (left * left).sum(0)
    for _ in range(STEPS):
        moved = x.T @ (x @ way) + RIDGE * way
        step = size / np.maximum((way * moved).sum(0), 1e-12)
        found += step * way
        left -= step * moved
        now = (left * left).sum(0)
        way, size = left + now / np.maximum(size, 1e-12) * way, now
    return np.asarray(found, np.float32)


def taught(spec: str, kept: Path, words: Sequence[str], said: Sequence[str]) -> tuple[Matrix, Matrix]:
    """Return the teacher's vectors of the words and of the sentences."""
    if not kept.exists():
        teacher = load("embedder", spec)
        both = [teacher.embed([Passage(text) for text in texts], "query").unwrap() for texts in (words, said)]
        np.savez(kept, words=both[0], sentences=both[1])
    vectors = np.load(kept)
    return vectors["words"], vectors["sentences"]


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("into", type=Path)
    parser.add_argument("--teacher", default="")
    parser.add_argument("--vectors", type=Path, required=True)
    given = parser.parse_args()
    said = given.sentences.read_text(encoding="utf-8").splitlines()
    model, _ = load_arrays(MODELS / "static-2.safetensors")
    words, likely = model["words"].tobytes().decode().split("\n"), model["logp"]
    alone, target = taught(given.teacher, given.vectors, words, said)
    kept = chosen(WordPieces(words, likely.tolist()), said, len(words))
    cut = WordPieces([words[piece] for piece in kept], likely[kept].tolist())
    basis = np.linalg.svd((target - target.mean(0))[:_BASIS], full_matrices=False)[2][:DIM].T
    first = alone[kept] @ basis * np.maximum(model["query_weight"][kept], _LEAST_WEIGHT)[:, None].astype(np.float32)
    table = fitted(bags(cut, said, len(kept)), first, target @ basis)
    scale = np.maximum(np.abs(table).max(axis=1), 1e-9).astype(np.float32) / 127
    written = "\n".join(words[piece] for piece in kept).encode()
    arrays = {
        "table": np.round(table / scale[:, None]).astype(np.int8),
        "words": np.frombuffer(written, np.uint8),
        "logp": likely[kept],
        "query_weight": scale,
        "document_weight": scale,
    }
    save_arrays(given.into, arrays, {"name": given.into.stem, "dim": str(DIM), "teacher": given.teacher})


if __name__ == "__main__":
    main()

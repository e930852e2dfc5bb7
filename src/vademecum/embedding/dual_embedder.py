"""Two embedders on one scale: one for code, one for prose.

Source: MnemoLite ADR-002 (a model for code beside one for text). A vector has a part for each; a document fills its own
part, a question both, so the inner product of the two is the cosine that the document's own embedder sees:

    code   (d, 0)        prose  (0, d)        question  (q_code, q_prose) / sqrt(2)

Cosines of two models do not compare as they are: for one 0.3 is near, for another everything is above 0.5. So each model
is asked once about a few texts that everybody knows: questions with the passage that answers each, of its own kind. From
those come `far`, the mean document, and `near`, how close an answer is to its question once `far` is taken away:

    d' = unit(d - far_documents)    q' = unit(q - far_questions)    score = q'd' / near

0 is then "as near as any two texts", 1 "as near as an answer", for both. It does not depend on what is indexed, so a
handful of documents beside much code is not drowned by the best of many chances, as scores that are standardised within
each kind are. What is given up: within one kind the order is that of centred cosines, not of raw ones (Mu and
Viswanath, "All-but-the-Top", ICLR 2018, found the mean to carry no meaning).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vademecum.embedding.calibration_texts import ANCHORS, FORMAT, Side
from vademecum.errors import EmbedError, StoreCorruptError
from vademecum.index.arrays import load_arrays, save_arrays
from vademecum.private import private_folder
from vademecum.protocols import Embedder
from vademecum.result import Err, Ok, Result
from vademecum.types import EmbedKind, Passage

Matrix = NDArray[np.float32]
LEAST_NEAR = 0.05  # a model that does not tell answers from other texts is not blown up


@dataclass(frozen=True, slots=True)
class Scale:
    """How one embedder's cosines are read: its mean question and document, float32 (dim,), and how near an answer is."""

    far: Mapping[EmbedKind, Matrix]
    near: float

    def read(self, vectors: Matrix, kind: EmbedKind) -> Matrix:
        """Return vectors without what all have in common, of unit length; zeros stay zeros."""
        said = vectors.any(axis=1, keepdims=True)
        return _unit((vectors - self.far[kind]) * said)


def scale_of(questions: Matrix, answers: Matrix) -> Scale:
    """Return the scale of an embedder from its vectors of questions and of the answer to each, float32 (n, dim).

    >>> one = np.eye(4, dtype=np.float32)
    >>> round(scale_of(one, one).near, 2)
    1.33
    """
    far: dict[EmbedKind, Matrix] = {"query": questions.mean(axis=0), "document": answers.mean(axis=0)}
    centred = _unit(questions - far["query"]) @ _unit(answers - far["document"]).T
    own = np.eye(len(centred), dtype=bool)
    near = float(centred[own].mean() - centred[~own].mean())
    return Scale(far, max(near, LEAST_NEAR))


class DualEmbedder:
    """Reads code with one embedder and prose with another.

    Args:
        code: reads code.
        prose: reads what a passage calls prose.
        kept: the directory where scales are kept, so that each model is asked once.
    """

    def __init__(self, code: Embedder, prose: Embedder, kept: Path) -> None:
        self.code, self.prose = code, prose
        self.name = f"dual:{code.name}+{prose.name}"
        self.remote = code.remote or prose.remote
        self._kept = kept
        self._scales: dict[Side, Scale] = {}

    @property
    def dim(self) -> int:
        """The widths of both."""
        return self.code.dim + self.prose.dim

    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Result[Matrix, EmbedError]:
        """Return float32 of shape (len(passages), dim): documents by their own embedder, questions by both."""
        sides: list[Side] = ["code", "prose"]
        found = np.zeros((len(passages), self.dim), np.float32)
        for side in sides:
            places = [n for n, each in enumerate(passages) if kind == "query" or each.prose == (side == "prose")]
            match self._of(side).embed([passages[n] for n in places], kind):
                case Ok(vectors):
                    joined = self.joined(vectors, side, kind)
                case Err() as failure:
                    return failure
            match joined:
                case Ok(rows):
                    found[places] += rows
                case Err() as failure:
                    return failure
        return Ok(_unit(found) if kind == "query" else found)

    def joined(self, vectors: Matrix, side: Side, kind: EmbedKind) -> Result[Matrix, EmbedError]:
        """Return one embedder's own vectors, float32 (n, its dim), as the joint space has them, float32 (n, dim)."""
        match self.scale(side):
            case Ok(scale):
                own = scale.read(vectors, kind)
            case Err() as failure:
                return failure
        if kind == "query":  # a document is of one kind, so the kinds' scales can all stand in the question
            own /= np.float32(scale.near)
        wide = np.zeros((len(own), self.dim), np.float32)
        first = 0 if side == "code" else self.code.dim
        wide[:, first : first + own.shape[1]] = own
        return Ok(wide)

    def scale(self, side: Side) -> Result[Scale, EmbedError]:
        """Return how the cosines of one side are read; asked of the model once, and kept."""
        if side not in self._scales:
            match self._known(side):
                case Ok(scale):
                    self._scales[side] = scale
                case Err() as failure:
                    return failure
        return Ok(self._scales[side])

    def _of(self, side: Side) -> Embedder:
        return self.code if side == "code" else self.prose

    def _known(self, side: Side) -> Result[Scale, EmbedError]:
        embedder = self._of(side)
        digest = blake2b(f"{FORMAT}\0{side}\0{embedder.name}".encode(), digest_size=12).hexdigest()
        path = self._kept / f"scale-{digest}.safetensors"
        try:
            arrays, _ = load_arrays(path)
            far: dict[EmbedKind, Matrix] = {
                "query": np.array(arrays["query"], np.float32),
                "document": np.array(arrays["document"], np.float32),
            }
            return Ok(Scale(far, float(np.array(arrays["near"], np.float32)[0])))
        except StoreCorruptError:  # or not there
            pass
        questions = embedder.embed([Passage(question) for question, _ in ANCHORS[side]], "query")
        answers = embedder.embed([Passage(answer, prose=side == "prose") for _, answer in ANCHORS[side]], "document")
        match questions, answers:
            case (Ok(asked), Ok(said)):
                scale = scale_of(asked, said)
            case (Err() as failure, _) | (_, Err() as failure):
                return failure
        private_folder(self._kept)
        save_arrays(
            path,
            {
                "query": scale.far["query"],
                "document": scale.far["document"],
                "near": np.array([scale.near], np.float32),
            },
            {"embedder": embedder.name},
        )
        return Ok(scale)


def _unit(vectors: Matrix) -> Matrix:
    norm = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.asarray(vectors / np.where(norm > 0, norm, 1), np.float32)

"""Two embedders as one: one for code, one for prose.

Source: MnemoLite ADR-002 (a model for code beside one for text). The joint vector has one part per embedder. A document
fills its own embedder's part and a question fills both, so their inner product is the cosine that the document's own
embedder computes:

    code   (d, 0)        prose  (0, d)        question  (q_code, q_prose) / sqrt(2)

Cosines of two models do not compare: for one model 0.3 is near, for another every cosine is above 0.5. So each model is
measured once on a few calibration texts: questions, each with an answer of the model's own kind. The measurement gives
`far`, the mean document and the mean question, and `near`, the closeness of an answer to its question after `far` is
subtracted:

    d' = unit(d - far_documents)    q' = unit(q - far_questions)    score = q'd' / near

For both models 0 then means "as near as any two texts", and 1 "as near as an answer". The scale does not depend on the
indexed texts, so much code does not drown a handful of documents, as it would if scores were standardised within each
kind. The price: within one kind, centred cosines decide the order, not raw ones (Mu and Viswanath, "All-but-the-Top",
ICLR 2018, found the mean to carry no meaning).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vademecum.digests import blake2b
from vademecum.embedding.calibration_texts import ANCHORS, FORMAT, Side
from vademecum.errors import EmbedError, StoreCorruptError
from vademecum.index.arrays import save_arrays, stored_arrays
from vademecum.private import private_folder
from vademecum.protocols import Embedder
from vademecum.result import attempt
from vademecum.types import EmbedKind, Passage

Matrix = NDArray[np.float32]
LEAST_NEAR = 0.05  # limits the scaling of a model that cannot tell answers from other texts


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of one embedder's cosines.

    `far` is the mean question and document, each float32 (dim,), and `near` the closeness of an answer to its question.
    """

    far: Mapping[EmbedKind, Matrix]
    near: float

    def read(self, vectors: Matrix, kind: EmbedKind) -> Matrix:
        """Return centred vectors of unit length; zeros stay zeros."""
        said = vectors.any(axis=1, keepdims=True)
        return _unit((vectors - self.far[kind]) * said)


def scale_of(questions: Matrix, answers: Matrix) -> Scale:
    """Return an embedder's scale from questions and their answers.

    Both are vectors, float32 (n, dim).

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
    """An embedder that reads code and marked prose with different embedders.

    The directory `kept` stores scales, so that each model is measured once.
    """

    def __init__(self, code: Embedder, prose: Embedder, kept: Path) -> None:
        self.code, self.prose = code, prose
        self.name = f"dual:{code.name}+{prose.name}"
        self.remote = code.remote or prose.remote
        self._kept = kept
        self._scales: dict[Side, Scale] = {}

    @property
    def dim(self) -> int:
        """The sum of both widths."""
        return self.code.dim + self.prose.dim

    @attempt(EmbedError, EmbedError)
    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Matrix:
        """Return float32 (passages, dim): documents by one embedder, questions by both."""
        sides: list[Side] = ["code", "prose"]
        found = np.zeros((len(passages), self.dim), np.float32)
        for side in sides:
            places = [n for n, each in enumerate(passages) if kind == "query" or each.prose == (side == "prose")]
            vectors = self._of(side).embed([passages[n] for n in places], kind).unwrap()
            found[places] += self.joined(vectors, side, kind).unwrap()
        return _unit(found) if kind == "query" else found

    @attempt(EmbedError, EmbedError)
    def joined(self, vectors: Matrix, side: Side, kind: EmbedKind) -> Matrix:
        """Return one embedder's vectors in the joint space, float32 (n, dim)."""
        scale = self.scale(side).unwrap()
        own = scale.read(vectors, kind)
        if kind == "query":  # a document has one side, so both sides' scales can be applied to the question
            own /= np.float32(scale.near)
        wide = np.zeros((len(own), self.dim), np.float32)
        first = 0 if side == "code" else self.code.dim
        wide[:, first : first + own.shape[1]] = own
        return wide

    @attempt(EmbedError, EmbedError)
    def scale(self, side: Side) -> Scale:
        """Return the scale of one side, measured once per model, and stored."""
        if side not in self._scales:
            self._scales[side] = self._known(side)
        return self._scales[side]

    def _of(self, side: Side) -> Embedder:
        return self.code if side == "code" else self.prose

    def _known(self, side: Side) -> Scale:
        embedder = self._of(side)
        digest = blake2b(f"{FORMAT}\0{side}\0{embedder.name}".encode(), digest_size=12).hexdigest()
        path = self._kept / f"scale-{digest}.safetensors"
        try:
            with stored_arrays(path) as (arrays, _):
                far: dict[EmbedKind, Matrix] = {
                    "query": np.array(arrays["query"], np.float32),
                    "document": np.array(arrays["document"], np.float32),
                }
                return Scale(far, float(np.array(arrays["near"], np.float32)[0]))
        except StoreCorruptError:  # missing or damaged
            pass
        questions, answers = zip(*ANCHORS[side], strict=True)
        asked = embedder.embed([Passage(question) for question in questions], "query").unwrap()
        said = embedder.embed([Passage(answer, prose=side == "prose") for answer in answers], "document").unwrap()
        scale = scale_of(asked, said)
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
        return scale


def _unit(vectors: Matrix) -> Matrix:
    norm = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.asarray(vectors / np.where(norm > 0, norm, 1), np.float32)

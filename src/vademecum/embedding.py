"""Embedders made of other embedders: two joined, or one that outlives failures.

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

An embedder that keeps working while its inner embedder fails.

Memory needs it: records and recall must not depend on a server. While the inner embedder fails, texts get the zero
vector, so they are near nothing and words alone decide. The name then changes, so no one takes such vectors for the
inner embedder's, and the next process makes them again.

The calibration texts are in `embedding.toml`: questions, each with code and prose that answer it. They are about everyday topics
that any model knows, in the languages and the tone of repositories. No search returns them and nothing is tuned on them.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vademecum.digests import blake2b
from vademecum.errors import EmbedError, StoreCorruptError
from vademecum.index.arrays import save_arrays, stored_arrays
from vademecum.private import private_folder
from vademecum.protocols import Embedder
from vademecum.result import Err, Ok, Result, attempt
from vademecum.types import EmbedKind, Passage

Side = Literal["code", "prose"]
FORMAT = "1"  # increment when the texts change, so that scales are measured again


@cache
def anchors() -> Mapping[Side, tuple[tuple[str, str], ...]]:
    """Return the calibration texts of each side's embedder: questions with their answers."""
    topics = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["topic"]
    sides: tuple[Side, ...] = ("code", "prose")
    return {side: tuple((topic["question"], topic[side]) for topic in topics) for side in sides}


REST_S = 60.0  # pause after a failure, so that not every call waits for a failing embedder
WITH_GAPS = "+gaps"


class SteadyEmbedder:
    """A wrapper that returns zero vectors while an embedder fails."""

    def __init__(self, inner: Embedder, clock: Callable[[], float] = time.monotonic) -> None:
        self._inner, self._clock = inner, clock
        self.remote = inner.remote
        self.problem = ""  # the reason that some texts have no vector, or ""
        self._failed_at: float | None = None
        self._width = 0

    @property
    def name(self) -> str:
        """The inner embedder's name, with a suffix after a failure."""
        return self._inner.name + (WITH_GAPS if self.problem else "")

    @property
    def dim(self) -> int:
        """The width of the vectors; 1 where the embedder failed to answer."""
        if not self._width:
            match self._inner.embed([Passage("width")], "query"):
                case Ok(vectors):
                    self._width = int(vectors.shape[1])
                case Err(error):
                    self._width = 1
                    self._fail(str(error))
        return self._width

    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Result[NDArray[np.float32], EmbedError]:
        """Return float32 (passages, dim), zeros while failing and for REST_S after."""
        nothing = np.zeros((len(passages), self.dim), np.float32)
        if not passages or (self._failed_at is not None and self._clock() - self._failed_at < REST_S):
            return Ok(nothing)
        match self._inner.embed(passages, kind):
            case Ok(vectors) if vectors.shape == nothing.shape:
                self._failed_at = None
                return Ok(vectors)
            case Err(error):
                self._fail(str(error))
            case _:
                self._fail("its vectors have another width than before")
        return Ok(nothing)

    def _fail(self, said: str) -> None:
        self.problem, self._failed_at = " ".join(said.split()), self._clock()


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
        questions, answers = zip(*anchors()[side], strict=True)
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

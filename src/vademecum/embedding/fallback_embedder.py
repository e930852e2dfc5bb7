"""An embedder that keeps working while its inner embedder fails.

Memory needs it: records and recall must not depend on a server. While the inner embedder fails, texts get the zero
vector, so they are near nothing and words alone decide. The name then changes, so no one takes such vectors for the
inner embedder's, and the next process makes them again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import EmbedError
from vademecum.protocols import Embedder
from vademecum.result import Err, Ok, Result
from vademecum.types import EmbedKind, Passage

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

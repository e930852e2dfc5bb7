"""An embedder that goes on while another fails.

For those who cannot do without vectors, as memory, whose records and recall must not hang on a server. While the embedder
fails, texts have the zero vector; what was made in that time goes by another name, so nobody takes it for what the
embedder says, and the next process makes it anew.
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

REST_S = 60.0  # after a failure the embedder is left alone for so long: whoever asks does not wait for it each time
WITH_GAPS = "+gaps"


class SteadyEmbedder:
    """Another embedder, as the module says.

    Args:
        inner: the embedder.
        clock: tells seconds that only go on.
    """

    def __init__(self, inner: Embedder, clock: Callable[[], float] = time.monotonic) -> None:
        self._inner, self._clock = inner, clock
        self.remote = inner.remote
        self.problem = ""  # why some texts have no vector, if some have none
        self._failed_at: float | None = None
        self._width = 0

    @property
    def name(self) -> str:
        """The embedder's name, and another once a text went without its vector."""
        return self._inner.name + (WITH_GAPS if self.problem else "")

    @property
    def dim(self) -> int:
        """How wide its vectors are: 1 where that could not be found out, from then on."""
        if not self._width:
            match self._inner.embed([Passage("width")], "query"):
                case Ok(vectors):
                    self._width = int(vectors.shape[1])
                case Err(error):
                    self._width = 1
                    self._fail(str(error))
        return self._width

    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Result[NDArray[np.float32], EmbedError]:
        """Return float32 of shape (len(passages), dim), all zeros where the embedder fails or rests from having failed."""
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

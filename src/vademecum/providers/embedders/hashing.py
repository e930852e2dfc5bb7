"""An embedder without weights: each word part is a fixed pseudo-random direction.

Feature hashing (Weinberger et al. 2009): a text is the sum of its parts' directions, so texts that share words are close.
Nothing else about the words is known. The embedder is deterministic and instant: tests use it, and it is the fallback
when the model file is lost.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import EmbedError
from vademecum.result import Ok, Result
from vademecum.types import EmbedKind, Passage

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


class HashingEmbedder:
    """Embeds by hashing word parts into `dim` signed buckets."""

    remote = False

    def __init__(self, model: str = "") -> None:
        """Take the number of dimensions as the model's name; 64 by default."""
        self.dim = int(model or 64)
        self.name = f"hashing:{self.dim}"

    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Result[NDArray[np.float32], EmbedError]:
        """Return float32 of shape (len(passages), dim); `kind` makes no difference here."""
        del kind
        vectors = np.zeros((len(passages), self.dim), np.float32)
        for row, passage in enumerate(passages):
            counts = Counter(p.lower() for p in _PART.findall(f"{passage.title} {passage.context} {passage.text}"))
            for part, count in counts.items():
                digest = int.from_bytes(blake2b(part.encode(), digest_size=8).digest(), "little")
                vectors[row, digest % self.dim] += math.sqrt(count) * (1 if digest >> 63 else -1)
        norm = np.linalg.norm(vectors, axis=1, keepdims=True)
        return Ok((vectors / np.where(norm > 0, norm, 1)).astype(np.float32))

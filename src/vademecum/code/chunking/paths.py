"""A reader of paths: the kind of each file, and a vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vademecum.types import FileKind

FITTED = {"static:static-2": "ranker-1.json"}  # fitted weights, by the embedder they were fitted on


@dataclass(frozen=True, slots=True)
class PathReader:
    """Functions that read a path's file kind and vector.

    `embedder` names the embedder of the vectors, "" for none; `embed` returns int8 (n, dim) and float32 (n,).
    """

    kind: Callable[[str], FileKind]
    embedder: str = ""
    embed: Callable[[Sequence[str]], tuple[NDArray[np.int8], NDArray[np.float32]]] = lambda paths: (
        np.zeros((len(paths), 0), np.int8),
        np.zeros(len(paths), np.float32),
    )

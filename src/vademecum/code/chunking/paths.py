"""Kinds and vectors of paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vademecum.types import FileKind

FITTED = {"static:static-2": "ranker-1.json"}  # by the embedder whose cosines the weights were fitted on


@dataclass(frozen=True, slots=True)
class PathReader:
    """What is read off a path besides its words: what the file is for, and the vectors of several paths.

    `embedder` names what made the vectors, "" for nothing; `embed` returns int8 (n, dim) and float32 (n,).
    """

    kind: Callable[[str], FileKind]
    embedder: str = ""
    embed: Callable[[Sequence[str]], tuple[NDArray[np.int8], NDArray[np.float32]]] = lambda paths: (
        np.zeros((len(paths), 0), np.int8),
        np.zeros(len(paths), np.float32),
    )

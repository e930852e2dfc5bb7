"""Cosines of a question with paths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.code.snapshot.files import FileTable
from vademecum.index.vectors import Quantised, products_of


class PathCosine:
    """Cosines of paths with a question, computed on demand.

    Behaves like float32 (F,). Only requested files are computed: few files have a candidate.
    """

    dtype = np.dtype(np.float32)

    def __init__(self, files: FileTable, query: Quantised | None) -> None:
        """Take files and question; cosines are 0 without vectors or question."""
        self._files = files
        self._query = query if files.vectors.size else None

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self._files)

    def __getitem__(self, which: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the cosines of some files, float32 (n,)."""
        if self._query is None:
            return np.zeros(len(which), np.float32)
        return products_of(self._files.vectors, which, self._query, self._files.scales)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.float32]:
        """Return the cosines of all files."""
        return self[np.arange(len(self))]

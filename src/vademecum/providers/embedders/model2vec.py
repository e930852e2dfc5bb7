"""A static model in model2vec's form: `model2vec:DIRECTORY`.

potion-code and other distilled tables are published this way.

A text's vector is the mean of its tokens' (Tulkens and van Dongen, "Model2Vec", 2024). The embedder is as fast as the built-in
one and runs no transformer. A text without a known token has the zero vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from model2vec import StaticModel

from vademecum.errors import EmbedError, PluginError
from vademecum.providers.embedders.batches import LocalEmbedder, Matrix, loaded, texts_of
from vademecum.result import attempt
from vademecum.types import EmbedKind, Passage

WEIGHTS = "model.safetensors"


class Model2VecEmbedder(LocalEmbedder):
    """Embeds with a table that model2vec saved."""

    provider = "model2vec"
    files = ("*.json", "*.safetensors")

    def open(self, folder: Path) -> tuple[Path, int]:
        """Load the table; return its file, and the vectors' width."""
        if not (folder / WEIGHTS).is_file():
            raise PluginError(f"{folder} holds no {WEIGHTS}: name a directory that model2vec saved")
        self._model = loaded(folder, lambda path: StaticModel.from_pretrained(str(path)))
        return folder / WEIGHTS, int(self._model.dim)

    @attempt(EmbedError, ValueError, MemoryError)
    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Matrix:
        """Return float32 (len(passages), dim) of unit length, zeros for unknown text."""
        found = np.zeros((len(passages), self.dim), np.float32)
        texts = texts_of(passages, kind, self._preset, self._limits)
        told = [place for place, text in enumerate(texts) if text]
        if told:
            made = self._model.encode(
                [texts[place] for place in told], max_length=self._limits.text_tokens, use_multiprocessing=False
            )
            rows = np.nan_to_num(np.asarray(made, np.float64))  # NaN is a mean of no tokens
            norm = np.linalg.norm(rows, axis=1, keepdims=True)
            found[told] = rows / np.where(norm > 0, norm, 1)
        return found

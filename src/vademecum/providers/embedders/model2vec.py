"""A static model in model2vec's form: `model2vec:DIRECTORY`.

potion-code and other distilled tables are published this way.

A text's vector is the mean of its tokens' (Tulkens and van Dongen, "Model2Vec", 2024). The embedder is as fast as the built-in
one and runs no transformer. A text without a known token has the zero vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from model2vec import StaticModel

from vademecum.errors import EmbedError, PluginError
from vademecum.providers.embedders.batches import DEFAULTS, LOCAL_TOKENS, Matrix, limits_of, texts_of
from vademecum.providers.embedders.local import fingerprint, model_directory
from vademecum.providers.embedders.presets import preset_of
from vademecum.result import Err, Ok, attempt
from vademecum.settings import EmbeddingSettings
from vademecum.types import EmbedKind, Passage

FILES = ("*.json", "*.safetensors")
WEIGHTS = "model.safetensors"


class Model2VecEmbedder:
    """Embeds with the table in directory `model`.

    Raises:
        UsageError: there is no such directory.
        PluginError: the directory holds no such table.
    """

    remote = False

    def __init__(self, model: str = "", settings: EmbeddingSettings = DEFAULTS, models: str = "") -> None:
        """Take a model directory or name, the settings, and the download directory."""
        folder = model_directory("model2vec", model, models, FILES, download=settings.download)
        if not (folder / WEIGHTS).is_file():
            raise PluginError(f"{folder} holds no {WEIGHTS}: name a directory that model2vec saved")
        self._limits = limits_of(settings, LOCAL_TOKENS)
        self._preset = preset_of(model)
        match attempt(PluginError, Exception)(StaticModel.from_pretrained)(
            str(folder)
        ):  # raises its own errors and others'
            case Ok(loaded):
                self._model = loaded
            case Err(error):
                raise PluginError(f"{folder} cannot be loaded ({error}): get the model again") from error
        self.dim = int(self._model.dim)
        self.name = f"model2vec:{model}@{fingerprint(folder / WEIGHTS)}"

    @attempt(EmbedError, ValueError, MemoryError)
    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Matrix:
        """Return float32 of shape (len(passages), dim).

        Rows have unit length, or are zero if no token is known.
        """
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

"""Models that sentence-transformers can load: `sentence-transformers:DIRECTORY`.

Use this embedder for models that have no ONNX form; it runs on a GPU if there is one. Code that comes with a model is
never run, and the library is told not to contact any hub.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sentence_transformers import SentenceTransformer
from transformers.utils import logging as transformers_log

from vademecum.errors import EmbedError, PluginError, ProviderError
from vademecum.providers.embedders.batches import DEFAULTS, LOCAL_TOKENS, Matrix, embed_texts, limits_of, texts_of
from vademecum.providers.embedders.local import fingerprint, model_directory
from vademecum.providers.embedders.onnx import described
from vademecum.providers.embedders.presets import preset_of
from vademecum.result import Err, Ok, attempt
from vademecum.settings import EmbeddingSettings
from vademecum.types import EmbedKind, Passage

FILES = ("*.json", "*/*.json", "*.safetensors", "*.txt", "*.model")


class SentenceTransformersEmbedder:
    """Embeds with the model in directory `model`.

    Raises:
        UsageError: there is no such directory.
        PluginError: the directory holds no usable model.
    """

    remote = False

    def __init__(self, model: str = "", settings: EmbeddingSettings = DEFAULTS, models: str = "") -> None:
        """Take a model directory or name, the settings, and the download directory."""
        folder = model_directory("sentence-transformers", model, models, FILES, download=settings.download)
        self._limits = limits_of(settings, LOCAL_TOKENS)
        self._preset = described(folder, preset_of(model or folder.name))
        transformers_log.disable_progress_bar()  # the library's progress bar would mix with our lines
        load = attempt(PluginError, Exception)(
            SentenceTransformer
        )  # raises errors of torch, of transformers, and its own
        match load(str(folder), local_files_only=True, trust_remote_code=False):
            case Ok(loaded):
                self._model = loaded
            case Err(error):
                said = " ".join(str(error).split())[:200]
                raise PluginError(f"{folder} cannot be loaded ({said}): get the model again") from error
        longest = self._model.max_seq_length or self._limits.text_tokens
        self._model.max_seq_length = min(longest, self._limits.text_tokens)
        width = getattr(self._model, "get_embedding_dimension", None)  # since 5.2; the older name warns
        self.dim = int((width or self._model.get_sentence_embedding_dimension)() or 0)
        weights = sorted(folder.rglob("*.safetensors")) + sorted(folder.rglob("*.bin"))
        self.name = f"sentence-transformers:{model}" + (f"@{fingerprint(weights[0])}" if weights else "")

    @attempt(EmbedError, ProviderError)
    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Matrix:
        """Return float32 of shape (len(passages), dim).

        Rows have unit length; the row of an empty text is zero.
        """
        found = embed_texts(texts_of(passages, kind, self._preset, self._limits), self._limits, self._vectors)
        return found if found.shape[1] else np.zeros((len(passages), self.dim), np.float32)

    def _vectors(self, texts: list[str]) -> Matrix:
        """Return the vectors of one batch. Raises `ProviderError`."""
        try:
            # `prompt` is empty: the texts already begin with their prompt.
            made = self._model.encode(texts, batch_size=len(texts), prompt="", show_progress_bar=False)
        except (RuntimeError, ValueError) as error:  # torch's, also for lack of memory
            said = " ".join(str(error).split())[:200]
            raise ProviderError(f"{self.name} failed ({said}): lower embedding.batch_tokens") from error
        return np.asarray(made, np.float32)

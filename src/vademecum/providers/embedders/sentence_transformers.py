"""Models that sentence-transformers can load: `sentence-transformers:DIRECTORY`.

Use this embedder for models that have no ONNX form; it runs on a GPU if there is one. Code that comes with a model is
never run, and the library is told not to contact any hub.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer
from transformers.utils import logging as transformers_log

from vademecum.errors import EmbedError, ProviderError
from vademecum.providers.embedders.batches import LocalEmbedder, Matrix, embed_texts, loaded, texts_of
from vademecum.providers.post import short
from vademecum.result import attempt
from vademecum.types import EmbedKind, Passage


class SentenceTransformersEmbedder(LocalEmbedder):
    """Embeds with a model that sentence-transformers loads."""

    provider = "sentence-transformers"
    files = ("*.json", "*/*.json", "*.safetensors", "*.txt", "*.model")

    def open(self, folder: Path) -> tuple[Path | None, int]:
        """Load the model; return its file, and the vectors' width."""
        transformers_log.disable_progress_bar()  # the library's progress bar would mix with our lines
        self._model = loaded(
            folder, lambda path: SentenceTransformer(str(path), local_files_only=True, trust_remote_code=False)
        )
        longest = self._model.max_seq_length or self._limits.text_tokens
        self._model.max_seq_length = min(longest, self._limits.text_tokens)
        width = getattr(self._model, "get_embedding_dimension", None)  # since 5.2; the older name warns
        weights = sorted(folder.rglob("*.safetensors")) + sorted(folder.rglob("*.bin"))
        return weights[0] if weights else None, int((width or self._model.get_sentence_embedding_dimension)() or 0)

    @attempt(EmbedError, ProviderError)
    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Matrix:
        """Return float32 (len(passages), dim) of unit length, zeros for empty text."""
        found = embed_texts(texts_of(passages, kind, self._preset, self._limits), self._limits, self._vectors)
        return found if found.shape[1] else np.zeros((len(passages), self.dim), np.float32)

    def _vectors(self, texts: list[str]) -> Matrix:
        """Return the vectors of one batch. Raises `ProviderError`."""
        try:
            # `prompt` is empty: the texts already begin with their prompt.
            made = self._model.encode(texts, batch_size=len(texts), prompt="", show_progress_bar=False)
        except (RuntimeError, ValueError) as error:  # torch's, also for lack of memory
            raise ProviderError(f"{self.name} failed ({short(str(error))}): lower embedding.batch_tokens") from error
        return np.asarray(made, np.float32)

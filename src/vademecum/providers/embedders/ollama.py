"""Vectors from Ollama: `ollama:MODEL`.

    POST <base_url>/api/embed   {"model", "input": [...], "truncate": true}   →   {"embeddings": [[...], ...]}

Ollama adds no prompt before a text, so this module adds the model's own (`presets`). Ollama forwards models called `x:cloud` or
`x:120b-cloud` to its maker's servers (docs.ollama.com/cloud): such a model is remote, wherever Ollama runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from vademecum.providers.embedders.batches import DEFAULTS, SERVED_TOKENS, limits_of
from vademecum.providers.embedders.presets import preset_of
from vademecum.providers.embedders.served import EmbeddingServer, ServedEmbedder, Wire, patience_of
from vademecum.providers.patience import Patience
from vademecum.settings import EmbeddingSettings
from vademecum.types import EmbedKind

WIRE = Wire(
    "ollama", "http://127.0.0.1:11434", "/api/embed", "embedding.ollama_url", "", lambda reply: reply["embeddings"]
)


class OllamaEmbedder(ServedEmbedder):
    """Embeds with `model` on an Ollama server.

    Raises:
        UsageError: the model's name is missing, or the address is not one.
    """

    def __init__(
        self, model: str = "", settings: EmbeddingSettings = DEFAULTS, patience: Patience | None = None
    ) -> None:
        """Take the server's model name, the settings, and optionally a retry policy."""
        server = EmbeddingServer(WIRE, settings.ollama_url, "", patience or patience_of(settings))
        super().__init__(server, model, limits_of(settings, SERVED_TOKENS), preset_of(model))
        self.remote = server.remote or model.lower().endswith("cloud")

    def more(self, kind: EmbedKind) -> Mapping[str, object]:
        """Let the server cut texts that are too long."""
        del kind
        return {"truncate": True}

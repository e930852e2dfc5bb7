"""Vectors from Ollama: `ollama:MODEL`.

    POST <base_url>/api/embed   {"model", "input": [...], "truncate": true}   →   {"embeddings": [[...], ...]}

Ollama writes nothing before a text, so what a model was trained with is written here (`presets`). What it calls `x:cloud` or
`x:120b-cloud` it hands on to its maker's servers (docs.ollama.com/cloud): such a model is remote, wherever Ollama is.
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
        UsageError: there is no model's name, or the address is none.
    """

    def __init__(
        self, model: str = "", settings: EmbeddingSettings = DEFAULTS, patience: Patience | None = None
    ) -> None:
        """Take the model's name there, the settings, and a clock of one's own in the place of theirs."""
        server = EmbeddingServer(WIRE, settings.ollama_url, "", patience or patience_of(settings))
        super().__init__(server, model, limits_of(settings, SERVED_TOKENS), preset_of(model))
        self.remote = server.remote or model.lower().endswith("cloud")

    def more(self, kind: EmbedKind) -> Mapping[str, object]:
        """Have texts that are too long cut rather than refused."""
        del kind
        return {"truncate": True}

"""Vectors from Voyage: `voyage:MODEL`.

    POST <base_url>/embeddings   {"model", "input": [...], "input_type": "query" | "document", "truncation": true}
                                 →   {"data": [{"index": 0, "embedding": [...]}, ...]}

Voyage adds its models' prompts itself, by `input_type`. A request takes at most 1,000 texts and 120,000 tokens
(docs.voyageai.com/reference/embeddings-api). Errors are {"detail": "…"}.
"""

from __future__ import annotations

from collections.abc import Mapping

from vademecum.providers.embedders.batches import DEFAULTS, SERVED_TOKENS, limits_of
from vademecum.providers.embedders.openai import rows_by_index
from vademecum.providers.embedders.presets import UNKNOWN
from vademecum.providers.embedders.served import EmbeddingServer, ServedEmbedder, Wire, patience_of
from vademecum.providers.patience import Patience
from vademecum.settings import EmbeddingSettings
from vademecum.types import EmbedKind

WIRE = Wire(
    "voyage",
    "https://api.voyageai.com/v1",
    "/embeddings",
    "embedding.voyage_url",
    "embedding.voyage_key",
    rows_by_index,
)


class VoyageEmbedder(ServedEmbedder):
    """Embeds with `model` on Voyage's servers, or on a compatible one.

    Raises:
        UsageError: the model's name is missing, or the address is not one.
    """

    def __init__(
        self, model: str = "", settings: EmbeddingSettings = DEFAULTS, patience: Patience | None = None
    ) -> None:
        """Take the server's model name, the settings, and optionally a retry policy."""
        server = EmbeddingServer(WIRE, settings.voyage_url, settings.voyage_key, patience or patience_of(settings))
        super().__init__(server, model, limits_of(settings, SERVED_TOKENS), UNKNOWN)

    def more(self, kind: EmbedKind) -> Mapping[str, object]:
        """State the input type, and let the server cut texts."""
        return {"input_type": kind, "truncation": True}

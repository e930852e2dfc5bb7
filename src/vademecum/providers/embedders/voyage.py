"""Vectors from Voyage: `voyage:MODEL`.

    POST <base_url>/embeddings   {"model", "input": [...], "input_type": "query" | "document", "truncation": true}
                                 →   {"data": [{"index": 0, "embedding": [...]}, ...]}

It writes before a text what its model wants, by `input_type`. At most 1,000 texts and 120,000 tokens are taken at once
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
    """Embeds with `model` on Voyage's servers, or on another that speaks as they do.

    Raises:
        UsageError: there is no model's name, or the address is none.
    """

    def __init__(
        self, model: str = "", settings: EmbeddingSettings = DEFAULTS, patience: Patience | None = None
    ) -> None:
        """Take the model's name there, the settings, and a clock of one's own in the place of theirs."""
        server = EmbeddingServer(WIRE, settings.voyage_url, settings.voyage_key, patience or patience_of(settings))
        super().__init__(server, model, limits_of(settings, SERVED_TOKENS), UNKNOWN)

    def more(self, kind: EmbedKind) -> Mapping[str, object]:
        """Say whether it is a question or a document, and have texts that are too long cut rather than refused."""
        return {"input_type": kind, "truncation": True}

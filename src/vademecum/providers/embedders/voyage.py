"""Vectors from Voyage: `voyage:MODEL`.

    POST <base_url>/embeddings   {"model", "input": [...], "input_type": "query" | "document", "truncation": true}
                                 →   {"data": [{"index": 0, "embedding": [...]}, ...]}

It writes before a text what its model wants, by `input_type`. At most 1,000 texts and 120,000 tokens are taken at once
(docs.voyageai.com/reference/embeddings-api). Errors are {"detail": "…"}.
"""

from __future__ import annotations

from collections.abc import Mapping

from vademecum.providers.embedders.batches import Limits
from vademecum.providers.embedders.openai import rows_by_index
from vademecum.providers.embedders.presets import UNKNOWN
from vademecum.providers.embedders.served import EmbeddingServer, Patience, ServedEmbedder, Wire
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
        self,
        model: str = "",
        base_url: str = "",
        api_key: str = "",
        patience: Patience | None = None,
        limits: Limits | None = None,
    ) -> None:
        server = EmbeddingServer(WIRE, base_url, api_key, patience or Patience())
        super().__init__(server, model, limits or Limits(), UNKNOWN)

    def more(self, kind: EmbedKind) -> Mapping[str, object]:
        """Say whether it is a question or a document, and have texts that are too long cut rather than refused."""
        return {"input_type": kind, "truncation": True}

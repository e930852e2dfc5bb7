"""Vectors from Voyage: `voyage:MODEL`.

    POST <base_url>/embeddings   {"model", "input": [...], "input_type": "query" | "document", "truncation": true}
                                 →   {"data": [{"index": 0, "embedding": [...]}, ...]}

A request takes at most 1,000 texts and 120,000 tokens (docs.voyageai.com/reference/embeddings-api). Errors are
{"detail": "…"}.
"""

from __future__ import annotations

from collections.abc import Mapping

from vademecum.providers.embedders.served import ServedEmbedder
from vademecum.types import EmbedKind


class VoyageEmbedder(ServedEmbedder):
    """Embeds with a model on Voyage's servers, or on a compatible one."""

    provider, usual, path = "voyage", "https://api.voyageai.com/v1", "/embeddings"
    example = "voyage-code-3"
    prompted = False  # Voyage adds its models' prompts itself, by `input_type`

    def more(self, kind: EmbedKind) -> Mapping[str, object]:
        """State the input type, and let the server cut texts."""
        return {"input_type": kind, "truncation": True}

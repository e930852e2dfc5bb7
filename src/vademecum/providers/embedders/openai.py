"""Vectors from any OpenAI-compatible server: `openai:MODEL`.

OpenAI, vLLM, llama.cpp, LM Studio and text-embeddings-inference are such servers.

    POST <base_url>/embeddings   {"model", "input": [...], "encoding_format": "float"}
                                 →   {"data": [{"index": 0, "embedding": [...]}, ...]}

A server takes at most 2,048 texts at once (platform.openai.com, API reference).
"""

from __future__ import annotations

from collections.abc import Mapping

from vademecum.providers.embedders.served import ServedEmbedder
from vademecum.types import EmbedKind


class OpenAiEmbedder(ServedEmbedder):
    """Embeds with a model on an OpenAI-compatible server."""

    provider, usual, path = "openai", "https://api.openai.com/v1", "/embeddings"
    example = "text-embedding-3-small"

    def more(self, kind: EmbedKind) -> Mapping[str, object]:
        """Request vectors as plain numbers."""
        del kind
        return {"encoding_format": "float"}

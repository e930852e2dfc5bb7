"""Vectors from Ollama: `ollama:MODEL`.

    POST <base_url>/api/embed   {"model", "input": [...], "truncate": true}   →   {"embeddings": [[...], ...]}

Ollama adds no prompt before a text, so this module adds the model's own (`presets`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vademecum.providers.embedders.served import ServedEmbedder
from vademecum.types import EmbedKind


class OllamaEmbedder(ServedEmbedder):
    """Embeds with a model on an Ollama server."""

    provider, usual, path = "ollama", "http://127.0.0.1:11434", "/api/embed"
    example = "nomic-embed-text"

    def more(self, kind: EmbedKind) -> Mapping[str, object]:
        """Let the server cut texts that are too long."""
        del kind
        return {"truncate": True}

    def rows(self, reply: Any) -> Any:
        """Return the vectors in a reply's JSON."""
        return reply["embeddings"]

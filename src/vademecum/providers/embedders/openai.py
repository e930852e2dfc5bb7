"""Vectors from any OpenAI-compatible server: `openai:MODEL`.

OpenAI, vLLM, llama.cpp, LM Studio and text-embeddings-inference are such servers.

    POST <base_url>/embeddings   {"model", "input": [...], "encoding_format": "float"}
                                 →   {"data": [{"index": 0, "embedding": [...]}, ...]}

Rows are sorted by their `index`. A server takes at most 2,048 texts at once (platform.openai.com, API reference).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vademecum.providers.embedders.batches import DEFAULTS, SERVED_TOKENS, limits_of
from vademecum.providers.embedders.presets import preset_of
from vademecum.providers.embedders.served import EmbeddingServer, ServedEmbedder, Wire, patience_of
from vademecum.providers.patience import Patience
from vademecum.settings import EmbeddingSettings
from vademecum.types import EmbedKind


def rows_by_index(reply: Any) -> list[Any]:
    """Return the vectors of a reply in the order of the texts.

    Raises:
        LookupError: the reply has no vectors, or two for one text.
        TypeError: the reply has another shape.

    >>> rows_by_index({"data": [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}]})
    [[1], [2]]
    """
    found = {int(each.get("index", number)): each["embedding"] for number, each in enumerate(reply["data"])}
    if sorted(found) != list(range(len(reply["data"]))):
        raise LookupError("index")
    return [found[number] for number in range(len(found))]


WIRE = Wire(
    "openai", "https://api.openai.com/v1", "/embeddings", "embedding.openai_url", "embedding.openai_key", rows_by_index
)


class OpenAiEmbedder(ServedEmbedder):
    """Embeds with `model` on an OpenAI-compatible server.

    Raises:
        UsageError: the model's name is missing, or the address is not one.
    """

    def __init__(
        self, model: str = "", settings: EmbeddingSettings = DEFAULTS, patience: Patience | None = None
    ) -> None:
        """Take the server's model name, the settings, and optionally a retry policy."""
        server = EmbeddingServer(WIRE, settings.openai_url, settings.openai_key, patience or patience_of(settings))
        super().__init__(server, model, limits_of(settings, SERVED_TOKENS), preset_of(model))

    def more(self, kind: EmbedKind) -> Mapping[str, object]:
        """Request vectors as plain numbers."""
        del kind
        return {"encoding_format": "float"}

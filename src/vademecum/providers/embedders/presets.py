"""Known prompts, pooling and input limits of widely used embedding models.

A model that was trained with a prompt before each question finds much less without the prompt, and neither Ollama nor an
OpenAI-compatible server adds one. A directory in the layout of sentence-transformers declares its own prompts and pooling
(`1_Pooling/config.json`, `config_sentence_transformers.json`), which override this table.

Sources: the models' cards, November 2026. jina: "no instruction", mean pooling, ALiBi to 8,192 tokens
(jinaai/jina-embeddings-v2-base-code). nomic: "search_query: " and "search_document: ", mean pooling
(nomic-ai/nomic-embed-text-v1.5). CodeRankEmbed: "Represent this query for searching relevant code: " before questions
alone, first token (nomic-ai/CodeRankEmbed; its base is Snowflake's arctic-embed-m-long).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Pooling = Literal["mean", "cls", "last"]


@dataclass(frozen=True, slots=True)
class Preset:
    """Facts about a model.

    Attributes:
        hub: the model's name on the hub.
        pooling: how token vectors become one vector: their mean, the first, or the last.
        query, document: the prompt before a question, and before a searched text.
        most_tokens: the longest input the model reads.
    """

    hub: str = ""
    pooling: Pooling = "mean"
    query: str = ""
    document: str = ""
    most_tokens: int = 8_192


UNKNOWN = Preset()
PRESETS: Mapping[str, Preset] = {
    "jina-embeddings-v2-base-code": Preset("jinaai/jina-embeddings-v2-base-code"),
    "nomic-embed-text": Preset("nomic-ai/nomic-embed-text-v1.5", query="search_query: ", document="search_document: "),
    "CodeRankEmbed": Preset(
        "nomic-ai/CodeRankEmbed", "cls", query="Represent this query for searching relevant code: "
    ),
}


def preset_of(model: str) -> Preset:
    """Return the preset for a model name, or `UNKNOWN`.

    The name may be spelled as on a hub, as on Ollama, or as a directory.

    >>> preset_of("nomic-embed-text:v1.5").query, preset_of("~/models/CodeRankEmbed").pooling, preset_of("all-minilm") == UNKNOWN
    ('search_query: ', 'cls', True)
    """
    said = model.lower().replace("_", "-").rstrip("/").rpartition("/")[2]
    return next((preset for name, preset in PRESETS.items() if name.lower() in said), UNKNOWN)

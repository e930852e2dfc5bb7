"""What is known of models that many use: what is written before a text, which of the model's numbers are its vector.

A model that was trained with a sentence before each question finds much less without it, and neither Ollama nor an
OpenAI-compatible server adds one. A directory in the layout of sentence-transformers says these things itself
(`1_Pooling/config.json`, `config_sentence_transformers.json`), and is believed before this table.

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
POOLINGS: tuple[Pooling, ...] = ("mean", "cls", "last")


@dataclass(frozen=True, slots=True)
class Preset:
    """Facts about a model.

    Attributes:
        hub: where it is published, as the hub writes it.
        pooling: the mean of its tokens' vectors, the first one's or the last one's.
        query, document: what is written before a question, and before what is searched.
        most_tokens: how many it can read.
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
    """Return what is known of a model by its name, in any spelling of it: on a hub, on Ollama, as a directory.

    >>> preset_of("nomic-embed-text:v1.5").query, preset_of("~/models/CodeRankEmbed").pooling, preset_of("all-minilm") == UNKNOWN
    ('search_query: ', 'cls', True)
    """
    said = model.lower().replace("_", "-").rstrip("/").rpartition("/")[2]
    return next((preset for name, preset in PRESETS.items() if name.lower() in said), UNKNOWN)

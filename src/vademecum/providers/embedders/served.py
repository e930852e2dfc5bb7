"""Vectors over HTTP: `ollama:MODEL`, `openai:MODEL` and `voyage:MODEL`.

    batch → request → retries with growing pauses → checked reply → rows

    ollama  POST <base_url>/api/embed   {"model", "input": [...], "truncate": true}  →  {"embeddings": [[...], ...]}
    openai  POST <base_url>/embeddings  {"model", "input": [...], "encoding_format": "float"}
                                        →  {"data": [{"index": 0, "embedding": [...]}, ...]}
    voyage  the same, with {"input_type": "query" | "document", "truncation": true} in place of the format

`openai` is any compatible server: OpenAI, vLLM, llama.cpp, LM Studio, text-embeddings-inference. OpenAI takes at most 2,048 texts
at once (platform.openai.com), Voyage 1,000 texts of 120,000 tokens (docs.voyageai.com). Ollama and OpenAI add no prompt before a
text, so the model's own is added here (`presets`).

A batch that is too large for the server (400, 413, 422) is sent in halves; a single text that is too long is cut in half. A
question is tried twice with short pauses only: without its vector the search goes on by words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from vademecum.errors import EmbedError, ProviderError, UsageError
from vademecum.providers.embedders.batches import (
    DEFAULTS,
    SERVED_TOKENS,
    UNKNOWN,
    Matrix,
    embed_texts,
    limits_of,
    preset_of,
    texts_of,
    unit,
)
from vademecum.providers.post import ModelServer, Patience, RefusedError
from vademecum.result import attempt
from vademecum.settings import EmbeddingSettings
from vademecum.types import EmbedKind, Passage

QUESTION_PAUSE_S = 1.0  # somebody is waiting
QUESTION_ATTEMPTS = 2
MOST_BYTES = 64_000_000  # of a reply: 1,000 vectors of 3,072 numbers of 20 characters
LEAST_CHARACTERS = 200  # a text is not cut shorter than this
TOO_MUCH = frozenset({400, 413, 422})


class ServedEmbedder:
    """An embedder that runs a model on a server.

    Attributes:
        provider: the embedder's name, as in `ollama:MODEL`, which begins its settings' names.
        usual: the default address.
        path: the request's path, below the address.
        example: a model, for messages.
        extra: further fields of a request.
        prompted: whether a text needs the model's own prompt before it; else the request says its `input_type`.

    Raises:
        UsageError: the model's name is missing, or the address is not one.
    """

    provider: ClassVar[str]
    usual: ClassVar[str]
    path: ClassVar[str]
    example: ClassVar[str]
    extra: ClassVar[Mapping[str, object]]
    prompted = True

    def __init__(
        self, model: str = "", settings: EmbeddingSettings = DEFAULTS, patience: Patience | None = None
    ) -> None:
        own = self.provider
        if not model:
            raise UsageError(f"embedder {own!r} needs a model: write {own}:MODEL, as in {own}:{self.example}")
        key = getattr(settings, f"{own}_key", None)
        self._server = ModelServer(
            getattr(settings, f"{own}_url"), key or "", patience or Patience(settings.attempts, settings.timeout_s), self.usual,
            f"embedding.{own}_url", "" if key is None else f"embedding.{own}_key", "search.embedder",
            "raise embedding.timeout_s or lower embedding.batch_texts", ollama=own == "ollama",
        )  # fmt: skip
        self._model, self._limits = model, limits_of(settings, SERVED_TOKENS)
        self._preset = preset_of(model) if self.prompted else UNKNOWN
        self._dim = 0  # of every vector so far; 0 until the first reply
        self.name = f"{own}:{model}"
        self.remote = self._server.remote(model)
        self.address = self._server.base_url

    @property
    def dim(self) -> int:
        """The vectors' dimensions, perhaps by embedding a text first. Raises `EmbedError`."""
        if not self._dim:
            self.embed([Passage("width")], "query").unwrap()
        return self._dim

    @attempt(EmbedError, ProviderError)
    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Matrix:
        """Return float32 (len(passages), dim) of unit length, zeros for empty text."""
        texts = texts_of(passages, kind, self._preset, self._limits)
        found = embed_texts(texts, self._limits, lambda batch: self._vectors(batch, kind))
        return found if found.shape[1] else np.zeros((len(passages), self.dim), np.float32)

    def rows(self, reply: Any) -> Any:
        """Return a reply's vectors, in the order of the texts.

        Raises LookupError or TypeError for a reply of another form. This form is OpenAI's, whose rows carry their `index`.
        """
        found = {int(each.get("index", number)): each["embedding"] for number, each in enumerate(reply["data"])}
        if sorted(found) != list(range(len(reply["data"]))):
            raise LookupError("index")
        return [found[number] for number in range(len(found))]

    def _vectors(self, texts: list[str], kind: EmbedKind) -> Matrix:
        """Return float32 (len(texts), dim), rows of unit length. Raises `ProviderError`."""
        patience = self._server.patience
        if kind == "query":
            attempts = min(QUESTION_ATTEMPTS, patience.attempts)
            patience = replace(patience, attempts=attempts, most_pause_s=QUESTION_PAUSE_S)
        body = {"model": self._model, "input": texts, **self.extra, **({} if self.prompted else {"input_type": kind})}
        try:
            return self._checked(self._server.ask(self.path, body, MOST_BYTES, patience), len(texts))
        except RefusedError as error:
            if error.status not in TOO_MUCH or (len(texts) == 1 and len(texts[0]) <= LEAST_CHARACTERS):
                raise
        if len(texts) > 1:
            half = len(texts) // 2
            return np.concatenate([self._vectors(texts[:half], kind), self._vectors(texts[half:], kind)])
        return self._vectors([texts[0][: max(LEAST_CHARACTERS, len(texts[0]) // 2)]], kind)

    def _checked(self, body: bytes, wanted: int) -> Matrix:
        """Return a reply's vectors after checking their number, values and width."""
        at = self.address
        try:
            found = np.asarray(self.rows(json.loads(body)), np.float64)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            if len(body) >= MOST_BYTES:
                raise ProviderError(f"{at} answers at too great length: lower embedding.batch_texts") from error
            setting = self._server.url_setting
            raise ProviderError(
                f"{at} does not answer with vectors as {self.provider} does: check {setting}"
            ) from error
        if found.ndim != 2 or len(found) != wanted:
            said = f"{at} gave {len(found) if found.ndim else 0} vectors for {wanted} texts"
            raise ProviderError(f"{said}: lower embedding.batch_texts, or take another server")
        if found.shape[1] == 0 or not np.isfinite(found).all() or not found.any(axis=1).all():
            raise ProviderError(f"{at} gave a vector that is no direction: take another model in search.embedder")
        if self._dim and found.shape[1] != self._dim:
            raise ProviderError(
                f"{at} gave vectors of {found.shape[1]} dimensions where they had {self._dim}: the model behind its name was "
                "changed: run `vade index --full`, or name another in search.embedder"
            )
        self._dim = found.shape[1]
        return unit(found)


class OllamaEmbedder(ServedEmbedder):
    """Embeds with a model on an Ollama server."""

    provider, usual, path = "ollama", "http://127.0.0.1:11434", "/api/embed"
    example = "nomic-embed-text"
    extra: ClassVar[Mapping[str, object]] = {"truncate": True}  # texts that are too long

    def rows(self, reply: Any) -> Any:
        """Return the vectors in a reply's JSON."""
        return reply["embeddings"]


class OpenAiEmbedder(ServedEmbedder):
    """Embeds with a model on an OpenAI-compatible server."""

    provider, usual, path = "openai", "https://api.openai.com/v1", "/embeddings"
    example = "text-embedding-3-small"
    extra: ClassVar[Mapping[str, object]] = {"encoding_format": "float"}  # plain numbers


class VoyageEmbedder(ServedEmbedder):
    """Embeds with a model on Voyage's servers, or on a compatible one."""

    provider, usual, path = "voyage", "https://api.voyageai.com/v1", "/embeddings"
    example = "voyage-code-3"
    extra: ClassVar[Mapping[str, object]] = {"truncation": True}  # of texts that are too long
    prompted = False  # Voyage adds its models' prompts itself

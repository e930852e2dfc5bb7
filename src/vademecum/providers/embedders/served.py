"""Vectors over HTTP: the base of the Ollama, OpenAI and Voyage embedders.

    batch → request → retries with growing pauses → checked reply → rows

Status 408, 429 and 5xx, timeouts and broken connections are retried, as `patience` says. A batch that is too large for the
server (400, 413) is sent in halves; a single text that is too long is cut in half. A question is tried twice with short
pauses only: without its vector the search goes on by words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.client import HTTPException
from typing import Any

import numpy as np

from vademecum.addresses import is_address, is_elsewhere
from vademecum.errors import EmbedError, ProviderError, UsageError
from vademecum.providers.embedders.batches import Limits, Matrix, embed_texts, texts_of, unit
from vademecum.providers.embedders.presets import Preset
from vademecum.providers.patience import PASSING, PassingError, Patience, retry_after
from vademecum.providers.post import FAILURES, Reply, error_of, post, short
from vademecum.result import attempt
from vademecum.settings import EmbeddingSettings
from vademecum.types import EmbedKind, Passage

QUESTION_PAUSE_S = 1.0  # somebody is waiting
QUESTION_ATTEMPTS = 2
MOST_BYTES = 64_000_000  # of a reply: 1,000 vectors of 3,072 numbers of 20 characters
LEAST_CHARACTERS = 200  # a text is not cut shorter than this
TOO_MUCH = frozenset({400, 413, 422})
EXAMPLES = {
    "ollama": "ollama:nomic-embed-text",
    "openai": "openai:text-embedding-3-small",
    "voyage": "voyage:voyage-code-3",
}


@dataclass(frozen=True, slots=True)
class Wire:
    """The protocol of one kind of server, and its settings' names.

    Attributes:
        provider: the embedder's name, as in `ollama:MODEL`.
        usual: the default address.
        path: the request's path, below the address.
        url_setting, key_setting: the settings that hold address and key, for messages; `key_setting` is "" if no key is needed.
        rows: reads the vectors from a reply's JSON, in the order of the texts; raises LookupError or TypeError.
    """

    provider: str
    usual: str
    path: str
    url_setting: str
    key_setting: str
    rows: Callable[[Any], Any]


def patience_of(settings: EmbeddingSettings) -> Patience:
    """Return the configured retry policy, on this machine's clock."""
    return Patience(settings.attempts, settings.timeout_s)


class TooMuchError(ProviderError):
    """The server refused the texts: perhaps too many, or too long."""


@dataclass(slots=True)
class EmbeddingServer:
    """A server of vectors.

    Raises:
        UsageError: `base_url` is not an address.
    """

    wire: Wire
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    patience: Patience = field(default_factory=Patience)
    dim: int = 0  # dimensions of every vector so far; 0 until the first reply

    def __post_init__(self) -> None:
        self.base_url = (self.base_url or self.wire.usual).rstrip("/")
        if not is_address(self.base_url):  # do not show the address: it may hold a name and password
            raise UsageError(
                f"{self.wire.url_setting} is not an address like {self.wire.usual}: a key goes into a setting of its own"
            )

    @property
    def remote(self) -> bool:
        """True if the address is another machine's."""
        return is_elsewhere(self.base_url)

    def vectors(self, model: str, texts: list[str], more: Mapping[str, object], *, patient: bool) -> Matrix:
        """Return float32 (len(texts), dim), rows of unit length.

        Args:
            model: the model's name on the server.
            texts: the texts; none is empty.
            more: further fields of the request.
            patient: true if nobody is waiting for the answer.

        Raises:
            ProviderError: the server gave no vectors; the message says why, and which setting to change.
        """
        try:
            return self._tried({"model": model, "input": texts, **more}, model, patient=patient)
        except TooMuchError:
            if len(texts) > 1:
                half = len(texts) // 2
                first = self.vectors(model, texts[:half], more, patient=patient)
                return np.concatenate([first, self.vectors(model, texts[half:], more, patient=patient)])
            if len(texts[0]) <= LEAST_CHARACTERS:
                raise
            return self.vectors(model, [texts[0][: max(LEAST_CHARACTERS, len(texts[0]) // 2)]], more, patient=patient)

    def _tried(self, body: dict[str, Any], model: str, *, patient: bool) -> Matrix:
        """Ask until the server answers or retrying cannot help."""
        patience = self.patience
        if not patient:
            attempts = min(QUESTION_ATTEMPTS, patience.attempts)
            patience = replace(patience, attempts=attempts, most_pause_s=QUESTION_PAUSE_S)
        return patience.over(lambda: self._asked(body, model))

    def _asked(self, body: dict[str, Any], model: str) -> Matrix:
        """Ask once."""
        url = self.base_url + self.wire.path
        try:
            reply = post(url, body, api_key=self.api_key, timeout_s=self.patience.timeout_s, most_bytes=MOST_BYTES)
        except FAILURES as error:
            raise self._unreachable(error) from error
        if reply.status != 200:
            raise self._refused(reply, model)
        return self._checked(reply.body, len(body["input"]))

    def _unreachable(self, error: Exception) -> ProviderError:
        at, timeout_s = self.base_url, self.patience.timeout_s
        if isinstance(error, TimeoutError):
            return PassingError(
                f"{at} took longer than {timeout_s:g} s: raise embedding.timeout_s or lower embedding.batch_texts"
            )
        if isinstance(error, ConnectionRefusedError):
            start = " (`ollama serve`)" if self.wire.provider == "ollama" else ""
            return ProviderError(f"nothing answers at {at}: start it{start} or set {self.wire.url_setting}")
        if not isinstance(error, OSError | HTTPException):  # the header check; a certificate failure is an OSError
            return ProviderError(
                f"{self.wire.key_setting} cannot be sent in a header: remove every character outside printable ASCII"
            )
        said = f"{at} cannot be asked ({short(str(error) or type(error).__name__, self.api_key)})"
        fix = f"look at its log, or set {self.wire.url_setting}"
        # An unknown name or a wrong certificate will not pass.
        passes = isinstance(error, ConnectionError | HTTPException)
        return PassingError(f"{said}: {fix}") if passes else ProviderError(f"{said}: {fix}")

    def _refused(self, reply: Reply, model: str) -> ProviderError:
        at, detail = self.base_url, short(error_of(reply.body), self.api_key)
        if reply.status in {401, 403}:
            where = (
                f"set {self.wire.key_setting} in your user file or environment"
                if self.wire.key_setting
                else "it wants a key"
            )
            return ProviderError(f"{at} refused the key: {where}")
        if 300 <= reply.status < 400:
            return ProviderError(f"{at} leads elsewhere: set {self.wire.url_setting} to where it leads")
        if reply.status == 404:
            fix = f"`ollama pull {model}`" if self.wire.provider == "ollama" else f"check {self.wire.url_setting}"
            return ProviderError(f"{at} has no model {model!r} ({detail}): {fix}, or name another in search.embedder")
        said = f"{at} answered with status {reply.status} ({detail})"
        if reply.status in PASSING:
            slower = "lower embedding.batch_texts, or wait" if reply.status == 429 else "look at its log"
            return PassingError(
                f"{said}: {slower}", retry_after(reply.headers.get("retry-after", ""), self.patience.clock())
            )
        kind = TooMuchError if reply.status in TOO_MUCH else ProviderError
        return kind(f"{said}: check search.embedder and {self.wire.url_setting}")

    def _checked(self, body: bytes, wanted: int) -> Matrix:
        """Return a reply's vectors after checking their number, values and width.

        There is one vector per text, all numbers are finite, and the width is that of earlier replies. Raises `ProviderError`.
        """
        try:
            found = np.asarray(self.wire.rows(json.loads(body)), np.float64)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            if len(body) >= MOST_BYTES:
                raise ProviderError(
                    f"{self.base_url} answers at too great length: lower embedding.batch_texts"
                ) from error
            raise ProviderError(
                f"{self.base_url} does not answer with vectors as {self.wire.provider} does: check {self.wire.url_setting}"
            ) from error
        if found.ndim != 2 or len(found) != wanted:
            count = len(found) if found.ndim else 0
            raise ProviderError(
                f"{self.base_url} gave {count} vectors for {wanted} texts: lower embedding.batch_texts, or take another server"
            )
        if found.shape[1] == 0 or not np.isfinite(found).all() or not found.any(axis=1).all():
            raise ProviderError(
                f"{self.base_url} gave a vector that is no direction: take another model in search.embedder"
            )
        if self.dim and found.shape[1] != self.dim:
            raise ProviderError(
                f"{self.base_url} gave vectors of {found.shape[1]} dimensions where they had {self.dim}: the model behind its "
                "name was changed: run `vade index --full`, or name another in search.embedder"
            )
        self.dim = found.shape[1]
        return unit(found)


class ServedEmbedder:
    """An embedder that runs a model on a server.

    Subclasses add fields to the request with `more`.
    """

    def __init__(self, server: EmbeddingServer, model: str, limits: Limits, preset: Preset) -> None:
        """Take the server, the model's name, the batch limits and the prompts.

        Raises:
            UsageError: the model's name is missing.
        """
        provider = server.wire.provider
        if not model:
            raise UsageError(f"embedder {provider!r} needs a model: write {provider}:MODEL, as in {EXAMPLES[provider]}")
        self._server, self._model, self._limits, self._preset = server, model, limits, preset
        self.name = f"{provider}:{model}"
        self.remote = server.remote
        self.address = server.base_url

    @property
    def dim(self) -> int:
        """The vectors' dimensions; the first use may embed a short text.

        Raises `EmbedError`.
        """
        if not self._server.dim:
            self.embed([Passage("width")], "query").unwrap()
        return self._server.dim

    @attempt(EmbedError, ProviderError)
    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Matrix:
        """Return float32 of shape (len(passages), dim).

        Rows have unit length; the row of an empty text is zero.
        """
        more, patient = self.more(kind), kind == "document"

        def asked(texts: list[str]) -> Matrix:
            return self._server.vectors(self._model, texts, more, patient=patient)

        found = embed_texts(texts_of(passages, kind, self._preset, self._limits), self._limits, asked)
        return found if found.shape[1] else np.zeros((len(passages), self.dim), np.float32)

    def more(self, kind: EmbedKind) -> Mapping[str, object]:
        """Return further request fields for a question or a document."""
        del kind
        return {}

"""One question to a language model over HTTP, and its answer.

    ollama    POST <base_url>/api/chat              {"message": {"content": ...}}
    openai    POST <base_url>/chat/completions      {"choices": [{"message": {"content": ...}}]}

There are two wire formats, because Ollama's OpenAI-compatible endpoint ignores `num_ctx` and `think`: it truncates a long prompt
silently, and lets a model think for minutes. Any other server (llama.cpp, vLLM, LM Studio, a hosted one) is
`openai`. Connections go to the configured server only: no proxy, no redirect.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

from vademecum.addresses import is_address, is_elsewhere
from vademecum.errors import ProviderError, UsageError
from vademecum.providers.patience import PASSING, PassingError, Patience, retry_after
from vademecum.providers.post import DAY_S, FAILURES, Reply, error_of, post, short

# API → its default address and the path of its chat
APIS: Mapping[str, tuple[str, str]] = {
    "ollama": ("http://127.0.0.1:11434", "/api/chat"),
    "openai": ("https://api.openai.com/v1", "/chat/completions"),
}
ONCE = Patience(attempts=1)  # somebody is waiting
UNHURRIED = Patience(attempts=3)  # background work
BLOCK_TOKENS = 4_096  # Ollama reloads a model when its context size changes: use few sizes
MOST_BYTES = 1_000_000  # of an answer: a hundred times the requested length


@dataclass(frozen=True, slots=True)
class Server:
    """A server of language models.

    Raises:
        UsageError: a setting makes no sense.
    """

    api: str
    base_url: str
    api_key: str = field(default="", repr=False)
    timeout_s: float = 30.0
    patience: Patience = ONCE  # for statuses that may pass; a silent server is not asked again

    def __post_init__(self) -> None:
        if self.api not in APIS:
            raise UsageError(f"llm.api is {self.api!r}: it must be one of {', '.join(APIS)}")
        object.__setattr__(self, "timeout_s", min(self.timeout_s, DAY_S))  # no clock accepts infinity
        object.__setattr__(self, "base_url", (self.base_url or APIS[self.api][0]).rstrip("/"))
        if not is_address(self.base_url):
            # Do not show the address: it may hold a name and password.
            raise UsageError("llm.base_url is not an address like http://127.0.0.1:11434: a key goes into llm.api_key")

    @property
    def remote(self) -> bool:
        """True for another machine's address: not loopback, not `localhost`."""
        return is_elsewhere(self.base_url)

    def ask(self, model: str, system: str, user: str, context_tokens: int, answer_tokens: int) -> str:
        """Return a model's answer at temperature 0.

        Args:
            model: the model's name on the server.
            system: the instructions.
            user: the input.
            context_tokens: room for question and answer; sent to Ollama only.
            answer_tokens: room for the answer; sent to Ollama only.

        Raises:
            ProviderError: there is no answer; the message gives the cause and the fix.
        """
        said = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body: dict[str, Any] = {"model": model, "messages": said, "stream": False}
        if self.api == "ollama":
            options = {"temperature": 0, "num_ctx": context_tokens, "num_predict": answer_tokens}
            body |= {"think": False, "options": options}
        else:
            body |= {"temperature": 0}
        return self.patience.over(lambda: self._asked(body, model))

    def _asked(self, body: dict[str, Any], model: str) -> str:
        """Send one request and return the answer's text."""
        reply = self._post(body)
        if reply.status in PASSING:
            after = retry_after(reply.headers.get("retry-after", ""), self.patience.clock())
            raise PassingError(self._refused(reply.status, reply.body, model), after)
        if reply.status != 200:
            raise ProviderError(self._refused(reply.status, reply.body, model))
        return self._content(reply.body)

    def _post(self, body: dict[str, Any]) -> Reply:
        """Send a request and return the reply.

        Raises `ProviderError` if the connection fails or takes too long.
        """
        url = self.base_url + APIS[self.api][1]
        try:
            return post(url, body, api_key=self.api_key, timeout_s=self.timeout_s, most_bytes=MOST_BYTES)
        except FAILURES as error:
            raise ProviderError(self._unreachable(error)) from error

    def _unreachable(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return (
                f"{self.base_url} took longer than {self.timeout_s:g} s: raise llm.timeout_s or choose a smaller model"
            )
        if isinstance(error, ConnectionRefusedError):
            start = "start it (`ollama serve`)" if self.api == "ollama" else "start it"
            return f"nothing answers at {self.base_url}: {start} or set llm.base_url"
        if not isinstance(error, OSError | HTTPException):  # the header check; a certificate failure is an OSError
            return "llm.api_key cannot be sent in a header: remove every character outside printable ASCII"
        return f"{self.base_url} cannot be asked ({short(str(error) or type(error).__name__)}): look at its log, or set llm.base_url"

    def _refused(self, status: int, reply: bytes, model: str) -> str:
        if status in {401, 403}:
            return f"{self.base_url} refused the key: set llm.api_key in your user file, or VADE_LLM__API_KEY"
        if 300 <= status < 400:
            return f"{self.base_url} leads elsewhere: set llm.base_url to where it leads"
        detail = short(error_of(reply), self.api_key)
        if status == 404:
            fix = f"`ollama pull {model}`" if self.api == "ollama" else "check llm.base_url"
            return f"{self.base_url} has no model {model!r} ({detail}): {fix}, or name another model"
        return f"{self.base_url} answered with status {status} ({detail}): look at its log"

    def _content(self, reply: bytes) -> str:
        """Return the model's text in a reply."""
        try:
            record = json.loads(reply)
            content = (record if self.api == "ollama" else record["choices"][0])["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise ProviderError(f"{self.base_url} does not speak {self.api}: check llm.api and llm.base_url") from error
        return content if isinstance(content, str) else ""


class ChatModel:
    """A language model on a server, with its name and remoteness.

    The model is `remote` unless the server is on this machine and runs the model itself. Ollama forwards models called `x:cloud` or
    `x:120b-cloud` to its maker's servers (docs.ollama.com/cloud).

    Raises:
        UsageError: the model's name is missing.
    """

    def __init__(self, kind: str, provider: str, model: str, server: Server) -> None:
        """Take the provider's kind and name, the model, and the server.

        Kind and name are as in "reranker" and "llm".
        """
        if not model:
            raise UsageError(f"{kind} {provider!r} needs a model: write {provider}:MODEL, as in {provider}:qwen3:4b")
        self._model = model
        self._server = server
        self.name = f"{provider}:{model}"
        self.address = server.base_url
        self.remote = server.remote or model.lower().endswith("cloud")

    def ask(self, system: str, user: str, room: int, answer_tokens: int) -> str:
        """Return the model's answer, in a window of about `room` tokens.

        The window is rounded up, so that few sizes are in use. Raises what `Server.ask` does.
        """
        return self._server.ask(self._model, system, user, -(-room // BLOCK_TOKENS) * BLOCK_TOKENS, answer_tokens)

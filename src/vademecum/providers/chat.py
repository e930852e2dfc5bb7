"""One question to a language model over HTTP, and its answer.

    ollama    POST <base_url>/api/chat              {"message": {"content": ...}}
    openai    POST <base_url>/chat/completions      {"choices": [{"message": {"content": ...}}]}

There are two wire formats, because Ollama's OpenAI-compatible endpoint ignores `num_ctx` and `think`: it truncates a long prompt
silently, and lets a model think for minutes. Any other server (llama.cpp, vLLM, LM Studio, a hosted one) is `openai`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vademecum.errors import ProviderError, UsageError
from vademecum.providers.model_server import ModelServer
from vademecum.providers.post import DAY_S
from vademecum.providers.retries import Patience

# API → its default address and the path of its chat
APIS: Mapping[str, tuple[str, str]] = {
    "ollama": ("http://127.0.0.1:11434", "/api/chat"),
    "openai": ("https://api.openai.com/v1", "/chat/completions"),
}
ONCE = Patience(attempts=1)  # somebody is waiting
UNHURRIED = Patience(attempts=3)  # background work; a silent server is not asked again
BLOCK_TOKENS = 4_096  # Ollama reloads a model when its context size changes: use few sizes
MOST_BYTES = 1_000_000  # of an answer: a hundred times the requested length


class ChatModel:
    """A language model on a server; `kind` is the provider's, for messages.

    Raises `UsageError` where the model's name is missing, or a setting makes no sense.
    """

    kind = ""
    patience = ONCE

    def __init__(
        self,
        model: str = "",
        api: str = "ollama",
        base_url: str = "",
        api_key: str = "",
        timeout_s: float = 30.0,
        *,
        patience: Patience | None = None,
        provider: str = "llm",
    ) -> None:
        if not model:
            raise UsageError(
                f"{self.kind} {provider!r} needs a model: write {provider}:MODEL, as in {provider}:qwen3:4b"
            )
        if api not in APIS:
            raise UsageError(f"llm.api is {api!r}: it must be one of {', '.join(APIS)}")
        self._server = ModelServer(
            base_url, api_key, replace(patience or self.patience, timeout_s=min(timeout_s, DAY_S)), APIS[api][0],
            "llm.base_url", "llm.api_key", "the model's name", "raise llm.timeout_s or choose a smaller model",
            ollama=api == "ollama", insists=False,
        )  # fmt: skip
        self._model, self._api = model, api
        self.name = f"{provider}:{model}"
        self.address = self._server.base_url
        self.remote = self._server.remote(model)

    def ask(self, system: str, user: str, room: int, answer_tokens: int) -> str:
        """Return the model's answer at temperature 0.

        `room`, the tokens of question and answer, is rounded up so that few sizes are in use; it and `answer_tokens` are sent to
        Ollama only. A `ProviderError` gives the cause and the fix.
        """
        said = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body: dict[str, Any] = {"model": self._model, "messages": said, "stream": False}
        if self._api == "ollama":
            window = -(-room // BLOCK_TOKENS) * BLOCK_TOKENS
            options = {"temperature": 0, "num_ctx": window, "num_predict": answer_tokens}
            body |= {"think": False, "options": options}
        else:
            body |= {"temperature": 0}
        reply = self._server.ask(APIS[self._api][1], body, MOST_BYTES)
        try:
            record = json.loads(reply)
            content = (record if self._api == "ollama" else record["choices"][0])["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise ProviderError(f"{self.address} does not speak {self._api}: check llm.api and llm.base_url") from error
        return content if isinstance(content, str) else ""

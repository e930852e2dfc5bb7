"""One question to a server of language models, over HTTP, and its answer.

    ollama    POST <base_url>/api/chat              {"message": {"content": ...}}
    openai    POST <base_url>/chat/completions      {"choices": [{"message": {"content": ...}}]}

Two wire formats, because Ollama's OpenAI-compatible endpoint ignores `num_ctx` and `think`: it cuts a long prompt short
without a word, and lets a model think for minutes. Any other server (llama.cpp, vLLM, LM Studio, a hosted one) is
`openai`. The connection goes to the server that is named and nowhere else: no proxy, no redirect is followed.
"""

from __future__ import annotations

import ipaddress
import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from socket import SHUT_RDWR, socket
from typing import Any
from urllib.parse import urlsplit

from vademecum import __version__
from vademecum.errors import ProviderError, UsageError

# API → its usual place and the path of its chat
APIS: Mapping[str, tuple[str, str]] = {
    "ollama": ("http://127.0.0.1:11434", "/api/chat"),
    "openai": ("https://api.openai.com/v1", "/chat/completions"),
}
DAY_S = 86_400.0
BLOCK_TOKENS = 4_096  # Ollama loads a model anew when its context changes: sizes are few
MOST_BYTES = 1_000_000  # of an answer: a hundred times what is asked for
DETAIL_CHARACTERS = 200  # of what a server says about its own failure


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

    def __post_init__(self) -> None:
        if self.api not in APIS:
            raise UsageError(f"llm.api is {self.api!r}: it must be one of {', '.join(APIS)}")
        object.__setattr__(self, "timeout_s", min(self.timeout_s, DAY_S))  # no clock takes infinity
        object.__setattr__(self, "base_url", (self.base_url or APIS[self.api][0]).rstrip("/"))
        try:
            parts = urlsplit(self.base_url)
            whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
            whole = whole and self.base_url.isascii() and self.base_url.isprintable() and " " not in self.base_url
        except ValueError:  # a port that is no number, say
            whole = False
        if not whole or parts.query or parts.fragment or parts.username is not None:
            # A name and password in it would end up in messages: it is not shown.
            raise UsageError("llm.base_url is not an address like http://127.0.0.1:11434: a key goes into llm.api_key")

    @property
    def remote(self) -> bool:
        """Whether the address is another machine's: any but a loopback address or `localhost`."""
        host = urlsplit(self.base_url).hostname or ""
        try:
            return not ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host != "localhost"

    def ask(self, model: str, system: str, user: str, context_tokens: int, answer_tokens: int) -> str:
        """Return what a model answers, at temperature 0.

        Args:
            model: as the server calls it.
            system: what it is to do.
            user: what it is to do it with.
            context_tokens: room for question and answer, for a server that has to be told.
            answer_tokens: room for the answer, likewise.

        Raises:
            ProviderError: there is no answer; the message says why, and what to do about it.
        """
        said = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body: dict[str, Any] = {"model": model, "messages": said, "stream": False}
        if self.api == "ollama":
            options = {"temperature": 0, "num_ctx": context_tokens, "num_predict": answer_tokens}
            body |= {"think": False, "options": options}
        else:
            body |= {"temperature": 0}
        status, reply = self._post(json.dumps(body).encode())
        if status != 200:
            raise ProviderError(self._refused(status, reply, model))
        return self._content(reply)

    def _post(self, body: bytes) -> tuple[int, bytes]:
        """Send a request and return the status and the reply, or raise in time."""
        parts = urlsplit(self.base_url)
        connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        headers = {"Content-Type": "application/json", "User-Agent": f"vademecum/{__version__}"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        connection = connect(parts.hostname or "", parts.port, timeout=self.timeout_s)
        late = threading.Event()
        try:
            connection.connect()
            # The socket's own timeout starts again with every byte; this one does not.
            watch = threading.Timer(self.timeout_s, _hang_up, (connection.sock, late))
            watch.daemon = True
            watch.start()
            try:
                connection.request("POST", parts.path + APIS[self.api][1], body, headers)
                with connection.getresponse() as reply:
                    status, content = reply.status, reply.read(MOST_BYTES)
            finally:
                watch.cancel()
        except (OSError, HTTPException, ValueError) as error:
            raise ProviderError(self._unreachable(error, late=late.is_set())) from error
        finally:
            connection.close()
        if late.is_set():  # what was read until then may look whole
            raise ProviderError(self._unreachable(TimeoutError(), late=True))
        return status, content

    def _unreachable(self, error: Exception, *, late: bool) -> str:
        if late or isinstance(error, TimeoutError):
            return (
                f"{self.base_url} took longer than {self.timeout_s:g} s: raise llm.timeout_s or choose a smaller model"
            )
        if isinstance(error, ConnectionRefusedError):
            start = "start it (`ollama serve`)" if self.api == "ollama" else "start it"
            return f"nothing answers at {self.base_url}: {start} or set llm.base_url"
        if not isinstance(error, OSError | HTTPException):  # the check of headers; that of a certificate is an OSError
            return "llm.api_key cannot be sent in a header: remove what is no plain character from it"
        return f"{self.base_url} cannot be asked ({_short(str(error) or type(error).__name__)}): look at its log, or set llm.base_url"

    def _refused(self, status: int, reply: bytes, model: str) -> str:
        if status in {401, 403}:
            return f"{self.base_url} refused the key: set llm.api_key in your user file, or VADE_LLM__API_KEY"
        if 300 <= status < 400:
            return f"{self.base_url} leads elsewhere: set llm.base_url to where it leads"
        detail = _short(_error_of(reply).replace(self.api_key or "\0", "…"))
        if status == 404:
            fix = f"`ollama pull {model}`" if self.api == "ollama" else "check llm.base_url"
            return f"{self.base_url} has no model {model!r} ({detail}): {fix}, or name another model"
        return f"{self.base_url} answered with status {status} ({detail}): look at its log"

    def _content(self, reply: bytes) -> str:
        """The model's words in a reply."""
        try:
            record = json.loads(reply)
            content = (record if self.api == "ollama" else record["choices"][0])["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise ProviderError(f"{self.base_url} does not speak {self.api}: check llm.api and llm.base_url") from error
        return content if isinstance(content, str) else ""


def _hang_up(line: socket, late: threading.Event) -> None:
    late.set()
    with suppress(OSError):  # it is closed already
        line.shutdown(SHUT_RDWR)


def _error_of(reply: bytes) -> str:
    """What a server says went wrong: {"error": "…"} or {"error": {"message": "…"}}, or the text itself."""
    try:
        said = json.loads(reply)["error"]
        said = said["message"] if isinstance(said, dict) else said
    except (ValueError, LookupError, TypeError, RecursionError):
        said = reply.decode("utf-8", "replace")
    return str(said)


def _short(text: str) -> str:
    return " ".join(text.split())[:DETAIL_CHARACTERS] or "no more said"


class ChatModel:
    """A model on a server, as one of our providers: its name there, and whether text leaves the machine.

    It is `remote` unless the server is on this machine and runs the model itself: what Ollama calls `x:cloud` or
    `x:120b-cloud` it hands on to its maker's servers (docs.ollama.com/cloud).

    Raises:
        UsageError: there is no model's name.
    """

    def __init__(self, kind: str, provider: str, model: str, server: Server) -> None:
        """Take the provider's kind and name, as in "reranker" and "llm", the model's name and the server."""
        if not model:
            raise UsageError(f"{kind} {provider!r} needs a model: write {provider}:MODEL, as in {provider}:qwen3:4b")
        self._model = model
        self._server = server
        self.name = f"{provider}:{model}"
        self.remote = server.remote or model.lower().endswith("cloud")

    def ask(self, system: str, user: str, room: int, answer_tokens: int) -> str:
        """Return its answer, as `Server.ask` does, in a window of `room` tokens, rounded up so that few sizes are in use."""
        return self._server.ask(self._model, system, user, -(-room // BLOCK_TOKENS) * BLOCK_TOKENS, answer_tokens)

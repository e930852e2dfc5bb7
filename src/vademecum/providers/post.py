"""HTTP requests with a time limit and retries; servers of models.

Connections go to the named server only: no proxy, no redirect. A key goes into a header and never into a message.

Failures that may pass are retried. The pause doubles and is drawn at random between half and all of it, so that many clients do not come back at once
("Exponential Backoff And Jitter", AWS Architecture Blog, 2015: equal jitter). `Retry-After` overrides the pause. Clock and
randomness are arguments.

A server of models is asked likewise; where it `insists`, silence and dropped connections are retried too. A question to
a language model:

    ollama    POST <base_url>/api/chat              {"message": {"content": ...}}
    openai    POST <base_url>/chat/completions      {"choices": [{"message": {"content": ...}}]}

There are two wire formats, because Ollama's OpenAI-compatible endpoint ignores `num_ctx` and `think`: it truncates a
long prompt silently, and lets a model think for minutes. Any other server (llama.cpp, vLLM, LM Studio, a hosted one) is
`openai`.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection, IncompleteRead
from socket import SHUT_RDWR, socket
from typing import Any, TypeVar
from urllib.parse import urlsplit

from vademecum.addresses import is_address, is_elsewhere
from vademecum.errors import ProviderError, UsageError
from vademecum.version import __version__

T = TypeVar("T")
FIRST_PAUSE_S = 0.5
MOST_PAUSE_S = 60.0  # the longest pause; a server that asks for a longer one is not asked again
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 529})  # statuses of failures that may pass


class PassingError(ProviderError):
    """A failure that may pass; `after_s` is the server's `Retry-After`, seconds."""

    def __init__(self, said: str, after_s: float | None = None) -> None:
        super().__init__(said)
        self.after_s = after_s


@dataclass(frozen=True, slots=True)
class Patience:
    """A retry policy: attempts, timeout and pauses.

    Attributes:
        attempts: the most attempts.
        timeout_s: the most seconds of one attempt.
        most_pause_s: the longest pause; a server that asks for a longer one is not asked again.
        sleep, clock, chance: sleeps for seconds; returns seconds since the epoch; draws from 0..1.
    """

    attempts: int = 5
    timeout_s: float = 60.0
    most_pause_s: float = MOST_PAUSE_S
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time
    chance: Callable[[], float] = random.random

    def over(self, attempt: Callable[[], T]) -> T:
        """Run `attempt`, again while it raises `PassingError`.

        Raises `ProviderError` after the last attempt, or if the server asks for too long a pause.
        """
        for failures in range(1, self.attempts + 1):
            try:
                return attempt()
            except PassingError as error:
                if failures == self.attempts:
                    tries = f" ({self.attempts} attempts)" if self.attempts > 1 else ""
                    raise ProviderError(f"{error}{tries}") from error
                pause = self._pause(failures) if error.after_s is None else max(error.after_s, 0.0)
                if pause > self.most_pause_s:
                    raise ProviderError(f"{error}; it asks to be left alone for {pause:.0f} s") from error
            self.sleep(pause)
        raise AssertionError("the last attempt returned or raised")

    def _pause(self, failures: int) -> float:
        longest = min(self.most_pause_s, FIRST_PAUSE_S * 2.0 ** (failures - 1))
        return float(longest * (0.5 + self.chance() / 2))


def retry_after(said: str, now: float) -> float | None:
    """Return the seconds that a `Retry-After` asks for.

    The result is None if the header cannot be read.

    >>> retry_after("7", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 50.0), retry_after("soon", 0.0)
    (7.0, 10.0, None)
    """
    if said.strip().isdigit():
        return float(said)
    try:
        return parsedate_to_datetime(said).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return None


DAY_S = 86_400.0
DETAIL_CHARACTERS = 200  # of a server's error message
FAILURES = (OSError, HTTPException, ValueError)  # the errors of `post`: ValueError for a key that no header can hold


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's reply: the status, lower-case headers, and the body."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


def post(url: str, body: object, *, api_key: str, timeout_s: float, most_bytes: int) -> Reply:
    """Send JSON and return the reply, within a time limit.

    Args:
        url: the address with its path, as `is_address` accepts it.
        body: sent as JSON.
        api_key: the bearer token; "" for none.
        timeout_s: seconds to connect, and again until the last byte of the reply.
        most_bytes: the most bytes read of a reply.

    Raises:
        TimeoutError: the request took longer.
        OSError, HTTPException: the connection failed.
        ValueError: the key cannot be sent in a header.
    """
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {api_key}"} if api_key else {})
    return request("POST", url, json.dumps(body).encode(), headers, timeout_s=timeout_s, most_bytes=most_bytes)


def request(
    method: str, url: str, body: bytes | None, headers: Mapping[str, str], *, timeout_s: float, most_bytes: int
) -> Reply:
    """Send any request and return the reply.

    `url` may have a query. Arguments and errors are those of `post`.
    """
    parts = urlsplit(url)
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    patience = min(timeout_s, DAY_S)  # no clock accepts infinity
    connection = connect(parts.hostname or "", parts.port, timeout=patience)
    late = threading.Event()
    try:
        connection.connect()
        # The socket's own timeout starts again with every byte; this one does not.
        watch = threading.Timer(patience, _hang_up, (connection.sock, late))
        watch.daemon = True
        watch.start()
        try:
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            connection.request(method, target, body, {"User-Agent": f"vademecum/{__version__}", **headers})
            with connection.getresponse() as reply:
                found = Reply(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read(most_bytes))
                if reply.length and len(found.body) < most_bytes:  # a read up to a limit does not report a short body
                    raise IncompleteRead(found.body, reply.length)
        finally:
            watch.cancel()
    except FAILURES as error:
        if late.is_set():
            raise TimeoutError from error
        raise
    finally:
        connection.close()
    if late.is_set():  # a body cut at the deadline may look whole
        raise TimeoutError
    return found


def _hang_up(line: socket, late: threading.Event) -> None:
    late.set()
    with suppress(OSError):  # already closed
        line.shutdown(SHUT_RDWR)


def error_of(body: bytes) -> str:
    """Return a server's error message from a reply's body.

    Known forms: {"error": "…"}, {"error": {"message": "…"}}, {"detail": "…"}, or plain text.
    """
    try:
        record = json.loads(body)
        said = record["error"] if "error" in record else record["detail"]
        said = said["message"] if isinstance(said, dict) else said
    except (ValueError, LookupError, TypeError, RecursionError):
        said = body.decode("utf-8", "replace")
    return str(said)


def short(text: str, secret: str = "") -> str:
    r"""Return a text on one line, shortened, without the secret.

    >>> short("no  key\nsk-1 is known", "sk-1")
    'no key … is known'
    """
    return " ".join(text.replace(secret or "\0", "…").split())[:DETAIL_CHARACTERS] or "no more said"


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


class RefusedError(ProviderError):
    """The server answered with a status that will not pass."""

    def __init__(self, said: str, status: int) -> None:
        super().__init__(said)
        self.status = status


@dataclass(slots=True)
class ModelServer:
    """A server, and the settings that messages about it name.

    Attributes:
        base_url: the address; "" for `usual`.
        api_key: the bearer token; "" for none.
        patience: the retries, and the seconds for an answer.
        usual: the default address.
        url_setting, key_setting, model_setting: the settings of address, key ("" without one) and model.
        slower: the advice about a slow answer.
        ollama: whether it is started and filled as Ollama.
        insists: whether a server that does not answer is asked again.

    Raises:
        UsageError: `base_url` is not an address.
    """

    base_url: str
    api_key: str = field(repr=False)
    patience: Patience
    usual: str
    url_setting: str
    key_setting: str
    model_setting: str
    slower: str
    ollama: bool = False
    insists: bool = True

    def __post_init__(self) -> None:
        self.base_url = (self.base_url or self.usual).rstrip("/")
        if not is_address(self.base_url):  # do not show the address: it may hold a name and password
            key = self.key_setting or "a setting of its own"
            raise UsageError(f"{self.url_setting} is not an address like {self.usual}: a key goes into {key}")

    def remote(self, model: str) -> bool:
        """Return whether a model runs on another machine.

        Ollama forwards models called `x:cloud` or `x:120b-cloud` to its maker's servers (docs.ollama.com/cloud).
        """
        return is_elsewhere(self.base_url) or (self.ollama and model.lower().endswith("cloud"))

    def ask(self, path: str, body: Mapping[str, object], most_bytes: int, patience: Patience | None = None) -> bytes:
        """Return the answer to a request, whose `model` names the model.

        Raises:
            RefusedError: the server refused the request.
            ProviderError: there is no answer.
        """
        return (patience or self.patience).over(lambda: self._asked(path, body, most_bytes))

    def _asked(self, path: str, body: Mapping[str, object], most_bytes: int) -> bytes:
        timeout_s = self.patience.timeout_s
        try:
            reply = post(self.base_url + path, body, api_key=self.api_key, timeout_s=timeout_s, most_bytes=most_bytes)
        except FAILURES as error:
            raise self._unreachable(error) from error
        if reply.status != 200:
            raise self._refused(reply, str(body["model"]))
        return reply.body

    def _unreachable(self, error: Exception) -> ProviderError:
        silent = PassingError if self.insists else ProviderError
        if isinstance(error, TimeoutError):
            return silent(f"{self.base_url} took longer than {self.patience.timeout_s:g} s: {self.slower}")
        if isinstance(error, ConnectionRefusedError):
            start = " (`ollama serve`)" if self.ollama else ""
            return ProviderError(f"nothing answers at {self.base_url}: start it{start} or set {self.url_setting}")
        if not isinstance(error, OSError | HTTPException):  # the header check; a certificate failure is an OSError
            return ProviderError(
                f"{self.key_setting} cannot be sent in a header: remove every character outside printable ASCII"
            )
        said = short(str(error) or type(error).__name__, self.api_key)
        # An unknown name or a wrong certificate will not pass.
        kind = silent if isinstance(error, ConnectionError | HTTPException) else ProviderError
        return kind(f"{self.base_url} cannot be asked ({said}): look at its log, or set {self.url_setting}")

    def _refused(self, reply: Reply, model: str) -> ProviderError:
        at, status, detail = self.base_url, reply.status, short(error_of(reply.body), self.api_key)
        if status in PASSING:
            slower = "lower embedding.batch_texts, or wait" if status == 429 and self.insists else "look at its log"
            after = retry_after(reply.headers.get("retry-after", ""), self.patience.clock())
            return PassingError(f"{at} answered with status {status} ({detail}): {slower}", after)
        said = f"answered with status {status} ({detail}): check {self.model_setting} and {self.url_setting}"
        if status in {401, 403}:
            variable = f"VADE_{self.key_setting.upper().replace('.', '__')}"
            own = f"set {self.key_setting} in your user file, or {variable}" if self.key_setting else "it wants a key"
            said = f"refused the key: {own}"
        elif 300 <= status < 400:
            said = f"leads elsewhere: set {self.url_setting} to where it leads"
        elif status == 404:
            fix = f"`ollama pull {model}`" if self.ollama else f"check {self.url_setting}"
            said = f"has no model {model!r} ({detail}): {fix}, or change {self.model_setting}"
        return RefusedError(f"{at} {said}", status)

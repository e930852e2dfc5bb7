"""Requests to a server that runs models, and advice on its failures.

Retried are statuses that may pass (408, 429, 5xx), and with `insists` also silence and dropped connections. Connections go
to the configured server only: no proxy, no redirect. A key never stands in a message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException

from vademecum.addresses import is_address, is_elsewhere
from vademecum.errors import ProviderError, UsageError
from vademecum.providers.post import FAILURES, Reply, error_of, post, short
from vademecum.providers.retries import PASSING, PassingError, Patience, retry_after


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

"""One server of a backlog or of documents, asked over HTTP: JSON out, JSON in.

What passes is waited for (status 429 and 5xx, a connection that drops, silence), with pauses that double, are drawn at random
and heed `Retry-After`; what does not is an error that names the setting. The connection goes to the server that is named and
nowhere else: no proxy, no redirect is followed, and the key never leaves that address.
"""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import wraps
from http.client import HTTPException
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlencode, urlsplit

from vademecum.addresses import is_address, is_elsewhere
from vademecum.errors import ConfigError, ProviderError, SyncError
from vademecum.providers.patience import PASSING, PassingError, Patience, retry_after
from vademecum.providers.post import DAY_S, Reply, request, short
from vademecum.result import Err, Ok

LONGEST_WAIT_S = 300.0  # that a server may ask for: beyond it the run ends, and goes on when it is started again
MOST_BYTES = 64_000_000  # of one answer
MOVED = (302, 303, 307)  # to where a file is kept
ABSENT = (403, 404, 410)  # a file that is gone, or not for this key

T = TypeVar("T")
P = ParamSpec("P")
Wait = Callable[[float], None]
Parameters = Mapping[str, str | int | list[str]]


def outcome(method: Callable[P, T]) -> Callable[P, Ok[T] | Err[SyncError]]:
    """Turn a method that may raise `SyncError` into one that returns a `Result`.

    What a server's answer lacks (a key, a type that is another one) is a `SyncError` too: it does not speak what it should.
    """

    @wraps(method)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Ok[T] | Err[SyncError]:
        try:
            return Ok(method(*args, **kwargs))
        except SyncError as error:
            return Err(error)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            web = getattr(args[0], "web", None)
            where = f"{web.url} answered" if isinstance(web, Web) else "the server answered"
            setting = f"sources.{web.source}.url" if isinstance(web, Web) else "the source's url"
            said = short(f"{type(error).__name__}: {error}")
            return Err(
                SyncError(f"{where} with something else than was asked for ({said}): check {setting} and its provider")
            )

    return wrapped


class Web:
    """One server, asked as one user.

    Args:
        source: the name of the source in the settings, for messages.
        url: where the server is; what is asked stands below it.
        headers: sent with every request, the key among them.
        timeout_s: seconds it may take to answer.
        wait: waits so many seconds.
        chance: draws a number from 0 to 1.

    Raises:
        ConfigError: the address is none.
    """

    def __init__(
        self,
        source: str,
        url: str,
        headers: Mapping[str, str],
        *,
        timeout_s: float = 60.0,
        wait: Wait = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.source = source
        self.url = address(source, url)
        self._headers = {"Accept": "application/json", **headers}
        self._timeout_s = max(float(timeout_s), 0.05)
        self._wait = wait
        self._patience = Patience(most_pause_s=LONGEST_WAIT_S, sleep=wait, chance=chance)
        for name, value in self._headers.items():
            if not value.isprintable() or not value.isascii():
                raise ConfigError(
                    f"a key of sources.{source} cannot be sent as {name}: remove what is no plain character from it"
                )

    @property
    def remote(self) -> bool:
        """Whether the address is another machine's: any but a loopback address or `localhost`."""
        return is_elsewhere(self.url)

    def get(self, path: str, parameters: Parameters | None = None) -> tuple[Any, Reply]:
        """Return what stands at a path below the address, as JSON. Raises `SyncError`."""
        reply = self.ask("GET", self.below(path, parameters))
        return self.json(reply), reply

    def post(
        self, path: str, body: Any, parameters: Parameters | None = None, *, accept: tuple[int, ...] = ()
    ) -> tuple[Any, Reply]:
        """Send JSON to a path below the address and return the answer. Raises `SyncError`."""
        reply = self.ask("POST", self.below(path, parameters), json.dumps(body).encode(), accept=accept)
        return self.json(reply), reply

    def below(self, path: str, parameters: Parameters | None = None) -> str:
        """Return the whole address of a path, or of a link that the server gave.

        Raises:
            SyncError: the link leads to another server, which is not to see the key.
        """
        whole = path if urlsplit(path).scheme else f"{self.url}{path}"
        own, other = urlsplit(self.url), urlsplit(whole)
        if (own.scheme, own.netloc) != (other.scheme, other.netloc):
            raise SyncError(
                f"{self.url} leads on to {other.netloc}, which is not asked: set sources.{self.source}.url to where it leads"
            )
        return f"{whole}?{urlencode(parameters, doseq=True)}" if parameters else whole

    def file(self, url: str, most_bytes: int) -> bytes | None:
        """Return what lies at an address that the server gave; None for what is gone, may not be read, or is larger.

        Another server than this one is shown no key. Raises `SyncError`.
        """
        own, other = urlsplit(self.url), urlsplit(url)
        if other.scheme and (own.scheme, own.netloc) != (other.scheme, other.netloc):
            content = self.elsewhere(url, accept=ABSENT)
        else:
            reply = self.ask("GET", self.below(url), accept=(*MOVED, *ABSENT), kind="*/*")
            content = reply.body if reply.status == 200 else b""
            if reply.status in MOVED:
                content = self.elsewhere(reply.headers.get("location", ""), accept=ABSENT)
            elif reply.status in ABSENT:
                content = None
        return content if content is not None and len(content) <= most_bytes else None

    def ask(
        self, method: str, url: str, body: bytes | None = None, *, accept: tuple[int, ...] = (), kind: str = ""
    ) -> Reply:
        """Return the answer to one request, asked again where that may help; one with another status than 200 or `accept` is an error.

        `kind` is what is to come back, where that is not JSON.
        """

        def once() -> Reply:
            try:
                reply = self._once(method, url, body, kind)
            except (OSError, HTTPException) as error:
                raise PassingError(self._unreachable(error)) from error
            if reply.status == 200 or reply.status in accept:
                return reply
            asked_for = _asked_wait(reply)
            refused = self._refused(reply, asked_for)
            if reply.status in PASSING and asked_for <= LONGEST_WAIT_S:
                raise PassingError(refused, asked_for or None)
            raise SyncError(refused)

        try:
            return self._patience.over(once)
        except SyncError:
            raise
        except ProviderError as error:
            raise SyncError(str(error)) from error

    def elsewhere(self, url: str, *, accept: tuple[int, ...] = ()) -> bytes | None:
        """Return what lies at an address the server gave for a file, which needs no key and is shown none; None for a status of `accept`.

        Raises:
            SyncError: it cannot be fetched, or a server of this machine leads to another one.
        """
        own, other = urlsplit(self.url), urlsplit(url)
        if other.scheme not in {"https", own.scheme} or not other.hostname:
            raise SyncError(f"{self.url} gave no address to fetch a file from")
        if is_elsewhere(url) and not self.remote:
            raise SyncError(f"{self.url} is on this machine and leads to {other.netloc}, which is not asked")
        there = Web(
            self.source,
            f"{other.scheme}://{other.netloc}",
            {"Accept": "*/*"},
            timeout_s=self._timeout_s,
            wait=self._wait,
        )
        reply = there.ask("GET", url, accept=accept)
        return reply.body if reply.status == 200 else None

    def json(self, reply: Reply) -> Any:
        """Return what a reply says. Raises `SyncError` where it is no JSON."""
        try:
            return json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            raise SyncError(
                f"{self.url} answers with something else than JSON ({short(reply.body[:500].decode('utf-8', 'replace'))}): "
                f"check sources.{self.source}.url"
            ) from error

    def _once(self, method: str, url: str, body: bytes | None, kind: str) -> Reply:
        headers = ({"Content-Type": "application/json"} if body is not None else {}) | self._headers
        headers |= {"Accept": kind} if kind else {}
        reply = request(method, url, body, headers, timeout_s=self._timeout_s, most_bytes=MOST_BYTES)
        if len(reply.body) >= MOST_BYTES:
            raise SyncError(
                f"{self.url} answered with more than {MOST_BYTES} bytes: ask for less, as with a narrower query"
            )
        return reply

    def _unreachable(self, error: Exception) -> str:
        own = f"sources.{self.source}"
        if isinstance(error, TimeoutError):
            return f"{self.url} took longer than {self._timeout_s:g} s: raise {own}.timeout_s, or try again later"
        if isinstance(error, ConnectionRefusedError):
            return f"nothing answers at {self.url}: check {own}.url, or start the server"
        said = short(str(error) or type(error).__name__)
        return f"{self.url} cannot be asked ({said}): check {own}.url and the network; the next run goes on from here"

    def _refused(self, reply: Reply, asked_for: float) -> str:
        own, status = f"sources.{self.source}", reply.status
        said = self._masked(short(reply.body[:2000].decode("utf-8", "replace")))
        later = f"run `vade sync {self.source}` later, it goes on from here"
        if 300 <= status < 400:
            status = 302
        if status in PASSING and asked_for > LONGEST_WAIT_S:
            status = 429
        known = {
            203: f"refused the key: set {own}.token in your user file or {variable(self.source, 'token')}",
            302: f"leads elsewhere, to sign in as a rule: check {own}.url and {own}.token",
            401: f"refused the key: set {own}.token in your user file or {variable(self.source, 'token')}",
            403: f"does not let this key read it ({said}): give it the right to read, or set another {own}.token",
            404: f"has no such thing ({said}): check {own}.url and what it is asked for",
            429: f"asks to be left alone{f' for {asked_for:.0f} s' if asked_for else ''}: {later}",
        }
        failed = f"failed ({said}): {later}"
        strange = f"did not understand what it was asked ({said}): check what is set under [{own}]"
        return f"{self.url} {known.get(status) or (failed if status in PASSING else strange)} (status {reply.status})"

    def _masked(self, said: str) -> str:
        for value in (
            self._headers.get("Authorization", ""),
            self._headers.get("Authorization", "").rpartition(" ")[2],
        ):
            said = said.replace(value or "\0", "…")
        return said


@dataclass(kw_only=True, eq=False, repr=False)  # a text of it would show the token
class ServerSource:
    """A source on a server: the options that every such source takes.

    Attributes:
        url: the server's address.
        token: the key to the server.
        timeout_s: seconds the server may take to answer.
        name: the source's name in the settings.
        wait: waits so many seconds.

    Raises:
        ConfigError: an option makes no sense.
    """

    url: str
    token: str
    timeout_s: float = 60.0
    name: str = "source"
    wait: Wait = time.sleep

    def __post_init__(self) -> None:
        """Prepare the connection to the server. Nothing is asked yet."""
        self.web = self.server(self.url, {"Authorization": self.authorization()})

    @property
    def remote(self) -> bool:
        """Whether the server is another machine."""
        return self.web.remote

    def authorization(self) -> str:
        """Return the header that carries the token."""
        return f"Bearer {self.token}"

    def server(self, url: str, headers: Mapping[str, str]) -> Web:
        """Return a server that is asked with this source's patience."""
        return Web(self.name, url, headers, timeout_s=self.timeout_s, wait=self.wait)

    def wants(self, option: str) -> bool:
        """Return whether an option says "yes". Raises `ConfigError` where it says neither "yes" nor "no"."""
        said = getattr(self, option)
        if said not in {"yes", "no"}:
            raise ConfigError(f'sources.{self.name}.{option} is {said!r}: it must be "yes" or "no"')
        return bool(said == "yes")

    def keys(self, option: str) -> list[str]:
        """Return the keys that an option lists. Raises `ConfigError` for a key that no query can quote."""
        keys = [key for each in getattr(self, option).split(",") if (key := each.strip())]
        if any('"' in key or "\\" in key for key in keys):
            raise ConfigError(f"sources.{self.name}.{option} must be keys, separated by commas: leave quotes out")
        return keys


def address(source: str, url: str) -> str:
    """Return an address without the slash at its end.

    Raises:
        ConfigError: it is none.
    """
    url = url.rstrip("/")
    if not is_address(url):
        # A name and password in it would end up in messages: it is not shown.
        raise ConfigError(
            f"sources.{source}.url is not an address like https://example.org: a key goes into sources.{source}.token"
        )
    return url


def said_at(reply: Reply) -> float:
    """Return the time a server says it is, in seconds since the epoch; 0 where it does not."""
    with suppress(ValueError, TypeError, OverflowError):
        return parsedate_to_datetime(reply.headers.get("date", "")).timestamp()
    return 0.0


def authorization(user: str, token: str) -> str:
    """Return the header that shows a key: of a user by Basic, of its own by Bearer.

    >>> authorization("ada", "key"), authorization("", "key")
    ('Basic YWRhOmtleQ==', 'Bearer key')
    """
    return f"Basic {base64.b64encode(f'{user}:{token}'.encode()).decode()}" if user else f"Bearer {token}"


def variable(source: str, option: str) -> str:
    """Return the environment's name for an option of a source.

    >>> variable("team-docs", "token")
    'VADE_SOURCES__TEAM_DOCS__TOKEN'
    """
    return f"VADE_SOURCES__{source.replace('-', '_').upper()}__{option.upper()}"


def _asked_wait(reply: Reply) -> float:
    """Seconds that a server asks to wait: `Retry-After` in seconds or as a date, `X-RateLimit-Reset` as a time."""
    now = said_at(reply) or time.time()
    asked = retry_after(reply.headers.get("retry-after", ""), now)
    if asked is not None:
        return max(0.0, asked)
    with suppress(ValueError):
        reset = float(reply.headers.get("x-ratelimit-reset", ""))
        return max(0.0, reset - now) if reply.status == 429 and reset > DAY_S else 0.0
    return 0.0

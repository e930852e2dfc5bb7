"""One server of issues or documents, asked over HTTP with JSON.

Passing failures are retried (status 429 and 5xx, dropped connections, timeouts), with pauses that double, are drawn at random
and heed `Retry-After`; other failures raise an error that names the setting. Connections go to the configured server only:
no proxy, no redirect, and the key never leaves that address.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any
from urllib.parse import urlencode, urlsplit

from vademecum import result
from vademecum.addresses import is_address, is_elsewhere
from vademecum.amounts import between_commas
from vademecum.errors import ConfigError, ProviderError, SyncError
from vademecum.providers.post import DAY_S, PASSING, PassingError, Patience, Reply, request, retry_after, short

LONGEST_WAIT_S = 300.0  # the longest accepted `Retry-After`; a longer one ends the run, which the next start continues
MOST_BYTES = 64_000_000  # of one answer
MOVED = (302, 303, 307)  # redirects to a file's storage
ABSENT = (403, 404, 410)  # the file is gone, or closed to this key

Wait = Callable[[float], None]
Parameters = Mapping[str, str | int | list[str]]


@contextmanager
def _understood(source: object) -> Iterator[None]:
    """Raise `SyncError` for a malformed answer: a missing key, a wrong type."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        web = getattr(source, "web", None)
        where = f"{web.url} answered" if isinstance(web, Web) else "the server answered"
        setting = f"sources.{web.source}.url" if isinstance(web, Web) else "the source's url"
        said = short(f"{type(error).__name__}: {error}")
        raise SyncError(
            f"{where} with something else than was asked for ({said}): check {setting} and its provider"
        ) from error


outcome = result.outcome(_understood, SyncError)


class Web:
    """One server, asked as one user.

    Args:
        source: the name of the source in the settings, for messages.
        url: the server's address; all requests go below it.
        headers: sent with every request, the key among them.
        timeout_s: seconds it may take to answer.
        wait: sleeps for a number of seconds.

    Raises:
        ConfigError: `url` is not an address, or a key cannot be sent in a header.
    """

    def __init__(
        self, source: str, url: str, headers: Mapping[str, str], *, timeout_s: float = 60.0, wait: Wait = time.sleep
    ) -> None:
        self.source = source
        self.url = url.rstrip("/")
        if not is_address(self.url):  # do not show the address: it may hold a name and password
            raise ConfigError(
                f"sources.{source}.url is not an address like https://example.org: a key goes into sources.{source}.token"
            )
        self._headers = {"Accept": "application/json", **headers}
        self._timeout_s = max(float(timeout_s), 0.05)
        self._wait = wait
        self._patience = Patience(most_pause_s=LONGEST_WAIT_S, sleep=wait)
        for name, value in self._headers.items():
            if not value.isprintable() or not value.isascii():
                raise ConfigError(
                    f"a key of sources.{source} cannot be sent as {name}: remove every character outside printable ASCII"
                )

    @property
    def remote(self) -> bool:
        """True for another machine's address: not loopback, not `localhost`."""
        return is_elsewhere(self.url)

    def get(self, path: str, parameters: Parameters | None = None) -> tuple[Any, Reply]:
        """Return the JSON below the address, and the reply. Raises `SyncError`."""
        reply = self.ask("GET", self.below(path, parameters))
        return self.json(reply), reply

    def post(
        self, path: str, body: Any, parameters: Parameters | None = None, *, accept: tuple[int, ...] = ()
    ) -> tuple[Any, Reply]:
        """Post JSON below the address; return answer and reply. Raises `SyncError`."""
        reply = self.ask("POST", self.below(path, parameters), json.dumps(body).encode(), accept=accept)
        return self.json(reply), reply

    def below(self, path: str, parameters: Parameters | None = None) -> str:
        """Return the full address of a path or a server's link.

        Raises:
            SyncError: the link leads to another server, which must not see the key.
        """
        whole = path if urlsplit(path).scheme else f"{self.url}{path}"
        own, other = urlsplit(self.url), urlsplit(whole)
        if (own.scheme, own.netloc) != (other.scheme, other.netloc):
            raise SyncError(
                f"{self.url} leads on to {other.netloc}, which is not asked: set sources.{self.source}.url to where it leads"
            )
        return f"{whole}?{urlencode(parameters, doseq=True)}" if parameters else whole

    def file(self, url: str, most_bytes: int) -> bytes | None:
        """Return a file from an address that the server gave.

        None means the file is gone, closed to this key, or too large. Other servers never see the key. Raises `SyncError`.
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
        """Return the reply to one request, retried while retrying may help.

        Raises `SyncError` for any status but 200 and those in `accept`. `kind` is the expected media type; "" for JSON.
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
        """Fetch a file from another address, without a key.

        None is returned for a status in `accept`.

        Raises:
            SyncError: the file cannot be fetched, or a server on this machine leads to another machine.
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
        """Return a reply's JSON. Raises `SyncError` if the body is not JSON."""
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


@dataclass(kw_only=True, eq=False, repr=False)  # a generated repr would show the token
class ServerSource:
    """A source on a server, with the options such sources share.

    Attributes:
        url: the server's address.
        token: the key to the server.
        timeout_s: seconds the server may take to answer.
        name: the source's name in the settings.
        wait: sleeps for a number of seconds.

    Raises:
        ConfigError: an option makes no sense.
    """

    url: str
    token: str
    timeout_s: float = 60.0
    name: str = "source"
    wait: Wait = time.sleep

    def __post_init__(self) -> None:
        """Prepare the connection, without asking the server yet."""
        self.web = self.server(self.url, {"Authorization": self.authorization()})

    @property
    def remote(self) -> bool:
        """True if the server is another machine."""
        return self.web.remote

    def authorization(self) -> str:
        """Return the header that carries the token."""
        return f"Bearer {self.token}"

    def server(self, url: str, headers: Mapping[str, str]) -> Web:
        """Return a server with this source's timeout and clock."""
        return Web(self.name, url, headers, timeout_s=self.timeout_s, wait=self.wait)

    def wants(self, option: str) -> bool:
        """Return whether an option says "yes", not "no". Raises `ConfigError`."""
        said = getattr(self, option)
        if said not in {"yes", "no"}:
            raise ConfigError(f'sources.{self.name}.{option} is {said!r}: it must be "yes" or "no"')
        return bool(said == "yes")

    def keys(self, option: str) -> list[str]:
        """Return an option's comma-separated keys. Raises `ConfigError` for an unquotable key."""
        keys = list(between_commas(getattr(self, option)))
        if any('"' in key or "\\" in key for key in keys):
            raise ConfigError(f"sources.{self.name}.{option} must be keys, separated by commas: leave quotes out")
        return keys


def seconds(written: str | None) -> float:
    """Return an ISO 8601 time as seconds since the epoch.

    The result is 0 for text that is no time. A time without a zone is UTC.

    >>> seconds("2023-11-14T22:13:20.123+0000"), seconds("2023-11-14T22:13:20.1234567Z"), seconds(""), seconds("never")
    (1700000000.123, 1700000000.123456, 0.0, 0.0)
    """
    try:
        found = datetime.fromisoformat(written or "")
    except ValueError:
        return 0.0
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def written(at: float, form: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
    """Return seconds since the epoch as a UTC time, by default ISO.

    >>> written(1_700_000_000)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(at, UTC).strftime(form)


def said_at(reply: Reply) -> float:
    """Return the server's time in seconds since the epoch, or 0."""
    with suppress(ValueError, TypeError, OverflowError):
        return parsedate_to_datetime(reply.headers.get("date", "")).timestamp()
    return 0.0


def variable(source: str, option: str) -> str:
    """Return the environment variable for a source's option.

    >>> variable("team-docs", "token")
    'VADE_SOURCES__TEAM_DOCS__TOKEN'
    """
    return f"VADE_SOURCES__{source.replace('-', '_').upper()}__{option.upper()}"


def _asked_wait(reply: Reply) -> float:
    """Return the seconds that a server asks to wait, 0 by default.

    Sources: `Retry-After` in seconds or as a date, `X-RateLimit-Reset` as a time.
    """
    now = said_at(reply) or time.time()
    asked = retry_after(reply.headers.get("retry-after", ""), now)
    if asked is not None:
        return max(0.0, asked)
    with suppress(ValueError):
        reset = float(reply.headers.get("x-ratelimit-reset", ""))
        return max(0.0, reset - now) if reply.status == 429 and reset > DAY_S else 0.0
    return 0.0

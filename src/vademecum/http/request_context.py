"""Request context for routes: caller, engine and tagged answers.

Every answer is JSON with an ETag, a hash of its content. A client that has the content gets `304` without a body. When an
answer depends on the index state alone, its tag is known before the answer is computed.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response

from vademecum.config import Settings
from vademecum.engine import Engine
from vademecum.errors import AccessError, UnknownError
from vademecum.http.auth import Key, Visitor
from vademecum.http.engines import Engines, HookRuns, Opening, Readiness
from vademecum.http.jobs import Jobs
from vademecum.version import __version__
from vademecum.wiring.roots import OpenedRoot

T = TypeVar("T")
MOST_BYTES = 32_000_000  # of answers that are kept


class Answers:
    """Rendered answers by tag, the last used, for several threads.

    >>> kept = Answers(most_bytes=5)
    >>> kept.keep("a", b"123"); kept.keep("b", b"45"); kept.get("a")
    b'123'
    >>> kept.keep("c", b"6"); kept.get("b"), kept.get("a")
    (None, b'123')
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._size = 0
        self._bodies: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, tag: str) -> bytes | None:
        """Return the cached body of a tag, or None."""
        with self._lock:
            if tag in self._bodies:
                self._bodies.move_to_end(tag)
            return self._bodies.get(tag)

    def keep(self, tag: str, body: bytes) -> None:
        """Cache a body, and drop the least recently used beyond the limit."""
        with self._lock:
            if tag in self._bodies or len(body) > self._most:
                return
            self._bodies[tag] = body
            self._size += len(body)
            while self._size > self._most:
                self._size -= len(self._bodies.popitem(last=False)[1])


@dataclass
class AppState:
    """The state that all requests share."""

    settings: Settings
    roots: tuple[OpenedRoot, ...]
    keys: tuple[Key, ...]
    engines: Engines
    jobs: Jobs
    hooks: HookRuns
    readiness: Readiness
    ending: threading.Event = field(default_factory=threading.Event)  # set when shutdown begins
    answers: Answers = field(default_factory=Answers)
    looked_at: dict[tuple[str, ...], float] = field(default_factory=dict)  # when repositories were last refreshed


@dataclass(frozen=True, slots=True)
class RequestContext:
    """One request, with its caller."""

    request: Request
    shared: AppState
    visitor: Visitor

    @property
    def roots(self) -> tuple[OpenedRoot, ...]:
        """The repositories that the caller may see."""
        return tuple(root for root in self.shared.roots if root.path in self.visitor.paths)

    def path_of(self, repo: str) -> str:
        """Return the root of a repository, by default the first. Raises `UnknownError`."""
        known = {root.name: root.path for root in self.roots}
        if not repo:
            return self.roots[0].path
        if repo not in known:
            raise UnknownError(f"no open repository is called {repo!r}: choose among {', '.join(sorted(known))}")
        return known[repo]

    def is_due(self) -> bool:
        """Return whether a refresh is due, and note its time if so."""
        now, looked_at = time.monotonic(), self.shared.looked_at
        due = now - looked_at.get(self.visitor.paths, -1e9) >= self.shared.settings.server.refresh_s
        if due:
            looked_at[self.visitor.paths] = now
        return due

    def must_be_personal(self) -> None:
        """Refuse the user's personal data to a restricted key. Raises `AccessError`."""
        if not self.visitor.personal:
            raise AccessError("this belongs to the user, not to a repository: ask with a key for '*'")

    async def text(self) -> str:
        """Return the body as text."""
        return (await self.request.body()).decode("utf-8", "replace")

    async def engine(self, function: Callable[[Engine], T], *, repo: str | None = None) -> T:
        """Return `function(engine)` over the caller's repositories, or over one.

        `repo` names one repository; "" is the first.
        """
        paths = self.visitor.paths if repo is None else (self.path_of(repo),)
        return await self.shared.engines.call(Opening(paths, self.visitor.personal), function)

    async def answer(self, function: Callable[[Engine], Any], *, repo: str | None = None) -> Response:
        """Return the result of `function(engine)` as JSON."""
        return self.say(await self.engine(function, repo=repo))

    async def answer_of_state(self, function: Callable[[Engine], Any], *, repo: str = "") -> Response:
        """Return a cached answer that depends on the index state alone."""
        self.path_of(repo)  # refuses first: a caller learns nothing about a closed repository

        def tagged(engine: Engine) -> tuple[str, bytes | None]:
            if self.is_due():
                engine.codebase.refresh()
            named = (repo,) if repo else ()
            if "" in engine.codebase.states(named):  # not indexed yet
                engine.codebase.refresh()
            states = engine.codebase.states(named)
            tag = self._tag(
                "\0".join((*states, self.request.url.path, self.request.url.query)).encode("utf-8", "replace")
            )
            if self._knows(tag):
                return tag, None
            body = self.shared.answers.get(tag)
            if body is None:
                body = encoded(function(engine))
                self.shared.answers.keep(tag, body)
            return tag, body

        tag, body = await self.engine(tagged)
        return self._send(tag, body, 200)

    def say(self, value: Any, *, status: int = 200) -> Response:
        """Return a value as JSON, with an ETag for GET."""
        body = encoded(value)
        if self.request.method != "GET" or status != 200:
            return Response(body, status, media_type="application/json")
        tag = self._tag(body)
        return self._send(tag, None if self._knows(tag) else body, status)

    def _send(self, tag: str, body: bytes | None, status: int) -> Response:
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if body is None:
            return Response(status_code=304, headers=headers)
        return Response(body, status, headers, media_type="application/json")

    def _tag(self, content: bytes) -> str:
        said = f"{__version__}\0{self.visitor.name}\0".encode() + content
        return f'"{blake2b(said, digest_size=12).hexdigest()}"'

    def _knows(self, tag: str) -> bool:
        given = self.request.headers.get("if-none-match", "")
        return given.strip() == "*" or tag in (each.strip().removeprefix("W/") for each in given.split(","))


def asked(request: Request) -> RequestContext:
    """Return the request context; the guard has set the caller."""
    return RequestContext(request, request.app.state.shared, request.state.visitor)


Asked = Annotated[RequestContext, Depends(asked)]


def encoded(value: Any) -> bytes:
    """Return a value as UTF-8 JSON. Lone surrogates become question marks."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return text.encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    """Convert mappings, sets and numpy numbers for `json`."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    return value.item() if hasattr(value, "item") else str(value)

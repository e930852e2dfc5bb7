"""The MCP client, as the server's counterpart for questions.

A server can ask for its user, its model or its roots. A client that sent `initialize` gets the questions as requests. In
the stateless protocol (2026-07-28) a server cannot send requests. It answers a call with its question instead
(`input_required`), and the client repeats the call with its answers and the given state. A server behind the gateway knows
nothing of this: its call waits on a separate thread, and the state finds it again.

    client   tools/call                                       server   works
             <- input_required {question}, state                       asks, and waits
             tools/call {answer}, state                                continues
             <- complete                                               answers
"""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from itertools import count
from typing import Any

from vademecum.errors import Error, UrlElicitationError, UsageError
from vademecum.providers.servers.wire import METHOD_NOT_FOUND, URL_ELICITATION_REQUIRED, can_be_asked, offered

ASKED_S = 600.0  # for an answer, which a person may give
MOST_PARKED = 64  # calls that wait for their client; beyond these the oldest is cancelled
REFUSED = -32600

Answer = Mapping[str, Any]  # {"result": ...} or {"error": ...}
Message = dict[str, Any]

_OFFERS = "io.modelcontextprotocol/clientCapabilities"


class Round:
    """One call, with its open questions and its result."""

    def __init__(self, offers: Mapping[str, Any]) -> None:
        self.offers = offers  # kinds of questions the client accepts, as MCP's capabilities
        self.server = ""  # the server that runs the call
        self._changed = threading.Condition()
        self._numbers = count(1)
        self._open: dict[str, tuple[Message, queue.SimpleQueue[Answer]]] = {}
        self._became: Future[Message | None] | None = None

    @property
    def waits(self) -> bool:
        """True while a question is open."""
        return bool(self._open)

    def begin(self, call: Callable[[], Message | None]) -> None:
        """Start the call on a separate thread."""

        def work() -> Message | None:
            _CALLING.set(self)
            return call()

        worker = ThreadPoolExecutor(1, "vademecum-round")
        self._became = worker.submit(work)
        self._became.add_done_callback(self._has_ended)
        worker.shutdown(wait=False)

    def _has_ended(self, _: Future[Message | None]) -> None:
        with self._changed:
            self._changed.notify_all()

    def ask(self, method: str, params: Mapping[str, Any]) -> Answer:
        """Ask the client, on a server's thread; return answer or error."""
        key, answer = f"question-{next(self._numbers)}", queue.SimpleQueue[Answer]()
        with self._changed:
            self._open[key] = {"method": method, "params": dict(params)}, answer
            self._changed.notify_all()
        try:
            return answer.get(timeout=ASKED_S)
        except queue.Empty:
            return _error(f"no answer within {ASKED_S:g} s")
        finally:
            with self._changed:
                self._open.pop(key, None)

    def next(self) -> tuple[dict[str, Message], Message | None]:
        """Wait for questions or for the end of the call.

        Returns the open questions and None, or no questions and the result. Raises the call's errors.
        """
        assert self._became is not None
        became = self._became
        with self._changed:
            self._changed.wait_for(lambda: became.done() or self._open)
            if not became.done():
                return {key: question for key, (question, _) in self._open.items()}, None
        return {}, became.result()

    def answer(self, answers: Mapping[str, Any]) -> None:
        """Deliver answers; unanswered questions stay open."""
        with self._changed:
            given = [(self._open.pop(key)[1], answers[key]) for key in list(self._open) if key in answers]
        for waiting, result in given:
            waiting.put({"result": result})

    def give_up(self) -> None:
        """Answer all open questions with an error."""
        with self._changed:
            waiting, self._open = [answer for _, answer in self._open.values()], {}
        for answer in waiting:
            answer.put(_error("the client is gone"))


_CALLING: ContextVar[Round | None] = ContextVar("calling", default=None)  # its client gets the server's questions


def working(server: str) -> None:
    """Set the server that runs the call of this thread."""
    if round_ := _CALLING.get():
        round_.server = server


class Rounds:
    """The open calls of one client."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._working: list[Round] = []
        self._parked: dict[str, Round] = {}

    def answered(self, params: Message, offers: Any, call: Callable[[], Message | None]) -> Message | None:
        """Answer a request with its result, or with questions.

        With `requestState` the request continues a call that asked a question. Raises the call's errors.

        Raises:
            UsageError: No call waits with that state.
        """
        state = params.get("requestState")
        if state is None:
            round_ = Round(offered(offers))
            with self._lock:
                self._working.append(round_)
            round_.begin(call)
        else:
            round_ = self._found(state)
            answers = params.get("inputResponses")
            round_.answer(answers if isinstance(answers, Mapping) else {})
        questions: dict[str, Message] = {}
        try:
            questions, result = round_.next()
        finally:
            if not questions:
                with self._lock:
                    self._working = [one for one in self._working if one is not round_]
        if not questions:
            return result
        return {"resultType": "input_required", "inputRequests": questions, "requestState": self._park(round_)}

    def ask(self, server: str, method: str, params: Mapping[str, Any]) -> Answer:
        """Ask the client in a call that the server runs."""
        with self._lock:
            fit = [one for one in self._working if one.server == server and can_be_asked(method, params, one.offers)]
        if not fit:
            return {"error": {"code": METHOD_NOT_FOUND, "message": "this client offers no such thing now"}}
        return min(fit, key=lambda one: one.waits).ask(method, params)  # preferably of a call without a question

    def give_up(self) -> None:
        """Answer all open questions with an error: the client is gone."""
        with self._lock:
            rounds = [*self._working]
        for one in rounds:
            one.give_up()

    def _found(self, state: Any) -> Round:
        with self._lock:
            round_ = self._parked.pop(state, None) if isinstance(state, str) else None
        if round_ is None:
            raise UsageError("no call waits for this answer any more: call again without requestState")
        return round_

    def _park(self, round_: Round) -> str:
        state = secrets.token_urlsafe()
        with self._lock:
            self._parked[state] = round_
            late = [self._parked.pop(one) for one in list(self._parked)[:-MOST_PARKED]]
            self._working = [one for one in self._working if one not in late]
        for one in late:
            one.give_up()
        return state


class ProtocolError(Exception):
    """A request that cannot be served; becomes a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class AskedClient:
    """Sends questions to a client and returns each answer to the asker."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self.offers: Mapping[str, Any] = {}  # capabilities, from `initialize` or else from the first request
        self.greeted = False  # true after `initialize`: the client accepts notifications and questions
        self.rounds = Rounds()  # for questions to a client without `initialize`
        self._send = send  # writes one message; called from several threads
        self._numbers = count(1)
        self._waiting: dict[str, queue.SimpleQueue[Answer]] = {}
        self._gone = False
        self._lock = threading.Lock()

    def meet(self, message: Any) -> None:
        """Read a client's capabilities from its first request."""
        params = message.get("params") if isinstance(message, Mapping) else None
        if not self.offers and not self.greeted and isinstance(params, Mapping):
            self.offers = offers_in(params)

    def ask(self, method: str, params: Mapping[str, Any], server: str = "") -> Answer:
        """Return the answer to a question, or an error; safe in threads."""
        if not self.greeted:
            return self.rounds.ask(server, method, params)
        number, answer = f"vade-{next(self._numbers)}", queue.SimpleQueue[Answer]()
        with self._lock:
            if self._gone:
                return _error("the client is gone")
            self._waiting[number] = answer
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)})
        try:
            return answer.get(timeout=ASKED_S)
        except queue.Empty:
            self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
            return _error(f"no answer within {ASKED_S:g} s")
        finally:
            with self._lock:
                self._waiting.pop(number, None)

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification to a client that sent `initialize`: others accept none."""
        if self.greeted and not self._gone:
            self._send({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    def send_to_pages(self, error: Error) -> None:
        """Ask the client to open the pages that an error names.

        Does nothing for other errors, or if the client cannot open pages.

        Raises:
            ProtocolError: MCP's error for this, with the pages. The stateless protocol has no such error: there the
                message names the pages.
        """
        can_be_sent = self.greeted and can_be_asked("elicitation/create", {"mode": "url"}, offered(self.offers))
        if can_be_sent and isinstance(error, UrlElicitationError):
            pages = {"elicitations": [dict(page) for page in error.elicitations]}
            raise ProtocolError(URL_ELICITATION_REQUIRED, str(error), pages) from error

    def hear(self, message: Mapping[str, Any]) -> None:
        """Deliver an answer of the client; ignore unexpected answers."""
        number = message.get("id")
        with self._lock:
            waiting = self._waiting.pop(number, None) if isinstance(number, str) else None
        if waiting and isinstance(message.get("error"), Mapping):
            waiting.put({"error": message["error"]})
        elif waiting:
            waiting.put({"result": message.get("result")})

    def hang_up(self) -> None:
        """Answer all open questions with an error: the client is gone."""
        with self._lock:
            self._gone, waiting = True, list(self._waiting.values())
        for answer in waiting:
            answer.put(_error("the client is gone"))
        self.rounds.give_up()


def offers_in(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the capabilities in a request of the stateless protocol."""
    meta = params.get("_meta")
    named = meta.get(_OFFERS) if isinstance(meta, Mapping) else None
    return named if isinstance(named, Mapping) else {}


def _error(message: str) -> Answer:
    return {"error": {"code": REFUSED, "message": message}}

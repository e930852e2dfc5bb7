"""Calls in rounds: how a client is asked in the era without a greeting (2026-07-28).

There nobody can put a question to a client. A call is answered with the question instead (`input_required`), and the client calls
again, with its answers and the state that it was given. A server behind the gateway knows nothing of that: its call goes on
waiting on a thread of its own, as it would for any client, and is found again by that state.

    client   tools/call                                       server   works
             <- input_required {question}, state                       asks, and waits
             tools/call {answer}, state                                goes on
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

from vademecum.errors import UsageError
from vademecum.providers.servers.wire import METHOD_NOT_FOUND, can_be_asked, offered

ASKED_S = 600.0  # that an answer may take: it may be a person who gives it
MOST_PARKED = 64  # calls that wait for their client; the one that waits longest gives way
REFUSED = -32600

Answer = Mapping[str, Any]  # {"result": ...} or {"error": ...}
Message = dict[str, Any]


class Round:
    """One call: what is asked in it and not answered yet, and what became of it.

    Args:
        offers: What its client can be asked, as MCP's capabilities name it.
    """

    def __init__(self, offers: Mapping[str, Any]) -> None:
        self.offers = offers
        self.server = ""  # who works on it
        self._changed = threading.Condition()
        self._numbers = count(1)
        self._open: dict[str, tuple[Message, queue.SimpleQueue[Answer]]] = {}
        self._became: Future[Message | None] | None = None

    @property
    def waits(self) -> bool:
        """Whether something is asked in it."""
        return bool(self._open)

    def begin(self, call: Callable[[], Message | None]) -> None:
        """Make the call on a thread of its own."""

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
        """Return the client's answer, or an error in its place. Called on a server's thread."""
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
        """Wait for questions, or for the end: return the questions, or none and the result. What the call raised is raised."""
        assert self._became is not None
        became = self._became
        with self._changed:
            self._changed.wait_for(lambda: became.done() or self._open)
            if not became.done():
                return {key: question for key, (question, _) in self._open.items()}, None
        return {}, became.result()

    def answer(self, answers: Mapping[str, Any]) -> None:
        """Hand answers on; a question that has none is asked again."""
        with self._changed:
            given = [(self._open.pop(key)[1], answers[key]) for key in list(self._open) if key in answers]
        for waiting, result in given:
            waiting.put({"result": result})

    def give_up(self) -> None:
        """Tell everyone who waits that nothing will come."""
        with self._changed:
            waiting, self._open = [answer for _, answer in self._open.values()], {}
        for answer in waiting:
            answer.put(_error("the client is gone"))


_CALLING: ContextVar[Round | None] = ContextVar("calling", default=None)


def working(server: str) -> None:
    """Say that a server works on the call of this thread, so that what it asks is asked there."""
    if round_ := _CALLING.get():
        round_.server = server


class Rounds:
    """The calls of one client that may ask back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._working: list[Round] = []
        self._parked: dict[str, Round] = {}

    def answered(self, params: Message, offers: Any, call: Callable[[], Message | None]) -> Message | None:
        """Answer a request with its result, or with what has to be known first.

        Args:
            params: The request's; with a state it is one that was answered with a question.
            offers: The capabilities that its client named.
            call: What the request asks for.

        Raises:
            UsageError: The state is of no call that waits.
            Error: The call failed.
        """
        state = params.get("requestState")
        round_ = self._begun(offered(offers), call) if state is None else self._found(state)
        if state is not None:
            answers = params.get("inputResponses")
            round_.answer(answers if isinstance(answers, Mapping) else {})
        questions: dict[str, Message] = {}
        try:
            questions, result = round_.next()
        finally:
            if not questions:
                self._forget(round_)
        if not questions:
            return result
        return {"resultType": "input_required", "inputRequests": questions, "requestState": self._park(round_)}

    def ask(self, server: str, method: str, params: Mapping[str, Any]) -> Answer:
        """Ask in a call that a server works on, one in which nothing is asked yet if there is one."""
        with self._lock:
            fit = [one for one in self._working if one.server == server and can_be_asked(method, params, one.offers)]
        if not fit:
            return {"error": {"code": METHOD_NOT_FOUND, "message": "this client offers no such thing now"}}
        return min(fit, key=lambda one: one.waits).ask(method, params)

    def give_up(self) -> None:
        """The client is gone: nobody will answer."""
        with self._lock:
            rounds = [*self._working]
        for one in rounds:
            one.give_up()

    def _begun(self, offers: Mapping[str, Any], call: Callable[[], Message | None]) -> Round:
        round_ = Round(offers)
        with self._lock:
            self._working.append(round_)
        round_.begin(call)
        return round_

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

    def _forget(self, round_: Round) -> None:
        with self._lock:
            self._working = [one for one in self._working if one is not round_]


def _error(message: str) -> Answer:
    return {"error": {"code": REFUSED, "message": message}}

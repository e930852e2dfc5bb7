"""The client in front of a server, as one that can be asked something itself: its user, its model, its roots."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

ASKED_S = 600.0  # that an answer may take: it may be a person who gives it
_REFUSED = -32600
_GONE = {"error": {"code": _REFUSED, "message": "the client is gone"}}

Answer = Mapping[str, Any]  # {"result": ...} or {"error": ...}


class AskedClient:
    """Puts questions to a client and gives each answer to who asked.

    Args:
        send: Writes one message; called from several threads.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self.offers: Mapping[str, Any] = {}  # its capabilities, as it named them in its greeting
        self.greeted = False  # whether it may be told what it did not ask for
        self._send = send
        self._numbers = count(1)
        self._waiting: dict[str, queue.SimpleQueue[Answer]] = {}
        self._gone = False
        self._lock = threading.Lock()

    def ask(self, method: str, params: Mapping[str, Any]) -> Answer:
        """Return the answer to a question, or the error in its place. May be called from several threads."""
        number, answer = f"vade-{next(self._numbers)}", queue.SimpleQueue[Answer]()
        with self._lock:
            if self._gone:
                return _GONE
            self._waiting[number] = answer
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)})
        try:
            return answer.get(timeout=ASKED_S)
        except queue.Empty:
            self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
            return {"error": {"code": _REFUSED, "message": f"no answer within {ASKED_S:g} s"}}
        finally:
            with self._lock:
                self._waiting.pop(number, None)

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification, if it greeted; in the era without a greeting nobody hears what was not asked for."""
        if self.greeted and not self._gone:
            self._send({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take an answer of the client; one that nobody waits for is nothing."""
        number = message.get("id")
        with self._lock:
            waiting = self._waiting.pop(number, None) if isinstance(number, str) else None
        if waiting and isinstance(message.get("error"), Mapping):
            waiting.put({"error": message["error"]})
        elif waiting:
            waiting.put({"result": message.get("result")})

    def hang_up(self) -> None:
        """Tell everyone who waits that nothing will come: the client closed its end."""
        with self._lock:
            self._gone, waiting = True, list(self._waiting.values())
        for answer in waiting:
            answer.put(_GONE)

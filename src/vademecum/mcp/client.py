"""The client in front of a server, as one that can be asked something itself: its user, its model, its roots."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from vademecum.errors import Error, UrlElicitationError
from vademecum.mcp.elicitation import ASKED_S, REFUSED, Answer, Rounds
from vademecum.providers.servers.wire import URL_ELICITATION_REQUIRED, can_be_asked, offered

_GONE = {"error": {"code": REFUSED, "message": "the client is gone"}}
_OFFERS = "io.modelcontextprotocol/clientCapabilities"


class ProtocolError(Exception):
    """A request that cannot be served; becomes a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class AskedClient:
    """Puts questions to a client and gives each answer to who asked.

    Args:
        send: Writes one message; called from several threads.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self.offers: Mapping[
            str, Any
        ] = {}  # its capabilities, as it named them in its greeting, or else in its first request
        self.greeted = False  # whether it may be told what it did not ask for
        self.rounds = Rounds()  # where it is asked if it did not greet
        self._send = send
        self._numbers = count(1)
        self._waiting: dict[str, queue.SimpleQueue[Answer]] = {}
        self._gone = False
        self._lock = threading.Lock()

    def meet(self, message: Any) -> None:
        """Take what it says of itself with a request, where it does not greet."""
        params = message.get("params") if isinstance(message, Mapping) else None
        if not self.offers and not self.greeted and isinstance(params, Mapping):
            self.offers = offers_in(params)

    def ask(self, method: str, params: Mapping[str, Any], server: str = "") -> Answer:
        """Return the answer to a question, or the error in its place. May be called from several threads."""
        if not self.greeted:
            return self.rounds.ask(server, method, params)
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
            return {"error": {"code": REFUSED, "message": f"no answer within {ASKED_S:g} s"}}
        finally:
            with self._lock:
                self._waiting.pop(number, None)

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification, if it greeted; in the era without a greeting nobody hears what was not asked for."""
        if self.greeted and not self._gone:
            self._send({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    def send_to_pages(self, error: Error) -> None:
        """Send the user to pages, where that is what an error is about and the client can.

        Raises:
            ProtocolError: MCP's own error of that, with the pages. The era without a greeting has none: there the words tell.
        """
        can_be_sent = self.greeted and can_be_asked("elicitation/create", {"mode": "url"}, offered(self.offers))
        if can_be_sent and isinstance(error, UrlElicitationError):
            pages = {"elicitations": [dict(page) for page in error.elicitations]}
            raise ProtocolError(URL_ELICITATION_REQUIRED, str(error), pages) from error

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
        self.rounds.give_up()


def offers_in(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the capabilities that a client names with a request, in the era without a greeting."""
    meta = params.get("_meta")
    named = meta.get(_OFFERS) if isinstance(meta, Mapping) else None
    return named if isinstance(named, Mapping) else {}

"""The MCP client, as the server's counterpart for questions.

A server can ask for its user, its model or its roots.
"""

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
    """Sends questions to a client and returns each answer to the asker.

    Args:
        send: Writes one message; called from several threads.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self.offers: Mapping[str, Any] = {}  # capabilities, from `initialize` or else from the first request
        self.greeted = False  # true after `initialize`: the client accepts notifications and questions
        self.rounds = Rounds()  # for questions to a client without `initialize`
        self._send = send
        self._numbers = count(1)
        self._waiting: dict[str, queue.SimpleQueue[Answer]] = {}
        self._gone = False
        self._lock = threading.Lock()

    def meet(self, message: Any) -> None:
        """Read the client's capabilities from a request.

        Only the first request of a client without `initialize` counts.
        """
        params = message.get("params") if isinstance(message, Mapping) else None
        if not self.offers and not self.greeted and isinstance(params, Mapping):
            self.offers = offers_in(params)

    def ask(self, method: str, params: Mapping[str, Any], server: str = "") -> Answer:
        """Return the answer to a question, or an error.

        Safe to call from several threads.
        """
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
        """Send a notification to a client that sent `initialize`.

        A client of the stateless protocol accepts no notifications, so nothing is sent.
        """
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
            answer.put(_GONE)
        self.rounds.give_up()


def offers_in(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the capabilities in a request of the stateless protocol."""
    meta = params.get("_meta")
    named = meta.get(_OFFERS) if isinstance(meta, Mapping) else None
    return named if isinstance(named, Mapping) else {}

"""Questions of servers behind a gateway, passed on to the agent.

A server may ask for the user, the model or the roots while it runs a call (`elicitation/create`,
`sampling/createMessage`, `roots/list`), if its client accepts that. So the gateway announces to its servers exactly the
capabilities of its own client. A client that sent `initialize` gets the questions as requests. A client of the stateless
protocol gets them as answers to its call (`elicitation`). The client sees the gateway's name alone, so a question to the
user, a form or a page, begins with the name of the asking server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from vademecum.protocols import AskingServer, ToolServer
from vademecum.providers.servers.wire import METHOD_NOT_FOUND, can_be_asked, offered

Asking = Callable[[str, Mapping[str, Any], str], Mapping[str, Any]]  # (method, params, asking server) → answer


class Questions:
    """Passes the servers' questions to the client, once there is one."""

    def __init__(self) -> None:
        self._asks: Asking | None = None
        self._offers: Mapping[str, Any] = {}
        self._connected = threading.Event()

    def connect(self, asks: Asking | None, capabilities: Mapping[str, Any]) -> None:
        """Set the client, with the capabilities it named."""
        self._asks, self._offers = asks, offered(capabilities)
        self._connected.set()

    def serve(self, server: ToolServer) -> None:
        """Answer the questions of a new server.

        Does nothing if the client accepts no questions. Waits until the client is known: its first message may be a
        call, and that call may start the server.
        """
        self._connected.wait()
        if isinstance(server, AskingServer) and self._offers:
            server.answer_by(lambda method, params: self._asked(server.name, method, params), self._offers)

    def _asked(self, name: str, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._asks is None or not can_be_asked(method, params, self._offers):
            return {"error": {"code": METHOD_NOT_FOUND, "message": "this client offers no such thing"}}
        said = params.get("message")
        if method == "elicitation/create" and isinstance(said, str):
            params = {**params, "message": f"{name}: {said}"}
        return self._asks(method, params, name)

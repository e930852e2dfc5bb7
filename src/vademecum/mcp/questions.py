"""What the servers behind a gateway ask, handed on to the agent in front of it: its user, its model, its roots.

A server may ask while it works on a call (`elicitation/create`, `sampling/createMessage`, `roots/list`), where its client
says that it can be asked. So the gateway says to its servers what its own client said to it, and no more. A client that greets is
asked as they ask; of one that does not, an answer to the call they work on asks (`rounds`). Who is asked sees the gateway's name alone; so a question to the user, be it a form
or a page to visit, begins with the name of the server that asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vademecum.protocols import AskingServer, ToolServer
from vademecum.providers.servers.wire import METHOD_NOT_FOUND, can_be_asked, offered

Asking = Callable[[str, Mapping[str, Any], str], Mapping[str, Any]]  # a question, method and params, and who asks it


class Questions:
    """Who answers the servers' questions: nobody, until a client says that it can be asked."""

    def __init__(self) -> None:
        self._asks: Asking | None = None
        self._offers: Mapping[str, Any] = {}

    def connect(self, asks: Asking, capabilities: Mapping[str, Any]) -> None:
        """Hand on to a client what it can be asked, by the capabilities it named."""
        self._asks, self._offers = asks, offered(capabilities)

    def serve(self, server: ToolServer) -> None:
        """Have the questions of a server that was not asked anything yet answered, if anybody can."""
        if isinstance(server, AskingServer) and self._offers:
            server.answer_by(lambda method, params: self._asked(server.name, method, params), self._offers)

    def _asked(self, name: str, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._asks is None or not can_be_asked(method, params, self._offers):
            return {"error": {"code": METHOD_NOT_FOUND, "message": "this client offers no such thing"}}
        said = params.get("message")
        if method == "elicitation/create" and isinstance(said, str):
            params = {**params, "message": f"{name}: {said}"}
        return self._asks(method, params, name)

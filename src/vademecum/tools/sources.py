"""Tools listed by a running server."""

from __future__ import annotations

from vademecum.errors import UsageError
from vademecum.protocols import ToolServer
from vademecum.tools.records import Rejected, Tool
from vademecum.tools.register import tool_of


def listed(server: ToolServer) -> tuple[list[Tool], list[Rejected]]:
    """Return all tools of a server, and the items refused.

    Raises:
        ToolServerError: It cannot be asked.
    """
    tools: dict[str, Tool] = {}
    rejected: list[Rejected] = []
    for number, item in enumerate(server.tools().unwrap()):
        try:
            # a server speaks for itself alone
            tool = tool_of({**item, "server": server.name, "server_description": server.about}, server.name)
        except UsageError as error:
            rejected.append(Rejected(f"{server.name} tools[{number}]", str(error)))
            continue
        if tool.id in tools:
            rejected.append(
                Rejected(f"{server.name} tools[{number}]", f"it lists {tool.name!r} twice: the first counts")
            )
        tools.setdefault(tool.id, tool)
    return list(tools.values()), rejected

"""Tools from JSON, in the shapes in which people have them.

An array, an object with `tools`, one tool, or a tool a line, written as MCP's `tools/list` does or as function calling
does; `server` may stand beside the name, and `server_description` beside that.

    >>> tools, rejected = read_tools('{"tools": [{"name": "read", "description": "Read a file."}, {"title": "?"}]}', "files")
    >>> [tool.id for tool in tools], rejected[0].place
    (['files/read'], 'tools[1]')
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from vademecum.errors import UsageError
from vademecum.protocols import ToolServer
from vademecum.tools.records import Rejected, Tool

T = TypeVar("T")

# What would change how the rest of a line reads, or begin another: control characters, and those that turn the direction of text.
_CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_IN_TEXT, _IN_NAME = re.compile(f"[{_CONTROL}]"), re.compile(rf"[\t\n{_CONTROL}]")
_LONGEST_NAME = 256
_LONGEST_DESCRIPTION = 20_000  # characters kept; what an agent would be shown is shorter by far


def read_tools(text: str, server: str = "") -> tuple[list[Tool], list[Rejected]]:
    """Return the tools of a JSON text, and the items refused."""
    return read_items(text, "tools", lambda item: tool_of(item, server))


def tool_of(item: Any, server: str = "") -> Tool:
    """Return the tool of a JSON value, or raise `UsageError`."""
    if not isinstance(item, Mapping):
        raise UsageError("a tool is an object with a name and a description")
    if "name" not in item and ("openapi" in item or "swagger" in item):
        raise UsageError("this is an OpenAPI document: register it with --openapi, or by register_openapi")
    body = item["function"] if isinstance(item.get("function"), Mapping) else item
    name = body.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
        raise UsageError(f"a tool needs a name of 1 to {_LONGEST_NAME} characters")
    if _IN_NAME.search(name.strip()):
        raise UsageError(f"the name {name[:80]!r} has characters that no line can show: give it another")
    owner = item.get("server", server)
    if not isinstance(owner, str) or "/" in owner:
        raise UsageError(f"the server of {name!r} is text without a slash")
    return Tool.of(
        owner or server,
        name.strip(),
        _said(body.get("description") or body.get("title")),
        about=_said(item.get("server_description")),
        input_schema=_schema(body, "inputSchema", "input_schema", "parameters"),
        output_schema=_schema(body, "outputSchema", "output_schema"),
        annotations=_schema(body, "annotations"),
    )


def listed(server: ToolServer) -> tuple[list[Tool], list[Rejected]]:
    """Return tools and refused items of a server, or raise `ToolServerError`."""
    tools: dict[str, Tool] = {}
    rejected: list[Rejected] = []
    own = {"server": server.name, "server_description": server.about}  # a server speaks for itself alone
    for number, item in enumerate(server.tools().unwrap()):
        place = f"{server.name} tools[{number}]"
        try:
            tool = tool_of({**item, **own}, server.name)
        except UsageError as error:
            rejected.append(Rejected(place, str(error)))
            continue
        if tools.setdefault(tool.id, tool) is not tool:
            rejected.append(Rejected(place, f"it lists {tool.name!r} twice: the first counts"))
    return list(tools.values()), rejected


def _said(text: Any) -> str:
    return _IN_TEXT.sub("", text[:_LONGEST_DESCRIPTION]) if isinstance(text, str) else ""


def read_items(text: str, key: str, read: Callable[[Any], T]) -> tuple[list[T], list[Rejected]]:
    """Return items read and refused of a JSON text, or raise `UsageError`."""
    found: list[T] = []
    rejected: list[Rejected] = []
    for place, item in _items(text, key):
        try:
            found.append(read(item))
        except UsageError as error:
            rejected.append(Rejected(place, str(error)))
    return found, rejected


def _items(text: str, key: str) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) of each item; None for no JSON."""
    whole = parsed(text)
    if isinstance(whole, Mapping) and isinstance(whole.get(key), list):
        whole = whole[key]
    if isinstance(whole, list):
        yield from ((f"{key}[{number}]", item) for number, item in enumerate(whole))
    elif whole is not None:
        yield key, whole
    else:
        read = [(f"line {n}", parsed(line)) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
        if read and not any(isinstance(value, Mapping | list) for _, value in read):  # a number stands in any file
            raise UsageError(f"this is neither JSON nor JSON lines: give an array of {key}, or one a line")
        yield from read


def parsed(text: str) -> Any:
    """Return the value of a JSON text; None for another text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _schema(body: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next((body[name] for name in names if isinstance(body.get(name), Mapping)), {})
    return dict(found)

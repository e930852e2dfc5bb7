"""Permission to call the tools behind a gateway.

Each server's `Rules` say which of its tools are denied, asked about or allowed. A user who is asked allows a call once, or the
tool from then on. The gateway keeps what each tool said of itself when it was first allowed: a tool that says something else later
(another description, schema or hint) is asked about again, because the user allowed what the tool was.

The user is asked through the client (MCP's elicitation). A client that cannot ask gets an error that says how to allow the tool.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vademecum.errors import AccessError
from vademecum.private import append_line
from vademecum.providers.servers.configured import Rules

if TYPE_CHECKING:
    from vademecum.tools.records import Tool

FILE = "allowed-tools.json"  # in the user's home of data
ANSWERS = ("once", "always", "no")
ALWAYS_ASKED = Rules(ask=("*",))  # for a chain of tools
_SHOWN = 300  # characters of a description in a question
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": list(ANSWERS), "description": "once, always, or no"}},
    "required": ["answer"],
}

Asks = Callable[[str, str, Mapping[str, Any]], Mapping[str, Any] | None]  # (server, message, schema) → answer


class Allowed:
    """The tools allowed so far, in a file.

    Other processes may add to the file. Each line is `[gateway, id, fingerprint, whether the user said so]`, added in one write; the
    last line of a tool counts. An empty fingerprint stands for the tool as it is at its next call. `gateway` is the path of a gateway's
    file of servers, because two gateways may have servers of one name; "" stands for all gateways.
    """

    def __init__(self, home: Path, gateway: str = "") -> None:
        self._path = home / FILE
        self._gateway = gateway

    def find(self, id_: str) -> tuple[str, bool] | None:
        """Return fingerprint and whether the user allowed it; None if never called."""
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return None
        for line in reversed(lines):
            try:
                gateway, known, fingerprint, said = json.loads(line)
            except ValueError:  # cut off by a full disk
                continue
            if known == id_ and gateway in ("", self._gateway):
                return str(fingerprint), bool(said)
        return None

    def add(self, id_: str, fingerprint: str = "", *, said: bool = True) -> None:
        """Keep a tool as allowed."""
        append_line(self._path, json.dumps([self._gateway, id_, fingerprint, said]))


class Permissions:
    """The gateway's decision on each call.

    `ask` asks the client's user; it returns None if the client cannot.
    """

    def __init__(self, allowed: Allowed, ask: Asks) -> None:
        self._allowed = allowed
        self._ask = ask
        self._one_at_a_time = threading.Lock()  # parallel calls of a tool ask once

    def admit(self, tool: Tool, rules: Rules) -> None:
        """Return if the tool may be called now.

        Raises:
            AccessError: The tool is denied, or the user did not allow the call; the message says how to.
        """
        refuse(tool, rules)
        with self._one_at_a_time:
            self._admit(tool, asks=rules.of(tool.id) == "ask")

    def _admit(self, tool: Tool, *, asks: bool) -> None:
        now, known = fingerprint(tool), self._allowed.find(tool.id)
        then, said = known or (now, False)
        changed = then not in ("", now)
        if not changed and (said or not asks):
            if known is None or then != now:
                self._allowed.add(tool.id, now, said=said)
            return
        why = "it changed since it was allowed" if changed else "the user wants to be asked"
        answer = self._ask(tool.server, _question(tool, changed=changed), _SCHEMA)
        if answer is None:
            raise AccessError(
                f"{tool.id} was not called: {why}, and this client cannot ask. The user allows it by `vade tools allow {tool.id}`"
            )
        said_now = answer.get("answer")
        if said_now not in ("once", "always"):
            raise AccessError(f"{tool.id} was not called: the user did not allow it")
        if said_now == "always":
            self._allowed.add(tool.id, now)


def refuse(tool: Tool, rules: Rules) -> None:
    """Raise `AccessError` if rules bar a tool."""
    if why := barred(tool, rules):
        raise AccessError(f"{why} in the gateway's file of servers: use another tool, or tell the user")


def barred(tool: Tool, rules: Rules) -> str:
    """Return the reason why rules bar a tool; "" for none."""
    if rules.of(tool.id) == "deny":
        return f"{tool.id} is denied"
    reading_alone = rules.read_only and not tool.reads
    return f"{tool.id} does not say that it only reads, and {tool.server} is readOnly" if reading_alone else ""


def fingerprint(tool: Tool) -> str:
    """Return a hash of all that a tool says of itself."""
    said = [tool.description, tool.input_schema, tool.output_schema, tool.annotations]
    return blake2b(json.dumps(said, sort_keys=True).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def effect(tool: Tool) -> str:
    """Return a tool's own word about its effects; "" for none.

    The words follow MCP's hints. A tool without hints may do anything.

    >>> from vademecum.tools.records import Tool
    >>> effect(Tool.of("notes", "find", annotations={"readOnlyHint": True}))
    'reads'
    """
    hints = tool.annotations
    if tool.reads:
        return "reads"
    if hints.get("readOnlyHint") is not False and "destructiveHint" not in hints:
        return ""
    return "adds" if hints.get("destructiveHint") is False else "may destroy"


def _question(tool: Tool, *, changed: bool) -> str:
    says = effect(tool)
    words = " ".join(tool.description.split())[:_SHOWN]
    begin = f"{tool.id} changed since it was allowed. Call it?" if changed else f"May {tool.id} be called?"
    return f"{begin} It says: {words or 'nothing'}{f' ({says})' if says else ''}"

"""A tool for agents: name, schema, description, function.

Arguments are checked against the schema before the function runs. The error names the problem and a correct value.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vademecum import savings
from vademecum.errors import UsageError
from vademecum.mcp.json_schema import violation

if TYPE_CHECKING:
    from vademecum.engine import Engine
    from vademecum.protocols import Progress, Told
    from vademecum.types import Evidence


PROGRESS_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class Outcome:
    """A tool's answer: text for the model, data for programs.

    `content` replaces the text in an answer of another server. `shown` is the evidence whose lines are in the text.
    """

    text: str
    data: Mapping[str, Any] | None
    content: tuple[Mapping[str, Any], ...] = ()
    is_error: bool = False
    shown: tuple[Evidence, ...] = ()

    def result(self, *, structured: bool = False) -> dict[str, Any]:
        """Return the answer to `tools/call`.

        If a result has both, clients give their model the structured content instead of the text (Claude Code, Codex).
        So it is included only in answers of other servers, or if the user asked for it.
        """
        content = list(self.content) or [{"type": "text", "text": self.text}]
        result: dict[str, Any] = {"content": content, "isError": self.is_error}
        wanted = self.data is not None and (structured or self.content)
        return result | {"structuredContent": self.data} if wanted else result


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as an agent sees it, and its function.

    `apart` replaces `run` for a tool that must not block others: it runs on a separate thread, without the engine.
    """

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    run: Callable[[Engine, Mapping[str, Any], Progress | None], Outcome] | None = None
    apart: Callable[[Mapping[str, Any], Told | None], Outcome] | None = None
    writes: bool = False
    destroys: bool = False  # what it writes cannot be undone
    reads: bool = False  # of a tool that runs apart: whether it changes nothing

    def declaration(self) -> dict[str, Any]:
        """Return the entry in `tools/list`."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": self._schema(),
            "annotations": self._annotations(),
            "_meta": {"anthropic/alwaysLoad": True},  # otherwise Claude Code shows its model the name alone
        }

    def _schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": dict(self.properties), "required": list(self.required)}

    def _annotations(self) -> dict[str, bool]:
        """Return MCP's hints about a tool's effects.

        Most tools only read. A tool that writes adds, unless it destroys, and doing it twice does no harm.
        """
        if self.apart is not None:
            return {"readOnlyHint": self.reads, "openWorldHint": True}
        if not self.writes:
            return {"readOnlyHint": True, "openWorldHint": False}
        return {"readOnlyHint": False, "destructiveHint": self.destroys, "openWorldHint": False}

    def call(self, engine: Engine, arguments: Mapping[str, Any], progress: Progress | None = None) -> Outcome:
        """Check the arguments against the schema and run.

        Raises:
            UsageError: An argument is missing, unknown or of the wrong type; the message says which.
            Error: The engine failed.
        """
        assert self.run is not None
        outcome = self.run(engine, self._checked(arguments), progress)
        if outcome.shown and engine.settings.savings.enabled:
            roots = {root.name: root.path for root in engine.roots}
            files = {Path(roots[each.repo], each.path) for each in outcome.shown if each.repo in roots}
            today = datetime.now().astimezone().date()
            savings.count(engine.settings.home, engine.roots[0].path, outcome.text, files, today)
        return outcome

    def call_apart(self, arguments: Mapping[str, Any], told: Told | None = None) -> Outcome:
        """Run a tool without the engine, checked and raising as `call` does."""
        assert self.apart is not None
        return self.apart(self._checked(arguments), told)

    def _checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments, with whole numbers for those written as `5.0`."""
        if wrong := violation(arguments, {**self._schema(), "additionalProperties": False}):
            raise UsageError(f"{self.name}: {wrong}")
        return {name: int(value) if isinstance(value, float) else value for name, value in arguments.items()}


@dataclass(frozen=True, slots=True)
class Front:
    """The tools a server shows, with a text about them.

    Neither changes while the server runs. `methods` answer other kinds of requests, each on a separate thread, and
    `capabilities` announce these kinds.
    """

    tools: Mapping[str, Tool]
    instructions: str
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    methods: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = field(default_factory=dict)


def paced(send: Callable[[int, str], object]) -> Progress:
    """Return a progress callback that sends at most two messages a second.

    `send` gets the number of the message, and its text. Every stage counts from 0, but MCP needs a growing number.
    """
    sent, count = 0.0, 0

    def progress(stage: str, done: int, total: int) -> None:
        nonlocal sent, count
        now = time.monotonic()
        if now - sent >= PROGRESS_EVERY_S:
            sent, count = now, count + 1
            send(count, f"{stage} {done}/{total}" if total else f"{stage} {done}")

    return progress

"""A tool for agents: name, schema, description, function.

Arguments are checked against the schema before the function runs. The error names the problem and a correct value.

A check against JSON Schema names the first violation in one sentence. Supported keywords: `type`, `enum`, `const`, `properties`, `required`, `additionalProperties`, `items`, bounds, `anyOf`,
`oneOf`, `allOf`, and `$ref` within the schema. Others are ignored: the server will check them. `pattern` is ignored too,
because a stranger's pattern can take forever.

    >>> schema = {"properties": {"path": {"type": "string"}, "depth": {"type": "integer", "minimum": 0}}, "required": ["path"]}
    >>> violation({"path": "src", "depth": 2}, schema), violation({"path": 3}, schema)
    ('', 'path must be text, not 3')
    >>> violation({"depth": 1}, schema), violation({"path": "src", "depth": -1}, schema)
    ('path is missing: it must be text', 'depth must be at least 0, not -1')
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vademecum import savings
from vademecum.errors import UsageError

if TYPE_CHECKING:
    from vademecum.engine import Engine
    from vademecum.protocols import Progress, Told
    from vademecum.types import Evidence

MOST_DEPTH = 40
MOST_STEPS = 100_000  # of one check; a schema with two references to itself would run forever
_TYPES: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "string": ("text", (str,)),
    "integer": ("a whole number", (int,)),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", (bool,)),
    "object": ("an object", (Mapping,)),
    "array": ("an array", (list, tuple)),
    "null": ("null", (type(None),)),
}
# keyword → (message, measure of the value, lower bound?, types)
_BOUNDS: Mapping[str, tuple[str, Callable[[Any], float], bool, tuple[type, ...]]] = {
    "minimum": ("at least {}", float, True, (int, float)),
    "maximum": ("at most {}", float, False, (int, float)),
    "minLength": ("at least {} characters", len, True, (str,)),
    "maxLength": ("at most {} characters", len, False, (str,)),
    "minItems": ("at least {} items", len, True, (list,)),
    "maxItems": ("at most {} items", len, False, (list,)),
}


def violation(value: Any, schema: Any, *, shown: bool = True) -> str:
    """Return the first violation of a value, or "".

    Anything but a schema allows every value. `shown` lets the message quote the value.
    """
    return _Check(schema, shown).wrong(value, schema, "", 0)


class _Check:
    """One check of a value against a schema."""

    def __init__(self, root: Any, shown: bool) -> None:
        self._root = root
        self._shown = shown
        self._left = MOST_STEPS

    def wrong(self, value: Any, schema: Any, place: str, depth: int) -> str:
        """Return the first violation of a value at a place, or ""."""
        schema = self._target(schema)
        if schema is False:
            return f"{_named(place)} is not allowed"
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > MOST_DEPTH or self._left < 0:
            return ""
        checks = (self._type, self._choice, self._bounds, self._fields, self._items, self._combined)
        return next((said for check in checks if (said := check(value, schema, place, depth))), "")

    def _target(self, schema: Any) -> Any:
        for _ in range(MOST_DEPTH):
            if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
                return schema
            found: Any = self._root
            for part in schema["$ref"].removeprefix("#").strip("/").split("/"):
                found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
            schema = found
        return None

    def _type(self, value: Any, schema: Mapping[str, Any], place: str, _depth: int) -> str:
        wanted = schema.get("type")
        kinds = [kind for kind in ([wanted] if isinstance(wanted, str) else wanted or []) if kind in _TYPES]
        if not kinds or any(_is(value, kind) for kind in kinds):
            return ""
        return f"{_named(place)} must be {' or '.join(_TYPES[kind][0] for kind in kinds)}{self._but(value)}"

    def _choice(self, value: Any, schema: Mapping[str, Any], place: str, _depth: int) -> str:
        choices = schema.get("enum") if isinstance(schema.get("enum"), list) else None
        choices = [schema["const"]] if "const" in schema else choices
        if choices is None or value in choices:
            return ""
        return f"{_named(place)} must be one of {', '.join(map(repr, choices[:20]))}{self._but(value)}"

    def _bounds(self, value: Any, schema: Mapping[str, Any], place: str, _depth: int) -> str:
        for key, (said, measure, below, kinds) in _BOUNDS.items():
            bound = schema.get(key)
            if not isinstance(bound, int | float) or not isinstance(value, kinds) or isinstance(value, bool):
                continue
            if measure(value) < bound if below else measure(value) > bound:
                return f"{_named(place)} must be {said.format(bound)}{self._but(value)}"
        return ""

    def _fields(self, value: Any, schema: Mapping[str, Any], place: str, depth: int) -> str:
        if not isinstance(value, Mapping):
            return ""
        known = schema.get("properties")
        known = known if isinstance(known, Mapping) else {}
        inner = f"{place}." if place else ""
        for name in _list(schema.get("required")):
            if name not in value:
                return f"{inner}{name} is missing{_wanted(known.get(name))}"
        more = schema.get("additionalProperties", True)
        for name, one in value.items():
            if name not in known and more is False:
                return f"there is no {inner}{name}{_nearest(str(name), list(known))}"
            if said := self.wrong(one, known.get(name, more), f"{inner}{name}", depth + 1):
                return said
        return ""

    def _items(self, value: Any, schema: Mapping[str, Any], place: str, depth: int) -> str:
        if not isinstance(value, list) or "items" not in schema:
            return ""
        found = (self.wrong(one, schema["items"], f"{place}[{n}]", depth + 1) for n, one in enumerate(value))
        return next(filter(None, found), "")

    def _combined(self, value: Any, schema: Mapping[str, Any], place: str, depth: int) -> str:
        for part in _list(schema.get("allOf")):
            if said := self.wrong(value, part, place, depth + 1):
                return said
        for key in ("anyOf", "oneOf"):
            said_by = [self.wrong(value, part, place, depth + 1) for part in _list(schema.get(key))]
            if said_by and all(said_by):
                return said_by[0] if len(set(said_by)) == 1 else f"{_named(place)} fits no form of it: {said_by[0]}"
        return ""

    def _but(self, value: Any) -> str:
        text = repr(value) if self._shown else ""
        return f", not {text if len(text) <= 80 else text[:77] + '...'}" if text else ""


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind][1]) or (kind == "integer" and isinstance(value, float) and value.is_integer())


def _named(place: str) -> str:
    return place or "it"


def _wanted(schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return f": it must be {_TYPES[kind][0]}" if isinstance(kind, str) and kind in _TYPES else ""


def _nearest(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f": did you mean {close[0]!r}?" if close else f": there is {', '.join(known) or 'nothing'}"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


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

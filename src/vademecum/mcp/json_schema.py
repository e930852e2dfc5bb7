"""JSON Schema checks, with the first violation in one sentence.

Supported keywords: `type`, `enum`, `const`, `properties`, `required`, `additionalProperties`, `items`, bounds, `anyOf`,
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
from collections.abc import Callable, Mapping, Sequence
from typing import Any

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

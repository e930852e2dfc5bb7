"""Calls through the gateway: chains as tools, long answers by pages.

    chain = Chained(group, tools)
    chain.tool                                what the chain says of itself: its id, arguments and hints
    chain.arguments(1, given, answers)        the arguments of its second call

Traces say which call uses what an earlier one answered (`Group.links`). A required argument of such a call is taken from that answer,
by names and types (`tools.texts`), where the answer holds one value of that name. All else comes from the arguments of the chain, which
have the names that the tools give them.

Long answers are kept in a file and shown page by page.

    kept = Pages(home / "answers", 20_000)
    first = kept.shown(content)          the first page of each long text, with the file and the way to the next page

The files are for the user alone, and go with the gateway.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vademecum.errors import UsageError
from vademecum.mcp.permissions import effect
from vademecum.tools.records import Group, Tool
from vademecum.tools.texts import DEPTH, Field, fields_of, inputs_of, match, words

SERVER = "capability"  # the first part of a chain's id
SAME_NAME = 0.1  # trust in a name that says little ("body"), where traces show that a call used the answer
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
_EFFECTS = ("may destroy", "", "adds", "reads")  # the worst first


@dataclass(frozen=True)
class Chained:
    """A chain with its tools, in the order of their calls."""

    group: Group
    tools: tuple[Tool, ...]

    @property
    def tool(self) -> Tool:
        """The chain as one tool; all that its calls may do counts."""
        properties: dict[str, Any] = {}
        required: dict[str, None] = {}
        flowing: dict[bool, dict[str, None]] = {True: {}, False: {}}  # whether promised
        for place, tool in enumerate(self.tools):
            for field in inputs_of(tool.input_schema):
                properties.setdefault(field.name, tool.input_schema["properties"][field.name])
                if field.required:
                    promised = self._promised(place, field)
                    (required if promised is None else flowing[promised])[field.name] = None
        schema = {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}
        worst = min(self.tools, key=lambda tool: _EFFECTS.index(effect(tool))).annotations
        hints = {name: worst[name] for name in ("readOnlyHint", "destructiveHint") if name in worst}
        said = f"Calls {', then '.join(tool.id for tool in self.tools)}."
        sure, open_ = (", ".join(names) for names in flowing.values())
        said += f" Unless given, taken from an earlier answer: {sure}." if sure else ""
        said += f" Give {open_}, unless an earlier answer is JSON that has it." if open_ else ""
        name = self.group.id.partition("/")[2]
        return Tool(self.group.id, name, SERVER, said, schema, annotations=hints)

    def arguments(self, place: int, given: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the arguments of one call: given, or from earlier answers."""
        fields = inputs_of(self.tools[place].input_schema)
        found = {field.name: given[field.name] for field in fields if field.name in given}
        for field in fields if answers else ():
            if field.required and field.name not in found and (flowing := self._flowing(place, field, answers)):
                found[field.name] = flowing[0]
        return found

    def _givers(self, place: int) -> list[int]:
        """Return the earlier calls that a call uses, latest first."""
        return sorted((earlier for earlier, later in self.group.links if later == place), reverse=True)

    def _promised(self, place: int, field: Field) -> bool | None:
        """Return whether an earlier answer holds an input; None: none can."""
        schemas = [(giver, self.tools[giver].output_schema) for giver in self._givers(place)]
        if any(self._trust(place, field, giver, given) for giver, schema in schemas for given in fields_of(schema)):
            return True
        return False if any(not schema for _, schema in schemas) else None

    def _flowing(self, place: int, field: Field, answers: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return an input's value from the latest answer; [] for none."""
        for giver in self._givers(place):
            rated = [
                (self._trust(place, field, giver, given), value) for given, value in _values(_data(answers[giver]))
            ]
            best = max((trust for trust, _ in rated), default=0.0)
            values = [value for trust, value in rated if trust == best > 0]
            if values and all(value == values[0] for value in values):  # of several, nobody knows which is meant
                return values[:1]
        return []

    def _trust(self, place: int, field: Field, giver: int, given: Field) -> float:
        trust = match(given, words(self.tools[giver].name), field, words(self.tools[place].name))
        same = given.own == field.own and given.type in ("", field.type)
        return max(trust, SAME_NAME * same)


def _data(answer: Mapping[str, Any]) -> Any:
    """Return structured content, else the text as JSON."""
    if answer.get("structuredContent") is not None:
        return answer["structuredContent"]
    texts = [part.get("text") for part in answer.get("content") or () if isinstance(part, Mapping)]
    try:
        return json.loads(texts[0]) if len(texts) == 1 and isinstance(texts[0], str) else None
    except ValueError:
        return None


def _values(value: Any, around: frozenset[str] = frozenset(), depth: int = 0) -> Iterator[tuple[Field, Any]]:
    """Yield the named values of an answer, outermost first."""
    if isinstance(value, Mapping) and depth <= DEPTH:
        for name, inner in value.items():
            own = words(str(name))
            yield Field(str(name), own, around, _TYPES.get(type(inner), "")), inner
            yield from _values(inner, around | set(own), depth + 1)
    elif isinstance(value, list) and depth <= DEPTH:
        for inner in value:
            yield from _values(inner, around, depth + 1)


PAGE_TOOL = "gateway/page"  # the id by which an agent asks for the next page


class Pages:
    """Long answers of one gateway, in pages of `page` characters.

    They are kept in a folder of their own, made in `home`.
    """

    def __init__(self, home: Path, page: int) -> None:
        self._home = home
        self._page = page
        self._folder: Path | None = None
        self._lock = threading.Lock()

    def shown(self, content: Sequence[Any]) -> list[Any] | None:
        """Return content with long texts cut to a page, None without any."""
        if not any(len(_text(part)) > self._page for part in content):
            return None
        return [
            {**part, "text": self._first(_text(part))} if len(_text(part)) > self._page else part for part in content
        ]

    def read(self, arguments: Mapping[str, Any]) -> str:
        """Return a page of a kept answer. Raises `UsageError` without one."""
        name, number = arguments.get("answer"), arguments.get("page", 1)
        path = self._folder / f"{name}.txt" if self._folder and isinstance(name, str) and name.isalnum() else None
        if path is None or not path.is_file():
            raise UsageError(f"{PAGE_TOOL}: no answer {name!r} is kept: answers end with the gateway")
        return self._paged(path.read_text(encoding="utf-8"), str(name), path, number)

    def close(self) -> None:
        """Delete the kept answers."""
        with self._lock:
            folder, self._folder = self._folder, None
        if folder:
            shutil.rmtree(folder, ignore_errors=True)

    def _first(self, text: str) -> str:
        with self._lock:
            if self._folder is None:
                self._home.mkdir(parents=True, exist_ok=True)
                self._folder = Path(tempfile.mkdtemp(prefix="answers-", dir=self._home))  # for the user alone
        name = secrets.token_hex(4)
        path = self._folder / f"{name}.txt"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text.encode("utf-8", "replace").decode("utf-8"))
        return self._paged(text, name, path, 1)

    def _paged(self, text: str, name: str, path: Path, number: Any) -> str:
        pages = self._cut(text)
        last = len(pages)
        if not isinstance(number, int) or not 1 <= number <= last:
            raise UsageError(f"{PAGE_TOOL}: {name} has pages 1 to {last}, not {number!r}")
        said = f"[page {number} of {last}; the whole answer is in {path}"
        if number < last:
            asked = {"tool": PAGE_TOOL, "arguments": {"answer": name, "page": number + 1}}
            said += f"; the next page: call_reading_tool with {json.dumps(asked)}"
        return f"{pages[number - 1].removesuffix(chr(10))}\n{said}]"

    def _cut(self, text: str) -> list[str]:
        """Return the pages; each ends with a line, where one ends near."""
        found, begin = list[str](), 0
        while begin < len(text):
            line = text.rfind("\n", begin + self._page // 2, begin + self._page)
            end = line + 1 if line >= 0 and begin + self._page < len(text) else begin + self._page
            found.append(text[begin:end])
            begin = end
        return found


def _text(part: Any) -> str:
    found = part.get("text") if isinstance(part, Mapping) else None
    return found if isinstance(found, str) else ""

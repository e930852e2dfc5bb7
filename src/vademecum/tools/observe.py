"""Read traces from JSON (docs/tools.md has the form) and transcripts, without secrets.

Without an `id` one is made of what happened, so that the same trace observed twice is one trace.

    >>> traces, _ = read_traces('{"intent": "log in with token ghp_0123456789abcdefABCDEF0123456789abcd", "calls": ["login"]}')
    >>> traces[0].intent, traces[0].calls[0].tool
    ('log in with token [redacted:github-token]', 'login')
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from vademecum.agent_records import arguments_of, moment, output_of, said_in, string, texts
from vademecum.errors import UsageError
from vademecum.redaction.named_secrets import names_credential
from vademecum.redaction.redact import MARK, redact
from vademecum.tools.records import Call, Rejected, Trace
from vademecum.tools.register import parsed, read_items

LONGEST_INTENT = 8_000  # characters kept of an intent: it is matched, never replayed
_MOST_CALLS = 2_000
MOST_CALLS = 200  # of a trace of a transcript: what comes after is left out
_LONGEST_ID = 600
LOOKED_AT = 100_000  # characters of an outcome in which values are looked for
_MOST_VALUES = 200  # of a call's arguments
_LEAST_TELLING = 4  # characters of a value: a shorter one stands in any text
_SHOWN = 60  # characters of what is refused
_HIGHEST = sys.float_info.max
_PIECE = re.compile(r"""[^\s"'\\=:,;]{4,}""")
_NAME = re.compile(r"[A-Za-z_$][\w.$-]{0,63}")  # of an argument: whatever else stands there may be a value

Record = Mapping[str, Any]


def read_traces(text: str) -> tuple[list[Trace], list[Rejected]]:
    """Return traces and refused items of a JSON text, or raise `UsageError`."""
    return read_items(text, "traces", trace_of)


def trace_of(item: Any) -> Trace:
    """Return the trace of a JSON value, or raise `UsageError`."""
    if not isinstance(item, Mapping):
        raise UsageError("a trace is an object with calls")
    listed = item.get("calls")
    if not isinstance(listed, list) or not listed:
        raise UsageError("a trace needs calls: an array of tool ids or of objects with `tool`")
    if len(listed) > _MOST_CALLS:
        raise UsageError(f"a trace has at most {_MOST_CALLS} calls: cut it at its intents")
    calls, at = tuple(_call(call) for call in listed), item.get("at", 0)
    if at is not None and not _number(at) and (at != 0 or at is False):
        raise UsageError(f"at is {_shown(at)}: give seconds since 1970 as a number, or leave it out")
    return trace(
        _string(item, "intent"), calls, id_=_string(item, "id"), links=_links(item.get("links"), len(calls)),
        session=_string(item, "session"), at=_number(at), ok=item.get("ok", True) is not False,
        hidden=set[str]().union(*(secrets(call.get("arguments")) for call in listed if isinstance(call, Mapping))),
    )  # fmt: skip


def trace(
    intent: str, calls: tuple[Call, ...], *, id_: str = "", links: tuple[tuple[int, int], ...] = (), session: str = "",
    at: float = 0.0, ok: bool = True, hidden: Iterable[str] = (),
) -> Trace:  # fmt: skip
    """Return a trace that is safe to keep, with an id.

    `hidden` are values that the intent may hold and that are secret (see `secrets`).
    """
    for secret in sorted(hidden, key=len, reverse=True):  # one may be part of another
        intent = intent.replace(secret, f"{MARK}argument]")
    safe = redact(intent).text[:LONGEST_INTENT]
    happened = json.dumps([safe, [[call.tool, call.arguments, call.ok] for call in calls], session, at])
    made = blake2b(happened.encode(), digest_size=12).hexdigest()
    return Trace(id_ or made, safe, calls, links, session, at, ok)


def argument_names(arguments: Any) -> tuple[str, ...]:
    """Return the names of a call's arguments, sorted; never a value.

    A name that looks like a secret is left out.

    >>> argument_names({"path": "/etc/shadow", "a name with spaces": 1, "ghp_" + "0123456789" * 4: "a key as a name"})
    ('path',)
    """
    given = arguments if isinstance(arguments, Mapping | list | tuple) else ()
    names = {name for name in given if isinstance(name, str) and _NAME.fullmatch(name)}
    return tuple(sorted(name for name in names if not redact(name).counts))


def _call(item: Any) -> Call:
    if isinstance(item, str):
        item = {"tool": item}
    tool = item.get("tool", item.get("name")) if isinstance(item, Mapping) else None
    if not isinstance(tool, str) or not tool.strip() or len(tool) > _LONGEST_ID:
        raise UsageError("a call names its tool: a tool's id, or an object with `tool`")
    took = _number(item.get("latency_s")) or _number(item.get("latency_ms")) / 1000
    id_, names = tool_id(redact(tool.strip()).text), argument_names(item.get("arguments"))
    return Call(id_, names, item.get("ok", True) is not False, took)


def tool_id(name: str) -> str:
    """Return a tool's id from an agent's name for it.

    >>> tool_id("mcp__files__read_text"), tool_id("files/read_text")
    ('files/read_text', 'files/read_text')
    """
    prefix, _, rest = name.partition("__")
    server, mark, tool = rest.partition("__")
    return f"{server}/{tool}" if prefix == "mcp" and mark and server and tool else name


def _links(value: Any, calls: int) -> tuple[tuple[int, int], ...]:
    """Return pairs of calls, the earlier first, or raise `UsageError`."""
    given = [] if value is None else value
    pairs = given if isinstance(given, list) else [given]
    for pair in pairs:
        fine = isinstance(pair, list) and len(pair) == 2 and all(type(place) is int for place in pair)
        if not fine or not 0 <= pair[0] < pair[1] < calls:
            said = f"links has {_shown(pair)}: give pairs of calls by their places from 0 to {calls - 1}, the earlier first"
            raise UsageError(said)
    return tuple((earlier, later) for earlier, later in pairs)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _string(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key, "")
    text = redact(str(value)).text if isinstance(value, str | int) else ""
    return text if key == "intent" else text[:_LONGEST_ID]


def _number(value: Any) -> float:
    """Return a finite number from 0 on, 0 for another value."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _HIGHEST
    return float(value) if is_number else 0.0


def used(arguments: Any, said: Sequence[str], intent: str = "") -> list[int]:
    """Return the earlier results whose values a call's arguments hold.

    What stands in the question too was not learned from them.

    >>> used({"id": "note-4711", "verbose": True}, ["found note-4711", "found nothing"])
    [0]
    """
    values = [value for value in telling(arguments) if value not in intent]
    return [earlier for earlier, text in enumerate(said) if any(value in text for value in values)]


def secrets(arguments: Any) -> set[str]:
    """Return the secret values of some arguments, by name or look.

    >>> sorted(secrets({"apiKey": "swordfish", "env": ["DB_PASSWORD=hunter2"], "user": "adalovelace"}))
    ['hunter2', 'swordfish']
    """
    written = json.dumps(arguments, ensure_ascii=False, default=str)[:LOOKED_AT]
    by_look = {*_PIECE.findall(written)} - {*_PIECE.findall(redact(written).text)}
    leaves = ((name, value) for name, value in _named(arguments) if not isinstance(value, Mapping | list))
    return by_look.union(*(telling(value) for name, value in leaves if names_credential(name)))


def telling(arguments: Any) -> Iterator[str]:
    """Yield values of some length, as a text would write them."""
    for _, value in _named(arguments):
        if isinstance(value, str | int | float) and not isinstance(value, bool) and len(str(value)) >= _LEAST_TELLING:
            yield str(value)


def _named(arguments: Any) -> Iterator[tuple[str, Any]]:
    """Yield each value with its name; an item has its list's."""
    todo = [("", arguments)]
    for _ in range(_MOST_VALUES):
        if not todo:
            return
        name, value = todo.pop()
        yield name, value
        if isinstance(value, Mapping):
            todo += [(str(key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            todo += [(name.removesuffix("s"), inner) for inner in value]


@dataclass(slots=True)
class _Turn:
    """One task of a transcript, with its calls and their results."""

    session: str
    intent: str = ""
    at: float = 0.0
    calls: list[Call] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Reading:
    """The state of reading one transcript."""

    agent: str = ""
    session: str = ""
    turns: list[_Turn] = field(default_factory=list)
    open: dict[str, tuple[_Turn, int, float]] = field(default_factory=dict)  # by the agent's own id of the call

    def asked(self, content: Any, at: float) -> None:
        """Begin the user's next task, if a person typed it."""
        if typed := said_in(content).strip():
            self.turns.append(_Turn(self.session, typed, at))

    def called(self, id_: str, tool: Any, arguments: Any, at: float) -> None:
        """Note a call."""
        if not isinstance(tool, str) or not tool:
            return
        if not self.turns:
            self.turns.append(_Turn(self.session, at=at))
        turn, here = self.turns[-1], len(self.turns[-1].calls)
        if here < MOST_CALLS:
            turn.links += [(earlier, here) for earlier in used(arguments, turn.said, turn.intent)]
            turn.calls.append(Call(tool_id(tool), argument_names(arguments)))
            turn.said.append("")
            turn.secrets |= secrets(arguments)
            self.open[id_] = turn, here, at

    def answered(self, id_: str, said: str, at: float, *, ok: bool) -> None:
        """Note the outcome of a call."""
        if id_ in self.open:
            turn, here, began = self.open.pop(id_)
            took = round(max(at - began, 0.0), 3) if at and began else 0.0
            turn.said[here] = said[:LOOKED_AT]
            turn.calls[here] = replace(turn.calls[here], ok=ok, latency_s=took)


def read_transcript(text: str) -> list[Trace]:
    """Return the traces of an agent's transcript that have calls."""
    reading = _Reading()
    whole = parsed(text)
    for record in _parts(list(map(parsed, text.splitlines())) if whole is None else [whole]):
        if isinstance(record.get("payload"), Mapping):
            _codex(record, record["payload"], reading)
        elif isinstance(record.get("message"), Mapping):
            _claude(record, record["message"], reading)
        else:
            _gemini(record, reading)
    named = [(f"{reading.agent}:{turn.session}", n, turn) for n, turn in enumerate(reading.turns, 1) if turn.calls]
    return [
        trace(turn.intent, tuple(turn.calls), id_=f"{session}:{number}", links=tuple(turn.links), session=session,
              at=turn.at, hidden=turn.secrets)
        for session, number, turn in named
    ]  # fmt: skip


def _claude(record: Record, message: Record, reading: _Reading) -> None:
    if record.get("isMeta") or record.get("isCompactSummary") or record.get("type") not in ("user", "assistant"):
        return
    reading.agent, reading.session = "claude", string(record.get("sessionId")) or reading.session
    at, content = moment(record.get("timestamp")), message.get("content")
    if record.get("type") == "user" and not record.get("isSidechain"):
        reading.asked(content, at)
    for part in _parts(content):
        if part.get("type") == "tool_use":
            reading.called(string(part.get("id")), part.get("name"), part.get("input"), at)
        elif part.get("type") == "tool_result":
            failed = part.get("is_error") is True
            reading.answered(string(part.get("tool_use_id")), texts(part.get("content")), at, ok=not failed)


def _codex(record: Record, item: Record, reading: _Reading) -> None:
    reading.agent, at = "codex", moment(record.get("timestamp"))
    kind = item.get("type")
    if record.get("type") == "session_meta":
        reading.session = string(item.get("id")) or reading.session
    elif record.get("type") != "response_item":
        return
    elif kind == "message" and item.get("role") == "user":
        reading.asked(item.get("content"), at)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        given = item.get("arguments") if kind == "function_call" else item.get("action") or {"input": item.get("input")}
        reading.called(string(item.get("call_id")), item.get("name") or "shell", arguments_of(given), at)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        said, failed = output_of(item.get("output"))
        reading.answered(string(item.get("call_id")), said, at, ok=not failed)


def _gemini(record: Record, reading: _Reading) -> None:
    told = record["$set"] if isinstance(record.get("$set"), Mapping) else record
    if "id" not in record:
        reading.session = string(told.get("sessionId")) or reading.session
    for message in _parts(told.get("messages")) if "messages" in told else [record]:
        at = moment(message.get("timestamp"))
        if message.get("type") == "user":
            reading.agent = "gemini"
            reading.asked(message.get("content"), at)
        elif message.get("type") == "gemini":
            for number, call in enumerate(_parts(message.get("toolCalls"))):
                id_ = string(call.get("id")) or str(number)
                reading.called(id_, call.get("name"), call.get("args"), at)
                reading.answered(id_, json.dumps(call.get("result")), 0.0, ok=call.get("status") != "error")


def _parts(content: Any) -> list[Record]:
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []

"""Traces from the transcripts of Claude Code, Codex CLI and Gemini CLI.

Each thing that the user asks for is a trace, with the same id however often the file is read. The forms of these files
are promised by nobody, so what does not look as expected is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from vademecum.agent_records import arguments_of, moment, output_of, said_in, string, texts
from vademecum.tools.observe import LOOKED_AT, argument_names, secrets, tool_id, trace, used
from vademecum.tools.records import Call, Trace
from vademecum.tools.register import parsed

MOST_CALLS = 200  # of one trace: what comes after is left out

Record = Mapping[str, Any]


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

    def trace(self, agent: str, number: int) -> Trace:
        """Return the trace, with an id that stays."""
        session, links = f"{agent}:{self.session}", tuple(self.links)
        return trace(
            self.intent, tuple(self.calls), id_=f"{session}:{number}", links=links, session=session, at=self.at,
            hidden=self.secrets,
        )  # fmt: skip


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
    return [turn.trace(reading.agent, number) for number, turn in enumerate(reading.turns, 1) if turn.calls]


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

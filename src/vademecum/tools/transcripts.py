"""Traces from the transcripts of coding agents.

Each thing that the user asks for is a trace, with the same id however often the file is read. Other programs write
these files (Claude Code, Codex CLI, Gemini CLI) in forms that they do not promise, so what does not look as expected is
passed over.

    >>> lines = '''{"type":"user","sessionId":"s","message":{"content":"mail the report"}}
    ... {"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"1","name":"mcp__mail__send","input":{"to":"x"}}]}}'''
    >>> (trace,) = read_transcript(lines)
    >>> trace.id, trace.intent, trace.calls[0].tool, trace.calls[0].arguments
    ('claude:s:1', 'mail the report', 'mail/send', ('to',))
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from vademecum.tools.observe import LOOKED_AT, argument_names, tool_id, trace, used
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

    def trace(self, agent: str, number: int) -> Trace:
        """Return the trace, with an id that stays."""
        session, links = f"{agent}:{self.session}", tuple(self.links)
        return trace(
            self.intent, tuple(self.calls), id_=f"{session}:{number}", links=links, session=session, at=self.at
        )


@dataclass(slots=True)
class _Reading:
    """The state of reading one transcript."""

    agent: str = ""
    session: str = ""
    turns: list[_Turn] = field(default_factory=list)
    open: dict[str, tuple[_Turn, int, float]] = field(default_factory=dict)  # by the agent's own id of the call

    def asked(self, text: str, at: float) -> None:
        """Begin the user's next task, without text in angle brackets."""
        if text.strip() and not text.lstrip().startswith("<"):
            self.turns.append(_Turn(self.session, text.strip(), at))

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
    reading.agent, reading.session = "claude", _text(record.get("sessionId")) or reading.session
    at, content = _moment(record.get("timestamp")), message.get("content")
    if record.get("type") == "user" and not record.get("isSidechain"):
        reading.asked(_texts(content, "text"), at)
    for part in _parts(content):
        if part.get("type") == "tool_use":
            reading.called(_text(part.get("id")), part.get("name"), part.get("input"), at)
        elif part.get("type") == "tool_result":
            failed = part.get("is_error") is True
            reading.answered(_text(part.get("tool_use_id")), _texts(part.get("content"), "text"), at, ok=not failed)


def _codex(record: Record, item: Record, reading: _Reading) -> None:
    reading.agent, at = "codex", _moment(record.get("timestamp"))
    kind = item.get("type")
    if record.get("type") == "session_meta":
        reading.session = _text(item.get("id")) or reading.session
    elif record.get("type") != "response_item":
        return
    elif kind == "message" and item.get("role") == "user":
        reading.asked(_texts(item.get("content"), "input_text", "text"), at)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        given = item.get("arguments") if kind == "function_call" else item.get("action") or {"input": item.get("input")}
        arguments = parsed(given) if isinstance(given, str) else given
        reading.called(_text(item.get("call_id")), item.get("name") or "shell", arguments, at)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        said, ok = _codex_output(item.get("output"))
        reading.answered(_text(item.get("call_id")), said, at, ok=ok)


def _codex_output(output: Any) -> tuple[str, bool]:
    """A call's output and success, from a field or from JSON."""
    told = parsed(output) if isinstance(output, str) else output
    if not isinstance(told, Mapping):
        return output if isinstance(output, str) else _texts(output, "text", "output_text"), True
    code = told.get("metadata", {}).get("exit_code", 0) if isinstance(told.get("metadata"), Mapping) else 0
    said = told.get("output") or told.get("content") or ""
    return said if isinstance(said, str) else json.dumps(said), code == 0 and told.get("success") is not False


def _gemini(record: Record, reading: _Reading) -> None:
    told = record["$set"] if isinstance(record.get("$set"), Mapping) else record
    if "id" not in record:
        reading.session = _text(told.get("sessionId")) or reading.session
    for message in _parts(told.get("messages")) if "messages" in told else [record]:
        at = _moment(message.get("timestamp"))
        if message.get("type") == "user":
            reading.agent = "gemini"
            reading.asked(_texts(message.get("content"), "text", ""), at)
        elif message.get("type") == "gemini":
            for number, call in enumerate(_parts(message.get("toolCalls"))):
                id_ = _text(call.get("id")) or str(number)
                reading.called(id_, call.get("name"), call.get("args"), at)
                reading.answered(id_, json.dumps(call.get("result")), 0.0, ok=call.get("status") != "error")


def _texts(content: Any, *kinds: str) -> str:
    """The text of a message, from its text parts."""
    if isinstance(content, str):
        return content
    return "\n".join(_text(part.get("text")) for part in _parts(content) if part.get("type", "") in kinds)


def _parts(content: Any) -> list[Record]:
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _moment(value: Any) -> float:
    """Seconds since the epoch of an ISO time, 0 for another text."""
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else 0.0
    except (ValueError, OverflowError):
        return 0.0

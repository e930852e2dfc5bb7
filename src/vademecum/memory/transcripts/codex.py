"""Transcripts of Codex CLI: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl` below CODEX_HOME, `~/.codex` by default.

One JSON object a line: `{"timestamp", "type": "session_meta" | "turn_context" | "response_item" | "event_msg", "payload"}`.
What is said and done is in the response items: `message`, `function_call` and its output, `local_shell_call`,
`custom_tool_call` (patches). Older files have no payload: the line is the item, and the first one the session.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from vademecum.memory.records import Event, Role
from vademecum.memory.transcripts.shape import (
    Session,
    Wanted,
    command_line,
    event,
    mapping,
    moment,
    paths_of,
    remember,
    said,
    string,
    texts,
)

NAME = "codex"
_CWD = re.compile(r"\s*<environment_context>.*?(?:<cwd>(.*?)</cwd>|Current working directory: (\S+))", re.DOTALL)
_PATCH = re.compile(r"\*\*\* Begin Patch.*?\*\*\* End Patch", re.DOTALL)


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return the directories where it keeps transcripts."""
    top = environ.get("CODEX_HOME") or os.path.join(home, ".codex")
    return [os.path.join(top, "sessions"), os.path.join(top, "archived_sessions")]


def may_hold(path: str, wanted: Wanted) -> bool:  # noqa: ARG001 -- the name of a file does not say where the work was
    """Return whether a file may be about what is wanted: by its name, any may."""
    return True


def events_of(record: Mapping[str, Any], carry: dict[str, Any], wanted: Wanted) -> Iterator[Event]:
    """Yield the events of one line."""
    payload = mapping(record.get("payload")) or record
    kind = record.get("type")
    if kind in {"session_meta", "turn_context"} or (kind is None and "id" in record):
        carry["session"] = string(payload.get("id")) or carry.get("session", "")
        carry["cwd"] = string(payload.get("cwd")) or carry.get("cwd", "")
        carry["branch"] = string(mapping(payload.get("git")).get("branch")) or carry.get("branch", "")
    carry["at"] = moment(record.get("timestamp")) or carry.get("at", 0.0)
    if kind in {"session_meta", "turn_context", "event_msg", "compacted", None}:
        return
    if payload.get("type") == "message" and (there := _CWD.match(texts(payload.get("content")))):
        carry["cwd"] = there[1] or there[2]
    repo = wanted.repository(carry.get("cwd", ""))
    if repo is not None:
        session = Session(carry.get("session", ""), NAME, carry.get("cwd", ""), carry.get("branch", ""))
        yield from _item(payload, carry, session, repo)


def _item(item: Mapping[str, Any], carry: dict[str, Any], session: Session, repo: str) -> Iterator[Event]:
    at, kind = carry["at"], item.get("type")
    if kind == "message":
        role = {"user": Role.USER, "assistant": Role.ASSISTANT}.get(string(item.get("role")))
        if role is not None:
            text = texts(item.get("content"))
            yield from event(session, repo, role, said(text) if role is Role.USER else text, at)
    elif kind in {"function_call", "custom_tool_call", "local_shell_call"}:
        yield from _call(item, carry, session, repo, at)
    elif kind in {"function_call_output", "custom_tool_call_output"}:
        what = carry.get("calls", {}).pop(string(item.get("call_id")), "")
        output, failed = _output(item.get("output"))
        if what == "command" or (what and failed):
            yield from event(session, repo, Role.OUTPUT, output, at, failed=failed)


def _call(item: Mapping[str, Any], carry: dict[str, Any], session: Session, repo: str, at: float) -> Iterator[Event]:
    given = _arguments(item.get("arguments"))
    line = command_line(given.get("command") or given.get("cmd") or mapping(item.get("action")).get("command"))
    patch = _PATCH.search(string(item.get("input")) or string(given.get("input")) or line)
    if patch is not None:
        remember(carry, string(item.get("call_id")), "patch")
        yield from event(session, repo, Role.EDIT, patch[0], at, path=next(iter(paths_of(patch[0])), ""))
    elif line:
        remember(carry, string(item.get("call_id")), "command")
        yield from event(session, repo, Role.COMMAND, line, at)


def _arguments(value: Any) -> Mapping[str, Any]:
    try:
        return mapping(json.loads(value) if isinstance(value, str) else value)
    except (ValueError, RecursionError):
        return {}


def _output(value: Any) -> tuple[str, bool]:
    """An output's text and whether it failed: plain, or `{"output", "metadata": {"exit_code"}}` as JSON in a string."""
    told = _arguments(value)
    text = string(told.get("output")) or string(told.get("content")) or texts(value)
    code = mapping(told.get("metadata")).get("exit_code")
    if code is None and (stated := re.search(r"(?:Exit code|exited with code):? (\d+)", text[:400])):
        code = int(stated[1])
    return text, code not in (None, 0)

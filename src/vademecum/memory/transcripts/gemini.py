"""Transcripts of Gemini CLI: `tmp/<project>/chats/session-*` below `~/.gemini`.

Up to early 2026 one JSON object a file, written anew with every message: `{"sessionId", "projectHash", "messages": […]}`.
Since then a line for each: first the same without messages, then the messages, `{"$set": …}` and `{"$rewindTo": …}`. A
message is `{"id", "timestamp", "type": "user" | "gemini" | "info" | …, "content", "toolCalls"}`. Where the work was done is
told by the SHA-256 of the project's directory, so only the directories that are asked about can be recognised.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

from vademecum.memory.records import Event, Role
from vademecum.memory.transcripts.shape import (
    Session,
    Wanted,
    change,
    command_line,
    event,
    mapping,
    moment,
    said,
    string,
    texts,
)

NAME = "gemini"
_SHELL = frozenset({"run_shell_command", "shell", "ShellTool"})


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return the directories where it keeps transcripts."""
    return [os.path.join(environ.get("GEMINI_CLI_HOME") or home, ".gemini", "tmp")]


def may_hold(path: str, wanted: Wanted) -> bool:
    """Return whether a file may be about what is wanted: chats only, of a project whose directory is one of them."""
    parts = path.replace("\\", "/").split("/")
    if "chats" not in parts:
        return False
    project = parts[parts.index("chats") - 1]
    named = len(project) != 64  # since 2026 a name in the place of the hash; then the file itself says it
    return not wanted.roots or named or project in _hashes(wanted)


def events_of(record: Mapping[str, Any], carry: dict[str, Any], wanted: Wanted) -> Iterator[Event]:
    """Yield the events of one line, or of a whole file that is one object."""
    told = mapping(record.get("$set")) or record
    if "id" not in record:
        carry["session"] = string(told.get("sessionId")) or carry.get("session", "")
        carry["project"] = string(told.get("projectHash")) or carry.get("project", "")
    repo = _repository(carry.get("project", ""), wanted)
    if repo is None:
        return
    session = Session(carry.get("session", ""), NAME)
    messages = told.get("messages") if isinstance(told.get("messages"), list) else [record]
    for message in map(mapping, messages or []):
        yield from _message(message, session, repo)


def _message(message: Mapping[str, Any], session: Session, repo: str) -> Iterator[Event]:
    at = moment(message.get("timestamp"))
    if message.get("type") == "user":
        yield from event(session, repo, Role.USER, said(texts(message.get("content"))), at)
    elif message.get("type") == "gemini":
        yield from event(session, repo, Role.ASSISTANT, texts(message.get("content")), at)
        calls = message.get("toolCalls")
        for call in map(mapping, calls if isinstance(calls, list) else []):
            yield from _call(call, session, repo, moment(call.get("timestamp")) or at)


def _call(call: Mapping[str, Any], session: Session, repo: str, at: float) -> Iterator[Event]:
    given, failed = mapping(call.get("args")), call.get("status") == "error"
    if call.get("name") in _SHELL:
        yield from event(session, repo, Role.COMMAND, command_line(given.get("command")), at)
    elif (path := string(given.get("file_path"))) and (given.get("content") or given.get("new_string")):
        new = string(given.get("new_string")) or string(given.get("content"))
        yield from event(session, repo, Role.EDIT, change(path, string(given.get("old_string")), new), at, path=path)
    if call.get("name") in _SHELL or failed:
        results = call.get("result")
        output = "\n".join(_output(mapping(each)) for each in (results if isinstance(results, list) else []))
        yield from event(session, repo, Role.OUTPUT, output or string(call.get("error")), at, failed=failed)


def _output(part: Mapping[str, Any]) -> str:
    response = mapping(mapping(part.get("functionResponse")).get("response"))
    return string(response.get("output")) or string(response.get("error"))


def _repository(project: str, wanted: Wanted) -> str | None:
    if not wanted.roots:
        return ""
    return wanted.roots[0] if project in _hashes(wanted) else None


def _hashes(wanted: Wanted) -> set[str]:
    return {hashlib.sha256(root.encode("utf-8", "surrogateescape")).hexdigest() for root in wanted.roots}

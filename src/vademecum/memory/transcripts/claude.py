"""Transcripts of Claude Code: `projects/<directory>/<session>.jsonl` below its configuration directory.

One JSON object a line: `{"type": "user" | "assistant" | …, "sessionId", "cwd", "gitBranch", "timestamp", "message":
{"content": "…" | [{"type": "text" | "tool_use" | "tool_result" | "thinking", …}]}}`. What subagents are told
(`isSidechain`) is the agent's word and no person's; `isMeta` and compaction summaries are nobody's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from vademecum.memory.records import Event, Role
from vademecum.memory.transcripts.shape import (
    Session,
    Wanted,
    change,
    event,
    mapping,
    moment,
    remember,
    said,
    string,
    texts,
)

NAME = "claude"
_BASH = re.compile(r"<bash-(input|stdout|stderr)>(.*?)</bash-\1>", re.DOTALL)


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return the directories where it keeps transcripts."""
    configured = [environ["CLAUDE_CONFIG_DIR"]] if environ.get("CLAUDE_CONFIG_DIR") else []
    usual = [
        os.path.join(home, ".claude"),
        os.path.join(environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "claude"),
    ]
    return [os.path.join(place, "projects") for place in configured or usual]


def may_hold(path: str, wanted: Wanted) -> bool:
    """Return whether a file may be about what is wanted, by its directory: the working directory with dashes."""
    if not wanted.roots:
        return True
    folder = path.replace("\\", "/").rpartition("/projects/")[2].partition("/")[0]
    return any(folder.startswith(re.sub(r"[^A-Za-z0-9]", "-", root)) for root in wanted.roots)


def events_of(record: Mapping[str, Any], carry: dict[str, Any], wanted: Wanted) -> Iterator[Event]:
    """Yield the events of one line."""
    kind, message = record.get("type"), mapping(record.get("message"))
    repo = wanted.repository(string(record.get("cwd")))
    if kind not in {"user", "assistant"} or repo is None or record.get("isMeta") or record.get("isCompactSummary"):
        return
    session = Session(string(record.get("sessionId")), NAME, string(record.get("cwd")), string(record.get("gitBranch")))
    at, aside = moment(record.get("timestamp")), bool(record.get("isSidechain"))
    content = message.get("content")
    if kind == "user" and not aside:
        yield from _asked(texts(content, "text"), session, repo, at)
    if kind == "assistant":
        yield from event(session, repo, Role.ASSISTANT, texts(content, "text"), at, aside=aside)
    for part in content if isinstance(content, list) else []:
        yield from _tool(mapping(part), carry, session, repo, at)


def _asked(text: str, session: Session, repo: str, at: float) -> Iterator[Event]:
    """What a person typed: words, or a command of their own behind `!`."""
    for name, body in _BASH.findall(text):
        yield from event(session, repo, Role.COMMAND if name == "input" else Role.OUTPUT, body, at)
    yield from event(session, repo, Role.USER, said(_BASH.sub("", text)), at)


def _tool(part: Mapping[str, Any], carry: dict[str, Any], session: Session, repo: str, at: float) -> Iterator[Event]:
    given = mapping(part.get("input"))
    if part.get("type") == "tool_result":
        yield from _result(part, carry, session, repo, at)
    elif part.get("type") != "tool_use":
        return
    elif part.get("name") == "Bash":
        remember(carry, string(part.get("id")), "command")
        yield from event(
            session, repo, Role.COMMAND, string(given.get("command")), at, purpose=string(given.get("description"))
        )
    elif path := string(given.get("file_path")) or string(given.get("notebook_path")):
        remember(carry, string(part.get("id")), "file")
        if body := _edited(given):
            yield from event(session, repo, Role.EDIT, change(path, *body), at, path=path)


def _edited(given: Mapping[str, Any]) -> tuple[str, str] | None:
    """What an edit takes out and puts in; None for what only reads."""
    edits = [mapping(each) for each in given["edits"]] if isinstance(given.get("edits"), list) else [given]
    old = "\n".join(string(each.get("old_string")) for each in edits)
    new = "\n".join(
        string(each.get("new_string")) or string(each.get("content")) or string(each.get("new_source"))
        for each in edits
    )
    return (old, new) if old or new else None


def _result(part: Mapping[str, Any], carry: dict[str, Any], session: Session, repo: str, at: float) -> Iterator[Event]:
    """The output of a command, and of any other tool what it failed with."""
    what = carry.get("calls", {}).pop(string(part.get("tool_use_id")), "")
    failed = bool(part.get("is_error"))
    if what == "command" or failed:
        yield from event(session, repo, Role.OUTPUT, texts(part.get("content"), "text"), at, failed=failed)

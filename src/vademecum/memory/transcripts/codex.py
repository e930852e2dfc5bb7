"""Transcripts of Codex CLI: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl` below CODEX_HOME, `~/.codex` by default.

One JSON object a line: `{"timestamp", "type": "session_meta" | "turn_context" | "response_item" | "event_msg", "payload"}`.
What is said and done is in the response items: `message`, `function_call` and its output, `local_shell_call`,
`custom_tool_call` (patches). Older files have no payload: the line is the item, and the first one the session. Before
June 2025 a session was one object, `<id>.json`: `{"session": {"timestamp", "id"}, "items": [...]}`, written anew at each
step, and in the first weeks each time under another name, `rollout-<day>-<id>.json`. It has a time for the whole alone, and
says where the work was only in what its commands name (`workdir`, or `cd` to somewhere): the first is taken, and a file
that names none is left, since it may be another repository's.

What a subagent is told (`source.subagent`) is the agent's word. A file that was forked from another begins with that one's
lines, written anew with the time of the fork; they are read where they stand first. With a setting of Codex, files nobody
touched for a week are `.jsonl.zst`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from vademecum.memory.records import Event, Role, event_id
from vademecum.memory.transcripts.shape import (
    Session,
    Wanted,
    command_line,
    event,
    mapping,
    moment,
    paths_of,
    remember,
    said_in,
    string,
    texts,
)

NAME = "codex"
_CWD = re.compile(r"\s*<environment_context>.*?(?:<cwd>(.*?)</cwd>|Current working directory: (\S+))", re.DOTALL)
_REQUEST = re.compile(r"^## My request(?: for Codex)?:[ \t]*$", re.MULTILINE)  # an editor puts open files above it
_TYPED_COMMAND = re.compile(
    r"\s*<user_shell_command>\s*<command>(.*?)</command>\s*<result>\s*(?:Exit code: (\d+))?(.*?)</result>", re.DOTALL
)
_SNAPSHOT = re.compile(r"rollout-(\d{4}-\d\d-\d\d)-[0-9a-f-]{36}\.json\Z")
_CD = re.compile(r"\s*cd\s+(?:['\"](/[^'\"]+)['\"]|(/[^\s;&|]+))")
_FILE_ADDED = re.compile(r"<([^<>\s]*[./][^<>\s]*)>\n.*?\n</\1>", re.DOTALL)  # what `@path` became
_PAUSE_S = 1.0  # copies are written at once; between them and what is said then somebody thinks
_PATCH = re.compile(r"\*\*\* Begin Patch.*?\*\*\* End Patch", re.DOTALL)


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return the directories where it keeps transcripts."""
    top = environ.get("CODEX_HOME") or os.path.join(home, ".codex")
    return [os.path.join(top, "sessions"), os.path.join(top, "archived_sessions")]


def may_hold(path: str, wanted: Wanted) -> bool:  # noqa: ARG001 -- the name of a file does not say where the work was
    """Return whether a file may be about what is wanted: by its name, any may."""
    return True


def events_of(record: Mapping[str, Any], carry: dict[str, Any], wanted: Wanted) -> Iterator[Event]:
    """Yield the events of one line, or of a whole file that is one object."""
    if isinstance(record.get("items"), list):
        yield from _whole(record, carry, wanted)
        return
    payload = mapping(record.get("payload")) or record
    kind = record.get("type")
    before, carry["at"] = carry.get("at", 0.0), moment(record.get("timestamp")) or carry.get("at", 0.0)
    if kind == "session_meta" or (kind is None and "id" in record):
        _begin(payload, carry)
    elif kind == "turn_context":
        carry["cwd"] = string(payload.get("cwd")) or carry.get("cwd", "")
    if carry.get("copied") and not _is_copied(payload, carry, before):
        del carry["copied"]
    if carry.get("copied") or kind is None or (kind != "response_item" and payload is not record):
        return
    if payload.get("type") == "message" and (there := _CWD.match(texts(payload.get("content")))):
        carry["cwd"] = there[1] or there[2]
    repo = wanted.repository(carry.get("cwd", ""))
    if repo is not None:
        session = Session(carry.get("session", ""), NAME, carry.get("cwd", ""), carry.get("branch", ""))
        yield from _item(payload, carry, session, repo)


def _whole(record: Mapping[str, Any], carry: dict[str, Any], wanted: Wanted) -> Iterator[Event]:
    """The events of a session that is one object; their ids stay the same when it is written anew, later or elsewhere."""
    items, meta = [mapping(item) for item in record["items"]], mapping(record.get("session"))
    cwd = next((place for item in items if (place := _named_place(item))), "")
    repo = wanted.repository(cwd)
    began = moment(meta.get("timestamp"))
    if repo is None or not began:
        return
    session = Session(string(meta.get("id")), NAME, cwd)
    anew = _SNAPSHOT.match(string(carry.get("name")))
    first = next((item for item in items if item.get("type") == "message"), {})
    known = f"{anew[1]} {texts(first.get('content'))}" if anew else session.id
    for number, item in enumerate(items):
        carry["at"] = began + number / 1000
        for each in _item(item, carry, session, repo):
            yield replace(each, id=event_id(known, each.role, each.text, number))


def _named_place(item: Mapping[str, Any]) -> str:
    """The directory that a call says it works in, "" where it names none from the root."""
    given = _arguments(item.get("arguments")) or mapping(item.get("action"))
    place = string(given.get("workdir")) or string(given.get("working_directory"))
    if not os.path.isabs(place):
        gone = _CD.match(command_line(given.get("command") or given.get("cmd")))
        place = gone[1] or gone[2] if gone else ""
    return os.path.normpath(place) if place else ""


def _begin(meta: Mapping[str, Any], carry: dict[str, Any]) -> None:
    """Take what the file says of its session; a second such line is that of the session it was forked from."""
    if carry.get("session"):
        if string(meta.get("id")) not in ("", carry["session"]):
            carry["copied"] = True
        return
    carry["session"] = string(meta.get("id"))
    carry["cwd"] = string(meta.get("cwd")) or carry.get("cwd", "")
    carry["branch"] = string(mapping(meta.get("git")).get("branch"))
    carry["began"] = int(moment(meta.get("timestamp")) or carry["at"])
    carry["aside"] = "subagent" in (mapping(meta.get("source")) or {string(meta.get("thread_source")): ""})
    if meta.get("forked_from_id"):
        carry["copied"] = True


def _is_copied(payload: Mapping[str, Any], carry: Mapping[str, Any], before: float) -> bool:
    """Whether a line at the beginning of a forked file is another session's: no turn of this one's own began yet."""
    started = payload.get("started_at") if payload.get("type") in ("task_started", "turn_started") else None
    if isinstance(started, int | float) and not isinstance(started, bool):
        return bool(started < carry.get("began", 0))
    return before == 0.0 or carry["at"] - before < _PAUSE_S


def _item(item: Mapping[str, Any], carry: dict[str, Any], session: Session, repo: str) -> Iterator[Event]:
    at, kind, aside = carry["at"], item.get("type"), bool(carry.get("aside"))
    if kind == "message" and item.get("role") == "assistant":
        yield from event(session, repo, Role.ASSISTANT, texts(item.get("content")), at, aside=aside)
    elif kind == "message" and item.get("role") == "user" and not aside:
        yield from _asked(item.get("content"), session, repo, at)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        yield from _call(item, carry, session, repo, at)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        yield from _result(item, carry, session, repo, at)


def _asked(content: Any, session: Session, repo: str, at: float) -> Iterator[Event]:
    """What a person typed: words, below what their editor added to them, or a command of their own behind `!`."""
    if (ran := _TYPED_COMMAND.match(texts(content))) is not None:
        yield from event(session, repo, Role.COMMAND, ran[1], at)
        output = ran[3].partition("Output:\n")[2] or ran[3]
        yield from event(session, repo, Role.OUTPUT, output, at, failed=ran[2] not in (None, "0"))
        return
    typed = _FILE_ADDED.sub(r"@\1", _REQUEST.split(said_in(content))[-1])
    yield from event(session, repo, Role.USER, typed, at)


def _result(item: Mapping[str, Any], carry: dict[str, Any], session: Session, repo: str, at: float) -> Iterator[Event]:
    """How a command ended, what another tool failed with, and what a person chose where the agent asked."""
    what = carry.get("calls", {}).pop(string(item.get("call_id")), "")
    if what.startswith("{"):
        yield from _answered(_arguments(what), _arguments(item.get("output")), session, repo, at)
        return
    output, failed = _output(item.get("output"))
    if what == "command" or (what and failed):
        yield from event(session, repo, Role.OUTPUT, output, at, failed=failed)


def _answered(
    asked: Mapping[str, Any], output: Mapping[str, Any], session: Session, repo: str, at: float
) -> Iterator[Event]:
    for id_, answer in mapping(output.get("answers")).items():
        chosen = mapping(answer).get("answers")
        text = ", ".join(each for each in chosen if isinstance(each, str)) if isinstance(chosen, list) else ""
        if text.strip():
            yield from event(session, repo, Role.USER, f"{string(asked.get(id_))}\n{text}", at, answers=True)


def _call(item: Mapping[str, Any], carry: dict[str, Any], session: Session, repo: str, at: float) -> Iterator[Event]:
    given = _arguments(item.get("arguments"))
    line = command_line(given.get("command") or given.get("cmd") or mapping(item.get("action")).get("command"))
    patch = _PATCH.search(string(item.get("input")) or string(given.get("input")) or line)
    if item.get("name") == "request_user_input":
        remember(carry, string(item.get("call_id")), json.dumps(_questions(given.get("questions"))))
    elif patch is not None:
        remember(carry, string(item.get("call_id")), "patch")
        yield from event(session, repo, Role.EDIT, patch[0], at, path=next(iter(paths_of(patch[0])), ""))
    elif line:
        remember(carry, string(item.get("call_id")), "command")
        yield from event(session, repo, Role.COMMAND, line, at)


def _questions(asked: Any) -> dict[str, str]:
    """What was asked, by its id."""
    each = [mapping(question) for question in asked] if isinstance(asked, list) else []
    return {string(question.get("id")): string(question.get("question")) for question in each}


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

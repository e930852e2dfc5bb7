"""Read transcripts of Codex CLI: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl` below CODEX_HOME.

CODEX_HOME is `~/.codex` by default. One JSON object a line: `{"timestamp", "type": "session_meta" | "turn_context" |
"response_item" | "event_msg", "payload"}`. Words and actions are in the response items: `message`, `function_call` and its
output, `local_shell_call`, `custom_tool_call` (patches). Older files have no payload: the line is the item, and the first
line is the session.

Before June 2025 a session was one object, `<id>.json`: `{"session": {"timestamp", "id"}, "items": [...]}`, rewritten at each
step, and in the first weeks under another name each time, `rollout-<day>-<id>.json`. The object has one time for the whole
session. Its directory appears only in its commands (`workdir`, or `cd` to an absolute path): the first one counts, and a
file that names none is skipped, since it may belong to another repository.

Prompts for a subagent (`source.subagent`) come from the agent, not from a person. A forked file begins with the lines of
its parent, rewritten with the time of the fork; these are read in the parent alone. With a setting of Codex, files
untouched for a week become `.jsonl.zst`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from vademecum.agent_records import arguments_of, mapping, moment, output_of, said_in, string, texts
from vademecum.memory.records import Event, Role, event_id
from vademecum.memory.transcripts.convert import (
    Session,
    Wanted,
    command_line,
    event,
    kind_of_command,
    paths_of,
    remember,
)

NAME = "codex"
_CWD = re.compile(r"\s*<environment_context>.*?(?:<cwd>(.*?)</cwd>|Current working directory: (\S+))", re.DOTALL)
_REQUEST = re.compile(
    r"^## My request(?: for Codex)?:[ \t]*$", re.MULTILINE
)  # an editor lists open files above this line
_TYPED_COMMAND = re.compile(
    r"\s*<user_shell_command>\s*<command>(.*?)</command>\s*<result>\s*(?:Exit code: (\d+))?(.*?)</result>", re.DOTALL
)
_SNAPSHOT = re.compile(r"rollout-(\d{4}-\d\d-\d\d)-[0-9a-f-]{36}\.json\Z")
_CD = re.compile(r"\s*cd\s+(?:['\"](/[^'\"]+)['\"]|(/[^\s;&|]+))")
_FILE_ADDED = re.compile(r"<([^<>\s]*[./][^<>\s]*)>\n.*?\n</\1>", re.DOTALL)  # the expansion of `@path`
_PAUSE_S = 1.0  # copied lines are written at once; a longer pause means a person typed the next one
_PATCH = re.compile(r"\*\*\* Begin Patch.*?\*\*\* End Patch", re.DOTALL)


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return the directories where Codex keeps transcripts."""
    top = environ.get("CODEX_HOME") or os.path.join(home, ".codex")
    return [os.path.join(top, "sessions"), os.path.join(top, "archived_sessions")]


def may_hold(path: str, wanted: Wanted) -> bool:  # noqa: ARG001 -- the name of a file does not say where the work was
    """Return True: a file's name does not show the work's directory."""
    return True


def events_of(record: Mapping[str, Any], carry: dict[str, Any], wanted: Wanted) -> Iterator[Event]:
    """Yield the events of one line, or of a whole-file object."""
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
    """Yield the events of a session stored as one object.

    Event ids stay the same when the file is rewritten, later or under another name.
    """
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
    """Return the absolute directory that a call works in, "" for none."""
    given = arguments_of(item.get("arguments")) or mapping(item.get("action"))
    place = string(given.get("workdir")) or string(given.get("working_directory"))
    if not os.path.isabs(place):
        gone = _CD.match(command_line(given.get("command") or given.get("cmd")))
        place = gone[1] or gone[2] if gone else ""
    return os.path.normpath(place) if place else ""


def _begin(meta: Mapping[str, Any], carry: dict[str, Any]) -> None:
    """Store the session's id, directory and branch.

    A second such line comes from the session that this one was forked from.
    """
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
    """Return whether a forked file's line is copied from its parent.

    Copied lines end where this session's own first turn begins.
    """
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
    """Yield a person's message without editor additions, or a `!` command."""
    if (ran := _TYPED_COMMAND.match(texts(content))) is not None:
        yield from event(session, repo, Role.COMMAND, ran[1], at)
        output = ran[3].partition("Output:\n")[2] or ran[3]
        yield from event(session, repo, Role.OUTPUT, output, at, failed=ran[2] not in (None, "0"))
        return
    typed = _FILE_ADDED.sub(r"@\1", _REQUEST.split(said_in(content))[-1])
    yield from event(session, repo, Role.USER, typed, at)


def _result(item: Mapping[str, Any], carry: dict[str, Any], session: Session, repo: str, at: float) -> Iterator[Event]:
    """Yield a command's output, a tool's error, or a person's answers."""
    what = carry.get("calls", {}).pop(string(item.get("call_id")), "")
    if what.startswith("{"):
        yield from _answered(arguments_of(what), arguments_of(item.get("output")), session, repo, at)
        return
    output, failed = output_of(item.get("output"))
    if what in ("command", "fetched") or (what and failed):
        yield from event(session, repo, Role.OUTPUT, output, at, failed=failed, fetched=what == "fetched")


def _answered(
    asked: Mapping[str, Any], output: Mapping[str, Any], session: Session, repo: str, at: float
) -> Iterator[Event]:
    for id_, answer in mapping(output.get("answers")).items():
        chosen = mapping(answer).get("answers")
        text = ", ".join(each for each in chosen if isinstance(each, str)) if isinstance(chosen, list) else ""
        if text.strip():
            yield from event(session, repo, Role.USER, f"{string(asked.get(id_))}\n{text}", at, answers=True)


def _call(item: Mapping[str, Any], carry: dict[str, Any], session: Session, repo: str, at: float) -> Iterator[Event]:
    given = arguments_of(item.get("arguments"))
    line = command_line(given.get("command") or given.get("cmd") or mapping(item.get("action")).get("command"))
    patch = _PATCH.search(string(item.get("input")) or string(given.get("input")) or line)
    if item.get("name") == "request_user_input":
        remember(carry, string(item.get("call_id")), json.dumps(_questions(given.get("questions"))))
    elif patch is not None:
        remember(carry, string(item.get("call_id")), "patch")
        yield from event(session, repo, Role.EDIT, patch[0], at, path=next(iter(paths_of(patch[0])), ""))
    elif line:
        remember(carry, string(item.get("call_id")), kind_of_command(line))
        yield from event(session, repo, Role.COMMAND, line, at)


def _questions(asked: Any) -> dict[str, str]:
    """Return the text of each question by its id."""
    each = [mapping(question) for question in asked] if isinstance(asked, list) else []
    return {string(question.get("id")): string(question.get("question")) for question in each}

"""Read transcripts of Claude Code: `projects/<directory>/<session>.jsonl`.

The path is below Claude Code's configuration directory. One JSON object a line: `{"type": "user" | "assistant" | …, "sessionId", "cwd", "gitBranch", "timestamp", "message":
{"content": "…" | [{"type": "text" | "tool_use" | "tool_result" | "thinking", …}]}}`. Prompts for subagents (`isSidechain`)
come from the agent, not from a person; `isMeta`, compaction summaries and errors of the service come from the program.

A person's words are in five places: in a message, in a message typed while the agent worked (`attachment`,
`queued_command`), after a slash command, in an answer to a question (`toolUseResult.answers`) and in the reason given for
refusing a tool. A session that branches off begins with copies of another session's lines (`forkedFrom`); these belong to
the other session.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from vademecum.agent_records import mapping, moment, said, said_in, string, texts
from vademecum.memory.records import Event, Role
from vademecum.memory.transcripts.convert import Session, Wanted, change, event, kind_of_command, remember

NAME = "claude"
_BASH = re.compile(r"<bash-(input|stdout|stderr)>(.*?)</bash-\1>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_WORDS = 3  # after a slash command; fewer are only the name of a model or a file
_SHELLS = frozenset({"Bash", "PowerShell"})
_FETCHES = frozenset({"WebFetch", "WebSearch"})
_REFUSED = re.compile(
    r"To tell you how to proceed, the user said:\n(?!The user wants to clarify)(.+?)(?:\n\nNote: The user's next message.*)?\Z",
    re.DOTALL,
)


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return the directories where Claude Code keeps transcripts."""
    configured = [environ["CLAUDE_CONFIG_DIR"]] if environ.get("CLAUDE_CONFIG_DIR") else []
    usual = [
        os.path.join(home, ".claude"),
        os.path.join(environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "claude"),
    ]
    return [os.path.join(place, "projects") for place in configured or usual]


def may_hold(path: str, wanted: Wanted) -> bool:
    """Return whether a transcript may concern the wanted directories.

    The name of its folder is the working directory with dashes.
    """
    folder = path.replace("\\", "/").rpartition("/projects/")[2].partition("/")[0]
    return any(folder.startswith(re.sub(r"[^A-Za-z0-9]", "-", root)) for root in wanted.roots)


def events_of(record: Mapping[str, Any], carry: dict[str, Any], wanted: Wanted) -> Iterator[Event]:
    """Yield the events of one line."""
    kind, repo = record.get("type"), wanted.repository(string(record.get("cwd")))
    if kind not in ("user", "assistant", "attachment") or repo is None or _is_nobodys(record):
        return
    of = string(mapping(record.get("forkedFrom")).get("sessionId")) or string(record.get("sessionId"))
    session = Session(of, NAME, string(record.get("cwd")), string(record.get("gitBranch")))
    at, aside = moment(record.get("timestamp")), bool(record.get("isSidechain"))
    content = mapping(record.get("message")).get("content")
    if kind == "attachment":
        content = _queued(mapping(record.get("attachment")))
    if kind != "assistant" and not aside:
        yield from _asked(content, session, repo, at)
        yield from _answered(mapping(record.get("toolUseResult")), session, repo, at)
    if kind == "assistant":
        yield from event(session, repo, Role.ASSISTANT, texts(content, "text"), at, aside=aside)
    for part in content if isinstance(content, list) else []:
        yield from _tool(mapping(part), carry, session, repo, at)


def _is_nobodys(record: Mapping[str, Any]) -> bool:
    """Return whether the program or another agent wrote a record."""
    made_up = mapping(record.get("message")).get("model") == "<synthetic>" or record.get("isApiErrorMessage")
    by = mapping(record.get("origin") or mapping(record.get("attachment")).get("origin")).get("kind")
    return bool(record.get("isMeta") or record.get("isCompactSummary") or made_up) or by not in (None, "human")


def _queued(attachment: Mapping[str, Any]) -> Any:
    """Return a message typed while the agent worked, None for other attachments."""
    typed = attachment.get("type") == "queued_command" and attachment.get("commandMode") in (None, "prompt")
    return attachment.get("prompt") if typed else None


def _asked(content: Any, session: Session, repo: str, at: float) -> Iterator[Event]:
    """Yield a person's messages, slash-command texts and `!` commands."""
    text = texts(content, "text")
    for name, body in _BASH.findall(text):
        yield from event(session, repo, Role.COMMAND if name == "input" else Role.OUTPUT, body, at)
    behind = [said(typed) for typed in _ARGUMENTS.findall(text) if len(typed.split()) >= _WORDS]
    yield from event(session, repo, Role.USER, "\n".join([*behind, _BASH.sub("", said_in(content))]), at)


def _answered(result: Mapping[str, Any], session: Session, repo: str, at: float) -> Iterator[Event]:
    """Yield a person's answers to the agent's questions, each with its question."""
    for question, answer in mapping(result.get("answers")).items():
        if isinstance(answer, str) and answer.strip():
            yield from event(session, repo, Role.USER, f"{question}\n{answer}", at, answers=True)


def _tool(part: Mapping[str, Any], carry: dict[str, Any], session: Session, repo: str, at: float) -> Iterator[Event]:
    given = mapping(part.get("input"))
    if part.get("type") == "tool_result":
        yield from _result(part, carry, session, repo, at)
    elif part.get("type") != "tool_use":
        return
    elif plan := string(given.get("plan")):
        yield from event(session, repo, Role.ASSISTANT, plan, at)
    elif string(part.get("name")) in _SHELLS:
        remember(carry, string(part.get("id")), kind_of_command(string(given.get("command"))))
        yield from event(
            session, repo, Role.COMMAND, string(given.get("command")), at, purpose=string(given.get("description"))
        )
    elif string(part.get("name")) in _FETCHES:
        remember(carry, string(part.get("id")), "fetched")
    elif path := string(given.get("file_path")) or string(given.get("notebook_path")):
        remember(carry, string(part.get("id")), "file")
        if body := _edited(given):
            yield from event(session, repo, Role.EDIT, change(path, *body), at, path=path)


def _edited(given: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return an edit's old and new text, None for a read."""
    edits = [mapping(each) for each in given["edits"]] if isinstance(given.get("edits"), list) else [given]
    old = "\n".join(string(each.get("old_string")) for each in edits)
    new = "\n".join(
        string(each.get("new_string")) or string(each.get("content")) or string(each.get("new_source"))
        for each in edits
    )
    return (old, new) if old or new else None


def _result(part: Mapping[str, Any], carry: dict[str, Any], session: Session, repo: str, at: float) -> Iterator[Event]:
    """Yield a command's output, a tool's error, or a person's refusal."""
    what = carry.get("calls", {}).pop(string(part.get("tool_use_id")), "")
    failed, output = bool(part.get("is_error")), texts(part.get("content"), "text")
    if failed and (refused := _REFUSED.search(output)) is not None:
        yield from event(session, repo, Role.USER, said(refused[1]), at)
    elif what in ("command", "fetched") or failed:
        yield from event(session, repo, Role.OUTPUT, output, at, failed=failed, fetched=what == "fetched")

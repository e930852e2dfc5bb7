"""Read transcripts of Gemini CLI: `tmp/<project>/chats/session-*` below `~/.gemini`.

Up to early 2026 a file is one JSON object, rewritten with every message: `{"sessionId", "projectHash", "messages": […]}`.
Since then a file has lines: first the same object without messages, then the messages, `{"$set": …}` and `{"$rewindTo": …}`.
A message is `{"id", "timestamp", "type": "user" | "gemini" | "info" | …, "content", "displayContent", "toolCalls"}`; it is
written again when its tools have finished. Where files were added to a message, `displayContent` holds the words a person
typed. A chat of the kind `subagent` is between agents.

The project's directory is stored as a SHA-256 hash, so only the wanted directories can be recognised. Since 2026 the file
`.project_root` above the chats names the directory.

`tmp/<project>/logs.json` lists the messages a person typed in every session: `[{"sessionId", "messageId", "timestamp",
"type", "message"}]`. The log is older than the chats. It is read only for sessions without a chat; for others it would
repeat the chat.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from vademecum.agent_records import mapping, moment, said_in, string, texts
from vademecum.memory.records import Event, Role
from vademecum.memory.transcripts.convert import Session, Wanted, change, command_line, event

NAME = "gemini"
LOG = "logs.json"
_ROOT_FILE = ".project_root"
_MOST_ROOT_BYTES = 4_096
_ADDED = "\n--- Content from referenced files ---"
_FOR_THE_PROGRAM = re.compile(r"/[a-z][\w:-]*(?:\s|\Z)|\?")  # slash commands to Gemini CLI itself
_EXITED = re.compile(r"(?m)^Exit Code: [1-9]")  # of a command whose call succeeded
_TYPED_COMMAND = re.compile(
    r"I ran the following shell command:\n```sh\n(.*?)\n```\s*This produced the following result:\n```\n(.*)\n```\s*\Z",
    re.DOTALL,
)
_IN_NAMES = 8  # characters of a session's id that the name of its chat ends in
_SHELL = frozenset({"run_shell_command", "shell", "ShellTool"})
_FETCHES = ("web_fetch", "google_web_search")


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return the directories where Gemini CLI keeps transcripts."""
    return [os.path.join(environ.get("GEMINI_CLI_HOME") or home, ".gemini", "tmp")]


def may_hold(path: str, wanted: Wanted) -> bool:
    """Return whether a file is a chat or log of wanted directories."""
    project = _project(path)
    if not project:
        return False
    if os.path.basename(project) in _hashes(wanted):
        return True
    root = root_of(path)
    hashed = (
        len(os.path.basename(project)) == 64
    )  # since 2026 the folder has a name instead; then a chat names its directory, a log does not
    return wanted.repository(root) is not None if root else not hashed and not path.endswith(LOG)


def root_of(path: str) -> str:
    """Return the project directory that `.project_root` names, else ""."""
    try:
        with open(os.path.join(_project(path), _ROOT_FILE), encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_MOST_ROOT_BYTES).strip()
    except OSError:
        return ""


def _project(path: str) -> str:
    """Return the project folder of a chat or log, "" for other files."""
    path = path.replace("\\", "/")
    project, inside, _ = path.rpartition("/chats/")
    folder, _, name = path.rpartition("/")
    return project if inside else folder if name == LOG else ""


def logged(entries: Any, path: str, carry: dict[str, Any], wanted: Wanted) -> Iterator[Event]:
    """Yield the messages of sessions in a log that have no chat.

    The newest session waits for the next read, since its chat may not be written yet. `carry["told"]` lists the sessions that
    have had a chat; they are skipped for ever, even if the chat is deleted.
    """
    told = {each for each in carry.get("told", []) if isinstance(each, str)}
    said = [each for each in map(mapping, entries if isinstance(entries, list) else []) if each.get("type") == "user"]
    sessions = list(dict.fromkeys(string(each.get("sessionId")) for each in said))
    chats = _chats_beside(path)
    if chats is not None:
        told |= {each for each in sessions if any(f"-{each[:_IN_NAMES]}." in name for name in chats)}
        carry["told"] = [each for each in sessions if each in told]
        told.update(sessions[-1:])
    repo = _repository({"root": root_of(path), "project": os.path.basename(_project(path))}, wanted)
    for each in said if repo is not None else []:
        session = Session(string(each.get("sessionId")), NAME)
        if session.id not in told:
            yield from _asked(each.get("message"), session, repo or "", moment(each.get("timestamp")))


def _chats_beside(path: str) -> list[str] | None:
    """Return the names of the chats beside a log, None for none.

    Early versions of Gemini CLI keep no chats.
    """
    try:
        return os.listdir(os.path.join(_project(path), "chats"))
    except OSError:
        return None


def events_of(record: Mapping[str, Any], carry: dict[str, Any], wanted: Wanted) -> Iterator[Event]:
    """Yield the events of one line, or of a whole-file object.

    `carry["root"]` is the project's directory, if known.
    """
    told = mapping(record.get("$set")) or record
    if "id" not in record:
        carry["session"] = string(told.get("sessionId")) or carry.get("session", "")
        carry["project"] = string(told.get("projectHash")) or carry.get("project", "")
        carry["aside"] = told.get("kind") == "subagent" or carry.get("aside", False)
    repo = _repository(carry, wanted)
    if repo is None:
        return
    session = Session(carry.get("session", ""), NAME)
    messages = told.get("messages") if isinstance(told.get("messages"), list) else [record]
    for message in map(mapping, messages or []):
        yield from _message(message, session, repo, aside=bool(carry.get("aside")))


def _message(message: Mapping[str, Any], session: Session, repo: str, *, aside: bool) -> Iterator[Event]:
    at = moment(message.get("timestamp"))
    if message.get("type") == "user" and not aside:
        yield from _asked(message.get("displayContent") or message.get("content"), session, repo, at)
    elif message.get("type") == "gemini":
        yield from event(session, repo, Role.ASSISTANT, texts(message.get("content")), at, aside=aside)
        calls = message.get("toolCalls")
        for call in map(mapping, calls if isinstance(calls, list) else []):
            yield from _call(call, session, repo, moment(call.get("timestamp")) or at)


def _asked(content: Any, session: Session, repo: str, at: float) -> Iterator[Event]:
    """Yield a person's message without added files, or a `!` command."""
    typed = said_in(content).partition(_ADDED)[0]
    if (ran := _TYPED_COMMAND.match(typed)) is not None:
        yield from event(session, repo, Role.COMMAND, ran[1], at)
        yield from event(session, repo, Role.OUTPUT, ran[2], at)
    elif not _FOR_THE_PROGRAM.match(typed):
        yield from event(session, repo, Role.USER, typed, at)


def _call(call: Mapping[str, Any], session: Session, repo: str, at: float) -> Iterator[Event]:
    given, failed = mapping(call.get("args")), call.get("status") == "error"
    if string(call.get("name")) in _SHELL:
        yield from event(session, repo, Role.COMMAND, command_line(given.get("command")), at)
    elif (path := string(given.get("file_path"))) and (given.get("content") or given.get("new_string")):
        new = string(given.get("new_string")) or string(given.get("content"))
        yield from event(session, repo, Role.EDIT, change(path, string(given.get("old_string")), new), at, path=path)
    fetched = string(call.get("name")) in _FETCHES
    if string(call.get("name")) in _SHELL or failed or fetched:
        results = call.get("result")
        output = "\n".join(_output(mapping(each)) for each in (results if isinstance(results, list) else []))
        failed = failed or _EXITED.search(output) is not None
        yield from event(
            session, repo, Role.OUTPUT, output or string(call.get("error")), at, failed=failed, fetched=fetched
        )


def _output(part: Mapping[str, Any]) -> str:
    response = mapping(mapping(part.get("functionResponse")).get("response"))
    return string(response.get("output")) or string(response.get("error"))


def _repository(carry: Mapping[str, Any], wanted: Wanted) -> str | None:
    if carry.get("project", "") in _hashes(wanted):
        return wanted.roots[0]
    return wanted.repository(carry.get("root", ""))


def _hashes(wanted: Wanted) -> set[str]:
    return {hashlib.sha256(root.encode("utf-8", "surrogateescape")).hexdigest() for root in wanted.roots}

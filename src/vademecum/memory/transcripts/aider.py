"""Read transcripts of aider: `.aider.chat.history.md` in the repository's root.

aider only appends to this Markdown file. `# aider chat started at <local time>` opens a session. Lines after `#### ` are the
user's, lines after `> ` are aider's own ("Applied edit to …", "Commit …"), and the rest is the model's. aider ends the user's
lines in two spaces, which distinguishes them from a model's headings unless an editor stripped all of them. Only the start
of a session has a time; each later event is a millisecond later, to keep the order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from vademecum.memory.records import Event, Role
from vademecum.memory.transcripts.convert import Session, Wanted, event

NAME = "aider"
FILE = ".aider.chat.history.md"
_STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_EDITED = re.compile(r"> Applied edit to (.+?)\s*$")
_COMMITTED = re.compile(r"> Commit ([0-9a-f]{7,40}) (.+?)\s*$")
_RUN = re.compile(r"(?:/run|/test|/git|!)\s*(.+)", re.DOTALL)
_SAID = re.compile(r"/(?:ask|code|architect|chat-mode \w+|context)\s+(.+)", re.DOTALL)
_SETTINGS = ".aider.conf.yml"
_NAMED = re.compile(r"^chat-history-file:[ \t]*[\"']?([^\"'#\s]+)", re.MULTILINE)
_MOST_SETTINGS = 100_000
_NOTHING = "<blank>"  # aider's mark for a message without text
_STEP = 0.001


def places(home: str, environ: Mapping[str, str]) -> list[str]:  # noqa: ARG001 -- it keeps nothing below the home
    """Return no directories: aider keeps transcripts in the repositories."""
    return []


def file_of(root: str, environ: Mapping[str, str]) -> str:
    """Return the transcript's path for a directory.

    The environment may name it, then the repository's settings.
    """
    return os.path.join(root, environ.get("AIDER_CHAT_HISTORY_FILE") or _configured(root) or FILE)


def _configured(root: str) -> str:
    """Return the path that `.aider.conf.yml` names, "" for none.

    A path outside the repository is ignored.
    """
    try:
        with open(os.path.join(root, _SETTINGS), encoding="utf-8") as file:
            named = _NAMED.search(file.read(_MOST_SETTINGS))
    except (OSError, UnicodeDecodeError):
        return ""
    path = os.path.normpath(os.path.join(root, named[1])) if named else ""
    return path if os.path.realpath(path).startswith(os.path.realpath(root) + os.sep) else ""


def is_typed(line: str, *, marked: bool) -> bool:
    """Return whether the user typed a line.

    Args:
        line: The line, without its line end.
        marked: The user's lines in this file end in two spaces.
    """
    return line.startswith("####") and (line.endswith("  ") or not marked)


def is_marked(lines: list[str]) -> bool:
    """Return whether any of the user's lines ends in two spaces."""
    return any(is_typed(line, marked=True) for line in lines)


def blocks(lines: list[str], *, marked: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Yield runs of lines of one kind: `started`, `user`, `aider` or `model`.

    Lines in a code fence are the model's. An empty line ends a message of the user.

    >>> [kind for kind, _ in blocks(["#### hi", "Hello.", "> Tokens: 3"])]
    ['user', 'model', 'aider']
    """
    fenced = False
    last, run = "", list[str]()
    for line in lines:
        fenced = fenced ^ line.startswith("```")
        kind = "model" if fenced or line.startswith("```") else _kind(line, last, marked=marked)
        again = kind == "started" or (
            kind == "user" and is_typed(line, marked=marked) and not "".join(run[-1:]).strip()
        )
        if run and (kind != last or again):
            yield last, run
            run = []
        last = kind
        run.append(line)
    if run:
        yield last, run


def _kind(line: str, last: str, *, marked: bool) -> str:
    if _STARTED.match(line):
        return "started"
    if is_typed(line, marked=marked):
        return "user"
    if line.startswith("> "):
        return "aider"
    if not line.strip():
        return "aider" if last in {"", "started"} else last
    return "model"


def events_of(lines: list[str], carry: dict[str, Any], wanted: Wanted, root: str) -> Iterator[Event]:
    """Yield the events of some lines; `carry` holds the session so far."""
    repo = wanted.repository(root)
    if repo is None:
        return
    carry["marked"] = carry.get("marked", False) or is_marked(lines)
    for kind, run in blocks(lines, marked=carry["marked"]):
        if kind == "started":
            started = _STARTED.match(run[0])
            assert started is not None
            carry["session"], carry["count"] = f"aider {started[1]}", 0
            carry["at"] = datetime.fromisoformat(started[1]).astimezone().timestamp()
            continue
        session = Session(carry.get("session", ""), NAME, root)
        for role, text, metadata in _said(kind, run):
            carry["count"] = carry.get("count", 0) + 1
            yield from event(session, repo, role, text, carry.get("at", 0.0) + carry["count"] * _STEP, **metadata)


def _said(kind: str, run: list[str]) -> Iterator[tuple[Role, str, dict[str, Any]]]:
    if kind == "model":
        yield Role.ASSISTANT, "\n".join(run), {}
    elif kind == "user":
        typed = "\n".join(line.removeprefix("####").strip() for line in run).strip()
        if (ran := _RUN.match(typed)) is not None:
            yield Role.COMMAND, ran[1], {}
        elif typed == _NOTHING:
            return
        elif (asked := _SAID.match(typed)) is not None or not typed.startswith("/"):
            yield Role.USER, asked[1] if asked else typed, {}
    for line in run if kind == "aider" else ():
        if (edited := _EDITED.match(line)) is not None:
            yield Role.EDIT, edited[1], {"path": edited[1]}
        elif (commit := _COMMITTED.match(line)) is not None:
            yield Role.COMMIT, commit[2], {"commit": commit[1]}

"""The inbox: messages of agents that leave no transcript.

Hooks store the messages as files, and catching up records them in memory.

    keep       store one message as one file, atomically
    take_in    record a repository's messages in memory, then delete their files

A hook has no time to open a memory for writing, because another process may hold it. The files are in the data directory,
readable by the user alone. Secrets are removed before anything is written, as memory does.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vademecum.private import private_folder

if TYPE_CHECKING:
    from vademecum.memory.records import Event
    from vademecum.memory.transcripts.convert import Wanted

FOLDER = "overheard"
MOST_FILES = 5_000  # beyond these no message is stored, and the log says so; they are of repositories out of use
LEFT_BEHIND_S = 3600  # an unfinished file of this age belongs to a killed process
# Agents' event → the speaker's role, and the keys that lead to the text.
_WORDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "beforeSubmitPrompt": ("user", ("prompt",)),
    "afterAgentResponse": ("assistant", ("text",)),
    "pre_user_prompt": ("user", ("tool_info", "user_prompt")),
    "post_cascade_response": ("assistant", ("tool_info", "response")),
    "UserPromptSubmit": ("user", ("prompt",)),
    "chat.message": ("user", ("prompt",)),
    "session.idle": ("assistant", ("text",)),
}
_MOMENTS = ("hook_event_name", "hookEventName", "agent_action_name")
_SESSIONS = ("conversation_id", "trajectory_id", "session_id", "sessionId")


def keep(said: Mapping[str, Any], agent: str, directory: str, home: Path) -> str:
    """Store a hook's message; return the speaker's role, "" without one.

    Raises:
        OSError: the data directory cannot be written, or holds too many messages; a hook logs the error.
    """
    role, path = _WORDS.get(next((str(said[name]) for name in _MOMENTS if name in said), ""), ("", ()))
    words: Any = said
    for key in path:
        words = words.get(key) if isinstance(words, Mapping) else None
    if not role or not isinstance(words, str) or not words.strip():
        return ""
    from vademecum.redaction.redact import redact

    folder = home / FOLDER
    private_folder(folder)
    if len(os.listdir(folder)) >= MOST_FILES:
        raise OSError(
            f"{MOST_FILES} messages wait in {folder}: `vade memory sync` takes those of its repository in, or delete them"
        )
    now = time.time_ns()
    session = next((said[name] for name in _SESSIONS if isinstance(said.get(name), str)), "")
    message = {
        "at": now / 1e9,
        "role": role,
        "text": redact(words).text,
        "session": session,
        "agent": agent,
        "cwd": directory,
    }
    whole = folder / f"{now}-{os.getpid()}.json"
    part = whole.with_suffix(".part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(message, file)
    part.replace(whole)
    return role


def take_in(home: Path, roots: Sequence[str], record: Callable[[Iterable[Event]], object]) -> None:
    """Record the messages of a repository's directories, oldest first.

    A message's file is deleted after recording. Raises the errors of `record`.
    """
    from vademecum.memory.transcripts.convert import Wanted

    folder, wanted = home / FOLDER, Wanted(tuple(roots))
    events: list[Event] = []
    done: list[Path] = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        found = _read(path, wanted)
        if found is not None:
            events.extend(found)
            done.append(path)
    if events:
        record(events)
    for path in done:
        path.unlink(missing_ok=True)
    _tidy(folder)


def _tidy(folder: Path) -> None:
    """Delete unfinished files of killed processes."""
    for part in folder.glob("*.part"):
        with suppress(OSError):  # deleted or finished meanwhile
            if time.time() - part.stat().st_mtime > LEFT_BEHIND_S:
                part.unlink()


def _read(path: Path, wanted: Wanted) -> list[Event] | None:
    """Return a file's events, [] if malformed, None for another repository's."""
    from vademecum.agent_records import said
    from vademecum.memory.records import Role
    from vademecum.memory.transcripts.convert import Session, event

    try:
        message = json.loads(path.read_text(encoding="utf-8"))
        repository = wanted.repository(str(message["cwd"]))
        if repository is None:
            return None
        session = Session(str(message["session"]), str(message["agent"]))
        text, at = said(str(message["text"])), float(message["at"])
        return list(event(session, repository, Role(message["role"]), text, at))
    except (OSError, ValueError, KeyError, TypeError):  # not written by `keep`
        return []

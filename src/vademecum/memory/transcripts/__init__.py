"""Read transcripts of coding agents on this machine as events, incrementally.

    found       list the files, in the agents' usual places, that may concern some directories
    read        yield the new events of one file in batches, each with the state reached

| agent       | where                                             | form |
| ----------- | ------------------------------------------------- | ---- |
| Claude Code | `~/.claude/projects/<directory>/<session>.jsonl`  | lines of JSON |
| Codex CLI   | `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`    | lines of JSON, or these compressed (`.zst`), before June 2025 one object |
| Gemini CLI  | `~/.gemini/tmp/<project>/chats/session-*`         | lines of JSON, before 2026 one object |
|             | `~/.gemini/tmp/<project>/logs.json`               | an array of typed messages, for sessions without a chat |
| aider       | `.aider.chat.history.md` in the repository        | Markdown |

The files are never written to. Their formats are not documented, so records of an unexpected shape are skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, BinaryIO

from vademecum.agent_records import mapping
from vademecum.memory.records import Event
from vademecum.memory.transcripts import aider, claude, codex, gemini
from vademecum.memory.transcripts.convert import Wanted
from vademecum.memory.transcripts.offsets import (
    ENDING,
    State,
    can_unpack,
    is_unchanged,
    open_transcript,
    reached,
    resume,
    stamp,
    unpacked_lines,
    whole_lines,
)

__all__ = ["AGENTS", "Batch", "Transcript", "Wanted", "found", "read"]

AGENTS: Mapping[str, ModuleType] = {each.NAME: each for each in (claude, codex, gemini, aider)}
_ENDINGS = (".jsonl", ".json", f".jsonl{ENDING}")
_BATCH = 200  # events; a crash costs at most one batch of work
_MOST_FILE_BYTES = 200_000_000  # read at most, of a file that must be read whole


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript file that an agent wrote."""

    agent: str
    path: str
    root: str = ""  # the project's directory, where the file's location names one


@dataclass(frozen=True, slots=True)
class Batch:
    """Some events, and the file's state to store together with them.

    Attributes:
        events: New events.
        state: The state of the file after these events.
        skipped: Number of lines that could not be read.
        packed: The file is compressed, and the package that unpacks it is missing.
    """

    events: list[Event]
    state: State
    skipped: int = 0
    packed: bool = False


def found(home: str, environ: Mapping[str, str], wanted: Wanted) -> list[Transcript]:
    """Return the transcripts that may concern the wanted directories, agent by agent.

    Args:
        home: The user's home directory.
        environ: The environment, which may move an agent's files.
        wanted: The directories to look for.
    """
    out: list[Transcript] = []
    for name, agent in AGENTS.items():
        for place in agent.places(home, environ):
            held = [path for path in _files(place) if agent.may_hold(path, wanted)]
            out += [Transcript(name, path, gemini.root_of(path) if agent is gemini else "") for path in held]
    for root in wanted.roots:
        path = aider.file_of(root, environ)
        if os.path.isfile(path):
            out.append(Transcript(aider.NAME, path, root))
    return out


def _files(place: str) -> Iterator[str]:
    for folder, folders, names in os.walk(place):
        folders.sort()
        plain = set(names)  # a file exists twice while it is compressed or unpacked
        wanted = (
            name
            for name in sorted(names)
            if name.endswith(_ENDINGS) and name.removesuffix(ENDING) not in plain - {name}
        )
        yield from (os.path.join(folder, name) for name in wanted)


def read(transcript: Transcript, state: Mapping[str, Any], wanted: Wanted) -> Iterator[Batch]:
    """Yield batches of the events that a transcript holds beyond `state`.

    Yields nothing where the file is unchanged, is gone or cannot be read. A caller that stores each batch together with its
    state loses no event in a crash and stores none twice.
    """
    file = open_transcript(transcript.path)
    if file is None:
        return
    with file:
        if is_unchanged(file, state):
            return
        if transcript.agent == aider.NAME:
            yield from _read_markdown(file, transcript, state, wanted)
        elif transcript.path.endswith(ENDING):
            yield from _read_packed(file, transcript, wanted)
        elif transcript.path.endswith(".json"):
            yield from _read_object(file, transcript, state, wanted)
        else:
            yield from _read_lines(file, transcript, state, wanted)


def _read_lines(file: BinaryIO, transcript: Transcript, state: Mapping[str, Any], wanted: Wanted) -> Iterator[Batch]:
    place = resume(file, state)
    offset, carry = place["offset"], place["carry"]
    if transcript.root:
        carry["root"] = transcript.root
    for events, end, skipped in _batches(whole_lines(file, offset), transcript.agent, carry, wanted):
        yield Batch(events, reached(file, end or offset, carry), skipped)


def _read_packed(file: BinaryIO, transcript: Transcript, wanted: Wanted) -> Iterator[Batch]:
    """Read a compressed file whole; event ids reveal the known events.

    The agent compresses a file once it adds no more lines.
    """
    if not can_unpack():
        yield Batch([], {}, packed=True)
        return
    whole = stamp(file)
    for events, _, skipped in _batches(unpacked_lines(file), transcript.agent, {}, wanted):
        yield Batch(events, {}, skipped)
    yield Batch([], {"stamp": whole})


def _batches(
    lines: Iterable[tuple[bytes, int]], agent: str, carry: dict[str, Any], wanted: Wanted
) -> Iterator[tuple[list[Event], int, int]]:
    """Yield events in batches.

    Each has the offset behind its lines, and the number of unreadable ones.
    """
    events: list[Event] = []
    skipped = end = 0
    for line, end in lines:
        record = _json(line)
        skipped += record is None and bool(line.strip())
        events += AGENTS[agent].events_of(record or {}, carry, wanted)
        if len(events) >= _BATCH:
            yield events, end, skipped
            events, skipped = [], 0
    yield events, end, skipped


def _read_object(file: BinaryIO, transcript: Transcript, state: Mapping[str, Any], wanted: Wanted) -> Iterator[Batch]:
    """Read a file that the agent rewrites; event ids reveal known events."""
    whole, name = stamp(file), os.path.basename(transcript.path)
    record = _value(file.read(_MOST_FILE_BYTES))
    if record is None:  # the agent is still writing the file; the next read finds it whole
        yield Batch([], {}, 1)
        return
    carry: dict[str, Any] = {"root": transcript.root, "name": name, "told": state.get("told") or []}
    if transcript.agent == gemini.NAME and name == gemini.LOG:
        events = list(gemini.logged(record, transcript.path, carry, wanted))
    else:
        events = list(AGENTS[transcript.agent].events_of(mapping(record), carry, wanted))
    done = {"stamp": whole, "told": carry["told"]}
    for start in range(0, max(len(events), 1), _BATCH):
        yield Batch(events[start : start + _BATCH], done if start + _BATCH >= len(events) else {"told": carry["told"]})


def _read_markdown(file: BinaryIO, transcript: Transcript, state: Mapping[str, Any], wanted: Wanted) -> Iterator[Batch]:
    """Read a Markdown file up to the user's last message.

    That message may have no answer yet, so the next read begins there again.
    """
    place = resume(file, state)
    offset, carry = place["offset"], place["carry"]
    numbered = [(line.decode("utf-8", "replace").rstrip("\r\n"), end) for line, end in whole_lines(file, offset)]
    lines = [line for line, _ in numbered]
    carry["marked"] = carry.get("marked", False) or aider.is_marked(lines)
    typed = [aider.is_typed(line, marked=carry["marked"]) for line in lines]
    settled = max((at for at, now in enumerate(typed) if now and not (at and typed[at - 1])), default=0)
    events = list(aider.events_of(lines[:settled], carry, wanted, transcript.root))
    after = reached(file, numbered[settled - 1][1] if settled else offset, carry)
    open_end = list(aider.events_of(lines[settled:], dict(carry), wanted, transcript.root))
    after["stamp"] = stamp(file)
    yield Batch(events + open_end, after)


def _json(content: bytes) -> dict[str, Any] | None:
    record = _value(content)
    return record if isinstance(record, dict) else None


def _value(content: bytes) -> Any:
    try:
        return json.loads(content) if content.strip() else None
    except (ValueError, RecursionError):
        return None

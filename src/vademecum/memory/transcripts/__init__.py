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

Reading goes on where it stopped. A digest of the file's beginning and one of the bytes right before the offset identify the file.
If either has changed, the file was replaced or rewritten: reading starts over, and event ids reveal the known events. A last
line without a line end is still being written and is left for the next read. Lines compressed with Zstandard are read by the
standard library from Python 3.14 on, before that by a backport.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from stat import S_ISREG
from types import ModuleType
from typing import Any, BinaryIO

from vademecum.agent_records import mapping
from vademecum.memory.records import Event
from vademecum.memory.transcripts import aider, claude, codex, gemini
from vademecum.memory.transcripts.convert import Wanted

__all__ = ["AGENTS", "Batch", "Transcript", "Wanted", "found", "read"]

AGENTS: Mapping[str, ModuleType] = {each.NAME: each for each in (claude, codex, gemini, aider)}
ENDING = ".zst"
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
    """Return the transcripts that may concern the wanted directories.

    The file that was written to last comes last, so that a reversal meets the statement it ends.

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
    return sorted(out, key=lambda transcript: _written(transcript.path))


def _written(path: str) -> float:
    """Return a file's time of writing, 0 if it is gone."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


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
        record = _value(line)
        skipped += not isinstance(record, dict) and bool(line.strip())
        events += AGENTS[agent].events_of(record if isinstance(record, dict) else {}, carry, wanted)
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


def _value(content: bytes) -> Any:
    try:
        return json.loads(content) if content.strip() else None
    except (ValueError, RecursionError):
        return None


_SEEN_BYTES = 512
MOST_LINE_BYTES = 16_000_000  # a longer line holds a file, not words
State = dict[str, Any]  # JSON values: `offset`, `head`, `tail`, `stamp` and the reader's own `carry`


def open_transcript(path: str) -> BinaryIO | None:
    """Open a regular file for reading; None if that fails.

    None stands for a link, a pipe, a missing file and one without permission.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    if not S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    return os.fdopen(handle, "rb")


def is_unchanged(file: BinaryIO, state: Mapping[str, Any]) -> bool:
    """Return whether a file is unchanged since its end was read."""
    return bool(state) and state.get("stamp") == stamp(file)


def stamp(file: BinaryIO) -> str:
    """Return a stamp that changes whenever the file does."""
    facts = os.fstat(file.fileno())
    return f"{facts.st_ino}:{facts.st_size}:{facts.st_mtime_ns}"


def resume(file: BinaryIO, state: Mapping[str, Any]) -> State:
    """Seek to the offset in `state` and return the state there.

    Starts from the beginning where the file is new or was replaced.
    """
    offset = state.get("offset", 0)
    size = os.fstat(file.fileno()).st_size
    known = isinstance(offset, int) and 0 < offset <= size
    if known and state.get("head") == _head(file, offset) and state.get("tail") == _tail(file, offset):
        file.seek(offset)
        return {"offset": offset, "carry": dict(state.get("carry") or {})}
    file.seek(0)
    return {"offset": 0, "carry": {}}


def reached(file: BinaryIO, offset: int, carry: Mapping[str, Any]) -> State:
    """Return the state of a file that was read up to `offset`.

    The position of the file object does not change.
    """
    place = file.tell()
    state = {"offset": offset, "head": _head(file, offset), "tail": _tail(file, offset), "carry": dict(carry)}
    if offset == os.fstat(file.fileno()).st_size:
        state["stamp"] = stamp(file)
    file.seek(place)
    return state


def whole_lines(file: BinaryIO, offset: int) -> Iterator[tuple[bytes, int]]:
    """Yield each complete line with the offset of its end.

    Reading starts at the current position. A line that is too long is yielded as b"".
    """
    while line := file.readline(MOST_LINE_BYTES):
        offset += len(line)
        if not line.endswith(b"\n"):
            rest = _skip_line(file)
            if rest is None:
                return
            offset += rest
            line = b""
        yield line, offset


def _skip_line(file: BinaryIO) -> int | None:
    """Skip a line's rest and return its length, None if unfinished."""
    skipped = 0
    while part := file.readline(MOST_LINE_BYTES):
        skipped += len(part)
        if part.endswith(b"\n"):
            return skipped
    return None


def _head(file: BinaryIO, offset: int) -> str:
    file.seek(0)
    return _digest(file.read(min(_SEEN_BYTES, offset)))


def _tail(file: BinaryIO, offset: int) -> str:
    start = max(0, offset - _SEEN_BYTES)
    file.seek(start)
    return _digest(file.read(offset - start))


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()


_MOST_BYTES = 4_000_000_000  # after decompression; a small file may expand without limit


def can_unpack() -> bool:
    """Return whether Zstandard is available; the extra `zstd` installs it."""
    return _reader() is not None


def unpacked_lines(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield each complete line of a compressed file with its end.

    Stops where the file is damaged or ends too early.
    """
    reader = _reader()
    if reader is None:
        return
    try:
        with reader.open(file, "rb") as plain:
            for line, end in whole_lines(plain, 0):
                yield line, end
                if end > _MOST_BYTES:
                    return
    except (EOFError, OSError, ValueError, reader.ZstdError):
        return


def _reader() -> Any:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None

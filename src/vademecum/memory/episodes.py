"""Find the last fix of an error in the work of agents.

An episode begins with a command that failed and ends where the same command runs in the same session without the same lines of
error. What was edited in between, or else run, is what ended the error. A commit of the edited files is named; where a later
commit reverts that one, the episode counts as one that nothing ended.

    probability = share of the error's lines * (helped + 1/2) / (times + 1)

where `times` counts the earlier episodes with such a line, and `helped` those that ended with an edit of the same files or with
the same commands (the Krichevsky-Trofimov estimate of a share). So a line that everything prints, and that was ended in another
way each time, soon tells nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vademecum.memory.forms import compiled
from vademecum.memory.kinds import Role

if TYPE_CHECKING:
    from vademecum.protocols import Condition, Store

LEAST_PROBABLE = 0.5
MOST_FAILURES = 400  # the newest outputs of failed commands that are looked through
MOST_LINES = 8  # of an error, from its end, where most tools say what it is
MOST_EPISODES = 20
LONGEST_S = 7200.0  # from a failure to its end
LATER_S = 7 * 86_400.0  # in which a commit may take the edits in
MOST_COMMANDS = 2  # that ended an error
_LEAST_WORDS = 2  # that a line of error has besides those that every error has
_SAID = compiled(__file__)
_WORD = re.compile(r"[^\W\d_]{3,}")
_EMPTY_TEXT = """error errors err failed failures failure fails fail test tests exit code command with status short summary info
traceback most recent call last passed the and this for see above more details rerun pass lib npm fatal exception panic panicked
warnings warning build main expected left right process completed log can found"""
_EMPTY = frozenset(_EMPTY_TEXT.split())
_LOOKS_TEXT = """ls cat head tail grep rg find git sed awk cd pwd echo wc which less tree diff stat file type env"""
_LOOKS = frozenset(_LOOKS_TEXT.split())  # commands that change nothing that an error may come from


@dataclass(frozen=True, slots=True)
class Episode:
    """An earlier time of an error, and its fix."""

    at: float  # of the failure, seconds since the epoch
    command: str
    line: str  # of error, as it was printed
    paths: tuple[str, ...] = ()  # edited, relative to the repository
    change: str = ""  # the edited line, old and new, where one line alone was edited
    commands: tuple[str, ...] = ()  # run, where nothing was edited
    commit: str = ""  # the first line of the message of the commit that took the edits in
    times: int = 1  # that the error came up before
    helped: int = 0  # times that this ended it
    probability: float = 0.0  # that this ends it now


@dataclass(frozen=True, slots=True)
class _Step:
    """An event of a session."""

    number: int
    at: float
    role: str
    text: str
    metadata: dict[str, Any]
    repo: str


def error_lines(output: str) -> dict[str, str]:
    r"""Return the last lines of error, by their unvarying part.

    >>> error_lines("collected 3 items\nE   ModuleNotFoundError: No module named 'yaml'\n1 failed in 0.2s")
    {"ModuleNotFoundError: No module named 'yaml'": "ModuleNotFoundError: No module named 'yaml'"}
    """
    found: dict[str, str] = {}
    for line in reversed(output.splitlines()):
        if _SAID["telling"].search(line) is None:
            continue
        shown = " ".join(line.removeprefix("E ").split())
        same = " ".join(_SAID["varying"].sub("", shown).split())
        if len([word for word in _WORD.findall(same) if word.lower() not in _EMPTY]) >= _LEAST_WORDS:
            found.setdefault(same, shown)
        if len(found) == MOST_LINES:
            break
    return found


def past_fix(stores: Sequence[Store], output: str) -> Episode | None:
    """Return the latest probable fix of an error, or None.

    Raises `StoreError`.
    """
    now = error_lines(output)
    if not now:
        return None
    shared: list[float] = []
    episodes: list[Episode] = []
    for store in stores:
        for episode, share in _episodes(store, now):
            episodes.append(episode)
            shared.append(share)
    best: Episode | None = None
    for episode, share in zip(episodes, shared, strict=True):
        own = set(episode.paths or episode.commands)  # without a fix it is like none
        helped = sum(not own.isdisjoint(other.paths or other.commands) for other in episodes)
        probable = share * (helped + 0.5) / (len(episodes) + 1)
        if helped and probable >= LEAST_PROBABLE and (best is None or episode.at > best.at):
            best = replace(episode, times=len(episodes), helped=helped, probability=probable)
    return best


def _episodes(store: Store, now: dict[str, str]) -> Iterator[tuple[Episode, float]]:
    """Yield earlier episodes of an error, with the share of its lines."""
    failures = list(_failures(store, now))
    sessions: dict[str, list[_Step]] = {}
    ended: set[tuple[str, float, str]] = set()
    for number, at, session, same in failures:
        if len(ended) == MOST_EPISODES:
            return
        if session not in sessions:
            sessions[session] = _steps(store, session, [each[1] for each in failures if each[2] == session])
        episode, end = _episode(store, sessions[session], number, at, same)
        place = session, end, "" if end else episode.command
        if place not in ended:  # of several failures before one end, the last is nearest to it
            ended.add(place)
            yield replace(episode, line=now[min(same, key=len)]), len(same) / len(now)


def _failures(store: Store, now: dict[str, str]) -> Iterator[tuple[int, float, str, set[str]]]:
    """Yield number, time, session and common lines of failures, the newest first."""
    tagged = store.scan("event_tags", [("name", "=", "failed"), ("value", "=", "true")], ("event",)).unwrap()
    numbers = sorted(row[0] for row in tagged)[-MOST_FAILURES:]
    columns = ("number", "at", "session", "text")
    rows = store.scan("events", [("number", "in", numbers)], columns, ("at", "number")).unwrap() if numbers else []
    needles = {max(_WORD.findall(line), key=len) for line in now}
    for number, at, session, text in reversed(rows):
        same = {line for line in error_lines(text) if line in now} if any(n in text for n in needles) else set()
        if same:
            yield number, at, session, same


def _steps(store: Store, session: str, failures: Sequence[float]) -> list[_Step]:
    """Return the events of a session around its failures, in order."""
    since, until = min(failures) - LONGEST_S, max(failures) + LONGEST_S
    where: list[Condition] = [("session", "=", session), ("at", ">=", since), ("at", "<=", until)]
    rows = store.scan("events", where, ("number", "at", "role", "text", "metadata", "repo"), ("at", "number")).unwrap()
    return [_Step(row[0], row[1], row[2], row[3], json.loads(row[4]), row[5]) for row in rows]


def _episode(store: Store, steps: Sequence[_Step], number: int, at: float, lines: set[str]) -> tuple[Episode, float]:
    """Return the episode of a failure, and its end, 0 for none."""
    steps = [step for step in steps if at - LONGEST_S <= step.at <= at + LONGEST_S]
    place = next(index for index, step in enumerate(steps) if step.number == number)
    before = [step.text for step in steps[:place] if step.role == Role.COMMAND]
    if not before:
        return Episode(at, "", ""), 0.0
    command, after = before[-1], steps[place + 1 :]
    end = _end(after, command, lines)
    found = Episode(at, command, "")
    if end is None:
        return found, 0.0
    edits = [step for step in after[:end] if step.role == Role.EDIT and "path" in step.metadata]
    ran = [step.text for step in after[:end] if step.role == Role.COMMAND and _program(step.text) not in _LOOKS]
    if not edits:
        return replace(found, commands=tuple(dict.fromkeys(ran))[-MOST_COMMANDS:]), after[end].at
    below = {step.repo: step.repo and f"{step.repo}{os.sep}" for step in edits}
    paths = tuple(dict.fromkeys(str(step.metadata["path"]).removeprefix(below[step.repo]) for step in edits))
    commit, is_reverted = _commit(store, paths, at)
    if is_reverted:
        return found, after[end].at
    change = _one_line(edits[0].text) if len(edits) == 1 else ""
    return replace(found, paths=paths, change=change, commit=commit), after[end].at


def _end(after: Sequence[_Step], command: str, lines: set[str]) -> int | None:
    """Return the place of the command that runs without the error."""
    running: int | None = None
    for place, step in enumerate(after):
        if running is not None and step.role != Role.OUTPUT:
            return running  # it printed nothing, or nothing of the error
        if step.role == Role.COMMAND and _without_options(step.text) == _without_options(command):
            running = place
        elif running is not None and not lines.isdisjoint(error_lines(step.text)):
            running = None
    return running


def _commit(store: Store, paths: Sequence[str], at: float) -> tuple[str, bool]:
    """Return the title of the next commit, and true if reverted."""
    values = [json.dumps(path, ensure_ascii=False) for path in paths]
    tagged = store.scan("event_tags", [("name", "=", "paths"), ("value", "in", values)], ("event",)).unwrap()
    numbers = list({row[0] for row in tagged})
    where: list[Condition] = [("number", "in", numbers), ("at", ">=", at)]
    rows = store.scan("events", where, ("at", "text", "metadata"), ("at",)).unwrap() if numbers else []
    if not rows or rows[0][0] > at + LATER_S:
        return "", False
    commit = str(json.loads(rows[0][2]).get("commit", ""))
    undone = any(commit[:10] in text for _, text, _ in rows[1:] if commit and "revert" in text.lower())
    return rows[0][1].splitlines()[0], undone


def _without_options(command: str) -> set[str]:
    first = re.split(r"\s(?:[|;]|2>&1|&&)", _SAID["before"].sub("", command).strip(" '\""))[0]
    return {word for word in first.split() if not word.startswith("-")}


def _program(command: str) -> str:
    words = _SAID["before"].sub("", command).split(maxsplit=1)
    return os.path.basename(words[0]) if words else ""


def _one_line(edit: str) -> str:
    r"""Return the only changed line of an edit, "" for more.

    >>> _one_line("a.py\n-x = 1\n+x = 2"), _one_line("a.py\n-x = 1\n+x = 2\n+y = 3")
    ('`x = 1` → `x = 2`', '')
    """
    old, new = ([line[1:].strip() for line in edit.splitlines()[1:] if line.startswith(sign)] for sign in "-+")
    old, new = [line for line in old if line not in new], [line for line in new if line not in old]
    return f"`{old[0]}` → `{new[0]}`" if len(old) == len(new) == 1 else ""

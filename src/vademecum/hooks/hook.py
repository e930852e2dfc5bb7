"""Answer coding agents at their own moments: `vade memory hook NAME`, JSON on standard input.

    session-start    say what holds and what is left open
    subagent-start   say the same to a subagent, and what it finds code with
    prompt           say what concerns the message that was just typed
    heard            keep what was just said, for agents that leave no transcript; after an answer catch up
    stop             catch up with the transcript, in a process of its own, one at a time
    hint             say once a session that `search` finds code by meaning, to an agent that greps for prose

Claude Code, Codex and Gemini CLI send `{"session_id", "cwd", "hook_event_name", "prompt"?, …}` and take back
`{"hookSpecificOutput": {"hookEventName", "additionalContext"}}`. Who takes another form, or leaves no transcript, is named behind
the hook: `cursor`, `copilot`, `windsurf`, `opencode`. A hook stands in somebody's way, so it never blocks and
never fails: nothing is imported before it is needed and nothing heavy at all, all of it ends after a second and a half, whatever happens the exit code is 0 and
standard output holds an answer or nothing. What went wrong is a line in `hooks.log` in the data directory.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from vademecum.private import private_folder, private_opener

if TYPE_CHECKING:
    from pathlib import Path

    from vademecum.code.checkout.root import Root
    from vademecum.config import Settings
    from vademecum.protocols import Store

LOG = "hooks.log"
RUNS = "hooks.runs"  # a line for each run: its name, how it ended, how many seconds it took
MOST_LOG_BYTES = 256_000
DEADLINE_S = 1.5
INPUT_S = 0.5  # an agent that does not close the pipe is not waited for
MOST_INPUT_BYTES = 1_000_000
BUSY_S = 0.2
CATCH_UP = "catch-up"  # what `stop` starts in a process of its own
CATCH_UP_S = 600.0
LOCK, AGAIN = "sync.lock", "sync.again"  # held by who catches up; there while something may be new since it began
NICENESS = 10
# Our name → the events of agents that it is for
EVENTS: Mapping[str, tuple[str, ...]] = {
    "session-start": ("SessionStart",),
    "subagent-start": ("SubagentStart",),
    "prompt": ("UserPromptSubmit", "BeforeAgent"),
    "stop": ("Stop", "SessionEnd", "PreCompact", "AfterAgent"),
    "heard": (),
    "hint": ("PreToolUse", "AfterTool"),
}


def main(arguments: Sequence[str]) -> int:
    """Answer one hook; always 0."""
    name = arguments[0] if arguments else ""
    limit = _limit(CATCH_UP_S if name == CATCH_UP else DEADLINE_S)
    started, outcome = time.monotonic(), "failed"
    try:
        if name == CATCH_UP:
            catch_up(os.getcwd(), arguments[1] if len(arguments) > 1 else "")
        else:
            answer(name, read_input(sys.stdin.fileno()), arguments[1] if len(arguments) > 1 else "")
        outcome = "done"
    except Exception as error:  # noqa: BLE001 -- one of the marked edges: an agent's work goes on whatever happens here
        note(f"{name}: {type(error).__name__}: {error}")
    finally:
        limit.cancel()
        if name == CATCH_UP or name in EVENTS:
            count_run(name, outcome, time.monotonic() - started)
    return 0


def answer(name: str, said: Mapping[str, Any], agent: str = "") -> None:
    """Do what a hook is for, and print what is to be told, in the form of the agent that is named.

    Raises:
        KeyError: there is no such hook.
    """
    events = EVENTS[name]
    directory = directory_of(said)
    if name == "stop" or (name == "heard" and keep(said, agent, directory)):
        start_catching_up(directory)
    if name in {"stop", "heard"}:
        return
    told = hint(said, directory) if name == "hint" else context(name, said, directory)
    if told:
        event = said.get("hook_event_name")
        known = str(event if event in events else events[0])
        sys.stdout.write(json.dumps(in_form(agent, known, told)) + "\n")
        sys.stdout.flush()


def directory_of(said: Mapping[str, Any]) -> str:
    """Return the directory that the work is done in; a hook of the user's own may run elsewhere, as Cursor's do."""
    roots = said.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    return str(said.get("cwd") or first or os.environ.get("CURSOR_PROJECT_DIR") or os.getcwd())


def in_form(agent: str, event: str, told: str) -> dict[str, Any]:
    """Return what is told as an agent takes it.

    >>> in_form("cursor", "SessionStart", "Tabs.")
    {'additional_context': 'Tabs.'}
    """
    if agent == "cursor":
        return {"additional_context": told}
    common = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": told}}
    # One file of hooks is read by VS Code, which takes the form of Claude Code, and by Copilot CLI, which takes it bare.
    return common | {"additionalContext": told} if agent == "copilot" else common


def keep(said: Mapping[str, Any], agent: str, directory: str) -> bool:
    """Keep what was said for the next catching up; returns whether it was an answer, after which there is time for that."""
    from vademecum import config
    from vademecum.code.checkout.root import find_root
    from vademecum.hooks.inbox import keep as keep_message

    if not find_root(directory).common_dir:
        return False
    return keep_message(said, agent, directory, config.load(directory).home) == "assistant"


def hint(said: Mapping[str, Any], directory: str) -> str:
    """Return what an agent is told about the search it is making, "" for nothing."""
    from vademecum import config
    from vademecum.hooks.hint import TOLD, is_first, is_prose, pattern_of

    session = str(said.get("session_id") or "")
    is_due = is_prose(pattern_of(said)) and session and is_first(config.load(directory).home, session)
    return TOLD if is_due else ""


def context(name: str, said: Mapping[str, Any], directory: str) -> str:
    """Return what an agent is told, "" for nothing. Raises what opening a memory does."""
    from vademecum import config
    from vademecum.code.checkout.root import find_root
    from vademecum.memory.brief import Brief
    from vademecum.memory.wording import LANGUAGES

    settings = config.load(directory)
    with ExitStack() as opened:
        stores = open_stores(find_root(directory), settings, opened)
        wording = LANGUAGES[settings.memory.language]
        brief = Brief(stores, wording, time.time, settings.memory.context_tokens)
        if name == "prompt":
            return brief.answering(str(said.get("prompt") or ""))
        from vademecum.hooks.hint import SUBAGENT

        return "\n\n".join(filter(None, (SUBAGENT if name == "subagent-start" else "", brief.opening())))


def open_stores(root: Root, settings: Settings, opened: ExitStack) -> list[Store]:
    """Return the databases of the memories that are there, the repository's first; none is made for being asked."""
    from vademecum.wiring.stores import Stores

    kept = Stores(settings)
    stores: list[Store] = []
    for of in (*((root,) if root.common_dir else ()), None):
        if kept.has_memory(of):
            stores.append(kept.memory(of, busy_seconds=BUSY_S))
            opened.callback(stores[-1].close)
    return stores


def start_catching_up(directory: str) -> None:
    """Start reading the transcript in a process of its own, which the agent neither owns nor waits for.

    Where one is at it already none is started: it finds the mark that is left here, and looks once more before it goes.
    The mark is made before the lock is tried, and looked for after the lock is let go, so that one of both sees the other.
    The process is born with the lock, so that there is none in which a second could start.
    """
    from vademecum.code.checkout.lock import claim

    place = place_of_catching_up(directory)
    if place is None:
        return
    private_folder(place)
    (place / AGAIN).touch(mode=0o600)
    held = claim(place / LOCK)
    if held is None:
        return
    import subprocess

    nothing = subprocess.DEVNULL
    command = [sys.executable, "-P", "-m", "vademecum", "memory", "hook", CATCH_UP]
    with held:
        inherited = () if sys.platform == "win32" else (held.fileno(),)
        subprocess.Popen([*command, *map(str, inherited)], cwd=directory, stdin=nothing, stdout=nothing, stderr=nothing,
                         start_new_session=True, pass_fds=inherited)  # fmt: skip


def place_of_catching_up(directory: str) -> Path | None:
    """Return the path of the lock that whoever reads a repository's transcripts holds; None outside of a repository."""
    from vademecum import config
    from vademecum.code.checkout.identity import index_directory
    from vademecum.code.checkout.root import find_root

    root = find_root(directory)
    return index_directory(config.load(directory).home, root) if root.common_dir else None


def catch_up(directory: str, handle: str = "") -> None:
    """Take in what is new and once a day keep house, unless another process is at it. Raises what `Memory.sync` does.

    `handle` is the file handle of the lock, where whoever started this process took it; "" to take it here.
    """
    step_back()
    from vademecum import config
    from vademecum.code.checkout.lock import claim
    from vademecum.code.checkout.root import find_root, worktrees
    from vademecum.engine import Engine
    from vademecum.hooks.inbox import take_in

    place = place_of_catching_up(directory)
    if place is None:
        return
    held = os.fdopen(int(handle)) if handle else claim(place / LOCK)
    if held is None:
        return
    settings = config.load(directory)
    with Engine.open(directory, settings=settings) as engine:
        while held is not None:
            with held:
                (place / AGAIN).unlink(missing_ok=True)
                take_in(settings.home, worktrees(find_root(directory)), engine.memory.record_all)
                engine.memory.sync()
                engine.memory.consolidate(settings.memory.max_events, when_due=True)
            held = claim(place / LOCK) if (place / AGAIN).exists() else None


def step_back() -> None:
    """Let everybody else go first.

    A process that began a session of its own is to Linux a group of its own, which has as much of the machine as any
    other whatever is nice inside of it; so the group is made nice too.
    """
    import gc

    gc.enable()  # unlike a hook it may have much to read
    with suppress(OSError, AttributeError):
        os.nice(NICENESS)
    with suppress(OSError), open("/proc/self/autogroup", "w", encoding="ascii") as group:
        group.write(str(NICENESS))


def read_input(handle: int) -> dict[str, Any]:
    """Return the JSON object on a pipe, {} where there is none in time; the pipe need not be closed behind it."""
    until = time.monotonic() + INPUT_S
    content = b""
    while len(content) < MOST_INPUT_BYTES:
        left = until - time.monotonic()
        if sys.platform != "win32" and not select.select([handle], [], [], max(0.0, left))[0]:
            break
        part = os.read(handle, 65_536)
        content += part
        said = _object(content)
        if said or not part:
            return said
    return _object(content)


def _object(content: bytes) -> dict[str, Any]:
    if not content.rstrip().endswith(b"}"):
        return {}
    with suppress(ValueError, RecursionError):
        said = json.loads(content)
        return said if isinstance(said, dict) else {}
    return {}


def _limit(seconds: float) -> threading.Timer:
    """End the process with success when its time is over: a locked database or a slow disk must not hold the agent up."""

    def stop() -> None:
        note(f"stopped after {seconds:g} s")
        os._exit(0)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    return timer


def count_run(name: str, outcome: str, seconds: float) -> None:
    """Write down that a hook ran, for whoever serves metrics: it is a process of its own, and over before it is asked."""
    with suppress(Exception):
        from vademecum import config

        path = config.load().home / RUNS
        if path.parent.exists():  # a hook that found no memory makes no place for one
            if path.exists() and path.stat().st_size > MOST_LOG_BYTES:
                path.replace(path.with_name(f"{RUNS}.1"))
            with open(path, "a", encoding="ascii", opener=private_opener) as file:
                file.write(f"{name} {outcome} {seconds:.6f}\n")


def note(problem: str) -> None:
    """Write a line to the log; where that cannot be done either, nobody is told."""
    with suppress(Exception):
        from vademecum import config

        path = config.load().home / LOG
        private_folder(path.parent)
        if path.exists() and path.stat().st_size > MOST_LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
        with open(path, "a", encoding="utf-8", errors="replace", opener=private_opener) as file:
            file.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {' '.join(problem.split())[:500]}\n")

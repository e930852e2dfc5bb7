"""Hooks of coding agents: `vade memory hook NAME`.

A hook reads JSON on standard input.

    session-start    print facts that hold and open items
    subagent-start   print the same for a subagent, and how to find code
    prompt           print the memory about the message just typed
    tool             print the facts about the files of a call, or the fix that ended the error of a failed one before
    compact          print the facts that a summary of the session must keep, and catch up
    heard            store the last message, for agents without transcripts; after an answer, catch up
    stop             catch up with the transcript, in a separate process, one at a time
    hint             once a session, tell an agent that greps for prose about `search`

Claude Code, Codex and Gemini CLI send `{"session_id", "cwd", "hook_event_name", "prompt"?, …}` and read
`{"hookSpecificOutput": {"hookEventName", "additionalContext"}}`. An agent with another form, or without transcripts, is
named after the hook: `cursor`, `copilot`, `windsurf`, `opencode`. A hook holds up its agent, so it never blocks and never
fails: it imports late and nothing heavy, it ends after 1.5 s (or `VADE_HOOK_S`), the exit code is always 0, and standard
output holds an answer or nothing. Errors go to `hooks.log` in the data directory.

An agent gets a hint about search when it greps for prose, once a session, and when a subagent begins.

The files and the error of a tool call are read by the hooks of Claude Code (`PreToolUse`, `PostToolUseFailure`), Codex (`PreToolUse`, `PostToolUse`) and Gemini CLI
(`AfterTool`), by their documentation; see docs/install.md.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from vademecum.beneath import from_folder
from vademecum.private import private_folder, private_opener

if TYPE_CHECKING:
    from pathlib import Path

    from vademecum.code.checkout.root import Root
    from vademecum.config import Settings
    from vademecum.memory.brief import Brief
    from vademecum.protocols import Store
    from vademecum.types import Check

_FILES = ("file_path", "notebook_path", "absolute_path")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_ANSWERS = ("error", "stderr", "llmContent", "output", "stdout")  # keys of a tool's answer


def files_of(said: Mapping[str, Any], root: str, directory: str) -> list[str]:
    """Return the files of a tool call, relative to the repository's root.

    Files outside of it are left out.

    >>> files_of({"tool_input": {"file_path": "/app/src/a.py"}}, "/app", "/app/src")
    ['src/a.py']
    """
    given = said.get("tool_input")
    if not isinstance(given, Mapping):
        return []
    named = [str(given[key]) for key in _FILES if isinstance(given.get(key), str)]
    patch = given.get("command")
    named += _PATCHED.findall(patch) if isinstance(patch, str) else []
    top = os.path.realpath(root)
    paths = [from_folder(os.path.realpath(os.path.join(directory, path)), top) for path in named]
    return [path for path in dict.fromkeys(paths) if path]


def error_of(said: Mapping[str, Any]) -> str:
    """Return the output or error of a command, "" for other calls.

    Codex does not say whether a command failed, so its outputs are returned too.

    >>> error_of({"tool_input": {"command": "make"}, "error": "Exit code 2"}), error_of({"tool_input": {}, "error": "no"})
    ('Exit code 2', '')
    """
    given = said.get("tool_input")
    if not isinstance(given, Mapping) or "command" not in given or said.get("is_interrupt"):
        return ""
    answer = said.get("error") or said.get("tool_response")
    if isinstance(answer, Mapping):
        answer = "\n".join(str(answer[key]) for key in _ANSWERS if isinstance(answer.get(key), str))
    return answer if isinstance(answer, str) else ""


TOLD = (
    "vademecum search finds code by meaning: for a question in words, the tool `search` of the MCP server `vademecum` "
    "(in a shell, `vade search`) finds what grep cannot. Grep stays right for exact strings."
)
SUBAGENT = (
    "Where you have the tools of the MCP server `vademecum`: `search` finds code by meaning, and `symbol` with relation "
    "`impact` says who calls a function, what may break and which tests to run."
)
FOLDER = "hints"  # below the data directory: an empty file for each text that a session was told
KEPT_S = 7 * 86_400.0  # sessions are shorter than this
_GREPS = {"rg", "grep", "egrep", "ag", "ack"}
_WITH_VALUE = {"-A", "-B", "-C", "-m", "-g", "-t", "-T", "--glob", "--type", "--include", "--exclude", "--exclude-dir"}
# At least three words: two words are just as often a name or part of a message in the code.
_PROSE = re.compile(r"[A-Za-z][a-z'-]*(?:,? [A-Za-z][a-z'-]*){2,}\??")


def is_prose(pattern: str) -> bool:
    """Return whether a pattern is plain words, not regex or code.

    >>> is_prose("where are retries limited"), is_prose("def retry"), is_prose("retry.*limit of calls"), is_prose("a_b c d")
    (True, False, False, False)
    """
    return _PROSE.fullmatch(pattern.strip()) is not None


def pattern_of(said: Mapping[str, Any]) -> str:
    """Return the search pattern in a tool call; "" for other calls.

    >>> pattern_of({"tool_name": "Bash", "tool_input": {"command": "rg -n 'token budget split' src | head"}})
    'token budget split'
    """
    given = said.get("tool_input")
    if not isinstance(given, Mapping):
        return ""
    pattern, command = given.get("pattern"), given.get("command")
    if isinstance(pattern, str):
        return pattern
    if isinstance(command, list):
        return _of_words([str(word) for word in command])
    import shlex

    with suppress(ValueError):  # raised by unbalanced quotes
        return _of_words(shlex.split(command)) if isinstance(command, str) else ""
    return ""


def is_first(home: Path, told: str) -> bool:
    """Return whether something was not told yet, and mark it.

    `told` names the session, and the text where there are several.
    """
    import hashlib

    folder = home / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / hashlib.sha256(told.encode()).hexdigest()[:32]
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    for old in folder.iterdir():
        with suppress(OSError):
            if old.stat().st_mtime < time.time() - KEPT_S:
                old.unlink()
    return True


def _of_words(words: list[str]) -> str:
    """Return the pattern of a search command, "" for any other command."""
    if words[:2] == ["git", "grep"]:
        words = words[1:]
    if not words or os.path.basename(words[0]) not in _GREPS:
        return ""
    rest = iter(words[1:])
    for word in rest:
        if word in {"-e", "--regexp"}:
            return next(rest, "")
        if word in _WITH_VALUE:
            next(rest, "")
        elif not word.startswith("-"):
            return word
    return ""


LOG = "hooks.log"
RUNS = "hooks.runs"  # a line for each run: name, outcome, seconds
MOST_LOG_BYTES = 256_000
MOST_CHECKED = 100  # the latest runs
WELL = 0.9  # of them end in time, or something is wrong
DEADLINE_S = 1.5
INPUT_S = 0.5  # longest wait for input, because some agents keep the pipe open
MOST_INPUT_BYTES = 1_000_000
BUSY_S = 0.2
CATCH_UP = "catch-up"  # the process that `stop` starts
CATCH_UP_S = 600.0
LOCK = "sync.lock"  # held by the process that catches up
AGAIN = "sync.again"  # a mark that new messages may have come since that process began
NICENESS = 10
# Hook → events of agents that call it
EVENTS: Mapping[str, tuple[str, ...]] = {
    "session-start": ("SessionStart",),
    "subagent-start": ("SubagentStart",),
    "prompt": ("UserPromptSubmit", "BeforeAgent"),
    "stop": ("Stop", "SessionEnd", "AfterAgent"),
    "tool": ("PreToolUse", "PostToolUseFailure", "PostToolUse", "AfterTool"),
    "compact": ("PreCompact",),
    "heard": (),
    "hint": ("PreToolUse", "AfterTool"),
}


def main(arguments: Sequence[str]) -> int:
    """Answer one hook; always 0."""
    name = arguments[0] if arguments else ""
    limit = _limit(name, CATCH_UP_S if name == CATCH_UP else deadline(os.environ.get("VADE_HOOK_S", "")))
    started, outcome = time.monotonic(), "failed"
    try:
        if name == CATCH_UP:
            catch_up(os.getcwd(), arguments[1] if len(arguments) > 1 else "")
        else:
            answer(name, read_input(sys.stdin.fileno()), arguments[1] if len(arguments) > 1 else "")
        outcome = "done"
    except Exception as error:  # noqa: BLE001 -- one of the marked edges: a failed hook must not stop the agent
        note(f"{name}: {type(error).__name__}: {error}")
    finally:
        limit.cancel()
        count_run(name, outcome, time.monotonic() - started)
    return 0


def answer(name: str, said: Mapping[str, Any], agent: str = "") -> None:
    """Run a hook, print its text. Raises `KeyError` for another name."""
    events = EVENTS[name]
    directory = directory_of(said)
    if name in {"stop", "compact"} or (name == "heard" and keep(said, agent, directory)):
        start_catching_up(directory)
    if name in {"stop", "heard"}:
        return
    told = hint(said, directory) if name == "hint" else context(name, said, directory)
    if told and name == "compact":  # Claude Code appends plain text to what it asks of the summary
        sys.stdout.write(told + "\n")
    elif told:
        event = said.get("hook_event_name")
        known = str(event if event in events else events[0])
        sys.stdout.write(json.dumps(in_form(agent, known, told)) + "\n")
        sys.stdout.flush()


def directory_of(said: Mapping[str, Any]) -> str:
    """Return the directory of the agent's work: some hooks run elsewhere."""
    roots = said.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    return str(said.get("cwd") or first or os.environ.get("CURSOR_PROJECT_DIR") or os.getcwd())


def in_form(agent: str, event: str, told: str) -> dict[str, Any]:
    """Return a text in the form an agent reads.

    >>> in_form("cursor", "SessionStart", "Tabs.")
    {'additional_context': 'Tabs.'}
    """
    if agent == "cursor":
        return {"additional_context": told}
    common = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": told}}
    # VS Code and Copilot CLI read one file of hooks: VS Code takes the form of Claude Code, Copilot CLI the bare key.
    return common | {"additionalContext": told} if agent == "copilot" else common


def keep(said: Mapping[str, Any], agent: str, directory: str) -> bool:
    """Store a message in the inbox; return whether it was an answer.

    After an answer there is time to catch up.
    """
    from vademecum import config
    from vademecum.code.checkout.root import find_root
    from vademecum.hooks.inbox import keep as keep_message

    if not find_root(directory).common_dir:
        return False
    return keep_message(said, agent, directory, config.load(directory).home) == "assistant"


def hint(said: Mapping[str, Any], directory: str) -> str:
    """Return the hint for an agent's search, "" for none."""
    from vademecum import config

    session = str(said.get("session_id") or "")
    is_due = is_prose(pattern_of(said)) and session and is_first(config.load(directory).home, session)
    return TOLD if is_due else ""


def context(name: str, said: Mapping[str, Any], directory: str) -> str:
    """Return the memory for an agent, "" for none."""
    from vademecum import config
    from vademecum.code.checkout.root import find_root
    from vademecum.memory.brief import Brief
    from vademecum.memory.labels import LANGUAGES

    settings, root, session = config.load(directory), find_root(directory), str(said.get("session_id") or "")
    with ExitStack() as opened:
        stores = open_stores(root, settings, opened)
        wording = LANGUAGES[settings.memory.language]
        brief = Brief(stores, wording, time.time, settings.memory.context_tokens)
        if name == "prompt":
            return brief.answering(str(said.get("prompt") or ""))
        if name == "compact":
            kept = brief.surviving(session)
            return f"{wording.survives}\n\n{kept}" if kept else ""
        if name == "tool":
            told = _about_call(brief, said, root.path, directory)
            return told if told and session and is_first(settings.home, f"{session}\0{told}") else ""

        again = brief.surviving(session) if said.get("source") == "compact" else ""
        return "\n\n".join(filter(None, (SUBAGENT if name == "subagent-start" else "", brief.opening(), again)))


def _about_call(brief: Brief, said: Mapping[str, Any], root: str, directory: str) -> str:
    """Return the memory about the files or the error of a call."""
    files = files_of(said, root, directory)
    return brief.about(files) if files else brief.after_error(error_of(said))


def open_stores(root: Root, settings: Settings, opened: ExitStack) -> list[Store]:
    """Open existing memory databases, the repository's first; never create one."""
    from vademecum.wiring.stores import Stores

    kept = Stores(settings)
    stores: list[Store] = []
    for of in (*((root,) if root.common_dir else ()), None):
        if kept.has_memory(of):
            stores.append(kept.memory(of, busy_seconds=BUSY_S))
            opened.callback(stores[-1].close)
    return stores


def start_catching_up(directory: str) -> None:
    """Start reading the transcript in a separate process.

    The agent neither owns nor waits for that process. If one already runs, none is started: the running process finds the
    mark left here and checks once more before it ends. The mark is set before the lock is tried, and checked after the
    lock is released, so one of the two processes always sees the other. The new process inherits the lock, so no second
    one can start in between.
    """
    from vademecum.private import claim

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
    with held:  # Windows inherits no lock, and would open a console for the process
        inherited = () if sys.platform == "win32" else (held.fileno(),)
        subprocess.Popen([*command, *map(str, inherited)], cwd=directory, stdin=nothing, stdout=nothing, stderr=nothing,
                         start_new_session=True, pass_fds=inherited,
                         creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0))  # fmt: skip


def place_of_catching_up(directory: str) -> Path | None:
    """Return the folder of the catch-up lock, None outside of git."""
    from vademecum import config
    from vademecum.code.checkout.root import find_root, index_directory

    root = find_root(directory)
    return index_directory(config.load(directory).home, root) if root.common_dir else None


def catch_up(directory: str, handle: str = "") -> None:
    """Record new messages, unless another process does.

    Once a day it also consolidates the memory. Raises the errors of `Memory.sync`.

    `handle` is the file handle of the lock if the starting process holds it; "" to take the lock here.
    """
    step_back()
    from vademecum import config
    from vademecum.code.checkout.root import find_root, worktrees
    from vademecum.engine import Engine
    from vademecum.hooks.inbox import take_in
    from vademecum.private import claim

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
    """Lower the priority of this process and its group.

    On Linux a process with its own session is a scheduling group, which gets as much of the machine as any other group,
    regardless of nice values inside. So the group gets a nice value too.
    """
    import gc

    gc.enable()  # off in hooks, but this process may read much
    with suppress(OSError):
        if sys.platform != "win32":
            os.nice(NICENESS)
    with suppress(OSError), open("/proc/self/autogroup", "w", encoding="ascii") as group:
        group.write(str(NICENESS))


def read_input(handle: int) -> dict[str, Any]:
    """Return the JSON object on an open pipe, {} after a timeout."""
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


def deadline(given: str) -> float:
    """Return the seconds that a hook may take.

    >>> deadline("10"), deadline("soon"), deadline("-1")
    (10.0, 1.5, 1.5)
    """
    with suppress(ValueError):
        if 0 < float(given) <= CATCH_UP_S:
            return float(given)
    return DEADLINE_S


def _limit(name: str, seconds: float) -> threading.Timer:
    """End the process after a time, so that no agent waits longer."""

    def stop() -> None:
        note(f"{name}: stopped after {seconds:g} s")
        count_run(name, "stopped", seconds)
        os._exit(0)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    return timer


def count_run(name: str, outcome: str, seconds: float) -> None:
    """Log a run: the process has ended when metrics are read."""
    with suppress(Exception):
        from vademecum import config

        path = config.load().home / RUNS
        if path.parent.exists() and (name == CATCH_UP or name in EVENTS):  # a hook does not create the data directory
            _append(path, f"{name} {outcome} {seconds:.6f}\n")


def check_runs(home: Path) -> list[Check]:
    """Check how the latest hooks ended; [] before the first."""
    from vademecum.amounts import counted
    from vademecum.types import Check

    path = home / RUNS
    lines = path.read_text(encoding="ascii", errors="replace").splitlines()[-MOST_CHECKED:] if path.exists() else []
    ended = [line.split(" ")[1] for line in lines if line.count(" ") == 2]
    bad = [f"{ended.count(how)} {how}" for how in ("stopped", "failed") if how in ended]
    ok = ended.count("done") >= WELL * len(ended)
    said = f"{counted(len(ended), 'run')} looked at: {', '.join(bad) or 'all ended in time'}"
    fix = f"{home / LOG} says why; on a slow machine let them take longer with VADE_HOOK_S=5"
    return [Check("hooks of agents", ok, said, "" if ok else fix)] if ended else []


def note(problem: str) -> None:
    """Write a line to the log; ignore errors."""
    with suppress(Exception):
        from vademecum import config

        path = config.load().home / LOG
        private_folder(path.parent)
        _append(path, f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {' '.join(problem.split())[:500]}\n")


def _append(path: Path, line: str) -> None:
    if path.exists() and path.stat().st_size > MOST_LOG_BYTES:
        path.replace(path.with_name(f"{path.name}.1"))
    with open(path, "a", encoding="utf-8", errors="replace", opener=private_opener) as file:
        file.write(line)

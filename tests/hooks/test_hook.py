"""Hooks of coding agents: they say what is known, in the agents' form, and nothing stops an agent's work."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from vademecum import config
from vademecum.engine import Engine
from vademecum.hooks.hook import AGAIN, CATCH_UP, DEADLINE_S, LOCK, LOG, MOST_LOG_BYTES, RUNS, note
from vademecum.hooks.inbox import FOLDER, keep, take_in
from vademecum.index.tokenize import estimated_tokens
from vademecum.memory.brief import MOST_TOLD_TOKENS
from vademecum.private import claim

SAID = [
    "We decided to use SQLite over Postgres because there is one writer.",
    "Always run make lint before committing.",
    "TODO: write the migration guide",
    "I prefer small functions over long ones.",
    "The staging server is at 10.0.0.4.",
]


class Place:
    """A repository, a data directory, and the command that an agent would run."""

    def __init__(self, tmp_path: Path) -> None:
        self.root = (tmp_path / "app").resolve()
        self.home = tmp_path / "data"
        self.root.mkdir()
        subprocess.run(["git", "init", "-q", "-b", "main", str(self.root)], check=True)
        (tmp_path / "user").mkdir()
        self.environ = {
            **os.environ,
            "VADE_HOME": str(self.home),
            "HOME": str(tmp_path / "user"),
            "VADE_SEARCH__EMBEDDER": "hashing",
        }

    def remember(self, *said: str) -> None:
        settings = config.load(environ={"VADE_HOME": str(self.home)}, arguments={"search.embedder": "hashing"})
        with Engine.open(str(self.root), settings=settings) as engine:
            for text in said:
                engine.memory.record(text, role="user")

    def hook(
        self, name: str, said: Any = None, *, raw: bytes | None = None, agent: str = "", **more: str
    ) -> subprocess.CompletedProcess[bytes]:
        content = (
            json.dumps({"session_id": "s", "cwd": str(self.root), **(said or {})}).encode() if raw is None else raw
        )
        command = [sys.executable, "-m", "vademecum", "memory", "hook", name, *([agent] if agent else [])]
        return subprocess.run(
            command, input=content, capture_output=True, timeout=60, env=self.environ | more, check=False
        )

    def doctor(self) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "vademecum", "doctor"]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, env=self.environ, cwd=self.root, check=False
        )

    @property
    def log(self) -> str:
        path = self.home / LOG
        return path.read_text(encoding="utf-8") if path.exists() else ""


def told(done: subprocess.CompletedProcess[bytes]) -> str:
    """What an agent would be told."""
    assert done.returncode == 0
    assert done.stderr == b""
    if not done.stdout:
        return ""
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert set(output) == {"hookEventName", "additionalContext"}
    return str(output["additionalContext"])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_session_opens_with_what_holds_and_what_is_left(place: Place) -> None:
    """Preferences and instructions first, then decisions, then open work."""
    place.remember(*SAID)
    text = told(place.hook("session-start", {"hook_event_name": "SessionStart", "source": "startup"}))
    headings = [line for line in text.splitlines() if line.startswith("###")]
    assert headings == ["### Active preferences", "### Relevant knowledge", "### Left open"]
    assert "Always run make lint before committing." in text
    assert "SQLite over Postgres" in text
    assert "migration guide" in text


@pytest.mark.parametrize(
    ("event", "named"),
    [("UserPromptSubmit", "UserPromptSubmit"), ("BeforeAgent", "BeforeAgent"), ("Odd", "UserPromptSubmit")],
)
def test_a_message_brings_what_concerns_it(place: Place, event: str, named: str) -> None:
    """In the form of whichever agent asks; what does not concern it stays out."""
    place.remember(*SAID)
    done = place.hook("prompt", {"hook_event_name": event, "prompt": "can we move the store from sqlite to postgres?"})
    assert json.loads(done.stdout)["hookSpecificOutput"]["hookEventName"] == named
    text = told(done)
    assert "SQLite over Postgres" in text
    assert "staging" not in text
    assert told(place.hook("prompt", {"prompt": "make the button blue"})) == ""


def test_a_hook_that_takes_too_long_ends_in_silence(place: Place) -> None:
    """The agent goes on with exit code 0; the log says when the hook was stopped, and who can wait says how long."""
    place.remember(*SAID)
    said = {"hook_event_name": "SessionStart", "source": "startup"}
    assert told(place.hook("session-start", said, VADE_HOOK_S="0.001")) == ""
    assert "session-start: stopped after 0.001 s" in place.log
    assert "make lint" in told(place.hook("session-start", said, VADE_HOOK_S="60"))


def test_doctor_says_how_hooks_ended(place: Place) -> None:
    """An agent that is told nothing shows nothing; before the first hook there is nothing to say."""
    place.remember(*SAID)
    assert "hooks of agents" not in place.doctor().stdout
    place.hook("session-start", VADE_HOOK_S="60")
    checked = place.doctor()
    assert (checked.returncode, "1 run looked at: all ended in time" in checked.stdout) == (0, True)
    place.hook("session-start", VADE_HOOK_S="0.001")
    checked = place.doctor()
    assert (checked.returncode, "2 runs looked at: 1 stopped" in checked.stdout) == (3, True)
    assert "VADE_HOOK_S" in checked.stdout


def test_a_session_that_was_compacted_is_told_again(place: Place) -> None:
    """What holds reaches the model again when the client has cut its context down."""
    place.remember(*SAID)
    said = {"hook_event_name": "SessionStart", "source": "compact"}
    assert "Always run make lint before committing." in told(place.hook("session-start", said))


def test_a_subagent_is_told_what_holds_and_what_finds_code(place: Place) -> None:
    """Preferences and decisions as a session's, under the event's own name; where nothing is known, the tools alone."""
    said = {"hook_event_name": "SubagentStart", "agent_id": "a", "agent_type": "Explore"}
    assert "`impact`" in told(place.hook("subagent-start", said))
    place.remember(*SAID)
    done = place.hook("subagent-start", said)
    assert json.loads(done.stdout)["hookSpecificOutput"]["hookEventName"] == "SubagentStart"
    assert "`search`" in told(done)
    assert "Always run make lint before committing." in told(done)


GREP = {"hook_event_name": "PreToolUse", "tool_name": "Grep", "tool_input": {"pattern": "where are retries limited"}}


def bash(command: Any, event: str = "PreToolUse", name: str = "Bash") -> dict[str, Any]:
    return {"hook_event_name": event, "tool_name": name, "tool_input": {"command": command}}


@pytest.mark.parametrize(
    "said",
    [
        GREP,
        bash("rg -n -i -g '*.py' 'where are retries limited' src | head -20"),
        bash("git grep -e 'where are retries limited'"),
        bash(["/usr/bin/grep", "-rn", "where are retries limited?", "."]),
        bash("grep -r 'where are retries limited' .", "AfterTool", "run_shell_command"),
    ],
)
def test_an_agent_that_greps_for_prose_is_told_once(place: Place, said: dict[str, Any]) -> None:
    """Once in a session, whatever tool searches; nothing in the answer blocks the call or decides about it."""
    done = place.hook("hint", said)
    assert "finds code by meaning" in told(done)
    assert json.loads(done.stdout)["hookSpecificOutput"]["hookEventName"] == said["hook_event_name"]
    assert told(place.hook("hint", said)) == ""
    assert "finds code by meaning" in told(place.hook("hint", {**said, "session_id": "another"}))
    kept = list((place.home / "hints").iterdir())
    assert len(kept) == 2
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept)


@pytest.mark.parametrize(
    "said",
    [
        {**GREP, "tool_input": {"pattern": "retries limited"}},
        {**GREP, "tool_input": {"pattern": "def retry_with_backoff of call"}},
        {**GREP, "tool_input": {"pattern": "where are .* limited"}},
        {**GREP, "tool_input": "where are retries limited"},
        {**GREP, "tool_input": None},
        {**GREP, "session_id": ""},
        bash("echo where are retries limited"),
        bash("rg 'where are retries"),
        bash("rg"),
        bash(""),
        bash(7),
        {},
    ],
)
def test_an_agent_that_greps_for_code_is_told_nothing(place: Place, said: dict[str, Any]) -> None:
    """Patterns, names, short strings, other commands and whatever is malformed: no word, no failure, nothing logged."""
    assert told(place.hook("hint", said)) == ""
    assert place.log == ""


def edits(path: str, agent: str) -> dict[str, Any]:
    """A call that edits a file, as an agent says it before, or Gemini CLI after."""
    if agent == "codex":
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch"
        return {"hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"command": patch}}
    if agent == "gemini":
        return {"hook_event_name": "AfterTool", "tool_name": "replace", "tool_input": {"file_path": path}}
    return {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": path, "new_string": "b"}}


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_before_an_edit_an_agent_is_told_what_is_known_about_the_file(place: Place, agent: str) -> None:
    """What is limited to it or names it, once in a session; of another file, and outside of the repository, nothing."""
    place.remember(
        "Never edit src/schema.sql by hand, it is generated.",
        "In docs/ always write plain English.",
        "We decided to use SQLite over Postgres because there is one writer.",
    )
    said = edits("src/schema.sql" if agent == "codex" else str(place.root / "src" / "schema.sql"), agent)
    done = place.hook("tool", said)
    text = told(done)
    assert json.loads(done.stdout)["hookSpecificOutput"]["hookEventName"] == said["hook_event_name"]
    assert text.startswith("### About src/schema.sql\n- Never edit src/schema.sql by hand, it is generated.")
    assert "English" not in text
    assert "SQLite" not in text
    assert told(place.hook("tool", said)) == ""
    assert told(place.hook("tool", {**said, "session_id": "another"})) == text
    assert "plain English" in told(place.hook("tool", edits(str(place.root / "docs" / "index.md"), agent)))
    assert told(place.hook("tool", edits(str(place.root / "src" / "app.py"), agent))) == ""
    assert told(place.hook("tool", edits("/elsewhere/src/schema.sql", agent))) == ""
    assert estimated_tokens(text) <= MOST_TOLD_TOKENS


ERROR = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'yaml'"
COMMAND = {"tool_name": "Bash", "tool_input": {"command": "python tool.py"}}


def worked(place: Place) -> None:
    """A session in which a command failed, and passed after another."""
    steps = [
        ("command", "python tool.py", {}), ("output", ERROR, {"failed": True}),
        ("command", "pip install pyyaml", {}), ("command", "python tool.py", {}), ("output", "done", {}),
    ]  # fmt: skip
    settings = config.load(environ={"VADE_HOME": str(place.home)}, arguments={"search.embedder": "hashing"})
    with Engine.open(str(place.root), settings=settings) as engine:
        for number, (role, text, metadata) in enumerate(steps):
            engine.memory.record(text, role=role, session="old", at=1_760_000_000.0 + number, metadata=metadata)


@pytest.mark.parametrize(
    "said",
    [
        {"hook_event_name": "PostToolUseFailure", "error": f"Exit code 1\n{ERROR}"},
        {"hook_event_name": "PostToolUse", "tool_response": f"{ERROR}\n"},
        {
            "hook_event_name": "AfterTool",
            "tool_response": {"llmContent": f"Output: (empty)\nError: {ERROR}\nExit Code: 1"},
        },
    ],
)
def test_after_a_failed_command_an_agent_is_told_what_ended_the_error(place: Place, said: dict[str, Any]) -> None:
    """In the form of Claude Code, Codex and Gemini CLI; nothing for another error, nor where a person stopped it."""
    worked(place)
    done = place.hook("tool", {**COMMAND, **said})
    assert "no longer after `pip install pyyaml`" in told(done)
    assert json.loads(done.stdout)["hookSpecificOutput"]["hookEventName"] == said["hook_event_name"]
    assert told(place.hook("tool", {**COMMAND, **said})) == ""
    assert told(place.hook("tool", {**COMMAND, **said, "session_id": "b", "is_interrupt": True})) == ""
    other = json.loads(json.dumps({**COMMAND, **said, "session_id": "c"}).replace("'yaml'", "'toml'"))
    assert told(place.hook("tool", other)) == ""
    assert place.log == ""


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"tool_input": None},
        {"tool_input": {"file_path": 7}},
        {**COMMAND, "tool_response": [1]},
        {**COMMAND, "error": 3},
    ],
)
def test_a_call_that_says_nothing_known_is_let_go(place: Place, said: dict[str, Any]) -> None:
    """Whatever is malformed: no word, no failure, nothing logged."""
    place.remember(*SAID)
    assert told(place.hook("tool", said)) == ""
    assert place.log == ""


def test_what_was_said_in_a_session_survives_its_compaction(place: Place) -> None:
    """As plain words for the summary, and again for the session that goes on; what others said is not among it."""
    settings = config.load(environ={"VADE_HOME": str(place.home)}, arguments={"search.embedder": "hashing"})
    with Engine.open(str(place.root), settings=settings) as engine:
        engine.memory.record("We decided to name the store after the river.", role="user", session="s")
        engine.memory.record("We decided to paint the barn green.", role="user", session="another")
    done = place.hook("compact", {"hook_event_name": "PreCompact", "trigger": "auto"})
    assert done.stdout.decode().startswith(
        "Keep in the summary, word for word:\n\n### Said in this session\n- We decided to name"
    )
    assert b"barn" not in done.stdout
    again = told(place.hook("session-start", {"hook_event_name": "SessionStart", "source": "compact"}))
    assert again.endswith("### Said in this session\n- We decided to name the store after the river.")
    assert place.hook("compact", {"session_id": "unknown"}).stdout == b""


def test_old_sessions_are_forgotten_by_hints(place: Place) -> None:
    """The mark of a session that was told goes after a week."""
    place.hook("hint", GREP)
    (mark,) = (place.home / "hints").iterdir()
    os.utime(mark, (1, 1))
    place.hook("hint", {**GREP, "session_id": "new"})
    assert mark not in list((place.home / "hints").iterdir())


def test_the_headings_speak_the_language_that_is_set(place: Place) -> None:
    """The setting decides."""
    place.remember("Je préfère les fonctions courtes.")
    text = told(place.hook("session-start", VADE_MEMORY__LANGUAGE="fr"))
    assert text.startswith("### Préférences actives")


def test_no_more_tokens_than_set(place: Place) -> None:
    """The cap is hard, whatever is known."""
    place.remember(
        *(f"We decided to name module number {n} after the {n}th river, because rivers flow." for n in range(40))
    )
    for name, said in (
        ("session-start", None),
        ("prompt", {"prompt": "did we decide to name module number 7 after the 7th river?"}),
    ):
        text = told(place.hook(name, said, VADE_MEMORY__CONTEXT_TOKENS="60"))
        assert 0 < estimated_tokens(text) <= 60


@pytest.mark.parametrize(
    ("agent", "way"), [("cursor", ["additional_context"]), ("copilot", ["additionalContext"]), ("copilot", [])]
)
def test_an_agent_that_is_named_is_told_in_its_form(place: Place, agent: str, way: list[str]) -> None:
    """Cursor takes `additional_context`, Copilot CLI a bare one, VS Code, which reads the same file, that of Claude Code."""
    place.remember(*SAID)
    said = {"cwd": None, "workspace_roots": [str(place.root)], "hook_event_name": "sessionStart"}
    done = place.hook("session-start", said, agent=agent)
    assert (done.returncode, done.stderr) == (0, b"")
    text = json.loads(done.stdout)
    for key in way or ["hookSpecificOutput", "additionalContext"]:
        text = text[key]
    assert "Always run make lint" in text


HEARD = [
    ("cursor", {"hook_event_name": "beforeSubmitPrompt", "conversation_id": "c", "prompt": "Never use tabs here."}),
    (
        "windsurf",
        {
            "agent_action_name": "pre_user_prompt",
            "trajectory_id": "c",
            "tool_info": {"user_prompt": "Never use tabs here."},
        },
    ),
    ("copilot", {"hook_event_name": "UserPromptSubmit", "session_id": "c", "prompt": "Never use tabs here."}),
]
ANSWERS = {
    "cursor": ("heard", {"hook_event_name": "afterAgentResponse", "conversation_id": "c", "text": "Spaces it is."}),
    "windsurf": (
        "heard",
        {
            "agent_action_name": "post_cascade_response",
            "trajectory_id": "c",
            "tool_info": {"response": "Spaces it is."},
        },
    ),
    "copilot": ("stop", {"hook_event_name": "Stop", "session_id": "c"}),
}


@pytest.mark.parametrize(("agent", "message"), HEARD, ids=[agent for agent, _ in HEARD])
def test_what_an_agent_without_transcripts_hears_is_remembered(
    place: Place, agent: str, message: dict[str, Any]
) -> None:
    """A prompt is kept in a file, the end of the answer brings it into memory; the files are gone and it is not there twice."""
    roots = {"workspace_roots": [str(place.root)]}
    done = place.hook("heard", message | roots, agent=agent)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    folder = place.home / FOLDER
    (kept,) = folder.iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    name, answer = ANSWERS[agent]
    assert place.hook(name, answer | roots, agent=agent).stdout == b""
    until = time.monotonic() + 60
    while time.monotonic() < until and list(folder.iterdir()):
        time.sleep(0.2)
    assert list(folder.iterdir()) == []
    assert "Never use tabs here." in told(place.hook("session-start"))
    with sqlite3.connect(next((place.home / "repos").rglob("memory.db"))) as db:
        rows = db.execute("SELECT role, text, session FROM events ORDER BY at").fetchall()
    db.close()
    heard = [("user", "Never use tabs here.", "c"), ("assistant", "Spaces it is.", "c")]
    assert rows == heard[: 1 if agent == "copilot" else 2]


def test_what_is_heard_waits_for_its_own_repository(place: Place, tmp_path: Path) -> None:
    """Catching up elsewhere leaves it; what nobody wrote there goes; a crash before a file went repeats nothing."""
    message = {"hook_event_name": "beforeSubmitPrompt", "prompt": "Never use tabs here."}
    place.hook("heard", message, agent="cursor")
    (kept,) = (place.home / FOLDER).iterdir()
    content = kept.read_bytes()
    (place.home / FOLDER / "0-0.json").write_text("[]", encoding="utf-8")
    recorded: list[str] = []
    take_in(place.home, [str(tmp_path / "other")], lambda events: recorded.extend(each.id for each in events))
    assert (recorded, [path.name for path in (place.home / FOLDER).iterdir()]) == ([], [kept.name])
    for _ in range(2):
        kept.write_bytes(content)
        take_in(place.home, [str(place.root)], lambda events: recorded.extend(each.id for each in events))
        assert not kept.exists()
    assert len(recorded) == 2
    assert len(set(recorded)) == 1


def test_a_secret_that_is_heard_is_never_written(place: Place) -> None:
    """Not even into the file that waits to be taken in."""
    place.home.mkdir()
    key = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    message = {"hook_event_name": "beforeSubmitPrompt", "conversation_id": "c", "prompt": f"My token is {key}."}
    place.hook("heard", message, agent="cursor")
    (kept,) = (place.home / FOLDER).glob("*")
    assert "My token is" in kept.read_text(encoding="utf-8")
    assert key not in kept.read_text(encoding="utf-8")


def test_what_finds_no_room_is_said_in_the_log(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond so many messages that nobody takes in the next is not kept, and the log says so and what helps."""
    monkeypatch.setattr("vademecum.hooks.inbox.MOST_FILES", 1)
    said = {"hook_event_name": "beforeSubmitPrompt", "prompt": "Always use tabs.", "conversation_id": "c"}
    assert keep(said, "cursor", str(place.root), place.home) == "user"
    with pytest.raises(OSError, match=r"1 messages wait in .*vade memory sync"):
        keep(said, "cursor", str(place.root), place.home)
    assert len(list((place.home / FOLDER).iterdir())) == 1


def test_what_was_never_finished_goes(place: Place) -> None:
    """A file whose writer was killed is removed after an hour, one that is being written stays."""
    folder = place.home / FOLDER
    folder.mkdir(parents=True)
    for name, age in (("1-1.part", 7200), ("2-2.part", 0)):
        (folder / name).write_text("{")
        os.utime(folder / name, (time.time() - age,) * 2)
    take_in(place.home, [str(place.root)], list)
    assert [path.name for path in folder.iterdir()] == ["2-2.part"]


def test_nothing_is_heard_outside_of_a_repository(place: Place, tmp_path: Path) -> None:
    """Nor is there a place made for it."""
    message = {"hook_event_name": "beforeSubmitPrompt", "prompt": "x", "cwd": str(tmp_path)}
    assert place.hook("heard", message, agent="cursor").returncode == 0
    assert not place.home.exists()


def test_nothing_known_is_nothing_said_and_nothing_made(place: Place) -> None:
    """Asking makes no database."""
    for name in ("session-start", "prompt"):
        assert told(place.hook(name, {"prompt": "what did we decide?"})) == ""
    assert not place.home.exists()
    assert place.log == ""


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("prompt", b""),
        ("prompt", b"not json"),
        ("prompt", b"[1, 2]"),
        ("prompt", b'{"cwd": 5, "prompt": {"a": 1}}'),
        ("prompt", b'{"cwd": "/nowhere/at/all", "prompt": "x"}'),
        ("prompt", b"{" * 100_000),
        ("session-start", b"\xff\xfe\x00}"),
        ("stop", b'{"cwd": "/nowhere/at/all"}'),
        ("heard", b'{"cwd": "/nowhere/at/all", "hook_event_name": "beforeSubmitPrompt", "prompt": "x"}'),
        ("heard", b'{"workspace_roots": {}, "hook_event_name": ["beforeSubmitPrompt"], "prompt": 3}'),
        ("no-such-hook", b"{}"),
    ],
)
def test_whatever_comes_in_it_ends_well(place: Place, name: str, raw: bytes) -> None:
    """Exit code 0 and nothing that an agent would take for an answer."""
    done = place.hook(name, raw=raw)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_problem_is_a_line_in_the_log(place: Place) -> None:
    """The agent is told nothing; whoever looks for it finds it."""
    place.remember(*SAID)
    database = next(place.home.glob("repos/*/memory.db"))
    database.write_bytes(b"this is no database" * 100)
    assert told(place.hook("prompt", {"prompt": "sqlite or postgres?"})) == ""
    assert "prompt: StoreCorruptError" in place.log
    (place.root / ".vade.toml").write_text("[memory]\nlanguage = 3\n", encoding="utf-8")
    assert told(place.hook("session-start")) == ""
    assert "ConfigError" in place.log


def test_a_locked_database_is_not_waited_for(place: Place) -> None:
    """Another process holds it for writing, exclusively: the hook says nothing and ends."""
    place.remember(*SAID)
    database = next(place.home.glob("repos/*/memory.db"))
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("PRAGMA locking_mode=EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    try:
        done = place.hook("prompt", {"prompt": "sqlite or postgres?"})
    finally:
        holder.close()
    assert done.returncode == 0


def test_a_pipe_that_stays_open_is_not_waited_for(place: Place) -> None:
    """The answer comes once the object is whole, and without one the hook gives up."""
    place.remember(*SAID)
    command = [sys.executable, "-m", "vademecum", "memory", "hook", "prompt"]
    for content, answered in (
        (json.dumps({"cwd": str(place.root), "prompt": "sqlite or postgres?"}), True),
        ('{"cwd": ', False),
    ):
        running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=place.environ)
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(content.encode())
        running.stdin.flush()
        assert running.wait(timeout=60) == 0  # while the pipe is open still
        assert bool(running.stdout.read()) is answered
        running.stdin.close()
        running.stdout.close()


@pytest.fixture
def transcript(place: Place) -> Path:
    """Where Claude Code writes what is said in the repository."""
    folder = "".join(c if c.isalnum() and c.isascii() else "-" for c in str(place.root))
    path = Path(place.environ["HOME"], ".claude", "projects", folder, "s.jsonl")
    path.parent.mkdir(parents=True)
    return path


def say(transcript: Path, place: Place, text: str, minute: int) -> None:
    line = {
        "type": "user",
        "cwd": str(place.root),
        "sessionId": "s",
        "timestamp": f"2026-03-01T10:{minute:02}:00Z",
        "message": {"content": text},
    }
    with transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def until(condition: Any) -> bool:
    """Wait for what happens in the background, a minute at most."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def caught_up(place: Place) -> list[str]:
    """How each process in the background ended."""
    path = place.home / RUNS
    lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
    return [line.split()[1] for line in lines if line.startswith(CATCH_UP)]


def test_stop_takes_the_transcript_in_behind_the_agents_back(place: Place, transcript: Path) -> None:
    """It ends at once; what the agent wrote is in memory a little later."""
    say(transcript, place, "Never use tabs here.", 0)
    assert told(place.hook("stop", {"hook_event_name": "Stop", "transcript_path": str(transcript)})) == ""
    assert until(lambda: caught_up(place) == ["done"])
    assert "Never use tabs here." in told(place.hook("session-start"))
    database = next((place.home / "repos").rglob("memory.db"))
    assert kept_house(database), "once a day it keeps house too"


def test_stop_runs_nothing_of_the_repository(place: Place, transcript: Path, tmp_path: Path) -> None:
    """A module of it that is called as one of Python's own, or ours, is never imported."""
    marks = tmp_path / "marks"
    for name in ("click", "html", "json", "vademecum"):
        (place.root / f"{name}.py").write_text(f"open({str(marks)!r}, 'a').write(__name__)\n", encoding="utf-8")
    say(transcript, place, "Never use tabs here.", 0)
    assert told(place.hook("stop", {"hook_event_name": "Stop", "transcript_path": str(transcript)})) == ""
    assert until(lambda: marks.exists() or caught_up(place) == ["done"])
    assert not marks.exists()


def test_stop_starts_one_process_at_a_time_and_loses_nothing(place: Place, transcript: Path) -> None:
    """While one is at it no other is started, and it looks once more before it goes: what was said meanwhile is kept."""
    place.remember("The staging server is at 10.0.0.4.")
    database = next((place.home / "repos").rglob("memory.db"))
    say(transcript, place, "Never use tabs here.", 0)
    writer = sqlite3.connect(database, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")  # the process that is started cannot get on
    place.hook("stop")
    lock = next((place.home / "repos").rglob(LOCK))
    assert until(lambda: not lock.with_name(AGAIN).exists()), "it has begun"
    for minute in range(1, 6):
        say(transcript, place, f"Always name ship number {minute} after a river.", minute)
        place.hook("stop")
    assert lock.with_name(AGAIN).exists()
    writer.execute("COMMIT")
    writer.close()
    assert until(lambda: caught_up(place) == ["done"])
    assert not lock.with_name(AGAIN).exists()
    with contextlib.closing(sqlite3.connect(database)) as db:
        said = [text for (text,) in db.execute("SELECT text FROM events WHERE session = 's' ORDER BY at")]
    assert len(said) == 6
    assert said[-1] == "Always name ship number 5 after a river."
    held = claim(lock)
    assert held is not None, "the lock is let go"
    held.close()


def test_stop_outside_of_a_repository_starts_nothing(place: Place, tmp_path: Path) -> None:
    """There is nothing to read."""
    place.home.mkdir()
    (tmp_path / "elsewhere").mkdir()
    assert told(place.hook("stop", {"cwd": str(tmp_path / "elsewhere")})) == ""
    assert [path.name for path in place.home.iterdir()] == [RUNS]
    assert caught_up(place) == []


def test_a_process_that_died_at_it_is_in_nobodys_way(place: Place, transcript: Path) -> None:
    """Its lock went with it, and the mark that it left makes the next look twice at most."""
    say(transcript, place, "Never use tabs here.", 0)
    place.remember("The staging server is at 10.0.0.4.")
    folder = next((place.home / "repos").iterdir())
    (folder / LOCK).touch()
    (folder / AGAIN).touch()
    place.hook("stop")
    assert until(lambda: caught_up(place) == ["done"])
    assert "Never use tabs here." in told(place.hook("session-start"))


def kept_house(database: Path) -> bool:
    with contextlib.closing(sqlite3.connect(database)) as db:
        return bool(db.execute("SELECT 1 FROM meta WHERE name = 'consolidated_at'").fetchall())


def test_the_log_does_not_grow_for_ever(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is large it is put aside once, and begun anew."""
    monkeypatch.setenv("VADE_HOME", str(place.home))
    place.home.mkdir()
    (place.home / LOG).write_text("x" * (MOST_LOG_BYTES + 1), encoding="utf-8")
    note("first line\nof two")
    assert (place.home / LOG).read_text(encoding="utf-8").endswith(" first line of two\n")
    assert len((place.home / LOG).read_text(encoding="utf-8")) < 100
    assert (place.home / LOG).with_suffix(".log.1").exists()


def test_a_hook_imports_nothing_heavy(place: Place) -> None:
    """Neither numpy nor click nor the engine: that is what keeps it quick. And its own time is bounded."""
    place.remember(*SAID)
    code = (
        "import sys; sys.argv = ['vade', 'memory', 'hook', 'prompt'];"
        "from vademecum.__main__ import main; assert main() == 0;"
        "print(*sorted({'numpy', 'click', 'subprocess', 'vademecum.types', 'vademecum.engine', 'vademecum.memory.extract', 'vademecum.memory.records', 'logging', '_hashlib', 'tree_sitter'} & set(sys.modules)), file=sys.stderr)"
    )
    said = json.dumps({"cwd": str(place.root), "prompt": "sqlite or postgres?"}).encode()
    done = subprocess.run(
        [sys.executable, "-c", code], input=said, capture_output=True, env=place.environ, check=True, timeout=60
    )
    assert done.stderr.strip() == b""
    assert b"SQLite" in done.stdout
    assert DEADLINE_S <= 2

"""What agents wrote becomes events: the right ones, once, from where one stopped, whatever state the files are in."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vademecum.memory.records import Event, Role
from vademecum.memory.transcripts import AGENTS, MOST_LINE_BYTES, Transcript, Wanted, found, read
from vademecum.memory.transcripts.convert import cut

sys.path.insert(0, str(Path(__file__).parent))
from transcript_fixtures import (
    AIDER,
    CLAUDE,
    CODEX,
    CODEX_OLD,
    GEMINI,
    GEMINI_OBJECT,
    PROJECT,
    ROOT,
    codex_line,
    codex_message,
    lines,
    write,
)

WANTED = Wanted((ROOT,))


def events(path: Path, agent: str, state: dict | None = None, wanted: Wanted = WANTED) -> tuple[list[Event], dict]:
    """All events of a file beyond a state, and the state reached."""
    batches = list(read(Transcript(agent, str(path), ROOT), state or {}, wanted))
    for each in batches:
        json.dumps(each.state)  # it can be kept
    return [event for batch in batches for event in batch.events], batches[-1].state if batches else dict(state or {})


def told(found_: list[Event]) -> list[tuple[str, str]]:
    return [(str(each.role), each.text) for each in found_]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_claude_code(file: Path) -> None:
    """What the person said, what the agent said, ran and changed; no reminders, summaries, subagents or other work."""
    file.write_text(CLAUDE, encoding="utf-8")
    got, _ = events(file, "claude")
    assert told(got) == [
        ("user", "From now on use pnpm, not npm."),
        ("assistant", "I will use pnpm."),
        ("command", "pnpm test"),
        ("output", "Error: no lockfile"),
        ("edit", f"{ROOT}/a.py\n-x = 1\n+x = 2"),
        ("command", "git status"),
        ("output", "clean"),
    ]
    assert {each.session for each in got} == {"6c073d8e-2bb1-45cb-90bc-a28ce44da090"}
    assert {each.repo for each in got} == {ROOT}
    assert got[0].at == pytest.approx(1772359201.123)
    assert got[2].metadata == {"agent": "claude", "branch": "main", "purpose": "Run tests"}
    assert got[3].metadata["failed"] is True
    assert got[4].metadata["path"] == f"{ROOT}/a.py"


def test_codex(file: Path) -> None:
    """Messages, commands with how they ended, patches; what the harness tells the model is not said by anybody."""
    file.write_text(CODEX, encoding="utf-8")
    got, _ = events(file, "codex")
    assert told(got)[:4] == [
        ("user", "I prefer small commits over big ones."),
        ("command", "make test"),
        ("output", "1 failed"),
        ("edit", got[3].text),
    ]
    assert told(got)[4:] == [("assistant", "Done.")]
    assert (got[2].metadata["failed"], got[3].metadata["path"]) == (True, "src/a.py")
    assert {each.session for each in got} == {"0199-codex"}


def test_a_directory_that_somebody_speaks_of_is_not_where_codex_works(file: Path) -> None:
    """Only what Codex itself says of its surroundings moves a session; a message that quotes such words does not."""
    file.write_text(
        lines(
            codex_line("session_meta", {"id": "s", "cwd": ROOT}, 0),
            codex_line("response_item", codex_message("user", "It said <cwd>/elsewhere</cwd>, why?"), 1),
            codex_line("response_item", codex_message("assistant", "Current working directory: /elsewhere"), 2),
            codex_line("response_item", codex_message("user", "I prefer tabs."), 3),
        )
    )
    assert [each.text for each in events(file, "codex")[0]][-1] == "I prefer tabs."


def test_codex_before_the_payload(file: Path) -> None:
    """Older files have the items themselves on their lines, and the directory in the first message."""
    file.write_text(CODEX_OLD, encoding="utf-8")
    assert told(events(file, "codex")[0]) == [
        ("user", "what is in a.py?"),
        ("command", "cat a.py"),
        ("output", "x = 1"),
    ]


@pytest.mark.parametrize(("name", "content"), [("session-a.jsonl", GEMINI), ("session-a.json", GEMINI_OBJECT)])
def test_gemini(tmp_path: Path, name: str, content: str) -> None:
    """The lines of today and the single object of before hold the same events, with the same ids."""
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    got, state = events(path, "gemini")
    assert told(got) == [
        ("user", "List the files"),
        ("assistant", "There are two."),
        ("command", "ls"),
        ("output", "a.py b.py"),
        ("edit", f"{ROOT}/a.py\n-x = 1\n+x = 2"),
        ("output", "0 occurrences found"),
    ]
    assert events(path, "gemini", state)[0] == []
    assert events(path, "gemini", wanted=Wanted(("/home/ada/other",)))[0] == []


def test_the_same_events_have_the_same_ids_in_both_forms(tmp_path: Path) -> None:
    """A file that Gemini turned into the new form brings nothing twice."""
    (tmp_path / "a.json").write_text(GEMINI_OBJECT, encoding="utf-8")
    (tmp_path / "a.jsonl").write_text(GEMINI, encoding="utf-8")
    ids = [[each.id for each in events(tmp_path / name, "gemini")[0]] for name in ("a.json", "a.jsonl")]
    assert ids[0] == ids[1]


@pytest.mark.parametrize(
    "content", [AIDER, "\n".join(line.rstrip() for line in AIDER.split("\n")).replace("#### Example\n", "")]
)
def test_aider(tmp_path: Path, content: str) -> None:
    """What was typed, run, edited and committed; headings and code of the model's stay its own."""
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(content, encoding="utf-8")
    got, _ = events(path, "aider")
    assert [each.role for each in got] == [
        Role.USER,
        Role.ASSISTANT,
        Role.EDIT,
        Role.COMMIT,
        Role.COMMAND,
        Role.USER,
        Role.ASSISTANT,
    ]
    assert got[0].text == "Always write doctests.\nAnd keep them short."
    assert got[1].text.startswith("Sure. Here is one:")
    assert "#### not the user" in got[1].text
    assert [each.text for each in got[2:]] == [
        "src/a.py",
        "feat: add doctests",
        "pytest -q",
        "thanks",
        "You are welcome.",
    ]
    assert got[3].metadata["commit"] == "1a2b3c4"
    assert [each.at for each in got] == sorted({each.at for each in got})


FORMS = [("claude", CLAUDE), ("codex", CODEX), ("gemini", GEMINI), ("aider", AIDER)]


@pytest.mark.parametrize(("agent", "content"), FORMS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_reading_in_pieces_is_reading_at_once(tmp_path: Path, agent: str, content: str, data: st.DataObject) -> None:
    """Wherever a file was cut off when it was read, in the end the same events have come, each of them whole lines."""
    path = tmp_path / "t.jsonl"
    whole = content.encode()
    path.write_bytes(whole)
    expected = {each.id for each in events(path, agent)[0]}
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    state: dict = {}
    seen: set[str] = set()
    for end in [*cuts, len(whole)]:
        path.write_bytes(whole[:end])
        got, state = events(path, agent, state)
        seen |= {each.id for each in got}
    assert expected <= seen
    assert agent == "aider" or seen == expected  # of aider's last answer a part may have come before it was whole


@pytest.mark.parametrize(("agent", "content"), FORMS)
def test_what_is_read_is_not_read_again(file: Path, agent: str, content: str) -> None:
    """An unchanged file yields nothing; one that grew yields what is new."""
    file.write_text(content, encoding="utf-8")
    _, state = events(file, agent)
    assert events(file, agent, state) == ([], state)


def test_a_file_that_grew_yields_what_is_new(file: Path) -> None:
    """Only the new line is read, with what is remembered of the lines before."""
    first, second = CODEX[: CODEX.index('{"timestamp": "2026-03-02T09:00:08')], CODEX
    file.write_text(first, encoding="utf-8")
    _, state = events(file, "codex")
    file.write_text(second, encoding="utf-8")
    got, _ = events(file, "codex", state)
    assert told(got) == [("assistant", "Done.")]
    assert got[0].session == "0199-codex"


def test_another_file_in_its_place_is_read_from_the_start(file: Path) -> None:
    """A rotated or rewritten file is noticed, even one that is longer; the ids say what is known."""
    file.write_text(CLAUDE, encoding="utf-8")
    before, state = events(file, "claude")
    file.write_text(CLAUDE.replace("u1", "v1").replace("pnpm test", "pnpm check") + CLAUDE, encoding="utf-8")
    after, _ = events(file, "claude", state)
    assert {each.id for each in before} < {each.id for each in after}
    file.write_text(CLAUDE[:400], encoding="utf-8")  # shorter than what was read
    events(file, "claude", state)


@pytest.mark.parametrize(
    "broken",
    [
        '{"type": "user", "message": \n',
        'null\n[1, 2]\n"text"\n\n',
        '{"type": "user", "message": "no object", "cwd": 3, "timestamp": {}}\n',
        '{"type": "assistant", "cwd": "/home/ada/app", "message": {"content": [null, 5, {"type": "tool_use", "input": [], "name": "Bash"}]}}\n',
        '{"timestamp": "never", "type": "response_item", "payload": {"type": "function_call", "arguments": "{{"}}\n',
        '{"id": 7, "type": "gemini", "toolCalls": {"a": 1}, "timestamp": "2026-01-01T00:00:00Z", "content": {"text": 4}}\n',
        "\x00\xff\ufffd\n",
        "[" * 100_000 + "\n",
    ],
)
@pytest.mark.parametrize(("agent", "content"), FORMS[:3])
def test_lines_of_another_shape_are_passed_over(file: Path, agent: str, content: str, broken: str) -> None:
    """Whatever stands between good lines, the good ones are read."""
    file.write_text(content, encoding="utf-8")
    expected = told(events(file, agent)[0])
    start = content.index("\n") + 1
    file.write_text(content[:start] + broken + content[start:], encoding="utf-8")
    assert told(events(file, agent)[0]) == expected


def test_a_line_of_enormous_length_is_passed_over(file: Path) -> None:
    """It holds a file, not words; what comes after it is read."""
    file.write_text("{" + "x" * (MOST_LINE_BYTES + 10) + "\n" + CLAUDE, encoding="utf-8")
    assert len(events(file, "claude")[0]) == 7


@given(st.binary(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_without_fail(tmp_path: Path, content: bytes) -> None:
    """No content of a file stops the reading."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(content + b"\n")
    for agent in AGENTS:
        assert events(path, agent)[0] is not None
    whole = tmp_path / "x.json"
    whole.write_bytes(content)
    assert events(whole, "gemini")[0] == []


def test_what_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
    """A link, a pipe, a directory and a file that is gone hold no transcript."""
    (tmp_path / "real.jsonl").write_text(CLAUDE, encoding="utf-8")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("link", "pipe", "folder", "gone"):
        assert list(read(Transcript("claude", str(tmp_path / f"{name}.jsonl")), {}, WANTED)) == []


def test_files_are_found_at_the_agents_places(tmp_path: Path) -> None:
    """Below the home, where the environment says, and in the repository; only those that may be about it."""
    root = tmp_path / "app"
    root.mkdir()
    write(tmp_path, root)
    assert [each.agent for each in found(str(tmp_path), {}, WANTED)] == ["claude", "codex", "gemini", "gemini"]
    assert [each.agent for each in found(str(tmp_path), {}, Wanted((str(root),)))] == ["codex", "aider"]
    moved = {"CODEX_HOME": str(tmp_path / "nowhere"), "CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    assert [each.agent for each in found(str(tmp_path), moved, WANTED)] == ["claude", "gemini", "gemini"]
    assert PROJECT in next(each.path for each in found(str(tmp_path), {}, WANTED) if each.agent == "gemini")


def test_long_texts_are_cut_in_their_middle() -> None:
    """An output's end says how it ended."""
    assert cut("a" * 50 + "b" * 50, 45) == "a" * 20 + "\n[…]\n" + "b" * 20

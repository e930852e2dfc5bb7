"""What agents wrote before they had the forms of today: sessions that are one object, and a log of what was typed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vademecum.memory.transcripts import Transcript, Wanted, found, read

sys.path.insert(0, str(Path(__file__).parent))
from test_transcripts import WANTED, events, told
from transcript_fixtures import PATCH, PROJECT, ROOT, codex_message

ELSEWHERE = Wanted(("/home/ada/other",))


def call(number: int, **given: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": "shell",
        "status": "completed",
        "arguments": json.dumps(given),
    }


def result(number: int, output: str, code: int) -> dict[str, Any]:
    told = {"output": output, "metadata": {"exit_code": code, "duration_seconds": 0.1}}
    return {"type": "function_call_output", "call_id": f"call_{number}", "output": json.dumps(told)}


ITEMS: list[dict[str, Any]] = [
    codex_message("user", "Always pin versions in <requirements.txt>\nrequests\n</requirements.txt>"),
    {"type": "reasoning", "id": "rs_1", "summary": []},
    call(1, command=["bash", "-lc", "pytest -q"], workdir=f"{ROOT}/src", timeout=10_000),
    result(1, "1 failed", 1),
    call(2, command=["apply_patch", PATCH]),
    result(2, "Done!", 0),
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Pinned."}]},
    {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Command was interrupted."}]},
]
SAID = [
    ("user", "Always pin versions in @requirements.txt"),
    ("command", "pytest -q"),
    ("output", "1 failed"),
    ("edit", PATCH),
    ("assistant", "Pinned."),
]


def session(items: list[Any], timestamp: str = "2025-05-05T12:00:00.000Z", id_: str = "a1b2") -> str:
    return json.dumps({"session": {"timestamp": timestamp, "id": id_, "instructions": ""}, "items": items}, indent=2)


def entry(id_: str, number: int, message: str, second: int) -> dict[str, Any]:
    at = f"2025-08-01T10:00:{second:02d}.000Z"
    return {"sessionId": id_, "messageId": number, "type": "user", "message": message, "timestamp": at}


def log(project: Path, *entries: Any) -> Path:
    project.mkdir(parents=True, exist_ok=True)
    path = project / "logs.json"
    path.write_text(json.dumps(entries, indent=2), encoding="utf-8")
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / ".gemini" / "tmp" / PROJECT


def test_a_codex_session_that_is_one_object(tmp_path: Path) -> None:
    """What was said, run and changed, in its order, at the time of the whole; where it was is told by its commands."""
    path = tmp_path / "a1b2.json"
    path.write_text(session(ITEMS), encoding="utf-8")
    got, state = events(path, "codex")
    assert told(got) == SAID
    assert [each.at for each in got] == sorted(each.at for each in got)
    assert {(each.session, each.repo) for each in got} == {("a1b2", ROOT)}
    assert got[2].metadata["failed"]
    assert events(path, "codex", state)[0] == []
    assert events(path, "codex", wanted=ELSEWHERE)[0] == []


@pytest.mark.parametrize(
    "given",
    [
        {"command": ["bash", "-lc", f"cd {ROOT} && make"]},
        {"command": ["bash", "-lc", f"cd '{ROOT}/a b'; make"]},
        {"command": ["make"], "workdir": f"{ROOT}/../app"},
        {"command": ["bash", "-lc", f"cd {ROOT} && make"], "workdir": "."},
    ],
)
def test_where_an_old_codex_session_was(tmp_path: Path, given: dict[str, Any]) -> None:
    """The first directory that is named tells; one that only ends up elsewhere is elsewhere."""
    path = tmp_path / "a1b2.json"
    path.write_text(session([ITEMS[0], call(1, **given)]), encoding="utf-8")
    assert len(events(path, "codex")[0]) == 2
    assert events(path, "codex", wanted=ELSEWHERE)[0] == []


@pytest.mark.parametrize(
    "given", [{"command": ["make"]}, {"command": ["make"], "workdir": f"{ROOT}/../other"}, {"command": f"cat {ROOT}/a"}]
)
def test_an_old_codex_session_that_may_be_anothers_is_left(tmp_path: Path, given: dict[str, Any]) -> None:
    """Without a directory of its own it could be about any repository, and what it looks at is not where it is."""
    path = tmp_path / "a1b2.json"
    path.write_text(session([ITEMS[0], call(1, **given)]), encoding="utf-8")
    assert events(path, "codex")[0] == []


def test_an_old_codex_session_written_anew_brings_what_is_new(tmp_path: Path) -> None:
    """Each time the whole is written with another time: what was there keeps its id."""
    path = tmp_path / "a1b2.json"
    path.write_text(session(ITEMS[:4]), encoding="utf-8")
    before, state = events(path, "codex")
    path.write_text(session(ITEMS, "2025-05-06T00:10:00.000Z"), encoding="utf-8")
    after, _ = events(path, "codex", state)
    assert [each.id for each in after][: len(before)] == [each.id for each in before]
    assert len({each.id for each in after}) == len(SAID)


def test_snapshots_of_an_old_codex_session_are_one_session(tmp_path: Path) -> None:
    """Its first versions gave every save a name of its own: the same words of the same day are known by their id."""
    ids = []
    for number, upto in enumerate((2, 4, len(ITEMS))):
        id_ = f"0000000{number}-0000-4000-8000-000000000000"
        path = tmp_path / f"rollout-2025-04-17-{id_}.json"
        items = [*ITEMS[:1], ITEMS[2], *ITEMS[1:upto]]
        path.write_text(session(items, f"2025-04-17T10:0{number}:00.000Z", id_), encoding="utf-8")
        ids.append([each.id for each in events(path, "codex")[0]])
    assert [len(each) for each in ids] == [2, 4, 6]
    assert ids[0] == ids[1][:2]
    assert ids[1] == ids[2][:4]


def test_what_was_typed_in_gemini_before_it_kept_chats(project: Path) -> None:
    """Words and commands behind `!`, in the sessions they were typed in; what was for the program is nobody's word."""
    path = log(
        project,
        entry("s1", 0, "Never use default exports.", 1),
        entry("s1", 1, "/quit", 2),
        entry("s2", 0, "thanks", 3),
        {"sessionId": "s2", "type": "user"},
        {**entry("s2", 1, "an answer", 4), "type": "model"},
        "odd",
    )
    got, state = events(path, "gemini")
    assert [(each.session, each.text) for each in got] == [("s1", "Never use default exports."), ("s2", "thanks")]
    assert {each.repo for each in got} == {ROOT}
    assert events(path, "gemini", state)[0] == []
    assert events(path, "gemini", wanted=ELSEWHERE)[0] == []


def test_what_a_gemini_chat_says_is_not_said_by_its_log(project: Path) -> None:
    """A log repeats what stands in chats: only the sessions without one are told by it, and never one that is beginning."""
    (project / "chats").mkdir(parents=True)
    chat = project / "chats" / "session-2025-08-01T10-00-22222222.json"
    chat.write_text("{}", encoding="utf-8")
    one, two, three = (f"{digit * 8}-0000" for digit in "123")
    entries = [entry(one, 0, "first", 1), entry(two, 0, "second", 2), entry(three, 0, "third", 3)]
    path = log(project, *entries)
    got, state = events(path, "gemini")
    assert [each.text for each in got] == ["first"]
    chat.unlink()  # Gemini drops chats after a time
    log(project, *entries, entry("44444444-0000", 0, "fourth", 4))
    assert [each.text for each in events(path, "gemini", state)[0]] == ["first", "third"]


def test_logs_of_the_repository_alone_are_found(tmp_path: Path, project: Path) -> None:
    """By the hash of its directory, or by what stands beside; a log whose place nobody tells is left."""
    log(project)
    log(project.parent / ("0" * 64), entry("s1", 0, "of another", 1))
    named = log(project.parent / "app", entry("s1", 0, "hello", 1), entry("s2", 0, "again", 2))
    unknown = log(project.parent / "app-1", entry("s1", 0, "whose?", 1))
    (named.parent / ".project_root").write_text(ROOT, encoding="utf-8")
    (project / "checkpoint-one.json").write_text("[]", encoding="utf-8")
    paths = [each.path for each in found(str(tmp_path), {}, WANTED)]
    assert paths == [str(project / "logs.json"), str(named)]
    assert str(unknown) not in paths
    assert [each.text for each in events(named, "gemini")[0]] == ["hello", "again"]


NAMES = ["session", "items", "id", "timestamp", "type", "role", "content", "text", "arguments", "action", "workdir",
         "command", "sessionId", "message", "messages", "call_id", "output", "input"]  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)


@given(JSON)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_object_is_read_without_fail(tmp_path: Path, value: Any) -> None:
    """Whatever is in the place of these files, nothing fails, and what is no whole JSON is left for the next time."""
    for agent, name in (("codex", "a1b2.json"), ("gemini", "logs.json"), ("gemini", "session-a.json")):
        path = tmp_path / name
        path.write_text(json.dumps(value), encoding="utf-8")
        events(path, agent)
        path.write_text(json.dumps(value)[:-1], encoding="utf-8")
        batches = list(read(Transcript(agent, str(path), ROOT), {}, WANTED))
        assert all("stamp" not in batch.state or json.loads(path.read_text("utf-8")) is not None for batch in batches)

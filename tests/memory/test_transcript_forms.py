"""The forms that agents came to write beside the plain ones: where a person speaks in them, and where nobody does."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from vademecum.memory import transcripts
from vademecum.memory.transcripts import Transcript, Wanted, found, read, unpacked_lines

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

sys.path.insert(0, str(Path(__file__).parent))
from test_transcripts import WANTED, events, told
from transcript_fixtures import (
    CODEX,
    GEMINI_HEAD,
    PROJECT,
    ROOT,
    claude_line,
    codex_line,
    codex_message,
    lines,
)


def said(path: Path, agent: str, *records: Any) -> list[tuple[str, str]]:
    path.write_text(lines(*records), encoding="utf-8")
    return told(events(path, agent)[0])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_words_that_refuse_a_tool_are_the_persons(file: Path) -> None:
    """Why somebody refuses is the correction most worth keeping; that a tool failed is not all there is to it."""
    refused = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n"
        "Never edit generated files.\n\nNote: The user's next message may contain a correction or preference."
    )
    clarify = "The tool use was rejected. To tell you how to proceed, the user said:\nThe user wants to clarify these questions."
    assert said(
        file,
        "claude",
        claude_line("assistant", [{"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "a.py", "old_string": "x", "new_string": "y"}}], 1),
        claude_line("user", [{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": refused}], 2),
        claude_line("user", [{"type": "tool_result", "tool_use_id": "t2", "is_error": True, "content": clarify}], 3),
    ) == [("edit", "a.py\n-x\n+y"), ("user", "Never edit generated files."), ("output", clarify)]  # fmt: skip


def test_answers_to_an_agents_questions_are_the_persons(file: Path) -> None:
    """What was chosen stands with what was asked, in Claude Code and in Codex."""
    result = [
        {
            "type": "tool_result",
            "tool_use_id": "t1",
            "content": 'User has answered your questions: "Which database?"="SQLite".',
        }
    ]
    answered = {"questions": [], "answers": {"Which database?": "SQLite", "And why?": ""}}
    assert said(file, "claude", claude_line("user", result, 1, toolUseResult=answered)) == [
        ("user", "Which database?\nSQLite")
    ]
    asked = json.dumps({"questions": [{"id": "db", "question": "Which database?", "options": []}]})
    output = json.dumps({"answers": {"db": {"answers": ["SQLite"]}, "x": {"answers": []}}})
    assert said(
        file,
        "codex",
        codex_line("session_meta", {"id": "s", "cwd": ROOT}, 0),
        codex_line("response_item", {"type": "function_call", "name": "request_user_input", "arguments": asked, "call_id": "c"}, 1),
        codex_line("response_item", {"type": "function_call_output", "call_id": "c", "output": output}, 2),
    ) == [("user", "Which database?\nSQLite")]  # fmt: skip


def test_what_is_typed_while_claude_works_is_kept(file: Path) -> None:
    """It stands in an attachment; what a task or another agent puts in the queue is nobody's word."""

    def attached(second: int, **attachment: Any) -> dict[str, Any]:
        return {**claude_line("attachment", None, second), "attachment": {"type": "queued_command", **attachment}}

    assert said(
        file,
        "claude",
        attached(1, prompt="Always run the tests too.", commandMode="prompt", origin={"kind": "human"}),
        attached(2, prompt=[{"type": "text", "text": "And the linter."}]),
        attached(3, prompt="<task-notification>done</task-notification>", commandMode="task-notification"),
        attached(4, prompt="I am your teammate.", commandMode="prompt", origin={"kind": "teammate"}),
        {**claude_line("attachment", None, 5), "attachment": {"type": "todo", "content": "x"}},
        {"type": "queue-operation", "operation": "enqueue", "content": "Always run the tests too."},
    ) == [("user", "Always run the tests too."), ("user", "And the linter.")]


def test_what_no_person_and_no_model_said_in_claude_code(file: Path) -> None:
    """Errors of the service, words of other agents and of timers; what stands behind a slash command is a person's."""
    slash = "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>"
    assert said(
        file,
        "claude",
        claude_line("assistant", [{"type": "text", "text": "API Error: 529"}], 1, isApiErrorMessage=True),
        {**claude_line("assistant", None, 2), "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "No response requested."}]}},
        claude_line("user", '<teammate-message teammate_id="b">I prefer tabs.</teammate-message>', 3),
        claude_line("user", "I prefer tabs.", 4, origin={"kind": "task-notification"}),
        claude_line("user", "<local-command-stdout>Set model to opus</local-command-stdout>", 5),
        claude_line("user", f"{slash}never touch the lock file</command-args>", 6),
        claude_line("user", f"{slash}opus</command-args>", 7),
        claude_line("user", "Render <channel> as a tag.", 8, origin={"kind": "human"}),
        claude_line("assistant", [{"type": "tool_use", "id": "p", "name": "ExitPlanMode", "input": {"plan": "1. Write the test."}}], 9),
    ) == [
        ("user", "never touch the lock file"),
        ("user", "Render <channel> as a tag."),
        ("assistant", "1. Write the test."),
    ]  # fmt: skip


def test_a_branch_of_a_claude_session_repeats_nothing(tmp_path: Path) -> None:
    """Its copied lines are the other session's events, with the same ids; what is said after them is its own."""
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    line = claude_line("user", "I prefer tabs.", 1)
    first.write_text(lines(line))
    copied = {**line, "sessionId": "branch", "forkedFrom": {"sessionId": line["sessionId"], "messageUuid": "u1"}}
    second.write_text(lines(copied, claude_line("user", "Go on.", 5, sessionId="branch")))
    [before], after = events(first, "claude")[0], events(second, "claude")[0]
    assert [each.id == before.id for each in after] == [True, False]
    assert [each.session for each in after] == [line["sessionId"], "branch"]


def test_a_fork_of_a_codex_session_repeats_nothing(file: Path) -> None:
    """Lines that were copied come at once and before a turn of its own; whatever is cut off meanwhile, they stay copies."""
    meta = {"cwd": ROOT, "timestamp": "2026-03-02T09:00:00Z"}
    copies = [
        codex_line("session_meta", {"id": "fork", "forked_from_id": "old", **meta}, 0),
        codex_line("session_meta", {"id": "old", "cwd": "/elsewhere"}, 0),
        codex_line("event_msg", {"type": "task_started", "started_at": 1700000000}, 0),
        codex_line("response_item", codex_message("user", "I prefer tabs."), 0),
        codex_line("response_item", codex_message("assistant", "Tabs it is."), 0),
    ]
    own = codex_line("response_item", codex_message("user", "Now spaces."), 9)
    assert said(file, "codex", *copies, own) == [("user", "Now spaces.")]
    assert events(file, "codex")[0][0].session == "fork"
    at_once = codex_line("response_item", codex_message("user", "Now spaces."), 0)
    started = codex_line("event_msg", {"type": "task_started", "started_at": 1772442000}, 0)
    assert said(file, "codex", *copies, started, at_once) == [("user", "Now spaces.")]
    file.write_text(lines(*copies[:4]))
    got, state = events(file, "codex")
    file.write_text(lines(*copies, own))
    assert [told(got), told(events(file, "codex", state)[0])] == [[], [("user", "Now spaces.")]]


@pytest.mark.parametrize("source", [{"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}}, {"source": {"subagent": "review"}}, {"thread_source": "subagent"}])  # fmt: skip
def test_what_subagents_are_told_is_no_persons_word(file: Path, source: dict[str, Any]) -> None:
    """In Codex as in Claude Code and Gemini: their answers are kept aside, their orders are not."""
    got = said(
        file,
        "codex",
        codex_line("session_meta", {"id": "s", "cwd": ROOT, **source}, 0),
        codex_line("response_item", codex_message("user", "Always list files."), 5),
        codex_line("response_item", codex_message("assistant", "Three files."), 6),
    )
    assert got == [("assistant", "Three files.")]
    assert events(file, "codex")[0][0].metadata["aside"] is True


def test_what_codex_puts_into_a_persons_message(file: Path) -> None:
    """An editor's open files, instructions, notices and pictures are not theirs; a command behind `!` is one."""
    ran = (
        "<user_shell_command>\n<command>\nmake test\n</command>\n<result>\nExit code: 2\nDuration: 0.1 seconds\nOutput:\nboom\n"
        "</result>\n</user_shell_command>"
    )
    parts = [
        {
            "type": "input_text",
            "text": "# AGENTS.md instructions for /home/ada/app\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
        },
        {"type": "input_text", "text": '<image name="[Image #1]">'},
        {"type": "input_image", "image_url": "data:"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "Make it like this."},
    ]
    assert said(
        file,
        "codex",
        codex_line("session_meta", {"id": "s", "cwd": ROOT}, 0),
        codex_line("response_item", codex_message("user", "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nNever use globals."), 1),
        codex_line("response_item", codex_message("user", ran), 2),
        codex_line("response_item", {"type": "message", "role": "user", "content": parts}, 3),
        codex_line("response_item", codex_message("user", "<subagent_notification>{}</subagent_notification>"), 4),
        codex_line("response_item", codex_message("user", "<skill>\n<name>x</name>\nAlways do.\n</skill>"), 5),
        codex_line("world_state", {"type": "message", "role": "user", "content": "I prefer tabs."}, 6),
        codex_line("inter_agent_communication", {"author": "/root", "content": "I prefer tabs."}, 7),
    ) == [("user", "Never use globals."), ("command", "make test"), ("output", "boom"), ("user", "Make it like this.")]  # fmt: skip
    assert [each.metadata.get("failed") for each in events(file, "codex")[0]] == [None, None, True, None]


def test_compressed_transcripts_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codex packs what nobody touched for a week; it brings the same events, and one that is there twice comes once."""
    day = tmp_path / ".codex" / "sessions" / "2026" / "03" / "02"
    day.mkdir(parents=True)
    plain, whole = day / "rollout-a.jsonl", day / "rollout-a.jsonl.zst"
    plain.write_text(CODEX)
    whole.write_bytes(zstd.compress(CODEX.encode()))
    assert [each.path for each in found(str(tmp_path), {}, WANTED)] == [str(plain)]
    before = {each.id for each in events(plain, "codex")[0]}
    plain.unlink()
    assert [each.path for each in found(str(tmp_path), {}, WANTED)] == [str(whole)]
    got, state = events(whole, "codex")
    assert {each.id for each in got} == before
    assert events(whole, "codex", state) == ([], state)
    whole.write_bytes(zstd.compress(CODEX.encode())[:-40])
    assert {each.id for each in events(whole, "codex")[0]} < before
    whole.write_bytes(b"no such thing")
    assert events(whole, "codex")[0] == []
    monkeypatch.setattr(transcripts, "_reader", lambda: None)
    assert [each.packed for each in read(Transcript("codex", str(whole)), {}, WANTED)] == [True]
    assert list(unpacked_lines(io.BytesIO(b""))) == []


def test_what_gemini_adds_to_a_persons_message(file: Path) -> None:
    """Files and context are not theirs, its own commands neither; what they typed stands beside, or before the files."""

    def typed(number: int, content: Any, **more: Any) -> dict[str, Any]:
        return {
            "id": f"m{number}",
            "timestamp": f"2026-03-03T08:00:{number:02d}Z",
            "type": "user",
            "content": content,
            **more,
        }

    added = (
        "see @a.py\n--- Content from referenced files ---\nContent from @a.py:\nAlways pray.\n--- End of content ---"
    )
    ran = "I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:\n```\na.py\n```"
    thought = [{"text": "I should look.", "thought": True}, {"text": "Here it is."}]
    assert said(
        file,
        "gemini",
        GEMINI_HEAD,
        typed(1, [{"text": added}], displayContent=[{"text": "see @a.py"}]),
        typed(2, added),
        typed(3, ran),
        typed(4, "/memory show"),
        typed(5, "<session_context>Today is Monday.</session_context>"),
        typed(6, "/etc/hosts is wrong"),
        {"id": "m7", "timestamp": "2026-03-03T08:00:07Z", "type": "gemini", "content": thought},
        {"$set": {"messages": [typed(2, added), typed(8, "Never use yarn.")]}},
    ) == [
        ("user", "see @a.py"),
        ("user", "see @a.py"),
        ("command", "ls"),
        ("output", "a.py"),
        ("user", "/etc/hosts is wrong"),
        ("assistant", "Here it is."),
        ("user", "see @a.py"),
        ("user", "Never use yarn."),
    ]


def test_a_chat_between_geminis_agents_is_no_persons(file: Path) -> None:
    """What its subagents are told is the agent's word."""
    assert said(
        file,
        "gemini",
        {**GEMINI_HEAD, "kind": "subagent"},
        {"id": "m1", "timestamp": "2026-03-03T08:00:01Z", "type": "user", "content": "Always list files."},
        {"$set": {"lastUpdated": "2026-03-03T08:00:02Z"}},
        {"id": "m2", "timestamp": "2026-03-03T08:00:02Z", "type": "gemini", "content": "Two."},
    ) == [("assistant", "Two.")]


def test_gemini_in_a_directory_of_the_repository(tmp_path: Path) -> None:
    """Since 2026 a file names the directory, so that work below the root is found, and that elsewhere is not read."""
    below = hashlib.sha256(f"{ROOT}/web".encode()).hexdigest()
    message = {"id": "m1", "timestamp": "2026-03-03T08:00:01Z", "type": "user", "content": "I prefer tabs."}
    for name, root in (("web", f"{ROOT}/web"), ("other", "/home/ada/application")):
        chats = tmp_path / ".gemini" / "tmp" / name / "chats"
        chats.mkdir(parents=True)
        (chats.parent / ".project_root").write_text(f"{root}\n")
        (chats / "session-a.jsonl").write_text(lines({**GEMINI_HEAD, "projectHash": below}, message))
    [there] = found(str(tmp_path), {}, WANTED)
    assert there.root == f"{ROOT}/web"
    assert [e.text for batch in read(there, {}, WANTED) for e in batch.events] == ["I prefer tabs."]
    assert below != PROJECT


def test_a_return_alone_says_nothing_in_aider(tmp_path: Path) -> None:
    """What aider writes where nobody typed anything is no word."""
    path = tmp_path / "history.md"
    path.write_text(
        "\n# aider chat started at 2026-03-04 07:00:00\n\n#### <blank>  \n\n#### hello  \n\nHi.\n\n#### bye  \n"
    )
    assert told(events(path, "aider")[0]) == [("user", "hello"), ("assistant", "Hi."), ("user", "bye")]


def test_aiders_history_where_the_repository_says(tmp_path: Path) -> None:
    """Its settings may name another file, but none outside of the repository."""
    root = tmp_path / "app"
    (root / "notes").mkdir(parents=True)
    for path in (root / "notes" / "chat.md", root / ".aider.chat.history.md", tmp_path / "chat.md"):
        path.write_text("#### hello  \n")
    wanted = Wanted((str(root),))
    for named, expected in (("notes/chat.md", "notes/chat.md"), ("../chat.md", ".aider.chat.history.md")):
        (root / ".aider.conf.yml").write_text(f"model: x\nchat-history-file: {named}  # kept\n")
        assert [each.path for each in found("", {}, wanted) if each.agent == "aider"] == [str(root / expected)]


@pytest.mark.parametrize("odd", [[], {}, 3, None, "x", [[]], [{"type": []}]])
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_odd_values_anywhere_stop_nothing(file: Path, agent: str, odd: Any) -> None:
    """Whatever stands where a name, a list or words should, the next line is read."""
    good = {
        "claude": claude_line("user", "I prefer tabs.", 50),
        "codex": codex_line("response_item", codex_message("user", "I prefer tabs."), 50),
        "gemini": {"id": "z", "timestamp": "2026-03-03T08:00:50Z", "type": "user", "content": "I prefer tabs."},
    }[agent]
    head = {"codex": [codex_line("session_meta", {"id": "s", "cwd": ROOT}, 0)], "gemini": [GEMINI_HEAD]}.get(agent, [])
    keys = ("type", "message", "content", "attachment", "origin", "forkedFrom", "toolUseResult", "payload", "kind", "toolCalls", "displayContent")  # fmt: skip
    broken: list[dict[str, Any]] = [{**good, key: odd} for key in keys]
    broken += [{**good, "payload": {**good.get("payload", {}), key: odd}} for key in ("type", "role", "content", "source", "started_at", "output", "arguments", "name")]  # fmt: skip
    broken += [
        {**good, "type": "attachment", "attachment": {"type": "queued_command", "commandMode": odd, "prompt": odd}}
    ]
    broken += [{**good, "toolUseResult": {"answers": odd}}, {**good, "message": {"content": [{"type": "tool_use", "name": odd, "input": odd}]}}]  # fmt: skip
    assert said(file, agent, *head, *broken, good)[-1] == ("user", "I prefer tabs.")

"""Traces from what coding agents wrote down."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vademecum.tools.observe import read_transcript

SECRET = "hunter2-correct-horse"


def lines(*records: Any) -> str:
    return "\n".join(json.dumps(record) for record in records)


def claude(kind: str, content: Any, second: int = 0, **more: Any) -> dict[str, Any]:
    at = f"2026-01-02T03:04:{second:02d}Z"
    return {"type": kind, "sessionId": "s1", "timestamp": at, "message": {"content": content}} | more


def use(number: str, named: str, /, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": number, "name": named, "input": given}


def result(number: str, text: str, *, failed: bool = False) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": number,
        "content": [{"type": "text", "text": text}],
        "is_error": failed,
    }


CLAUDE = lines(
    claude("user", "<command-name>/clear</command-name>"),
    claude("user", "find the failing test and mail it to Ada"),
    {"type": "summary", "summary": "whatever"},
    claude(
        "assistant",
        [
            {"type": "text", "text": "I look."},
            use("1", "Grep", pattern="FAILED"),
            use("2", "mcp__people__find", name="Ada"),
        ],
        1,
    ),
    claude("user", [result("2", "ada@example.org")], 3),
    claude("user", [result("1", "tests/test_budget.py failed", failed=True)], 5),
    claude(
        "assistant",
        [use("3", "mcp__mail__send", to="ada@example.org", file="tests/test_budget.py", password=SECRET)],
        6,
    ),
    claude("user", [result("3", "sent")], 7),
    claude("user", "a summary", isCompactSummary=True),
    claude("user", [{"type": "text", "text": "thank you"}]),
)


def test_a_secret_argument_is_cut_out_of_what_was_asked_for() -> None:
    asked, made = (
        claude("user", "log in with swordfish"),
        claude("assistant", [use("1", "login", password="swordfish")]),
    )
    assert read_transcript(lines(asked, made))[0].intent == "log in with [redacted:argument]"


def test_what_a_program_added_to_a_message_is_no_part_of_what_was_asked_for() -> None:
    asked = claude("user", "mail the report<system-reminder>Be careful.</system-reminder>")
    told = claude("user", "[Request interrupted by user]")
    made = claude("assistant", [use("1", "mail")])
    assert [trace.intent for trace in read_transcript(lines(asked, told, made))] == ["mail the report"]


def test_claude_code() -> None:
    """A trace for each thing asked: ids of MCP tools, outcomes, latencies, and who used whose outcome."""
    (trace,) = read_transcript(CLAUDE)
    assert (trace.id, trace.session) == ("claude:s1:1", "claude:s1")
    assert trace.intent == "find the failing test and mail it to Ada"
    assert [(call.tool, call.arguments, call.ok, call.latency_s) for call in trace.calls] == [
        ("Grep", ("pattern",), False, 4.0),
        ("people/find", ("name",), True, 2.0),
        ("mail/send", ("file", "password", "to"), True, 1.0),
    ]
    assert trace.links == ((0, 2), (1, 2))
    assert SECRET not in repr(trace)
    assert "ada@example.org" not in repr(trace)


def test_a_transcript_that_grows_keeps_its_ids() -> None:
    """Read again with more in it, what was there is the same trace."""
    more = (
        CLAUDE + "\n" + lines(claude("user", "now archive it"), claude("assistant", [use("4", "mcp__mail__archive")]))
    )
    before, after = read_transcript(CLAUDE), read_transcript(more)
    assert after[0] == before[0]
    assert (after[1].id, after[1].intent) == ("claude:s1:3", "now archive it")


def test_codex() -> None:
    """Response items with payloads: functions, the shell, patches, and what they came to."""

    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-01-02T03:04:05Z", "type": "response_item", "payload": payload}

    text = lines(
        {"type": "session_meta", "payload": {"id": "c1"}},
        item(
            type="message",
            role="user",
            content=[{"type": "input_text", "text": "<environment_context>x</environment_context>"}],
        ),
        item(type="message", role="user", content=[{"type": "input_text", "text": "count the lines"}]),
        item(type="function_call", name="shell", call_id="1", arguments=json.dumps({"command": ["wc", "-l"]})),
        item(
            type="function_call_output",
            call_id="1",
            output=json.dumps({"output": "12345 lines", "metadata": {"exit_code": 1}}),
        ),
        item(type="custom_tool_call", name="apply_patch", call_id="2", input="*** Begin Patch 12345"),
        item(type="custom_tool_call_output", call_id="2", output="done"),
        {"type": "event_msg", "payload": {"type": "token_count"}},
    )
    (trace,) = read_transcript(text)
    assert (trace.id, trace.intent) == ("codex:c1:1", "count the lines")
    assert [(call.tool, call.arguments, call.ok) for call in trace.calls] == [
        ("shell", ("command",), False),
        ("apply_patch", ("input",), True),
    ]


@pytest.mark.parametrize("whole", [True, False], ids=["one object", "lines"])
def test_gemini(whole: bool) -> None:
    """One object with messages, or a line for each."""
    head = {"sessionId": "g1", "projectHash": "x"}
    messages = [
        {"id": "1", "type": "user", "content": [{"text": "read it"}], "timestamp": "2026-01-02T03:04:05Z"},
        {
            "id": "2",
            "type": "gemini",
            "content": "",
            "toolCalls": [{"id": "a", "name": "read_file", "args": {"path": "x"}, "status": "error"}],
        },
    ]
    text = json.dumps(head | {"messages": messages}) if whole else lines(head, *messages)
    (trace,) = read_transcript(text)
    assert (trace.id, trace.intent) == ("gemini:g1:1", "read it")
    assert [(call.tool, call.arguments, call.ok) for call in trace.calls] == [("read_file", ("path",), False)]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["user", "assistant", "tool_use", "response_item", "gemini", "2026", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "message",
                    "payload",
                    "content",
                    "messages",
                    "toolCalls",
                    "input",
                    "name",
                    "id",
                    "output",
                    "$set",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.lists(JSON, max_size=4))
@example(
    [
        {"type": [], "message": {"content": [{"type": {}}]}},
        {"type": "response_item", "payload": {"type": [], "role": {}}},
    ]
)
def test_whatever_stands_there_is_read_or_passed_over(records: list[Any]) -> None:
    """Programs promise nothing about these files: no content is an error."""
    read_transcript(lines(*records))
    read_transcript(json.dumps(records))
    read_transcript("[" * 100_000)

"""Traces: what is kept of them, and above all what is not."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.errors import UsageError
from vademecum.tools.observe import LONGEST_INTENT, read_traces, secrets, trace_of
from vademecum.tools.records import Call

SECRET = "hunter2-s3cr3t"


def test_values_of_arguments_are_never_kept(office, store, tmp_path):
    line = {
        "intent": f"log in, password: {SECRET}",
        "calls": [{"tool": "web/fetch", "arguments": {"url": SECRET, "headers": {"token": SECRET}, f"{SECRET} x": 1}}],
        "metadata": SECRET,
    }
    assert office.observe_json(json.dumps(line)).added == 1
    kept = store.scan("traces").unwrap()
    assert SECRET not in repr(kept)
    assert '"headers","url"' in repr(kept)
    store.close()
    assert all(SECRET.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def kept_of(intent: str) -> str:
    """The intent that is kept of a trace."""
    return trace_of({"intent": intent, "calls": ["a"]}).intent


@pytest.mark.parametrize(
    ("said", "secret"),
    [
        ("use ghp_0123456789abcdefABCDEF0123456789abcd for the upload", "ghp_0123456789abcdefABCDEF0123456789abcd"),
        ("use sk-proj-0123456789abcdefABCDEF for the upload", "sk-proj-0123456789abcdefABCDEF"),
        ("put it with AKIAIOSFODNN7EXAMPLE into the bucket", "AKIAIOSFODNN7EXAMPLE"),
        ("aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYqWkEy7", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYqWkEy7"),
        ("send Authorization: Bearer mF9xB5f4JqMv31 with it", "mF9xB5f4JqMv31"),
        ("log in, password: hunter2-s3cr3t", "hunter2"),
        ("run it with password=hunter2", "hunter2"),
        ("log in with password hunter2-XYZZY now", "hunter2-XYZZY"),
        ("use passphrase 'c0rrect-horse' and go on", "c0rrect-horse"),
        ("connecte-toi, mdp : soleil42", "soleil42"),
        ("le mot de passe est tournesol", "tournesol"),
        ("clone https://ada:hunter2@example.org/x", "hunter2"),
        ('call it with {"auth": {"user": "ada", "password": "swordfish"}}', "swordfish"),
        ('call it with {"env": [{"name": "DB_PASSWORD", "value": "hunter2"}]}', "hunter2"),
    ],
)
def test_a_secret_in_an_intent_is_not_kept(said, secret):
    kept = kept_of(said)
    assert secret not in kept
    assert "[redacted:" in kept
    assert kept.split("[redacted:")[0] == said[: kept.index("[redacted:")]


@pytest.mark.parametrize(
    ("arguments", "secret"),
    [
        ({"password": "swordfish"}, {"swordfish"}),
        ({"mdp": "soleil"}, {"soleil"}),
        ({"auth": [{"apiKey": "swordfish"}]}, {"swordfish"}),
        ({"passwords": ["hunter2", "tournesol"]}, {"hunter2", "tournesol"}),
        ({"env": ["DB_PASSWORD=hunter2"]}, {"hunter2"}),
        ({"env": [{"name": "DB_PASSWORD", "value": "hunter2"}]}, {"hunter2"}),
        ({"headers": {"Authorization": "Bearer mF9xB5f4JqMv31"}}, {"mF9xB5f4JqMv31"}),
        ({"password": 471147}, {"471147"}),
        ({"command": "mysql -u root -phunter2 shop"}, {"-phunter2"}),
        ({"auth": {"user": "adalovelace"}, "max_tokens": 100000, "nextPageToken": "page-0002"}, set()),
    ],
)
def test_what_is_secret_among_arguments_is_told_by_name_or_look(arguments, secret):
    assert secrets(arguments) == secret


def test_a_secret_argument_is_cut_out_of_what_was_asked_for():
    calls = [{"tool": "bank/login", "arguments": {"user": "ada", "password": "swordfish"}}, "bank/pay"]
    kept = trace_of({"intent": "log ada in with swordfish and pay", "calls": calls, "session": "password=hunter2"})
    assert (kept.intent, kept.session) == (
        "log ada in with [redacted:argument] and pay",
        "password=[redacted:assignment]",
    )


def test_a_tool_named_by_a_command_with_a_secret_is_kept_without_it():
    assert trace_of({"calls": ["curl -H 'Authorization: Bearer mF9xB5f4JqMv31'"]}).calls[0].tool == (
        "curl -H 'Authorization: Bearer [redacted:authorization]'"
    )


@pytest.mark.parametrize(
    "said",
    [
        "reset the password of ada",
        "a password policy for 2026",
        "the token step2 of three",
        "read the token budget of src/app.py:10 and mail it to ada@example.org at 10:30",
    ],
)
def test_ordinary_words_stay(said):
    assert kept_of(said) == said


def test_the_same_trace_twice_is_one(office):
    line = json.dumps({"intent": "read it", "calls": ["files/read"]})
    assert office.observe_json(f"{line}\n{line}\n").added == 1
    assert office.observe_json(line).unchanged == 1
    later = json.dumps({"intent": "read it", "calls": ["files/read"], "at": 5})
    assert office.observe_json(later).added == 1


def test_a_trace_that_grew_replaces_what_it_was(office):
    grown = [{"id": "t1", "intent": "x", "calls": ["files/read", "mail/send"][:count]} for count in (1, 2)]
    assert [office.observe_json(json.dumps(one)).changed for one in grown] == [0, 1]
    assert office.stats().traces == 37


@pytest.mark.parametrize(
    ("links", "shown"),
    [([[0, 1], [1, 0]], "[1, 0]"), ([[0, 2]], "[0, 2]"), ([[-1, 0]], "[-1, 0]"), ([[0]], "[0]"), (["x"], '"x"'),
     ([[False, 1]], "[false, 1]"), ([[0.0, 1]], "[0.0, 1]"), ({"from": 0}, '{"from": 0}'), ("x" * 90, '"' + "x" * 59 + "...")],
)  # fmt: skip
def test_links_that_lead_nowhere_are_refused(links, shown):
    """Dropped, they would be learned as others: without links each call is taken to use the one before."""
    said = f"links has {shown}: give pairs of calls by their places from 0 to 1, the earlier first"
    with pytest.raises(UsageError, match=re.escape(said)):
        trace_of({"calls": ["a", "b"], "links": links})


@pytest.mark.parametrize("at", ["yesterday", "5", True, -1, [], float("inf"), float("nan"), 10**400])
def test_a_time_that_is_none_is_refused(at):
    with pytest.raises(UsageError, match=r"at is .*: give seconds since 1970 as a number, or leave it out"):
        trace_of({"calls": ["a"], "at": at})


def test_links_and_time_may_be_left_out_or_empty():
    for more in ({}, {"links": None, "at": None}, {"links": [], "at": 0}):
        kept = trace_of({"calls": ["a", "b"], **more})
        assert (kept.links, kept.at) == ((), 0.0)
    assert trace_of({"calls": ["a", "b"], "links": [[0, 1]], "at": 5}).links == ((0, 1),)


def test_what_is_refused_of_a_file_is_told_by_its_place(office):
    lines = ['{"calls": ["a"]}', '{"calls": ["a"], "at": "noon"}']
    done = office.observe_json("\n".join(lines))
    assert (done.added, [each.place for each in done.rejected]) == (1, ["line 2"])


@pytest.mark.parametrize(
    "wrong", [None, 3, {}, {"calls": []}, {"calls": "a"}, {"calls": [{}]}, {"calls": [""]}, {"calls": ["a"] * 3000}]
)
def test_what_is_no_trace_is_named(wrong):
    with pytest.raises(UsageError):
        trace_of(wrong)


def test_names_of_agents_are_understood():
    kept = trace_of({"calls": ["mcp__files__read", "mcp__files__read__all", "Bash", "mcp__x"]})
    assert [call.tool for call in kept.calls] == ["files/read", "files/read__all", "Bash", "mcp__x"]


def test_a_bare_name_stands_for_the_registered_tool(office):
    office.observe_json('{"intent": "append", "calls": ["write"]}')
    assert {usage.tool: usage.calls for usage in office.stats().used}["files/write"] == 13


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_no_json_breaks_reading(value):
    read = json.dumps([value, {"calls": ["a"], "intent": value, "at": value, "links": value}, {"calls": ["a"]}])
    traces, _ = read_traces(read)
    assert traces[-1].calls == (Call("a"),)


def test_a_very_long_intent_is_cut():
    assert len(trace_of({"calls": ["a"], "intent": "word " * 10_000}).intent) == LONGEST_INTENT


def test_forgetting(office):
    ids = [trace.id for trace in read_traces('{"intent": "x", "calls": ["files/read"]}')[0]]
    office.observe_json('{"intent": "x", "calls": ["files/read"]}')
    assert (office.forget(ids), office.forget(ids), office.stats().traces) == (1, 0, 36)


def test_the_place_of_a_secret_says_nothing_of_a_task(office):
    """The same words without it are the same task."""
    line = {"intent": "paint the fence with password=hunter22", "calls": ["files/read", "mail/send"]}
    office.observe_json(json.dumps(line))
    plan = office.suggest("paint the fence with password")
    assert ([task.call for task in plan.tasks], plan.confidence) == (["files/read", "mail/send"], 1.0)

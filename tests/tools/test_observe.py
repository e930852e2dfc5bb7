"""Traces: what is kept of them, and above all what is not."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.errors import UsageError
from vademecum.tools.observe import LONGEST_INTENT, read_traces, trace_of, without_secrets
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


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_0123456789abcdefABCDEF0123456789abcd",
        "sk-proj-0123456789abcdefABCDEF",
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb-123456789012-abcdefghijkl",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_keys_in_an_intent_are_replaced(secret):
    said = without_secrets(f"use {secret} for the upload to the bucket")
    assert secret not in said
    assert said.startswith("use [secret]")
    assert said.endswith("for the upload to the bucket")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("log in with password hunter2-XYZZY now", "log in with password [secret] now"),
        ("use passphrase 'c0rrect-horse' and go on", "use passphrase [secret]' and go on"),
        ("send token 0a1b2c3d4e5f6a7b to ada", "send token [secret] to ada"),
    ],
)
def test_a_password_that_is_said_without_a_sign_between_is_replaced(said, kept):
    assert without_secrets(said) == kept


@pytest.mark.parametrize(
    "said", ["reset the password of ada", "a password policy for 2026", "the token step2 of three"]
)
def test_what_follows_the_word_and_looks_like_a_word_stays(said):
    assert without_secrets(said) == said


def test_ordinary_words_stay():
    said = "read the token budget of src/app.py:10 and mail it to ada@example.org at 10:30"
    assert without_secrets(said) == said


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

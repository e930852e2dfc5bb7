"""`vade tools`: from files to answers, in text and JSON, with exit codes that say what happened."""

from __future__ import annotations

import json

import pytest

TOOLS = [
    {"name": "read", "description": "Read a file from the disk.", "inputSchema": {"properties": {"path": {}}}},
    {"name": "write", "description": "Write text to a file."},
]
TRACES = [
    {"intent": f"copy the {what} file", "calls": ["files/read", "files/write"], "links": [[0, 1]]}
    for what in ("old", "new", "big", "small")
]


@pytest.fixture
def known(vade, tmp_path):
    """Two tools and four traces, registered and observed."""
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "traces.jsonl").write_text("\n".join(map(json.dumps, TRACES)))
    said = vade("tools", "register", str(tmp_path / "tools.json"), "--server", "files")
    assert (said.code, said.out) == (0, "2 new, 0 changed, 0 known already, 0 gone\n")
    said = vade("tools", "observe", str(tmp_path / "traces.jsonl"))
    assert (said.code, said.out) == (0, "4 new, 0 changed, 0 known already\n")
    return vade


def test_search_names_the_tool_and_the_chain(known):
    said = known("tools", "search", "read a file", "--why")
    assert said.code == 0
    assert "files/read  0." in said.out
    assert "reliability +1.03" in said.out
    assert "chain  0." in known("tools", "search", "copy the green file").out


def test_predict_and_suggest_follow_what_was_done(known):
    said = known("tools", "predict", "copy the green file", "--after", "files/read", "--json")
    record = json.loads(said.out)
    assert (said.code, record["candidates"][0]["tool"], record["abstained"]) == (0, "files/write", False)
    said = known("tools", "suggest", "copy the green file")
    assert said.code == 0
    assert "1. t1  files/read(path)" in said.out
    assert "2. t2  files/write()  after t1" in said.out


def test_what_was_called_may_be_named_in_one_option_or_in_several(known):
    calls = ("--after", "files/read", "--after", "files/write", "--json")
    several = json.loads(known("tools", "predict", "copy the green file", *calls).out)
    assert several["after"] == ["files/read", "files/write"]
    assert several == json.loads(
        known("tools", "predict", "copy the green file", "--after", "files/read,files/write", "--json").out
    )


def test_only_a_registered_tool_is_allowed(known):
    said = known("tools", "allow", "files/read", "files/raed")
    assert (said.code, said.out) == (2, "")
    assert "no tool 'files/raed' is registered: did you mean files/read" in said.err
    assert known("tools", "allow", "files/read").out == "files/read may be called\n"


def test_an_address_is_no_file(vade):
    said = vade("tools", "register", "https://tools.example.com/mcp")
    assert (said.code, "--mcp-url" in said.err) == (2, True)


def test_an_abstention_exits_with_1(known):
    said = known("tools", "predict", "sing a song", "--threshold", "1")
    assert (said.code, said.out.partition(" ")[0]) == (1, "not")


def test_nothing_found_exits_with_1(vade):
    said = vade("tools", "search", "read a file")
    assert (said.code, "no tool is registered" in said.out) == (1, True)
    assert vade("tools", "suggest", "read a file").code == 1


def test_stats_pins_and_the_page(known, tmp_path):
    assert known("tools", "pin", "files/write").code == 0
    said = known("tools", "stats")
    assert "2 tools of 1 server, 4 traces, 1 chain, 0 chains of chains, 0 tools never used" in said.out
    assert "pinned: files/write" in said.out
    page = tmp_path / "page.html"
    assert known("tools", "graph", "--html", str(page), "--plan", "copy the green file").code == 0
    assert "files/write" in page.read_text()


@pytest.mark.parametrize("text", ["", "[]", '{"tools": []}'])
def test_a_file_with_nothing_in_it_is_told_so(vade, text):
    said = vade("tools", "register", "-", stdin=text)
    assert (said.code, "nothing is in it: give an array of tools, or one a line" in said.out) == (1, True)


def test_what_is_not_taken_is_named(vade):
    said = vade("tools", "register", "-", stdin='[{"name": "a"}, {"title": 1}]')
    assert (said.code, "not taken: tools[1]: a tool needs a name" in said.out) == (0, True)
    assert vade("tools", "observe", "-", stdin='[{"calls": []}]').code == 1
    said = vade("tools", "observe", "-", stdin="what?")
    assert (said.code, "neither JSON nor JSON lines" in said.err) == (2, True)


@pytest.mark.parametrize(
    "args",
    [
        ("register", "no/such/file"),
        ("observe", "."),
        ("pin", "no/such"),
        ("search", "x", "-k", "0"),
        ("predict", "x", "--threshold", "2"),
        ("graph", "--html", "no/such/folder/page.html"),
    ],
)
def test_a_wrong_call_exits_with_2(vade, args):
    said = vade("tools", *args)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)

"""The wire: JSON-RPC 2.0, a message a line, whatever the client sends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vademecum.answers.pack import Context
from vademecum.config import Settings
from vademecum.engine import Engine
from vademecum.errors import RootError
from vademecum.mcp.loop import Server
from vademecum.mcp.registry import INSTRUCTIONS, TOOLS
from vademecum.mcp.tool import Front
from vademecum.types import Verdict

FRONT = Front(TOOLS, INSTRUCTIONS)
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ENVELOPE = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number, tool, **arguments):
    return request(number, "tools/call", name=tool, arguments=arguments)


class SmallEngine:
    """Just enough of an engine for the wire: finds nothing, when the gate is open."""

    roots = ()
    settings = Settings()

    def __init__(self, gate=None):
        self.gate = gate
        self.closed = False

    def scope(self, *elsewhere):
        """Return the open repositories."""
        return "repos"

    def search(self, text, budget=None, *, progress=None, **_):
        """Wait, break or find nothing."""
        if text == "bug":
            raise KeyError(text)
        if progress:
            progress("parse", 1, 2)
        if self.gate:
            self.gate.wait(10)
        return Context(text, f"not found 0.00\nno {text}\n", 4, 760, "none", Verdict.NOT_FOUND, 0.0, f"no {text}")

    def close(self):
        """Remember it."""
        self.closed = True


def converse(*messages, open_engine=SmallEngine):
    """Send lines to a server in this process; return what it sends back."""
    sent = []
    server = Server(open_engine, sent.append, FRONT)
    for message in messages:
        server.receive(message if isinstance(message, str) else json.dumps(message))
    server.close()
    return sent


def by_id(sent):
    return {message["id"]: message for message in sent if "id" in message}


@pytest.fixture
def talk(repository):
    """Run the server as a process, send lines, close the input, return the answers."""

    def talk(*messages, paths=None, cwd=None, env=None):
        done = subprocess.run(
            [sys.executable, "-m", "vademecum", "mcp", *([str(repository)] if paths is None else paths)],
            input="".join(json.dumps(message) + "\n" for message in messages),
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | (env or {}),
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    return talk


def test_a_whole_session(talk):
    answers = by_id(
        talk(
            INITIALIZE,
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            request(1, "ping"),
            request(2, "tools/list"),
            call(3, "search", query="split the token budget"),
            call(4, "open", location="src/budget.py:1-1"),
            call(5, "open", location="/etc/passwd"),
            call(6, "symbol", name="split_budget"),
            call(7, "status"),
            env={"VADE_MCP__TOOLS": "open,status"},
        )
    )
    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"
    assert answers[0]["result"]["serverInfo"]["name"] == "vademecum"
    assert answers[1]["result"] == {}
    listed = [tool["name"] for tool in answers[2]["result"]["tools"]]
    assert listed == ["search", "context", "symbol", "recall", "remember", "open", "status"]
    assert "src/budget.py:1-" in answers[3]["result"]["content"][0]["text"]
    assert not [number for number, answer in answers.items() if "structuredContent" in answer["result"]]
    assert "def split_budget" in answers[4]["result"]["content"][0]["text"]
    assert answers[5]["result"]["isError"] is True
    assert "root:" not in json.dumps(answers[5])
    assert answers[6]["result"]["content"][0]["text"].startswith("resolved 1.00")
    assert answers[7]["result"]["content"][0]["text"].startswith("handbook: ")


def test_structured_content_holds_the_same_where_a_user_asks_for_it(talk):
    """Every line of code that the text shows stands in the structured content too."""
    answers = by_id(
        talk(
            INITIALIZE,
            call(1, "search", query="split the token budget"),
            call(2, "context", task="split the token budget"),
            env={"VADE_MCP__STRUCTURED_CONTENT": "true"},
        )
    )
    for number in (1, 2):
        result = answers[number]["result"]
        said = json.dumps(result["structuredContent"])
        code = [line for line in result["content"][0]["text"].splitlines() if line.startswith((" ", "def"))]
        assert any(line.startswith("def split_budget") for line in code)
        assert not [line for line in code if json.dumps(line)[1:-1] not in said]


def test_tools_about_tools_are_listed_once_there_are_any(talk, tmp_path):
    """A catalogue brings its three tools; without one nobody pays for them."""
    home = {"VADE_HOME": str(tmp_path / "home")}

    def listed():
        return [tool["name"] for tool in by_id(talk(request(1, "tools/list"), env=home))[1]["result"]["tools"]]

    assert listed() == ["search", "context", "symbol", "recall", "remember"]
    (tmp_path / "tools.json").write_text('[{"name": "read", "description": "Read a file."}]')
    register = [sys.executable, "-m", "vademecum", "tools", "register", str(tmp_path / "tools.json")]
    env = os.environ | home | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(register, check=True, env=env, capture_output=True)
    assert listed()[5:] == ["search_tools", "predict_tool", "suggest_plan"]


def test_what_cannot_be_opened_is_told_by_the_first_call(talk):
    answers = by_id(talk(INITIALIZE, call(1, "search", query="x"), paths=["no/such/folder"]))
    assert "result" in answers[0]
    assert answers[1]["result"]["isError"] is True
    assert "no/such/folder" in answers[1]["result"]["content"][0]["text"]


def test_a_server_started_at_home_does_not_index_it(talk, tmp_path):
    answers = by_id(talk(call(1, "search", query="x"), paths=[], cwd=tmp_path, env={"HOME": str(tmp_path)}))
    assert "add the repository to its command" in answers[1]["result"]["content"][0]["text"]


def test_standard_output_belongs_to_the_protocol():
    code = (
        "import os, subprocess, sys\n"
        "from vademecum.mcp import loop\n"
        "source, sink = loop._own_streams()\n"
        "print('stray'); os.write(1, b'stray\\n'); subprocess.run(['echo', 'stray'], check=True)\n"
        "sink.write(source.readline()); sink.flush()\n"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], input="hello\n", env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "hello\n"
    assert done.stderr.count("stray") == 3


@pytest.mark.parametrize(
    ("asked", "given"),
    [(v, v) for v in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")]
    + [("2026-07-28", "2025-11-25"), ("1999-01-01", "2025-11-25"), (None, "2025-11-25")],
)
def test_the_version_asked_for_is_spoken_or_the_newest_offered(asked, given):
    (answer,) = converse(request(1, "initialize", protocolVersion=asked))
    assert answer["result"]["protocolVersion"] == given


def test_the_era_without_a_handshake_is_spoken_too():
    sent = by_id(
        converse(
            request(1, "server/discover", _meta=ENVELOPE),
            request(2, "tools/list", _meta=ENVELOPE),
            request(3, "tools/call", name="search", arguments={"query": "x"}, _meta=ENVELOPE),
            request(4, "tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "2099-01-01"}),
        )
    )
    assert "2026-07-28" in sent[1]["result"]["supportedVersions"]
    assert sent[2]["result"]["resultType"] == "complete"
    assert sent[3]["result"]["content"][0]["text"].startswith("not found")
    assert sent[4]["error"]["code"] == -32022
    assert sent[4]["error"]["data"]["requested"] == "2099-01-01"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{not json", -32700),
        ("[" * 100_000, -32700),
        ("3", -32600),
        ("[]", -32600),
        ('{"jsonrpc": "2.0", "id": 1}', -32600),
        ('{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
        (request(1, "resources/list"), -32601),
        (request(1, "tools/call", name="grep", arguments={}), -32602),
        (request(1, "tools/call", name=["x"]), -32602),
        (request(1, "tools/call"), -32602),
        (request(1, "tools/call", name="search", arguments=[1]), -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602),
    ],
)
def test_a_malformed_request_is_a_protocol_error_and_the_session_goes_on(message, code):
    sent = converse(message, request(9, "ping"))
    errors = [answer["error"]["code"] for answer in sent if "error" in answer]
    assert errors == [code]
    assert by_id(sent)[9]["result"] == {}


VALUES = st.sampled_from(
    [None, True, 3, -1.5, "search", "é\u2028", [], [1], {}, {"progressToken": "t"}, {"query": "bug"}]
)
PARAMS = st.dictionaries(st.sampled_from(["name", "arguments", "_meta", "protocolVersion"]), VALUES, max_size=4)
METHODS = ["initialize", "server/discover", "ping", "tools/list", "tools/call", "notifications/cancelled", "x"]


@settings(deadline=None)
@given(
    messages=st.lists(
        st.fixed_dictionaries(
            {"jsonrpc": st.just("2.0"), "method": st.sampled_from(METHODS)},
            optional={"params": PARAMS | VALUES},
        ),
        max_size=5,
    )
)
def test_every_request_gets_one_answer_whatever_is_in_it(messages):
    requests = [message | {"id": f"r{number}"} for number, message in enumerate(messages)]
    answers = converse(*requests)
    assert sorted(answer["id"] for answer in answers) == [message["id"] for message in requests]
    assert all(("result" in answer) != ("error" in answer) for answer in answers)


def test_a_tool_that_fails_tells_the_model():
    sent = by_id(converse(call(1, "search"), call(2, "search", query="bug"), call(3, "search", query="fine")))
    assert sent[1]["result"]["isError"] is True
    assert "search: query is missing" in sent[1]["result"]["content"][0]["text"]
    assert sent[2]["result"]["isError"] is True
    assert "internal error in search: KeyError" in sent[2]["result"]["content"][0]["text"]
    assert sent[3]["result"]["isError"] is False


def test_an_engine_that_cannot_open_is_tried_again_at_each_call():
    tries = []

    def open_engine():
        tries.append(1)
        if len(tries) < 3:
            raise RootError("there is no directory 'x': check the path")
        return SmallEngine()

    sent = by_id(
        converse(INITIALIZE, call(1, "search", query="a"), call(2, "search", query="a"), open_engine=open_engine)
    )
    assert "check the path" in sent[1]["result"]["content"][0]["text"]
    assert sent[2]["result"]["isError"] is False


def test_notifications_and_responses_are_not_answered():
    assert (
        converse(
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "method": "notifications/whatever", "params": {"a": 1}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}},
            {"jsonrpc": "2.0", "id": 4, "result": {}},
            {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "search", "arguments": {"query": "x"}}},
        )
        == []
    )


def test_a_batch_is_answered_as_one():
    sent = converse([request(1, "ping"), {"jsonrpc": "2.0", "method": "x"}, 7, call(2, "search", query="x")])
    assert len(sent) == 1
    assert [answer.get("id") for answer in sent[0]] == [1, None, 2]
    assert converse([{"jsonrpc": "2.0", "method": "x"}]) == []


def test_a_long_call_does_not_block_ping_and_can_be_cancelled():
    gate, sent = threading.Event(), []
    engine = SmallEngine(gate)
    server = Server(lambda: engine, sent.append, FRONT)
    for message in (
        call(1, "search", query="slow"),
        call(2, "search", query="next"),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}},
        request(3, "ping"),
    ):
        server.receive(json.dumps(message))
    assert [message["id"] for message in sent] == [3]
    gate.set()
    server.close()
    assert [message["id"] for message in sent] == [3, 1]
    assert engine.closed


def test_a_pattern_without_an_end_blocks_no_one(repository, monkeypatch):
    """While it is matched a ping is answered, and what comes of it is an error that says what to write."""
    monkeypatch.setattr("vademecum.code.search.filters.LEAST_SECONDS", 0.5)
    (repository / "words.md").write_text("how are redirects followed when they are many " * 40)
    sent = []
    server = Server(lambda: Engine.open(repository, embedder="hashing"), sent.append, FRONT)
    server.receive(json.dumps(call(1, "search", query="redirects", regex=r"(\w+\s*)+@@")))
    server.receive(json.dumps(request(2, "ping")))
    server.close()
    assert [message["id"] for message in sent] == [2, 1]
    assert sent[1]["result"]["isError"]
    assert "did not come to an end" in sent[1]["result"]["content"][0]["text"]


def test_progress_is_told_where_it_is_asked_for():
    sent = converse(
        request(1, "tools/call", name="search", arguments={"query": "x"}, _meta={"progressToken": "t"}),
        call(2, "search", query="x"),
    )
    assert [message.get("method") for message in sent] == ["notifications/progress", None, None]
    assert sent[0]["params"] == {"progressToken": "t", "progress": 1, "message": "parse 1/2"}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_the_official_client_is_served(repository, mode):
    anyio = pytest.importorskip("anyio")
    mcp = pytest.importorskip("mcp")
    server = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "vademecum", "mcp", str(repository)],
        env=dict(os.environ) | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )

    async def session():
        async with mcp.Client(server, mode=mode) as client:
            tools = await client.list_tools()
            found = await client.call_tool("search", {"query": "split the token budget"})
            refused = await client.call_tool("search", {"query": "x", "path": "../../etc"})
            return [tool.name for tool in tools.tools], found, refused

    names, found, refused = anyio.run(session)
    assert names == ["search", "context", "symbol", "recall", "remember"]
    assert "### src/budget.py:1-" in found.content[0].text
    assert found.structured_content is None
    assert not found.is_error
    assert refused.is_error

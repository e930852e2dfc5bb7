"""Servers of tools: real ones by the official SDK, over pipes and HTTP, and hostile ones that keep to nothing."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from vademecum.errors import ConfigError, ToolServerError
from vademecum.protocols import ToolServer
from vademecum.providers.servers.configured import ServerSpec, open_server, read_servers, specs_of
from vademecum.providers.servers.http import HttpServer
from vademecum.providers.servers.stdio import StdioServer
from vademecum.result import Err

# A server as its author would write it.
REAL = '''
import os, sys, time
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("files")

@server.tool()
def read(path: str) -> str:
    """Read a file."""
    return f"content of {path}"

@server.tool()
def environment() -> list[str]:
    """Name the variables of the environment."""
    return sorted(os.environ)

@server.tool()
def large(size: int) -> str:
    """Answer at length."""
    return "x" * size

@server.tool()
def sleep(seconds: float) -> str:
    """Take a while."""
    time.sleep(seconds)
    return "awake"

@server.tool()
def die() -> str:
    """End the process."""
    print("out of cheese", file=sys.stderr, flush=True)
    os._exit(3)

@server.tool()
async def grow(ctx: Context) -> str:
    """Offer one more tool from now on."""
    server.add_tool(read, name="write", description="Write a file.")
    if (ctx.protocol_version or "") >= "2026":
        await ctx.notify_tools_changed()
    else:
        await ctx.session.send_tool_list_changed()
    return "grown"

if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
'''
# A server that does one thing wrong, named by its argument.
HOSTILE = """
import json, os, signal, subprocess, sys, time

how = sys.argv[1]
out = sys.stdout.buffer
replies = []

def send(message):
    out.write(json.dumps(message).encode() + b"\\n")
    out.flush()

def answer(request, result):
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})

def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}}

if how == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print(child.pid, file=sys.stderr, flush=True)
if how == "silent":
    time.sleep(600)
if how == "talkative":
    sys.stderr.write("noise\\n" * 200_000)
    sys.stderr.flush()
    out.write(b"Welcome to my server!\\r\\n\\xff\\xfe not text\\n[1, 2]\\n3\\n")
for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if method is None:
        replies.append(request)
    if "id" not in request or method is None:
        continue
    if method == "initialize":
        if how == "stateless":
            send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "no such method"}})
        elif how == "unwilling":
            send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32000, "message": "licence expired"}})
        elif how == "greets at length":
            answer(request, {"instructions": "x" * 200_000})
        else:
            answer(request, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "h", "version": "1"}})
        if how == "curious":
            send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
            send({"jsonrpc": "2.0", "id": "roots", "method": "roots/list"})
    elif method == "tools/list":
        cursor = request["params"].get("cursor")
        if how == "paged":
            number = int(cursor or 0)
            answer(request, {"tools": [tool(f"t{number}")]} | ({"nextCursor": str(number + 1)} if number < 4 else {}))
        elif how == "endless":
            answer(request, {"tools": [tool("t")], "nextCursor": "again"})
        elif how == "wrong list":
            answer(request, {"tools": "all of them"})
        elif how == "stateless":
            answer(request, {"tools": [tool(request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"])]})
        elif how == "mute":
            os.close(1)
            time.sleep(600)
        elif how == "hangs up":
            sys.exit(7)
        else:
            answer(request, {"tools": [tool("go"), tool("go"), {"name": 3}, {"name": "evil", "server": "other"}]})
    elif how == "flood":
        out.write(b'{"jsonrpc":"2.0","id":' + str(request["id"]).encode() + b',"result":{"content":[{"type":"text","text":"')
        for _ in range(200):
            out.write(b"x" * 100_000)
        out.write(b'"}]}}\\n')
        out.flush()
    elif how == "deep":
        out.write(b'{"id":' + str(request["id"]).encode() + b',"result":' + b"[" * 200_000 + b"]" * 200_000 + b"}\\n")
        out.flush()
    elif how == "garbles":
        out.write(b"{this is : not json\\n\\nDEBUG going\\n")
        out.flush()
    elif how == "no result":
        answer(request, {"hello": "there"})
    elif how == "wrong content":
        answer(request, {"content": ["text"]})
    elif how == "curious":
        while len(replies) < 2:
            replies.append(json.loads(sys.stdin.readline()))
        answer(request, {"content": [{"type": "text", "text": json.dumps(replies)}]})
    elif how == "does not read":
        answer(request, {"content": []})
        time.sleep(600)
    else:
        answer(request, {"content": [{"type": "text", "text": "fine"}]})
"""
Opened = Callable[..., StdioServer]


@pytest.fixture
def real(tmp_path: Path) -> Path:
    """The real server's file."""
    path = tmp_path / "real_server.py"
    path.write_text(REAL, encoding="utf-8")
    return path


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Open the hostile server as one named, or a given file; closed at the end."""
    file = tmp_path / "hostile_server.py"
    file.write_text(HOSTILE, encoding="utf-8")
    servers: list[StdioServer] = []

    def make(how: str | Path, **limits: Any) -> StdioServer:
        words = [sys.executable, str(file), how] if isinstance(how, str) else [sys.executable, str(how)]
        servers.append(StdioServer("files", words, **({"timeout_s": 60.0} | limits)))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture
def address(real: Path) -> Iterator[str]:
    """The real server at an address on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, str(real), str(port)], stdout=quiet, stderr=quiet)
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/mcp"
    process.kill()
    process.wait()


def names(server: ToolServer) -> list[str]:
    return [tool["name"] for tool in server.tools().unwrap()]


def text(server: ToolServer, tool: str, **arguments: Any) -> str:
    return str(server.call(tool, arguments).unwrap()["content"][0]["text"])


def failure(server: ToolServer, tool: str = "go", **arguments: Any) -> str:
    result = server.call(tool, arguments)
    assert isinstance(result, Err)
    return str(result.error)


@pytest.mark.slow
def test_a_real_server_over_pipes(opened: Opened, real: Path) -> None:
    """Its tools with their schemas, a call, a tool that fails, one that does not exist, and a list that changes."""
    server = opened(real)
    assert isinstance(server, ToolServer)
    read = server.tools().unwrap()[0]
    assert (read["name"], read["inputSchema"]["required"]) == ("read", ["path"])
    assert text(server, "read", path="a.txt") == "content of a.txt"
    assert server.call("read", {}).unwrap()["isError"] is True
    assert not server.stale
    assert text(server, "grow") == "grown"
    assert server.stale
    assert "write" in names(server)
    assert not server.stale
    assert not server.remote


@pytest.mark.slow
def test_a_real_server_over_http(address: str) -> None:
    """The same at an address; what is too slow or too long costs that call alone."""
    server = HttpServer("files", address, timeout_s=60, answer_bytes=100_000)
    assert isinstance(server, ToolServer)
    assert names(server)[0] == "read"
    assert text(server, "read", path="a.txt") == "content of a.txt"
    assert "more than 100000 bytes: ask for less, or raise gateway.answer_bytes" in failure(
        server, "large", size=200_000
    )
    assert text(server, "read", path="b.txt") == "content of b.txt"
    assert not server.remote
    assert text(server, "grow") == "grown"
    for _ in range(100):  # told on a stream of its own
        if server.stale:
            break
        time.sleep(0.1)
    assert server.stale
    assert "write" in names(server)
    hasty = HttpServer("files", address, timeout_s=4)
    assert "did not answer sleep within 4 s" in failure(hasty, "sleep", seconds=6)
    assert text(hasty, "read", path="c.txt") == "content of c.txt"
    failure(server, "die")
    server.close()
    hasty.close()
    assert "files cannot be asked" in failure(server, "read", path="a.txt")
    gone = HttpServer("files", f"{address}?token=hunter2", timeout_s=5)
    said = str(gone.tools().error)  # type: ignore[union-attr]
    assert "cannot be reached at http://127.0.0.1" in said
    assert "hunter2" not in said
    assert not gone.alive
    assert HttpServer("x", "https://example.org/mcp").remote


@pytest.mark.slow
def test_a_crash_is_told_with_the_last_words(opened: Opened, real: Path) -> None:
    """Everyone who waits is told at once, and why; what comes after too."""
    server = opened(real)
    names(server)
    told: list[str] = []
    waiting = threading.Thread(target=lambda: told.append(failure(server, "sleep", seconds=60)))
    waiting.start()
    assert failure(server, "die") == "files stopped before it answered: exit code 3, saying 'out of cheese'"
    waiting.join(20)
    assert len(told) == 1
    assert told[0].startswith("files stopped before it answered: exit code 3")
    assert not server.alive
    assert failure(server, "read", path="a").startswith("files stopped: exit code 3")


@pytest.mark.slow
def test_the_environment_is_its_own(opened: Opened, real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server sees what any program needs and what was configured for it, and no other service's key."""
    monkeypatch.setenv("OTHER_SERVICE_KEY", "hunter2")
    server = opened(real, env={"ITS_KEY": "1"})
    seen = server.call("environment", {}).unwrap()["structuredContent"]["result"]
    assert {"PATH", "ITS_KEY"} <= set(seen)
    assert "OTHER_SERVICE_KEY" not in seen


def test_a_command_that_is_not_there() -> None:
    """The message names the server, the command and what to do."""
    server = StdioServer("files", ["/nonexistent/server"])
    with pytest.raises(
        ToolServerError, match=r"files cannot be started: '/nonexistent/server': No such file.*install it"
    ):
        server.tools().unwrap()
    assert not server.alive
    server.close()


def test_all_pages_are_read(opened: Opened) -> None:
    """`nextCursor` is followed to the end."""
    assert names(opened("paged")) == ["t0", "t1", "t2", "t3", "t4"]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("endless", "the list of tools of files has no end"),
        ("wrong list", "files answered tools/list with no list of tools: report it to its author"),
        ("hangs up", "files stopped before it answered: exit code 7"),
        ("mute", "files stopped before it answered: it closed its output"),
        ("unwilling", "files refused initialize: licence expired"),
    ],
)
def test_what_is_no_list_of_tools(opened: Opened, how: str, said: str) -> None:
    """A list without end or form, or none at all, is an error that names the server."""
    with pytest.raises(ToolServerError, match=said):
        opened(how).tools().unwrap()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("flood", "files answered with more than 1000000 bytes: ask for less, or raise gateway.answer_bytes"),
        ("deep", "files answered with something that is not JSON: report it to its author"),
        ("no result", "files answered go with something that is no tool result: report it to its author"),
        ("wrong content", "files answered go with something that is no tool result: report it to its author"),
    ],
)
def test_what_is_no_answer(opened: Opened, how: str, said: str) -> None:
    """An answer that is too long, too deep or of the wrong form fails that call alone: the server can be asked again."""
    server = opened(how, answer_bytes=1_000_000)
    assert failure(server) == said
    assert failure(server) == said
    assert server.alive


def test_silence_ends(opened: Opened) -> None:
    """A server that never greets is given up after its time."""
    server = opened("silent", timeout_s=0.3)
    said = failure(server)
    assert said == (
        "files did not answer initialize within 0.3 s: see whether this is a server of MCP, or raise gateway.timeout_s"
    )


TOO_LONG_A_GREETING = "more than 100000 bytes: see whether this is a server of MCP, or raise gateway.answer_bytes"


def test_of_a_greeting_nobody_is_told_to_ask_for_less(opened: Opened) -> None:
    """What is too long there is no fault of whoever asks."""
    server = opened("greets at length", answer_bytes=100_000)
    assert failure(server) == f"files answered with {TOO_LONG_A_GREETING}"


class Greeter(BaseHTTPRequestHandler):
    """Answers whatever it is asked with 200,000 bytes."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"instructions": "x" * 200_000}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        with suppress(OSError):  # nobody reads it to its end
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_of_a_greeting_over_http_nobody_is_told_to_ask_for_less() -> None:
    """The same at an address: both of the questions that a connection begins with."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Greeter) as greeter:
        threading.Thread(target=greeter.serve_forever, daemon=True).start()
        server = HttpServer("files", f"http://127.0.0.1:{greeter.server_port}/mcp", answer_bytes=100_000)
        try:
            assert f"it answered with {TOO_LONG_A_GREETING}" in failure(server)
        finally:
            server.close()
            greeter.shutdown()


def test_one_that_writes_something_else_in_place_of_an_answer_is_told_so(opened: Opened) -> None:
    """What it wrote says more than that nothing came; what it wrote before the call is not blamed for it."""
    server = opened("garbles", timeout_s=2.0)
    assert failure(server) == (
        "files did not answer go within 2 s: it wrote 'DEBUG going', which is no message of MCP: report it to its author"
    )


def test_one_that_does_not_read_blocks_nobody(opened: Opened) -> None:
    """Megabytes that nobody takes at the other end cost no more than the time limit."""
    server = opened("does not read", timeout_s=1.0)
    assert server.call("go", {}).unwrap() == {"content": []}
    assert "did not answer go within 1 s" in failure(server, "go", text="x" * 4_000_000)


def test_noise_is_no_answer(opened: Opened) -> None:
    """What a server prints beside its messages is passed over, on both streams."""
    assert text(opened("talkative"), "go") == "fine"


def test_questions_of_a_server_are_answered(opened: Opened) -> None:
    """A ping gets its answer, even under a number of ours; what is not offered is refused; calls go on."""
    ping, roots = json.loads(text(opened("curious"), "go"))
    assert (ping["id"], ping["result"]) == (1, {})
    assert (roots["id"], roots["error"]["code"]) == ("roots", -32601)


def test_a_server_without_a_handshake(opened: Opened) -> None:
    """One that knows no `initialize` gets its version with every request."""
    assert names(opened("stateless")) == ["2026-07-28"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are POSIX")
def test_a_stubborn_server_is_ended_with_its_children(opened: Opened) -> None:
    """One that heeds neither the end of its input nor a polite signal is killed, and what it started too."""
    server = opened("stubborn")
    assert text(server, "go") == "fine"
    process = server._process
    assert process is not None
    group = os.getpgid(process.pid)
    server.close()
    assert process.poll() is not None
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("something of it is left")


CONFIG = {
    "mcpServers": {
        "files": {"command": "npx", "args": ["-y", "${PACKAGE:-server-files}"], "env": {"TOKEN": "${env:TOKEN}"}},
        "off": {"command": "x", "disabled": True},
        "@scope/web": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        "old": {"type": "sse", "url": "http://127.0.0.1:1/sse"},
    }
}


def test_servers_as_people_write_them_down() -> None:
    """Commands, addresses, variables of the environment; what is disabled is left out; a name has no slash."""
    files, web, old = specs_of(CONFIG, "servers.json", {"TOKEN": "t0ken"})
    assert (files.name, files.command, files.env) == ("files", ("npx", "-y", "server-files"), {"TOKEN": "t0ken"})
    assert (web.name, web.url, web.headers) == (
        "@scope-web",
        "https://example.org/mcp",
        {"Authorization": "Bearer t0ken"},
    )
    assert old.sse
    assert "t0ken" not in repr([files, web, old])
    assert isinstance(open_server(files), StdioServer)
    assert isinstance(open_server(old), HttpServer)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "names no servers"),
        ({"mcpServers": {"a": {}}}, "'a' in servers.json needs either `command` or `url`"),
        ({"mcpServers": {"a": {"command": "x", "url": "http://y"}}}, "needs either `command` or `url`"),
        ({"mcpServers": {"a": "x"}}, "'a' in servers.json is not described"),
        ({"mcpServers": {"a": {"command": "x", "args": "y"}}}, "args of 'a' in servers.json must be an array"),
        ({"mcpServers": {"a": {"command": "x", "env": {"K": ["v"]}}}}, "env.K of 'a' in servers.json is list"),
        ({"mcpServers": {"a": {"command": "${NOT_SET}"}}}, "needs the environment variable NOT_SET"),
        ({"mcpServers": {"a": {"url": "ftp://x"}}}, "begins with http:// or https://"),
        (
            {"mcpServers": {"a/b": {"command": "x"}, "a-b": {"command": "y"}}},
            "two servers in servers.json are called 'a-b'",
        ),
        ({"mcpServers": {"a": {"command": "x", "disabled": True}}}, "every server in servers.json is disabled"),
    ],
)
def test_a_wrong_configuration_says_where(config: object, said: str) -> None:
    """The message names the file, the server and what would be right."""
    with pytest.raises(ConfigError, match=said.replace("(", r"\(")):
        specs_of(config, "servers.json", {})


def test_a_file_of_servers(tmp_path: Path) -> None:
    """It is JSON and there."""
    path = tmp_path / "servers.json"
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_servers(path)
    path.write_text("{")
    with pytest.raises(ConfigError, match="is not JSON"):
        read_servers(path)
    path.write_text('{"servers": {"a": {"command": ["uvx", "a"]}}}')
    assert read_servers(path)[0].command == ("uvx", "a")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("npx -y @modelcontextprotocol/server-files .", "server-files"),
        ("uvx mcp-server-git@1.2 --repository .", "mcp-server-git"),
        ("python '/a path/my_server.py'", "my_server"),
        ("/usr/bin/files-server --root /", "files-server"),
        ("docker run -i mcp/fetch:latest", "fetch"),
    ],
)
def test_a_command_has_a_name(line: str, name: str) -> None:
    """What it is about, not what runs it."""
    assert ServerSpec.of_command(line).name == name
    with pytest.raises(ConfigError, match="no command line"):
        ServerSpec.of_command("npx 'unclosed")

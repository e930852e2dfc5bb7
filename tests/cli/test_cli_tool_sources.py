"""`vade tools register` from servers and documents, `observe` from transcripts, `graph`: what one types and sees."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

SERVER = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        tools = [{"name": "read", "description": "Read a file.", "inputSchema": {"type": "object"}}, {"title": "no name"}]
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "f", "version": "1"}}
        result = hello if request["method"] == "initialize" else {"tools": tools}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


@pytest.fixture
def command(tmp_path):
    """A command that starts a small server."""
    path = tmp_path / "files_server.py"
    path.write_text(SERVER)
    return shlex.join([sys.executable, str(path)])


def test_a_running_server_is_asked(vade, repository, command):
    """Its tools are registered under its name; what is none is told; a second time nothing is new."""
    done = vade("tools", "register", "--mcp", command)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(
        "files_server: 1 new, 0 changed, 0 known already, 0 gone\n  not taken: files_server tools[1]"
    )
    assert "0 new, 0 changed, 1 known already" in vade("tools", "register", "--mcp", command).out
    assert (
        "files/read"
        in (vade("tools", "register", "--mcp", command, "--server", "files"), vade("tools", "search", "read"))[1].out
    )


def test_a_server_that_cannot_be_asked_costs_no_other(vade, repository, command, tmp_path):
    """It is named on standard error, and the exit code says so."""
    config = tmp_path / "servers.json"
    words = shlex.split(command)
    servers = {"lost": {"command": "/nonexistent/server"}, "files": {"command": words[0], "args": words[1:]}}
    config.write_text(json.dumps({"mcpServers": servers}))
    done = vade("tools", "register", "--servers", str(config))
    assert done.code == 1
    assert done.err.startswith("vade: lost cannot be started: '/nonexistent/server'")
    assert done.out.startswith("files: 1 new")
    assert vade("tools", "register", "--mcp-url", "example.org").code == 2


WAITS = """
import pathlib, sys, time
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
"""
MAKES = """
import pathlib, sys
pathlib.Path(sys.argv[1]).touch()
"""


def test_servers_are_asked_side_by_side(vade, repository, tmp_path, monkeypatch):
    """The first answers only once the second was started; they are told in their order all the same."""
    monkeypatch.setenv("VADE_GATEWAY__TIMEOUT_S", "5")
    servers = {}
    for name, before in (("slow", WAITS), ("quick", MAKES)):
        path = tmp_path / f"{name}.py"
        path.write_text(before + SERVER)
        servers[name] = {"command": sys.executable, "args": [str(path), str(tmp_path / "started")]}
    config = tmp_path / "servers.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    done = vade("tools", "register", "--servers", str(config))
    assert (done.code, done.err) == (0, "")
    assert [line.split(":")[0] for line in done.out.splitlines() if " new, " in line] == ["slow", "quick"]


def test_a_document_is_registered(vade, repository, tmp_path):
    """Each operation of an OpenAPI document is a tool; what such a document is, it says itself."""
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Pets"},
        "paths": {"/pets": {"get": {"summary": "List all pets."}}},
    }
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(document))
    assert vade("tools", "register", "--openapi", str(path)).out.startswith("1 new")
    assert "pets/get_pets" in vade("tools", "search", "list the pets").out
    assert vade("tools", "register", str(path)).out.startswith("0 new, 0 changed, 1 known already")
    path.write_text("# of pets\nopenapi: 3.1.0\ninfo: {title: Pets}\npaths: {/pets: {post: {summary: Add a pet.}}}\n")
    assert vade("tools", "register", str(path)).out.startswith("1 new, 0 changed, 0 known already, 1 gone")
    path.write_text("openapi: 3.1.0\n")
    assert "this is no OpenAPI document: it needs" in vade("tools", "register", str(path)).err
    path.write_text("{}")
    assert "this is no OpenAPI document" in vade("tools", "register", "--openapi", str(path)).err


def test_transcripts_of_a_folder_are_observed(vade, repository, tmp_path):
    """Each thing asked is a trace; read again, nothing is new."""
    use = {"type": "tool_use", "id": "1", "name": "mcp__mail__send", "input": {"to": "ada@example.org"}}
    lines = [
        {"type": "user", "sessionId": "s", "message": {"content": "mail the report"}},
        {"type": "assistant", "sessionId": "s", "message": {"content": [use]}},
    ]
    folder = tmp_path / "projects" / "-home-ada"
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "notes.txt").write_text("no transcript")
    assert vade("tools", "observe", "--transcripts", str(tmp_path / "projects")).out.startswith(
        "1 new, 0 changed, 0 known"
    )
    assert vade("tools", "observe", "--transcripts", str(folder / "s.jsonl")).out.startswith(
        "0 new, 0 changed, 1 known"
    )
    assert "mail/send" in vade("tools", "suggest", "mail the report").out


def test_a_page_is_written(vade, repository, command, tmp_path):
    """`graph` writes a page with a plan; where it cannot, it says so."""
    vade("tools", "register", "--mcp", command)
    path = tmp_path / "tools.html"
    assert vade("tools", "graph", "--html", str(path), "--plan", "read a file").code == 0
    assert '"intent":"read a file"' in path.read_text()
    done = vade("tools", "graph", "--html", str(tmp_path / "no" / "folder.html"))
    assert (done.code, "cannot be written" in done.err) == (2, True)
    done = vade("tools", "graph", "--html", "-")
    assert (done.code, done.out.startswith("<!")) == (0, True)

"""The kernel's word on what leaves this machine: no verb makes a socket, and the server's are of loopback alone."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

import needed
from verbs import ASKED

CALLS = "socket,connect,bind,sendto,sendmsg"
INTERNET = re.compile(r"AF_(?!UNIX|LOCAL)\w+")
ADDRESS = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')
EVERY = """
import contextlib, io, json, sys
from vademecum.cli import main
for verb, ways in json.loads(sys.argv[1]).items():
    for arguments in ways:
        said = io.StringIO()
        sys.stdin = io.StringIO("")
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = main([verb, *arguments])
        if code not in (0, 1):
            sys.exit(f"{verb} {arguments}: {code}: {said.getvalue()}")
"""


@pytest.fixture
def traced(repo, tmp_path):
    """Start Python in a repository of two commits, with the kernel's calls about sockets written to a file."""
    strace = needed.program("strace", how="apt install strace")
    made = repo()
    made.write(
        "src/total.py", "from src.price import price\n\n\ndef total(items):\n    return sum(map(price, items))\n"
    )
    made.write("src/price.py", "def price(item):\n    return item.cost\n")
    made.commit("prices")
    log = tmp_path / "calls"

    def start(*arguments, **options):
        command = [
            strace,
            "-f",
            "--seccomp-bpf",
            "-qq",
            "-e",
            f"trace={CALLS}",
            "-o",
            str(log),
            sys.executable,
            *arguments,
        ]
        environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "VADE_SEARCH__EMBEDDER": "static"}
        return subprocess.Popen(
            command,
            cwd=made.path,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )

    start.calls = lambda: [line for line in log.read_text().splitlines() if INTERNET.search(line)]
    return start


def test_a_socket_would_be_seen(traced):
    """Also one that a child makes: the tests below could fail."""
    look = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import socket; socket.socket()'])"
    traced("-c", look).communicate(timeout=60)
    assert "AF_INET" in traced.calls()[0]


@pytest.mark.slow
def test_no_verb_makes_a_socket(traced, tmp_path):
    """Every verb of the command line with its children, and the MCP server on standard input."""
    ways = {verb: [[word.replace("{}", str(tmp_path)) for word in way] for way in each] for verb, each in ASKED.items()}
    child = traced("-c", EVERY, json.dumps(ways))
    _, problem = child.communicate(timeout=600)
    assert child.returncode == 0, problem
    assert traced.calls() == []
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "price"}}},
    ]  # fmt: skip
    child = traced("-m", "vademecum", "mcp", stdin=subprocess.PIPE)
    said, _ = child.communicate("".join(json.dumps(line) + "\n" for line in lines), timeout=300)
    assert "src/price.py" in said
    assert traced.calls() == []


def test_the_server_has_sockets_of_loopback_alone(traced):
    """It binds there, and reaches for nothing else while it answers."""
    needed.package("starlette")
    child = traced("-m", "vademecum", "serve", "--port", "0")
    with contextlib.ExitStack() as after:
        after.callback(child.communicate, timeout=60)
        after.callback(os.killpg, child.pid, signal.SIGTERM)
        [address] = re.findall(
            r"http://[\d.:]+/", next(line for line in iter(child.stderr.readline, "") if "http" in line)
        )
        with urllib.request.urlopen(f"{address}v1/search?q=price", timeout=120) as answer:
            assert json.load(answer)["evidence"]
        with urllib.request.urlopen(f"{address}metrics", timeout=120) as answer:
            assert answer.status == 200
    named = {one or other for call in traced.calls() for one, other in ADDRESS.findall(call)}
    assert named == {"127.0.0.1"}

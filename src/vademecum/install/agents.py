"""The supported agents: how to find each, and its files.

A row follows the agent's own documentation; docs/install.md names the source of each. A template begins with one of the
`Places`. If several files may hold the settings, the first existing one is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vademecum.install.texts import Text, claude_texts, codex_texts, gemini_texts

Server = Callable[[str, list[str]], Any]  # (command, arguments) → the entry in the agent's settings
Element = Callable[[str, int | None], dict[str, Any]]  # (line, timeout) → an element of the event's list


def typed(line: str, timeout: int | None) -> dict[str, Any]:
    """Return a hook with its type, for VS Code and Copilot CLI."""
    hook: dict[str, Any] = {"type": "command", "command": line}
    return hook if timeout is None else hook | {"timeout": timeout}


def grouped(line: str, timeout: int | None) -> dict[str, Any]:
    """Return a group of hooks, for Claude Code."""
    return {"hooks": [typed(line, timeout)]}


def bare(line: str, _timeout: int | None) -> dict[str, Any]:
    """Return a hook of the line alone, for Cursor."""
    return {"command": line}


def unseen(line: str, _timeout: int | None) -> dict[str, Any]:
    """Return a hook whose output is hidden, for Windsurf."""
    return {"command": line, "show_output": False}


@dataclass(frozen=True, slots=True)
class Hint:
    """The event of a call of a search tool."""

    event: str  # before or after the call
    tools: str  # matches the tools' names

    def element(self, line: str, timeout: int | None) -> dict[str, Any]:
        """Return a hook that runs for these tools only."""
        return {"matcher": self.tools, **grouped(line, timeout)}


@dataclass(frozen=True, slots=True)
class Hooks:
    """A file of settings with hooks."""

    file: str  # template of its path
    events: Mapping[str, str]  # the agent's event → our hook, and the agent's name if it needs its own form
    timeout: int | None = None  # in the agent's unit, None for the agent's default
    element: Element = grouped
    version: int | None = None  # the required `version` of the file
    hint: Hint | None = None  # None without such an event
    format: str = "json"


@dataclass(frozen=True, slots=True)
class Program:
    """A program that an agent runs instead of hooks."""

    file: str  # template of its path
    source: str  # the file beside this module

    def text(self, words: Sequence[str]) -> str:
        """Return the program, with the command that runs `vade`.

        >>> 'const COMMAND = ["uvx", "vademecum"];' in Program("", "opencode.js").text(["uvx", "vademecum"])
        True
        """
        source = Path(__file__).with_name(self.source).read_text(encoding="utf-8")
        return source.replace('["vade"]', json.dumps(list(words)), 1)


# The agent's event → our hook.
QWEN = {"SessionStart": "session-start", "UserPromptSubmit": "prompt", "Stop": "stop"}
CLAUDE = QWEN | {"SubagentStart": "subagent-start"}
GEMINI = {"SessionStart": "session-start", "BeforeAgent": "prompt", "AfterAgent": "stop"}
CURSOR = {
    "sessionStart": "session-start cursor",
    "beforeSubmitPrompt": "heard cursor",
    "afterAgentResponse": "heard cursor",
}
CASCADE = {"pre_user_prompt": "heard windsurf", "post_cascade_response": "heard windsurf"}
COPILOT = {"SessionStart": "session-start copilot", "UserPromptSubmit": "heard copilot", "Stop": "stop"}


def _plain(command: str, arguments: list[str]) -> Any:
    return {"command": command, "args": arguments}


def _stdio(command: str, arguments: list[str]) -> Any:
    return {"type": "stdio", "command": command, "args": arguments}


def _opencode(command: str, arguments: list[str]) -> Any:
    return {"type": "local", "command": [command, *arguments], "enabled": True}


def _copilot(command: str, arguments: list[str]) -> Any:
    return {"type": "local", "command": command, "args": arguments, "tools": ["*"]}


def _goose(command: str, arguments: list[str]) -> Any:
    return {
        "enabled": True,
        "type": "stdio",
        "name": "vademecum",
        "description": "Finds code, remembers the work",
        "cmd": command,
        "args": arguments,
        "envs": {},
        "timeout": 300,
    }


def _continue(command: str, arguments: list[str]) -> Any:
    return (
        "name: vademecum\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: vademecum\n"
        f"    command: {json.dumps(command)}\n    args: {json.dumps(arguments)}"
    )


@dataclass(frozen=True, slots=True)
class Config:
    """A settings file with an entry for the server."""

    files: tuple[str, ...]  # templates of its path
    format: str = "json"  # a key of `formats`
    path: tuple[str, ...] = ("mcpServers",)  # the keys that lead to the table of servers
    server: Server = _plain
    # Argument of `vade mcp`: "" for the directory in which the agent starts it, a variable of the agent, or `{repository}`
    # for the path itself, if the agent starts its servers elsewhere.
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """The kinds of files for one repository or for the user."""

    config: Config | None = None  # None marks a kind that the agent does not have
    rules: Text | None = None
    hooks: Hooks | Program | None = None
    texts: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent: its names, its traces, and its two scopes."""

    id: str  # on the command line
    title: str  # known to people
    commands: tuple[str, ...]
    traces: tuple[str, ...]  # templates of paths that exist if the agent is in use
    user: Scope
    project: Scope


_GREP = Hint("PreToolUse", "Grep|Bash")
_GREPPED = Hint("AfterTool", "grep_search|run_shell_command")
_COPILOT_HOOKS = Hooks("{project}/.github/hooks/vademecum.json", COPILOT, 10, typed, 1)
_AGENTS_MD = Text("{project}/AGENTS.md")
_HEAD = "---\n{}\n---\n\n"

AGENTS: tuple[Agent, ...] = (
    Agent(
        "claude",
        "Claude Code",
        ("claude",),
        ("{claude}", "{claude_json}/.claude.json"),
        Scope(
            Config(("{claude_json}/.claude.json",), server=_stdio),
            Text("{claude}/CLAUDE.md"),
            Hooks("{claude}/settings.json", CLAUDE, 10, hint=_GREP),
            claude_texts("{claude}"),
        ),
        Scope(
            Config(("{project}/.mcp.json",), server=_stdio),
            Text("{project}/CLAUDE.md"),
            Hooks("{project}/.claude/settings.json", CLAUDE, 10, hint=_GREP),
            claude_texts("{project}/.claude"),
        ),
    ),
    Agent(
        "codex",
        "Codex CLI",
        ("codex",),
        ("{codex}",),
        Scope(
            Config(("{codex}/config.toml",), "toml", ("mcp_servers",)),
            Text("{codex}/AGENTS.md"),
            Hooks("{codex}/hooks.json", CLAUDE, 10, hint=_GREP),
            codex_texts("{codex}/skills", "{codex}"),
        ),
        Scope(
            Config(("{project}/.codex/config.toml",), "toml", ("mcp_servers",)),
            _AGENTS_MD,
            Hooks("{project}/.codex/hooks.json", CLAUDE, 10, hint=_GREP),
            codex_texts("{project}/.agents/skills", "{project}/.codex"),
        ),
    ),
    Agent(
        "cursor",
        "Cursor",
        ("cursor", "cursor-agent"),
        ("{home}/.cursor",),
        Scope(
            Config(("{home}/.cursor/mcp.json",), "jsonc", argument="${workspaceFolder}"),
            hooks=Hooks("{home}/.cursor/hooks.json", CURSOR, element=bare, version=1),
        ),
        Scope(
            Config(("{project}/.cursor/mcp.json",), "jsonc", argument="${workspaceFolder}"),
            Text(
                "{project}/.cursor/rules/vademecum.mdc",
                _HEAD.format("description: when to use vademecum\nalwaysApply: true"),
            ),
            Hooks("{project}/.cursor/hooks.json", CURSOR, element=bare, version=1),
        ),
    ),
    Agent(
        "vscode",
        "VS Code (Copilot)",
        ("code",),
        ("{code}",),
        Scope(
            Config(("{code}/mcp.json",), "jsonc", ("servers",), _stdio, "${workspaceFolder}"),
            Text("{code}/prompts/vademecum.instructions.md", _HEAD.format('applyTo: "**"')),
        ),
        Scope(
            Config(("{project}/.vscode/mcp.json",), "jsonc", ("servers",), _stdio, "${workspaceFolder}"),
            Text("{project}/.github/instructions/vademecum.instructions.md", _HEAD.format('applyTo: "**"')),
            _COPILOT_HOOKS,
        ),
    ),
    Agent(
        "copilot",
        "GitHub Copilot CLI",
        ("copilot",),
        ("{home}/.copilot",),
        Scope(
            Config(("{home}/.copilot/mcp-config.json",), server=_copilot),
            Text("{home}/.copilot/copilot-instructions.md"),
            Hooks("{home}/.copilot/hooks/vademecum.json", COPILOT, 10, typed, 1),
        ),
        Scope(Config(("{project}/.mcp.json",), server=_stdio), _AGENTS_MD, _COPILOT_HOOKS),
    ),
    Agent(
        "windsurf",
        "Windsurf",
        ("windsurf",),
        ("{home}/.codeium/windsurf",),
        Scope(
            Config(("{home}/.codeium/windsurf/mcp_config.json",), argument="{repository}"),
            Text("{home}/.codeium/windsurf/memories/global_rules.md"),
            Hooks("{home}/.codeium/windsurf/hooks.json", CASCADE, element=unseen),
        ),
        Scope(
            rules=Text("{project}/.windsurf/rules/vademecum.md", _HEAD.format("trigger: always_on")),
            hooks=Hooks("{project}/.windsurf/hooks.json", CASCADE, element=unseen),
        ),
    ),
    Agent(
        "zed",
        "Zed",
        ("zed", "zeditor"),
        ("{config}/zed",),
        Scope(Config(("{config}/zed/settings.json",), "jsonc", ("context_servers",))),
        Scope(Config(("{project}/.zed/settings.json",), "jsonc", ("context_servers",)), _AGENTS_MD),
    ),
    Agent(
        "gemini",
        "Gemini CLI",
        ("gemini",),
        ("{home}/.gemini/settings.json", "{home}/.gemini/GEMINI.md", "{home}/.gemini/tmp"),
        Scope(
            Config(("{home}/.gemini/settings.json",), "jsonc"),
            Text("{home}/.gemini/GEMINI.md"),
            Hooks("{home}/.gemini/settings.json", GEMINI, 10_000, hint=_GREPPED, format="jsonc"),
            gemini_texts("{home}/.gemini"),
        ),
        Scope(
            Config(("{project}/.gemini/settings.json",), "jsonc"),
            Text("{project}/GEMINI.md"),
            Hooks("{project}/.gemini/settings.json", GEMINI, 10_000, hint=_GREPPED, format="jsonc"),
            gemini_texts("{project}/.gemini"),
        ),
    ),
    Agent(
        "opencode",
        "OpenCode",
        ("opencode",),
        ("{config}/opencode",),
        Scope(
            Config(
                ("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"), "jsonc", ("mcp",), _opencode
            ),
            Text("{config}/opencode/AGENTS.md"),
            Program("{config}/opencode/plugins/vademecum.js", "opencode.js"),
        ),
        Scope(
            Config(("{project}/opencode.json", "{project}/opencode.jsonc"), "jsonc", ("mcp",), _opencode),
            _AGENTS_MD,
            Program("{project}/.opencode/plugins/vademecum.js", "opencode.js"),
        ),
    ),
    Agent(
        "cline",
        "Cline",
        ("cline",),
        ("{home}/.cline", "{code}/globalStorage/saoudrizwan.claude-dev"),
        Scope(
            Config(
                (
                    "{code}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                    "{home}/.cline/data/settings/cline_mcp_settings.json",
                ),
                argument="{repository}",
            )
        ),
        Scope(rules=Text("{project}/.clinerules/vademecum.md")),
    ),
    Agent(
        "roo",
        "Roo Code",
        (),
        ("{code}/globalStorage/rooveterinaryinc.roo-cline",),
        Scope(
            Config(("{code}/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",)),
            Text("{home}/.roo/rules/vademecum.md"),
        ),
        Scope(Config(("{project}/.roo/mcp.json",)), Text("{project}/.roo/rules/vademecum.md")),
    ),
    Agent(
        "continue",
        "Continue",
        ("cn",),
        ("{home}/.continue",),
        Scope(Config(("{home}/.continue/mcpServers/vademecum.yaml",), "yaml-file", (), _continue, "{repository}")),
        Scope(
            Config(("{project}/.continue/mcpServers/vademecum.yaml",), "yaml-file", (), _continue),
            Text("{project}/.continue/rules/vademecum.md", _HEAD.format("name: vademecum\nalwaysApply: true")),
        ),
    ),
    Agent(
        "amp",
        "Amp",
        ("amp",),
        ("{config}/amp",),
        Scope(
            Config(("{config}/amp/settings.json", "{config}/amp/settings.jsonc"), "jsonc", ("amp.mcpServers",)),
            Text("{config}/amp/AGENTS.md"),
        ),
        Scope(
            Config(
                ("{project}/.amp/settings.json", "{project}/.amp/settings.jsonc"), "jsonc", ("amp.mcpServers",), _plain
            ),
            _AGENTS_MD,
        ),
    ),
    Agent(
        "goose",
        "goose",
        ("goose",),
        ("{config}/goose",),
        Scope(
            Config(("{config}/goose/config.yaml",), "yaml", ("extensions",), _goose),
            Text("{config}/goose/.goosehints"),
        ),
        Scope(rules=_AGENTS_MD),
    ),
    Agent(
        "junie",
        "Junie",
        ("junie",),
        ("{home}/.junie",),
        Scope(Config(("{home}/.junie/mcp/mcp.json",)), Text("{home}/.junie/AGENTS.md")),
        Scope(Config(("{project}/.junie/mcp/mcp.json",)), _AGENTS_MD),
    ),
    Agent(
        "kiro",
        "Kiro",
        ("kiro", "kiro-cli"),
        ("{home}/.kiro",),
        Scope(
            Config(("{home}/.kiro/settings/mcp.json",)),
            Text("{home}/.kiro/steering/vademecum.md", _HEAD.format("inclusion: always")),
        ),
        Scope(
            Config(("{project}/.kiro/settings/mcp.json",)),
            Text("{project}/.kiro/steering/vademecum.md", _HEAD.format("inclusion: always")),
        ),
    ),
    Agent(
        "qwen",
        "Qwen Code",
        ("qwen",),
        ("{home}/.qwen",),
        Scope(
            Config(("{home}/.qwen/settings.json",), "jsonc"),
            Text("{home}/.qwen/QWEN.md"),
            Hooks("{home}/.qwen/settings.json", QWEN, format="jsonc"),
        ),
        Scope(
            Config(("{project}/.qwen/settings.json",), "jsonc"),
            Text("{project}/QWEN.md"),
            Hooks("{project}/.qwen/settings.json", QWEN, format="jsonc"),
        ),
    ),
    Agent(
        "crush",
        "Crush",
        ("crush",),
        ("{config}/crush",),
        Scope(Config(("{config}/crush/crush.json",), path=("mcp",), server=_stdio)),
        Scope(Config(("{project}/crush.json", "{project}/.crush.json"), path=("mcp",), server=_stdio), _AGENTS_MD),
    ),
)
BY_ID: Mapping[str, Agent] = {agent.id: agent for agent in AGENTS}

"""The supported agents: how to find each, and its files.

A row follows the agent's own documentation; docs/install.md names the source of each. A template begins with one of the
`Places`. If several files may hold the settings, the first existing one is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from vademecum.install.instructions import Text, claude_texts, codex_texts, front_matter, gemini_texts

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
class Hooks:
    """A file of settings with hooks."""

    file: str  # template of its path
    events: Mapping[str, str]  # the agent's event → our hook, and the agent's name if it needs its own form
    timeout: int | None = None  # in the agent's unit, None for the agent's default
    element: Element = grouped
    version: int | None = None  # the required `version` of the file
    hint: str = ""  # the event of a call of a search tool, "" without one
    format: str = "json"

    def part(self, event: str, hook: str, line: str) -> dict[str, Any]:
        """Return the element of an event's list that runs a hook."""
        element = self.element(line, self.timeout)
        tools = TOOLS.get(f"{hook} {event}")
        return {"matcher": tools, **element} if tools else element


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
_BOTH = QWEN | {"SubagentStart": "subagent-start", "PreToolUse": "tool", "PreCompact": "compact"}
CLAUDE = _BOTH | {"PostToolUseFailure": "tool"}
CODEX = _BOTH | {"PostToolUse": "tool"}
GEMINI = {"SessionStart": "session-start", "BeforeAgent": "prompt", "AfterAgent": "stop", "AfterTool": "tool"}
# Our hook and the agent's event → the tools that it is for. A file is read before it is edited, and what is known about it
# should arrive before the edit is written.
TOOLS = {
    "tool PreToolUse": "Read|Edit|MultiEdit|Write|NotebookEdit|apply_patch",
    "tool PostToolUseFailure": "Bash",
    "tool PostToolUse": "Bash",
    "tool AfterTool": "read_file|replace|write_file|run_shell_command",
    "hint PreToolUse": "Grep|Bash",
    "hint AfterTool": "grep_search|run_shell_command",
}
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


T = TypeVar("T")


def _both(make: Callable[..., T], user: Any, project: Any, *more: Any, **options: Any) -> tuple[T, T]:
    """Make the files for the user and for a repository."""
    return make(user, *more, **options), make(project, *more, **options)


def _agent(id_: str, title: str, commands: tuple[str, ...], traces: tuple[str, ...], *kinds: tuple[Any, Any]) -> Agent:
    """Make an agent from pairs of files, in the order of `Scope`."""
    user, project = (Scope(*files) for files in zip(*kinds, strict=True))
    return Agent(id_, title, commands, traces, user, project)


_COPILOT_HOOKS = Hooks("{project}/.github/hooks/vademecum.json", COPILOT, 10, typed, 1)
_AGENTS_MD = Text("{project}/AGENTS.md")
_WORKSPACE = "${workspaceFolder}"
_ALWAYS = "alwaysApply: true"

AGENTS: tuple[Agent, ...] = (
    _agent(
        "claude",
        "Claude Code",
        ("claude",),
        ("{claude}", "{claude_json}/.claude.json"),
        _both(Config, ("{claude_json}/.claude.json",), ("{project}/.mcp.json",), server=_stdio),
        _both(Text, "{claude}/CLAUDE.md", "{project}/CLAUDE.md"),
        _both(Hooks, "{claude}/settings.json", "{project}/.claude/settings.json", CLAUDE, 10, hint="PreToolUse"),
        _both(claude_texts, "{claude}", "{project}/.claude"),
    ),
    _agent(
        "codex",
        "Codex CLI",
        ("codex",),
        ("{codex}",),
        _both(Config, ("{codex}/config.toml",), ("{project}/.codex/config.toml",), "toml", ("mcp_servers",)),
        (Text("{codex}/AGENTS.md"), _AGENTS_MD),
        _both(Hooks, "{codex}/hooks.json", "{project}/.codex/hooks.json", CODEX, 10, hint="PreToolUse"),
        (codex_texts("{codex}/skills", "{codex}"), codex_texts("{project}/.agents/skills", "{project}/.codex")),
    ),
    _agent(
        "cursor",
        "Cursor",
        ("cursor", "cursor-agent"),
        ("{home}/.cursor",),
        _both(Config, ("{home}/.cursor/mcp.json",), ("{project}/.cursor/mcp.json",), "jsonc", argument=_WORKSPACE),
        (
            None,
            Text("{project}/.cursor/rules/vademecum.mdc", front_matter("description: when to use vademecum", _ALWAYS)),
        ),
        _both(Hooks, "{home}/.cursor/hooks.json", "{project}/.cursor/hooks.json", CURSOR, element=bare, version=1),
    ),
    _agent(
        "vscode",
        "VS Code (Copilot)",
        ("code",),
        ("{code}",),
        _both(Config, ("{code}/mcp.json",), ("{project}/.vscode/mcp.json",), "jsonc", ("servers",), _stdio, _WORKSPACE),
        _both(
            Text,
            "{code}/prompts/vademecum.instructions.md",
            "{project}/.github/instructions/vademecum.instructions.md",
            front_matter('applyTo: "**"'),
        ),
        (None, _COPILOT_HOOKS),
    ),
    _agent(
        "copilot",
        "GitHub Copilot CLI",
        ("copilot",),
        ("{home}/.copilot",),
        (
            Config(("{home}/.copilot/mcp-config.json",), server=_copilot),
            Config(("{project}/.mcp.json",), server=_stdio),
        ),
        (Text("{home}/.copilot/copilot-instructions.md"), _AGENTS_MD),
        (Hooks("{home}/.copilot/hooks/vademecum.json", COPILOT, 10, typed, 1), _COPILOT_HOOKS),
    ),
    _agent(
        "windsurf",
        "Windsurf",
        ("windsurf",),
        ("{home}/.codeium/windsurf",),
        (Config(("{home}/.codeium/windsurf/mcp_config.json",), argument="{repository}"), None),
        (
            Text("{home}/.codeium/windsurf/memories/global_rules.md"),
            Text("{project}/.windsurf/rules/vademecum.md", front_matter("trigger: always_on")),
        ),
        _both(Hooks, "{home}/.codeium/windsurf/hooks.json", "{project}/.windsurf/hooks.json", CASCADE, element=unseen),
    ),
    _agent(
        "zed",
        "Zed",
        ("zed", "zeditor"),
        ("{config}/zed",),
        _both(
            Config, ("{config}/zed/settings.json",), ("{project}/.zed/settings.json",), "jsonc", ("context_servers",)
        ),
        (None, _AGENTS_MD),
    ),
    _agent(
        "gemini",
        "Gemini CLI",
        ("gemini",),
        ("{home}/.gemini/settings.json", "{home}/.gemini/GEMINI.md", "{home}/.gemini/tmp"),
        _both(Config, ("{home}/.gemini/settings.json",), ("{project}/.gemini/settings.json",), "jsonc"),
        _both(Text, "{home}/.gemini/GEMINI.md", "{project}/GEMINI.md"),
        _both(
            Hooks,
            "{home}/.gemini/settings.json",
            "{project}/.gemini/settings.json",
            GEMINI,
            10_000,
            hint="AfterTool",
            format="jsonc",
        ),
        _both(gemini_texts, "{home}/.gemini", "{project}/.gemini"),
    ),
    _agent(
        "opencode",
        "OpenCode",
        ("opencode",),
        ("{config}/opencode",),
        _both(
            Config,
            ("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
            ("{project}/opencode.json", "{project}/opencode.jsonc"),
            "jsonc",
            ("mcp",),
            _opencode,
        ),
        (Text("{config}/opencode/AGENTS.md"), _AGENTS_MD),
        _both(
            Program, "{config}/opencode/plugins/vademecum.js", "{project}/.opencode/plugins/vademecum.js", "opencode.js"
        ),
    ),
    _agent(
        "cline",
        "Cline",
        ("cline",),
        ("{home}/.cline", "{code}/globalStorage/saoudrizwan.claude-dev"),
        (
            Config(
                (
                    "{code}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                    "{home}/.cline/data/settings/cline_mcp_settings.json",
                ),
                argument="{repository}",
            ),
            None,
        ),
        (None, Text("{project}/.clinerules/vademecum.md")),
    ),
    _agent(
        "roo",
        "Roo Code",
        (),
        ("{code}/globalStorage/rooveterinaryinc.roo-cline",),
        _both(
            Config,
            ("{code}/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",),
            ("{project}/.roo/mcp.json",),
        ),
        _both(Text, "{home}/.roo/rules/vademecum.md", "{project}/.roo/rules/vademecum.md"),
    ),
    _agent(
        "continue",
        "Continue",
        ("cn",),
        ("{home}/.continue",),
        (
            Config(("{home}/.continue/mcpServers/vademecum.yaml",), "yaml-file", (), _continue, "{repository}"),
            Config(("{project}/.continue/mcpServers/vademecum.yaml",), "yaml-file", (), _continue),
        ),
        (None, Text("{project}/.continue/rules/vademecum.md", front_matter("name: vademecum", _ALWAYS))),
    ),
    _agent(
        "amp",
        "Amp",
        ("amp",),
        ("{config}/amp",),
        _both(
            Config,
            ("{config}/amp/settings.json", "{config}/amp/settings.jsonc"),
            ("{project}/.amp/settings.json", "{project}/.amp/settings.jsonc"),
            "jsonc",
            ("amp.mcpServers",),
        ),
        (Text("{config}/amp/AGENTS.md"), _AGENTS_MD),
    ),
    _agent(
        "goose",
        "goose",
        ("goose",),
        ("{config}/goose",),
        (Config(("{config}/goose/config.yaml",), "yaml", ("extensions",), _goose), None),
        (Text("{config}/goose/.goosehints"), _AGENTS_MD),
    ),
    _agent(
        "junie",
        "Junie",
        ("junie",),
        ("{home}/.junie",),
        _both(Config, ("{home}/.junie/mcp/mcp.json",), ("{project}/.junie/mcp/mcp.json",)),
        (Text("{home}/.junie/AGENTS.md"), _AGENTS_MD),
    ),
    _agent(
        "kiro",
        "Kiro",
        ("kiro", "kiro-cli"),
        ("{home}/.kiro",),
        _both(Config, ("{home}/.kiro/settings/mcp.json",), ("{project}/.kiro/settings/mcp.json",)),
        _both(
            Text,
            "{home}/.kiro/steering/vademecum.md",
            "{project}/.kiro/steering/vademecum.md",
            front_matter("inclusion: always"),
        ),
    ),
    _agent(
        "qwen",
        "Qwen Code",
        ("qwen",),
        ("{home}/.qwen",),
        _both(Config, ("{home}/.qwen/settings.json",), ("{project}/.qwen/settings.json",), "jsonc"),
        _both(Text, "{home}/.qwen/QWEN.md", "{project}/QWEN.md"),
        _both(Hooks, "{home}/.qwen/settings.json", "{project}/.qwen/settings.json", QWEN, format="jsonc"),
    ),
    _agent(
        "crush",
        "Crush",
        ("crush",),
        ("{config}/crush",),
        _both(
            Config,
            ("{config}/crush/crush.json",),
            ("{project}/crush.json", "{project}/.crush.json"),
            path=("mcp",),
            server=_stdio,
        ),
        (None, _AGENTS_MD),
    ),
)
BY_ID: Mapping[str, Agent] = {agent.id: agent for agent in AGENTS}

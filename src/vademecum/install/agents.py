"""The supported agents and their files, read from `agents.toml`.

Here are the forms of entries that the table names: of a server, of a hook, and of the events that call a hook.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vademecum.install.instructions import Text, front_matter, texts

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
    path: tuple[str, ...] = ()  # the keys that lead to the table of servers
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


EVENTS: Mapping[str, Mapping[str, str]] = {
    "claude": CLAUDE, "codex": CODEX, "gemini": GEMINI, "qwen": QWEN, "cursor": CURSOR, "cascade": CASCADE, "copilot": COPILOT,
}  # fmt: skip
ELEMENTS: Mapping[str, Element] = {"grouped": grouped, "typed": typed, "bare": bare, "unseen": unseen}
SERVERS: Mapping[str, Server] = {
    "plain": _plain, "stdio": _stdio, "opencode": _opencode, "copilot": _copilot, "goose": _goose, "continue": _continue,
}  # fmt: skip


def _config(
    file: str | list[str], form: str = "plain", path: Sequence[str] = ("mcpServers",), **options: Any
) -> Config:
    files = (file,) if isinstance(file, str) else tuple(file)
    return Config(files, path=tuple(path), server=SERVERS[form], **options)


def _rules(file: str, head: Sequence[str] = ()) -> Text:
    return Text(file, front_matter(*head) if head else "")


def _hooks(file: str, program: str = "", events: str = "", form: str = "grouped", **options: Any) -> Hooks | Program:
    if program:
        return Program(file, program)
    return Hooks(file, EVENTS[events], element=ELEMENTS[form], **options)


def _scope(id_: str, row: Mapping[str, Any], scope: str) -> Scope:
    """Return one scope of an agent, from the agent's row."""

    def made(kind: str, make: Callable[..., Any]) -> Any:
        options = dict(row.get(kind, {}))
        own = {name: options.pop(name, None) for name in ("user", "project")}[scope]
        return None if own is None else make(**options | (own if isinstance(own, dict) else {"file": own}))

    places = row.get("texts", {}).get(scope)
    return Scope(
        made("server", _config), made("rules", _rules), made("hooks", _hooks), texts(id_, **places) if places else ()
    )


def _agents() -> tuple[Agent, ...]:
    rows = tomllib.loads(Path(__file__).with_name("agents.toml").read_text(encoding="utf-8"))
    return tuple(
        Agent(id_, row["title"], tuple(row["commands"]), tuple(row["traces"]), _scope(id_, row, "user"), _scope(id_, row, "project"))
        for id_, row in rows.items()
    )  # fmt: skip


AGENTS = _agents()
BY_ID: Mapping[str, Agent] = {agent.id: agent for agent in AGENTS}

"""Hook events of agents: their names, and how hooks are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Element = Callable[[str, int | None], dict[str, Any]]


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
    """The event of a search tool's call, before or after.

    `tools` matches the names of tools that search text.
    """

    event: str
    tools: str

    def element(self, line: str, timeout: int | None) -> dict[str, Any]:
        """Return a hook that runs for these tools only."""
        return {"matcher": self.tools, **grouped(line, timeout)}


@dataclass(frozen=True, slots=True)
class Hooks:
    """A file of settings with hooks.

    Attributes:
        file: Template of its path.
        format: A key of `formats`.
        events: The agent's event → our hook, followed by the agent's name if it needs its own form.
        timeout: In the agent's unit, None for the agent's default.
        element: Makes a hook: (line to run, timeout) → an element of the event's list.
        version: The required `version` of the file, None for none.
        hint: The event for hints about `search`; None if the agent has no such event.
    """

    file: str
    format: str
    events: Mapping[str, str]
    timeout: int | None = None
    element: Element = grouped
    version: int | None = None
    hint: Hint | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A program that an agent runs instead of hooks.

    Attributes:
        file: Template of its path.
        source: The file beside this module with its source.
    """

    file: str
    source: str

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

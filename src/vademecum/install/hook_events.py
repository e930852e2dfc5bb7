"""The moments at which agents run hooks: what each calls them, and how it writes a hook down."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Element = Callable[[str, int | None], dict[str, Any]]


def typed(line: str, timeout: int | None) -> dict[str, Any]:
    """Return an element that is the hook, with its type, as VS Code and Copilot CLI write it."""
    hook: dict[str, Any] = {"type": "command", "command": line}
    return hook if timeout is None else hook | {"timeout": timeout}


def grouped(line: str, timeout: int | None) -> dict[str, Any]:
    """Return an element that is a group of hooks, as Claude Code writes it."""
    return {"hooks": [typed(line, timeout)]}


def bare(line: str, _timeout: int | None) -> dict[str, Any]:
    """Return an element of the line alone, as Cursor writes it."""
    return {"command": line}


def unseen(line: str, _timeout: int | None) -> dict[str, Any]:
    """Return an element whose output nobody is shown, as Windsurf writes it."""
    return {"command": line, "show_output": False}


@dataclass(frozen=True, slots=True)
class Hint:
    """The moment at which an agent has called a tool or is about to, and the names of the tools that search text."""

    event: str
    tools: str

    def element(self, line: str, timeout: int | None) -> dict[str, Any]:
        """Return an element that runs for these tools only."""
        return {"matcher": self.tools, **grouped(line, timeout)}


@dataclass(frozen=True, slots=True)
class Hooks:
    """A file of settings with hooks.

    Attributes:
        file: Template of its path.
        format: A key of `formats`.
        events: The agent's name for a moment → our hook, with the agent's name behind it where it is told in its own form.
        timeout: In the agent's unit, None where the agent's own will do.
        element: How the agent writes a hook: the line to run, and the timeout → an element of the moment's list.
        version: What the file has to give as its `version`, None where it needs none.
        hint: When to tell of `search` to an agent that greps for prose; None where the agent has no such moment.
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
    """A program that an agent runs in place of hooks.

    Attributes:
        file: Template of its path.
        source: The file beside this one that it is made from.
    """

    file: str
    source: str

    def text(self, words: Sequence[str]) -> str:
        """Return the program, which runs `vade` by these words.

        >>> 'const COMMAND = ["uvx", "vademecum"];' in Program("", "opencode.js").text(["uvx", "vademecum"])
        True
        """
        source = Path(__file__).with_name(self.source).read_text(encoding="utf-8")
        return source.replace('["vade"]', json.dumps(list(words)), 1)


# The agent's name for a moment → our hook.
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

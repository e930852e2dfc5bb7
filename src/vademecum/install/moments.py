"""The moments at which agents run hooks: what each calls them, and how it writes a hook down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
class Hooks:
    """A file of settings with hooks.

    Attributes:
        file: Template of its path.
        format: A key of `formats`.
        events: The agent's name for a moment → our hook, with the agent's name behind it where it is told in its own form.
        timeout: In the agent's unit, None where the agent's own will do.
        element: How the agent writes a hook: the line to run, and the timeout → an element of the moment's list.
        version: What the file has to give as its `version`, None where it needs none.
    """

    file: str
    format: str
    events: Mapping[str, str]
    timeout: int | None = None
    element: Element = grouped
    version: int | None = None


# The agent's name for a moment → our hook.
CLAUDE = {"SessionStart": "session-start", "UserPromptSubmit": "prompt", "Stop": "stop"}
GEMINI = {"SessionStart": "session-start", "BeforeAgent": "prompt", "AfterAgent": "stop"}
CURSOR = {
    "sessionStart": "session-start cursor",
    "beforeSubmitPrompt": "heard cursor",
    "afterAgentResponse": "heard cursor",
}
CASCADE = {"pre_user_prompt": "heard windsurf", "post_cascade_response": "heard windsurf"}
COPILOT = {"SessionStart": "session-start copilot", "UserPromptSubmit": "heard copilot", "Stop": "stop"}

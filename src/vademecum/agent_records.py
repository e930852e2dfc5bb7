"""Values in the records of coding agents, whose forms nobody promises."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

_SAID_BY_TOOLS = re.compile(
    r"<(system-reminder|ide_\w+|command-\w+|local-command-\w+|user-prompt-submit-hook|environment_context|user_instructions|permissions instructions"
    r"|collaboration_mode|skills_instructions|INSTRUCTIONS|turn_aborted|task-notification|persisted-output"
    r"|image(?= name=))\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
# Openings of messages that a program wrote: another agent, a hook, a timer. Later in a message they are ordinary words.
_NOT_SAID = re.compile(
    r"Caveat: The messages below|\[Request interrupted|# AGENTS\.md instructions|This session is being continued from"
    r"|</image>|Warning: (?:apply_patch was requested|The maximum number of unified exec|Your account was flagged)"
    r"|<(?:teammate-message|channel-message|channel|cross-session-message|tick|fork-boilerplate|remote-review|ultraplan"
    r"|skill|subagent_notification|hook_prompt|hook_context|session_context|goal_context|model_switch|state_snapshot"
    r"|realtime_\w+|recommended_\w+|external_\w+)\b"
)


def said(text: str) -> str:
    """Return the part of a message that a person typed, "" for none.

    >>> said("fix it<system-reminder>Be careful.</system-reminder>"), said("[Request interrupted by user]")
    ('fix it', '')
    """
    text = _SAID_BY_TOOLS.sub("", text).strip()
    return "" if _NOT_SAID.match(text) else text


def moment(value: Any) -> float:
    """Return a time as seconds since the epoch, 0 for none.

    Args:
        value: An ISO 8601 string, or a number of seconds or milliseconds since the epoch.
    """
    if isinstance(value, bool) or value is None:
        return 0.0
    try:
        if isinstance(value, int | float):
            return float(value) / (1000 if value > 1e11 else 1)  # 1e11 seconds are the year 5138
        return datetime.fromisoformat(str(value)).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def texts(content: Any, *types: str) -> str:
    """Return the text of a string, or of a list of parts.

    Where types are named, only parts of these types count.
    """
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    found = [text_of(part) for part in parts if not types or mapping(part).get("type") in types]
    return "\n".join(part for part in found if part)


def said_in(content: Any) -> str:
    """Return a person's words in a string or a list of parts."""
    parts = content if isinstance(content, list) else [content]
    return "\n".join(filter(None, (said(text_of(part)) for part in parts)))


def text_of(part: Any) -> str:
    """Return a part's text, "" for none or a model's reasoning."""
    if isinstance(part, str):
        return part
    value = mapping(part).get("text")
    return value if isinstance(value, str) and not mapping(part).get("thought") else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping, or an empty one for any other value.

    Records of other programs may have any shape.
    """
    return value if isinstance(value, dict) else {}


def string(value: Any) -> str:
    """Return a string, "" for anything else."""
    return value if isinstance(value, str) else ""


def arguments_of(value: Any) -> Mapping[str, Any]:
    """Return a call's arguments, also from JSON, none for anything else."""
    try:
        return mapping(json.loads(value) if isinstance(value, str) else value)
    except (ValueError, RecursionError):
        return {}


def output_of(value: Any) -> tuple[str, bool]:
    """Return an output's text, and whether the call failed.

    The output is plain text, or `{"output", "metadata": {"exit_code"}}` as JSON in a string.
    """
    told = arguments_of(value)
    text = string(told.get("output")) or string(told.get("content")) or texts(value)
    code = mapping(told.get("metadata")).get("exit_code")
    if code is None and (stated := re.search(r"(?:Exit code|exited with code):? (\d+)", text[:400])):
        code = int(stated[1])
    return text, code not in (None, 0) or told.get("success") is False

"""Hints about search for agents.

An agent gets one when it greps for prose, once a session, and when a subagent begins.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

TOLD = (
    "vademecum search finds code by meaning: for a question in words, the tool `search` of the MCP server `vademecum` "
    "(in a shell, `vade search`) finds what grep cannot. Grep stays right for exact strings."
)
SUBAGENT = (
    "Where you have the tools of the MCP server `vademecum`: `search` finds code by meaning, and `symbol` with relation "
    "`impact` says who calls a function, what may break and which tests to run."
)
FOLDER = "hints"  # below the data directory: an empty file for each text that a session was told
KEPT_S = 7 * 86_400.0  # sessions are shorter than this
_GREPS = {"rg", "grep", "egrep", "ag", "ack"}
_WITH_VALUE = {"-A", "-B", "-C", "-m", "-g", "-t", "-T", "--glob", "--type", "--include", "--exclude", "--exclude-dir"}
# At least three words: two words are just as often a name or part of a message in the code.
_PROSE = re.compile(r"[A-Za-z][a-z'-]*(?:,? [A-Za-z][a-z'-]*){2,}\??")


def is_prose(pattern: str) -> bool:
    """Return whether a pattern is plain words, not regex or code.

    >>> is_prose("where are retries limited"), is_prose("def retry"), is_prose("retry.*limit of calls"), is_prose("a_b c d")
    (True, False, False, False)
    """
    return _PROSE.fullmatch(pattern.strip()) is not None


def pattern_of(said: Mapping[str, Any]) -> str:
    """Return the search pattern in a tool call; "" for other calls.

    >>> pattern_of({"tool_name": "Bash", "tool_input": {"command": "rg -n 'token budget split' src | head"}})
    'token budget split'
    """
    given = said.get("tool_input")
    if not isinstance(given, Mapping):
        return ""
    pattern, command = given.get("pattern"), given.get("command")
    if isinstance(pattern, str):
        return pattern
    if isinstance(command, list):
        return _of_words([str(word) for word in command])
    with suppress(ValueError):  # raised by unbalanced quotes
        return _of_words(shlex.split(command)) if isinstance(command, str) else ""
    return ""


def is_first(home: Path, told: str) -> bool:
    """Return whether something was not told yet, and mark it.

    `told` names the session, and the text where there are several.
    """
    folder = home / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / hashlib.sha256(told.encode()).hexdigest()[:32]
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    for old in folder.iterdir():
        with suppress(OSError):
            if old.stat().st_mtime < time.time() - KEPT_S:
                old.unlink()
    return True


def _of_words(words: list[str]) -> str:
    """Return the pattern of a search command, "" for any other command."""
    if words[:2] == ["git", "grep"]:
        words = words[1:]
    if not words or os.path.basename(words[0]) not in _GREPS:
        return ""
    rest = iter(words[1:])
    for word in rest:
        if word in {"-e", "--regexp"}:
            return next(rest, "")
        if word in _WITH_VALUE:
            next(rest, "")
        elif not word.startswith("-"):
            return word
    return ""

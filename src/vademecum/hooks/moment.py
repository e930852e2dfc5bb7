"""Read the files and the error of an agent's tool call.

Source: the hooks of Claude Code (`PreToolUse`, `PostToolUseFailure`), Codex (`PreToolUse`, `PostToolUse`) and Gemini CLI
(`AfterTool`), by their documentation; see docs/install.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from vademecum.beneath import from_folder

_FILES = ("file_path", "notebook_path", "absolute_path")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_ANSWERS = ("error", "stderr", "llmContent", "output", "stdout")  # keys of a tool's answer


def files_of(said: Mapping[str, Any], root: str, directory: str) -> list[str]:
    """Return the files of a tool call, relative to the repository's root.

    Files outside of it are left out.

    >>> files_of({"tool_input": {"file_path": "/app/src/a.py"}}, "/app", "/app/src")
    ['src/a.py']
    """
    given = said.get("tool_input")
    if not isinstance(given, Mapping):
        return []
    named = [str(given[key]) for key in _FILES if isinstance(given.get(key), str)]
    patch = given.get("command")
    named += _PATCHED.findall(patch) if isinstance(patch, str) else []
    top = os.path.realpath(root)
    paths = [from_folder(os.path.realpath(os.path.join(directory, path)), top) for path in named]
    return [path for path in dict.fromkeys(paths) if path]


def error_of(said: Mapping[str, Any]) -> str:
    """Return the output or error of a command, "" for other calls.

    Codex does not say whether a command failed, so its outputs are returned too.

    >>> error_of({"tool_input": {"command": "make"}, "error": "Exit code 2"}), error_of({"tool_input": {}, "error": "no"})
    ('Exit code 2', '')
    """
    given = said.get("tool_input")
    if not isinstance(given, Mapping) or "command" not in given or said.get("is_interrupt"):
        return ""
    answer = said.get("error") or said.get("tool_response")
    if isinstance(answer, Mapping):
        answer = "\n".join(str(answer[key]) for key in _ANSWERS if isinstance(answer.get(key), str))
    return answer if isinstance(answer, str) else ""

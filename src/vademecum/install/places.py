"""Directories of agents: home, variables, platform folders, the repository."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vademecum.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Places:
    """The directories in templates such as `{home}/.claude.json`."""

    home: Path
    config: Path  # `$XDG_CONFIG_HOME` or `~/.config` on every platform: agents for the terminal use it everywhere
    code: Path  # VS Code's user directory
    claude: Path  # `$CLAUDE_CONFIG_DIR`
    claude_json: Path  # holds `.claude.json`: the same, or the home
    codex: Path  # `$CODEX_HOME`
    project: Path  # the top of the repository

    @property
    def homeless(self) -> bool:
        """True when the current repository is the home directory."""
        return os.path.realpath(self.project) == os.path.realpath(self.home)

    def path(self, template: str) -> Path:
        """Return the file of a template."""
        name, _, rest = template.partition("/")
        return Path(getattr(self, name.strip("{}")), *rest.split("/"))

    def first(self, templates: Iterable[str]) -> Path:
        """Return the first existing file, or the first of all."""
        paths = [self.path(template) for template in templates]
        return next((path for path in paths if os.path.lexists(path)), paths[0])


def places(environ: Mapping[str, str], project: Path, platform: str = sys.platform) -> Places:
    """Return the user's directories. Raises `ConfigError` without a home."""
    found = environ.get("USERPROFILE") if platform == "win32" else environ.get("HOME")
    home = Path(found or os.path.expanduser("~"))
    if str(home) == "~":
        raise ConfigError("there is no home directory to look for agents in: set HOME")
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    code = {
        "win32": Path(environ.get("APPDATA") or home / "AppData/Roaming"),
        "darwin": home / "Library/Application Support",
    }
    claude = environ.get("CLAUDE_CONFIG_DIR")
    return Places(
        home=home,
        config=config,
        code=code.get(platform, config) / "Code" / "User",
        claude=Path(claude or home / ".claude"),
        claude_json=Path(claude or home),
        codex=Path(environ.get("CODEX_HOME") or home / ".codex"),
        project=project,
    )

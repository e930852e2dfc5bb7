"""The command that agents run: this version, as it is installed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from vademecum.command_lines import split
from vademecum.errors import UsageError
from vademecum.version import __version__


@dataclass(frozen=True, slots=True)
class Command:
    """The words that start `vade`."""

    words: tuple[str, ...]
    local: bool  # true if they name a path on this machine

    def hook(self, name: str, platform: str = sys.platform) -> str:
        r"""Return the shell line of a hook, which always exits with 0.

        An exit code of 2 would stop the agent. On Windows an agent runs the line in Git Bash, PowerShell or cmd.exe: only
        bare words and `/` mean the same to all three, and PowerShell 5 knows no `||`; a hook ends with 0 by itself.

        >>> Command(("/opt/my tools/vade",), True).hook("stop", "linux")
        "'/opt/my tools/vade' memory hook stop || exit 0"
        >>> Command(("C:\\Tools\\vade.exe",), True).hook("heard cursor", "win32")
        'C:/Tools/vade.exe memory hook heard cursor'
        """
        words = [*self.words, "memory", "hook", *name.split()]
        if platform == "win32":
            return " ".join(_bare(word.replace("\\", "/")) for word in words)
        return f"{shlex.join(words)} || exit 0"


def _bare(word: str) -> str:
    """Quote a word, only if needed: PowerShell runs no quoted program."""
    return word if re.fullmatch(r"[\w./:=~+-]+", word) else f'"{word}"'


def command(chosen: str = "", executable: str = sys.executable, prefix: str = sys.prefix) -> Command:
    """Return the command that runs this installation.

    It is the one that the user chose, or `uvx` or `pipx run` if one of them runs this process, else an absolute path.

    Raises:
        UsageError: the chosen command cannot be split into words.
    """
    if chosen:
        try:
            words = split(chosen)
        except ValueError as error:
            raise UsageError(f"the command {chosen!r} cannot be read: {error}") from error
        if not words:
            raise UsageError("the command is empty: name one, as `uvx vademecum`")
        return Command(tuple(words), os.path.isabs(words[0]))
    parts = Path(prefix).parts
    # uv runs a tool from `…/uv/archive-v0/HASH` or `…/uv/environments-v2/…`, pipx from `…/pipx/.cache/HASH`.
    if any(part.startswith(("archive-v", "environments-v")) for part in parts) and shutil.which("uvx"):
        return Command(("uvx", f"vademecum=={__version__}"), local=False)
    if "pipx" in parts and ".cache" in parts and shutil.which("pipx"):
        return Command(("pipx", "run", f"vademecum=={__version__}"), local=False)
    folder = Path(executable).absolute().parent  # not resolved: an environment's Python is a link to another folder
    # The package for Windows has its programs in `bin`, beside the folder of its Python.
    for program in (folder / "vade", folder / "vade.exe", folder.parent / "bin" / "vade.exe"):
        if program.is_file():
            return Command((str(program),), local=True)
    return Command((str(Path(executable).absolute()), "-P", "-m", "vademecum"), local=True)

"""The command that agents run: this version, as it is installed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from vademecum.errors import UsageError
from vademecum.version import __version__


@dataclass(frozen=True, slots=True)
class Command:
    """The words that start `vade`."""

    words: tuple[str, ...]
    local: bool  # true if they name a path on this machine

    def hook(self, name: str, platform: str = sys.platform) -> str:
        """Return the shell line of a hook, which always exits with 0.

        An exit code of 2 would stop the agent.

        >>> Command(("/opt/my tools/vade",), True).hook("stop", "linux")
        "'/opt/my tools/vade' memory hook stop || exit 0"
        >>> Command(("vade",), True).hook("heard cursor", "linux")
        'vade memory hook heard cursor || exit 0'
        """
        words = [*self.words, "memory", "hook", *name.split()]
        return f"{subprocess.list2cmdline(words) if platform == 'win32' else shlex.join(words)} || exit 0"


def command(chosen: str = "", executable: str = sys.executable, prefix: str = sys.prefix) -> Command:
    """Return the command that runs this installation.

    It is the one that the user chose, or `uvx` or `pipx run` if one of them runs this process, else an absolute path.

    Raises:
        UsageError: the chosen command cannot be split into words.
    """
    if chosen:
        try:
            words = shlex.split(chosen)
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
    for name in ("vade", "vade.exe"):
        if (folder / name).is_file():
            return Command((str(folder / name),), local=True)
    return Command((str(Path(executable).absolute()), "-P", "-m", "vademecum"), local=True)

r"""Read patterns of speech from a data file beside a module.

Each entry is a pattern. In it `{name}` stands for a pattern above, and a line that begins with four spaces goes on with the
one before.

    np = '[\w-]+(?: [\w-]+)?'
    uses = '''(?P<subject>{np}) (?:uses|
        utilise) (?P<value>{np})'''
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PART = re.compile(r"\{([a-z]\w*)\}")


def forms_of(module: str, file: str = "", **given: str) -> dict[str, str]:
    """Return the patterns in a file beside a module, by name.

    Args:
        module: Path of the module.
        file: Name of the file, without its ending; by default the module's.
        given: Further patterns that these may refer to.
    """
    found = dict(given)
    for name, said in table_of(module, file).items():
        found[name] = filled(said, found)
    return found


def compiled(module: str, file: str = "") -> dict[str, re.Pattern[str]]:
    """Return the patterns of `forms_of`, compiled."""
    return {name: re.compile(text) for name, text in forms_of(module, file).items()}


def table_of(module: str, file: str = "") -> Mapping[str, Any]:
    """Return a data file beside a module, by default its namesake."""
    path = Path(module)
    return tomllib.loads(path.with_name(f"{file or path.stem}.toml").read_text(encoding="utf-8"))


def filled(said: str, parts: Mapping[str, str]) -> str:
    r"""Return a pattern with the patterns it refers to.

    >>> filled("(?:uses|\n    utilise) {thing}", {"thing": r"\w+"})
    '(?:uses|utilise) \\w+'
    """
    return _PART.sub(lambda part: parts[part[1]], said.replace("\n    ", ""))

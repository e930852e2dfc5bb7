"""Where the nodes of a graph are drawn: one script for the server's page, as a module, and for pages that are a single file."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def force_script() -> str:
    """Return the script as it stands inside of another one: the same functions, exported to nobody.

    >>> "export" in force_script(), "function settle(" in force_script()
    (False, True)
    """
    return (FOLDER / "force.js").read_text(encoding="utf-8").replace("export function", "function")

"""vademecum: a local-first context engine for coding agents and their users.

    from vademecum import Engine

    with Engine.open(".") as engine:
        print(engine.codebase.search("where are retries limited").evidence[0].path)

These are the public names; each is imported at first use, so that `import vademecum` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vademecum.version import __version__

if TYPE_CHECKING:
    from vademecum.aio import AsyncEngine
    from vademecum.answers.pack import Context
    from vademecum.config import Settings
    from vademecum.engine import Engine
    from vademecum.errors import Error
    from vademecum.result import Err, Ok
    from vademecum.types import (
        Answer,
        Check,
        Chunk,
        Evidence,
        Freshness,
        GcReport,
        IndexReport,
        Passage,
        Query,
        RepoStatus,
        Skipped,
        Verdict,
    )


__all__ = [
    "Answer",
    "AsyncEngine",
    "Check",
    "Chunk",
    "Context",
    "Engine",
    "Err",
    "Error",
    "Evidence",
    "Freshness",
    "GcReport",
    "IndexReport",
    "Ok",
    "Passage",
    "Query",
    "RepoStatus",
    "Settings",
    "Skipped",
    "Verdict",
    "__version__",
]

# The module of each public name that is not in `types`.
_HOMES = {
    "AsyncEngine": "aio",
    "Context": "answers.pack",
    "Engine": "engine",
    "Err": "result",
    "Error": "errors",
    "Ok": "result",
    "Settings": "config",
}


def __getattr__(name: str) -> Any:
    """Import a public name at first use (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'types')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

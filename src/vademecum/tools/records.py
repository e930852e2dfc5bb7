"""What is known of tools: themselves, and the traces of their use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that can be called. `id` is `server/name`, so that equal names of two servers stay apart."""

    id: str
    name: str
    server: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)  # JSON Schema of its arguments
    output_schema: Mapping[str, Any] = field(default_factory=dict)  # empty where it promises nothing


@dataclass(frozen=True, slots=True)
class Call:
    """One call in a trace: which tool, and what is safe to keep of it. Values of arguments are never kept."""

    tool: str  # a Tool's id
    arguments: tuple[str, ...] = ()  # names only
    ok: bool = True
    latency_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Trace:
    """What was called, in order, for one intent."""

    id: str  # the same for the same happening, however often it is observed
    intent: str
    calls: tuple[Call, ...]
    links: tuple[tuple[int, int], ...] = ()  # calls whose outcome a later one used; () where that was not seen
    session: str = ""
    at: float = 0.0  # seconds since the epoch
    ok: bool = True  # whether the intent was met

"""What a name can stand for, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass

from vademecum.codebase.graph.terms import Tier


@dataclass(frozen=True, slots=True)
class Value:
    """What a name stands for.

    `what` is "def" (a declaration itself), "inst" (an instance of the class declared), "many" (a collection of such),
    "module" (a file, or with a slash at its end a directory), or "external".
    """

    what: str
    path: str = ""
    name: str = ""  # the declaration's qualified name


EXTERNAL = Value("external")
Meaning = tuple[Value | None, Tier]
UNKNOWN: Meaning = (None, Tier.EXACT)
OUTSIDE: Meaning = (EXTERNAL, Tier.EXACT)

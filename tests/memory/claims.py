"""A claim, made in one line."""

from __future__ import annotations

from vademecum.memory.facts import claim_of
from vademecum.memory.records import Claim, Event, FactKind, Role, Statement


def claim_like(
    value: str, *, at: float, confidence: float = 0.9, corrects: bool = False, about: str = "indentation"
) -> Claim:
    """Return a claim of a preference, said at a time."""
    statement = Statement(FactKind.PREFERENCE, f"I prefer {value}", about, "", value, confidence, corrects=corrects)
    event = Event(f"e{at}", at, Role.USER, statement.text)
    return claim_of(statement, 0, event, at)

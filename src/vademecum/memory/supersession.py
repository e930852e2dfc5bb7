"""What took the place of what."""

from __future__ import annotations

from collections.abc import Sequence

from vademecum.memory.question import Question
from vademecum.memory.records import Evidence


def collapse(question: Question, evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return evidence with what was superseded behind what took its place."""
    return list(evidence)

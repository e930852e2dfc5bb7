"""One question to code and memory, merged by rank.

Code and events are stored separately, each with its own metadata (MnemoLite ADR-001: separate tables, a merge where both
are asked). Their scores mean different things, so the merge goes by rank: reciprocal rank fusion, k = 60.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vademecum.index.fusion import RRF_K
from vademecum.memory.records import Evidence as Memory
from vademecum.memory.records import Recalled
from vademecum.types import Answer, Evidence, Verdict


@dataclass(frozen=True, slots=True)
class Unified:
    """The answers of code and memory, and both merged, best first."""

    code: Answer
    memory: Recalled
    merged: tuple[Evidence | Memory, ...]


def unified(code: Answer, memory: Recalled, k: int) -> Unified:
    """Merge two answers by rank.

    An answer with verdict `not_found` comes after the other, because its first result is no answer. Raises nothing; if
    both are empty, so is the merge.
    """
    ranked: list[tuple[float, int, Evidence | Memory]] = []
    both: list[tuple[Sequence[Evidence | Memory], Verdict]] = [
        (code.evidence, code.verdict),
        (memory.evidence, memory.verdict),
    ]
    for place, (found, verdict) in enumerate(both):
        behind = 0.0 if verdict is not Verdict.NOT_FOUND else 1.0
        ranked += [(1 / (RRF_K + rank) - behind, place, item) for rank, item in enumerate(found, 1)]
    ranked.sort(key=lambda each: (-each[0], each[1]))
    return Unified(code, memory, tuple(item for _, _, item in ranked[:k]))

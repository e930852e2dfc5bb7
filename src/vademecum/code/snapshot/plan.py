"""An analysis plan: embedder, deadline, processes and task."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Task(StrEnum):
    """The results to compute for each file."""

    SEARCHED = "searched"  # everything a search needs
    LINKED = "linked"  # everything a search and a graph need
    REFERENCES = "references"  # only the references, for files already searchable


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings of an analysis.

    `embedder` is the name of the embedder to load; "" leaves the vectors to the caller.
    """

    embedder: str
    deadline_s: float
    processes: int
    task: Task = Task.SEARCHED

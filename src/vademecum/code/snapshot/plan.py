"""The plan of an analysis: embedder, deadline, processes, task."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Task(StrEnum):
    """What is to be found of each file."""

    SEARCHED = "searched"  # what a search needs
    LINKED = "linked"  # what a graph needs as well
    REFERENCES = "references"  # what a graph needs besides, of files that can be searched already


@dataclass(frozen=True, slots=True)
class Plan:
    """How to analyse: the embedder to load by name ("" leaves vectors to the caller), how long, in how many processes, and what for."""

    embedder: str
    deadline_s: float
    processes: int
    task: Task = Task.SEARCHED

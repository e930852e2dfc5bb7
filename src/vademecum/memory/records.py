"""What memory is made of: events as they happened, and facts that were drawn from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """Who or what an event comes from."""

    USER = "user"
    ASSISTANT = "assistant"
    COMMAND = "command"
    OUTPUT = "output"
    EDIT = "edit"
    COMMIT = "commit"
    NOTE = "note"  # recorded by hand


class FactKind(StrEnum):
    """What a statement is for those who come after."""

    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    DECISION = "decision"
    FACT = "fact"
    TODO = "todo"
    FIX = "fix"  # a problem and what solved it


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, word for word but for secrets. Append-only."""

    id: str  # the same for the same happening, however often it is imported
    at: float  # seconds since the epoch
    role: Role
    text: str
    session: str = ""
    repo: str = ""  # the repository's root, "" where it concerns none
    speaker: str = ""  # a name where one is known; the role says the rest
    metadata: Mapping[str, Any] = field(default_factory=dict)  # what JSON can hold


@dataclass(frozen=True, slots=True)
class Statement:
    """What a rule read in one message, before memory makes a fact of it."""

    kind: FactKind
    text: str  # the sentence, as it was said
    subject: str  # what it is about: "indentation", "package manager"; "" where nothing can be named
    attribute: str  # what of it; "" where there is but one thing to say of the subject
    value: str  # what holds: "tabs", "pnpm"
    confidence: float  # 0..1: pattern class, speaker, hedges; repetition is counted when it becomes a fact
    reason: str = ""  # a decision's because, a fix's problem
    where: str = ""  # a path glob or `language:NAME` it is limited to; "" for the whole scope; "*" for everywhere
    start: int = 0  # characters of the message, half-open
    end: int = 0
    corrects: bool = False  # it takes back what was said before

"""What memory's parts are called: all that a hook needs of `records` and `scope`, which take longer to load."""

from __future__ import annotations

from enum import StrEnum

DATABASE = "memory.db"  # of a scope, in its directory


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


class AnchorState(StrEnum):
    """Whether the code a fact is about is still the code it was learned from."""

    CURRENT = "current"  # the symbol is there and its code is what it was
    DRIFTED = "drifted"  # the symbol is there, its code has changed since
    ORPHANED = "orphaned"  # nothing is called that any more

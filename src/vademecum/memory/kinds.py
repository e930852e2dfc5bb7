"""Enums of memory that hooks need, without the slower modules."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Source of an event."""

    USER = "user"
    ASSISTANT = "assistant"
    COMMAND = "command"
    OUTPUT = "output"
    EDIT = "edit"
    COMMIT = "commit"
    NOTE = "note"  # recorded by hand


class FactKind(StrEnum):
    """Kind of a statement or fact."""

    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    DECISION = "decision"
    FACT = "fact"
    TODO = "todo"
    FIX = "fix"  # a problem and its solution


REPLACING = frozenset({FactKind.PREFERENCE, FactKind.INSTRUCTION, FactKind.DECISION, FactKind.FACT})
"""Kinds in which a later value replaces an earlier one. Todos and fixes stand beside each other."""


class AnchorState(StrEnum):
    """State of the code that a fact is about."""

    CURRENT = "current"  # the code is unchanged
    DRIFTED = "drifted"  # the symbol exists, but its code has changed
    ORPHANED = "orphaned"  # no symbol has that name any more

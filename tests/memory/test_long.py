"""A long message is read whole as it is recorded, and what stays unread is said."""

from __future__ import annotations

RULES = [f"Never touch module_{number} without a test." for number in range(300)]
LIST = "Our rules:\n- " + "\n- ".join(RULES)


def test_a_long_list_is_kept_whole(memory):
    """Each rule once, and those for everywhere go there."""
    done = memory.record(LIST + "\n- In all projects, never use tabs.", role="user")
    assert done.left == 0
    assert {fact.text for fact in memory.facts()} == {*RULES, "In all projects, never use tabs."}
    assert [fact.text for fact in memory.scopes[1].ledger.facts()] == ["In all projects, never use tabs."]


def test_what_stays_unread_of_a_message_is_said(memory):
    """Its beginning and its end are read, whatever its length."""
    done = memory.record(
        "We use pnpm. " + "It says this. And then that. " * 20_000 + "Never push on Fridays.", role="user"
    )
    assert done.left > 400_000
    assert {fact.value for fact in memory.facts()} == {"pnpm", "not push on Fridays"}

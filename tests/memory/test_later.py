"""What was left unread of a long message is read when nobody waits, and what stays unread is said."""

from __future__ import annotations

from vademecum.memory.journal import LEFT, WAITS
from vademecum.memory.ledger import check_memory

RULES = [f"Never touch module_{number} without a test." for number in range(300)]
LIST = "Our rules:\n- " + "\n- ".join(RULES)


def texts(memory):
    """The words of all facts that hold."""
    return {fact.text for fact in memory.facts()}


def test_a_long_list_is_kept_whole_once_house_is_kept(memory):
    """What is recorded at once stays what it was; the rest comes to it, and nothing is said twice."""
    done = memory.record(LIST, role="user")
    before = {fact.text: fact.id for fact in memory.facts()}
    assert done.left > 5_000
    assert 30 <= len(before) < 300
    assert memory.consolidate()[0].read_on == 1
    after = {fact.text: fact for fact in memory.facts()}
    assert set(after) == set(RULES)
    assert all(after[text].id == id_ for text, id_ in before.items())
    assert {fact.mentions for fact in after.values()} == {1}
    assert memory.consolidate()[0].read_on == 0


def test_sync_and_export_read_on_too(open_memory):
    """Neither keeps anybody waiting who writes, and what is written out is whole."""
    memory = open_memory()
    memory.record(LIST, role="user")
    assert memory.sync().read_on == 1
    assert texts(memory) == set(RULES)


def test_what_is_exported_is_whole(open_memory, tmp_path):
    memory = open_memory()
    memory.record(LIST, role="user")
    assert sum('"type":"claim"' in line for line in memory.export()) == 300


def test_what_was_forgotten_or_rejected_meanwhile_stays_so(memory):
    """Reading on brings nothing back, and an event that was deleted is not read."""
    memory.record(LIST, role="user")
    gone, doubted = memory.facts()[:2]
    memory.forget(gone.id)
    memory.reject(doubted.id)
    memory.consolidate()
    assert not {gone.text, doubted.text} & texts(memory)
    memory.record(LIST + "\n- Never lie.", role="user")
    memory.delete(memory.record(LIST + "\nAlways wait.", role="user").ids[0])
    assert len(memory.scopes[0].journal.unread(WAITS)) == 1


def test_rules_for_everywhere_that_are_read_later_go_there(memory):
    """As those that are read at once."""
    memory.record(LIST + "\n- In all projects, never use tabs.", role="user")
    memory.consolidate()
    assert "In all projects, never use tabs." in {fact.text for fact in memory.scopes[1].ledger.facts()}


def test_a_doctor_says_what_waits_and_what_no_rule_read(memory):
    """Nothing is left out silently: neither for now nor for good."""

    def said():
        return check_memory(lambda: memory.scopes)[0].detail

    memory.record(LIST, role="user")
    assert "1 long message not read to the end, which `vade memory consolidate` does" in said()
    memory.consolidate()
    assert "not read to the end" not in said()
    memory.record("It says this. And then that. " * 20_000, role="user")
    memory.consolidate()
    assert "1 message too long to be read whole" in said()
    assert next(iter(memory.scopes[0].journal.unread(LEFT).values())) > 400_000

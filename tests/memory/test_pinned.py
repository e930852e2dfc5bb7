"""Who asks for help is told as well what was once said of such help; who asks what was, is not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from vademecum.answers.remembered import recalled_text
from vademecum.memory.question import take_apart
from vademecum.memory.records import Role

RULE = "Always show the types when I ask for code that stores sessions."
ASKED = "How should I store the sessions of users?"


def filled(memory, event, count=20):
    """A memory of one rule and much that says more about sessions than it does."""
    memory.record_all([event(0, RULE)])
    memory.record_all([
        event(n, f"Number {n}: users store sessions of the store, {n} sessions of users", role=Role.ASSISTANT) for n in range(1, count + 1)
    ])  # fmt: skip


def ids(found):
    return [item.event.id for item in found.evidence]


def test_a_request_for_help_is_answered_with_what_stands(open_memory, event):
    """The rule takes one of the last places, and says that it is there for what it says of such requests."""
    memory = open_memory()
    filled(memory, event)
    found = memory.recall(ASKED)
    assert len(found.evidence) == 10
    assert "e0" in ids(found)[6:]
    item = next(item for item in found.evidence if item.event.id == "e0")
    assert item.signals["standing"] > 0
    assert item.facts[0].text == RULE
    assert "e0  stands\n" in recalled_text(found)
    assert recalled_text(found).count("stands") == 1
    assert ids(memory.recall(ASKED, k=50)).index("e0") < 10  # however many are asked for
    assert "e0" in ids(memory.recall(ASKED, k=3))
    assert ids(memory.recall(ASKED, k=2)) == ids(memory.recall(ASKED, k=50))[:2]


@pytest.mark.parametrize(
    "asked",
    [
        "When did users store sessions?",
        "What did users say about sessions of the store?",
        "Can you remind me of the users' sessions?",
    ],
)
def test_a_question_about_what_was_is_not(open_memory, event, asked):
    """What was said is found by words and meaning, and by nothing else."""
    memory = open_memory()
    filled(memory, event)
    assert all("standing" not in item.signals for item in memory.recall(asked).evidence)


def test_what_no_longer_stands_is_not_told(open_memory, event):
    """A rule that is forgotten, or rejected, takes no place; one that another process wrote does."""
    memory, other = open_memory(), open_memory()
    filled(memory, event)
    assert "e0" in ids(memory.recall(ASKED))
    other.reject(other.preferences()[0].id)
    assert "e0" not in ids(memory.recall(ASKED))
    other.record_all([event(99, "Never store sessions in cookies.")])
    assert "e99" in ids(memory.recall(ASKED))
    other.delete("e99")
    assert "e99" not in ids(memory.recall(ASKED))


def test_filters_hold_for_what_stands_too(open_memory, event):
    """What a filter leaves out is left out; what is asked by words alone is answered by words alone."""
    memory = open_memory()
    filled(memory, event)
    memory.record_all([event(50, "The sessions of users are stored.", session="mine")])
    assert ids(memory.recall(ASKED, session="mine")) == ["e50"]
    assert all("standing" not in item.signals for item in memory.recall(ASKED, by="words").evidence)


def test_what_answers_anyhow_is_shown_once(open_memory, event):
    """A rule among the answers is not repeated."""
    memory = open_memory()
    filled(memory, event, 3)
    found = ids(memory.recall(ASKED))
    assert sorted(found) == ["e0", "e1", "e2", "e3"]


def test_what_answers_best_stays_first(open_memory, event):
    """A rule that is the answer is not put behind what says less."""
    memory = open_memory()
    filled(memory, event)
    found = memory.recall("How should I show the types when I ask for code that stores sessions?")
    assert ids(found)[0] == "e0"
    assert found.evidence[0].signals["standing"] > 0
    assert found.evidence[0].score > 0
    assert ids(found).count("e0") == 1


def test_a_rule_for_everywhere_stands_here_too(open_memory, event):
    """The global memory's rules are told beside the repository's."""
    memory = open_memory()
    filled(memory, event)
    memory.record("Never keep sessions of users longer than a day.", everywhere=True)
    found = memory.recall(ASKED)
    assert {"repository", "global"} <= {item.scope for item in found.evidence if "standing" in item.signals}


@pytest.mark.parametrize(
    ("text", "helps"),
    [
        ("Can you show me how to store sessions?", True),
        ("I'm planning a release. What would you suggest?", True),
        ("Comment devrais-je stocker les sessions ?", True),
        ("Peux-tu m'aider à stocker les sessions ?", True),
        ("How many sessions are there?", False),
        ("How did you suggest that I store sessions?", False),
        ("Have I ever stored sessions?", False),
        ("Peux-tu me rappeler où sont les sessions ?", False),
    ],
)
def test_what_asks_for_help(text, helps, clock):
    """A request is told from a question about what was, in English and in French."""
    assert take_apart(text, datetime.fromtimestamp(clock(), UTC)).asks_help is helps

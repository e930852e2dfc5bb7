"""Asked what is left to do, memory answers with the todos that are open."""

from __future__ import annotations

import pytest

from vademecum.memory.question import asks_for_all
from vademecum.types import Verdict

NOON, DAY = 1_760_000_400.0, 86_400.0  # where the clock of `conftest` begins


def ids(found):
    return [item.event.id for item in found.evidence]


def work(memory, event):
    memory.record_all([
        event(1, "TODO: write the migration guide", at=NOON),
        event(2, "We left the old flat, what is there to do in Lyon is a lot", at=NOON + 1),
        event(3, "Il reste à traduire les messages d'erreur.", at=NOON + DAY),
        event(4, "The tests take 40 seconds.", at=NOON + DAY + 1),
    ])  # fmt: skip


@pytest.mark.parametrize(
    "question",
    [
        "what is left to do?",
        "What's left?",
        "what\u2019s still open?",
        "what remains?",
        "What remains to be done in this project?",
        "open todos",
        "show me all open tasks",
        "which todos are still open?",
        "what do we still have to do?",
        "what do I have left to do this week?",
        "what else needs to be done?",
        "what is on my todo list?",
        "is there anything left to do?",
        "que reste-t-il à faire ?",
        "Qu'est-ce qu'il nous reste à faire ?",
        "qu'est-ce qu\u2019il reste à faire cette semaine ?",
        "il reste quoi à faire ?",
        "quelles tâches sont encore ouvertes ?",
        "quelles sont les tâches restantes ?",
        "que devons-nous encore faire ?",
    ],
)
def test_what_is_left_to_do_is_what_was_said_to_be_done(memory, event, question):
    """In English and in French, the latest first, and nothing else."""
    work(memory, event)
    found = memory.recall(question)
    assert found.verdict is Verdict.RESOLVED
    assert ids(found) == ["e3", "e1"]


@pytest.mark.parametrize(
    "question",
    [
        "what is left to do about the cache?",
        "what is open source?",
        "what remains of the old parser?",
        "who left?",
        "what should I do next to store sessions?",
        "que reste-t-il du vieil analyseur ?",
        "how do I open a file?",
        "what tasks did the queue run?",
    ],
)
def test_a_question_about_one_thing_is_weighed_by_its_words(question):
    """Only one that names nothing asks for all that is open."""
    assert not asks_for_all(question)


def test_a_todo_that_was_rejected_is_open_no_more(memory, event):
    """What a person takes out is not shown as open."""
    work(memory, event)
    todo = next(fact for fact in memory.facts(kinds=["todo"]) if "guide" in fact.text)
    memory.reject(todo.id)
    assert ids(memory.recall("what is left to do?")) == ["e3"]


def test_filters_narrow_what_is_open(memory, event):
    """As they narrow any answer; `as_of` asks what was open then, `k` how many are shown."""
    work(memory, event)
    assert ids(memory.recall("what is left to do?", until=NOON + 10)) == ["e1"]
    assert ids(memory.recall("what is left to do?", as_of=NOON + 10)) == ["e1"]
    assert ids(memory.recall("what is left to do?", k=1)) == ["e3"]


def test_where_nothing_is_open_words_answer(memory, event):
    """As if nothing had been asked in particular."""
    memory.record_all([event(1, "The garden has a shed, and nothing is left of the fence.", at=NOON)])
    assert ids(memory.recall("what is left?")) == ["e1"]


def test_a_context_tells_what_is_open(memory, event):
    """What an agent is told when its user asks what is left."""
    work(memory, event)
    told = memory.build_memory_context("s", "what is left to do?")
    assert "migration guide" in told
    assert "traduire" in told


@pytest.mark.parametrize(
    "question",
    [
        "What are the rules I must follow in this repo?",
        "list my preferences",
        "do we have any conventions here?",
        "what must I never do?",
        "Quelles sont les règles à respecter ?",
        "rappelle-moi les consignes",
    ],
)
def test_asked_for_the_rules_memory_lists_those_that_hold(memory, event, question):
    """The latest first; a rule that was taken back, a guess and a decision are none."""
    memory.record_all([
        event(1, "Always run make lint before a commit.", at=NOON),
        event(2, "Never push directly to main.", at=NOON + 1),
        event(3, "We decided to use Postgres.", at=NOON + 2),
        event(4, "Je préfère les petites pull requests.", at=NOON + DAY),
        event(5, "You no longer have to run make lint before a commit.", at=NOON + DAY + 1),
    ])  # fmt: skip
    found = memory.recall(question)
    assert found.verdict is Verdict.RESOLVED
    assert {"e2", "e4"} <= set(ids(found))
    assert not {"e1", "e3"} & set(ids(found))


@pytest.mark.parametrize(
    "question", ["what are the rules for migrations?", "lint rules", "the rules of the parser", "règles de nommage"]
)
def test_asked_for_some_rules_words_decide(question):
    """Which rules are meant is said."""
    assert not asks_for_all(question)


def test_a_report_of_finished_work_is_no_rule_and_says_itself(memory, said):
    """A context told "now not translate; was not translate"."""
    said("il reste à traduire les emails de livraison")
    said("les emails de livraison sont traduits, c'est bon")
    assert memory.facts() == []
    told = memory.build_memory_context("s2", "où en sont les emails de livraison ?")
    assert "sont traduits" in told
    assert "now not" not in told

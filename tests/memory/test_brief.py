"""Which facts concern a message: by its telling words, not by those that every fact has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.memory import brief
from vademecum.memory.active import Outline
from vademecum.memory.brief import Brief, relevant
from vademecum.memory.labels import ENGLISH


def outline(number: int, text: str, subject: str = "") -> Outline:
    return Outline(str(number), "", "fact", subject, "", text, 0.9, 1, float(-number), float(-number), 0, "")


FACTS = [
    outline(0, "The parser service writes its cache to disk"),
    outline(1, "We decided to limit the retries of the upload service to seven"),
    outline(2, "The billing service listens on port 8080"),
    outline(3, "The search service is written in Rust"),
]


def test_a_fact_is_told_only_where_it_probably_concerns_the_message() -> None:
    """Most words of a message, or the fact's whole subject; one word in common is not enough."""
    assert [each.id for each in relevant("what is the billing port?", FACTS)] == ["2"]
    assert [each.id for each in relevant("why is the upload service limited to seven retries?", FACTS)] == ["1"]
    assert relevant("restart the service and tell me how the disk of the new host is doing", FACTS) == []
    assert relevant("", FACTS) == relevant("the of and", FACTS) == []


def test_a_named_tool_brings_the_decision_about_it() -> None:
    """A tool that message and fact both name tells more than other words; a word that is no tool does not."""
    facts = [
        outline(0, "We decided to use SQLite over Postgres because there is one writer"),
        outline(1, "The staging server is at 10.0.0.4"),
        outline(2, "We decided to write the migration guide first"),
    ]
    assert [each.id for each in relevant("can we move the store from sqlite to postgres?", facts)] == ["0"]
    assert relevant("can we move the store to the attic?", facts) == []


def test_a_short_message_is_answered_and_code_and_kinds_of_tools_count() -> None:
    """The only telling word of a message, code that it names, or the name of a tool's kind brings the fact."""
    facts = [
        outline(0, "The release is on December 17", "release date"),
        outline(1, "Never leave a `print` in the code, use the logging module")._replace(kind="instruction"),
        outline(2, "We moved everything to Scaleway", "cloud"),
        *(outline(9 + number, f"The {word} service needs a restart") for number, word in enumerate("abcdefgh")),
    ]
    assert [each.id for each in relevant("When is the release?", facts)] == ["0"]
    assert [each.id for each in relevant("Add a print to debug the charge function", facts)] == ["1"]
    assert [each.id for each in relevant("Where do we deploy?", facts)] == ["2"]
    assert relevant("Rename the module of the release notes and run all tests of it", facts) == []


def test_an_instruction_is_told_with_the_message_it_is_meant_for(memory, clock) -> None:
    """What a session was told at its start among many is told again where it applies."""
    for thing in ("dates", "names", "salaries", "colours", "recipes", "maps", "songs"):
        clock.now += 60
        memory.record(f"Always show a table when I ask about {thing} of the harbour.", role="user")
    brief = Brief([memory.scopes[0].store], ENGLISH, clock, 800)
    assert "recipes of the harbour" in brief.answering("Which recipes of the harbour are there?")
    assert brief.answering("Is the parser done?") == ""


def test_the_better_match_comes_first_and_of_equals_the_newer() -> None:
    """Rare words tell more than common ones."""
    facts = [
        outline(0, "cache size is small", "cache size"),
        outline(1, "cache size is large", "cache size"),
        outline(2, "eviction keeps the cache size"),
    ]
    assert [each.id for each in relevant("cache size eviction", facts)][:1] == ["2"]
    assert [each.id for each in relevant("which cache size?", facts)][:2] == ["0", "1"]


def test_of_very_many_facts_the_newest_are_looked_through(memory, clock, monkeypatch):
    """Preferences are looked through whenever they were said."""
    monkeypatch.setattr(brief, "MOST_FACTS", 3)
    memory.record("I prefer tabs over spaces", role="user")
    for number in range(6):
        clock.now += 60
        memory.record(f"We decided to paint barn{number} in colour{number} because it is old.", role="user")
    store = memory.scopes[0].store
    said = Brief([store], ENGLISH, clock, 800)
    assert "barn5" in said.answering("which colour has barn5?")
    assert "barn0" not in said.answering("which colour has barn0?")
    assert "I prefer tabs" in said.opening()


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=6))
def test_any_words_are_weighed(message: str, said: list[str]) -> None:
    """Only facts that are there come back, each once."""
    facts = [outline(number, text) for number, text in enumerate(said)]
    found = relevant(message, facts)
    assert len(set(found)) == len(found)
    assert set(found) <= set(facts)


def test_a_sentence_that_states_two_things_is_told_once(memory, clock):
    """At the start of a session, before an edit, and in answer to a message."""
    memory.record("il faudra encore traduire le message de version, et je dois appeler l'hébergeur", role="user")
    memory.record("Careful with schema.py, it is generated from the table, edit table.py instead.", role="user")
    memory.record("Please don't use testify, the standard library is enough.", role="user")
    said = Brief([memory.scopes[0].store], ENGLISH, clock, 800)
    for told, words in (
        (said.opening(), "hébergeur"),
        (said.opening(), "testify"),
        (said.about(["src/schema.py"]), "generated"),
        (said.answering("is schema.py generated from the table?"), "generated"),
    ):
        assert told.count(words) == 1


def test_a_rule_that_names_a_folder_is_told_before_a_file_in_it_is_edited(memory, clock):
    """With a slash behind it or within it; a word between slashes is no folder of the file."""
    memory.record("Avant de toucher à app/billing/, demande à Karim.", role="user")
    memory.record("Never touch db/seeds without a review.", role="user")
    memory.record("Always test read/write access first.", role="user")
    said = Brief([memory.scopes[0].store], ENGLISH, clock, 800)
    assert "Karim" in said.about(["app/billing/vat.py"])
    assert "review" in said.about(["db/seeds/users.sql"])
    assert said.about(["app/main.py", "db/seeds.sql", "app/read.py"]) == ""


def test_a_topic_that_the_sentence_says_anyway_is_not_put_before_it(memory, clock):
    """The name of a kind of choice is, since it tells what the rule is about."""
    memory.record("I hate long lines.", role="user")
    memory.record("Use pnpm here.", role="user")
    said = Brief([memory.scopes[0].store], ENGLISH, clock, 800).opening()
    assert "- I hate long lines.\n" in f"{said}\n"
    assert "- JavaScript package manager: Use pnpm here." in said


def test_of_a_sentence_that_holds_in_part_the_rest_is_not_told(memory, clock):
    """What it stated besides was replaced, so it is told by topic and value."""
    memory.record("réponds-moi en français à partir de maintenant, et tutoie-moi", role="user")
    clock.now += 60
    memory.record("finalement on se vouvoie", role="user")
    said = Brief([memory.scopes[0].store], ENGLISH, clock, 800).opening()
    for told in (said, memory.build_memory_context("new", "écris la page")):
        assert "français" in told
        assert "tutoie" not in told


def test_a_day_a_place_or_a_number_answers_a_question_for_one() -> None:
    """Nobody writes "day" beside Wednesday, or "port" beside 8080; a fact without such an answer gains nothing."""
    facts = [
        outline(0, "We deploy on Wednesdays, never on Fridays", "deploy"),
        outline(1, "Migrations live in db/migrate, one file per change"),
        outline(2, "The billing service listens on 8080"),
        outline(3, "The deploy script needs a token, ask Priya"),
        outline(4, "Migrations are reviewed by two people"),
        outline(5, "The billing service is written in Go"),
        *(outline(9 + number, f"The {word} module needs a restart") for number, word in enumerate("abcdefgh")),
    ]
    assert [each.id for each in relevant("which day do we deploy", facts)] == ["0"]
    assert [each.id for each in relevant("where do the migrations go", facts)] == ["1"]
    assert [each.id for each in relevant("what port does billing use", facts)] == ["2"]
    assert relevant("which day do we bake", facts) == relevant("where do the gardens go", facts) == []


def test_a_question_in_the_other_language_brings_the_fact() -> None:
    """French words for what software is made of stand for the English ones, and the other way round."""
    facts = [
        outline(0, "The upload gives up after five attempts"),
        outline(1, "Les factures partent le premier lundi du mois"),
        *(outline(9 + number, f"The {word} module needs a restart") for number, word in enumerate("abcdefgh")),
    ]
    assert [each.id for each in relevant("combien de tentatives avant d'abandonner ?", facts)] == ["0"]
    assert [each.id for each in relevant("when do the invoices go out?", facts)] == ["1"]
    assert relevant("combien de poissons avant de dormir ?", facts) == []


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("le déploiement de staging se fait par GitHub Actions", "deploy to staging"),
        ("jamais de console.log dans le code livré", "add a console.log to see the payload"),
        ("il faut lancer le script seed_all avant les tests", "call seed_all from the Makefile"),
        (
            "pour les montants on travaille toujours en centimes entiers, jamais en flottants",
            "use floats for the amounts",
        ),
        ("Le numéro de suivi commence toujours par FR-", "what's the tracking number format?"),
        ("Inès est partie, c'est Hugo qui reprend la facturation", "who do I ask about billing?"),
        ("the demo is on December 16", "c'est quand la démo ?"),
    ],
)
def test_a_rule_in_the_other_language_is_told(memory, clock, rule, message):
    """A file, code, a translated word, or the person or day asked for brings it."""
    for other in (
        "We use pnpm.",
        "Always squash commits.",
        "never touch the lock file",
        "docs are written in Markdown",
    ):
        memory.record(other, role="user")
    memory.record(rule, role="user")
    said = Brief([memory.scopes[0].store], ENGLISH, clock, 800)
    assert rule in said.answering(message)
    assert said.answering("thanks, that works") == said.answering("rename the variable x") == ""

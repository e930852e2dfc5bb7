"""What people deny is read with its denial, in every spelling, and what only sounds like it is not kept."""

from __future__ import annotations

import pytest

from vademecum.memory.extract import extract
from vademecum.memory.words import is_denied

SHOWN = 0.6


def shown(message):
    """Return what an agent would be shown of a message."""
    return [each for each in extract(message) if each.confidence >= SHOWN]


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("we aren't on Heroku", "Heroku"),
        ("the reporting side doesn't run on Postgres", "Postgres"),
        ("nothing gets pushed to main without a green pipeline", "main"),
        ("don't put things in utils, find them a proper home", "utils"),
        ("il n'y aura pas d'API SOAP", "SOAP"),
        ("le type any n'a pas sa place dans le code", "any"),
        ("les secrets n'ont rien à faire dans le dépôt", "secrets"),
        ("je ne veux plus voir de print dans le code", "print"),
        ("on n'utilise pas Docker en prod", "Docker"),
        ("we've stopped formatting with black", "black"),
    ],
)
def test_a_value_keeps_the_denial_of_its_sentence(message: str, word: str) -> None:
    """Whether "not" is a word, an ending or two words of French."""
    found = shown(message)
    assert any(word in f"{each.subject} {each.value}" for each in found)
    assert all(is_denied(each.value) for each in found)


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("la base n'écoute pas sur 5432 mais sur 5433", "5433"),
        ("the public API isn't GraphQL after all, it's REST", "REST"),
        ("scripts are not written in shell, they're Python", "Python"),
    ],
)
def test_what_holds_instead_is_the_value(message: str, value: str) -> None:
    """The denied one is what it takes the place of."""
    assert value in [each.value for each in shown(message)]


@pytest.mark.parametrize("spelling", ["don't", "dont", "do not", "don\u2019t"])
def test_each_spelling_of_a_denial_reads_alike(spelling: str) -> None:
    """People leave the apostrophe out, or type a curly one."""
    assert [each.value for each in shown(f"we {spelling} use Sentry any more")] == ["not Sentry"]


@pytest.mark.parametrize(
    "message",
    [
        "nobody told me the build was red",
        "we were not using Docker back then",
        "the deploy didn't go through",
        "it's not working on my machine",
        "ça ne marche pas chez moi",
        "je n'ai jamais dit qu'on utilisait MongoDB",
        "the backup isn't through yet",
        "I don't have the credentials for staging right now",
        "no word from the customer since Monday",
        "nobody has answered so far",
        "le runner ne prend plus rien depuis ce matin",
        "on n'a toujours pas reçu le devis",
    ],
)
def test_a_report_with_a_denial_is_not_kept(message: str) -> None:
    """It says how things went, and nothing that holds."""
    assert shown(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "leave the README alone in this diff",
        "don't sort the imports in this branch",
        "ne renomme pas les colonnes dans ce commit",
        "always use goto, said nobody",
        "conditions of the service: clients must never retry more than twice",
    ],
)
def test_what_one_piece_of_work_a_joke_or_terms_ask_for_is_not_kept(message: str) -> None:
    """It holds for this change alone, or is nobody's wish here."""
    assert shown(message) == []


@pytest.mark.parametrize(
    "message", ["nothing gets merged on Fridays", "we don't use tabs in this repo", "on ne pousse jamais sur main"]
)
def test_a_denial_that_lasts_is_kept(message: str) -> None:
    """Only what is true of a moment is passing."""
    assert shown(message)

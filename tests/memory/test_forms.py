"""Forms of speech that people use for what is to last, and what looks like them and is not meant to."""

from __future__ import annotations

import pytest

from vademecum.memory.extract import extract
from vademecum.memory.facts import claim_of, settle
from vademecum.memory.records import Event, Role

SURE = 0.6  # from here on a statement is acted on

NO_FAN = [
    "Are you not a fan of mocks?",
    "If you're not a fan of mocks, say so.",
    "He's not a big fan of mocks, I hear.",
    'She said "I\'m not a big fan of mocks" and left.',
    "My colleague thinks I'm not a fan of mocks.",
    "Why am I not a fan of mocks?",
    "Imagine I'm not a fan of mocks.",
    "I don't know if I'm not a fan of mocks.",
    "The fan is not big enough for this machine.",
    "I'm not a fan of it.",
]
NO_GO_TO = [
    "What is my go-to test runner?",
    "Is httpx still our go-to?",
    "Go to httpx and read the docs.",
    "I want to go to the next line.",
    "My go to definition shortcut is broken.",
    "If httpx is my go-to, why did you use requests?",
    "Suppose httpx is my go-to.",
    "Dana's go-to is requests.",
    'He said "my go-to is httpx" yesterday.',
    "It is my go-to.",
]
NO_CORRECTION = [
    "not npm, pnpm?",
    "Why not npm, pnpm and yarn?",
    "If not npm, pnpm.",
    "Not npm, pnpm fails here.",
    "Not only npm, pnpm fails too.",
    "No, not today, tomorrow.",
    "No, not that file, the other one.",
    'He said "no, not npm, pnpm" to her.',
    "It's not npm, pnpm broke it.",
    "Whether or not npm, pnpm or yarn is used, it fails.",
]
NO_PLACE = [
    "Is staging read-only?",
    "Why is the staging database read-only?",
    "Check if staging is read-only.",
    "If staging is read-only, skip the migration.",
    "Make sure staging is read-only.",
    "Make the email field read-only.",
    "Assume staging is read-only.",
    "My colleague claims staging is read-only.",
    'The log says "the database is read-only now".',
    "It is read-only.",
]
NOT_MOVED = [
    "Has the deadline moved to March 20?",
    "If the deadline has moved to March 20, tell me.",
    "The deadline could be moved to March 20.",
    "Imagine the deadline was moved to March 20.",
    "My colleague claims the deadline was moved to March 20.",
    "Can you move the deadline to March 20?",
    "The cursor has moved to line 20.",
    "The button was moved to the left.",
    "The file was moved to src/api.",
    'He wrote "the deadline was moved to March 20" there.',
]
PAS_REPORTE = [
    "La livraison est repoussée au 20 mars ?",
    "Si la livraison est repoussée au 20 mars, dis-le.",
    "Est-ce que la livraison est reportée au 20 mars ?",
    "Imaginons que la livraison est reportée au 20 mars.",
    "Mon collègue dit que la livraison est reportée au 20 mars.",
    "Peux-tu déplacer la livraison au 20 mars ?",
    "Le curseur passe à la ligne 20.",
    "Le bouton est déplacé à gauche.",
    "Le fichier est déplacé à la racine.",
    "Il a écrit « la livraison est reportée au 20 mars » hier.",
]
PAS_FAN = [
    "Tu n'es pas fan de Redux ?",
    "Pourquoi je ne suis pas fan de Redux ?",
    "Si je ne suis pas fan de Redux, que prendre ?",
    "Imaginons que je ne suis pas fan de Redux.",
    "Il n'est pas fan de Redux.",
    "Mon collègue pense que je ne suis pas fan de Redux.",
    "Elle a dit « je ne suis pas fan de Redux » hier.",
    "Je ne sais pas si je ne suis pas fan de Redux.",
    "Le ventilateur n'est pas assez grand.",
    "Je ne suis pas fan de ça.",
]
SANS_PREDILECTION = [
    "Quel est mon outil de prédilection ?",
    "Est-ce que ripgrep est mon outil de prédilection ?",
    "Si mon outil de prédilection est ripgrep, pourquoi grep ?",
    "Supposons que mon outil de prédilection est ripgrep.",
    "Son outil de prédilection est ripgrep.",
    "Il a écrit « mon outil de prédilection est ripgrep » ici.",
    "Cherche un outil de prédilection pour les logs.",
    "C'est mon outil de prédilection.",
    "L'outil de choix de fichiers est lent.",
    "Mon outil de prédilection ?",
]
SANS_CORRECTION = [
    "pas npm, pnpm ?",
    "Pourquoi pas npm, pnpm ou yarn ?",
    "Si pas npm, pnpm.",
    "Pas npm, pnpm échoue ici.",
    "Pas seulement npm, pnpm aussi.",
    "Non, pas aujourd'hui, demain.",
    "Non, pas ce fichier, l'autre.",
    "Il a dit « non, pas npm, pnpm » hier.",
    "Ce n'est pas npm, pnpm l'a cassé.",
    "Qu'il y ait npm ou pas, pnpm échoue.",
]
SANS_LIEU = [
    "La préprod est en lecture seule ?",
    "Pourquoi la préprod est en lecture seule ?",
    "Vérifie si la préprod est en lecture seule.",
    "Si la préprod est en lecture seule, saute la migration.",
    "Assure-toi que la préprod est en lecture seule.",
    "Mets le champ en lecture seule.",
    "Supposons que la préprod est en lecture seule.",
    "Mon collègue prétend que la préprod est en lecture seule.",
    "Le journal dit « la base est en lecture seule ».",
    "Elle est en lecture seule.",
]


@pytest.mark.parametrize(
    "message",
    [
        *NO_FAN,
        *NO_GO_TO,
        *NO_CORRECTION,
        *NO_PLACE,
        *NOT_MOVED,
        *PAS_REPORTE,
        *PAS_FAN,
        *SANS_PREDILECTION,
        *SANS_CORRECTION,
        *SANS_LIEU,
    ],
)
def test_what_only_looks_like_it_is_not_read(message: str) -> None:
    """Questions, conditions, tasks, quotations, and what is said of others, is only imagined or names nothing."""
    assert [found for found in extract(message) if found.confidence >= SURE] == []


@pytest.mark.parametrize(
    ("message", "kind", "subject", "value"),
    [
        ("I'm not a big fan of mocks", "preference", "mocks", "not mocks"),
        ("I'm really not a fan of long functions.", "preference", "functions", "not long functions"),
        ("We're not big fans of inheritance.", "preference", "inheritance", "not inheritance"),
        ("I've never been a fan of ORMs.", "preference", "orms", "not ORMs"),
        ("Not a huge fan of barrel files.", "preference", "files", "not barrel files"),
        ("My go-to is httpx for HTTP clients", "preference", "http client", "httpx"),
        ("My go-to test runner is Vitest.", "preference", "test framework", "Vitest"),
        ("My go-to colour is black.", "preference", "colour", "black"),
        ("My go-to database for tests is SQLite.", "preference", "tests database", "SQLite"),
        ("My go-to for tests is SQLite.", "preference", "tests database", "SQLite"),
        ("My go-to library is pydantic.", "preference", "pydantic", "pydantic"),
        ("pnpm is my go-to", "preference", "package manager", "pnpm"),
        ("Vitest is our go-to test runner.", "preference", "test framework", "Vitest"),
        ("no, not npm, pnpm!", "instruction", "package manager", "pnpm"),
        ("No not npm, pnpm", "instruction", "package manager", "pnpm"),
        ("Not npm: pnpm.", "instruction", "package manager", "pnpm"),
        ("No, pnpm, not npm!", "instruction", "package manager", "pnpm"),
        ("staging is read-only", "fact", "staging", "read-only"),
        ("The staging database is read only.", "fact", "staging database", "read only"),
        ("Careful, prod is off limits.", "fact", "prod", "off limits"),
        ("staging is no longer read-only", "fact", "staging", "not read-only"),
        ("The staging database isn't read-only any more.", "fact", "staging database", "not read-only"),
        ("je ne suis pas fan de Redux", "preference", "state management", "pas Redux"),
        ("Je suis pas très fan des mocks.", "preference", "mocks", "pas mocks"),
        ("Pas fan des décorateurs.", "preference", "décorateurs", "pas décorateurs"),
        ("mon outil de prédilection est ripgrep", "preference", "ripgrep", "ripgrep"),
        ("Mon langage de prédilection est Rust.", "preference", "langage", "Rust"),
        ("pnpm est mon outil de prédilection.", "preference", "package manager", "pnpm"),
        ("non, pas npm, pnpm !", "instruction", "package manager", "pnpm"),
        ("Non pas npm, pnpm", "instruction", "package manager", "pnpm"),
        ("Non, pnpm, pas npm !", "instruction", "package manager", "pnpm"),
        ("la préprod est en lecture seule", "fact", "préprod", "en lecture seule"),
        ("la préprod n'est plus en lecture seule", "fact", "préprod", "pas en lecture seule"),
        ("La base de staging est en lecture seule.", "fact", "base staging", "en lecture seule"),
    ],
)
def test_what_is_meant_to_last_is_read(message: str, kind: str, subject: str, value: str) -> None:
    """What one is fond of or not, goes to first, puts right, or says of a place."""
    (found,) = [each for each in extract(message) if each.confidence >= SURE]
    assert (found.kind, found.subject, found.value) == (kind, subject, value)
    assert found.confidence >= SURE


@pytest.mark.parametrize(
    ("message", "subject", "value"),
    [
        ("We use yarn now, pnpm broke on CI", "package manager", "yarn"),
        ("We use yarn, npm fails in tests.", "package manager", "yarn"),
        ("We use Postgres, SQLite is for tests.", "database", "Postgres"),
        ("On utilise yarn, pnpm cassait en CI", "package manager", "yarn"),
        ("We use pnpm, not npm, for the frontend.", "frontend package manager", "pnpm"),
    ],
)
def test_what_is_told_of_another_name_is_none_of_the_choice(message: str, subject: str, value: str) -> None:
    """Where that one is used or failed limits nothing of what is used."""
    (found,) = [each for each in extract(message) if each.confidence >= SURE]
    assert (found.subject, found.value) == (subject, value)


@pytest.mark.parametrize("message", ["no, not npm, pnpm!", "Not npm, pnpm.", "non, pas npm, pnpm !"])
def test_a_name_put_in_the_place_of_another_takes_it_back(message: str) -> None:
    (found,) = [each for each in extract(message) if each.confidence >= SURE]
    assert found.corrects


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ("staging is read-only", "staging is no longer read-only", "not read-only"),
        ("la préprod est en lecture seule", "la préprod n'est plus en lecture seule", "pas en lecture seule"),
        ("We use npm here.", "no, not npm, pnpm!", "pnpm"),
        ("The deadline is March 12.", "The deadline has moved to March 20.", "March 20"),
        ("The launch is Friday.", "The launch got pushed back from Friday to next Tuesday", "next Tuesday"),
        ("La livraison est le 12 mars", "La livraison est repoussée au 20 mars", "20 mars"),
        ("La livraison est le 12 mars", "la livraison passe au jeudi 20", "jeudi 20"),
        ("My go-to test runner is Vitest.", "My go-to test runner is Jest now.", "Jest"),
        ("My go-to for tests is SQLite.", "My go-to for tests is Postgres.", "Postgres"),
    ],
)
def test_what_is_said_later_takes_the_place_of_what_was_said(before: str, after: str, value: str) -> None:
    said = [Event(text, at, Role.USER, text) for at, text in enumerate((before, after), 1)]
    claims = [
        claim_of(each, 0, event, event.at) for event in said for each in extract(event.text) if each.confidence >= SURE
    ]
    assert [fact.value for fact in settle(claims, {}) if fact.valid_to is None] == [value]

"""What a fact is about is told in words that its person would use."""

from __future__ import annotations

import pytest

from vademecum.memory.labels import is_known, label


@pytest.mark.parametrize(
    ("subject", "attribute", "text", "kind", "expected"),
    [
        ("package manager", "javascript", "Use pnpm, not npm", "instruction", "JavaScript package manager"),
        ("package manager", "javascript", "Utilise pnpm, pas npm", "instruction", "gestionnaire de paquets JavaScript"),
        ("database", "", "On a choisi PostgreSQL", "decision", "base de données"),
        ("api", "on", "The API listens on port 8080", "fact", "api"),
        ("serveur", "sur", "Le serveur écoute sur le port 8080", "fact", "serveur"),
        ("date limite projet", "le", "La date limite du projet est le 12 mars", "fact", "date limite du projet"),
        ("délai serveur", "", "Le délai de l'ancien serveur", "fact", "délai serveur"),
        ("worker timeout", "", "The timeout of the worker is 30 s", "fact", "worker timeout"),
        ("", "", "Toujours relire avant de pousser", "instruction", "consigne"),
        ("", "", "Always read before you push", "instruction", "instruction"),
        ("main", "pousser", "On ne doit jamais pousser sur main", "instruction", "main"),
        (
            "base production",
            "toucher",
            "On ne doit pas toucher à la base de production",
            "instruction",
            "base de production",
        ),
        ("imports order", "change", "Never change the order of imports", "instruction", "imports order"),
        ("tests", "write", "I usually write the tests first", "preference", "tests"),
        ("api", "port", "The API port is 8080", "fact", "api port"),
    ],
)
def test_labels(subject: str, attribute: str, text: str, kind: str, expected: str) -> None:
    """In the language of the text, with the small words it has, without those that only link."""
    assert label(subject, attribute, text, kind) == expected


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("small pull requests", False),
        ("keep merge requests under 300 lines", False),
        ("never log API requests", False),
        ("requests, not httpx", True),
    ],
)
def test_a_name_that_is_a_word_is_known_by_what_stands_before_it(said: str, known: bool) -> None:
    """A rule about pull requests is none about a library for HTTP, which would end it."""
    assert is_known(said) is known

"""Words that a repository does not have, and their kin that it has."""

from __future__ import annotations

import pytest

FILES = {
    "tokens.py": "def is_old(token, now):\n    return token.expires < now\n",
    "rows.py": "class RowSerializer:\n    def run(self, row):\n        return str(row)\n",
    "login.py": "def login(user):\n    if not authenticated(user):\n        raise PermissionError\n",
    "other.py": "def paint(wall, colour):\n    wall.colour = colour\n",
}


@pytest.fixture(scope="module")
def codebase(engine_to_read):
    return engine_to_read("kin", FILES).codebase


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("expiry", "tokens.py"),
        ("expiration", "tokens.py"),
        ("serialization", "rows.py"),
        ("serialize", "rows.py"),
        ("authenticator", "login.py"),
    ],
)
def test_a_word_that_is_nowhere_finds_its_kin(question, path, codebase):
    assert [each.path for each in codebase.search(question).evidence][:1] == [path]


def test_a_word_that_is_somewhere_stands_for_itself(repo, engine):
    files = FILES | {"policy.py": "def expiry(days):\n    return days * 86400\n"}
    found = engine(repo("kin", files)).codebase.search("how is the expiry counted in days").evidence
    assert found[0].path == "policy.py"


def test_a_name_has_no_kin(codebase):
    """Who asks for a declaration is told that there is none."""
    assert codebase.search("Serialization").verdict == "not_found"


def test_a_word_without_kin_is_told(codebase):
    assert "zebra" in codebase.search("where is the colour of the zebra").reason

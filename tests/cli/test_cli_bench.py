"""`vade bench`: exit codes, JSON, and what a person reads."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def six_files(repository):
    """Six documented functions in six files beside what is there."""
    told = ["amber", "basalt", "copper", "diamond", "emerald", "flint"]
    for number, stone in enumerate(told):
        (repository / "src" / f"{stone}.py").write_text(
            f'def polish_{stone}(grain):\n    """Polish rough {stone} until its surface mirrors candles {number}."""\n    return grain\n'
        )
    return repository


def test_a_table_and_json(vade, six_files):
    """The table goes to standard output with exit code 0; JSON is a list with one report per repository."""
    done = vade("bench", "--no-history", "--questions", "6")
    assert done.code == 0
    assert "docstring" in done.out
    assert "history questions left out: not asked for" in done.out
    (report,) = json.loads(vade("bench", "--no-history", "--questions", "6", "--seed", "3", "--json").out)
    assert (report["repo"], report["seed"], len(report["kinds"][0]["questions"])) == ("handbook", 3, 6)


def test_nothing_to_ask_is_exit_code_one(vade, repository):
    """The reasons are told, and the exit code says that nothing was found out."""
    done = vade("bench")
    assert done.code == 1
    assert "docstring questions left out" in done.out
    assert json.loads(vade("bench", "--json").out)[0]["kinds"] == []


@pytest.mark.parametrize(("args", "code"), [(("--questions", "0"), 2), (("--seed", "x"), 2), (("nowhere",), 2)])
def test_wrong_calls(vade, repository, args, code):
    """A number that is none and a directory that is not there are wrong calls; both say so in one line."""
    done = vade("bench", *args)
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)

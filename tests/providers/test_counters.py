"""Counting tokens: the estimate stays near real tokenizers and never falls far below them, and a tokenizer's file is obeyed."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from vademecum import Engine
from vademecum.errors import ConfigError, MissingExtraError, PluginError, UsageError
from vademecum.index.tokenize import PatternCounter
from vademecum.plugins import load
from vademecum.testing import check_counter

CODE = "def split_budget(total: int) -> int:\n    return total // 2\n\n\nclass Reader:\n    pass\n" * 20


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory):
    """A byte-pair tokenizer trained on the spot, with a limit and padding that must not hold for counting."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["[PAD]"], show_progress=False)  # fmt: skip
    tokenizer.train_from_iterator([CODE], trainer)
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=16)
    path = tmp_path_factory.mktemp("model") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def test_counters_keep_their_promises(tokenizer_file):
    check_counter(load("counter", "pattern"))
    check_counter(load("counter", f"tokenizer:{tokenizer_file}"))


def test_a_check_notices_a_counter_that_stops_counting():
    class Stuck:
        name = "stuck"

        def count(self, text):
            return min(len(text), 512)

    with pytest.raises(AssertionError, match="more text is more tokens"):
        check_counter(Stuck())


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("x", 1, 1),
        ("def split_budget(total: int) -> int:\n    return total // 2\n", 14, 22),
        ("語彙の数え方" * 100, 500, 1_200),  # o200k and cl100k take 0.7 to 1.5 a character
        ("Переменная окружения " * 100, 400, 2_000),
        ("🙂" * 100, 100, 300),
        ("=" * 10_000, 150, 10_000),  # a line that never ends is not one token
        ("a" * 10_000, 600, 10_000),
        (" " * 10_000, 100, 10_000),
        ("\n" * 10_000, 100, 10_000),
        ("\u200b" * 10_000, 10_000, 30_000),
    ],
)
def test_the_estimate_stays_within_bounds(text, least, most):
    assert least <= PatternCounter().count(text) <= most


@given(st.text(alphabet=st.characters(min_codepoint=0x80, codec="utf-8"), min_size=1))
def test_what_is_not_ascii_is_never_counted_below_its_letters(text):
    """A quarter of the characters, the usual guess, is a fifth of the truth for many scripts."""
    assert PatternCounter().count(text) >= len(text)


@given(st.text(), st.text())
def test_the_estimate_grows_with_the_text(one, other):
    counter = PatternCounter()
    assert counter.count(one + other) + 2 >= counter.count(one)
    assert counter.count(one + other) <= counter.count(one) + counter.count(other) + 2


def test_a_file_is_obeyed_but_for_its_limit_and_padding(tokenizer_file):
    """Two words are two words, and ten thousand are not sixteen."""
    counter = load("counter", f"tokenizer:{tokenizer_file}")
    assert counter.count(CODE * 10) > 1_000
    assert counter.count("def") < 16
    assert load("counter", f"tokenizer:{tokenizer_file.parent}").count(CODE) == counter.count(CODE)


def test_a_context_is_counted_with_the_file(tmp_path, tokenizer_file):
    (tmp_path / "budget.py").write_text(CODE)
    with Engine.open(tmp_path, counter=f"tokenizer:{tokenizer_file}") as engine:
        found = engine.context("split the budget", 300)
    exact = Tokenizer.from_file(str(tokenizer_file))
    exact.no_truncation()
    exact.no_padding()
    assert found.tokens == len(exact.encode(found.text, add_special_tokens=False).ids) <= 300
    assert "split_budget" in found.text


def test_what_is_no_tokenizer_is_named(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(PluginError, match="does not describe a tokenizer"):
        load("counter", f"tokenizer:{tmp_path / 'x.json'}")
    for spec in ("tokenizer", "tokenizer:/nowhere/tokenizer.json"):
        with pytest.raises(UsageError, match="tokenizer:FILE"):
            load("counter", spec)


def test_a_missing_library_is_named(monkeypatch, tokenizer_file):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    monkeypatch.delitem(sys.modules, "vademecum.providers.tokenizer_counter", raising=False)
    with pytest.raises(MissingExtraError, match=r"vademecum\[tokenizer\]"):
        load("counter", f"tokenizer:{tokenizer_file}")


def test_a_repository_cannot_have_a_file_read(tmp_path, tokenizer_file):
    (tmp_path / ".vade.toml").write_text(f'[context]\ncounter = "tokenizer:{tokenizer_file}"\n')
    with pytest.raises(ConfigError, match="may choose pattern only"):
        Engine.open(tmp_path)


def test_the_estimate_is_about_what_was_measured():
    """0.98 of the matches, over text like code."""
    words = "alpha beta gamma delta "
    assert math.isclose(PatternCounter().count(words * 100), 392, abs_tol=1)

"""Stems of English words: a light form for code, Porter's for prose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.index.tokenize import light_stem, porter_stem

anything = st.text(max_size=14)

# The examples in the steps of Porter's paper, each followed through all steps.
PORTER = {
    "caresses": "caress", "ponies": "poni", "ties": "ti", "cats": "cat", "feed": "feed", "agreed": "agre",
    "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing", "conflated": "conflat",
    "troubled": "troubl", "sized": "size", "hopping": "hop", "tanned": "tan", "falling": "fall", "hissing": "hiss",
    "fizzed": "fizz", "failing": "fail", "filing": "file", "happy": "happi", "sky": "sky", "relational": "relat",
    "conditional": "condit", "rational": "ration", "valenci": "valenc", "digitizer": "digit", "operator": "oper",
    "vietnamization": "vietnam", "predication": "predic", "feudalism": "feudal", "decisiveness": "decis",
    "hopefulness": "hope", "callousness": "callous", "formaliti": "formal", "sensitiviti": "sensit",
    "sensibiliti": "sensibl", "triplicate": "triplic", "formative": "form", "formalize": "formal",
    "electriciti": "electr", "electrical": "electr", "hopeful": "hope", "goodness": "good", "revival": "reviv",
    "allowance": "allow", "inference": "infer", "airliner": "airlin", "gyroscopic": "gyroscop", "adjustable": "adjust",
    "defensible": "defens", "irritant": "irrit", "replacement": "replac", "adjustment": "adjust",
    "dependent": "depend", "adoption": "adopt", "homologou": "homolog", "communism": "commun", "activate": "activ",
    "angulariti": "angular", "homologous": "homolog", "effective": "effect", "bowdlerize": "bowdler",
    "probate": "probat", "rate": "rate", "cease": "ceas", "controll": "control", "roll": "roll", "toying": "toi",
}  # fmt: skip


@pytest.mark.parametrize(("word", "stem"), PORTER.items())
def test_the_words_of_porters_paper_have_the_stems_it_states(word, stem):
    """One word for each rule, so that a lost or reordered rule shows."""
    assert porter_stem(word) == stem


@given(anything)
def test_any_word_has_a_stem(word):
    """A stem is never longer than its word by more than the e a rule adds, and no word has an empty stem."""
    for stem in (light_stem(word), porter_stem(word)):
        assert bool(stem) == bool(word)
        assert len(stem) <= len(word) + 1


def test_the_light_stem_keeps_names_apart_that_prose_may_join():
    """A class and what it makes are two names in code, and one topic in prose."""
    assert porter_stem("organizer") == porter_stem("organization")
    assert light_stem("organizer") != light_stem("organization")

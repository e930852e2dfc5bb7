"""Names that are spelled nearly alike are found without comparing with each."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from hypothesis import example, given
from hypothesis import strategies as st

from vademecum.code.search.did_you_mean import NEAREST, compare, in_order, most_alike, places_of
from vademecum.code.search.explain import holds_word

SPELLED = st.text(st.sampled_from("abcdeABEéÉ_ßİ\U0001f600\ud800"), max_size=12)


def likeness(name, other):
    """What SequenceMatcher says."""
    return SequenceMatcher(None, other.lower(), name.lower()).ratio()


@given(st.lists(SPELLED.filter(bool), min_size=1, max_size=2), st.lists(SPELLED, unique=True, max_size=40))
@example(["abc"], ["abc", "abd", "abe", "ab", "abcd", "abce", "xyz", "cba"])
def test_the_nearest_are_those_of_comparing_with_each(names, candidates):
    """With the same likeness, those of the last place that are as near as well."""
    best = {}
    for name in names:
        compare(name, candidates, best)
    every = {other: max(likeness(name, other) for name in names) for other in candidates}
    wanted = sorted(((-value, other) for other, value in every.items() if value >= 0.6))[:NEAREST]
    assert sorted((-value, other) for other, value in best.items())[:NEAREST] == wanted


@given(SPELLED.filter(bool), st.lists(SPELLED, min_size=1, max_size=10))
def test_bounds_are_bounds(name, candidates):
    """No name is more alike than either says."""
    lowered = name.lower()
    for other, bound in zip(candidates, most_alike(name, candidates).tolist(), strict=True):
        total = len(lowered) + len(other.lower())
        in_this_order = 2.0 * in_order(places_of(lowered), len(lowered), other.lower()) / total
        assert likeness(name, other) <= in_this_order <= bound <= 1.0


@given(
    st.lists(st.sampled_from([b"Base", b"s", b"$", b" ", b"_", b".", b"Ba", b"se", b"\xff"])),
    st.sampled_from([b"Base", b"s", b"$"]),
)
def test_a_word_by_itself(pieces, word):
    """It is told as a regular expression tells it."""
    content = b"".join(pieces)
    by_itself = re.search(rb"(?<![\w$])" + re.escape(word) + rb"(?![\w$])", content)
    assert holds_word(content, word) == (by_itself is not None)

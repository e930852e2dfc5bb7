"""What a process remembers of words has a bound, and room is not taken by what is new in every text."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from vademecum.memory import words
from vademecum.memory.words import query_keys, terms


def test_numbers_are_cut_anew_and_take_nobodys_place() -> None:
    """Whoever records for long says numbers without end; words that were seen stay at hand."""
    terms("the limit of retries")
    query_keys("the limit of retries")
    before = [cache.cache_info().currsize for cache in (words._kept, words._kept_keys)]
    assert terms("limit 4711 of 123456789 retries") == ["limit", "4711", "retri"]
    assert len(query_keys("limit 4711 of 123456789 retries")) == 3
    assert [cache.cache_info().currsize for cache in (words._kept, words._kept_keys)] == before


def _letter_by_letter(word: str) -> str:
    """What Porter's paper calls the form of a word, told of each letter by the one before it."""
    shape = ""
    for i, letter in enumerate(word):
        is_vowel = letter in "aeiou" or (letter == "y" and i > 0 and shape[-1] == "c")
        shape += "v" if is_vowel else "c"
    return shape


@given(st.text(alphabet="abeioubcdstyzé\u0131\u4e2d", max_size=12))
@example("toying")
def test_the_shape_of_a_word_is_that_of_its_letters(word) -> None:
    """Of letters that English has, and of others, which count as consonants."""
    assert words._shape(word) == _letter_by_letter(word)


@given(
    st.text(alphabet="aeioubcdsty", max_size=6),
    st.lists(st.sampled_from([*words._STEP_2, *words._STEP_3]), max_size=3).map("".join),
    st.sampled_from([words._STEP_2, words._STEP_3]),
)
def test_of_several_endings_the_longest_is_replaced(base, ending, rules) -> None:
    """As the rules say when they are gone through from the longest on, and nothing after the first that fits."""
    word = base + ending
    suffix = next((each for each in sorted(rules, key=len, reverse=True) if word.endswith(each)), "")
    left = word[: len(word) - len(suffix)]
    changes = suffix and words._measure(left) > 0
    assert words._replaced(word, rules) == (left + rules[suffix] if changes else word)

"""The words of a question are found in a text by their stems, sentence by sentence."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from vademecum.index.tokenize import TALK
from vademecum.memory.passages import AskedFor, sentences
from vademecum.memory.words import IRREGULAR, query_keys, runs

said = st.sampled_from(
    [*sorted(IRREGULAR), *sorted(TALK)[:20], "toys", "toying", "Hiking", "hiked", "fileCache", "max_retries", "l'index",
     "Anna's", "préférée", "use", "ueds", "b2b", "42", "ID", "İd", "\u017fize",
     "found42", "u42", "word42", "Word7", "v٣", "123456789"]
) | st.from_regex(r"[A-Za-z][a-z]{0,7}(?:s|ed|ing|y|ies)?|[A-Z]?[a-z]{0,3}[0-9]{1,3}", fullmatch=True)  # fmt: skip


@given(st.lists(said, min_size=1, max_size=6), st.lists(said, max_size=12))
@example(["find"], ["found", "Found", "finding"])
@example(["u"], ["ueds"])
@example(["find 42"], ["found7", "word42", "Word42", "42", "421"])
def test_a_run_stands_for_the_terms_asked_for_that_it_is_cut_into(question, told) -> None:
    idf = dict.fromkeys(query_keys(" ".join(question)).tolist(), 1.0)
    asked = AskedFor(" ".join(question), idf)
    for run in [each for word in (*told, *question) for each in runs(word)]:
        assert set(asked[run]) == set(query_keys(run).tolist()) & idf.keys(), run


@given(st.text(alphabet="ab.!? \n\t\u00a0", max_size=40))
def test_a_text_is_cut_behind_the_sign_that_ends_a_sentence_and_at_the_ends_of_lines(text) -> None:
    """As the pattern says that looks behind each blank."""
    assert list(sentences(text)) == re.split(r"(?<=[.!?])\s+|\n+", text)

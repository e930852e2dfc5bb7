"""Text to terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.index.query import MAX_TERMS, plan_query, split_name
from vademecum.index.tokenize import key, light_stem, parts, query_terms, terms

anything = st.text(st.characters(exclude_categories=()), max_size=80)


@given(anything)
def test_no_text_breaks_the_tokenizer(text):
    """Any text has terms, none of them empty, and the same each time."""
    found = terms(text)
    assert all(found)
    assert found == terms(text)
    assert all(0 <= key(term) < 2**64 for term in found)
    for asked in query_terms(text):
        assert len(set(asked)) == len(asked)


@given(anything)
def test_no_question_breaks_the_planner(text):
    """Any question has a plan, of bounded size."""
    plan = plan_query(text)
    assert len(plan.terms) <= MAX_TERMS
    assert all(plan.names)
    split_name(text)


@pytest.mark.parametrize("spellings", [("FileWalker", "fileWalker", "file_walker", "FILE_WALKER", "file__walker"), ("HTTPServer", "http_server", "HttpServer"),
                                       ("parseJSON2", "parse_json_2", "ParseJson2")])  # fmt: skip
def test_spellings_of_a_name_share_every_term(spellings):
    """camelCase, snake_case and capitals give the same parts and the same compound."""
    assert len({tuple(terms(name)) for name in spellings}) == 1


def test_names_are_cut_and_kept_whole():
    """A compound is found by each part and as a whole."""
    assert parts("HTTPServerError") == ["http", "server", "error"]
    assert terms("HTTPServerError")[:3] == ["http", "server", light_stem("error")]
    assert len(terms("HTTPServerError")) == 4


def test_words_written_apart_find_names_written_together():
    """`file walker` asks for the compound of `FileWalker` too, apart from its own terms."""
    asked, joined = query_terms("file walker")
    assert set(terms("FileWalker")) == {*asked, *joined}


@given(st.from_regex(r"[a-z]{3,12}", fullmatch=True))
def test_plurals_are_found(word):
    """A regular plural has the term of its singular."""
    if not word.endswith(("s", "i", "u", "e", "y", "ing", "ed")):
        assert light_stem(word + "s") == light_stem(word)


def test_noise_is_left_out():
    """Hashes, time stamps and minified runs are no terms."""
    assert terms("1234567890123 " + "a" * 41) == []


def test_a_question_of_stop_words_keeps_them():
    """When nothing else is there, they are what is asked for."""
    assert query_terms("this is it")[0]
    assert query_terms("where is the walker")[0] == ["walker"]


@pytest.mark.parametrize("text", ["日本語の文字列", "中文分词", "한국어 검색"])
def test_writing_without_spaces_is_cut_into_pairs(text):
    """A part of a CJK phrase finds the phrase."""
    assert set(terms(text[1:3])) <= set(terms(text))


@pytest.mark.parametrize(("text", "is_symbol"), [("read_source", True), ("Engine.open", True), ("std::vector", True), ("open()", False), ("how it works", False),
                                                 ("parseJSON", True), ("walk the tree", False), ("_private", True)])  # fmt: skip
def test_a_bare_name_is_told_from_a_question(text, is_symbol):
    """One identifier, written as code writes it, is a name and nothing else."""
    assert plan_query(text).is_symbol is is_symbol

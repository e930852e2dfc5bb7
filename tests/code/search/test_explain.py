"""Reasons for an empty answer, and names spelled nearly alike."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handbook import SAMPLE
from vademecum.code.search.verdict import NEAREST, compare
from vademecum.types import Verdict

SPELLED = st.text(st.sampled_from("abcdeABEéÉ_ßİ\U0001f600\ud800"), max_size=12)


@pytest.fixture(scope="module")
def codebase(engine_to_read):
    """The sample, and files that are left out."""
    files = {**SAMPLE, "data/table.txt": b"\0\1", ".env": "TOKEN=1\n"}
    return engine_to_read(files=files, embedder="static").codebase


@pytest.mark.parametrize(
    ("question", "narrowed", "why"),
    [("quokka zebrafish", {}, "none of these words occur"), ("socket", {"paths": ["nowhere/*"]}, " match path nowhere/*"),
     ("socket", {"languages": ["rust"], "kind": "test"}, "lang rust, kind test"), ("NoSuchThing", {}, "'NoSuchThing' is defined nowhere"),
     ("data/table.txt", {}, "data/table.txt is not indexed: binary"), ("zq.*xj", {}, "-e"), ("?!", {}, "no words")],
)  # fmt: skip
def test_a_reason_is_given(codebase, question, narrowed, why):
    """Nothing found is an answer with the likeliest reason and no evidence."""
    answer = codebase.search(question, **narrowed)
    assert (answer.verdict, answer.evidence, answer.probability < 0.5) == (Verdict.NOT_FOUND, (), True)
    assert why in answer.reason


def test_filters_that_leave_nothing_have_no_nearest_name(codebase):
    """A name that the question spells right is no help: the filter is what is wrong."""
    assert codebase.search("split_budget", paths=["nowhere/*"]).nearest == ()


def test_a_file_whose_name_cannot_be_shown_is_told_of(repo, engine):
    """It may hold what is defined nowhere else."""
    made = repo("odd", {"a.py": "def known():\n    return 1\n", "two\nlines.py": "def hidden():\n    return 2\n"})
    assert "two\\nlines.py (undecodable name)" in engine(made).codebase.symbol("hidden").reason


def test_an_empty_repository_says_so(repo, engine):
    """Where nothing is indexed, that is the reason, with how much was left out."""
    made = repo("empty", {".env": "A=1\n"}, commit=False)
    answer = engine(made).codebase.search("anything at all")
    assert answer.verdict is Verdict.NOT_FOUND
    assert "nothing is indexed here" in answer.reason
    assert "1 skipped" in answer.reason


def test_names_of_other_branches_are_not_near(repo, engine):
    """Near names are those of the state that is searched."""
    made = repo()
    codebase = engine(made).codebase
    codebase.index()
    made.git("rm", "-q", "src/net/retry.py")
    assert "retry_with_backoff" not in codebase.symbol("retry_with_backof").nearest


def test_a_question_of_which_only_small_words_are_known_is_not_found(repo, engine):
    """A name with `un` in it is no answer to "supprimer un utilisateur temporaire"."""
    text = "UN = 'un'\n\n\ndef par(un):\n    return un\n"
    codebase = engine(repo("app", {"a.py": text}), embedder="static").codebase
    answer = codebase.search("supprimer un utilisateur temporaire par jeton")
    assert (answer.verdict, answer.evidence) == (Verdict.NOT_FOUND, ())


def test_a_path_asked_for_as_a_name_is_said_to_be_a_file(codebase):
    """Something of that name is here; only it is declared nowhere."""
    assert codebase.symbol("net/retry.py").reason == "'net/retry.py' is a file, and nothing declares such a name"


def test_no_name_is_near_to_a_word_of_asking(repo, engine):
    """`whereas` is spelled like "where", and nobody looks for it."""
    codebase = engine(repo("app", {"a.py": "def whereas():\n    return 1\n\n\ndef hens():\n    return 2\n"})).codebase
    answer = codebase.search("where do I add xylophones and a henz quantum marmalade")
    assert (answer.verdict, answer.nearest) == (Verdict.NOT_FOUND, ("hens",))


def test_no_name_is_near_to_a_word_that_the_code_writes(repo, engine):
    """It is spelled as it was meant; only words that no file has may be misspelled."""
    text = 'def counter(things):\n    """Count the things of a consumer."""\n    return len(things)\n'
    codebase = engine(repo("app", {"a.py": text}), embedder="static").codebase
    found = [
        codebase.search(f"kafka {word} rebalancing of partitions with zookeeper") for word in ("consumer", "countr")
    ]
    assert [answer.nearest for answer in found] == [(), ("counter",)]


def test_what_could_not_be_parsed_is_named_where_a_name_is_defined_nowhere(repo, engine):
    """That is said of what was read: a file that a grammar gave up on may hold the definition."""
    broken = "class Known {}\n\nclass (((( {{{{\nclass Hidden extends Base {\n"
    made = repo("broken", {"a.ts": broken, "b.ts": "export const hidden = Hidden2\n"})
    codebase = engine(made, embedder="static").codebase
    said = [codebase.symbol(name).reason for name in ("Hidden", "Hidden2")]
    assert ["a.ts holds it" in reason for reason in said] == [True, False], said
    assert "a.ts" in [item.path for item in codebase.search("Hidden").evidence]


@pytest.mark.parametrize(
    ("question", "said"),
    [("retry with kubernetes", "kubernetes"), ("retry_with_zebra backoff", "retry_with_zebra"), ("comment est fait le backoff avec kafka", "kafka"),
     ("kafka, redis, mongo, spark, flink: backoff retry delay", "kafka, redis, mongo, spark, …"), ("Budget.zebra", "zebra")],
)  # fmt: skip
def test_words_that_no_file_writes_are_named_whatever_is_found(codebase, question, said):
    """A word that nothing holds may be what the question is about: whoever reads the answer is told."""
    assert f"in no indexed file: {said}" in codebase.search(question).reason


@pytest.mark.parametrize(
    "question", ["please show me how we retry with backoff", "retry 90210 backoff", "retry\n\nwith kubernetes", "retry backoff", "retry backoff in /usr/lib/python3/x.py", " ".join(f"zeb{n}ra retry" for n in range(20))],
)  # fmt: skip
def test_nothing_is_said_of_words_that_only_ask_nor_of_numbers_nor_of_a_long_text(codebase, question):
    """A line about each of them would hide what it is there to say."""
    assert "in no indexed file" not in codebase.search(question).reason


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

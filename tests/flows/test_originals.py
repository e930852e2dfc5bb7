"""What was found broken in the projects this one grew from stays mended (research/originals.md, 5.1)."""

from __future__ import annotations

import inspect
import socket

import numpy as np
import pytest

from vademecum import plugins
from vademecum.code.codebase import Codebase
from vademecum.code.search.rank import RANKERS
from vademecum.code.search.search import search
from vademecum.result import Ok
from vademecum.types import Verdict

LONG = "".join(
    f"def handler_{n}(event):\n    '''Handle event number {n}.'''\n    return event + {n}\n\n\n" for n in range(130)
)


def test_1_every_result_has_lines(repo, engine):
    """Results without start and end lines: ours have both, and they are the snippet's."""
    for e in engine(repo()).codebase.search("token budget", k=50).evidence:
        assert 1 <= e.start_line <= e.end_line
        assert len(e.snippet.split("\n")) == e.end_line - e.start_line + 1


@pytest.mark.parametrize("ranker", RANKERS)
def test_2_every_advertised_ranker_ranks(repo, engine, ranker):
    """Features advertised and never wired: each ranker that is named answers, and by its own scores."""
    assert engine(repo()).codebase.search("split the token budget", ranker=ranker).evidence


def test_2_every_built_in_provider_is_there():
    """Providers named and never shipped: each can be found."""
    for kind, table in plugins.BUILT_IN.items():
        for name, (_, extra) in table.items():
            assert extra or callable(plugins.find(kind, name))


def test_2_every_filter_of_a_search_filters(repo, engine):
    """Filters that are taken and dropped: each argument of `search` changes the answer."""
    codebase = engine(repo(), repo("other", {"src/z.py": "def token_budget(): ...\n"})).codebase
    everything = codebase.search("token budget", k=50)
    changed = {
        "k": 1, "languages": ["typescript"], "paths": ["src"], "exclude": ["src"], "kind": "doc", "symbol": "split", "pattern": "class",
        "repos": ["other"], "scope": "repo", "ranker": "bm25f", "reranker": Last(), "joined": False,
    }  # fmt: skip
    taken = set(inspect.signature(Codebase.search).parameters) - {"self", "text", "commit", "refresh", "progress"}
    taken -= {"sources"}  # which narrows to what was fetched: tests/sources
    assert taken == set(changed)
    for name, value in changed.items():
        assert codebase.search("token budget", **({"k": 50} | {name: value})).evidence != everything.evidence, name


class Last:
    """A reranker to which the last is the best."""

    name, remote = "last", False

    def rerank(self, query, passages):
        return Ok([float(n) for n in range(len(passages))])


def test_3_filters_come_before_the_cut(repo, engine):
    """Filters after the cut lose answers: the one Go file is found with k = 1 among a hundred better Python ones."""
    files = {f"m{n}.py": f"def open_socket_{n}():\n    '''Open the socket.'''\n" for n in range(100)}
    made = repo("many", files | {"main.go": "package main\n\n// open it\nfunc main() {}\n"})
    assert engine(made).codebase.search("open the socket", k=1, languages=["go"]).evidence[0].path == "main.go"


def test_4_the_order_is_the_scores_order(repo, engine):
    """A re-rank computed and discarded: evidence stands in the order of the scores it shows."""
    codebase = engine(repo()).codebase
    for options in ({}, {"reranker": Last()}):
        scores = [e.score for e in codebase.search("split the token budget", k=50, **options).evidence]
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores)) > 1


def test_5_offsets_are_right_after_wide_characters(repo, engine):
    """Bytes taken for characters: a definition after text of many bytes is cut exactly."""
    made = repo(
        "wide", {"a.py": "# " + "日本😀é" * 200 + "\n\n\ndef after():\n    return '日本'\n\n\ndef last(): ...\n"}
    )
    (hit,) = engine(made).codebase.symbol("after").evidence
    assert (hit.start_line, hit.snippet) == (4, "def after():\n    return '日本'")


def test_6_nothing_stale_after_a_deletion_or_a_rename(repo, engine):
    """Rows left after a deletion or rename: what is gone from disk is gone from every answer."""
    made = repo()
    codebase = engine(made).codebase
    codebase.index()
    (made.path / "src/budget.py").rename(made.path / "src/tokens.py")
    (made.path / "src/net/retry.py").unlink()
    found = {e.path for e in codebase.search("token budget retry", k=50).evidence}
    assert "src/tokens.py" in found
    assert found.isdisjoint({"src/budget.py", "src/net/retry.py"})
    assert codebase.symbol("retry_with_backoff").verdict is Verdict.NOT_FOUND


def test_6_an_increment_overwrites_nothing_of_others(repo, engine):
    """A merged index overwritten by one repository's changes: indexing one leaves the other's answers as they were."""
    one, two = repo("one"), repo("two", {"z.py": "def unchanged_function(): ...\n"})
    opened = engine(one, two)
    before = opened.codebase.search("unchanged function", repos=["two"]).evidence
    one.write("src/budget.py", "x = 1\n")
    opened.codebase.index()
    assert opened.codebase.search("unchanged function", repos=["two"]).evidence == before


def test_7_a_verdict_is_a_probability_for_any_embedder(repo, engine):
    """One cosine threshold for every model: with any embedder, or with words alone, what is nowhere is not resolved."""
    made = repo()
    for embedder in ("hashing", "hashing:16", "static"):
        codebase = engine(made, embedder=embedder).codebase
        known, unknown = (codebase.search(text) for text in ("split the token budget", "quokka zebrafish marmalade"))
        assert unknown.verdict in (Verdict.NOT_FOUND, Verdict.AMBIGUOUS)
        assert 0 <= unknown.probability < known.probability <= 1


def test_8_a_new_file_is_found_at_once(repo, engine):
    """Usage-based scores starve what is new: a file that was never shown ranks by what it says alone."""
    made = repo()
    codebase = engine(made).codebase
    for _ in range(5):
        codebase.search("token budget")
    made.write("src/fresh.py", "def quota_of_tokens():\n    '''Divide the quota of tokens.'''\n")
    assert codebase.search("divide the quota of tokens").evidence[0].path == "src/fresh.py"


def test_9_the_search_that_is_measured_is_the_one_that_answers():
    """A benchmark that does not run the system: the public method hands on to the function itself, with no second path."""
    assert Codebase.search.__globals__["search"] is search


def test_10_no_cap_is_hidden(repo, engine):
    """Caps on chunks per file and snippet length: all 130 functions of a file are found whole."""
    codebase = engine(repo("long", {"handlers.py": LONG})).codebase
    for n in (0, 51, 129):
        (hit,) = codebase.symbol(f"handler_{n}").evidence
        assert hit.snippet.endswith(f"return event + {n}")
    assert len(codebase.search("handle event number", k=500, joined=False).evidence) >= 130
    joined = codebase.search("handle event number", k=500).evidence
    assert len({name for hit in joined for name in hit.symbols}) >= 130


def test_11_no_service_and_no_network(repo, engine, monkeypatch):
    """A mandatory service: with every socket refused, indexing and searching work with the default embedder."""

    def refuse(*_, **__):
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "socket", refuse)
    assert engine(repo(), embedder="static").codebase.search("how is the token budget split").evidence


def test_12_parts_of_names_are_words(repo, engine):
    """Tokenizers that do not split: a question in words finds camelCase and snake_case names by words alone."""
    made = repo(
        "names",
        {"a.js": "function parseHttpHeader() {}\n", "b.py": "def open_file_walker(): ...\n", "c.py": "unrelated = 1\n"},
    )
    codebase = engine(made).codebase
    for question, path in (
        ("http header", "a.js"),
        ("file walker", "b.py"),
        ("openFileWalker", "b.py"),
        ("parse_http_header", "a.js"),
    ):
        assert codebase.search(question, ranker="bm25f").evidence[0].path == path


def test_vectors_are_compared_within_one_embedder_only(repo, engine):
    """Vectors of different models are never mixed: switching embedders and back changes no score."""
    made = repo()
    first = [e.score for e in engine(made, embedder="hashing").codebase.search("token budget").evidence]
    engine(made, embedder="static").codebase.search("token budget")
    again = [e.score for e in engine(made, embedder="hashing").codebase.search("token budget").evidence]
    np.testing.assert_array_equal(first, again)

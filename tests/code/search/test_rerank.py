"""The step that reorders: what a provider sees, what it cannot do, and that its failure costs nothing but its order."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace

import pytest

from vademecum.aio import AsyncEngine
from vademecum.code.search.search import PASSAGE_CHARACTERS, QUESTION_CHARACTERS
from vademecum.errors import ConfigError, ConsentError, EmbedError, RerankError, UnknownProviderError
from vademecum.providers.embedders.hashing import HashingEmbedder
from vademecum.result import Err, Ok
from vademecum.testing import WordsReranker, check_reranker
from vademecum.types import Verdict

QUESTION = "open the network socket"
MANY = {
    f"src/mod{n:02}.py": f"def open_socket_{n}():\n    '''Open the network socket number {n}.'''\n    return socket({n})\n"
    for n in range(40)
} | {"web/socket.js": "// Open the network socket.\nfunction openSocket() { return network.socket(); }\n"}


class Reversing:
    """Says that the last is the best."""

    name, remote = "reversing", False

    def rerank(self, query, passages):
        return Ok([float(n) for n in range(len(passages))])


class Returning:
    """Returns what it is told to."""

    name, remote = "odd", False

    def __init__(self, returned):
        self.returned = returned

    def rerank(self, query, passages):
        return self.returned(len(passages)) if callable(self.returned) else self.returned


@pytest.fixture(scope="module")
def codebase(engine_to_read):
    """Forty-one answers to one question."""
    return engine_to_read("many", MANY).codebase


def unsigned(evidence):
    """Evidence without what a reranker changes: the score of its place, and what the reranker said of it."""
    return [replace(e, score=0, signals={k: v for k, v in e.signals.items() if k != "rerank"}) for e in evidence]


def test_the_first_results_get_the_order_of_the_scores(codebase):
    """The provider sees the first 20, best first; what it likes best is shown first; beyond them nothing moves."""
    ranked = codebase.search(QUESTION, k=30)
    answer = codebase.search(QUESTION, k=30, reranker=Reversing())
    assert unsigned(answer.evidence) == unsigned([*ranked.evidence[19::-1], *ranked.evidence[20:]])
    assert [each.signals.get("rerank") for each in answer.evidence] == [*map(float, range(19, -1, -1)), *[None] * 10]


def test_what_stood_below_the_cut_can_come_in(codebase):
    """With three results asked for, they are the provider's three of twenty."""
    ranked = codebase.search(QUESTION, k=20).evidence
    assert unsigned(codebase.search(QUESTION, k=3, reranker=Reversing()).evidence) == unsigned(ranked[:16:-1])


@pytest.mark.parametrize("depth", [1, 5, 40])
def test_the_depth_is_a_setting(repo, engine, depth):
    """No more passages are handed over than `search.rerank_depth`, however many results are asked for."""
    words = WordsReranker()
    made = engine(repo("many", MANY), reranker=words, search__rerank_depth=depth)
    assert len(made.codebase.search(QUESTION, k=7).evidence) == 7
    assert [len(passages) for _, passages in words.asked] == [depth]


def test_equal_scores_change_nothing(codebase):
    """A provider that cannot tell leaves the order alone."""
    ranked = codebase.search(QUESTION, k=15)
    answer = codebase.search(QUESTION, k=15, reranker=Returning(lambda n: Ok([1] * n)))
    assert unsigned(answer.evidence) == unsigned(ranked.evidence)
    assert [each.score for each in answer.evidence] == [each.score for each in ranked.evidence]


def test_verdict_and_probability_are_those_of_the_ranking(codebase):
    """They were fitted on the order before; a reranker moves neither. Scores belong to places, and fall."""
    ranked = codebase.search(QUESTION, k=5)
    answer = codebase.search(QUESTION, k=5, reranker=Reversing())
    assert (answer.verdict, answer.probability, answer.searched) == (
        ranked.verdict,
        ranked.probability,
        ranked.searched,
    )
    assert [each.score for each in answer.evidence] == [each.score for each in ranked.evidence]


def test_a_passage_is_path_signature_and_text(codebase):
    """As they are on disk, best first."""
    words = WordsReranker()
    codebase.search(QUESTION, reranker=words)
    [(question, passages)] = words.asked
    assert question == QUESTION
    first = next(passage for passage in passages if passage.context == "src/mod07.py")
    assert (first.title, first.text) == ("def open_socket_7()", MANY["src/mod07.py"].rstrip("\n"))


def test_long_texts_are_cut_at_a_line(repo, engine):
    """A passage holds whole lines up to a sensible length, a question its beginning."""
    body = "\n".join(f"    socket = network({n})" for n in range(1_000))
    words = WordsReranker()
    codebase = engine(
        repo("long", {"a.py": f"def open_socket():\n{body}\n", "b.py": "def socket_too(): ...\n"})
    ).codebase
    codebase.search(f"{QUESTION} " * 1_000, reranker=words)
    [(question, passages)] = words.asked
    assert len(question) == QUESTION_CHARACTERS
    assert all(len(passage.text) <= PASSAGE_CHARACTERS for passage in passages)
    assert any(len(passage.text) > PASSAGE_CHARACTERS / 2 and passage.text.endswith(")") for passage in passages)


def test_a_question_in_another_encoding_is_handed_over_as_text(codebase):
    """Halves of characters, as a terminal of another encoding types them, are replaced."""
    words = WordsReranker()
    codebase.search(f"{QUESTION} \udce9", reranker=words)
    assert words.asked[0][0] == f"{QUESTION} ?"


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (Err(RerankError("odd is down: start it")), "not reranked: odd is down: start it"),
        (lambda n: Ok([1.0] * (n - 1)), "not reranked: reranker 'odd' gave 19 scores for 20 passages: "),
        (lambda n: Ok([1.0] * (n + 1)), "not reranked: reranker 'odd' gave 21 scores for 20 passages: "),
        (lambda n: Ok([math.nan] * n), "not reranked: reranker 'odd' gave a score that is not a number: "),
        (
            lambda n: Ok([1.0] * (n - 1) + [math.inf]),
            "not reranked: reranker 'odd' gave a score that is not a number: ",
        ),
        (lambda n: Ok(["best"] * n), "not reranked: reranker 'odd' did not answer with numbers: "),
        (lambda n: Ok(None), "not reranked: reranker 'odd' did not answer with numbers: "),
        (lambda n: [1.0] * n, "not reranked: reranker 'odd' did not return a Result: "),
        (Err("down\nand out"), "not reranked: down and out"),
        (lambda n: Ok([10**400] * n), "not reranked: reranker 'odd' did not answer with numbers: "),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"search__ranker": "rrf"}])
def test_a_failure_leaves_the_answer_as_it_was_and_is_said(repo, engine, returned, said, settings):
    """Evidence, signals, scores, verdict: all equal but the reason, which names the reranker and the fix."""
    codebase = engine(repo("many", MANY), **settings).codebase
    ranked = codebase.search(QUESTION, k=7, reranker="built-in")
    answer = codebase.search(QUESTION, k=7, reranker=Returning(returned))
    assert answer.reason.startswith(said)
    assert replace(answer, reason="") == ranked


def test_a_failure_leaves_the_order_also_where_the_provider_saw_more(repo, engine):
    """Ranking deeper for the provider's sake may order differently; the answer is the shallow one."""
    codebase = engine(repo("many", MANY), search__rerank_depth=41).codebase
    ranked = codebase.search(QUESTION, k=7)
    assert codebase.search(QUESTION, k=7, reranker=Returning(Err(RerankError("no")))).evidence == ranked.evidence


def test_two_failures_are_both_said(repo, engine):
    """An embedder and a reranker that fail are two sentences."""

    class Silent(HashingEmbedder):
        def embed(self, passages, kind):
            return Err(EmbedError("silent says nothing")) if kind == "query" else super().embed(passages, kind)

    answer = engine(repo("many", MANY), embedder=Silent()).codebase.search(
        QUESTION, reranker=Returning(Err(RerankError("odd is down")))
    )
    assert answer.reason == "ranked by words alone: silent says nothing; not reranked: odd is down"


@pytest.mark.parametrize(
    "narrowed",
    [{"languages": ["javascript"]}, {"paths": ["src/mod0*"]}, {"exclude": ["web"]}, {"symbol": "open_socket_3"},
     {"pattern": r"number 1\d\."}, {"kind": "code", "paths": ["web"]}],
)  # fmt: skip
def test_what_filters_left_out_is_neither_shown_nor_brought_back(codebase, narrowed):
    """The provider sees what passed every filter, and the answer holds nothing else."""
    words = WordsReranker()
    allowed = {each.id: each for each in codebase.search(QUESTION, k=50, **narrowed).evidence}
    for reranker in (words, Reversing()):
        answer = codebase.search(QUESTION, k=50, reranker=reranker, **narrowed)
        assert {each.id for each in answer.evidence} == set(allowed)
    assert {passage.context for _, seen in words.asked for passage in seen} <= {each.path for each in allowed.values()}


def test_repositories_that_were_not_asked_for_are_not_shown_to_a_provider(repo, engine):
    """Narrowing to one of two open repositories holds for the provider as well."""
    one, two = repo("one", {"one.py": "def open_socket(): ...\n"}), repo("two", {"two.py": "def open_socket(): ...\n"})
    words = WordsReranker()
    engine(one, two).codebase.search(QUESTION, repos=["two"], reranker=words)
    assert {passage.context for _, seen in words.asked for passage in seen} == {"two.py"}


def test_an_edited_file_is_reranked_as_it_is_now(repo, engine):
    """What a provider reads is what the answer shows."""
    made = repo("many", MANY)
    codebase = engine(made).codebase
    codebase.index()
    made.write("src/mod03.py", MANY["src/mod03.py"].replace("number 3", "number three"))
    words = WordsReranker()
    codebase.search(f"{QUESTION} number 3", k=30, reranker=words, refresh=False)
    [text] = [passage.text for passage in words.asked[0][1] if passage.context == "src/mod03.py"]
    assert "number three" in text


@pytest.mark.parametrize("text", ["openSocket", "socket", "zyxwv uvwxy nowhere"])
def test_a_name_and_a_question_without_an_answer_are_not_reranked(codebase, text):
    """Definitions come first whatever a model thinks, and nothing is nothing."""
    words = WordsReranker()
    answer = codebase.search(text, reranker=words)
    assert answer == codebase.search(text)
    assert words.asked == []
    assert (answer.verdict is Verdict.NOT_FOUND) == ("nowhere" in text)


def test_names_that_need_no_provider(codebase):
    """`built-in` and `none` are known, and leave no reason behind."""
    assert {codebase.search(QUESTION, reranker=name).reason for name in ("built-in", "none", "")} == {""}


def test_an_unknown_name_gets_the_nearest(repo, engine):
    """The nearest may be one that is no provider; the name is refused before anything is indexed."""
    codebase = engine(repo("many", MANY)).codebase
    with pytest.raises(UnknownProviderError, match="did you mean 'built-in'"):
        codebase.search(QUESTION, reranker="builtin")
    with pytest.raises(UnknownProviderError, match="did you mean 'cross-encoder'"):
        codebase.search("socket", reranker="crossencoder:/x")
    assert codebase.status()[0].chunks == 0


def test_a_setting_chooses_and_a_search_may_choose_otherwise(repo, engine, chat_server):
    """Engine, settings and search: the nearest to the question wins."""
    chat_server.answer = lambda said: "[20]"
    made = repo("many", MANY)
    options = {"search__reranker": f"llm:{chat_server.model}", "llm__base_url": chat_server.url}
    codebase = engine(made, **options).codebase
    ranked = codebase.search(QUESTION, reranker="built-in").evidence
    assert chat_server.requests == []
    best = codebase.search(QUESTION).evidence[0]
    assert best.id == codebase.search(QUESTION, k=20, reranker="built-in").evidence[19].id
    assert len(chat_server.requests) == 1
    assert engine(made, reranker="built-in", **options).codebase.search(QUESTION).evidence == ranked
    assert len(chat_server.requests) == 1
    assert best.signals["rerank"] == 1.0


def test_the_engine_off_the_loop_takes_it_too(repo, monkeypatch):
    """`await engine.codebase.search(..., reranker=...)`."""
    monkeypatch.setenv("VADE_SEARCH__EMBEDDER", "hashing")
    place = str(repo("many", MANY).path)

    async def ask():
        async with await AsyncEngine.open(place) as engine:
            return await engine.codebase.search(QUESTION, k=2, reranker=Reversing())

    assert [each.signals["rerank"] for each in asyncio.run(ask()).evidence] == [19.0, 18.0]


class Remote(WordsReranker):
    """A reranker that says it sends text away."""

    name, remote = "afar", True


def test_nothing_is_sent_away_without_consent(repo, engine):
    """A remote reranker is refused before it sees any text, unless the user agreed."""
    made, remote = repo("many", MANY), Remote()
    with pytest.raises(ConsentError, match=r"reranker 'afar' sends code to another machine: .*allow_remote"):
        engine(made).codebase.search(QUESTION, reranker=remote)
    with pytest.raises(ConsentError, match="allow_remote"):
        engine(made, llm__base_url="http://192.0.2.1").codebase.search(QUESTION, reranker="llm:m")
    assert remote.asked == []
    assert engine(made, privacy__allow_remote=True).codebase.search(QUESTION, reranker=remote).evidence
    assert len(remote.asked) == 1


def test_a_repositorys_own_file_cannot_turn_on_a_remote_one(repo, engine):
    """Not even where the user agreed to remote ones of their own choice."""
    made = repo("many", MANY | {".vade.toml": "[search]\nreranker = 'llm:m'\n"})
    agreed = {"privacy__allow_remote": True, "llm__base_url": "http://192.0.2.1"}
    with pytest.raises(ConsentError, match=r"own file cannot turn it on: set search.reranker in your user file"):
        engine(made, **agreed).codebase.search(QUESTION)
    assert engine(made, **agreed).codebase.search(QUESTION, reranker="none").evidence


def test_a_repositorys_own_file_cannot_turn_on_a_remote_embedder(repo, engine, monkeypatch):
    """The same rule for embedders: theirs to offer, the user's to choose."""
    made = repo("many", MANY | {".vade.toml": "[search]\nembedder = 'hashing'\n"})
    monkeypatch.setattr("vademecum.providers.embedders.hashing.HashingEmbedder.remote", True)
    opened = engine(made, embedder=None, privacy__allow_remote=True)
    with pytest.raises(ConsentError, match=r"own file cannot turn it on: set search.embedder"):
        opened.codebase.search(QUESTION)
    (made.path / ".vade.toml").unlink()
    assert engine(made, embedder=None, search__embedder="hashing", privacy__allow_remote=True).codebase.search(QUESTION)


def test_a_repositorys_own_file_cannot_have_a_model_file_read(repo, engine):
    """A model is somebody's program for a parser in C++: which one is read is the user's choice."""
    made = repo("many", MANY | {".vade.toml": "[search]\nreranker = 'cross-encoder:model'\n"})
    with pytest.raises(ConfigError, match="own file may choose built-in, none, llm only"):
        engine(made)


def test_the_fake_is_a_reranker():
    """A fake that third parties are given is held to the promises of all."""
    check_reranker(WordsReranker())


def test_a_broken_promise_is_named():
    """The check says which promise is broken."""
    with pytest.raises(AssertionError, match="one score per passage"):
        check_reranker(Returning(Ok([1.0])))

"""Candidates and the fitted ranker: what comes first, what never comes, and that scores are shares of one whole."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vademecum.code.chunking.analyse import FITTED
from vademecum.code.search import rank as fitted_models
from vademecum.code.search.rank import (
    FILE_FEATURES,
    PIECE_FEATURES,
    WEIGHTS,
    Model,
    Pool,
    Weights,
    describe,
    find_candidates,
    fitted_for,
    judge,
    novelty_of,
    pool_of,
    rank,
    weighed_together,
)
from vademecum.code.search.signals import Signals, laid_end_to_end, signals_of
from vademecum.code.snapshot.view import FILE_KINDS, view_of
from vademecum.config import Settings
from vademecum.index.bm25 import Matches
from vademecum.index.fusion import top
from vademecum.index.query import plan_query
from vademecum.index.segment import KIND_CODES, merge_segments
from vademecum.plugins import load
from vademecum.providers.embedders.static import StaticEmbedder
from vademecum.types import KINDS, FileKind, Passage

STATIC = load("embedder", "static")
FITTED_MODEL = fitted_for(STATIC.name)
PROSE, BARE = plan_query("how is the token budget split"), plan_query("split_budget")

STORE = '''\
class TokenStore:
    """Keeps tokens until they expire."""

    def put(self, token, seconds):
        """Keep a token for some seconds."""
        self.tokens[token] = seconds

    def expire(self, now):
        """Drop the tokens whose time is over."""
        self.tokens = {t: s for t, s in self.tokens.items() if s > now}
'''
CALLERS = {
    f"src/use_{n}.py": f"from store import TokenStore\n\n\ndef use_{n}(store: TokenStore):\n"
    f"    '''Use a TokenStore, TokenStore and TokenStore.'''\n    return TokenStore().put({n}, {n})\n"
    for n in range(12)
}
STORE_TEST = '''\
def test_expire_drops_the_tokens_whose_time_is_over():
    """Drop the tokens whose time is over."""
    store = TokenStore()
    store.expire(now=3)
'''
SHOP = {"src/store.py": STORE, "tests/test_store.py": STORE_TEST, "docs/store.md": "# Tokens\n\nTheir time is over.\n"}
OTHERS = {
    "src/paint.py": "def mix_colours(red, blue):\n    '''Mix two colours on a canvas.'''\n    return red + blue\n",
    "src/copy.py": STORE,  # the same content at a second path
    "lib/net.py": "class Socket:\n    def open(self, address):\n        '''Open a connection.'''\n        return address\n",
}


@pytest.fixture
def fitted(repo, engine):
    """Make a codebase with the embedder the ranker was fitted on: `fitted("app", files)`, or of several repositories."""

    def make(*named, **options):
        places = [repo(name, files) for name, files in named]
        return engine(*places, **{"embedder": STATIC} | options).codebase

    return make


@pytest.fixture
def view(repo, engine):
    """Index files, and return what ranking reads of them."""

    def make(name, files):
        made = repo(name, files)
        codebase = engine(made, embedder=STATIC).codebase
        codebase.index()
        ((opened, _),) = codebase._repositories
        _, found = opened.catalogue.load("worktree", opened.root.path)
        return found

    return make


def asked(view, text, kind="all"):
    """Return the signals of a question put to a view, and its plan."""
    plan = plan_query(text)
    vector = STATIC.embed([Passage(text)], "query").unwrap()[0]
    return signals_of(view, plan, vector, KINDS[kind])[0], plan


def paths(answer):
    return [evidence.path for evidence in answer.evidence]


HALF = np.full(1, 0.5, np.float32)


def matches_of(held, tf, term_share):
    """Matches of which `held` is (term, chunk) of each, terms ascending."""
    return Matches(held[:, 1].astype(np.int32), held[:, 0], term_share.take(held[:, 0]), tf)


@st.composite
def signals(draw, files=9, chunks=30, terms=4):
    """Signals of some chunks, some of them at two paths and some at none, some files with none, some words unmatched."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count, size = draw(st.integers(1, files)), draw(st.integers(1, chunks))
    contents = np.sort(rng.integers(0, draw(st.integers(1, files)), size)).astype(np.int32)
    file_content = rng.integers(-1, files, count).astype(np.int32)
    own = [np.flatnonzero(contents == content) for content in file_content]
    standing = np.concatenate(own)
    alive = np.bincount(standing, minlength=size) > 0
    held = np.argwhere(rng.random((terms, size)) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    term_share = rng.dirichlet(np.ones(terms)).astype(np.float32)
    term_share[draw(st.integers(0, terms)) :] = 0  # compounds that nobody wrote
    lengths = rng.integers(0, 90, (size, 4)).astype(np.float32)

    def some(length, above=0.3):
        return np.where(rng.random(length) > above, rng.random(length), 0).astype(np.float32)

    return Signals(
        lexical=some(size) * 9 * alive, dense=(rng.random(size) * 2 - 1).astype(np.float32) * alive,
        definition=some(size, 0.9), path=some(count), prior=rng.choice([1.0, 0.6, 0.35], count).astype(np.float32),
        path_dense=some(count), history=some(count), rows=standing.astype(np.int64),
        files=np.repeat(np.arange(count, dtype=np.int32), [len(rows) for rows in own]),
        contents=contents, file_content=file_content, lengths=lengths,
        kinds=rng.integers(0, len(KIND_CODES), size).astype(np.uint8),
        file_lengths=np.array([lengths[rows, 0].sum() for rows in own], np.float32),
        unasked=rng.integers(0, len(FILE_KINDS), count).astype(np.uint8),
        matches=matches_of(held, rng.integers(0, 4, (len(held), 4)).astype(np.uint8), term_share), term_share=term_share[:, None],
    )  # fmt: skip


def plain_signals(lexical, path, prior):
    """Signals of chunks that stand at one path each, in a file of their own, and of which words and paths alone say anything."""
    size = len(lexical)
    every, nothing = np.arange(size), np.zeros(size, np.float32)
    return Signals(
        lexical=lexical, dense=nothing, definition=nothing, path=path, prior=prior, path_dense=nothing, rows=every,
        files=every.astype(np.int32), contents=every.astype(np.int32),
        file_content=every.astype(np.int32), lengths=np.zeros((size, 4), np.float32), kinds=np.zeros(size, np.uint8),
        file_lengths=nothing, unasked=np.zeros(size, np.uint8), term_share=np.zeros((1, 1), np.float32),
        matches=matches_of(np.zeros((0, 2), np.int64), np.zeros((0, 4), np.uint8), nothing),
    )  # fmt: skip


@st.composite
def models(draw):
    """Any weights, large ones too."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([0.0, 1.0, 30.0]))
    own, inside = (rng.normal(0, 1, len(names)) * spread for names in (FILE_FEATURES, PIECE_FEATURES))
    return Model(own.astype(np.float32), inside.astype(np.float32))


plans = st.sampled_from([PROSE, BARE])


def every_candidate(found, plan, allowed=None, weights=WEIGHTS):
    return pool_of(found, *find_candidates(found, allowed, plan, 10, weights))


# -- on small repositories -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["TokenStore", "expire", "mix_colours", "Socket.open"])
def test_a_bare_names_definition_comes_first(fitted, name):
    """However often others say the name, in their text or in their own."""
    best = fitted(("app", SHOP | CALLERS | OTHERS | {"src/copy.py": ""})).search(name).evidence[0]
    assert name.split(".")[-1] in {symbol.split(".")[-1] for symbol in best.symbols}
    assert best.file_kind == "product"


PROTOTYPES = {
    "src/reinit.h": "/* Decay: reinit, and what reinit leaves of decay. */\nvoid decay_reinit(decay_t *decay, ssize_t decay_ms);\n",
    "src/all.c": '#include "reinit.h"\n#include "door.hpp"\n\nvoid decay_reinit(decay_t *one, ssize_t ms) {\n'
    "    int n = 0;\n    for (; n < 3; n++) one->left = ms;\n}\n",
    "src/door.hpp": "// Doors open, and to open is what a door is for.\nclass Door {\npublic:\n  void open_wide(int door);\n"
    "  int alone(int n);\n};\n",
    "src/all.cpp": '#include "door.hpp"\n\nvoid Door::open_wide(int n) {\n  while (n) n--;\n}\n',
}


@pytest.mark.parametrize(
    ("name", "places", "verdict"),
    [
        ("decay_reinit", ["src/all.c", "src/reinit.h"], "resolved"),
        ("open_wide", ["src/all.cpp", "src/door.hpp"], "resolved"),
        ("Door::open_wide", ["src/all.cpp", "src/door.hpp"], "resolved"),
        ("alone", ["src/door.hpp"], "resolved"),
    ],
)
def test_a_definition_stands_before_its_prototype(fitted, name, places, verdict):
    """Whatever the header says of it; a prototype alone stands for itself, and the two are one definition."""
    answer = fitted(("app", PROTOTYPES)).search(name)
    assert (paths(answer)[: len(places)], answer.verdict) == (places, verdict)


def test_a_test_stands_behind_the_code_it_tests(fitted):
    """The test says the words of the question more often; it is first once tests are asked for, in words or by filter."""
    codebase = fitted(("app", SHOP | OTHERS | {"src/copy.py": ""}))
    question = "drop the tokens whose time is over"
    found = paths(codebase.search(question))
    assert found[0] == "src/store.py"
    assert found.index("src/store.py") < found.index("tests/test_store.py")
    assert paths(codebase.search(f"test that they {question}"))[0] == "tests/test_store.py"
    assert set(paths(codebase.search(question, kind="test"))) == {"tests/test_store.py"}


@pytest.mark.parametrize(
    "besides", [" and test it", ", with tests", ", update the docs and add a test", ", avec des tests"]
)
def test_tests_and_documents_asked_for_besides_a_change_stand_behind_its_code(fitted, besides):
    """The order is that of the change alone."""
    codebase = fitted(("app", SHOP | OTHERS | {"src/copy.py": ""}))
    change = "drop the tokens whose time is over"
    assert paths(codebase.search(change + besides)) == paths(codebase.search(change))


@given(signals(), plans, st.data())
def test_a_file_nobody_asked_for_is_less_likely_than_if_it_were_product(found, plan, data):
    """Of its features only the kind's own changes, and its share falls to that of the others."""
    pool = every_candidate(found, plan)
    assume(len(pool.files) > 1)
    slot = data.draw(st.integers(0, len(pool.files) - 1))
    product = replace(found, unasked=np.zeros_like(found.unasked))
    test = replace(found, unasked=product.unasked.copy())
    test.unasked[pool.files[slot]] = FILE_KINDS.index(FileKind.TEST)
    (_, before), (_, after) = (describe(each, pool, is_bare=plan.is_bare) for each in (product, test))
    assert np.argwhere(before != after).tolist() == [[slot, FILE_FEATURES.index("unasked_test")]]
    was, now = (judge(FITTED_MODEL, each, pool, plan).file for each in (product, test))
    own = pool.slot == slot
    assert (now[own] <= was[own]).all()
    assert (now[~own] >= was[~own]).all()


def test_filters_narrow_before_the_cut(fitted):
    """What is left is searched as deeply as if the rest were not there."""
    codebase = fitted(("app", SHOP | CALLERS))
    for narrowed in ({"paths": ["docs"]}, {"kind": "doc"}, {"languages": ["markdown"]}):
        assert set(paths(codebase.search("use a TokenStore whose time is over", k=3, **narrowed))) == {"docs/store.md"}


# -- several repositories ------------------------------------------------------------------------------------------------

RELATIVE = {"fused", "coherence", "bm25", "history"}  # to the best of all


@given(st.lists(signals(), min_size=2, max_size=3), plans)
def test_what_is_known_of_a_candidate_does_not_depend_on_other_repositories(several, plan):
    """But for what is said relative to the best of all, each row and file has the features it has alone."""
    joined = laid_end_to_end(several)
    pools = [every_candidate(each, plan) for each in several]
    rows = np.cumsum([0, *(len(each.rows) for each in several)])
    together = pool_of(
        joined,
        np.concatenate([pool.rows + base for pool, base in zip(pools, rows, strict=False)]),
        np.concatenate([pool.fused for pool in pools]),
    )
    assume(len(together.rows))
    alone = [
        describe(each, pool, is_bare=plan.is_bare) for each, pool in zip(several, pools, strict=True) if len(pool.rows)
    ]
    for which, names in enumerate((PIECE_FEATURES, FILE_FEATURES)):
        own = [i for i, name in enumerate(names) if name not in RELATIVE]
        expected = np.concatenate([described[which] for described in alone])
        np.testing.assert_array_equal(describe(joined, together, is_bare=plan.is_bare)[which][:, own], expected[:, own])


@given(signals(), models(), plans, st.integers(2, 4))
def test_a_repository_beside_copies_of_itself_keeps_its_order(found, weights, plan, copies):
    """Each copy of a row has the score of the row, a share of what it has alone, and rows keep their order."""
    every = max(len(found.rows), 1)  # results, so that nothing is cut off
    alone = rank(found, plan, None, every, model=weights)
    joined = rank(laid_end_to_end([found] * copies), plan, None, every * copies, model=weights)
    for copy in range(copies):
        own = (joined.rows // len(found.rows)) == copy
        assert sorted(joined.rows[own] - copy * len(found.rows)) == sorted(alone.rows)
        score = dict(zip((joined.rows[own] - copy * len(found.rows)).tolist(), joined["score"][own], strict=True))
        np.testing.assert_allclose(
            [score[row] * copies for row in alone.rows.tolist()], alone["score"], rtol=1e-3, atol=1e-6
        )


def test_repositories_are_weighed_against_each_other(fitted):
    """Two repositories answer like one that holds the files of both: the best first, whichever it lies in."""
    parts = ("shop", SHOP), ("paint", {"src/paint.py": OTHERS["src/paint.py"], "lib/net.py": OTHERS["lib/net.py"]})
    one = {path: content for _, files in parts for path, content in files.items()}
    two, whole = fitted(*parts), fitted(("whole", one))
    for question, path in [
        ("mix two colours", "src/paint.py"), ("drop the tokens whose time is over", "src/store.py"),
        ("open a connection", "lib/net.py"), ("Socket", "lib/net.py"), ("TokenStore", "src/store.py"),
    ]:  # fmt: skip
        split, joined = two.search(question), whole.search(question)
        assert paths(split)[0] == paths(joined)[0] == path
        scores = [evidence.score for evidence in split.evidence]
        assert scores == sorted(scores, reverse=True)
        assert sum(scores) <= 1.0001
        assert {e.repo for e in split.evidence if e.path == path} == {"shop" if path in SHOP else "paint"}


# -- shares, filters and order -------------------------------------------------------------------------------------------


@given(signals(), models(), plans)
def test_files_share_one_whole_and_pieces_share_their_files(found, weights, plan):
    """P(file) sums to 1 over files, P(piece | file) to 1 in each file, and so the scores to 1 over all candidates."""
    pool = every_candidate(found, plan)
    assume(len(pool.rows))
    judged = judge(weights, found, pool, plan)
    per_file = [set(judged.file[pool.slot == slot].tolist()) for slot in range(len(pool.files))]
    assert all(len(own) == 1 for own in per_file)
    assert sum(own.pop() for own in per_file) == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(np.bincount(pool.slot, judged.piece), 1, atol=1e-4)
    assert judged.score.sum() == pytest.approx(1, abs=1e-4)
    assert ((judged.score >= 0) & (judged.score <= 1.0001)).all()
    assert all(
        part.dtype == np.float32 and len(part) == len(pool.rows) for part in (judged.score, judged.file, judged.piece)
    )


@given(signals(), models(), plans)
def test_a_file_is_worth_most_where_its_best_piece_is(found, weights, plan):
    """The score is what the module says: P(file) times novelty for the best piece, and the rest by P(piece | file)."""
    pool = every_candidate(found, plan)
    assume(len(pool.rows))
    judged = judge(weights, found, pool, plan)
    best = np.zeros(len(pool.rows), bool)
    for slot in range(len(pool.files)):
        own = np.flatnonzero(pool.slot == slot)
        best[own[np.argmax(judged.piece[own])]] = True
        if novelty_of(plan) > 0 and judged.file[own[0]] > 0:
            assert judged.score[own].max() == judged.score[own[judged.piece[own] == judged.piece[own].max()]].max()
    expected = judged.file * (novelty_of(plan) * best + (1 - novelty_of(plan)) * judged.piece)
    np.testing.assert_allclose(np.sort(judged.score), np.sort(expected), atol=1e-5)


@given(signals(), st.sampled_from(["default", "constants", "fused"]), plans, st.integers(1, 40))
def test_scores_fall_and_rows_come_once(found, ranker, plan, k):
    """Best first, each row once, cut to what is asked for, and with the fitted model within 0..1."""
    ranked = rank(found, plan, None, k, ranker, model=FITTED_MODEL)
    assert (np.diff(ranked["score"]) <= 0).all()
    assert len(set(ranked.rows.tolist())) == len(ranked.rows)
    assert ranked.first(k).rows.tolist() == ranked.rows[:k].tolist()
    assert ranked.searched == len(found.rows)
    known = (
        *ranked.signals.values(),
        ranked["coverage"],
        ranked["worth"],
        *([] if ranked.gain is None else [ranked.gain]),
    )
    assert all(len(values) == len(ranked.rows) for values in known)
    assert ranked["worth"].sum() <= 1.0001
    assert (ranked.gain is not None) == (ranker == "default" and len(ranked.rows) > 0)
    if ranker == "default":
        assert ((ranked["score"] >= 0) & (ranked["score"] <= 1.0001)).all()
        assert ranked["score"].sum() <= 1.0001


@given(signals(), st.data(), plans, st.sampled_from(["default", "constants", "fused", "rrf", "bm25f", "dense"]))
def test_what_is_not_allowed_never_comes(found, data, plan, ranker):
    """Also when nothing is allowed; and allowing everything is the same as not asking."""
    allowed = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=len(found.rows), max_size=len(found.rows))))
    ranked = rank(found, plan, allowed, 40, ranker, model=FITTED_MODEL)
    assert set(ranked.rows.tolist()) <= set(allowed.tolist())
    assert ranked.searched == len(allowed)
    everything = [
        rank(found, plan, rows, 40, ranker, model=FITTED_MODEL) for rows in (None, np.arange(len(found.rows)))
    ]
    for one, other in zip(*([each.rows, each["score"], each["coverage"]] for each in everything), strict=True):
        np.testing.assert_array_equal(one, other)


@given(signals(files=3, chunks=40), plans)
def test_filters_narrow_before_candidates_are_chosen(found, plan):
    """The worst match of all is found, however few candidates are looked at, when it is the only one allowed."""
    few = Weights(candidates=1)
    rows, _ = find_candidates(found, None, plan, 1000, WEIGHTS)
    if len(rows):
        assert rank(found, plan, rows[-1:], 1, model=FITTED_MODEL, weights=few).rows.tolist() == [int(rows[-1])]


def test_the_order_in_which_content_was_indexed_never_shows(view):
    """One segment, two, and two in the other order: the same rows, the same scores to the last bit."""
    whole = view("app", SHOP | CALLERS | OTHERS)
    held = merge_segments(whole.segments)
    odd, even = (merge_segments([held], held.blobs[start::2]) for start in (1, 0))
    for text in ("drop the tokens whose time is over", "TokenStore", "open a connection", "test of a token store"):
        found = []
        for segments in ([held], [odd, even], [even, odd]):
            known, plan = asked(view_of(whole.files, segments), text)
            found.append(rank(known, plan, None, 20, model=FITTED_MODEL))
        for other in found[1:]:
            np.testing.assert_array_equal(found[0].rows, other.rows)
            np.testing.assert_array_equal(found[0]["score"], other["score"])
            np.testing.assert_array_equal(found[0]["coverage"], other["coverage"])


def test_joined_signals_have_every_field(view):
    """One repository is itself; of several, every array has as many entries as all of them have."""
    known, _ = asked(view("app", SHOP), "tokens")
    assert laid_end_to_end([known]) is known
    joined = laid_end_to_end([known, known])
    assert len(joined.matches.docs) == len(joined.matches.share) == 2 * len(known.matches.docs)
    for field in fields(Signals):
        if field.name == "matches":
            continue
        size, before = len(getattr(joined, field.name)), len(getattr(known, field.name))
        assert size == (before if field.name == "term_share" else 2 * before), field.name
        assert getattr(joined, field.name).dtype == getattr(known, field.name).dtype, field.name


# -- which ranker --------------------------------------------------------------------------------------------------------


def test_another_embedder_is_ranked_by_constants(repo, engine):
    """The model knows one embedder's cosines; with any other, the default is what constants say."""
    codebase = engine(repo("app", SHOP | CALLERS)).codebase
    assert fitted_for("hashing:64") is None
    for question in ("drop the tokens whose time is over", "TokenStore"):
        default, constants = (codebase.search(question, ranker=ranker) for ranker in ("default", "constants"))
        assert default == constants
        assert "file" not in default.evidence[0].signals


def test_the_rankers_can_be_told_apart(fitted):
    """The fitted model says what it made its score of; constants and the first step alone do not."""
    codebase = fitted(("app", SHOP | CALLERS))
    question = "drop the tokens whose time is over"
    answers = {ranker: codebase.search(question, ranker=ranker) for ranker in ("default", "constants", "fused")}
    assert {"file", "piece"} <= set(answers["default"].evidence[0].signals)
    for ranker in ("constants", "fused"):
        assert not {"file", "piece"} & set(answers[ranker].evidence[0].signals)
    assert answers["constants"].evidence != answers["fused"].evidence
    assert {paths(answer)[0] for answer in answers.values()} == {"src/store.py"}


@pytest.mark.parametrize("embedder", ["static", "hashing"])
def test_no_reranker_is_the_first_step_alone(fitted, embedder):
    """`none` leaves the fused order, unless a ranker is named: then that one."""
    codebase = fitted(("app", SHOP | CALLERS), embedder=embedder)
    question = "drop the tokens whose time is over"
    assert codebase.search(question, reranker="none") == codebase.search(question, ranker="fused")
    named = codebase.search(question, reranker="none", ranker="constants")
    assert named == codebase.search(question, ranker="constants")


def test_the_table_names_what_is_looked_at():
    """A weight for every feature and none besides, finite, fitted on the vectors of the embedder that is the default."""
    for embedder, name in FITTED.items():
        table = json.loads((Path(fitted_models.__file__).parent / name).read_text("utf-8"))
        assert tuple(table["file"]) == FILE_FEATURES
        assert tuple(table["piece"]) == PIECE_FEATURES
        assert table["embedder"] == embedder
        known = fitted_for(embedder)
        assert np.isfinite(known.file).all()
        assert np.isfinite(known.piece).all()
        assert known.file.tolist() == [np.float32(weight) for weight in table["file"].values()]
    assert StaticEmbedder().name in FITTED
    assert load("embedder", Settings().search.embedder).name in FITTED


@given(signals(), plans)
def test_every_feature_is_finite_and_has_its_column(found, plan):
    """One row per candidate and per file, whatever is missing."""
    pool = every_candidate(found, plan)
    assume(len(pool.rows))
    pieces, files = describe(found, pool, is_bare=plan.is_bare)
    assert pieces.shape == (len(pool.rows), len(PIECE_FEATURES))
    assert files.shape == (len(pool.files), len(FILE_FEATURES))
    assert np.isfinite(pieces).all()
    assert np.isfinite(files).all()
    for name in ("coverage", "in_name"):
        assert (pieces[:, PIECE_FEATURES.index(name)] <= 1.0001).all()


@given(signals(), plans)
def test_what_is_relative_stays_within_one(found, plan):
    """Relative to the best there is, nothing is beyond 1 or below -1, also where meaning is against every file."""
    found = replace(found, dense=-np.abs(found.dense))
    pool = every_candidate(found, plan)
    assume(len(pool.rows) and (found.dense[pool.chunks] < 0).all())
    _, files = describe(found, pool, is_bare=plan.is_bare)
    for name in RELATIVE & set(FILE_FEATURES):
        assert (np.abs(files[:, FILE_FEATURES.index(name)]) <= 1.0001).all(), name


def test_content_at_two_paths_counts_for_both(view):
    """Both paths are found as candidates, and what is counted over a whole file is the same for both."""
    files = view("app", {"a/store.py": STORE, "b/store.py": STORE, "c/net.py": OTHERS["lib/net.py"]})
    found, plan = asked(files, "drop the tokens whose time is over")
    pool = every_candidate(found, plan)
    _, described = describe(found, pool, is_bare=plan.is_bare)
    slots = [files.files.paths[file] for file in pool.files.tolist()]
    first, second = (described[slots.index(path)] for path in ("a/store.py", "b/store.py"))
    for name in ("bm25", "coverage", "dense"):
        assert first[FILE_FEATURES.index(name)] == second[FILE_FEATURES.index(name)] > 0
    assert first[FILE_FEATURES.index("bm25")] == 1


@given(signals(), plans)
def test_a_pool_groups_its_candidates_by_file(found, plan):
    """`slot` leads from a candidate to its file, and every file has a candidate."""
    rows, fused = find_candidates(found, None, plan, 10, WEIGHTS)
    pool: Pool = pool_of(found, rows, fused)
    assert sorted(pool.rows.tolist()) == sorted(rows.tolist())
    assert dict(zip(pool.rows.tolist(), pool.fused, strict=True)) == dict(zip(rows.tolist(), fused, strict=True))
    np.testing.assert_array_equal(pool.files[pool.slot], found.files[pool.rows])
    np.testing.assert_array_equal(np.unique(pool.slot), np.arange(len(pool.files)))
    np.testing.assert_array_equal(pool.slot[pool.starts], np.arange(len(pool.files)))
    assert (np.diff(pool.slot) >= 0).all()
    np.testing.assert_array_equal(pool.chunks, found.rows[pool.rows])
    assert (pool.fused > 0).all()


# -- the cut -------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(0, 9_000), st.integers(1, 4_000), st.integers(0, 700), st.booleans())
def test_top_of_many_is_a_stable_sort(seed, size, levels, count, crowded):
    """A cut read off a sample changes nothing, with few distinct scores or many, or the best all where it looks."""
    rng = np.random.default_rng(seed)
    score = rng.integers(-2, levels, size).astype(np.float32)
    if crowded:
        score[::16] += levels
    np.testing.assert_array_equal(top(score, count), np.argsort(-score, kind="stable")[:count])


@given(signals(), plans, plans)
def test_rankings_add_up(found, one, other):
    """Each row of either once, by the mean of its scores; a ranking beside itself is itself."""
    first, second = (rank(found, plan, None, 10, model=FITTED_MODEL) for plan in (one, other))
    both = weighed_together([first, second])
    assert set(both.rows.tolist()) == {*first.rows.tolist(), *second.rows.tolist()}
    assert len(set(both.rows.tolist())) == len(both.rows)
    assert (np.diff(both["score"]) <= 0).all()
    scores = [dict(zip(each.rows.tolist(), each["score"].tolist(), strict=True)) for each in (first, second)]
    expected = [(scores[0].get(row, 0) + scores[1].get(row, 0)) / 2 for row in both.rows.tolist()]
    np.testing.assert_allclose(both["score"], expected, atol=1e-5)
    same = weighed_together([first, first])
    np.testing.assert_allclose(same["score"], first["score"], atol=1e-6)


def test_a_test_within_a_file_of_product_code_comes_after_it(repo, engine):
    """Unless tests are asked for."""
    inner = '\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn set_window_title() {\n        let mut window = Window::default();\n        window.set_window_title("a title of the window");\n        assert_eq!(window.title, "title of the window");\n    }\n}\n'
    code = "pub struct Window {\n    title: String,\n}\n\nimpl Window {\n    /// Sets the title.\n    pub fn rename(&mut self, to: &str) {\n        self.title = to.to_string();\n    }\n}\n"
    opened = engine(repo("app", {"src/window.rs": code + inner, "src/lib.rs": "mod window;\n"})).codebase
    assert "tests" not in opened.search("set the title of the window", joined=False).evidence[0].symbols[0]
    assert opened.search("test the title of the window", joined=False).evidence[0].symbols[0] == "tests"
    assert "tests.set_window_title" in opened.search("set_window_title").evidence[0].symbols

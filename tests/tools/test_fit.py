"""Hypergraph, attention, ridge and fit: each against the plain way to compute the same."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.tools.features import HEADS, MEMORY, After, Asked, heads, still
from vademecum.tools.fit import Choice, asked_of, fit, fitted
from vademecum.tools.hypergraph import FAILED, Chain, Hypergraph, attend, in_context
from vademecum.tools.observe import trace
from vademecum.tools.records import Call
from vademecum.tools.texts import Question, Texts
from vademecum.tools.tool_arrays import STRENGTH, Ridge, hashed_rows
from vademecum.tools.weights import Model, prior, probabilities

N = 6
CHAINS = st.lists(
    st.builds(
        Chain,
        st.lists(st.integers(0, N - 1), min_size=1, max_size=6).map(tuple),
        st.booleans(),
        st.sampled_from(["", "a", "b"]),
    ),
    max_size=12,
)


@given(CHAINS, st.integers(0, N), st.integers(0, N))
def test_sums_over_incidences_are_counts_over_traces(chains, here, before):
    graph = Hypergraph.of(chains, N)
    weight = [1.0 if chain.ok else FAILED for chain in chains]
    called, followed, from_there = np.zeros(N), np.zeros(N + 1), np.zeros(N + 1)
    for given_, chain in zip(weight, chains, strict=True):
        called[list(set(chain.tools))] += given_
        for number, (a, b) in enumerate(pairwise((N, *chain.tools, N))):
            if a == here:
                followed[b] += given_
                if number and (N, *chain.tools)[number - 1] == before:
                    from_there[b] += given_
    assert graph.gather(graph.weight) == pytest.approx(called, abs=1e-5)
    assert graph.after(here, graph.weight) == pytest.approx(followed, abs=1e-5)
    assert graph.after(here, graph.weight, before) == pytest.approx(from_there, abs=1e-5)
    assert [graph.capabilities[n] for n in graph.capability] == [chain.tools for chain in chains]


@given(CHAINS, st.lists(st.integers(0, N - 1), max_size=3))
def test_attention_is_a_distribution_that_follows_the_context(chains, context):
    graph = Hypergraph.of(chains, N)
    attention = attend(np.linspace(0, 1, len(chains), dtype=np.float32), graph.weight, 0.1)
    moved = in_context(attention, graph.shared(context))
    if chains:
        assert attention.sum() == pytest.approx(1, abs=1e-4)
        assert moved.sum() == pytest.approx(1, abs=1e-4)


@given(CHAINS, st.lists(st.integers(0, N - 1), max_size=3))
def test_the_traces_of_a_capability_speak_as_one(chains, context):
    """Capabilities give tools and steps what their traces give, in any context."""
    graph = Hypergraph.of(chains, N)
    attention = attend(np.linspace(0, 1, len(chains), dtype=np.float32), graph.weight, 0.1)
    merged = graph.merge(attention)
    assert graph.merged.gather(merged) == pytest.approx(graph.gather(attention), abs=1e-5)
    assert {chain: merged[n] for chain, n in graph.numbers.items()} == pytest.approx(
        {chain: sum(attention[graph.capability == n]) for chain, n in graph.numbers.items()}, abs=1e-5
    )
    for tool in range(N + 1):
        assert graph.merged.after(tool, merged) == pytest.approx(graph.after(tool, attention), abs=1e-5)
    by_chain = in_context(merged, graph.merged.shared(context))
    by_trace = in_context(attention, graph.shared(context))
    assert graph.merged.gather(by_chain) == pytest.approx(graph.gather(by_trace), abs=1e-5)


WORDS = st.lists(st.sampled_from(["file", "mail", "read", "send", "report", "team"]), max_size=6).map(" ".join)


@given(st.lists(WORDS, max_size=6), WORDS)
def test_texts_are_matched_as_if_each_were_read(texts, asked):
    found, question = Texts(texts, None), Question.of(asked)
    matches = found.matches(question)
    told = [
        (text, term)
        for term, key in enumerate(question.keys.tolist())
        for text, said in enumerate(texts)
        if key in Question.of(said).keys.tolist()
    ]
    assert list(zip(matches.text.tolist(), matches.term.tolist(), strict=True)) == told
    assert matches.held.tolist() == [sum(term == n for _, term in told) for n in range(len(question.keys))]
    assert found.bm25(question) == pytest.approx(found.bm25(question, matches))
    assert (found.tfidf(question) > 0).tolist() == (np.bincount(matches.text, minlength=len(texts)) > 0).tolist()


@given(st.integers(0, 40), st.integers(0, 7), st.integers(0, 2**32 - 1))
def test_meanings_are_compared_as_by_their_cosines(texts, parts, seed):
    drawn = np.random.default_rng(seed).normal(size=(texts + parts + 1, 64)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    rows, (whole, *clauses) = drawn[:texts], drawn[texts:]
    found, question = Texts([""] * texts, rows), Question.of("", whole, np.array(clauses, np.float32).reshape(-1, 64))
    assert found.dense(question) == pytest.approx(rows @ whole, abs=1e-6)
    assert found.nearest(question) == pytest.approx((rows @ np.stack([whole, *clauses]).T).max(axis=1), abs=1e-6)


def test_chains_side_by_side_look_as_each_does_alone(view):
    asked = Asked(view, view.read("mail the report about the roof"), (view.number["web/search"],))
    read, send, find = (view.number[name] for name in ("files/read", "mail/send", "mail/search"))
    chains = [(read, send), (find, read), (send, send), (read, send, find)]
    together, weights, unmoved = After(asked, chains), np.linspace(-1, 1, len(HEADS)), still(asked)
    scores = together.scores(unmoved @ weights.astype(np.float32), weights.astype(np.float32))
    taken = np.linspace(0.1, 0.9, len(view.tools), dtype=np.float32)
    for row, chain in enumerate(chains):
        assert scores[row] == pytest.approx(heads(asked, chain) @ weights, abs=1e-3)
        assert together.stopping(taken)[row] == pytest.approx(After(asked, [chain]).stopping(taken)[0], abs=1e-4)


def test_newton_finds_the_best_weights():
    draw = np.random.default_rng(3)
    true = np.array([1.5, -2.0, 0.0])
    choices = []
    for _ in range(3000):
        x = draw.normal(size=(8, 3)).astype(np.float32)
        choices.append(
            Choice(
                x,
                int(
                    draw.choice(
                        8, p=probabilities(x, true).astype(np.float64) / probabilities(x, true).astype(np.float64).sum()
                    )
                ),
            )
        )
    assert fit(choices, np.zeros(3)) == pytest.approx(true, abs=0.15)
    assert fit(choices[:2], np.array([9.0, 9.0, 9.0]), 1e6) == pytest.approx(9, abs=0.01)
    assert fit([], true) == pytest.approx(true)


@pytest.fixture
def view(office):
    return office._now().view


@pytest.mark.parametrize(
    "intent", ["", "qwertz", "read the file and mail it to the team, then read the file again", "mail " * 300]
)
def test_what_tools_look_like_is_finite_whatever_is_asked(view, intent):
    asked = Asked(view, view.read(intent), (0, 1))
    chains = [(), (0,), (0, 0), (1, 2, 3), (len(view.tools) - 1,)]
    taken = np.full(len(view.tools), 0.5, np.float32)
    assert all(np.isfinite(heads(asked, chain)).all() for chain in chains)
    assert np.isfinite(After(asked, chains).stopping(taken)).all()


def test_ridge_leaves_one_out_as_if_it_had_never_been_there(view):
    whole = Ridge.of(view.intents, view.graph)
    x = np.concatenate([view.intents.vectors, hashed_rows(view.intents)], axis=1).astype(np.float64)
    y = np.zeros((len(view.traces), len(view.tools)))
    y[view.graph.member_trace, view.graph.member_tool] = 1
    for trace_ in (0, 17):
        rest = np.arange(len(x)) != trace_
        weights = np.linalg.solve(x[rest].T @ x[rest] + STRENGTH * np.eye(x.shape[1]), x[rest].T @ y[rest])
        predicted = (whole.called @ x[trace_]).astype(np.float32)
        left_out = whole.without(predicted, trace_, view.graph.tools_of(trace_))
        assert left_out == pytest.approx(x[trace_] @ weights, abs=1e-3)


def test_no_trace_speaks_about_itself(office):
    """What memory says of a trace's intent is what it says where the trace was never observed."""
    office.observe([trace("paint the fence green", (Call("paint/brush"),), id_="odd")])
    view = office._now().view
    own = next(n for n, each in enumerate(view.traces) if each.id == "odd")
    brush = view.number["paint/brush"]
    features = heads(asked_of(view, own), ())
    unseen = {name: features[brush, HEADS.index(name)] for name in MEMORY}
    assert features[brush, HEADS.index("unseen")] == 1
    assert all(value <= features[:, HEADS.index(name)].max() for name, value in unseen.items())
    assert unseen["attention"] == features[:, HEADS.index("attention")].min()
    assert unseen["ridge"] == pytest.approx(0, abs=0.05)


def test_hidden_tools_look_as_if_never_used(view):
    hidden = np.zeros(len(view.tools), bool)
    hidden[view.number["mail/send"]] = True
    features = heads(asked_of(view, 0, hidden), ())
    never, used = view.number["chat/send"], view.number["mail/send"]
    for name in (*MEMORY, "popular", "unseen"):
        column = HEADS.index(name)
        assert features[used, column] == pytest.approx(features[never, column], abs=0.05), name


def test_weights_survive_writing_and_others_are_refused(office):
    known = office._now()
    model = fitted(known.view, known.pairs, prior())
    again = Model.read(model.write())
    assert again is not None
    assert np.array_equal(again.next, model.next)
    assert again.traces == 36
    assert Model.read("") is Model.read("{}") is Model.read('{"form": 0}') is None


def test_weights_are_fitted_when_there_is_enough_and_again_when_it_doubled(tools, opened, traces_of):
    for count, fitted_on in ((3, 0), (7, 21), (12, 21)):
        tools.observe(traces_of(count))
        assert tools.settle() == 3 * count
        assert tools._now().model.traces == fitted_on
    assert opened()._now().model.traces == 21

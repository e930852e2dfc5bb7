"""Meta-capabilities: what is learned from sessions and longer plans, and what goes up and down through all levels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.tools.hypergraph import Chain, Hypergraph
from vademecum.tools.levels import Levels
from vademecum.tools.macro_tools import Metas, split

N = 5
CHAINS = st.lists(
    st.builds(
        Chain,
        st.lists(st.integers(0, N - 1), min_size=1, max_size=5).map(tuple),
        st.booleans(),
        st.sampled_from(["", "a", "b", "c"]),
    ),
    max_size=14,
)
KNOWN = st.sets(st.lists(st.integers(0, 3), min_size=2, max_size=4).map(tuple), max_size=8)


@given(CHAINS)
def test_what_is_learned_is_what_followed_in_sessions_and_what_chains_are_made_of(chains):
    metas = Metas.of(Hypergraph.of(chains, N))
    expected: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for session in dict.fromkeys(chain.session for chain in chains if chain.session):
        own = [n for n, chain in enumerate(chains) if chain.session == session]
        for width in (2, 3):
            for end in range(width - 1, len(own)):
                run = tuple(chains[n].tools for n in own[end - width + 1 : end + 1])
                expected.setdefault(run, []).append(own[end])
    whole = {chain.tools for chain in chains if len(chain.tools) > 1}
    for n, chain in enumerate(chains):
        parts = split(chain.tools, whole)
        if len(parts) > 1 and any(len(part) > 1 for part in parts):
            expected.setdefault(parts, []).append(n)
    found = {
        tuple(metas.chains[one] for one in members): sorted(shown)
        for members, shown in zip(metas.members, metas.witnesses, strict=True)
    }
    assert found == {members: sorted(shown) for members, shown in expected.items()}


@given(st.lists(st.integers(0, 3), max_size=8).map(tuple), KNOWN)
def test_a_split_covers_as_much_as_any(chain, known):
    parts = split(chain, known)
    assert tuple(tool for part in parts for tool in part) == chain
    assert all(len(part) == 1 or (part in known and len(part) < len(chain)) for part in parts)

    def covered(rest):
        if not rest:
            return 0
        tried = [len(one) + covered(rest[len(one) :]) for one in known if rest[: len(one)] == one != chain]
        return max([covered(rest[1:]), *tried])

    assert sum(len(part) for part in parts if len(part) > 1) == covered(chain)


@given(CHAINS, st.sampled_from(["a", "b", "c"]))
def test_a_session_that_must_not_speak_takes_everything_with_it_that_only_it_shows(chains, out):
    graph = Hypergraph.of(chains, N)
    metas = Metas.of(graph)
    speaks = np.array([chain.session != out for chain in chains], bool)
    counted = metas.weights(np.where(speaks, graph.weight, 0).astype(np.float32))
    others = [chain for chain in chains if chain.session != out]
    alone = {chain.tools for chain in others}
    weight = {}
    for members, shown in zip(metas.members, counted.tolist(), strict=True):
        weight[tuple(metas.chains[one] for one in members)] = shown
        assert not shown or all(metas.chains[one] in alone or len(metas.chains[one]) == 1 for one in members)
    for session in "abc".replace(out, ""):
        assert all(weight[a.tools, b.tools] > 0 for a, b in pairwise([c for c in others if c.session == session]))


def levels(chains, earlier=(), tools=4):
    metas = Metas.of(Hypergraph.of(chains, tools))
    return Levels(metas, metas.weights(metas.graph.weight), earlier)


SHOP = [
    chain for session in ("s", "t", "u") for chain in (Chain((0, 1), session=session), Chain((2, 3), session=session))
]  # each session looks and takes, then pays and mails


def test_a_message_goes_up_two_levels_and_down_two():
    """The intent speaks for one capability alone; by way of the level above the other one is heard of, too."""
    attention = np.array([1, 0, 0, 0, 0, 0], np.float32)  # to a trace of the first capability
    graph = levels(SHOP).metas.graph
    assert graph.gather(attention).tolist() == [1, 1, 0, 0]
    assert levels(SHOP).gathered(graph.merge(attention)) == pytest.approx([0.5, 0.5, 0.5, 0.5])


def test_what_was_done_before_says_what_is_due():
    due = levels(SHOP, earlier=(0, 1))
    assert due.gathered(np.array([3, 3], np.float32)).tolist() == [0, 0, 1, 1]
    assert due.next([(), (2,), (2, 3), (1,)]).tolist() == [[0, 0, 3, 0, 0], [0, 0, 0, 3, 0], [0, 0, 0, 0, 3], [0] * 5]


def test_nothing_is_due_where_nothing_was_done_before_or_it_was_never_followed():
    assert not len(levels(SHOP).coming)
    assert not len(levels(SHOP, earlier=(1, 0)).coming)
    assert levels([]).gathered(np.zeros(0, np.float32)).tolist() == [0, 0, 0, 0]


def test_what_recurs_is_shown_once_at_its_longest():
    three = [Chain(tools, session=s) for s in ("s", "t") for tools in ((0, 1), (2,), (3,))]
    metas = levels(three).metas
    assert [[metas.chains[n] for n in metas.members[one]] for one in metas.recurring] == [[(0, 1), (2,), (3,)]]
    more = [*three, Chain((0, 1), session="u"), Chain((2,), session="u")]
    metas = levels(more).metas
    assert [[metas.chains[n] for n in metas.members[one]] for one in metas.recurring] == [
        [(0, 1), (2,)],
        [(0, 1), (2,), (3,)],
    ]


def test_a_longer_plan_is_made_of_capabilities_that_were_called_by_themselves():
    chains = [Chain((0, 1)), Chain((0, 1, 2)), Chain((0, 1, 2)), Chain((3, 2))]
    metas = levels(chains).metas
    assert [[metas.chains[n] for n in members] for members in metas.members] == [[(0, 1), (2,)]]
    assert metas.witnesses == ((1, 2),)
    without = metas.weights(np.array([0, 1, 1, 1], np.float32))  # nobody else calls (0, 1) by itself
    assert without.tolist() == [0]

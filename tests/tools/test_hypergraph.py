"""Meta-capabilities: learned from sessions and longer plans, and the capabilities that are due after a session's calls."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vademecum.tools.hypergraph import Chain, Hypergraph, Metas, next_due, split

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
    speaking = np.where(speaks, graph.weight, 0).astype(np.float32)
    others = [chain for chain in chains if chain.session != out]
    alone = {chain.tools for chain in others}
    weight = {}
    for number, members in enumerate(metas.members):
        shown = metas.weight(number, speaking)
        weight[tuple(metas.chains[one] for one in members)] = shown
        assert not shown or all(metas.chains[one] in alone or len(metas.chains[one]) == 1 for one in members)
    for session in "abc".replace(out, ""):
        assert all(weight[a.tools, b.tools] > 0 for a, b in pairwise([c for c in others if c.session == session]))


def learned(chains, tools=4):
    return Metas.of(Hypergraph.of(chains, tools))


def due(chains, earlier):
    metas = learned(chains)
    return metas.due(earlier, metas.graph.weight)


SHOP = [
    chain for session in ("s", "t", "u") for chain in (Chain((0, 1), session=session), Chain((2, 3), session=session))
]  # each session looks and takes, then pays and mails


def test_earlier_calls_say_which_capability_is_due():
    """After looking and taking, each session paid and mailed; a due chain gives its weight to its next call, then to the end."""
    after = due(SHOP, (0, 1))
    assert after == {(2, 3): 3.0}
    following = [next_due(after, chain, 5).tolist() for chain in ((), (2,), (2, 3), (1,))]
    assert following == [[0, 0, 3, 0, 0], [0, 0, 0, 3, 0], [0, 0, 0, 0, 3], [0] * 5]


def test_nothing_is_due_where_nothing_was_done_before_or_nothing_followed():
    """Without earlier calls, after other calls, and without traces."""
    assert due(SHOP, ()) == due(SHOP, (1, 0)) == due([], (0, 1)) == {}


def test_what_recurs_is_shown_once_at_its_longest():
    three = [Chain(tools, session=s) for s in ("s", "t") for tools in ((0, 1), (2,), (3,))]
    metas = learned(three)
    assert [[metas.chains[n] for n in metas.members[one]] for one in metas.recurring] == [[(0, 1), (2,), (3,)]]
    more = [*three, Chain((0, 1), session="u"), Chain((2,), session="u")]
    metas = learned(more)
    assert [[metas.chains[n] for n in metas.members[one]] for one in metas.recurring] == [
        [(0, 1), (2,)],
        [(0, 1), (2,), (3,)],
    ]


def test_a_longer_plan_is_made_of_capabilities_that_were_called_by_themselves():
    chains = [Chain((0, 1)), Chain((0, 1, 2)), Chain((0, 1, 2)), Chain((3, 2))]
    metas = learned(chains)
    assert [[metas.chains[n] for n in members] for members in metas.members] == [[(0, 1), (2,)]]
    assert metas.witnesses == ((1, 2),)
    assert metas.weight(0, np.array([0, 1, 1, 1], np.float32)) == 0  # nobody else calls (0, 1) by itself

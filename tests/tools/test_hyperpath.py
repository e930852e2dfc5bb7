"""Shortest hyperpaths: the same as trying every derivation."""

from __future__ import annotations

import math
import random

import pytest

from vademecum.errors import UsageError
from vademecum.tools.hyperpath import DirectedHypergraph, Hyperarc, Hyperpath, Hyperpaths, Semantics

GRAPHS = 1600  # of each reading
NODES = 6
WEIGHTS = (0.0, 0.0, 0.25, 0.5, 1.0, 2.5, 0.1, 0.7)  # zeros and ties, and sums that are not exact in binary


def drawn(dice: random.Random) -> tuple[list[str], str, float]:
    """An arc among a few nodes: circles, heads in their own tail and empty tails included."""
    names = [f"v{number}" for number in range(NODES)]
    return dice.sample(names, dice.choice((0, 1, 1, 2, 2, 3))), dice.choice(names), dice.choice(WEIGHTS)


def tried(arcs: list[Hyperarc], sources: set[str], target: str, semantics: str) -> float:
    """The least cost by trying every derivation in which no node rests on itself."""

    def least(node: str, above: frozenset[str]) -> float:
        if node in sources:
            return 0.0
        within = above | {node}
        best = math.inf
        for arc in arcs:
            if arc.head != node:
                continue
            tails = [arc.tail] if semantics == "all" or not arc.tail else [(one,) for one in arc.tail]
            for tail in tails:
                if within.isdisjoint(tail):
                    costs = [least(one, within) for one in tail]
                    best = min(best, arc.weight + sum(costs))
        return best

    return least(target, frozenset())


def there(arcs: list[Hyperarc], sources: set[str], semantics: str) -> set[str]:
    """Every node that can be had at all."""
    found = set(sources)
    while True:
        enough = all if semantics == "all" else any
        new = {arc.head for arc in arcs if not arc.tail or enough([node in found for node in arc.tail])} - found
        if not new:
            return found
        found |= new


def checked(paths: Hyperpaths, graph: DirectedHypergraph, sources: set[str], semantics: str) -> None:
    """Compare costs, ways and missing nodes with trying everything."""
    arcs = graph.arcs
    had = there(arcs, sources, semantics)
    for node in graph.into:
        expected = tried(arcs, sources, node, semantics)
        assert paths.cost(node) == pytest.approx(expected, abs=1e-9)
        assert (node in had) == (expected < math.inf)
        missing = set(paths.missing(node))
        assert (not missing) == (node in had)
        if missing:
            assert node in there(arcs, sources | missing, semantics)
            assert all(node not in there(arcs, sources | missing - {one}, semantics) for one in missing)
        else:
            walked(paths.path(node), arcs, sources, node, expected)


def walked(path: Hyperpath, arcs: list[Hyperarc], sources: set[str], target: str, cost: float) -> None:
    """Go along a hyperpath: each arc exists, needs only earlier nodes, and all of it costs what it says."""
    existing = {(arc.head, node, arc.weight) for arc in arcs for node in arc.tail or ("",)}
    assert all((arc.head, node, arc.weight) in existing for arc in path.arcs for node in arc.tail or ("",))
    assert path.cost == pytest.approx(cost, abs=1e-9)
    spent = dict.fromkeys(sources, 0.0)
    for arc in path.arcs:
        assert arc.head not in spent, "a node is had twice"
        spent[arc.head] = arc.weight + sum(spent[node] for node in arc.tail)
    assert spent[target] == pytest.approx(cost, abs=1e-9)


@pytest.mark.parametrize("semantics", ["all", "any"])
def test_costs_ways_and_gaps_are_those_of_trying_everything(semantics: Semantics) -> None:
    """Thousands of small random graphs, with circles, zero weights and empty tails."""
    for seed in range(GRAPHS):
        dice = random.Random(seed)
        graph = DirectedHypergraph()
        for _ in range(dice.randrange(2, 20)):
            graph.add(*drawn(dice))
        sources = set(dice.sample(sorted(graph.into), min(len(graph.into), dice.randrange(3))))
        checked(Hyperpaths(graph, sources, semantics=semantics), graph, sources, semantics)


def test_all_needs_every_input_and_any_only_one() -> None:
    """The case that tells a B-hyperpath from a path: one input can be had, the other cannot."""
    graph = DirectedHypergraph()
    graph.add(("a", "b"), "t", 1.0)
    graph.add(("s",), "a", 1.0)
    strict, loose = Hyperpaths(graph, ["s"]), Hyperpaths(graph, ["s"], semantics="any")
    assert (strict.cost("t"), loose.cost("t")) == (math.inf, 2.0)
    assert strict.path("t") == Hyperpath((), math.inf, ("b",))
    assert [(arc.tail, arc.head) for arc in loose.path("t").arcs] == [(("s",), "a"), (("a",), "t")]
    graph.add(("s",), "b", 5.0)
    strict, loose = Hyperpaths(graph, ["s"]), Hyperpaths(graph, ["s"], semantics="any")
    assert (strict.cost("t"), loose.cost("t")) == (7.0, 2.0)
    assert [arc.head for arc in strict.path("t").arcs] == ["a", "b", "t"]


def test_a_circle_that_nothing_feeds_is_not_a_way() -> None:
    """Two that need each other do not make each other possible; one of them is what is missing, not the target."""
    graph = DirectedHypergraph()
    graph.add(("b",), "a", 0.0)
    graph.add(("a",), "b", 0.0)
    graph.add(("a",), "t", 0.0)
    paths = Hyperpaths(graph, [])
    assert paths.cost("a") == paths.cost("b") == math.inf
    assert paths.missing("t") == ("a",)
    assert paths.missing("t", "nobody") == ("a", "nobody")


def test_a_way_to_several_targets_goes_along_each_arc_once() -> None:
    """What two targets share is done once."""
    graph = DirectedHypergraph()
    graph.add((), "login", 1.0)
    graph.add(("login",), "list", 1.0)
    graph.add(("login",), "read", 1.0)
    path = Hyperpaths(graph, []).path("list", "read")
    assert [arc.head for arc in path.arcs] == ["login", "list", "read"]
    assert path.cost == 4.0


def test_a_way_says_what_its_arcs_rest_on() -> None:
    """In both readings."""
    graph = DirectedHypergraph()
    graph.add(("a", "b"), "t", 1.0, "provides", 3)
    for semantics in ("all", "any"):
        (arc,) = Hyperpaths(graph, ["a", "b"], semantics=semantics).path("t").arcs
        assert (arc.kind, arc.seen) == ("provides", 3)


@pytest.mark.parametrize("weight", [-1.0, math.inf, math.nan])
def test_a_weight_is_finite_and_not_negative(weight: float) -> None:
    """Anything else would make labels that go down along a way."""
    graph = DirectedHypergraph()
    with pytest.raises(UsageError, match="finite and 0 or more"):
        graph.add((), "t", weight)


def test_a_source_that_no_arc_names_is_there() -> None:
    """A source outside the graph costs nothing, and the graph stays as it was."""
    graph = DirectedHypergraph()
    graph.add(("a",), "t", 1.0)
    paths = Hyperpaths(graph, ["other"])
    assert (paths.cost("other"), paths.path("other")) == (0.0, Hyperpath((), 0.0))
    assert list(graph.into) == ["a", "t"]

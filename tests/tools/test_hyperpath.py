"""Shortest hyperpaths: the same as trying everything, at once and after any changes."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from vademecum.errors import UsageError
from vademecum.tools.directed import DirectedHypergraph, Hyperarc
from vademecum.tools.hyperpath import Hyperpath, Hyperpaths

GRAPHS = 1200  # of each reading: the four together make 4,800, each looked at again after every change
CHANGES = 8
NODES = 6
WEIGHTS = (0.0, 0.0, 0.25, 0.5, 1.0, 2.5, 0.1, 0.7)  # zeros and ties, and sums that are not exact in binary
READINGS = [("all", "sum", False), ("all", "max", False), ("any", "sum", False), ("any", "sum", True)]


def drawn(dice: random.Random) -> tuple[list[str], str, float]:
    """An arc among a few nodes: circles, heads in their own tail and empty tails included."""
    names = [f"v{number}" for number in range(NODES)]
    return dice.sample(names, dice.choice((0, 1, 1, 2, 2, 3))), dice.choice(names), dice.choice(WEIGHTS)


def changed(graph: DirectedHypergraph, dice: random.Random) -> None:
    """Add, reweigh or remove one arc."""
    there = list(graph)
    what = dice.random()
    if what < 0.3 or not there:
        graph.add(*drawn(dice))
    elif what < 0.75:
        graph.reweigh(dice.choice(there), dice.choice(WEIGHTS))
    else:
        graph.remove(dice.choice(there))


def tried(arcs: list[Hyperarc], sources: set[str], target: str, semantics: str, cost: str) -> float:
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
                    best = min(best, arc.weight + (sum(costs) if cost == "sum" else max(costs, default=0.0)))
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


def turned(arcs: list[Hyperarc]) -> list[Hyperarc]:
    return [Hyperarc((arc.head,), node, arc.weight) for arc in arcs for node in arc.tail]


def checked(paths: Hyperpaths, graph: DirectedHypergraph, sources: set[str], reading: tuple[str, str, bool]) -> None:
    """Compare costs, ways and what is missing with trying everything."""
    semantics, cost, backward = reading
    arcs = [graph.arc(number) for number in graph]
    arcs = turned(arcs) if backward else arcs
    had = there(arcs, sources, semantics)
    for node in graph.names:
        expected = tried(arcs, sources, node, semantics, cost)
        assert paths.cost(node) == pytest.approx(expected, abs=1e-9)
        assert (node in had) == (expected < math.inf)
        missing = set(paths.missing(node))
        assert (not missing) == (node in had)
        if missing:
            assert node in there(arcs, sources | missing, semantics)
            assert all(node not in there(arcs, sources | missing - {one}, semantics) for one in missing)
        else:
            walked(paths.path(node), graph, sources, node, reading, expected)


def walked(
    path: Hyperpath,
    graph: DirectedHypergraph,
    sources: set[str],
    target: str,
    reading: tuple[str, str, bool],
    cost: float,
) -> None:
    """Go along a hyperpath: each arc exists, needs only what came before, and all of it costs what it says."""
    _, joined, backward = reading
    existing = {(arc.head, node, arc.weight) for arc in map(graph.arc, graph) for node in arc.tail or ("",)}
    assert all((arc.head, node, arc.weight) in existing for arc in path.arcs for node in arc.tail or ("",))
    assert path.cost == pytest.approx(cost, abs=1e-9)
    if backward:
        assert (path.arcs[-1].head if path.arcs else target) in sources
        assert all(here.head in after.tail for here, after in pairwise(path.arcs))
        assert path.cost == pytest.approx(sum(arc.weight for arc in path.arcs), abs=1e-9)
        return
    spent = dict.fromkeys(sources, 0.0)
    for arc in path.arcs:
        assert arc.head not in spent, "a node is had twice"
        costs = [spent[node] for node in arc.tail]
        spent[arc.head] = arc.weight + (sum(costs) if joined == "sum" else max(costs, default=0.0))
    assert spent[target] == pytest.approx(cost, abs=1e-9)
    level = {node: number for number, layer in enumerate(path.layers) for node in layer}
    assert all(level.get(node, -1) < level[head] for node, head in path.links)


@pytest.mark.parametrize("reading", READINGS, ids=["all-sum", "all-max", "any", "any-backward"])
def test_costs_ways_and_gaps_are_those_of_trying_everything(reading: tuple[str, str, bool]) -> None:
    """On thousands of small random graphs, at once and after each of a sequence of changes."""
    semantics, cost, backward = reading
    for seed in range(GRAPHS):
        dice = random.Random(seed)
        graph = DirectedHypergraph()
        for _ in range(dice.randrange(2, 12)):
            graph.add(*drawn(dice))
        sources = set(dice.sample(graph.names, min(len(graph.names), dice.randrange(3))))
        paths = Hyperpaths(graph, sources, semantics=semantics, cost=cost, backward=backward)
        checked(paths, graph, sources, reading)
        for _ in range(CHANGES if seed % 4 == 0 else 0):
            changed(graph, dice)
            if dice.random() < 0.2:
                sources = set(dice.sample(graph.names, min(len(graph.names), dice.randrange(3))))
                paths.move(sources)
            checked(paths, graph, sources, reading)


@pytest.mark.parametrize("reading", READINGS, ids=["all-sum", "all-max", "any", "any-backward"])
def test_mended_labels_equal_new_ones_to_the_last_bit(reading: tuple[str, str, bool]) -> None:
    """On graphs of hundreds of nodes, single changes and many at once leave what a fresh start would give."""
    semantics, cost, backward = reading
    dice = random.Random(7)
    graph = DirectedHypergraph()
    names = [f"v{number}" for number in range(300)]
    for _ in range(900):
        graph.add(dice.sample(names, dice.choice((1, 1, 2, 3))), dice.choice(names), dice.choice((0.0, dice.random())))
    paths = Hyperpaths(graph, names[:9], semantics=semantics, cost=cost, backward=backward)
    for step in range(400):
        for _ in range(dice.choice((1, 1, 1, 5, 40))):
            number = dice.choice(list(graph))
            if dice.random() < 0.1:
                graph.remove(number)
                graph.add(dice.sample(names, 2), dice.choice(names), dice.random())
            else:
                graph.reweigh(number, dice.choice((0.0, dice.random())))
        if step % 20 == 0:
            names[:9], names[9:18] = names[9:18], names[:9]
            paths.move(names[:9])
        fresh = Hyperpaths(graph, names[:9], semantics=semantics, cost=cost, backward=backward)
        assert paths.costs() == fresh.costs()
    assert len(fresh.costs()) > 50


def test_all_needs_every_input_and_any_only_one() -> None:
    """The case that tells a B-hyperpath from a path: one input can be had, the other cannot."""
    graph = DirectedHypergraph()
    graph.add(("a", "b"), "t", 1.0)
    graph.add(("s",), "a", 1.0)
    strict, loose = Hyperpaths(graph, ["s"]), Hyperpaths(graph, ["s"], semantics="any")
    assert (strict.cost("t"), loose.cost("t")) == (math.inf, 2.0)
    assert strict.path("t") == Hyperpath((), math.inf, ("b",))
    assert loose.path("t").links == (("s", "a"), ("a", "t"))
    graph.add(("s",), "b", 5.0)
    assert (strict.cost("t"), loose.cost("t")) == (7.0, 2.0)
    assert strict.path("t").layers == (("a", "b"), ("t",))


def test_a_circle_that_nothing_feeds_is_not_a_way() -> None:
    """Two that need each other do not make each other possible; one of them is what is missing, not the target."""
    graph = DirectedHypergraph()
    graph.add(("b",), "a", 0.0)
    graph.add(("a",), "b", 0.0)
    graph.add(("a",), "t", 0.0)
    paths = Hyperpaths(graph, [])
    assert paths.costs() == {}
    assert paths.missing("t") == ("a",)
    assert paths.missing("t", "nobody") == ("a", "nobody")


def test_a_way_to_several_targets_goes_along_each_arc_once() -> None:
    """What two targets share is done once."""
    graph = DirectedHypergraph()
    graph.add((), "login", 1.0)
    graph.add(("login",), "list", 1.0)
    graph.add(("login",), "read", 1.0)
    path = Hyperpaths(graph, []).path("list", "read")
    assert path.layers == (("login",), ("list", "read"))
    assert path.cost == 4.0


def test_evidence_goes_with_the_arc() -> None:
    """In both readings the arc of a way says what it rests on."""
    graph = DirectedHypergraph()
    graph.add(("a", "b"), "t", 1.0, "provides", ("trace-1",))
    for semantics in ("all", "any"):
        (arc,) = Hyperpaths(graph, ["a", "b"], semantics=semantics).path("t").arcs
        assert (arc.kind, arc.evidence) == ("provides", ("trace-1",))


def test_nothing_about_the_graph_is_too_long_ago() -> None:
    """A reader who looks again after very many changes starts anew, in both readings."""
    graph = DirectedHypergraph()
    arc = graph.add((), "t", 1.0)
    readers = [Hyperpaths(graph, [], semantics=semantics) for semantics in ("all", "any")]
    assert [reader.cost("t") for reader in readers] == [1.0, 1.0]
    for number in range(5000):
        graph.reweigh(arc, number / 7)
    assert [reader.cost("t") for reader in readers] == [4999 / 7] * 2


@pytest.mark.parametrize("weight", [-1.0, math.inf, math.nan])
def test_a_weight_is_finite_and_not_negative(weight: float) -> None:
    """Anything else would make labels that go down along a way."""
    graph = DirectedHypergraph()
    with pytest.raises(UsageError, match="finite and 0 or more"):
        graph.add((), "t", weight)
    number = graph.add((), "t", 1.0)
    with pytest.raises(UsageError, match="finite and 0 or more"):
        graph.reweigh(number, weight)


def test_what_is_not_there_cannot_change() -> None:
    """A removed arc stays removed."""
    graph = DirectedHypergraph()
    number = graph.add((), "t", 1.0)
    graph.remove(number)
    with pytest.raises(UsageError, match="removed"):
        graph.reweigh(number, 2.0)
    with pytest.raises(UsageError, match="all of a tail"):
        Hyperpaths(graph, [], backward=True)

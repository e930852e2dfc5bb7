"""What stands around evidence: labelled, at most ten, the most relevant first; and how central things are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.code.graph.centrality import centrality, file_centrality, pagerank
from vademecum.code.graph.expand import LABELS, expand

FILES = {
    "pay/ledger.py": (
        'from pay.money import Money\nfrom pay.store import Store\n\n\nclass Ledger:\n    """Books payments."""\n\n    def __init__(self, store: Store):\n'
        '        self.store = store\n\n    def book(self, amount: Money):\n        """Book one payment in the ledger."""\n        self.check(amount)\n'
        "        self.store.save(amount)\n\n    def check(self, amount):\n        return amount\n"
    ),
    "pay/money.py": "class Money:\n    pass\n",
    "pay/store.py": "from abc import ABC\n\n\nclass Store(ABC):\n    def save(self, what): ...\n\n\nclass Files(Store):\n    def save(self, what):\n        write(what)\n\n\ndef write(what): ...\n",
    "pay/shop.py": 'from pay.ledger import Ledger\n\n\ndef buy(ledger: Ledger):\n    """Pay at the till."""\n    ledger.book(1)\n\n\ndef refund(ledger: Ledger):\n    ledger.book(-1)\n',
    "tests/test_ledger.py": "from pay.ledger import Ledger\n\n\ndef test_book():\n    Ledger(None).book(1)\n",
}


@pytest.fixture
def opened(repo, engine):
    """An engine on the small shop, and its graph."""
    made = engine(repo("shop", FILES))
    return made, made.codebase.graph()


def test_something_is_expanded_where_something_must_be(opened):
    """Around `Ledger.book` stand what it calls, who calls it, its test, its interfaces and its siblings."""
    made, graph = opened
    evidence = [made.codebase.open("pay/ledger.py:11-14")]
    found = {each.name: each.relation for each in expand(graph, evidence, "book a payment in the ledger", limit=30)}
    assert found["Store.save"] == "calls"
    assert found["buy"] == "called_by"
    assert found["test_book"] == "test_for"
    assert found["Ledger.__init__"] == "sibling"
    assert found["Ledger.check"] == "calls"
    assert set(found.values()) <= set(LABELS)


def test_every_label_occurs(opened):
    """Imports and importers of a file, calls, callers, tests, contracts, siblings."""
    made, graph = opened
    labels = set()
    for place in (
        "pay/ledger.py:11-14",
        "pay/store.py:8-10",
        "pay/store.py:4-5",
        "pay/ledger.py:1-2",
        "pay/ledger.py:5",
    ):
        labels |= {each.relation for each in expand(graph, [made.codebase.open(place)], "", limit=99)}
    assert labels == set(LABELS)


def test_at_most_ten_and_never_what_is_shown_already(opened):
    """The limit holds; evidence itself is not its own neighbour."""
    made, graph = opened
    evidence = made.codebase.search("book a payment", k=3).evidence
    found = expand(graph, evidence, "book a payment")
    assert 0 < len(found) <= 10
    shown = {(item.path, item.start_line) for item in evidence}
    assert not shown & {(each.path, each.start_line) for each in found}
    assert len(expand(graph, evidence, "book a payment", limit=2)) == 2


def test_relevance_decides_among_the_near(opened):
    """Of two callers the one that the question is about comes first, whichever it is."""
    made, graph = opened
    evidence = made.codebase.symbol("Ledger.book").evidence
    for question, first, second in (("pay at the till, buy", "buy", "refund"), ("refund", "refund", "buy")):
        order = [each.name for each in expand(graph, evidence, question, limit=30)]
        assert order.index(first) < order.index(second), question


def test_a_depth_beyond_three_is_an_error(opened):
    """As for every question about the graph."""
    made, graph = opened
    with pytest.raises(ValueError, match="not 1, 2 or 3"):
        expand(graph, made.codebase.symbol("Ledger").evidence, "", depth=4)


def test_what_many_call_is_central(opened):
    """The ledger before the shop that uses it; starting at the shop moves it up."""
    _, graph = opened
    files = file_centrality(graph)
    assert sum(files.values()) == pytest.approx(1)
    assert files["pay/ledger.py"] > files["pay/shop.py"] > files["tests/test_ledger.py"]
    buy = graph.named("buy")[0]
    assert centrality(graph, {buy.id: 1.0})[buy.id] > centrality(graph)[buy.id]


def test_ranks_are_those_of_the_edges_one_by_one(opened):
    """As worked out node by node: what an edge is worth, a tenth of it back, and what a declaration and its file lend each other."""
    _, graph = opened
    nodes = graph.every()
    place = {node.id: number for number, node in enumerate(nodes)}
    is_leaf = [node.kind in {"constant", "field", "property", "alias"} for node in nodes]
    worth = {"calls": 1, "inherits": 1, "implements": 1, "imports": 0.5, "references": 0.5, "tests": 0}
    edges = [edge for edge in graph.every_edge() if edge.source in place and edge.target in place]
    weights = np.zeros((len(nodes), len(nodes)))
    for edge in edges:
        source, target = place[edge.source], place[edge.target]
        is_aside = [nodes[each].path.startswith("tests/") for each in (source, target)]
        users = len({nodes[place[each.source]].path for each in edges if each.target == edge.target})
        value = worth[str(edge.relation)] / (1 + max(users - 0.1 * len(FILES), 0))
        value *= (0.1 if is_leaf[target] else 1) * (0.2 if is_aside == [True, False] else 1)
        weights[source, target] += value
        weights[target, source] += 0.1 * value
    for number, node in enumerate(nodes):
        if node.parent in place:
            lent = 0 if is_leaf[number] else 0.1
            weights[number, place[node.parent]] += lent
            weights[place[node.parent], number] += lent
    begin, out = np.full(len(nodes), 1 / len(nodes)), weights.sum(axis=1)
    moves = weights / np.maximum(out, 1)[:, None] + (1 - np.minimum(out, 1))[:, None] * begin
    expected = np.linalg.solve(np.eye(len(nodes)) - 0.85 * moves.T, 0.15 * begin)
    found = centrality(graph, {0: 1.0})  # a node that is not there is no place to start at
    assert [found[node.id] for node in nodes] == pytest.approx(expected, abs=2e-4)
    files = {path: sum(found[node.id] for node in nodes if node.path == path) for path in FILES}
    assert file_centrality(graph) == pytest.approx(files)


def test_a_common_alias_does_not_stand_for_the_repository(repo, engine):
    """What every file names, and what does nothing, is not the most central."""
    files = {
        f"m{n}.py": f"from base import Text, work\n\n\ndef f{n}(a: Text, b: Text):\n    work(a)\n" for n in range(30)
    }
    files["base.py"] = "Text = str\n\n\nclass Text2: ...\n\n\ndef work(a):\n    return core(a)\n\n\ndef core(a): ...\n"
    graph = engine(repo("many", files)).codebase.graph()
    ranks = centrality(graph)
    of = {name: ranks[graph.named(name)[0].id] for name in ("Text", "work", "core")}
    assert of["Text"] < of["work"]


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.floats(0.1, 5)), max_size=30),
    st.lists(st.floats(0.1, 1), min_size=8, max_size=8),
)
def test_pagerank_solves_its_equation(edges, start):
    """Rank = (1 - d) start + d (W' rank + lost start), as solved directly."""
    weights, begin = np.zeros((8, 8)), np.array(start) / sum(start)
    for source, target, weight in edges:
        weights[source, target] += weight
    out = weights.sum(axis=1)
    moves = weights / np.maximum(out, 1)[:, None] + (1 - np.minimum(out, 1))[:, None] * begin
    expected = np.linalg.solve(np.eye(8) - 0.85 * moves.T, 0.15 * begin)
    columns = np.array(edges).reshape(-1, 3).T
    found = pagerank(columns[0].astype(int), columns[1].astype(int), columns[2], np.array(start))
    assert found == pytest.approx(expected, abs=2e-4)


def test_what_is_named_is_not_said_to_be_called(repo, engine):
    """An import of several lines, an exception that is caught: neither is a call."""
    files = {
        "p.py": "class Lost(Exception): ...\n\n\ndef bake(): ...\n",
        "q.py": "from p import (\n    Lost,\n    bake,\n)\n\n\ndef run():\n    try:\n        bake()\n    except (Lost, OSError):\n        raise\n",
    }
    code = engine(repo("shop", files)).codebase
    assert {each.name: each.relation for each in code.related("q.py", "").found if each.distance == 1}[
        "bake"
    ] == "imports"
    around = {each.name: each.relation for each in code.related("q.py:7", "").found if each.distance == 1}
    assert (around["bake"], around["Lost"]) == ("calls", "references")

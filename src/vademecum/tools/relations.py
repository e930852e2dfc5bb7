"""How tools lead to each other, as hyperarcs of one directed hypergraph.

Nodes are tools by their ids, capabilities by theirs, and inputs as `server/name?argument`. A node "is there" once its
tool has been called, its capability done, its value known.

| kind | hyperarc | weight |
| --- | --- | --- |
| `sequence` | {the tools whose outcome a call used} → its tool, as seen in traces | 1 - ln P(tail given head) |
| `provides` | {a tool} → an input of another, because its output schema has a field that matches (`fields`) | -ln trust |
| `needs` | {every required input} → the tool; from nothing where there is none and no trace has the tool | 1 |
| `contains` | {every member} → the capability | 0 |

So a call costs 1, and what is doubtful adds to it. P is the share of the head's calls that came so. A tool called first has an
empty tail: nothing had to be done before. Where a trace does not say who used what, a call's tail is the call before it.

    >>> from vademecum.tools.hyperpath import Hyperpaths
    >>> from vademecum.tools.records import Call, Tool, Trace
    >>> makes = Tool("shop/create_cart", "create_cart", "shop", output_schema={"properties": {"cart_id": {"type": "string"}}})
    >>> wants = {"properties": {"cart_id": {"type": "string"}, "card": {"type": "string"}}, "required": ["cart_id", "card"]}
    >>> relations = Relations([makes, Tool("shop/pay", "pay", "shop", input_schema=wants)])
    >>> paths = Hyperpaths(relations.graph, [])
    >>> paths.path("shop/pay").missing
    ('shop/pay?card',)
    >>> paths.move(["shop/pay?card"])
    >>> [arc.head for arc in paths.path("shop/pay").arcs]
    ['shop/create_cart', 'shop/pay?cart_id', 'shop/pay']
    >>> relations.observe(Trace("t1", "buy", (Call("shop/create_cart"), Call("shop/pay"))))
    >>> relations.graph.arc(relations.graph.into("shop/pay")[-1])  # doctest: +ELLIPSIS
    Hyperarc(tail=('shop/create_cart',), head='shop/pay', weight=1.0, kind='sequence', evidence=('t1',))
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vademecum.tools.directed import DirectedHypergraph
from vademecum.tools.fields import Field, about, fields_of, inputs_of, match, words
from vademecum.tools.records import Tool, Trace

CALL = 1.0  # what a call costs
MOST_GIVERS = 8  # tools for one input, the most trusted ones
MOST_SHARING = 200  # tools with outputs about the same: a word that more share says nothing
EVIDENCE = 8  # traces named for a sequence, the latest ones
Tail = tuple[str, ...]
Topic = tuple[str, str]  # (last word of a field's name, another word that it is about)


def input_node(tool: str, name: str) -> str:
    """Return the node of a tool's input."""
    return f"{tool}?{name}"


def tool_of_input(node: str) -> tuple[str, str]:
    """Return the tool and the name of an input's node; the name is "" where the node is none.

    >>> tool_of_input("shop/pay?card"), tool_of_input("shop/pay")
    (('shop/pay', 'card'), ('shop/pay', ''))
    """
    tool, _, name = node.partition("?")
    return tool, name


@dataclass(slots=True)
class _Seen:
    """How the calls of one tool came about in traces."""

    calls: int = 0
    tails: dict[Tail, int] = field(default_factory=dict)  # how many calls came after this
    arcs: dict[Tail, int] = field(default_factory=dict)
    evidence: dict[Tail, list[str]] = field(default_factory=lambda: defaultdict(list))


class Relations:
    """The directed hypergraph of some tools and traces, kept up as either grows.

    Args:
        tools: Whose schemas say what provides what.
        traces: What followed what.
        capabilities: Id to members: tools, or other capabilities.

    Attributes:
        graph: For `Hyperpaths`, which follow every change of it.
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        traces: Iterable[Trace] = (),
        capabilities: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self.graph = DirectedHypergraph()
        self._tools: dict[str, Tool] = {}
        self._arcs: dict[str, list[int]] = defaultdict(list)  # tool or capability to the arcs it brought
        self._seen: dict[str, _Seen] = defaultdict(_Seen)
        self._given: dict[Topic, dict[str, list[Field]]] = defaultdict(dict)  # who has an output about this
        self._wanted: dict[Topic, dict[str, list[Field]]] = defaultdict(dict)  # and who needs an input
        self.register(*tools)
        for trace in traces:
            self.observe(trace)
        for id_, members in (capabilities or {}).items():
            self.contain(id_, members)

    def register(self, *tools: Tool) -> None:
        """Add tools, or replace those of the same id."""
        for tool in tools:
            self.forget(tool.id)
        concerned = {(tool.id, wanted) for tool in tools for wanted in _required(tool)}
        for tool in tools:
            self._tools[tool.id] = tool
            needed = [input_node(tool.id, wanted.name) for wanted in _required(tool)]
            if needed or tool.id not in self._seen:
                self._bring(tool.id, self.graph.add(needed, tool.id, CALL, "needs"))
            for topic, given in _topics_given(tool):
                self._given[topic].setdefault(tool.id, []).append(given)
            for topic, wanted in _topics_wanted(tool):
                self._wanted[topic].setdefault(tool.id, []).append(wanted)
        for tool in tools:
            for topic, _ in _topics_given(tool):
                if len(self._given[topic]) <= MOST_SHARING:
                    concerned.update((taker, wanted) for taker, all_ in self._wanted[topic].items() for wanted in all_)
        for taker, wanted in sorted(concerned, key=lambda pair: (pair[0], pair[1].name)):
            self._provide(taker, wanted)

    def forget(self, id_: str) -> None:
        """Take a tool or a capability out, with what it provides and needs; what traces showed of it stays."""
        for arc in self._arcs.pop(id_, ()):
            if self.graph.weights[arc] < math.inf:
                self.graph.remove(arc)
        if tool := self._tools.pop(id_, None):
            for topic, _ in _topics_given(tool):
                self._given[topic].pop(id_, None)
            for topic, _ in _topics_wanted(tool):
                self._wanted[topic].pop(id_, None)

    def contain(self, id_: str, members: Iterable[str]) -> None:
        """Add a capability over tools or other capabilities, or replace it."""
        self.forget(id_)
        self._bring(id_, self.graph.add(members, id_, 0.0, "contains"))

    def observe(self, trace: Trace) -> None:
        """Count what followed what in a trace. It counts each time it is handed in."""
        for number, call in enumerate(trace.calls):
            if call.tool not in self._seen:
                self._settle(call.tool)
            seen, tail = self._seen[call.tool], _tail(trace, number)
            seen.calls += 1
            seen.tails[tail] = seen.tails.get(tail, 0) + 1
            seen.evidence[tail] = [*seen.evidence[tail], trace.id][-EVIDENCE:]
            self._weigh(call.tool, seen, tail)

    def count(self, tail: Iterable[str], tool: str) -> int:
        """Return how many calls of a tool came after these, as traces show."""
        return self._seen[tool].tails.get(tuple(sorted(tail)), 0) if tool in self._seen else 0

    def open_inputs(self, tool: str) -> list[str]:
        """Return the required inputs of a tool that no other tool provides: whoever asks has to know them."""
        known = self._tools.get(tool)
        inputs = inputs_of(known.input_schema) if known else []
        return [one.name for one in inputs if one.required and not self.graph.into(input_node(tool, one.name))]

    def _settle(self, tool: str) -> None:
        """Now that traces say what comes before a tool, it no longer comes from nothing."""
        for arc in self.graph.into(tool):
            if not self.graph.tails[arc]:
                self.graph.remove(arc)

    def _weigh(self, tool: str, seen: _Seen, changed: Tail) -> None:
        """Give every sequence into a tool its new weight; the one that changed is a new arc, with its new evidence."""
        for tail, count in seen.tails.items():
            weight = CALL - math.log(count / seen.calls)
            if tail != changed:
                self.graph.reweigh(seen.arcs[tail], weight)
                continue
            if tail in seen.arcs:
                self.graph.remove(seen.arcs[tail])
            seen.arcs[tail] = self.graph.add(tail, tool, weight, "sequence", seen.evidence[tail])

    def _provide(self, taker: str, wanted: Field) -> None:
        """Let the most trusted tools provide an input, instead of those that did."""
        node, tool = input_node(taker, wanted.name), self._tools[taker]
        for arc in self.graph.into(node):
            self.graph.remove(arc)
        trusted: dict[str, float] = {}
        for topic in _topics(wanted, about(wanted, words(tool.name))):
            for giver, all_ in self._given[topic].items() if len(self._given[topic]) <= MOST_SHARING else ():
                if giver != taker and giver not in trusted:
                    named = words(self._tools[giver].name)
                    trusted[giver] = max(match(given, named, wanted, words(tool.name)) for given in all_)
        best = sorted((-trust, giver) for giver, trust in trusted.items() if trust)[:MOST_GIVERS]
        for trust, giver in best:
            arc = self.graph.add([giver], node, -math.log(-trust), "provides")
            self._bring(giver, arc)
            self._bring(taker, arc)

    def _bring(self, owner: str, arc: int) -> None:
        self._arcs[owner].append(arc)


def _required(tool: Tool) -> list[Field]:
    return [wanted for wanted in inputs_of(tool.input_schema) if wanted.required]


def _topics_given(tool: Tool) -> list[tuple[Topic, Field]]:
    named = words(tool.name)
    fields = fields_of(tool.output_schema)
    return [(topic, given) for given in fields for topic in _topics(given, given.around.union(given.words, named))]


def _topics_wanted(tool: Tool) -> list[tuple[Topic, Field]]:
    named = words(tool.name)
    return [(topic, wanted) for wanted in _required(tool) for topic in _topics(wanted, about(wanted, named))]


def _topics(field: Field, shared: Iterable[str]) -> list[Topic]:
    """Where a field is looked up: what matches has the last word of its name in common, and one of some others."""
    return [(field.words[-1], word) for word in sorted(shared)] if field.words else []


def _tail(trace: Trace, number: int) -> Tail:
    """The tools whose outcome a call used: as linked, or the call before. A tool that repeats itself is no reason."""
    if trace.links:
        before = [trace.calls[a].tool for a, b in trace.links if b == number]
    else:
        before = [trace.calls[number - 1].tool] if number else []
    return tuple(sorted(set(before) - {trace.calls[number].tool}))

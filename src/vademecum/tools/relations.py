"""Relations between tools as hyperarcs.

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
    >>> Hyperpaths(relations.graph, []).path("shop/pay").missing
    ('shop/pay?card',)
    >>> [arc.head for arc in Hyperpaths(relations.graph, ["shop/pay?card"]).path("shop/pay").arcs]
    ['shop/create_cart', 'shop/pay?cart_id', 'shop/pay']
    >>> relations = Relations([makes], [Trace("t1", "buy", (Call("shop/create_cart"), Call("shop/pay")))])
    >>> relations.graph.arcs[relations.graph.into["shop/pay"][0]]
    Hyperarc(tail=('shop/create_cart',), head='shop/pay', weight=1.0, kind='sequence', seen=1)
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from vademecum.tools.fields import Field, about, fields_of, inputs_of, match, words
from vademecum.tools.hyperpath import DirectedHypergraph
from vademecum.tools.records import Tool, Trace

CALL = 1.0  # what a call costs
MOST_GIVERS = 8  # tools for one input, the most trusted ones
MOST_SHARING = 200  # tools with outputs about the same: a word that more share says nothing
Tail = tuple[str, ...]
Topic = tuple[str, str]  # (last word of a field's name, another word that it is about)


def input_node(tool: str, name: str) -> str:
    """Return the node of a tool's input."""
    return f"{tool}?{name}"


def tool_of_input(node: str) -> tuple[str, str]:
    """Return tool and name of an input's node; "" for other nodes.

    >>> tool_of_input("shop/pay?card"), tool_of_input("shop/pay")
    (('shop/pay', 'card'), ('shop/pay', ''))
    """
    tool, _, name = node.partition("?")
    return tool, name


class Relations:
    """The directed hypergraph of some tools and traces.

    Args:
        tools: Their schemas say what provides what.
        traces: They show what followed what.
        capabilities: Id to members: tools, or other capabilities.

    Attributes:
        graph: The hypergraph, for `Hyperpaths`.
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        traces: Iterable[Trace] = (),
        capabilities: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self.graph = DirectedHypergraph()
        self._tools = {tool.id: tool for tool in tools}
        self._came: dict[str, Counter[Tail]] = defaultdict(Counter)  # tool to the tails of its calls
        for trace in traces:
            for number, call in enumerate(trace.calls):
                self._came[call.tool][_tail(trace, number)] += 1
        self._add_needs()
        self._add_provides()
        self._add_sequences()
        for id_, members in (capabilities or {}).items():
            self.graph.add(members, id_, 0.0, "contains")

    def _add_needs(self) -> None:
        """Lead from the required inputs to each tool."""
        for tool in self._tools.values():
            needed = [input_node(tool.id, wanted.name) for wanted in _required(tool)]
            if needed or tool.id not in self._came:
                self.graph.add(needed, tool.id, CALL, "needs")

    def _add_sequences(self) -> None:
        """Lead from the tools whose outcome a call used to its tool."""
        for tool, tails in self._came.items():
            calls = tails.total()
            for tail, seen in tails.items():
                self.graph.add(tail, tool, CALL - math.log(seen / calls), "sequence", seen)

    def _add_provides(self) -> None:
        """Lead from the most trusted givers to each required input."""
        given: dict[Topic, dict[str, list[Field]]] = defaultdict(dict)  # topic to the tools with an output about it
        for tool in self._tools.values():
            for topic, output in _topics_given(tool):
                given[topic].setdefault(tool.id, []).append(output)
        for taker in self._tools.values():
            for wanted in _required(taker):
                for trust, giver in self._givers(taker, wanted, given):
                    self.graph.add([giver], input_node(taker.id, wanted.name), -math.log(trust), "provides")

    def _givers(
        self, taker: Tool, wanted: Field, given: Mapping[Topic, Mapping[str, Sequence[Field]]]
    ) -> list[tuple[float, str]]:
        """Return (trust, tool) for the givers of an input, best first."""
        named, trusted = words(taker.name), dict[str, float]()
        for topic in _topics(wanted, about(wanted, named)):
            outputs = given.get(topic, {})
            for giver, fields in outputs.items() if len(outputs) <= MOST_SHARING else ():
                if giver != taker.id and giver not in trusted:
                    of_giver = words(self._tools[giver].name)
                    trusted[giver] = max(match(output, of_giver, wanted, named) for output in fields)
        best = sorted((-trust, giver) for giver, trust in trusted.items() if trust)
        return [(-trust, giver) for trust, giver in best[:MOST_GIVERS]]


def _required(tool: Tool) -> list[Field]:
    return [wanted for wanted in inputs_of(tool.input_schema) if wanted.required]


def _topics_given(tool: Tool) -> list[tuple[Topic, Field]]:
    named = words(tool.name)
    fields = fields_of(tool.output_schema)
    return [(topic, given) for given in fields for topic in _topics(given, given.around.union(given.words, named))]


def _topics(field: Field, shared: Iterable[str]) -> list[Topic]:
    """An index of fields by the words of their names."""
    return [(field.words[-1], word) for word in sorted(shared)] if field.words else []


def _tail(trace: Trace, number: int) -> Tail:
    """The tools whose results a call used, without the tool itself."""
    if trace.links:
        before = [trace.calls[a].tool for a, b in trace.links if b == number]
    else:
        before = [trace.calls[number - 1].tool] if number else []
    return tuple(sorted(set(before) - {trace.calls[number].tool}))

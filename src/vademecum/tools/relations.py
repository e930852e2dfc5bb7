"""Relations between tools as hyperarcs, and the ways over them.

Nodes are tools by their ids, capabilities by theirs, and inputs as `server/name?argument`. docs/tools.md has the kinds
of hyperarcs and their weights: `sequence` from traces, `provides` from schemas, `needs` and `contains`. A call costs 1,
and what is doubtful adds to it; where a trace does not say who used what, a call's tail is the call before it.

    >>> from vademecum.tools.records import Call, Tool, Trace
    >>> relations = Relations([Tool.of("shop", "create_cart")], [Trace("t1", "buy", (Call("shop/create_cart"), Call("shop/pay")))])
    >>> relations.graph.arcs[relations.graph.into["shop/pay"][0]]
    Hyperarc(tail=('shop/create_cart',), head='shop/pay', weight=1.0, kind='sequence', seen=1)
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from vademecum.tools.hyperpath import DirectedHypergraph, Hyperpath, Hyperpaths
from vademecum.tools.records import Group, Tool, Trace
from vademecum.tools.texts import Field, about, fields_of, inputs_of, match, words

CALL = 1.0  # what a call costs
FURTHER = 1e3  # what a giver outside a plan costs where one inside it gives the same
MOST_GIVERS = 8  # tools for one input, the most trusted ones
MOST_ARCS = 20_000  # in a page, the strongest ones
_ABOUT = 600  # characters of a description
MOST_SHARING = 200  # tools with outputs about the same: a word that more share says nothing
Tail = tuple[str, ...]
Link = tuple[str, str]  # (tool, tool that waits for its call)
Topic = tuple[str, str]  # (last word of a field's name, another word that it is about)


def tool_of_input(node: str) -> tuple[str, str]:
    """Return tool and name of an input's node; ("shop/pay", "") for a tool."""
    tool, _, name = node.partition("?")
    return tool, name


class Relations:
    """The directed hypergraph, `graph`, of tools, traces and capabilities with their members."""

    def __init__(
        self, tools: Iterable[Tool] = (), traces: Iterable[Trace] = (),
        capabilities: Mapping[str, Iterable[str]] | None = None,
    ) -> None:  # fmt: skip
        self.graph = DirectedHypergraph()
        self._tools = {tool.id: tool for tool in tools}
        came: dict[str, Counter[Tail]] = defaultdict(Counter)  # tool to the tails of its calls
        for trace in traces:
            for number, call in enumerate(trace.calls):
                came[call.tool][_tail(trace, number)] += 1
        for tool in self._tools.values():
            needed = [f"{tool.id}?{wanted.name}" for wanted in inputs_of(tool.input_schema) if wanted.required]
            if needed or tool.id not in came:
                self.graph.add(needed, tool.id, CALL, "needs")
        self._add_provides()
        for id_, tails in came.items():
            for tail, seen in tails.items():
                self.graph.add(tail, id_, CALL - math.log(seen / tails.total()), "sequence", seen)
        for id_, members in (capabilities or {}).items():
            self.graph.add(members, id_, 0.0, "contains")

    def _add_provides(self) -> None:
        """Lead from the most trusted givers to each required input."""
        given: dict[Topic, dict[str, list[Field]]] = defaultdict(dict)  # topic to the tools with an output about it
        for tool in self._tools.values():
            for output in fields_of(tool.output_schema):
                for topic in _topics(output, output.around.union(output.words, words(tool.name))):
                    given[topic].setdefault(tool.id, []).append(output)
        for taker in self._tools.values():
            for wanted in [each for each in inputs_of(taker.input_schema) if each.required]:
                for trust, giver in self._givers(taker, wanted, given):
                    self.graph.add([giver], f"{taker.id}?{wanted.name}", -math.log(trust), "provides")

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


def _topics(field: Field, shared: Iterable[str]) -> list[Topic]:
    """An index of fields by the words of their names."""
    return [(field.words[-1], word) for word in sorted(shared)] if field.words else []


def _tail(trace: Trace, number: int) -> Tail:
    """The tools whose results a call used, without the tool itself."""
    places = [a for a, b in trace.links if b == number] if trace.links else range(max(number - 1, 0), number)
    return tuple(sorted({trace.calls[place].tool for place in places} - {trace.calls[number].tool}))


class Ways:
    """Shortest hyperpaths over callable tools and traces, computed for each question."""

    def __init__(self, tools: Sequence[Tool], traces: Sequence[Trace]) -> None:
        self._tools = {tool.id: tool for tool in tools}
        self._graph = Relations(tools, traces).graph
        self._fields, self._gives = cache(self._read), cache(self._matched)

    def starting(self, after: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
        """Return a function from a target to its prerequisites, the target last."""
        paths = Hyperpaths(self._graph, [id_ for id_ in after if id_ in self._tools], semantics="any")

        def way(target: str) -> tuple[str, ...]:
            found = paths.path(target)
            heads = [arc.head for arc in found.arcs if arc.head in self._tools]
            return tuple(dict.fromkeys(heads)) if math.isfinite(found.cost) else ()

        return way

    def needs(self, planned: Collection[str], wanted: Collection[str]) -> tuple[list[Link], tuple[str, ...]]:
        """Return links of a plan's wanted tools, and inputs that nothing provides.

        Calls that the plan makes anyway cost nothing, and none is added to give what one of them gives. The planned
        tools that are not wanted are taken to be callable.
        """
        known = [id_ for id_ in planned if id_ in self._tools]
        targets, given = [id_ for id_ in known if id_ in wanted], [id_ for id_ in known if id_ not in wanted]
        weights = self._weights(known)
        paths = Hyperpaths(self._graph, given, weights=weights)
        if missing := paths.missing(*targets):
            paths = Hyperpaths(self._graph, [*given, *missing], weights=weights)
        return self._links(paths.path(*targets)), tuple(node for node in missing if tool_of_input(node)[1])

    def _weights(self, planned: Sequence[str]) -> list[float]:
        """Return the costs of all arcs, where planned tools cost nothing."""
        graph, weights, called = self._graph, [arc.weight for arc in self._graph.arcs], set(planned)
        for id_ in planned:
            for arc in graph.into.get(id_, ()):
                weights[arc] = max(weights[arc] - CALL, 0.0)
            for wanted in self._fields(id_)[0]:
                arcs = graph.into.get(f"{id_}?{wanted.name}", ())
                further = [arc for arc in arcs if called.isdisjoint(graph.arcs[arc].tail)]
                for arc in further if len(further) < len(arcs) else ():
                    weights[arc] += FURTHER
        return weights

    def starts(self, tool: str) -> bool:
        """Return whether a trace calls a tool with nothing before."""
        arcs = (self._graph.arcs[number] for number in self._graph.into.get(tool, ()))
        return any(not arc.tail and arc.kind == "sequence" for arc in arcs)

    def _links(self, way: Hyperpath) -> list[Link]:
        """The dependencies between tools on a way, over the inputs between them."""
        tails = {arc.head: arc.tail for arc in way.arcs}
        links = [
            (giver, head) for head in tails if head in self._tools for node in tails[head]
            for giver in ((node,) if node in self._tools else tails.get(node, ()))
        ]  # fmt: skip
        return [*dict.fromkeys(link for link in links if link[0] in self._tools and link[0] != link[1])]

    def provides(self, giver: str, taker: str) -> bool:
        """Return whether a tool's outputs are inputs of another, by schema."""
        return self._gives(giver, taker) is True

    def apart(self, one: str, other: str) -> bool:
        """Return whether schemas show that neither tool feeds the other."""
        return self._gives(one, other) is False and self._gives(other, one) is False

    def _matched(self, giver: str, taker: str) -> bool | None:
        """Return whether one tool feeds another; None without schemas."""
        gives, takes = self._tools.get(giver), self._tools.get(taker)
        if not gives or not takes or gives is takes or not gives.output_schema:
            return None
        named, inputs, outputs = (words(gives.name), words(takes.name)), self._fields(taker)[0], self._fields(giver)[1]
        return any(match(output, named[0], wanted, named[1]) for wanted in inputs for output in outputs)

    def _read(self, id_: str) -> tuple[list[Field], list[Field]]:
        """Return the inputs and the outputs of a tool."""
        return inputs_of(self._tools[id_].input_schema), fields_of(self._tools[id_].output_schema)


def graph_record(tools: Sequence[Tool], traces: Sequence[Trace], groups: Mapping[str, Group]) -> dict[str, Any]:
    """Return nodes, and arcs between them by number.

    Inputs are no nodes here: what provides one leads to the tool that takes it.
    """
    graph = Relations(tools, traces, {id_: group.members for id_, group in groups.items()}).graph
    calls = Counter(call.tool for trace in traces for call in trace.calls)
    good = Counter(call.tool for trace in traces for call in trace.calls if call.ok)
    known = {tool.id: tool for tool in tools}
    arcs = sorted((arc for arc in graph.arcs if arc.tail and arc.kind != "needs"), key=lambda arc: arc.weight)
    named = [(arc, *tool_of_input(arc.head)) for arc in arcs[:MOST_ARCS]]
    names = dict.fromkeys([*known, *calls, *(node for arc, tool, _ in named for node in (*arc.tail, tool))])
    number = {name: place for place, name in enumerate(names)}
    nodes = [
        _group(groups[name], groups) if name in groups else _node(name, known.get(name), calls[name], good[name])
        for name in names
    ]
    drawn = [
        {"tail": [number[node] for node in (groups[tool].members if tool in groups else arc.tail)],
         "head": number[tool], "kind": arc.kind, "weight": round(arc.weight, 3), "seen": arc.seen, "input": name}
        for arc, tool, name in named
    ]  # fmt: skip
    return {"nodes": nodes, "arcs": drawn, "tools": len(tools), "traces": len(traces)}


def _group(group: Group, groups: Mapping[str, Group]) -> dict[str, Any]:
    """A capability or meta-capability as a node, named by its members."""
    named = [
        " → ".join(id_.rpartition("/")[2] for id_ in (groups[member].tools if member in groups else (member,)))
        for member in group.members
    ]
    name = (" ⇒ " if group.kind == "meta" else " → ").join(named)
    parts = "Capabilities" if group.kind == "meta" else "Tools"
    about = f"{parts} called one after the other in {group.traces} traces."
    return {"id": group.id, "name": name, "kind": group.kind, "about": about, "inputs": [], "calls": 0, "good": 0}


def _node(name: str, tool: Tool | None, calls: int, good: int) -> dict[str, Any]:
    inputs = inputs_of(tool.input_schema) if tool else []
    about = " ".join(tool.description.split())[:_ABOUT] if tool else ""
    taken = [{"name": one.name, "type": one.type or "any", "required": one.required} for one in inputs]
    said = {"id": name, "name": name.rpartition("/")[2], "kind": "tool", "about": about, "inputs": taken}
    return said | {"calls": calls, "good": good}

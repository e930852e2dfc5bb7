"""Prerequisites of tools: hyperpaths from the calls made so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from vademecum.tools.fields import Field, fields_of, inputs_of, match, words
from vademecum.tools.hyperpath import Hyperpath, Hyperpaths
from vademecum.tools.records import Tool, Trace
from vademecum.tools.relations import CALL, Relations, input_node, tool_of_input

_FURTHER = 1e3  # what a giver outside a plan costs where one inside it gives the same


class Needs(NamedTuple):
    """Dependencies of some tools of a plan.

    Attributes:
        links: (tool, tool that waits for its call), without circles.
        missing: the inputs that nothing known provides, as `server/name?argument`.
    """

    links: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]


class _Schemas(NamedTuple):
    """A tool's fields; `outputs` is None where the tool declares none."""

    named: tuple[str, ...]
    inputs: list[Field]
    outputs: list[Field] | None


class Ways:
    """Shortest hyperpaths over tools and traces, computed for each question.

    Args:
        tools: Those that can be called.
        traces: They show what followed what.
    """

    def __init__(self, tools: Sequence[Tool], traces: Sequence[Trace]) -> None:
        self._tools = {tool.id: tool for tool in tools}
        self._graph = Relations(tools, traces).graph
        self._schemas: dict[str, _Schemas] = {}
        self._given: dict[tuple[str, str], bool | None] = {}

    def starting(self, after: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
        """Return a function from a target to its prerequisites, the target last."""
        paths = Hyperpaths(self._graph, self._known(after), semantics="any")

        def way(target: str) -> tuple[str, ...]:
            found = paths.path(target)
            heads = [arc.head for arc in found.arcs if arc.head in self._tools]
            return tuple(dict.fromkeys(heads)) if math.isfinite(found.cost) else ()

        return way

    def needs(self, planned: Collection[str], wanted: Collection[str]) -> Needs:
        """Return the dependencies of the wanted tools of a plan.

        Calls that the plan makes anyway cost nothing, and none is added to give what one of them gives.

        Args:
            planned: all tools of the plan.
            wanted: those of them whose needs are not known otherwise; the others are taken to be callable.
        """
        known = self._known(planned)
        targets, given = [id_ for id_ in known if id_ in wanted], [id_ for id_ in known if id_ not in wanted]
        weights = self._weights(known)
        paths = Hyperpaths(self._graph, given, weights=weights)
        if missing := paths.missing(*targets):
            paths = Hyperpaths(self._graph, [*given, *missing], weights=weights)
        inputs = tuple(node for node in missing if tool_of_input(node)[1])
        return Needs(self._links(paths.path(*targets)), inputs)

    def _weights(self, planned: Sequence[str]) -> list[float]:
        """Return the costs of all arcs, where planned tools cost nothing."""
        graph, weights, called = self._graph, [arc.weight for arc in self._graph.arcs], set(planned)
        for id_ in planned:
            for arc in graph.into.get(id_, ()):
                weights[arc] = max(weights[arc] - CALL, 0.0)
            for wanted in self._schema(id_).inputs:
                arcs = {
                    arc: called.isdisjoint(graph.arcs[arc].tail)
                    for arc in graph.into.get(input_node(id_, wanted.name), ())
                }
                for arc, is_further in arcs.items():
                    weights[arc] += _FURTHER if is_further and not all(arcs.values()) else 0.0
        return weights

    def starts(self, tool: str) -> bool:
        """Return whether a trace calls a tool with nothing before."""
        arcs = (self._graph.arcs[number] for number in self._graph.into.get(tool, ()))
        return any(not arc.tail and arc.kind == "sequence" for arc in arcs)

    def _links(self, way: Hyperpath) -> tuple[tuple[str, str], ...]:
        """The dependencies between tools on a way, over the inputs between them."""
        tails = {arc.head: arc.tail for arc in way.arcs}
        links: dict[tuple[str, str], None] = {}
        for head, tail in tails.items():
            if head in self._tools:
                givers = [giver for node in tail for giver in ((node,) if node in self._tools else tails.get(node, ()))]
                links |= dict.fromkeys((giver, head) for giver in givers if giver in self._tools and giver != head)
        return tuple(links)

    def _known(self, ids: Collection[str]) -> list[str]:
        return [id_ for id_ in ids if id_ in self._tools]

    def provides(self, giver: str, taker: str) -> bool:
        """Return whether a tool's outputs are inputs of another, by schema."""
        return self._gives(giver, taker) is True

    def apart(self, one: str, other: str) -> bool:
        """Return whether schemas show that neither tool feeds the other."""
        return self._gives(one, other) is False and self._gives(other, one) is False

    def _gives(self, giver: str, taker: str) -> bool | None:
        """Return whether one tool feeds another; None without schemas."""
        pair = giver, taker
        if pair not in self._given:
            self._given[pair] = self._matched(*pair)
        return self._given[pair]

    def _matched(self, giver: str, taker: str) -> bool | None:
        if giver not in self._tools or taker not in self._tools or giver == taker:
            return None
        gives, takes = self._schema(giver), self._schema(taker)
        if gives.outputs is None:
            return None
        return any(
            match(output, gives.named, wanted, takes.named) for wanted in takes.inputs for output in gives.outputs
        )

    def _schema(self, id_: str) -> _Schemas:
        if id_ not in self._schemas:
            tool = self._tools[id_]
            outputs = fields_of(tool.output_schema) if tool.output_schema else None
            self._schemas[id_] = _Schemas(words(tool.name), inputs_of(tool.input_schema), outputs)
        return self._schemas[id_]

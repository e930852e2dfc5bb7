"""How tools are reached from those already called, and what is missing: hyperpaths over what is known of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vademecum.tools.fields import inputs_of
from vademecum.tools.hyperpath import Hyperpaths
from vademecum.tools.records import Tool, Trace
from vademecum.tools.relations import Relations, input_node, tool_of_input


class Ways:
    """Shortest hyperpaths over tools and traces, kept as these grow.

    Args:
        tools: those that can be called.
        traces: what followed what.
    """

    def __init__(self, tools: Sequence[Tool], traces: Sequence[Trace]) -> None:
        self._tools = {tool.id: tool for tool in tools}
        self.relations = Relations(tools, traces)
        self._any = Hyperpaths(self.relations.graph, (), semantics="any")
        self._all = Hyperpaths(self.relations.graph, ())

    def path(self, after: Sequence[str], target: str) -> tuple[str, ...]:
        """Return the tools from what was called to a target, the target last; () where no way is known."""
        self._any.move([id_ for id_ in after if id_ in self._tools])
        found = self._any.path(target)
        heads = [arc.head for arc in found.arcs if arc.head in self._tools]
        return tuple(dict.fromkeys(heads)) if math.isfinite(found.cost) else ()

    def prerequisites(self, before: Sequence[str], target: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what must be called before a target beside `before`, in order, and the inputs that nothing provides."""
        called = [id_ for id_ in before if id_ in self._tools]
        self._all.move(called)
        missing = self._all.missing(target)
        self._all.move([*called, *missing])
        heads = (arc.head for arc in self._all.path(target).arcs)
        needed = [head for head in heads if head in self._tools and head not in before and head != target]
        inputs = [node for node in missing if tool_of_input(node)[1]]
        return tuple(dict.fromkeys(needed)), tuple(inputs)

    def provides(self, giver: str, taker: str) -> bool:
        """Return whether what a tool gives is, by the schemas, what another one needs."""
        graph = self.relations.graph
        inputs = inputs_of(self._tools[taker].input_schema) if taker in self._tools else []
        arcs = (number for one in inputs for number in graph.into(input_node(taker, one.name)))
        return any(giver in graph.arc(number).tail for number in arcs)

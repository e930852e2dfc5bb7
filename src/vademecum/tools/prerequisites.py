"""How tools are reached from those already called, and what is missing: hyperpaths over what is known of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

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
        # what must be called before each tool, where nothing was called yet
        self._first: dict[str, tuple[str, ...]] = {}
        self._givers: dict[str, frozenset[str]] = {}

    def path(self, after: Sequence[str], target: str) -> tuple[str, ...]:
        """Return the tools from what was called to a target, the target last; () where no way is known."""
        self._any.move([id_ for id_ in after if id_ in self._tools])
        found = self._any.path(target)
        heads = [arc.head for arc in found.arcs if arc.head in self._tools]
        return tuple(dict.fromkeys(heads)) if math.isfinite(found.cost) else ()

    def missing(self, before: Sequence[str], target: str) -> tuple[str, ...]:
        """Return the inputs of a target, or of what it needs, that nothing provides once `before` were called."""
        return tuple(node for node in self._assumed(before, target) if tool_of_input(node)[1])

    def prerequisites(self, before: Sequence[str], target: str) -> tuple[str, ...]:
        """Return what must be called before a target beside `before`, in order."""
        if before:
            return self._before(before, target)
        if target not in self._first:  # most plans ask it of their first call: always the same
            self._first[target] = self._before((), target)
        return self._first[target]

    def _before(self, before: Sequence[str], target: str) -> tuple[str, ...]:
        assumed = self._assumed(before, target)
        self._all.move([*(id_ for id_ in before if id_ in self._tools), *assumed])
        heads = (arc.head for arc in self._all.path(target).arcs)
        return tuple(dict.fromkeys(head for head in heads if head in self._tools and head not in (*before, target)))

    def _assumed(self, before: Sequence[str], target: str) -> tuple[str, ...]:
        """The nodes that would have to be there for a target to be reached; () for what can be had from nothing."""
        if target in self._had:
            return ()
        self._all.move([id_ for id_ in before if id_ in self._tools])
        return self._all.missing(target)

    @cached_property
    def _had(self) -> frozenset[str]:
        """What can be had from nothing: whatever was called before, it still can."""
        return frozenset(Hyperpaths(self.relations.graph, ()).costs())

    def provides(self, giver: str, taker: str) -> bool:
        """Return whether what a tool gives is, by the schemas, what another one needs."""
        if taker not in self._givers:
            self._givers[taker] = self._giving(taker)
        return giver in self._givers[taker]

    def _giving(self, taker: str) -> frozenset[str]:
        """The tools that give what one needs."""
        graph = self.relations.graph
        inputs = inputs_of(self._tools[taker].input_schema) if taker in self._tools else []
        arcs = (graph.arc(number) for one in inputs for number in graph.into(input_node(taker, one.name)))
        return frozenset(giver for arc in arcs for giver in arc.tail)

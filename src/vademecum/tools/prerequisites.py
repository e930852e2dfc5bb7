"""Prerequisites of tools: hyperpaths from the calls made so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

from vademecum.tools.fields import inputs_of
from vademecum.tools.hyperpath import Hyperpaths
from vademecum.tools.records import Tool, Trace
from vademecum.tools.relations import Relations, input_node, tool_of_input


class Ways:
    """Shortest hyperpaths over tools and traces, computed for each question.

    Args:
        tools: Those that can be called.
        traces: They show what followed what.
    """

    def __init__(self, tools: Sequence[Tool], traces: Sequence[Trace]) -> None:
        self._tools = {tool.id: tool for tool in tools}
        self._graph = Relations(tools, traces).graph
        self._first: dict[str, tuple[str, ...]] = {}  # the prerequisites of each tool where nothing was called yet
        self._givers: dict[str, frozenset[str]] = {}

    def starting(self, after: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
        """Return a function from a target to its prerequisites, the target last."""
        paths = Hyperpaths(self._graph, self._known(after), semantics="any")

        def way(target: str) -> tuple[str, ...]:
            found = paths.path(target)
            heads = [arc.head for arc in found.arcs if arc.head in self._tools]
            return tuple(dict.fromkeys(heads)) if math.isfinite(found.cost) else ()

        return way

    def missing(self, before: Sequence[str], target: str) -> tuple[str, ...]:
        """Return the inputs that nothing provides after `before`."""
        return tuple(node for node in self._assumed(before, target) if tool_of_input(node)[1])

    def prerequisites(self, before: Sequence[str], target: str) -> tuple[str, ...]:
        """Return the tools to call before a target beside `before`, in order."""
        if before:
            return self._before(before, target)
        if target not in self._first:  # most plans ask this of their first call
            self._first[target] = self._before((), target)
        return self._first[target]

    def _before(self, before: Sequence[str], target: str) -> tuple[str, ...]:
        there = [*self._known(before), *self._assumed(before, target)]
        heads = (arc.head for arc in Hyperpaths(self._graph, there).path(target).arcs)
        return tuple(dict.fromkeys(head for head in heads if head in self._tools and head not in (*before, target)))

    def _assumed(self, before: Sequence[str], target: str) -> tuple[str, ...]:
        """The nodes missing for a target; () where nothing is missing."""
        if target in self._had:
            return ()
        return Hyperpaths(self._graph, self._known(before)).missing(target)

    def _known(self, ids: Sequence[str]) -> list[str]:
        return [id_ for id_ in ids if id_ in self._tools]

    @cached_property
    def _had(self) -> frozenset[str]:
        """The nodes that are available from nothing."""
        return frozenset(Hyperpaths(self._graph, ()).costs())

    def provides(self, giver: str, taker: str) -> bool:
        """Return whether a tool's outputs are inputs of another, by schema."""
        if taker not in self._givers:
            self._givers[taker] = self._giving(taker)
        return giver in self._givers[taker]

    def _giving(self, taker: str) -> frozenset[str]:
        """The tools that give an input of another one."""
        inputs = inputs_of(self._tools[taker].input_schema) if taker in self._tools else []
        nodes = (input_node(taker, one.name) for one in inputs)
        arcs = (self._graph.arc(number) for node in nodes for number in self._graph.into(node))
        return frozenset(giver for arc in arcs for giver in arc.tail)

"""A picture of tools: nodes and arcs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from vademecum.tools.fields import inputs_of
from vademecum.tools.records import Group, Tool, Trace
from vademecum.tools.relations import Relations, tool_of_input

MOST_ARCS = 20_000  # in a page, the strongest ones
_ABOUT = 600  # characters of a description


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
        " → ".join(_last(tool) for tool in groups[member].tools) if member in groups else _last(member)
        for member in group.members
    ]
    name = (" ⇒ " if group.kind == "meta" else " → ").join(named)
    parts = "Capabilities" if group.kind == "meta" else "Tools"
    about = f"{parts} called one after the other in {group.traces} traces."
    return {"id": group.id, "name": name, "kind": group.kind, "about": about, "inputs": [], "calls": 0, "good": 0}


def _last(id_: str) -> str:
    return id_.rpartition("/")[2]


def _node(name: str, tool: Tool | None, calls: int, good: int) -> dict[str, Any]:
    inputs = inputs_of(tool.input_schema) if tool else []
    about = " ".join(tool.description.split())[:_ABOUT] if tool else ""
    taken = [{"name": one.name, "type": one.type or "any", "required": one.required} for one in inputs]
    said = {"id": name, "name": _last(name), "kind": "tool", "about": about, "inputs": taken}
    return said | {"calls": calls, "good": good}

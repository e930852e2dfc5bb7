"""A picture of tools and plans: nodes and arcs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from vademecum.tools.fields import inputs_of
from vademecum.tools.hyperpath import DirectedHypergraph
from vademecum.tools.records import Group, Plan, Task, Tool, Trace
from vademecum.tools.relations import Relations, input_node, tool_of_input

MOST_ARCS = 20_000  # in a page, the strongest ones
_ABOUT = 600  # characters of a description


def graph_record(
    tools: Sequence[Tool], traces: Sequence[Trace], plan: Plan | None = None, groups: Mapping[str, Group] | None = None
) -> dict[str, Any]:
    """Return nodes, arcs between them by number, and the plan.

    Inputs are no nodes here: what provides one leads to the tool that takes it.
    """
    groups = groups or {}
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
    shown = _plan(plan, known, graph) if plan else None
    return {"nodes": nodes, "arcs": drawn, "tools": len(tools), "traces": len(traces), "plan": shown}


def _plan(plan: Plan, tools: Mapping[str, Tool], graph: DirectedHypergraph) -> dict[str, Any]:
    """The plan, each input with the task that provides it."""
    call = {task.id: task.call for task in plan.tasks}

    def giver(task: Task, name: str) -> str:
        arcs = [graph.arcs[arc] for arc in graph.into.get(input_node(task.call, name), ())]
        givers = {arc.tail[0] for arc in sorted(arcs, key=lambda arc: arc.weight) if arc.kind == "provides"}
        return next((before for before in task.depends_on if call.get(before) in givers), "")

    def inputs(task: Task) -> list[dict[str, Any]]:
        known = inputs_of(tools[task.call].input_schema) if task.call in tools else []
        required = {one.name for one in known if one.required}
        names = list(dict.fromkeys([*task.inputs, *sorted(required)]))
        return [{"name": name, "from": giver(task, name), "required": name in required} for name in names]

    return asdict(plan) | {"tasks": [asdict(task) | {"inputs": inputs(task)} for task in plan.tasks]}


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

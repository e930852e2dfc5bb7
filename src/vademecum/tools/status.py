"""Counts of tools, traces and chains, and how tools fared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

import numpy as np

from vademecum.tools.records import Group, ToolsStatus, Usage
from vademecum.tools.refresh import Known
from vademecum.tools.reliability import smoothed
from vademecum.tools.view import View

RECURRING = 10  # meta-capabilities listed


def status_of(known: Known, database: str) -> ToolsStatus:
    """Count tools, traces and learned groups."""
    view, metas = known.view, [group for group in known.groups.known.values() if group.kind == "meta"]
    live = [tool for number, tool in enumerate(view.tools) if view.live[number]]
    used = _usage(view)
    return ToolsStatus(
        len(live),
        dict(Counter(tool.server for tool in live).most_common()),
        len(view.traces),
        len({trace.session for trace in view.traces if trace.session}),
        sum(len(chain) > 1 for chain in view.graph.capabilities),
        len(metas),
        tuple(_with_parts(known, metas[:RECURRING])),
        used,
        int(sum(view.calls[view.number[tool.id]] == 0 for tool in live)),
        tuple(view.tools[number].id for number in view.pinned),
        database,
    )


def _with_parts(known: Known, metas: Sequence[Group]) -> list[Group]:
    """The meta-capabilities, and before them the capabilities that they contain, once each."""
    ids = dict.fromkeys(id_ for meta in metas for id_ in (*meta.members, meta.id) if id_ in known.groups.known)
    return [known.groups.known[id_] for id_ in ids]


def _usage(view: View) -> tuple[Usage, ...]:
    """The usage of each called tool, the most called first."""
    reliability = smoothed(view.good, view.calls)
    took: dict[int, list[float]] = {}
    last: dict[int, float] = {}
    for trace, chain in zip(view.traces, view.chains, strict=True):
        for call, tool in zip(trace.calls, chain, strict=True):
            last[tool] = max(last.get(tool, 0.0), trace.at)
            took.setdefault(tool, []).extend([call.latency_s] if call.latency_s else [])
    return tuple(
        Usage(
            view.tools[n].id,
            int(view.calls[n]),
            int(view.calls[n] - view.good[n]),
            float(reliability[n]),
            median(took[n]) if took[n] else 0.0,
            last[n],
        )
        for n in np.argsort(-view.calls, kind="stable").tolist()
        if view.calls[n]
    )

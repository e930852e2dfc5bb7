"""A neighbourhood of the graph, as JSON and as one page."""

from __future__ import annotations

from typing import Any

from vademecum.code.graph.surroundings import Surroundings
from vademecum.page_file import page_file


def graph_page(drawn: Surroundings, repo: str, depth: int = 2) -> str:
    """Return the neighbourhood, `depth` steps around the centre, as an HTML page."""
    title = f"{drawn.title} in {repo}" if drawn.title != repo else repo
    kinds = {node.kind for node in drawn.nodes if node.id in drawn.centre}
    start = {"path" if kinds == {"file"} else "symbol": drawn.title, "depth": str(depth)} if kinds else {}
    return page_file("graph", title, start, {"/graph/neighbourhood": {"title": drawn.title, **graph_record(drawn)}})


def graph_record(drawn: Surroundings) -> dict[str, Any]:
    """Return the nodes and edges as JSON-serialisable values."""
    return {
        "centre": [str(number) for number in drawn.centre],
        "left_out": drawn.left_out,
        "nodes": [
            {"id": str(n.id), "name": n.label, "short": n.name, "kind": n.kind, "path": n.path, "start": n.start_line,
             "end": n.end_line, "weight": round(drawn.weight[n.id], 4)}
            for n in drawn.nodes
        ],
        "edges": [
            {"from": str(e.source), "to": str(e.target), "relation": str(e.relation), "tier": str(e.tier), "line": e.line}
            for e in drawn.edges
        ],
    }  # fmt: skip

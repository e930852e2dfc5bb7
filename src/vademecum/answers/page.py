"""A neighbourhood of the graph as one page: a file that asks for nothing else, and works on a phone, in light and dark."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from vademecum.codebase.surroundings import Surroundings
from vademecum.drawing import force_script

_TEMPLATE = Path(__file__).with_name("page.html")


def graph_page(drawn: Surroundings, repo: str) -> str:
    """Return the page as HTML."""
    # `<` and `&` would end or begin something in the page; U+2028 a line in a script
    text = json.dumps(graph_record(drawn), ensure_ascii=True).replace("<", "\\u003c").replace("&", "\\u0026")
    title = html.escape(f"{drawn.title} in {repo}" if drawn.title != repo else repo)
    page = _TEMPLATE.read_text("utf-8").replace("{{force}}", force_script())
    return page.replace("{{title}}", title).replace("{{data}}", text)


def graph_record(drawn: Surroundings) -> dict[str, Any]:
    """Return what the page draws as JSON-serialisable values."""
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

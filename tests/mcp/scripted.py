"""A server of scripted tools: each says what it takes and gives, and refuses a call without what the others gave.

    python scripted.py CATALOGUE.json

CATALOGUE is a list of {name, description, takes, gives, free}. A value given for an input must be one that some call returned; for those
named in `free` any will do but "broken".
"""

from __future__ import annotations

import json
import sys
from typing import Any


def schema(names: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        catalogue = {one["name"]: one for one in json.load(file)}
    given: set[str] = set()
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result: dict[str, Any] = {}
        if request["method"] == "initialize":
            about = {"name": "scripted", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
        elif request["method"] == "tools/list":
            result = {"tools": [
                {"name": name, "description": one["description"], "inputSchema": schema(one["takes"]),
                 "outputSchema": schema(one["gives"])} for name, one in catalogue.items()
            ]}  # fmt: skip
        elif request["method"] == "tools/call":
            one, asked = catalogue[request["params"]["name"]], request["params"].get("arguments") or {}
            free = one.get("free", ())
            odd = [
                value for name, value in asked.items() if value not in given and (name not in free or value == "broken")
            ]
            made = {name: f"{name} number {4711 + len(given)}" for name in one["gives"]}
            given |= {*made.values()} if not odd else set()
            said = f"nothing gave {odd}" if odd else json.dumps(made)
            result = {"content": [{"type": "text", "text": said}], "isError": bool(odd)}
            result |= {} if odd else {"structuredContent": made}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

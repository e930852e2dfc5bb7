"""A server with the tools of a trace set, for `tools_gateway.py`: every call says a new value, or fails if it is told to.

python benchmarks/tools_server.py TOOLS.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    tools = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    made = 0
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result: dict[str, Any] = {}
        if request["method"] == "initialize":
            about = {"name": "set", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
        elif request["method"] == "tools/list":
            result = {"tools": tools}
        elif request["method"] == "tools/call":
            made += 1
            fails = "fail" in (request["params"].get("arguments") or {})
            said = "no such thing" if fails else f"made value-{made:06d}"
            result = {"content": [{"type": "text", "text": said}], "isError": fails}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()

"""Make sets of the tools of six public MCP servers and of our own questions about them, for `tools_search.py --bare`.

    python benchmarks/tools_servers.py --clones CLONES --into TRACES

CLONES is as for `tools_sets.py`. The questions (`tools_questions.tsv`) were written before any of them was asked, in words that
do not copy the descriptions; a question with several tools is answered by each of them. Nothing of the servers is part of the project.
"""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tools_sets import Files, Row, arguments, files_of, task, write

QUESTIONS = Path(__file__).with_name("tools_questions.tsv")


def tool(server: str, name: str, said: str, params: Iterable[str] = ()) -> Row:
    """A line of `tools.jsonl`."""
    return {
        "id": f"{server}/{name}",
        "name": name,
        "server": server,
        "desc": " ".join(said.split()),
        "params": [*params],
    }


def github(files: Files) -> list[Row]:
    """Each tool as the server's own tests keep it."""
    kept = [json.loads(text) for _, text in files("pkg/github/__toolsnaps__")]
    return [tool("github", one["name"], one["description"], one["inputSchema"].get("properties", {})) for one in kept]


def playwright(files: Files) -> list[Row]:
    """Each tool as the README lists it."""
    parts = re.findall(
        r"^- \*\*(\w+)\*\*\n(.*?)(?=^- \*\*|\n<!-- |\Z)", text_of(files, "README.md"), re.DOTALL | re.MULTILINE
    )
    said = [(name, re.search(r"Description: (.*)", part), part) for name, part in parts]
    return [
        tool("browser", name, found[1] if found else "", re.findall(r"^\s+- `(\w+)`", part, re.MULTILINE))
        for name, found, part in said
    ]


def devtools(files: Files) -> list[Row]:
    """Each tool as the reference lists it."""
    text = text_of(files, "docs/tool-reference.md")
    parts = re.findall(r"^### `(\w+)`\n(.*?)(?=^### |^## |\Z)", text, re.DOTALL | re.MULTILINE)
    said = [
        (name, re.search(r"\*\*Description:\*\*(.*?)(?:\*\*Parameters|\Z)", part, re.DOTALL), part)
        for name, part in parts
    ]
    return [
        tool(
            "devtools",
            name,
            (found[1] if found else part).replace("---", ""),
            re.findall(r"^- \*\*(\w+)\*\*", part, re.MULTILINE),
        )
        for name, found, part in said
    ]


def grafana(files: Files) -> list[Row]:
    """Each tool as the README's table lists it; a category stands between name and description."""
    rows = re.findall(r"^\|\s*`(\w+)`\s*\|\s*[^|]*\|\s*([^|]*)\|", text_of(files, "README.md"), re.MULTILINE)
    return [
        tool("grafana", name, said)
        for name, said in rows
        if said and not name.startswith(("mcp_server", "http_server"))
    ]


def notion(files: Files) -> list[Row]:
    """Each operation of the OpenAPI document."""
    found = []
    for methods in json.loads(text_of(files, "scripts/notion-openapi.json"))["paths"].values():
        for each in methods.values():
            if isinstance(each, dict) and "operationId" in each:
                content = each.get("requestBody", {}).get("content", {}).get("application/json", {})
                given = [one["name"] for one in each.get("parameters", ()) if "name" in one]
                given += content.get("schema", {}).get("properties", {})
                said = f"{each.get('summary', '')} {each.get('description', '')}"
                found.append(tool("notion", each["operationId"], said, given))
    return found


def reference(files: Files) -> list[Row]:
    """The servers for files, memory, git, time and web pages, as their sources register tools."""
    found = []
    for server in ("filesystem", "memory"):
        parts = re.split(r"registerTool\(\s*", text_of(files, f"src/{server}/index.ts"))[1:]
        for part in parts:
            head = part.partition("outputSchema")[0]
            said = re.search(r"description:\s*((?:\s*\"(?:[^\"\\]|\\.)*\"\s*\+?)+)", head)
            words = "".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", said[1])) if said else ""
            found.append(
                tool(server, part[1 : part.index('"', 1)], words, re.findall(r"^\s+(\w+):\s*z\.", head, re.MULTILINE))
            )
    for server in ("git", "time", "fetch"):
        text = text_of(files, f"src/{server}/src/mcp_server_{server}/server.py")
        names = dict(re.findall(r"(\w+) = \"(\w+)\"", text))
        for key, long, short in re.findall(
            r"Tool\(\s*name=\"?([\w.]+)\"?,\s*(?:title=[^\n]*\s*)?description=(?:\"\"\"(.*?)\"\"\"|\"(.*?)\")",
            text,
            re.DOTALL,
        ):
            name = key.removesuffix(".value").rpartition(".")[2]
            found.append(tool(server, names.get(name, name), long or short))
    return found


def text_of(files: Files, path: str) -> str:
    """The text of one file."""
    return next(files(path))[1]


SERVERS: Mapping[str, tuple[str, Callable[[Files], list[Row]]]] = {
    "reference": ("modelcontextprotocol/servers", reference),
    "github": ("github/github-mcp-server", github),
    "playwright": ("microsoft/playwright-mcp", playwright),
    "devtools": ("ChromeDevTools/chrome-devtools-mcp", devtools),
    "grafana": ("grafana/mcp-grafana", grafana),
    "notion": ("makenotion/notion-mcp-server", notion),
}


def main() -> None:
    args = arguments(__doc__)
    asked: dict[str, list[tuple[str, str]]] = defaultdict(list)
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            asked[row["set"]].append((row["question"], row["tools"]))
    for name, (repository, make) in SERVERS.items():
        tools = make(lambda under, r=repository: files_of(args.clones / r.replace("/", "+"), "HEAD", under))
        ids = {one["name"]: one["id"] for one in tools}
        known = [(text, [ids[each] for each in names.split(",") if each in ids]) for text, names in asked[name]]
        write(args.into / name, tools, [task(f"{name}{n}", *each) for n, each in enumerate(known) if each[1]])


if __name__ == "__main__":
    main()

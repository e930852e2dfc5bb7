"""Call edges against compilers, site by site and as the question that a user asks.

Each truth is a program that prints items [path, line where the callee begins, line of the called name, name, places]. A
place is [path, line, kind]; no place means a declaration elsewhere, null that the compiler knows none.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vademecum.code.graph.definitions import Definitions
from vademecum.code.graph.graph import Graph
from vademecum.code.graph.questions import callers
from vademecum.code.graph.terms import Node
from vademecum.code.languages.declarations import FUNCTIONS, LEAVES
from vademecum.code.languages.expression import chain

HERE = Path(__file__).parent
ASKED = 200  # functions that have callers and a name of their own, drawn evenly from each repository
ALL = 10_000  # callers shown
UNCLEAR = {"Parameter", "JSDocParameterTag", "BindingElement", "Var", "Local"}  # kinds of places that are no definition
SCRIPT = (".js", ".jsx", ".mjs", ".cjs")
ENDINGS = {
    "go": (".go",), "java": (".java",), "javascript": SCRIPT, "typescript": (".ts", ".tsx", ".mts", ".cts"),
    "rust": (".rs",), "php": (".php",), "ruby": (".rb", ".rake", ".thor", ".ru"), "c": (".c", ".h"), "cpp": (".cc", ".cpp", ".cxx", ".h", ".hpp", ".hh", ".hxx", ".inl", ".ipp", ".tpp"),
}  # fmt: skip
Place = tuple[str, int]


def command(language: str, root: Path, paths: Iterable[str], arguments: argparse.Namespace) -> list[str]:
    """Return the command that prints the truth about a repository."""
    if language == "go":
        return [arguments.go, "run", str(HERE / "go" / "main.go"), str(root)]
    if language == "java":
        return [
            arguments.java,
            str(HERE / "Javac.java"),
            str(root),
            *([arguments.classpath] if arguments.classpath else []),
        ]
    if language in {"javascript", "typescript"}:
        package = str(Path(arguments.typescript).resolve())
        return ["node", "--max-old-space-size=6000", str(HERE / "typescript.cjs"), package, str(root), *paths]
    return [arguments.python, str(HERE / "clang_sites.py"), str(root)]


def said(language: str, root: Path, paths: Iterable[str], arguments: argparse.Namespace) -> list[list[Any]]:
    """Return what a compiler says of every call, read from `--told` where that is given."""
    if arguments.told:
        told: list[list[Any]] = json.loads(arguments.told.read_text())
        return told
    done = subprocess.run(command(language, root, sorted(paths), arguments), capture_output=True, text=True, check=True)
    found: list[list[Any]] = json.loads(done.stdout)
    return found


def definition(place: list[Any]) -> bool:
    """Return whether a place is that of a definition."""
    return place[2] not in UNCLEAR


def asked_about(graph: Graph, truths: list[list[Any]]) -> dict[Node, set[Place]]:
    """Return functions with the places of their calls, without those that a call names beside others."""
    nodes = {node.id: node for node in graph.every() if node.kind in FUNCTIONS}
    by_line: dict[Place, Node] = {}
    for node in sorted(nodes.values(), key=lambda n: (n.start_line, -n.end_line)):
        for line in range(node.start_line, min(node.end_line, node.start_line + 6) + 1):
            by_line[node.path, line] = node
    found: dict[Node, set[Place]] = defaultdict(set)
    dropped: set[Node] = set()
    for path, _, line, name, places in truths:
        own = {by_line.get((place[0], place[1])) for place in places or ()} - {None}
        named = {node for node in own if node is not None and node.name == name}
        if len(named) == 1 and len(own) == 1:
            found[named.pop()].add((path, line))
        else:
            dropped |= {node for node in own if node is not None}
    return {node: sites for node, sites in found.items() if node not in dropped}


def holding(graph: Graph, definitions: Definitions, path: str, line: int, name: str) -> Node | None:
    """Return the declaration that makes a call: overloads are one, a field's value belongs to its class."""
    file = definitions.file(path)
    made = ((owner, at, chain(text)) for owner, at, text in file.refs.news)
    for owner, at, spelled in (*file.refs.calls, *made):
        if at == line and spelled.partition("/")[0].rpartition(".")[2] == name:
            return graph.nodes([file.around(file.refs.owners[owner]).id]).popitem()[1]
    around = next(iter(graph.at(path, line)), None)
    while around is not None and around.kind in LEAVES:
        around = graph.nodes([around.parent]).get(around.parent)
    return around


def who(graph: Graph, definitions: Definitions, truths: list[list[Any]]) -> dict[str, Any]:
    """Ask who calls drawn functions, and compare with every true call."""
    known = {node: at for node, at in asked_about(graph, truths).items() if len(graph.named(node.qualified)) == 1}
    drawn = random.Random(7).sample(sorted(known, key=lambda n: n.id), min(ASKED, len(known)))
    counts: Counter[str] = Counter()
    hits = there = 0
    for node in drawn:
        places = [(path, line) for path, line in known[node] if path in definitions]  # others are not in the index
        held = (holding(graph, definitions, path, line, node.name) for path, line in places)
        true = {holder for holder in held if holder is not None} - {node}
        if not true:
            continue
        counts["asked"] += 1
        answer = callers(
            graph,
            f"{node.path}:{node.qualified}" if len(graph.named(node.qualified)) > 1 else node.qualified,
            1,
            limit=ALL,
        )
        told = {(each.path, each.name) for each in answer.found}
        right = {each for each in true if (each.path, each.qualified) in told}
        hits, there = hits + len(right), there + len(true)
        missing = {each.path for each in true - right} - {each.path for each in answer.uncovered}
        if answer.verdict == "none":
            counts["false none"] += 1
        elif answer.verdict != "found":
            counts["unknown"] += 1
        else:
            counts["all" if right == true else "some" if right else "wrong"] += 1
        counts["with an unnamed file"] += bool(missing)
    return {**counts, "caller recall": round(hits / there, 4) if there else None}

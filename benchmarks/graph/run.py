"""How true the graph's edges are, how many it misses, and what it costs: against ground truth that is not ours.

    python benchmarks/graph/run.py trace NAME=CHECKOUT ... --python PYTHON     run each test suite, compare with what was called
    python benchmarks/graph/run.py jedi NAME=CHECKOUT ... --python PYTHON      compare call sites with jedi's `goto`
    python benchmarks/graph/run.py typescript NAME=CHECKOUT ... --typescript NPM_PACKAGE      compare with the compiler
    python benchmarks/graph/run.py compiler NAME=CHECKOUT ... --language LANGUAGE          compare with another compiler
    python benchmarks/graph/run.py speed NAME=CHECKOUT ...                     index time with and without, and traversal
    python benchmarks/graph/run.py traversal NAME=SYMBOLS ...                  traversal of made graphs with hubs
    python benchmarks/graph/run.py report PART.json ... [--tuned NAME,...]     join parts into results/graph-<commit>.json

Each of the first six writes its figures to `--out`. A call is judged at its site: (file, line, name called). Precision is
over sites where both sides name a definition of the repository, or the truth says that it is external; recall over
sites where the truth names a function or class of the repository. See docs/graph.md for what each truth cannot see.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))

import compilers

import report
from vademecum.code.graph.build import Files, snapshot_files
from vademecum.code.graph.definitions import Definitions
from vademecum.code.graph.edges import FileEdges, Found
from vademecum.code.graph.graph import Graph, graph_of
from vademecum.code.graph.meanings import Meaning, Value
from vademecum.code.graph.names import Names
from vademecum.code.graph.stored_graph import Records
from vademecum.code.graph.terms import TRUSTED, Node, Relation, Tier
from vademecum.code.languages.modules import Modules
from vademecum.code.languages.scopes import CLASSES
from vademecum.code.snapshot.repository import Opened
from vademecum.engine import Engine
from vademecum.protocols import Condition
from vademecum.storage.sqlite import SqliteStore

SITES = 3000  # asked of jedi for each repository, drawn evenly
# Index a directory with the graph, or without, as a search does that finds no index.
INDEX = """
import resource, sys, time
from vademecum.engine import Engine
engine = Engine.open(sys.argv[1])
began = time.perf_counter()
engine.codebase.index() if sys.argv[2] == "with" else engine.codebase.refresh()
print(time.perf_counter() - began)
print(sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""
Site = tuple[str, int, str]  # path, line, name called


class Logged(Found):
    """Keeps every reference by itself, where an edge keeps the first."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[Relation, Node, Tier, int, str]] = []
        self.spelled = ""  # what is being called

    def add(
        self, source: Node, relation: Relation, target: Node, tier: Tier, line: int, *, is_import: bool = False
    ) -> None:
        """Note it."""
        self.log.append((relation, target, tier, line, self.spelled.rpartition(".")[2]))
        super().add(source, relation, target, tier, line, is_import=is_import)


class SiteEdges(FileEdges):
    """Keeps the name each reference is written by."""

    found: Logged
    asked = ""

    def once_each(self, rows: Iterable[tuple[int, int, str]]) -> Iterable[tuple[int, int, str]]:
        """Every site, not only the first of each name."""
        return rows

    def _call(self, owner: int, line: int, spelled: str, meaning: Meaning) -> None:
        self.found.spelled = spelled
        super()._call(owner, line, spelled, meaning)
        self.found.spelled = ""

    def _meaning(self, owner: int, spelled: str) -> Meaning:
        self.asked = spelled  # what is made of it may be written by another name than its own
        return super()._meaning(owner, spelled)

    def _use(self, owner: int, line: int, value: Value | None, tier: Tier) -> None:
        is_new = not self.found.spelled and value is not None
        if is_new and value is not None:
            self.found.spelled = self.asked
        super()._use(owner, line, value, tier)
        self.found.spelled = "" if is_new else self.found.spelled


@dataclass
class Linked:
    """A repository with its graph."""

    graph: Graph
    files: Files
    definitions: Definitions

    def sites(self, endings: tuple[str, ...]) -> dict[Site, list[tuple[Tier, Node]]]:
        """Return what each call site leads to, by the name of what it leads to."""
        names = Names(self.definitions, Modules(self.definitions))
        found: dict[Site, list[tuple[Tier, Node]]] = defaultdict(list)
        for path in sorted(self.files):
            if path.endswith(endings):
                edges = SiteEdges(names, self.definitions.file(path))
                edges.found = log = Logged()
                edges.make()
                for relation, target, tier, line, name in log.log:
                    if relation is Relation.CALLS and name:
                        found[path, line, name].append((tier, target))
        return found


def linked(engine: Engine) -> Linked:
    """Index a repository and return its graph."""
    engine.codebase.index()
    repo = engine.codebase._repositories[0][0]  # noqa: SLF001
    loaded = repo.catalogue.load("worktree", repo.root.path)
    assert loaded is not None
    opened = Opened(repo, *loaded)
    graph = graph_of(opened, lambda *_: None)
    records = Records(repo.catalogue, opened.snapshot.id, repo.plan)
    files = snapshot_files(opened.view)
    return Linked(graph, files, Definitions(files, records, repo.catalogue.content))


@dataclass
class Judged:
    """How often each tier was right, wrong, and found what is there."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    there: int = 0
    hit: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: {"wrong": [], "missed": []})

    def note(self, kind: str, text: str) -> None:
        """Keep an example."""
        self.examples[kind].append(text)

    def figures(self) -> dict[str, Any]:
        """Return precision and recall, each with the counts they are made of."""
        trusted = {str(tier) for tier in TRUSTED}
        right, wrong = (sum(c[t] for t in trusted) for c in (self.right, self.wrong))
        hit = sum(self.hit[t] for t in trusted)
        tiers = {
            tier: {
                "right": self.right[tier], "wrong": self.wrong[tier],
                "precision": _share(self.right[tier], self.right[tier] + self.wrong[tier]),
                "recall": _share(self.hit[tier], self.there),
            }
            for tier in map(str, Tier)
        }  # fmt: skip
        return {
            "trusted_precision": _share(right, right + wrong), "trusted_recall": _share(hit, self.there), "judged": right + wrong,
            "there": self.there, "tiers": tiers,
        }  # fmt: skip


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def fits(graph: Graph, target: Node, path: str, line: int, name: str) -> bool:
    """Whether a definition of the truth, by file and line, is our node: its lines hold it, or a constructor stands for its class."""
    if target.path != path:
        return False
    if target.start_line - 2 <= line <= target.start_line + 2:
        return True
    nodes = graph.in_files([path])
    named = [n for n in nodes if n.start_line <= line <= n.end_line and n.qualified]
    inner = max(named, key=lambda n: n.start_line, default=None)
    if target.kind == "file":
        return inner is None  # what the file exports has no name
    if target.kind in CLASSES and inner is not None and inner.parent == target.id:
        return inner.name in {"__init__", "__new__", "__construct", "constructor", target.name}
    if inner is not None and inner.start_line == line:
        return inner.id == target.id
    # an overload, or a decorator: declared in the same place under the same name, and therefore one node
    around = next((n for n in nodes if n.id == target.parent), None)
    return (
        name in {target.name, f"{target.name}="}  # one word declares a reader and a writer
        and around is not None
        and (not around.qualified or around.start_line <= line <= around.end_line)
    )


def judge(graph: Graph, site: Site, ours: list[tuple[Tier, Node]], truth: list[list[Any]], judged: Judged) -> None:
    """Compare one call site. `truth` holds [path, line, ...] of definitions, an empty path for external ones."""
    own = [place for place in truth if place[0]]
    name = site[2]
    sure = [each for each in ours if each[0] is not Tier.GUESS]
    good = [each for each in ours if any(fits(graph, each[1], place[0], place[1], name) for place in own)]
    for tier, node in sure or ours:
        is_right = any(fits(graph, node, place[0], place[1], name) for place in own)
        (judged.right if is_right else judged.wrong)[str(tier)] += 1
        if not is_right and tier is not Tier.GUESS:
            judged.note("wrong", f"{site} {tier} {node.path}:{node.start_line} {node.qualified} truth {truth[:3]}")
    if own:
        judged.there += 1
        if good:
            judged.hit[str(min(tier for tier, _ in good))] += 1
        if not [each for each in good if each[0] is not Tier.GUESS]:
            judged.note("missed", f"{site} truth {own[:3]}")


def by_site(
    truths: Iterable[tuple[Site, list[Any] | None]], is_definition: Callable[[list[Any]], bool]
) -> Iterator[tuple[Site, list[Any]]]:
    """Yield each site with all that is true there, a line that calls one name twice being one site.

    Left out are sites of which the truth knows nothing, or names a parameter or a variable rather than a definition.
    """
    found: dict[Site, list[Any] | None] = {}
    for site, truth in truths:
        known = found.get(site, [])
        clear = truth is not None and all(map(is_definition, truth))
        found[site] = [*known, *(truth or ())] if clear and known is not None else None
    return ((site, truth) for site, truth in found.items() if truth is not None)


# -- jedi ----------------------------------------------------------------------------------------------------------


def python_sites(root: Path, paths: Iterable[str]) -> Iterator[tuple[Site, int, int]]:
    """Yield every call by a name, and where the name stands: line and column."""
    for path in sorted(paths):
        try:
            tree = ast.parse((root / path).read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                called = node.func
                name = called.id if isinstance(called, ast.Name) else called.attr
                assert called.end_lineno is not None
                assert called.end_col_offset is not None
                yield (path, called.lineno, name), called.end_lineno, called.end_col_offset - len(name)


def by_jedi(root: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Compare with jedi."""
    with Engine.open(root) as engine:
        ours = linked(engine)
        found = ours.sites((".py",))
        asked = list(python_sites(root, (p for p in ours.files if p.endswith(".py"))))
        asked = sorted(random.Random(7).sample(asked, min(SITES, len(asked))))
        sites = json.dumps([[site[0], line, column] for site, line, column in asked])
        command = [arguments.python, str(HERE / "jedi_sites.py"), str(root)]
        said = json.loads(subprocess.run(command, input=sites, capture_output=True, text=True, check=True).stdout)
        judged = Judged()
        truths = ((site, truth) for (site, _, _), truth in zip(asked, said, strict=True))
        for site, truth in by_site(truths, lambda place: place[3] in {"function", "class"}):
            judge(ours.graph, site, found.get(site, []), truth, judged)
        return finished(judged, arguments) | {"sites": len(asked)}


def by_typescript(root: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Compare with the TypeScript compiler."""
    arguments.language = "typescript"
    return by_compiler(root, arguments)


def by_compiler(root: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Compare with the compiler of a language, by site and by question."""
    endings = compilers.ENDINGS[arguments.language]
    with Engine.open(root) as engine:
        ours = linked(engine)
        found = ours.sites(endings)
        paths = (p for p in ours.files if p.endswith(endings) and not p.endswith(".d.ts"))
        said = compilers.said(arguments.language, root, paths, arguments)
        truths = [each for each in said if each[0].endswith(endings)]  # others of the build are not asked about
        judged = Judged()
        each = (
            ((path, start, name), places if places is None else places or [["", 0, ""]])
            for path, start, _, name, places in truths
        )
        for site, truth in by_site(each, compilers.definition):
            judge(ours.graph, site, found.get(site, []), truth, judged)
        return finished(judged, arguments) | {
            "sites": len(truths),
            "who": compilers.who(ours.graph, ours.definitions, truths),
        }


# -- traces --------------------------------------------------------------------------------------------------------

Function = tuple[str, str]  # path, qualified name


def qualified(name: str) -> str:
    """Return a code object's name as we qualify it: comprehensions and lambdas belong to what is around them."""
    return ".".join(part for part in name.split(".") if not part.startswith("<"))


@dataclass
class Ran:
    """What was called while the tests ran."""

    edges: dict[Function, set[Function]] = field(default_factory=lambda: defaultdict(set))  # by a call written there
    at: dict[tuple[Function, int], set[Function]] = field(
        default_factory=lambda: defaultdict(set)
    )  # by line, external as ("", name)


def run_tests(root: Path, arguments: argparse.Namespace) -> Ran:
    """Run a test suite under the tracer."""
    out = Path(tempfile.mkdtemp()) / "trace.jsonl"
    environment = os.environ | {
        "VADE_TRACE_ROOT": str(root), "VADE_TRACE_OUT": str(out),
        "PYTHONPATH": os.pathsep.join([str(HERE), str(root / "src"), str(root)]), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    command = [
        arguments.python,
        "-m",
        "pytest",
        "-p",
        "graph_trace",
        "-q",
        "--continue-on-collection-errors",
        "-p",
        "no:cacheprovider",
        "tests",
    ]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=550)
    print(done.stdout.splitlines()[-1] if done.stdout else done.stderr[-500:], file=sys.stderr)
    written = {(path, line): names for path, line, names in _written(root)}
    ran = Ran()
    for text in out.read_text("utf-8").splitlines():
        path, _, name, line, to, _, callee, through_c = json.loads(text)
        source = (path, qualified(name))
        target = (to, qualified(callee))
        ran.at[source, line].add(target)
        short = target[1].split(".")
        called = short[-2] if short[-1] in {"__init__", "__new__"} and len(short) > 1 else short[-1]
        if to and not through_c and called in written.get((path, line), ()):
            ran.edges[source].add(target)
    return ran


def _written(root: Path) -> Iterator[tuple[str, int, set[str]]]:
    names: dict[tuple[str, int], set[str]] = defaultdict(set)
    paths = [str(path.relative_to(root)) for path in root.rglob("*.py")]
    for site, line, _ in python_sites(root, paths):
        for at in range(site[1], line + 1):
            names[site[0], at].add(site[2])
    return ((path, line, found) for (path, line), found in names.items())


def by_trace(root: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Compare with what was called."""
    ran = run_tests(root, arguments)
    with Engine.open(root) as engine:
        graph = linked(engine).graph
        nodes = {node.id: node for node in graph.every()}
        function = {number: (node.path, node.qualified) for number, node in nodes.items()}
        below = subclasses(graph, nodes)
        judged = Judged()
        made: dict[Function, dict[Function, Tier]] = defaultdict(dict)
        for edge in graph.every_edge(tuple(Tier)):
            if edge.relation is Relation.CALLS and nodes[edge.source].path.endswith(".py"):
                source, target = function[edge.source], function[edge.target]
                means = meant(target, nodes[edge.target], below)
                for each in means:
                    made[source][each] = min(edge.tier, made[source].get(each, Tier.GUESS))
                _judge_edge(judged, ran, source, target, means=means, line=edge.line, tier=edge.tier)
        for source, targets in ran.edges.items():
            for target in targets:
                judged.there += 1
                tier = made[source].get(target)
                if tier is not None:
                    judged.hit[str(tier)] += 1
                if tier in {None, Tier.GUESS}:
                    judged.note("missed", f"{source} -> {target}")
        return finished(judged, arguments)


def _judge_edge(
    judged: Judged, ran: Ran, source: Function, target: Function, *, means: set[Function], line: int, tier: Tier
) -> None:
    """An edge is right when it was taken, wrong when its line called something else of that name and never this."""
    if means & ran.edges.get(source, set()):
        judged.right[str(tier)] += 1
        return
    seen = {callee for at in range(line, line + 4) for callee in ran.at.get((source, at), ())}
    name = target[1].rpartition(".")[2]
    same = {
        c for c in seen if c[1].rpartition(".")[2] == name or c[1].endswith((f"{name}.__init__", f"{name}.__new__"))
    }
    if same and not same & means:
        judged.wrong[str(tier)] += 1
        judged.note("wrong", f"{source}:{line} {tier} {target} called {sorted(same)[:3]}")


def subclasses(graph: Graph, nodes: dict[int, Node]) -> dict[Function, set[Function]]:
    """Return, by class, itself and every class below it."""
    direct: dict[Function, set[Function]] = defaultdict(set)
    for edge in graph.every_edge():
        if edge.relation in {Relation.INHERITS, Relation.IMPLEMENTS}:
            base, sub = nodes[edge.target], nodes[edge.source]
            direct[base.path, base.qualified].add((sub.path, sub.qualified))
    found: dict[Function, set[Function]] = {}
    for base in list(direct):
        queue, seen = [base], {base}
        while queue:
            new = direct.get(queue.pop(), set()) - seen
            seen |= new
            queue += new
        found[base] = seen
    return found


def meant(target: Function, node: Node, below: dict[Function, set[Function]]) -> set[Function]:
    """Return the functions that a call to a node may run: itself, what overrides it, a class's constructor or its bases'."""
    found = {target} | below.get(target, set())
    if node.kind == "class":
        above = {base for base, subs in below.items() if target in subs} | {target}
        found |= {(p, f"{q}.{each}") for p, q in above for each in ("__init__", "__new__")}
    return found


# -- speed ---------------------------------------------------------------------------------------------------------


def speed(root: Path, _: argparse.Namespace) -> dict[str, Any]:
    """Measure index time with the graph and without, alone and in a process that has to start, and traversals, in turn."""
    times: dict[str, list[float]] = {"without": [], "with": []}
    whole: dict[str, list[float]] = {"without": [], "with": []}
    busy: dict[str, list[float]] = {"without": [], "with": []}
    for _round in range(3):
        for kind, taken in times.items():
            os.environ["VADE_HOME"] = tempfile.mkdtemp()
            began = time.perf_counter()
            command = [sys.executable, "-c", INDEX, str(root), kind]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            whole[kind].append(time.perf_counter() - began)
            wall, cpu = map(float, done.stdout.split())
            taken.append(wall)
            busy[kind].append(cpu)
    with Engine.open(root) as engine:
        graph = linked(engine).graph
        nodes = [node for node in graph.every() if node.qualified]
        drawn = random.Random(7).sample(nodes, min(500, len(nodes)))
        walks = {name: _walks(graph, drawn, into=into) for name, into in (("callers", True), ("callees", False))}
        edges = len(graph.every_edge(tuple(Tier)))
    taken = {"index_s": _least(times), "process_s": _least(whole), "index_cpu_s": _least(busy)}
    return taken | {"symbols": len(nodes), "edges": edges, "depth_3_ms": walks}


def _least(taken: dict[str, list[float]]) -> dict[str, float]:
    """Return the least time of each kind, and how many times that without the other is."""
    least = {kind: round(min(times), 3) for kind, times in taken.items()}
    return least | {"ratio": round(least["with"] / least["without"], 3)}


def traversal(size: Path, _: argparse.Namespace) -> dict[str, Any]:
    """Measure traversals of a made graph: five edges from each of `size` symbols, to targets by Zipf's law (s = 1).

    So the most popular hundredth of all symbols has two fifths of all references, and most symbols have one or none.
    """
    count = int(size.name)
    drawn = random.Random(7)
    weights = list(accumulate(1 / rank for rank in range(1, count + 1)))
    places = list(range(count))
    drawn.shuffle(places)
    edges = {
        (source, places[rank], drawn.choice((2, 6)))
        for source in range(count)
        for rank in drawn.choices(range(count), cum_weights=weights, k=5)
    }
    store = SqliteStore(Path(tempfile.mkdtemp()) / "graph.db")
    store.upsert("edges", [(1, source, kind, target, 1, 1) for source, target, kind in sorted(edges)]).unwrap()
    where: list[Condition] = [("snapshot", "=", 1), ("kind", "in", [2, 6]), ("tier", "<=", 3)]
    asked = drawn.sample(range(count), 500)
    found: dict[str, Any] = {"symbols": count, "edges": len(edges)}
    for name, along in (("callers", ("target", "source")), ("callees", ("source", "target"))):
        taken = [_timed(lambda n=node, a=along: store.reach("edges", [n], a, where, 3)) for node in asked]
        found[name] = _percentiles(taken)
    return found


def _walks(graph: Graph, nodes: list[Node], *, into: bool) -> dict[str, float]:
    return _percentiles([
        _timed(lambda n=node: graph.reach([n.id], (Relation.CALLS, Relation.REFERENCES), 3, into=into)) for node in nodes
    ])  # fmt: skip


def _timed(step: Callable[[], object]) -> float:
    """Return how many milliseconds a step takes."""
    started = time.perf_counter()
    step()
    return 1000 * (time.perf_counter() - started)


def _percentiles(taken: list[float]) -> dict[str, float]:
    taken.sort()
    return {
        "p50": round(taken[len(taken) // 2], 3),
        "p95": round(taken[int(len(taken) * 0.95)], 3),
        "max": round(taken[-1], 3),
    }


def finished(judged: Judged, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the figures, and print examples where asked."""
    for kind, examples in judged.examples.items():
        for example in random.Random(1).sample(examples, min(arguments.examples, len(examples))):
            print(kind, example, file=sys.stderr)
    return judged.figures()


def join(arguments: argparse.Namespace) -> None:
    """Join parts into one result, those on repositories that were tuned on set apart."""
    tuned = set(arguments.tuned.split(","))
    result: dict[str, Any] = {"held_out": {}, "tuned_on": {}}
    for part in arguments.repositories:
        for kind, found in json.loads(Path(part).read_text("utf-8")).items():
            for name, figures in found.items():
                result["tuned_on" if name in tuned else "held_out"].setdefault(kind, {})[name] = figures
    print(report.write("graph", result))


def main() -> None:
    """Measure, and write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["trace", "jedi", "typescript", "compiler", "speed", "traversal", "report"])
    parser.add_argument("repositories", nargs="+", metavar="NAME=CHECKOUT")
    parser.add_argument("--tuned", default="", help="names of repositories whose errors were looked at, for the report")
    parser.add_argument("--python", default=sys.executable, help="with jedi, pytest and what the suites need")
    parser.add_argument("--typescript", default="typescript", help="folder of the npm package")
    parser.add_argument("--language", choices=list(compilers.ENDINGS))
    parser.add_argument(
        "--told", type=Path, help="what a truth program printed, where its command needs to know the repository"
    )
    parser.add_argument("--go", default="go", help="the go command")
    parser.add_argument("--java", default="java", help="a java of JDK 17 or newer")
    parser.add_argument("--classpath", default="", help="jars that the Java sources need")
    parser.add_argument("--examples", type=int, default=0, help="how many errors of each kind to print")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if os.sep in arguments.python:  # it is run in other directories; a link would lose its environment
        arguments.python = os.path.abspath(arguments.python)
    if arguments.what == "report":
        join(arguments)
        return
    os.environ["VADE_HOME"] = tempfile.mkdtemp()
    measures = {
        "trace": by_trace, "jedi": by_jedi, "typescript": by_typescript, "compiler": by_compiler, "speed": speed,
        "traversal": traversal,
    }  # fmt: skip
    measure = measures[arguments.what]
    found = {}
    for repository in arguments.repositories:
        name, _, place = repository.partition("=")
        found[name] = measure(Path(place).resolve(), arguments)
        print(name, json.dumps(found[name]), flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps({arguments.what: found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

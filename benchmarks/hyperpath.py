"""How long shortest hyperpaths take: from nothing, and after one change, on a random graph of a size named.

    python benchmarks/hyperpath.py [--nodes 5000] [--arcs 30000] [--changes 2000] [--rounds 7]

Tails have one to four nodes. After every change the cost of one node is asked for, so that nothing is put off; a tenth of
the changes takes an arc away and another tenth adds one. At the end the mended costs are compared with fresh ones.

Wall time counts what others do on the machine; `cpu` is what this process used, and says more where it was busy.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from typing import Any

import report
from vademecum.tools.directed import DirectedHypergraph
from vademecum.tools.hyperpath import Hyperpaths

READINGS = (("all", "sum"), ("all", "max"), ("any", "sum"))
SOURCES = 0.06  # share of the nodes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("nodes", 5000), ("arcs", 30_000), ("changes", 2000), ("rounds", 7)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for semantics, cost in READINGS:
        graph, names = drawn(asked.nodes, asked.arcs)
        row = {"semantics": semantics, "cost": cost, "size": graph.size}
        rows.append(row | measured(graph, names, semantics, cost, asked))
    heading = [name for name in rows[0] if name.endswith("ms") or name in {"semantics", "cost"}]
    print(report.table(heading, [[row[name] for name in heading] for row in rows]))
    print(report.write("hyperpath", {"nodes": asked.nodes, "arcs": asked.arcs, "rows": rows}))


def drawn(nodes: int, arcs: int) -> tuple[DirectedHypergraph, list[str]]:
    dice = random.Random(1)
    graph, names = DirectedHypergraph(), [f"v{number}" for number in range(nodes)]
    for _ in range(arcs):
        arc(graph, names, dice)
    return graph, names


def arc(graph: DirectedHypergraph, names: list[str], dice: random.Random) -> int:
    return graph.add(dice.sample(names, dice.choice((1, 1, 2, 2, 3, 4))), dice.choice(names), dice.uniform(0.1, 5))


def measured(
    graph: DirectedHypergraph, names: list[str], semantics: Any, cost: Any, asked: argparse.Namespace
) -> dict[str, Any]:
    sources = names[: int(SOURCES * len(names))]
    set_up, static, used = [], [], []
    for _ in range(asked.rounds):
        started = time.perf_counter()
        paths = Hyperpaths(graph, sources, semantics=semantics, cost=cost)
        made, cpu = time.perf_counter(), time.process_time()
        paths.cost(names[-1])
        set_up.append(1000 * (made - started))
        static.append(1000 * (time.perf_counter() - made))
        used.append(1000 * (time.process_time() - cpu))
    changes = changed(graph, names, paths, asked.changes)
    fresh = Hyperpaths(graph, sources, semantics=semantics, cost=cost)
    if paths.costs() != fresh.costs():
        raise SystemExit("mended costs differ from fresh ones")
    return {
        "reachable": len(fresh.costs()),
        "set_up_ms": statistics.median(set_up),
        "static_ms": statistics.median(static),
        "static_least_ms": min(static),
        "static_cpu_ms": statistics.median(used),
        "change_ms": statistics.median(changes),
        "change_p99_ms": statistics.quantiles(changes, n=100)[-1],
        "change_max_ms": max(changes),
    }


def changed(graph: DirectedHypergraph, names: list[str], paths: Hyperpaths, changes: int) -> list[float]:
    dice, there, times = random.Random(2), list(graph), []
    for _ in range(changes):
        place, kind, weight = dice.randrange(len(there)), dice.random(), dice.uniform(0.1, 5)
        started = time.perf_counter()
        if kind < 0.1:
            graph.remove(there.pop(place))
        elif kind < 0.2:
            there.append(arc(graph, names, dice))
        else:
            graph.reweigh(there[place], weight)
        paths.cost(names[-1])
        times.append(1000 * (time.perf_counter() - started))
    return times


if __name__ == "__main__":
    main()

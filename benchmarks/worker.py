"""One measured step in a process of its own; prints one JSON line. speed.py starts it, nobody else needs to.

python benchmarks/worker.py index|reopen|edits|query PEER TREE HOME [QUERIES]
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from peers import Semble, SembleVectors, Vademecum

# `vademecum-refresh` looks for edits before each answer, as `vade search` does; the other answers from the index as it is.
PEERS: dict[str, Callable[..., Semble | Vademecum]] = {
    "semble": Semble,
    "semble+vectors": SembleVectors,
    "vademecum": partial(Vademecum, refresh=False),
    "vademecum-refresh": Vademecum,
}
WARM_UP = 20
EDITS = 7


def memory() -> dict[str, float]:
    """Resident memory in MiB: now, of that anonymous (not a mapped file), and the peak; empty where /proc is missing."""
    status = Path("/proc/self/status")
    if not status.exists():
        return {}
    fields = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines() if ":" in line)
    names = {"rss_mib": "VmRSS", "anonymous_mib": "RssAnon", "peak_mib": "VmHWM"}
    return {name: round(int(fields[field].split()[0]) / 1024, 1) for name, field in names.items()}


def seconds(step: Callable[[], object]) -> float:
    """Time one call."""
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


def index(peer: Semble | Vademecum, tree: Path) -> dict[str, Any]:
    """Build the index, then write it: ours is on disk when `index` returns, semble's when `save` does. Then ours makes its graph."""
    built = seconds(lambda: peer.index(tree))
    saved = built + seconds(peer.save)
    linked = {"linked_s": saved + seconds(peer.link)} if isinstance(peer, Vademecum) else {}
    return {"index_s": built, "saved_s": saved, **linked, "chunks": peer.chunks(), **memory()}


def query(peer: Semble | Vademecum, tree: Path, queries: list[str]) -> dict[str, Any]:
    """Open the index, warm up on queries that are not timed, then time each query once."""
    opened = seconds(lambda: peer.index(tree))
    for text in queries[:WARM_UP]:
        peer.search(text, 10)
    times = sorted(seconds(partial(peer.search, text, 10)) * 1000 for text in queries[WARM_UP:])
    cuts = statistics.quantiles(times, n=100, method="inclusive") if len(times) > 1 else times * 99
    return {"open_s": opened, "p50_ms": cuts[49], "p95_ms": cuts[94], "chunks": peer.chunks(), **memory()}


def reopen(peer: Semble | Vademecum, tree: Path, queries: list[str]) -> dict[str, Any]:
    """Bring a stored index up to date, write it, and answer one query."""
    return index(peer, tree) | {"first_query_ms": seconds(lambda: peer.search(queries[0], 10)) * 1000}


def edits(peer: Semble | Vademecum, tree: Path) -> dict[str, Any]:
    """Edit one line several times in a process that stays, as an agent's server or `vade watch` does; the median."""
    peer.index(tree)
    edited = min(tree.rglob("*.py"))
    before = edited.read_bytes()
    assert isinstance(peer, Vademecum)
    peer.link()
    searchable, linked = [], []
    for number in range(EDITS):
        edited.write_bytes(before + b"\nedited = %d\n" % number)
        searchable.append(seconds(lambda: peer.index(tree)))
        linked.append(searchable[-1] + seconds(peer.link))
    edited.write_bytes(before)
    peer.index(tree)
    return {"saved_s": statistics.median(searchable), "linked_s": statistics.median(linked), **memory()}


def main() -> None:
    """Run the step named on the command line."""
    step, name, tree, home, *rest = sys.argv[1:]
    queries = json.loads(Path(rest[0]).read_text(encoding="utf-8")) if rest else []
    started = time.perf_counter()
    peer = PEERS[name](home=Path(home))
    facts = {"import_s": time.perf_counter() - started}
    if step in {"index", "edits"}:
        facts |= {"index": index, "edits": edits}[step](peer, Path(tree))
    else:
        facts |= {"query": query, "reopen": reopen}[step](peer, Path(tree), queries)
    peer.close()
    print(json.dumps(facts))


if __name__ == "__main__":
    main()

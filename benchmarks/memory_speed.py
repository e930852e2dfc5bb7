"""How fast memory is: recording, recalling among many events, and a first question in a new process.

    python benchmarks/memory_speed.py --data BENCH/memory --events 100000

The events are the turns and messages of the conversations, repeated under new ids and sessions until there are enough, with
one word of each turn replaced so that no two are the same; the questions are theirs. Next to the time on the wall stands the time of
the processor, which says more where others use the machine. As in the commands and servers of the product, one thread multiplies
matrices: several wait for each other where others use the machine, some 100 ms for the vector of one event.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import report
from memory_recall import beam, locomo
from vademecum.memory.extract import read
from vademecum.memory.ledger import GLOBAL, scope_of
from vademecum.memory.memory import Memory
from vademecum.memory.records import Event, Reading
from vademecum.plugins import load

MEASURED = 10_000  # events recorded with everything; the others are not read for facts, to save time


def many(data: Path, count: int) -> tuple[list[Event], list[str]]:
    """So many events, and questions."""
    conversations = [*locomo(data), *beam(data)]
    chance = random.Random(7)
    words = [f"word{n}" for n in range(20_000)]
    events: list[Event] = []
    while len(events) < count:
        for conversation in conversations:
            copy = len(events)
            for event in conversation.events:
                said = event.text.split()[:120]
                said[chance.randrange(len(said))] = chance.choice(words)
                session = f"{conversation.name}-{copy}-{event.session}"
                events.append(replace(event, id=f"{copy}-{event.id}", text=" ".join(said), session=session))
    return events[:count], [q.text for c in conversations for q in c.questions]


def opened(home: Path, embedder: Any, reader: Any = read) -> tuple[Memory, Any]:
    """A memory in a folder, durable as the product's."""
    store = load("store", "sqlite", path=home / "memory.db", durable=True)
    return Memory([scope_of(0, GLOBAL, "", home, store)], lambda: embedder, reader, time.time), store


def measure(data: Path, count: int, home: Path) -> dict[str, Any]:
    """Record, recall, recall again after one more event, and ask in a new process."""
    embedder = load("embedder", "static")
    events, questions = many(data, count)
    memory, store = opened(home, embedder)
    begin, worked = time.perf_counter(), time.process_time()
    memory.record_all(events[:MEASURED])
    recording, record_work = time.perf_counter() - begin, time.process_time() - worked
    others, other_store = opened(home, embedder, lambda _text, _role: Reading())
    others.record_all(events[MEASURED:])
    other_store.close()
    begin = time.perf_counter()
    one_by_one = 200
    for n in range(one_by_one):
        memory.record(f"one more thing, number {n}", session="single")
    single = time.perf_counter() - begin
    begin = time.perf_counter()
    memory.recall(questions[0])
    first = time.perf_counter() - begin
    chance = random.Random(11)
    asked = [chance.choice(questions) for _ in range(500)]
    times, works = [], []
    for question in asked:
        begin, worked = time.perf_counter(), time.thread_time()
        memory.recall(question)
        times.append(1000 * (time.perf_counter() - begin))
        works.append(1000 * (time.thread_time() - worked))
    memory.record("the very last thing that was said about walruses")
    begin, worked = time.perf_counter(), time.process_time()
    memory.recall("walruses")
    fresh, fresh_work = 1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - worked)
    store.close()
    memory, store = opened(home, embedder)
    begin = time.perf_counter()
    memory.recall(questions[1])
    reopened = 1000 * (time.perf_counter() - begin)
    store.close()
    return {
        "events": len(events),
        "record_per_second": round(MEASURED / recording),
        "record_per_cpu_second": round(MEASURED / record_work),
        "record_one_ms": round(1000 * single / one_by_one, 2),
        "first_arrays_s": round(first, 2),
        "recall_p50_ms": round(statistics.median(times), 2),
        "recall_p50_cpu_ms": round(statistics.median(works), 2),
        "recall_p95_ms": round(statistics.quantiles(times, n=20)[-1], 2),
        "recall_after_one_more_ms": round(fresh, 1),
        "recall_after_one_more_cpu_ms": round(fresh_work, 1),
        "recall_first_after_opening_ms": round(reopened, 1),
        "bytes_per_event": round(sum(f.stat().st_size for f in home.rglob("*") if f.is_file()) / len(events)),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Run, print, write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--into", type=Path, default=report.RESULTS, help="folder for the result")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="bench-memory-") as home:
        found = measure(arguments.data, arguments.events, Path(home))
    print(json.dumps(found, indent=1))
    print("written:", report.write("memory-speed", found, arguments.into).name)


if __name__ == "__main__":
    main()

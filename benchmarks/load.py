"""Fifty clients ask one server at once, while it is killed and started again: how long do they wait, what grows, what is lost?

    python benchmarks/load.py --repo CHECKOUT --seconds 600 --kills 3 [--recorded 16000]

Each client keeps one connection and asks one thing after another, without pause: searches, definitions, drawings,
recalls, and events to be kept. An event counts as acknowledged once its answer was read.

In the first part, four fifths of `--seconds`, the server is left alone: latencies and memory are of that part. What
memory grows by is fitted by least squares over its last two thirds: all of it, and apart what is the server's own and
what is pages of files that it has mapped, which the system takes back when it needs them. With `--recorded` so many events are kept
before it: a server that is new fills what it holds at hand, and finds how large its heaps have to be, for some 10,000 of them.

In the second it is killed (SIGKILL) so many times and started again, while clients go on, each time right after it
accepted index jobs. What it then has of its own, beside what it had before the first kill, says how much of the growth
was for more events to look through. At the end every acknowledged event must be there once, every accepted job must
have been done, the index must be whole, and searches must answer as they did before the first kill.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

import report

ALONE = 0.8  # of the time, before the first kill
WARM = 1 / 3  # of that, before memory is looked at
BLOCK = 30  # seconds of memory that are drawn together
PAGE = os.sysconf("SC_PAGE_SIZE")
WORDS = ("parse", "config", "error", "request", "file", "token", "cache", "test", "write", "path", "user", "index")


@dataclass
class Seen:
    """What clients saw."""

    took: dict[str, list[float]] = field(default_factory=dict)  # seconds by kind of question, while it was left alone
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    broken: int = 0  # connections that ended without an answer
    acknowledged: list[str] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)  # jobs


class Served:
    """The server under test, as a process that can be killed and started again at the same port."""

    def __init__(self, repo: Path, home: Path, port: int) -> None:
        self.command = [sys.executable, "-m", "vademecum", "serve", str(repo), "--port", str(port)]
        self.environ = os.environ | {"VADE_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
        self.log = (home / "server.log").open("ab")
        self.port = port

    def start(self) -> None:
        """Start it, and wait until it says where it listens."""
        self.process = subprocess.Popen(self.command, env=self.environ, stderr=subprocess.PIPE)
        assert self.process.stderr
        first = self.process.stderr.readline().decode()
        found = re.search(r":(\d+)/$", first.strip())
        assert found, first
        self.port = int(found[1])
        self.command[-1] = found[1]
        os.set_blocking(self.process.stderr.fileno(), False)

    def drain(self) -> None:
        """Keep what it logs from filling the pipe."""
        assert self.process.stderr
        self.log.write(self.process.stderr.read() or b"")

    def resident(self) -> tuple[int, int]:
        """Bytes of memory it has, and bytes of that which are pages of files."""
        every, mapped = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1:3]
        return int(every) * PAGE, int(mapped) * PAGE

    def end(self, how: signal.Signals) -> int:
        """End it, and return how it ended."""
        self.process.send_signal(how)
        self.drain()
        self.process.communicate(timeout=120)
        return self.process.returncode


class Connection:
    """One connection that is kept, and made again when it breaks."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Return status and body. Raises `OSError`, `EOFError` where the connection breaks."""
        try:
            if self.streams is None:
                self.streams = await asyncio.open_connection("127.0.0.1", self.served.port)
            return await self._ask(method, path, b"" if body is None else json.dumps(body).encode())
        except (OSError, EOFError, ValueError):
            self.close()
            raise

    async def _ask(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        assert self.streams
        reader, writer = self.streams
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        writer.write(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{kind}\r\n".encode() + body)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        return int(head.split(b" ", 2)[1]), await reader.readexactly(int(length[1])) if length else b""

    def close(self) -> None:
        """Let go of it."""
        if self.streams:
            self.streams[1].close()
        self.streams = None


def questions(
    chance: random.Random, symbols: Sequence[str], who: int, number: int, *, writing: bool
) -> tuple[str, str, str, Any]:
    """Return the next thing to ask: its kind, method, path and body."""
    words = " ".join(chance.sample(WORDS, 3))
    name = quote(chance.choice(symbols), safe="")
    kind = chance.choices(("search", "symbol", "drawing", "recall", "event"), (50, 15, 10, 10, 15 * writing))[0]
    note = f"client {who} says number {number}: the limit of {words.replace(' ', '_')} is {number}"
    return {
        "search": (kind, "GET", f"/v1/search?q={quote(words)}&k=10&snippet_lines=10", None),
        "symbol": (kind, "GET", f"/v1/symbols/{name}", None),
        "drawing": (kind, "GET", f"/v1/graph/neighbourhood?symbol={name}&depth=1", None),
        "recall": (kind, "GET", f"/v1/memory/recall?q={quote(words)}&k=5", None),
        "event": (kind, "POST", "/v1/events", {"text": note, "session": f"client {who}", "role": "user"}),
    }[kind]


async def client(
    served: Served, seen: Seen, who: int, symbols: Sequence[str], times: tuple[float, float], *, writing: bool
) -> None:
    """Ask until the time is over."""
    alone_until, until = times
    chance, connection, number = random.Random(who), Connection(served), 0
    while time.monotonic() < until:
        number += 1
        kind, method, path, body = questions(chance, symbols, who, number, writing=writing)
        started = time.monotonic()
        try:
            status, answer = await connection.ask(method, path, body)
        except (OSError, EOFError, ValueError):
            seen.broken += 1
            await asyncio.sleep(0.2)
            continue
        if started < alone_until:
            seen.took.setdefault(kind, []).append(time.monotonic() - started)
        seen.statuses[status] += 1
        if status == 201:
            seen.acknowledged += json.loads(answer)["ids"]
        elif (status >= 500 and status != 503) or status == 404:  # every name that is asked for came from the server
            seen.wrong.append(f"{status} {path} {answer[:200]!r}")
        elif status == 503:
            await asyncio.sleep(2)
    connection.close()


async def recorded(served: Served, seen: Seen, clients: int, count: int) -> None:
    """Keep so many events, before anything is measured."""

    async def client(who: int) -> None:
        connection, chance = Connection(served), random.Random(f"before {who}")
        for number in range(who, count, clients):
            text = f"client {who} said number {number}: the limit of {'_'.join(chance.sample(WORDS, 3))} was {number}"
            body = {"text": text, "session": f"client {who}", "role": "user"}
            status, answer = await connection.ask("POST", "/v1/events", body)
            assert status == 201, (status, answer[:300])
            seen.acknowledged += json.loads(answer)["ids"]
            served.drain()
        connection.close()

    await asyncio.gather(*(client(who) for who in range(clients)))


async def watch(served: Served, until: float) -> list[tuple[float, int, int]]:
    """Look at memory each second: when, bytes of its own, bytes of files that it has mapped."""
    seen = []
    while time.monotonic() < until:
        every, mapped = served.resident()
        seen.append((time.monotonic(), every - mapped, mapped))
        served.drain()
        await asyncio.sleep(1)
    return seen


async def killing(served: Served, seen: Seen, kills: int, until: float) -> None:
    """Kill it so many times, each time after it took two jobs more, and start it again."""
    for number in range(kills):
        at = time.monotonic() + max(0.0, (until - time.monotonic()) / (kills - number + 1))
        while time.monotonic() < at:
            served.drain()  # a server whose log nobody reads stands still once the pipe is full
            await asyncio.sleep(0.5)
        for full in (True, False):
            seen.accepted += await job(served, full=full)
        served.end(signal.SIGKILL)
        await asyncio.to_thread(served.start)


async def job(served: Served, *, full: bool) -> list[str]:
    """Ask for an index run, and return the job's id once it is accepted."""
    connection = Connection(served)
    status, body = await connection.ask("POST", "/v1/index", {"full": full})
    connection.close()
    return [json.loads(body)["id"]] if status == 202 else []


async def undone(served: Served, jobs: Sequence[str]) -> list[str]:
    """Wait for jobs to be over, and return those that are gone or were not done."""
    wrong = []
    for id_ in dict.fromkeys(jobs):
        state, until = "", time.monotonic() + 600
        while state in {"", "queued", "running"} and time.monotonic() < until:
            connection = Connection(served)
            status, body = await connection.ask("GET", f"/v1/index/jobs/{id_}")
            connection.close()
            state = json.loads(body)["state"] if status == 200 else f"{status}"
            await asyncio.sleep(0.5)
        wrong += [] if state == "done" else [f"{id_} {state}"]
    return wrong


async def probe(served: Served, path: str) -> Any:
    """Ask one thing, beside the clients."""
    connection = Connection(served)
    status, body = await connection.ask("GET", path)
    connection.close()
    assert status == 200, (path, status, body[:300])
    return json.loads(body)


async def measure(
    repo: Path, home: Path, clients: int, seconds: float, kills: int, before_that: int, *, writing: bool
) -> dict[str, Any]:
    """Run it all."""
    served, seen = Served(repo, home, 0), Seen()
    served.start()
    reference = "/v1/search?q=where%20are%20settings%20read&k=10"
    await probe(served, reference)
    symbols = [item["qualified"] for item in (await probe(served, "/v1/symbols?limit=1000"))["items"]]
    before = await probe(served, reference)
    await recorded(served, seen, clients, before_that)
    begun = time.monotonic()
    alone_until = begun + seconds * (ALONE if kills else 1.0)
    times = (alone_until, begun + seconds)
    asking = [asyncio.create_task(client(served, seen, who, symbols, times, writing=writing)) for who in range(clients)]
    memory = await watch(served, alone_until)
    await killing(served, seen, kills, begun + seconds)
    while not all(task.done() for task in asking):
        served.drain()
        await asyncio.sleep(0.2)
    await asyncio.gather(*asking)
    every, mapped = served.resident()
    found = await kept(served)
    left = await undone(served, seen.accepted)
    after = await probe(served, reference)
    status = (await probe(served, "/v1/index/status"))[0]
    ended = served.end(signal.SIGTERM)
    doctor = [sys.executable, "-m", "vademecum", "doctor", str(repo)]
    checked = await asyncio.to_thread(subprocess.run, doctor, env=served.environ, capture_output=True, check=False)
    return {
        "clients": clients,
        "cores": len(os.sched_getaffinity(0)),
        "recorded_before": before_that,
        "seconds": seconds,
        "seconds_alone": round(alone_until - begun, 1),
        "chunks": status["chunks"],
        "answered": sum(seen.statuses.values()),
        "per_second": round(sum(map(len, seen.took.values())) / (alone_until - begun), 1),
        "ms": {kind: spread(took) for kind, took in sorted(seen.took.items())},
        "ms_all": spread([each for took in seen.took.values() for each in took]),
        "statuses": {str(status): count for status, count in sorted(seen.statuses.items())},
        "wrong": seen.wrong[:5],
        "memory": growth([(at, own + mapped) for at, own, mapped in memory], begun + (alone_until - begun) * WARM),
        "memory_own": growth([(at, own) for at, own, _ in memory], begun + (alone_until - begun) * WARM),
        "memory_of_files": growth([(at, mapped) for at, _, mapped in memory], begun + (alone_until - begun) * WARM),
        "own_mib_since_the_last_kill": round((every - mapped) / 2**20, 1),
        "kills": kills,
        "broken_connections": seen.broken,
        "acknowledged": len(seen.acknowledged),
        "lost": len(set(seen.acknowledged) - set(found)),
        "twice": len(found) - len(set(found)),
        "jobs_accepted": len(set(seen.accepted)),
        "jobs_not_done": left,
        "answers_as_before": after["evidence"] == before["evidence"],
        "ended_by_signal_with": ended,
        "doctor": checked.returncode,
    }


async def kept(served: Served) -> list[str]:
    """Return the ids of all events that are there."""
    ids: list[str] = []
    cursor = ""
    while cursor is not None:
        page = await probe(served, f"/v1/events?limit=1000&cursor={cursor}")
        ids += [event["id"] for event in page["items"]]
        cursor = page["next"]
    return ids


def spread(took: Sequence[float]) -> dict[str, float]:
    """Return percentiles in milliseconds."""
    cuts = statistics.quantiles(took, n=100, method="inclusive") if len(took) > 1 else [*took, *took] * 50
    found = {"p50": cuts[49], "p90": cuts[89], "p99": cuts[98], "most": max(took, default=0.0)}
    return {"n": len(took), **{name: round(1000 * value, 1) for name, value in found.items()}}


def growth(memory: Sequence[tuple[float, int]], since: float) -> dict[str, Any]:
    """Return MiB at the beginning and the end, and how much is added in a minute once it is warm, with a 95 % interval."""
    warm = np.array([(at / 60, size / 2**20) for at, size in memory if at >= since]).reshape(-1, 2)
    slope, between = slope_of(warm)
    sizes = warm[:, 1] if len(warm) else np.zeros(1)
    return {
        "start_mib": round(memory[0][1] / 2**20, 1) if memory else 0.0,
        "warm_mib": round(float(sizes[0]), 1),
        "end_mib": round(float(sizes[-1]), 1),
        "most_mib": round(float(sizes.max()), 1),
        "mib_a_minute": round(slope, 2),
        "mib_a_minute_95": [round(each, 2) for each in between],
    }


def slope_of(seen: NDArray[np.float64]) -> tuple[float, tuple[float, float]]:
    """Return the slope of the line through (x, y) by least squares, and a 95 % interval.

    Memory goes up and down over many seconds, so what is left beside the line is drawn anew in blocks of `BLOCK` (moving block
    bootstrap, Künsch, *The jackknife and the bootstrap for general stationary observations*, 1989).

    >>> slope, (low, high) = slope_of(np.stack([np.arange(200.0), 3.0 * np.arange(200.0)], axis=1))
    >>> round(slope, 6), round(low, 6), round(high, 6)
    (3.0, 3.0, 3.0)
    """
    if len(seen) <= 2 * BLOCK:
        return 0.0, (-math.inf, math.inf)
    x, y = seen.T - seen.mean(axis=0)[:, None]
    slope = float(x @ y / (x @ x))
    beside, drawn = y - slope * x, np.random.default_rng(0)
    starts = drawn.integers(0, len(x) - BLOCK + 1, (2_000, -(-len(x) // BLOCK)))
    again = beside[(starts[:, :, None] + np.arange(BLOCK)).reshape(len(starts), -1)[:, : len(x)]]
    low, high = np.quantile(slope + again @ x / (x @ x), (0.025, 0.975)).tolist()
    return slope, (low, high)


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print, write the result; 1 where anything was lost or wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, required=True, help="a checkout to serve")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--recorded", type=int, default=0, help="events that are kept before it begins")
    parser.add_argument("--reading", action="store_true", help="keep no events: what memory grows by then is no data")
    parser.add_argument("--into", type=Path, default=report.RESULTS, help="folder for the result")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="bench-load-") as home:
        how = arguments.clients, arguments.seconds, arguments.kills, arguments.recorded
        found = asyncio.run(measure(arguments.repo, Path(home), *how, writing=not arguments.reading))
    print(json.dumps(found, indent=1))
    name = "load-reading" if arguments.reading else "load"
    print("written:", report.write(name, found, arguments.into).name)
    return (
        1
        if found["jobs_not_done"]
        or found["lost"]
        or found["twice"]
        or found["wrong"]
        or found["doctor"]
        or not found["answers_as_before"]
        else 0
    )


if __name__ == "__main__":
    sys.exit(main())

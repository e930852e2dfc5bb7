"""What the shared database costs and finds, beside the embedded default, on the same trees in the same run.

    python benchmarks/postgres.py TREE... [--url URL] [--questions 200] [--clients 8]

Each tree is indexed twice, into files and into the database; `--url` names one with its tables (`vade db upgrade`), else a server of the
development dependency is started for the run. Questions are names and first lines of pieces drawn at random. Reported are seconds to index
and to publish, bytes by table and for a million pieces, milliseconds of a question and questions a second, whether answers from the database are
those from files, and what the server's three rankings find of what computing everything finds: words and vectors, the latter with and without the graph,
and under a filter that about 2 % of the pieces pass, by the graph read on until enough passed, by the graph alone, and as the server is asked; and how
long the graph takes to build over what is there. Sizes and recall do not depend on the machine; times want a quiet one.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

import report
from vademecum import config
from vademecum.engine import Engine
from vademecum.index.bm25 import CODE, bm25f, field_norms, term_keys
from vademecum.index.query import plan_query
from vademecum.storage.postgres import searcher as server_side
from vademecum.storage.postgres.migrate import upgrade
from vademecum.storage.postgres.searcher import PostgresSearch
from vademecum.types import Bm25f, Hit, Passage, Scope

SEED = 20_26
DEPTHS = (10, 100)


@contextmanager
def database(url: str) -> Iterator[str]:
    """A database with all tables."""
    if url:
        yield url
        return
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from postgres_servers import contrib, serve, wheel_bin

    binaries = wheel_bin()
    assert binaries, "make install, or name a database with --url"
    with serve(binaries, quick=False, extensions=contrib()) as server:
        own = server.create()
        upgrade(own)
        yield own


def opened(trees: Sequence[str], home: str, **settings: Any) -> Engine:
    """An engine on the trees, its data in a place of its own."""
    arguments = {"storage.home": home} | {key.replace("__", "."): value for key, value in settings.items()}
    return Engine.open(*trees, settings=config.load(None, arguments=arguments))


def timed(step: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds a step took, and what it returned."""
    begun = time.perf_counter()
    found = step()
    return time.perf_counter() - begun, found


def worked(url: str) -> dict[str, float]:
    """Return the processor seconds so far of this process with those it started and waited for, and of the server if it is of this machine."""
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = {"here": sum(used.ru_utime + used.ru_stime for used in own)}
    with psycopg.connect(url) as connection, suppress(psycopg.Error, OSError):
        [(said,)] = connection.execute("SELECT pg_read_file('postmaster.pid')").fetchall()
        top = said.split()[0]
        ticks = sum(sum(map(int, fields[11:15])) for fields in _processes() if fields[1] == top)
        [mine] = [fields for fields in _processes() if fields[-1] == top]
        seconds["server"] = (ticks + sum(map(int, mine[11:15]))) / os.sysconf("SC_CLK_TCK")
    return seconds


def _processes() -> Iterator[list[str]]:
    """Yield what Linux says of each process from its state on, and its number last."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            yield [*file.read_text().rpartition(")")[2].split(), file.parent.name]


def questions_of(engine: Engine, count: int) -> list[str]:
    """Return names and first lines of documented pieces, drawn at random."""
    found = []
    for repo, _ in engine.codebase._repositories:  # noqa: SLF001 - pieces are below the public surface
        rows = repo.catalogue.store.scan("chunks", columns=("name", "summary")).unwrap()
        found += [summary or name for name, summary in rows if len(summary.split()) > 3 or len(name) > 5]
    return random.Random(SEED).sample(sorted(set(found)), min(count, len(set(found))))


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return median and 95th percentile in milliseconds."""
    return {f"p{p}": round(1_000 * float(np.percentile(values, p)), 2) for p in (50, 95)}


def sizes(url: str) -> dict[str, int]:
    """Return the bytes of each table with its indexes."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = "
            "current_schema()::regnamespace ORDER BY 2 DESC"
        ).fetchall()
        return {name: size for name, size in rows if size > 100_000}


def words_found(engine: Engine, server: PostgresSearch, questions: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the share of the best pieces by BM25F over arrays that the server's BM25F returns.

    The server counts a content once, however many paths hold it; the arrays count each path. So both ways of counting are compared.
    """
    [(repo, _)] = engine.codebase._repositories[:1]  # noqa: SLF001
    view = repo.catalogue.load(*repo.place)[1]
    once = (view.copies > 0).astype(np.int64)
    norms = field_norms(CODE, view.lengths, (view.lengths * once[:, None]).sum(axis=0) / once.sum())
    ways = {"each content once": (once, norms), "each path": (view.copies, view.norms)}
    found: dict[str, dict[int, list[float]]] = {name: {depth: [] for depth in DEPTHS} for name in ways}
    for question in questions:
        plan = plan_query(question)
        keys = term_keys(plan.terms + plan.joined)
        if not len(keys):
            continue
        constants = Bm25f(CODE.k1, CODE.weights, CODE.b)
        hits = server.words(keys.view(np.int64).tolist(), Scope(), max(DEPTHS), constants).unwrap()
        for name, (copies, own) in ways.items():
            scores = bm25f(CODE, view.segments, copies, own, keys, len(plan.terms)).score[view.row_chunk]
            for depth in DEPTHS:
                least = np.sort(scores)[::-1][: min(depth, int((scores > 0).sum()))]
                if len(least):  # those that tie with the last are as right as it is
                    found[name][depth].append(sum(hit.score >= least[-1] * 0.999 for hit in hits[:depth]) / len(least))
    return {
        name: {f"recall@{depth}": round(float(np.mean(shares)), 4) for depth, shares in found[name].items()}
        for name in ways
    }


def meaning_found(server: PostgresSearch, embedder: Any, questions: Sequence[str], scope: Scope) -> dict[str, Any]:
    """Return what each way of asking finds of what comparing one by one finds, and how long it takes."""
    vectors = embedder.embed([Passage(question) for question in questions], "query").unwrap()
    times: dict[str, list[float]] = {name: [] for name in WAYS}
    found: dict[str, dict[int, list[float]]] = {name: {depth: [] for depth in DEPTHS} for name in WAYS}
    for vector in vectors:
        right: list[Hit] = []
        for name, way in WAYS.items():  # the exact one first
            with way():
                took, hits = timed(lambda v=vector: server.near(v, embedder.name, scope, max(DEPTHS)).unwrap())
            right = right or hits
            times[name].append(took)
            for depth in DEPTHS:
                least = right[:depth]
                if least:
                    share = sum(hit.score >= least[-1].score - 1e-6 for hit in hits[:depth]) / len(least)
                    found[name][depth].append(share)
    return {
        name: {f"recall@{depth}": round(float(np.mean(shares)), 4) for depth, shares in found[name].items()}
        | {"milliseconds": spread(times[name])}
        for name in WAYS
    }


@contextmanager
def choosing(below: int, *, on: bool = True) -> Iterator[None]:
    """Have vectors of fewer pieces than this compared one by one, whatever the filter; the graph is read `on` or is not."""
    before = server_side.EXACT_BELOW, server_side._is_narrow, server_side.SCAN  # noqa: SLF001 - the choice that is measured
    server_side.EXACT_BELOW, server_side._is_narrow = below, lambda _: False  # noqa: SLF001
    server_side.SCAN = "strict_order" if on else "off"
    try:
        yield
    finally:
        server_side.EXACT_BELOW, server_side._is_narrow, server_side.SCAN = before  # noqa: SLF001


WAYS: dict[str, Callable[[], Any]] = {
    "one by one": lambda: choosing(10**12),
    "graph, read on": lambda: choosing(0),
    "graph alone": lambda: choosing(0, on=False),
    "as it is asked": nullcontext,
}


def graph_built(url: str) -> float:
    """Return the seconds in which the graph over all vectors is built anew."""
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute("SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%% hnsw %%' AND tablename = %s",
                                  ["derived_embeddings"]).fetchall()  # fmt: skip
        return sum(timed(lambda n=name: connection.execute(f"REINDEX INDEX {n}"))[0] for (name,) in rows)


def rare_scope(engine: Engine) -> tuple[Scope, float]:
    """Return the language that about 2 % of the pieces are written in, and its share."""
    counts: dict[str, int] = {}
    for status in engine.codebase.status():
        for language, files in status.languages.items():
            counts[language] = counts.get(language, 0) + files
    total = sum(counts.values())
    name, files = min(counts.items(), key=lambda item: (abs(np.log(item[1] / total / 0.02)), item[0]))
    return Scope(languages=(name,)), files / total


def asked(engine: Engine, questions: Sequence[str], scope: str, **filters: Any) -> tuple[list[float], list[list[str]]]:
    """Return the seconds of each question, and the places it found."""
    times, places = [], []
    for question in questions:
        took, answer = timed(lambda q=question: engine.codebase.search(q, scope=scope, refresh=False, **filters))
        times.append(took)
        places.append(
            [f"{item.path}:{item.start_line}" for item in answer.evidence]
        )  # a database may name the repository by its origin
    return times, places


def files_of(places: Sequence[str]) -> list[str]:
    """Return the files of places; a result may begin at another line where what lies beside it is joined to it."""
    return [place.rpartition(":")[0] for place in places]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", metavar="TREE")
    parser.add_argument("--url", default="", help="a database with its tables; one of its own unless given")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--clients", type=int, default=8)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, database(given.url) as url:
        files = opened(given.trees, f"{folder}/files")
        shared = opened(given.trees, f"{folder}/shared", storage__provider="postgres", storage__url=url)
        seconds, work = {}, {}
        for name, engine in (("index into files", files), ("index into the database, and publish", shared)):
            before = worked(url)
            seconds[name] = timed(engine.codebase.index_all)[0]
            work[name] = {of: round(value - before[of], 1) for of, value in worked(url).items()}
        pieces = sum(status.chunks for status in files.codebase.status())
        questions = questions_of(files, given.questions)
        own, expected = asked(files, questions, "repos")
        same, got = asked(shared, questions, "repos")
        served, whole = asked(shared, questions, "shared")
        server, embedder = PostgresSearch(url), shared.codebase._repositories[0][0].embedder()  # noqa: SLF001
        with ThreadPoolExecutor(given.clients) as pool:
            ask = lambda q: shared.codebase.search(q, scope="shared")  # noqa: E731 - a line for the pool
            took, _ = timed(lambda: list(pool.map(ask, questions)))
        narrow, share = rare_scope(files)
        filtered = {"languages": list(narrow.languages), "kind": "all"}
        few = {name: spread(asked(engine, questions, scope, **filtered)[0])
               for name, engine, scope in (("files", files, "repos"), ("scope shared", shared, "shared"))}  # fmt: skip
        meaning = {
            "meaning": meaning_found(server, embedder, questions, Scope()),
            f"meaning, a filter of {share:.1%}": meaning_found(server, embedder, questions, narrow),
        }
        tables = sizes(url)
        disk = sum(path.stat().st_size for path in Path(folder, "files").rglob("*") if path.is_file())
        result = {
            "pieces": pieces, "pieces a second": {name: round(pieces / value) for name, value in seconds.items()},
            "questions": len(questions), "seconds": {name: round(value, 1) for name, value in seconds.items()},
            "bytes": {"files": disk, "database": tables},
            "bytes of a million pieces": {"files": disk * 1_000_000 // pieces, "database": sum(tables.values()) * 1_000_000 // pieces},
            "processor seconds": work, f"milliseconds of a question, a filter of {share:.1%}": few,
            "milliseconds of a question": {"files": spread(own), "database, arrays here": spread(same), "scope shared": spread(served)},
            "questions a second, scope shared": {f"{given.clients} clients": round(len(questions) / took, 1)},
            "answers from the database as from files": round(float(np.mean([a == b for a, b in zip(expected, got, strict=True)])), 4),
            "first file of scope shared among those of the ten": round(
                float(np.mean([bool(b) and files_of(b)[0] in files_of(a) for a, b in zip(expected, whole, strict=True) if a])), 4
            ),
            "words": words_found(shared, server, questions) if len(given.trees) == 1 else "of one tree only",
        } | meaning  # fmt: skip
        result["seconds"]["the graph over vectors, built anew"] = round(graph_built(url), 1)
        # which shares what has an origin
        other = opened(given.trees, f"{folder}/other", storage__provider="postgres", storage__url=url)
        before = worked(url)
        result["seconds"]["another machine indexes what is there"] = round(timed(other.codebase.index_all)[0], 1)
        work["another machine indexes what is there"] = {
            of: round(value - before[of], 1) for of, value in worked(url).items()
        }
        for name, value in result.items():
            print(f"{name}: {value}", flush=True)
        print(report.write("postgres", result))
        for engine in (files, shared, other):
            engine.close()


if __name__ == "__main__":
    main()

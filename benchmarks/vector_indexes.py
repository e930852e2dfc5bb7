"""What an index of vectors finds of what is nearest, with and without filters, and how fast it takes and gives points.

    python benchmarks/vector_indexes.py TREE... [--indexes lancedb,lancedb-hnsw,chroma,qdrant] [--qdrant URL] [--times]

Every piece of the trees is embedded by the built-in embedder, as indexing does. Questions are one-sentence summaries of pieces drawn
at random, embedded as questions are; what is right is what computing every product gives (`exact`). Filters are taken from the data:
the rarest language and the smallest directory that hold about as large a share of the pieces as their name says. Recall does not
depend on the machine; times do: `--times` on a quiet one only.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import report
from vademecum import config
from vademecum.code.search.dense_search import points_of
from vademecum.code.snapshot.catalogue import WANTED, Placement
from vademecum.engine import Engine
from vademecum.matching import Filter, Point, places
from vademecum.plugins import load
from vademecum.protocols import VectorIndex
from vademecum.types import Passage

DEPTHS = (10, 500)  # what a person looks at; what ranking takes
SHARES = (0.5, 0.1, 0.02, 0.002)
SEED = 20_26


@dataclass(frozen=True)
class Ask:
    """A question's vector, and under which filter it is asked."""

    vector: np.ndarray
    where: Filter


def pieces_of(trees: Sequence[str], home: str) -> tuple[list[Point], Any]:
    """Index trees and return every piece as a point, and the embedder."""
    points: list[Point] = []
    settings = config.load(None, arguments={"storage.home": home})
    with Engine.open(*trees, settings=settings) as engine:
        engine.codebase.index_all()
        for repo, _ in engine.codebase._repositories:  # noqa: SLF001 - what an index is given is below the public surface
            [snapshot] = repo.catalogue.snapshots()
            files = repo.catalogue.store.scan("files", [("snapshot", "=", snapshot.id)], ("path", "blob")).unwrap()
            placed = [
                Placement("", path, blob, snapshot.label, snapshot.branch, WANTED) for path, blob in files if blob
            ]
            points += points_of(repo.catalogue, repo.name, placed, with_tokens=False)
        return points, repo.embedder()


def narrowings(points: Sequence[Point]) -> dict[str, tuple[Filter, float]]:
    """Return filters by name, each with the share of the points that it lets pass; the nearest there is to each wanted share."""
    languages = Counter(point.payload.language for point in points)
    below = Counter(place for point in points for place in places(point.payload.path) if place != point.payload.path)
    found: dict[str, tuple[Filter, float]] = {"none": (Filter(), 1.0)}
    for kind, counts in (("language", languages), ("directory", below)):
        for share in SHARES:
            name, count = min(counts.items(), key=lambda item: (abs(np.log(item[1] / len(points) / share)), item[0]))
            where = Filter(languages=(name,)) if kind == "language" else Filter(paths=(name,))
            found[f"{kind}, about {share:.1%}"] = where, count / len(points)
    return found


def indexes(names: Sequence[str], dim: int, url: str, folder: str) -> Iterator[tuple[str, VectorIndex]]:
    """Open empty indexes by name."""
    for name in names:
        kind, _, form = name.partition("-")
        more: dict[str, Any] = {"url": url} if kind == "qdrant" else {"directory": Path(folder, name)}
        more |= {"index_from": 1 if form else 10**9} if kind == "lancedb" else {}
        yield name, load("vectors", kind, collection=f"benchmark-{os.getpid()}", model="benchmark", dim=dim, **more)


def recalls(index: VectorIndex, asks: Sequence[Ask], right: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the mean share of the nearest that an index finds, at each depth."""
    found = {depth: [] for depth in DEPTHS}
    for ask, best in zip(asks, right, strict=True):
        ids = [near.payload.id for near in index.nearest(ask.vector, max(DEPTHS), ask.where).unwrap()]
        for depth in DEPTHS:
            if best[:depth]:
                found[depth].append(len(set(ids[:depth]) & set(best[:depth])) / len(best[:depth]))
    return {f"recall@{depth}": round(float(np.mean(shares)), 4) for depth, shares in found.items()}


def milliseconds(index: VectorIndex, asks: Sequence[Ask]) -> float:
    """Return the median time of a question, for as many results as ranking takes."""
    taken = []
    for ask in asks:
        begun = time.perf_counter()
        index.nearest(ask.vector, max(DEPTHS), ask.where).unwrap()
        taken.append(time.perf_counter() - begun)
    return round(1_000 * float(np.median(taken)), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", metavar="TREE")
    parser.add_argument("--indexes", default="lancedb,lancedb-hnsw,chroma")
    parser.add_argument("--qdrant", default="http://127.0.0.1:6333", metavar="URL")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--times", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        points, embedder = pieces_of(given.trees, folder)
        print(f"{len(points)} pieces, {embedder.name}, {embedder.dim} dimensions", flush=True)
        exact = load("vectors", "exact", collection="truth", model=embedder.name, dim=embedder.dim)
        exact.upsert(points).unwrap()
        drawn = random.Random(SEED).sample(points, given.questions)
        said = [
            Passage(point.payload.text.strip().partition("\n")[0] + " " + " ".join(point.payload.symbols))
            for point in drawn
        ]
        vectors = embedder.embed(said, "query").unwrap()
        vectors = vectors[np.any(vectors, axis=1)]  # a question without a word that is known is near to nothing
        filters = narrowings(points)
        asks = {name: [Ask(vector, where) for vector in vectors] for name, (where, _) in filters.items()}
        right = {
            name: [[near.payload.id for near in exact.nearest(a.vector, max(DEPTHS), a.where).unwrap()] for a in own]
            for name, own in asks.items()
        }
        result: dict[str, Any] = {
            "pieces": len(points), "embedder": embedder.name, "dim": embedder.dim, "questions": len(vectors),
            "passing": {name: round(share, 4) for name, (_, share) in filters.items()}, "indexes": {},
        }  # fmt: skip
        for name, index in indexes(given.indexes.split(","), embedder.dim, given.qdrant, folder):
            begun = time.perf_counter()
            index.upsert(points).unwrap()
            index.activate().unwrap()
            took = time.perf_counter() - begun
            own: dict[str, Any] = {what: recalls(index, asks[what], right[what]) for what in filters}
            if given.times:
                own["points a second"] = round(len(points) / took)
                own["milliseconds"] = {what: milliseconds(index, asks[what]) for what in filters}
            result["indexes"][name] = own
            for what in filters:
                print(f"{name:14} {what:26} {own[what]}", flush=True)
            index.delete(Filter()).unwrap()
            index.close()
    print(report.write("vector-indexes", result))


if __name__ == "__main__":
    main()

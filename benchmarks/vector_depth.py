"""What ranking loses when only the nearest pieces have a part in meaning, as an index of vectors outside gives them.

    python benchmarks/vector_depth.py --data BENCH/code --repos CHECKOUTS [--only gin,chi]

Each question is asked with the cosines of all pieces, and with those of the nearest 100, 200, 500 and 1,000 alone. These questions are
those that the constants of ranking were chosen on: the figures compare depths, and forecast nothing.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import report
from metrics import Hit, mean_over_repositories, semble_ndcg
from quality import find_trees, load
from vademecum import config
from vademecum.code.search.signals import Floats
from vademecum.code.snapshot.repository import DenseSearch
from vademecum.code.snapshot.view import View
from vademecum.engine import Engine
from vademecum.types import Query

DEPTHS = (0, 100, 200, 500, 1_000)  # 0 for all pieces


class Nearest(DenseSearch):
    """Stands where an index outside is asked, and gives the nearest pieces by the arrays' own cosines."""

    depth = 0

    def cosines(self, view: View, vector: Floats, query: Query, mask: Any) -> tuple[Floats, str]:
        """Return the cosines of a repository's nearest pieces; 0 for all others."""
        found, note = super().cosines(view, vector, query, mask)
        return self._cut(found) if self.depth else found, note

    def _cut(self, cosines: Floats) -> Floats:
        if len(cosines) <= self.depth:
            return cosines
        least = np.partition(cosines, -self.depth)[-self.depth]
        return np.where(cosines >= least, cosines, 0).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    questions = load(given.data, "files", [name for name in given.only.split(",") if name])
    trees = find_trees(given.repos, "files", questions)
    nearest = Nearest()
    found: dict[int, dict[str, list[float]]] = {depth: {} for depth in DEPTHS}
    pieces: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as home:
        for repo, asked in questions.items():
            settings = config.load(None, arguments={"storage.home": home})
            with Engine.open(trees[repo], settings=settings) as engine:
                held = engine.codebase._repositories  # noqa: SLF001 - no setting chooses such an index
                held[:] = [(replace(own, dense=nearest), prefixes) for own, prefixes in held]
                pieces[repo] = engine.codebase.index().chunks
                for depth in DEPTHS:
                    nearest.depth = depth
                    found[depth][repo] = [
                        semble_ndcg(
                            [
                                Hit(e.path, e.start_line, e.end_line)
                                for e in engine.codebase.search(q.query, refresh=False).evidence
                            ],
                            q.targets,
                        )
                        for q in asked
                    ]
            print(repo, pieces[repo], {d: round(float(np.mean(by[repo])), 4) for d, by in found.items()}, flush=True)
    means = {str(depth or "all"): round(mean_over_repositories(by), 4) for depth, by in found.items()}
    print(means)
    result = {"ndcg@10": means, "pieces": pieces, "questions": sum(map(len, questions.values()))}
    print(report.write("vector-depth", result))


if __name__ == "__main__":
    main()

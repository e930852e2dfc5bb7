"""Fit the probability that memory holds an answer: the weights of `memory/scoring.py`.

    PYTHONPATH=benchmarks python training/memory_verdicts.py --data BENCH/memory --fitted conv-26 conv-30 conv-41 1 2 3 4 5 6

Each conversation is asked its own questions, a part of the questions of all others of its kind, and near misses: LoCoMo's
category 5, BEAM's abstention. A question is answered when one of ten events holds its evidence. Weights are fitted on the
conversations that `--fitted` names; how often each verdict is right is printed for all others.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import memory_recall
from vademecum.memory import recall, scoring
from vademecum.memory.scoring import Found
from vademecum.plugins import load

EVERY = 7  # of the questions of another conversation
NEAR_MISSES = {"5", "abstention"}
ROUNDS, RIDGE = 60, 0.01


def asked(conversations: Sequence[memory_recall.Conversation], embedder: Any) -> Iterator[dict[str, Any]]:
    """Yield the signals, group, verdict and rightness of each question."""
    judged: list[Found] = []
    judge = recall.judge
    recall.judge = lambda found, name: (judged.append(found), judge(found, name))[1]  # type: ignore[assignment]
    for own in conversations:
        with memory_recall.remembering(own, embedder) as memory:
            for other in conversations:
                for question in other.questions[:: 1 if own is other else EVERY]:
                    text = (
                        memory_recall.renamed(question.text, other.people, own.people) if own.people else question.text
                    )
                    judged.clear()
                    answer = memory.recall(text, k=memory_recall.K)
                    near = question.kind in NEAR_MISSES
                    if not judged or not len(judged[-1].best) or (own is other and not near and not question.gold):
                        continue
                    group = "elsewhere" if own is not other else "near miss" if near else "own"
                    held = {item.event.id for item in answer.evidence} & question.gold
                    yield {
                        "x": scoring.signals(judged[-1]), "right": group == "own" and bool(held), "group": group,
                        "conversation": own.name, "verdict": str(answer.verdict),
                    }  # fmt: skip


def fitted(rows: Sequence[dict[str, Any]]) -> np.ndarray:
    """Return the bias and the weights: as many own questions as others, by ridge logistic regression."""
    x = np.array([row["x"] for row in rows])
    mean, spread = x.mean(0), x.std(0) + 1e-9
    design = np.c_[np.ones(len(x)), (x - mean) / spread]
    groups = [row["group"] for row in rows]
    weight = np.array([(0.5 if group == "own" else 0.25) / groups.count(group) for group in groups])
    right, ridge, b = (
        np.array([row["right"] for row in rows]),
        RIDGE * np.r_[0, np.ones(x.shape[1])],
        np.zeros(x.shape[1] + 1),
    )
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-design @ b))
        curve = (design * (weight * p * (1 - p))[:, None]).T @ design + np.diag(ridge)
        b -= np.linalg.solve(curve, design.T @ (weight * (p - right)) + ridge * b)
    return np.r_[b[0] - (b[1:] / spread * mean).sum(), b[1:] / spread]


def main() -> None:
    """Fit, and print how often verdicts are right elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--fitted", nargs="+", required=True, help="names of the conversations to fit on")
    arguments = parser.parse_args()
    embedder = load("embedder", "static")
    rows = [row for some in (memory_recall.locomo, memory_recall.beam) for row in asked(some(arguments.data), embedder)]
    print(
        "bias, missing, meaning, first, ten, lonely:",
        fitted([r for r in rows if r["conversation"] in arguments.fitted]).round(2),
    )
    rest = [row for row in rows if row["conversation"] not in arguments.fitted]
    for verdict in ("resolved", "likely", "ambiguous", "not_found"):
        for group in ("own", "near miss", "elsewhere"):
            own = [row for row in rest if (row["verdict"], row["group"]) == (verdict, group)]
            print(f"{verdict:10} {group:10} {len(own):5} said, {sum(row['right'] for row in own):5} right")


if __name__ == "__main__":
    main()

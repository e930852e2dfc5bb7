"""A vocabulary of word pieces from pairs: words that several repositories use, and how likely each is.

    python vocabulary.py PAIRS_DIRECTORY OUT.safetensors [--size 32000] [--in-repositories 2] [--keep MODEL.safetensors]

With `--keep`, the words of an earlier model come first, in their order, so that its table can be kept.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from bags import RUN, read
from prose import name_words

from vademecum.index.arrays import load_arrays, save_arrays

QUESTION_COUNTS = 5  # a word of a question counts as much as so many of code


def count(paths: Iterable[Path]) -> tuple[Counter[str], Counter[str]]:
    """Return how often each word stands in pairs, and in how many repositories."""
    often, widely = Counter[str](), Counter[str]()
    for path in paths:
        passages, pairs = read(path)
        own = Counter[str]()
        for text, times in [(p["text"], 1) for p in passages] + [(p["query"], QUESTION_COUNTS) for p in pairs]:
            for run in RUN.findall(text):
                for word in [run] if run.isdigit() else name_words(run):
                    own[word] += times
        often += own
        widely.update(own.keys())
    return often, widely


def choose(often: Counter[str], widely: Counter[str], size: int, least: int, kept: Sequence[str] = ()) -> list[str]:
    """Return the words that count most: in many repositories, and often.

    >>> choose(Counter(a1=1, read=9, rare=9), Counter(a1=2, read=3, rare=1), 2, 2)
    ['read', 'a1']
    """
    known = set(kept)
    new = [w for w in often if widely[w] >= least and len(w) >= 2 and len(w) <= 24 and w not in known]
    new.sort(key=lambda word: (-widely[word] * math.log1p(often[word]), word))
    return [*kept, *new[: max(0, size - len(kept))]]


def log_probabilities(words: Sequence[str], often: Counter[str]) -> list[float]:
    """Return the logarithm of each word's share, as the cutting of unknown words reads it."""
    total = sum(often[word] + 1 for word in words)
    return [round(math.log((often[word] + 1) / total), 2) for word in words]


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", type=int, default=32_000)
    parser.add_argument("--in-repositories", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    kept = []
    if given.keep:
        kept = load_arrays(given.keep)[0]["words"].tobytes().decode().split("\n")
    often, widely = count(sorted(given.pairs.glob("*.jsonl.gz")))
    words = choose(often, widely, given.size, given.in_repositories, kept)
    logp = np.array(log_probabilities(words, often), np.float32)
    save_arrays(given.out, {"words": np.frombuffer("\n".join(words).encode(), np.uint8), "logp": logp}, {})
    print(f"{len(words)} words, {len(words) - len(kept)} new")


if __name__ == "__main__":
    main()

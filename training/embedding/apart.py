"""Keep the measure apart: drop training passages that also stand in a repository that is measured on.

    python apart.py PAIRS_DIRECTORY INTO_DIRECTORY --measured DIRECTORY ...

Two passages are the same when they have one name and nearly all lines of the training one stand in the other, so that a
changed indentation or a lost docstring does not hide a copy.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bags import read
from pairs import cut

SHARED = 0.8  # of the lines of the training passage
LEAST_CHARACTERS, LEAST_LINES = 8, 2  # of a line that tells, of a passage that can be told

Lines = frozenset[str]


def lines_of(text: str) -> Lines:
    r"""Return the telling lines of a text without its spaces.

    >>> sorted(lines_of("def f(x):\n    return x + offset\n}"))
    ['deff(x):', 'returnx+offset']
    """
    flat = (re.sub(r"\s+", "", line) for line in text.split("\n"))
    return frozenset(line for line in flat if len(line) >= LEAST_CHARACTERS)


def measured_passages(directories: Iterable[Path]) -> dict[str, list[Lines]]:
    """Return the lines of every named chunk below some directories, by name."""
    found: dict[str, list[Lines]] = defaultdict(list)
    for path in _files(directories):
        for chunk in cut(path.name, path.read_bytes()):
            if chunk.name:
                found[chunk.name].append(lines_of(chunk.text))
    return found


def _files(directories: Iterable[Path]) -> Iterator[Path]:
    for directory in directories:
        for folder, _, names in os.walk(directory):
            for name in names:
                path = Path(folder, name)
                if path.is_file() and not path.is_symlink():
                    yield path


def is_copy(passage: dict[str, Any], measured: dict[str, list[Lines]]) -> bool:
    """Say whether a passage stands in what is measured on."""
    own = lines_of(passage["text"])
    rivals = measured.get(passage["name"], ())
    return len(own) >= LEAST_LINES and any(len(own & rival) >= SHARED * len(own) for rival in rivals)


def without_copies(
    passages: list[dict[str, Any]], pairs: list[dict[str, Any]], measured: dict[str, list[Lines]]
) -> tuple[list[dict[str, Any]], int]:
    """Return the pairs that name no copy, and how many passages are copies."""
    copies = {number for number, passage in enumerate(passages) if is_copy(passage, measured)}
    return [pair for pair in pairs if not copies & set(pair["passages"])], len(copies)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("into", type=Path)
    parser.add_argument("--measured", type=Path, nargs="+", required=True)
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    measured = measured_passages(given.measured)
    print(f"{sum(map(len, measured.values()))} measured passages")
    dropped = 0
    for path in sorted(given.pairs.glob("*.jsonl.gz")):
        passages, pairs = read(path)
        kept, copies = without_copies(passages, pairs, measured)
        dropped += copies
        if len(kept) < len(pairs):
            print(f"{path.name.removesuffix('.jsonl.gz')}: {copies} passages, {len(pairs) - len(kept)} pairs dropped")
        with gzip.open(given.into / path.name, "wt", compresslevel=2, encoding="utf-8", errors="replace") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in [*passages, *kept])
    print(f"{dropped} passages dropped")


if __name__ == "__main__":
    main()

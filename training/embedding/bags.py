"""From text to counts of word pieces: what training reads, one file of arrays for all repositories.

python bags.py PAIRS_DIRECTORY OUT.npz [--vocabulary MODEL.safetensors] [--leave NAME ...]
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from prose import name_words

from vademecum.index.arrays import RunTable, load_arrays
from vademecum.providers.embedders.static import WordPieces

KINDS = ("doc", "para", "name", "comment", "commit", "pull", "body", "test", "manual", "file")
RUN = re.compile(r"[A-Za-z]+|[0-9]+")
_ORDER = re.compile(
    r"^(?:(?:don't|do not|properly|correctly|also|always|better)\s+)?(?:fix(?:es|ed|ing)?|add(?:s|ed)?|allow(?:s|ed)?|make|ensure|support|avoid|prevent|implement(?:s|ed)?"
    r"|handle[sd]?|correct(?:s|ed)?|improve[sd]?|remove[sd]?|use|bug in|issue with|an? (?:bug|issue|problem) (?:where|with|in|when))\s+",
    re.IGNORECASE,
)
LEAST_WORDS_LEFT = 3


@dataclass
class Sparse:
    """A growing matrix of counts: per row, column numbers and values."""

    column: list[NDArray[np.int32]] = field(default_factory=list)
    value: list[NDArray[np.float32]] = field(default_factory=list)
    length: list[NDArray[np.int64]] = field(default_factory=list)

    def extend(self, texts: Sequence[str], table: RunTable) -> None:
        """Add a row for each text."""
        counts = table.count(texts)
        self.column.append(table.values(counts.code).astype(np.int32))
        self.value.append(counts.count.astype(np.float32))
        self.length.append(np.bincount(counts.text, minlength=len(texts)).astype(np.int64))

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the parts of a CSR matrix under their names."""
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(self.length))])
        return {
            f"{name}_column": np.concatenate(self.column),
            f"{name}_value": np.concatenate(self.value).astype(np.float16),
            f"{name}_offset": offsets,
        }


def variant_of(kind: str, query: str, name: str) -> str:
    """Return another way to ask: without the order that a commit starts with, or without the name in a manual's sentence.

    >>> variant_of("commit", "Fix crash when the list is empty", "pop")
    'crash when the list is empty'
    >>> variant_of("manual", "Call `read_all` to get every line at once.", "read_all")
    'Call `` to get every line at once.'
    """
    if kind in {"commit", "pull"}:
        other = _ORDER.sub("", query)
    elif kind == "manual":
        other = query.replace(name, "")
    else:
        return query
    return other if len(other.split()) >= LEAST_WORDS_LEFT else query


def read(path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the passages and the pairs of a repository."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [row for row in rows if "text" in row], [row for row in rows if "kind" in row]


def minus_of(pair: dict[str, Any], passage: dict[str, Any]) -> str:
    """Return the text that the passage must not show for this pair."""
    return " ".join(name_words(passage["name"])) if pair["kind"] == "name" else str(pair["minus"])


def collect(paths: Sequence[Path], table: RunTable) -> dict[str, NDArray[Any]]:
    """Return everything training reads, as named arrays."""
    parts = {name: Sparse() for name in ("text", "title", "context", "query", "variant", "minus")}
    columns: dict[str, list[int]] = {name: [] for name in ("repo", "kind", "own", "first", "count", "same")}
    answers: list[int] = []
    keys: dict[tuple[int, str, str], int] = {}
    key_of: list[int] = []
    asked: dict[str, int] = {}
    for number, path in enumerate(paths):
        passages, pairs = read(path)
        base = len(key_of)
        key_of += [keys.setdefault((number, p["scope"], p["name"]), len(keys)) for p in passages]
        for name in ("text", "title", "context"):
            parts[name].extend([p[{"title": "name", "context": "scope"}.get(name, name)] for p in passages], table)
        first = [passages[pair["passages"][0]] for pair in pairs]
        parts["query"].extend([pair["query"] for pair in pairs], table)
        parts["variant"].extend(
            [variant_of(pair["kind"], pair["query"], p["name"]) for pair, p in zip(pairs, first, strict=True)], table
        )
        parts["minus"].extend([minus_of(pair, p) for pair, p in zip(pairs, first, strict=True)], table)
        for pair in pairs:
            columns["repo"].append(number)
            columns["kind"].append(KINDS.index(pair["kind"]))
            columns["first"].append(len(answers))
            columns["count"].append(len(pair["passages"]))
            columns["same"].append(asked.setdefault(pair["query"].lower(), len(asked)))
            answers += [base + passage for passage in pair["passages"]]
    del columns["own"]
    arrays: dict[str, NDArray[Any]] = {name: np.array(values, np.int32) for name, values in columns.items()}
    arrays |= {"answers": np.array(answers, np.int32), "key": np.array(key_of, np.int32)}
    for name, sparse in parts.items():
        arrays |= sparse.arrays(name)
    return arrays


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--leave", nargs="*", default=[])
    given = parser.parse_args()
    vocabulary, _ = load_arrays(given.vocabulary)
    words = vocabulary["words"].tobytes().decode().split("\n")
    table = RunTable(RUN, WordPieces(words, vocabulary["logp"].tolist()))
    paths = [p for p in sorted(given.pairs.glob("*.jsonl.gz")) if p.name.removesuffix(".jsonl.gz") not in given.leave]
    arrays = collect(paths, table)
    np.savez(given.out, **arrays)
    kinds = dict(zip(KINDS, np.bincount(arrays["kind"], minlength=len(KINDS)).tolist(), strict=True))
    print(f"{len(paths)} repositories, {len(arrays['key'])} passages, {len(arrays['kind'])} pairs: {kinds}")


if __name__ == "__main__":
    main()

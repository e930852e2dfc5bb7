r"""Ledger of savings: tokens of answers, compared with the shown files.

`<home>/savings/2026-11-24.jsonl` has a line for each answer, `[repository, answers, tokens of answers, tokens of files]`,
and nothing about the question. The tokens of files are those of the whole files from which the answer shows lines. A line is
added in one write, so processes need no lock. A hundred answers take 7 kB.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from vademecum.private import append_line

FOLDER = "savings"
# The estimate of tokens by pattern (`index/tokenize`) over 11 MB of code in six languages gives 3.6 to 4.0
# bytes a token, and over our own answers 3.5 to 4.1.
BYTES_PER_TOKEN = 3.7


@dataclass(frozen=True, slots=True)
class Row:
    """The answers to one repository's agents on one day, as 2026-11-24.

    Only answers that showed lines of files count. Their tokens, and those of the whole files they showed lines from, are
    estimated.
    """

    day: str
    repo: str
    answers: int
    answer_tokens: int
    file_tokens: int


def count(home: Path, repo: str, text: str, files: Collection[Path], day: date) -> None:
    """Add an answer to the ledger, without ever failing.

    `text` is the answer, `files` are the files from which the answer shows lines.

    A file that is not on the disk counts nothing, and an answer without any file is not counted.
    """
    sizes = 0
    for path in set(files):
        with suppress(OSError):
            sizes += path.stat().st_size
    if sizes:
        record(home, repo, _tokens(len(text.encode("utf-8", "replace"))), _tokens(sizes), day)


def record(home: Path, repo: str, answer_tokens: int, file_tokens: int, day: date) -> None:
    """Add one answer's tokens to the ledger, if it can be written."""
    with suppress(OSError):  # a line end before it, too: a write that was cut short then spoils only its own line
        append_line(
            home / FOLDER / f"{day.isoformat()}.jsonl", f"\n{json.dumps([repo, 1, answer_tokens, file_tokens])}"
        )


def rows(home: Path, since: date | None = None) -> list[Row]:
    """Return the ledger by day and repository, the latest day first.

    Raises:
        OSError: the ledger exists and cannot be read.
    """
    found: list[Row] = []
    for path in sorted((home / FOLDER).glob("*.jsonl"), reverse=True):
        if since is None or path.stem >= since.isoformat():
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            found += [Row(path.stem, repo, *sums) for repo, sums in sorted(_sums(filter(None, lines)).items())]
    return found


def _tokens(size: int) -> int:
    return max(1, round(size / BYTES_PER_TOKEN))


def _sums(lines: Iterable[str]) -> dict[str, tuple[int, int, int]]:
    """Return the sums of each repository, skipping damaged lines."""
    sums: dict[str, tuple[int, int, int]] = {}
    for line in lines:
        with suppress(ValueError, TypeError):
            repo, answers, answer_tokens, file_tokens = json.loads(line)
            before = sums.get(repo, (0, 0, 0))
            sums[repo] = (before[0] + int(answers), before[1] + int(answer_tokens), before[2] + int(file_tokens))
    return sums

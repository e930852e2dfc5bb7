r"""Ledger of savings: tokens of answers, compared with the shown files.

`<home>/savings/2026-11-24.jsonl` has a line for each answer, `[repository, answers, tokens of answers, tokens of files]`,
and nothing about the question. The tokens of files are those of the whole files from which the answer shows lines. A line is
added in one write, so processes need no lock. The first answer of a day folds the days before yesterday, to which nobody adds
any more, into one line for each repository. Such a line has the same form, so folding twice changes nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

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
    with suppress(OSError):
        folder = home / FOLDER
        handle = _opened(folder / f"{day.isoformat()}.jsonl")
        try:
            is_first = os.fstat(handle).st_size == 0
            os.write(handle, _line(repo, 1, answer_tokens, file_tokens))
        finally:
            os.close(handle)
        if is_first:
            _fold(folder, day)


def rows(home: Path, since: date | None = None) -> list[Row]:
    """Return the ledger by day and repository, the latest day first.

    Raises:
        OSError: the ledger exists and cannot be read.
    """
    found: list[Row] = []
    for path in sorted((home / FOLDER).glob("*.jsonl"), reverse=True):
        if since is None or path.stem >= since.isoformat():
            found += [Row(path.stem, repo, *sums) for repo, sums in sorted(_sums(_lines(path)).items())]
    return found


def _tokens(size: int) -> int:
    return max(1, round(size / BYTES_PER_TOKEN))


def _line(repo: str, *sums: int) -> bytes:
    """Return a line with line ends on both sides.

    A write that was cut short then spoils only its own line.
    """
    return f"\n{json.dumps([repo, *sums])}\n".encode()


def _opened(path: Path) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(path, flags, 0o600)


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line]


def _sums(lines: Iterable[str]) -> dict[str, tuple[int, int, int]]:
    """Return the sums of each repository, skipping damaged lines."""
    sums: dict[str, tuple[int, int, int]] = {}
    for line in lines:
        with suppress(ValueError, TypeError):
            repo, answers, answer_tokens, file_tokens = json.loads(line)
            before = sums.get(repo, (0, 0, 0))
            sums[repo] = (before[0] + int(answers), before[1] + int(answer_tokens), before[2] + int(file_tokens))
    return sums


def _fold(folder: Path, day: date) -> None:
    """Reduce each day before yesterday to one line per repository.

    Each file is replaced atomically. Raises `OSError`.
    """
    yesterday = (day - timedelta(1)).isoformat()
    for path in folder.glob("*.jsonl"):
        lines = _lines(path)
        sums = _sums(lines)
        if path.stem >= yesterday or len(lines) <= len(sums):
            continue
        part = path.with_name(f".{path.stem}.{os.getpid()}")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.writelines(_line(repo, *each) for repo, each in sums.items())
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)

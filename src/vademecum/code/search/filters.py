"""Filters as boolean masks over rows.

Filters apply before any cut, so a selective filter never loses an answer. Regular expressions are matched by a separate
process, which can be killed, and this process serves others meanwhile.
"""

from __future__ import annotations

import re
import signal
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from math import ceil
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from vademecum.code.search.signals import definitions, meant_rows
from vademecum.code.snapshot.repository import Opened
from vademecum.code.snapshot.view import FILE_KINDS, FileTable, View
from vademecum.errors import UsageError
from vademecum.index.query import split_name
from vademecum.matching import glob_pattern, is_below
from vademecum.types import KINDS, Query

LEAST_SECONDS = 5.0  # of the processor, the limit without text; an ordinary pattern takes milliseconds
# Times the limit that may pass on a busy machine. Windows counts no processor time.
PATIENCE = 1 if sys.platform == "win32" else 6
BYTES_PER_SECOND = 5_000_000  # more text raises the limit; the slowest ordinary pattern measured is twice as fast
_AT_ONCE = 64  # texts per batch
_MATCHER = Path(__file__).with_name("regex_filter.py")

Lines = NDArray[np.int32]


def allowed_masks(opened: Sequence[Opened], query: Query) -> list[NDArray[np.bool_]] | None:
    """Return each repository's rows that pass the filters, bool (R,).

    Returns None when there are no filters.
    """
    given = query.languages or query.paths or query.exclude or query.symbol or query.pattern
    if not (given or KINDS[query.kind] != KINDS["all"] or any(each.prefixes for each in opened)):
        return None
    return [_mask(each, query) for each in opened]


def _mask(each: Opened, query: Query) -> NDArray[np.bool_]:
    """Return one repository's rows that pass every filter, bool (R,)."""
    mask = row_mask(each.view, query)
    if each.prefixes:
        mask &= below(each.view.files, each.prefixes)[each.view.row_file]
    if query.pattern:
        mask &= _matching(each, query.pattern, mask)
    return mask


def _matching(each: Opened, pattern: str, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the rows on a line with a match, bool (R,)."""
    view = each.view
    matched = np.zeros(len(view), bool)
    files = np.flatnonzero(np.bincount(view.row_file[mask])).tolist()
    texts = (each.repo.catalogue.content(int(view.files.blobs[file])) for file in files)
    total = int(view.files.sizes[files].sum())
    for file, hit in zip(files, matched_lines(pattern, texts, total), strict=True):
        if len(hit):
            first, last = np.searchsorted(view.row_file, [file, file + 1])
            lines = view.lines[first:last]
            matched[first:last] = ((hit[:, 1:] >= lines[:, 0]) & (hit[:, :1] <= lines[:, 1])).any(axis=0)
    return matched


def row_mask(view: View, query: Query) -> NDArray[np.bool_]:
    """Return the rows that pass every filter, bool (R,).

    The regular expression is not applied.
    """
    mask = file_mask(view.files, query)[view.row_file]
    if query.symbol:
        parts = split_name(query.symbol) or [query.symbol]
        mask &= definitions(view, parts[-1:])[view.row_chunk] > 0
        if len(parts) > 1:
            rows = np.flatnonzero(mask)
            mask[rows] = meant_rows(view, rows, parts)
    return mask


def file_mask(files: FileTable, query: Query) -> NDArray[np.bool_]:
    """Return the files that pass the filters, bool (F,).

    The filters are language, kind and path.
    """
    mask = np.ones(len(files), bool)
    if query.languages:
        wanted = [name in query.languages for name in files.language_names]
        mask &= np.array(wanted, bool)[files.languages] if wanted else False
    if KINDS[query.kind] != KINDS["all"]:
        mask &= np.array([kind in KINDS[query.kind] for kind in FILE_KINDS], bool)[files.kinds]
    if query.paths:
        mask &= matching(files.paths, query.paths)
    if query.exclude:
        mask &= ~matching(files.paths, query.exclude)
    return mask


def matching(paths: list[str], globs: Iterable[str]) -> NDArray[np.bool_]:
    """Return the paths that a glob or directory covers, bool (F,)."""
    mask = np.zeros(len(paths), bool)
    for glob in globs:
        hits = _hits(paths, glob_pattern(glob.replace("[", "[[]"))) if "[" in glob else mask[:0]
        mask |= hits if hits.any() else _hits(paths, glob_pattern(glob))
    return mask


def _hits(paths: list[str], pattern: str) -> NDArray[np.bool_]:
    match = re.compile(pattern).match
    return np.fromiter((match(path) is not None for path in paths), bool, len(paths))


def below(files: FileTable, prefixes: Sequence[str]) -> NDArray[np.bool_]:
    """Return the files at or below a prefix, bool (F,).

    No character is a wildcard. Without prefixes all files are.
    """
    return np.fromiter((is_below(path, prefixes) for path in files.paths), bool, len(files))


def check_pattern(pattern: str) -> None:
    """Reject an invalid regular expression. Raises `UsageError`."""
    try:
        with warnings.catch_warnings():  # about sets whose meaning may change in a later Python
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(pattern, re.MULTILINE)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"{pattern!r} is not a regular expression: {error}") from error


def matched_lines(pattern: str, texts: Iterable[bytes], total_bytes: int) -> Iterator[Lines]:
    """Yield each text's matches as lines from 1: int32 (matches, 2).

    A row has the first and the last line of a match.

    Raises:
        UsageError: the pattern is invalid, or takes more of the processor than `LEAST_SECONDS` and the time for
            `total_bytes` of text, or `PATIENCE` times as long.
    """
    check_pattern(pattern)
    limit = LEAST_SECONDS + total_bytes / BYTES_PER_SECOND
    child, is_late = _start(), False
    assert child.stdin is not None
    assert child.stdout is not None

    def end() -> None:
        nonlocal is_late
        is_late = True
        child.kill()

    late = threading.Timer(PATIENCE * limit, end)
    late.daemon = True
    late.start()
    try:
        child.stdin.write(struct.pack("<I", ceil(limit)) + _sized(pattern.encode()))
        left = iter(texts)
        while batch := list(islice(left, _AT_ONCE)):
            child.stdin.write(struct.pack("<I", len(batch)) + b"".join(map(_sized, batch)))
            child.stdin.flush()
            for _ in batch:
                yield _answer(child.stdout)
    except (BrokenPipeError, EOFError) as error:
        is_late |= sys.platform != "win32" and child.wait() == -signal.SIGXCPU
        why = f"did not come to an end in {limit:.0f} s" if is_late else "ended the process that matched it"
        raise UsageError(
            f"{pattern!r} {why}: it can match the same text in too many ways; write it without a repeat inside of a repeat, "
            r"as in (\w+\s*)+, or search fewer files with --path"
        ) from error
    finally:
        late.cancel()
        child.kill()
        for pipe in (child.stdin, child.stdout):
            with suppress(OSError):
                pipe.close()
        child.wait()


def _answer(pipe: IO[bytes]) -> Lines:
    head = pipe.read(4)
    length = struct.unpack("<I", head)[0] if len(head) == 4 else -1
    numbers = pipe.read(length) if length > 0 else b""
    if len(numbers) != max(length, 0) or length < 0:
        raise EOFError
    return np.frombuffer(numbers, "<i4").reshape(-1, 2)


def _start() -> subprocess.Popen[bytes]:
    try:  # isolated: nothing from the current directory or the file's directory may be imported
        return subprocess.Popen(
            [sys.executable, "-P", "-I", "-S", "-X", "utf8", str(_MATCHER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise UsageError(
            f"a regular expression is matched by a process of its own, and none can be started ({error.strerror}): search without one"
        ) from error


def _sized(text: bytes) -> bytes:
    return struct.pack("<I", len(text)) + text

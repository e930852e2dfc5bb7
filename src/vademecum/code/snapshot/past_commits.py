"""Past commits as arrays: words of messages, and the changed files.

    ids     uint64 (C,)      the first 16 digits of each commit's id, oldest first
    lengths int32  (C,)      distinct terms of each message
    starts  int64  (C + 1,)  commit c changed paths[files[starts[c] : starts[c + 1]]]
    files   int32  (M,)      places in `paths`, a list of strings from the top of the work tree
    postings over the C commits with one field

The arrays of a commit hold that commit and those before it, never a later one, so all checkouts of a commit share them.
Of a message only the keys of terms are kept, so its text reaches neither a ranking nor an answer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import StoreCorruptError, StoreError
from vademecum.index.arrays import RunTable, ranges, save_arrays, stored_arrays
from vademecum.index.bm25 import Postings, Schema, build, damaged, field_norms, gains, inverse_document_frequency, merge
from vademecum.index.tokenize import STOP_WORDS, key, run_terms
from vademecum.result import Err, Ok

if TYPE_CHECKING:
    from vademecum.code.checkout.root import Root
    from vademecum.code.snapshot.view import FileTable
    from vademecum.types import CommitMessage

MOST_COMMITS = 2_000  # twice as many gained nothing on later commits and on issues, and half as many lost
MOST_FILES = 12  # a commit with more is a mass change, which its message does not tell of
_MOST_CHARACTERS = 400  # read of a subject
_FORMAT = "1"
_RUN = re.compile(r"\w+")
_MESSAGES = Schema(("message",), (1.0,), (0.75,))
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class History:
    """The commits that led to a state; see the module for shapes."""

    ids: NDArray[np.uint64]
    lengths: NDArray[np.int32]
    starts: Numbers
    files: NDArray[np.int32]
    paths: list[str]
    postings: Postings

    def __len__(self) -> int:
        """Return the number of commits."""
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class FileHistory:
    """A history beside the files of a snapshot.

    Attributes:
        history: the C commits, with M changed files.
        files: int64 (M,), the snapshot's file of each; -1 for a file that it lacks.
        norms: float32 (F, 1), the weight of one occurrence in the messages about each of the snapshot's files.
    """

    history: History
    files: Numbers
    norms: NDArray[np.float32]

    def relevance(self, keys: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Return the BM25 of the messages about each file, float32 (F,).

        A file's messages count as one text. `keys` are the question's T terms. Raises `StoreCorruptError`.
        """
        history, terms = self.history, max(len(keys), 1)
        try:
            commits, _, term = history.postings.find(keys)
            idf = inverse_document_frequency(len(history), np.bincount(term, minlength=terms).astype(np.float64))
            begins = history.starts.take(commits)
            counts = history.starts.take(commits + 1) - begins
            file, term = self.files.take(ranges(begins, counts)), np.repeat(term, counts)
            here = file >= 0
            pairs, occurrences = np.unique(file[here] * terms + term[here], return_counts=True)
            file, rarity = pairs // terms, idf[pairs % terms]
            gained = gains(_MESSAGES, occurrences[:, None], self.norms.take(file, axis=0), rarity)
        except (IndexError, ValueError) as error:
            raise damaged(error) from error
        return np.bincount(file, gained, len(self.norms)).astype(np.float32)


def history_of(messages: Sequence[CommitMessage]) -> History:
    """Return the history of messages, oldest first, without mass changes."""
    told = [message for message in messages if 0 < len(message.paths) <= MOST_FILES]
    found = RunTable(_RUN, _asked_for).count([message.text[:_MOST_CHARACTERS] for message in told])
    lengths = np.bincount(found.text, minlength=len(told)).astype(np.int32)
    ones = np.ones((len(found.code), 1), np.uint8)
    paths, files = _numbered([path for message in told for path in message.paths])
    return History(
        np.array([int(message.id[:16], 16) for message in told], np.uint64), lengths,
        _starts([len(message.paths) for message in told]), files, paths,
        build(found.values[found.code], found.text.astype(np.int32), ones),
    )  # fmt: skip


def _asked_for(run: str) -> list[int]:
    """Return the keys of a run's terms, none for a stop word."""
    return [] if run.lower() in STOP_WORDS else [key(term) for term in run_terms(run)]


def continued(history: History, gone: Collection[str], messages: Sequence[CommitMessage]) -> History:
    """Return a history without `gone` ids, with newer commits, at most MOST_COMMITS."""
    new = history_of(messages)
    left = np.array([int(name[:16], 16) for name in gone], np.uint64)
    kept = np.flatnonzero(~np.isin(history.ids, left))
    kept = kept[max(0, len(kept) + len(new) - MOST_COMMITS) :]
    number = np.full(len(history), -1, np.int32)
    number[kept] = np.arange(len(kept))
    counts = np.diff(history.starts)[kept]
    names = [history.paths[file] for file in history.files[ranges(history.starts[kept], counts)].tolist()]
    paths, files = _numbered(names + [new.paths[file] for file in new.files.tolist()])
    return History(
        np.concatenate((history.ids[kept], new.ids)), np.concatenate((history.lengths[kept], new.lengths)),
        _starts([*counts.tolist(), *np.diff(new.starts).tolist()]), files, paths,
        merge([history.postings, new.postings], [number, len(kept) + np.arange(len(new), dtype=np.int32)]),
    )  # fmt: skip


def _numbered(names: Sequence[str]) -> tuple[list[str], NDArray[np.int32]]:
    """Return the distinct names, and the place of each name."""
    place: dict[str, int] = {}
    numbers = [place.setdefault(name, len(place)) for name in names]
    return list(place), np.array(numbers, np.int32)


def _starts(counts: Sequence[int]) -> Numbers:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def beside(history: History, table: FileTable, prefix: str) -> FileHistory:
    """Join a history with the files below `prefix`."""
    below = (table.number(path[len(prefix) :]) if path.startswith(prefix) else None for path in history.paths)
    number = np.array([-1 if at is None else at for at in below], np.int64)
    files = number.take(history.files)
    here = files >= 0
    each = np.repeat(history.lengths, np.diff(history.starts))
    lengths = np.bincount(files[here], each[here], len(table)).astype(np.float32)
    changed = lengths[lengths > 0]
    mean = np.array([changed.mean() if len(changed) else 1.0])
    return FileHistory(history, files, field_norms(_MESSAGES, lengths[:, None], mean))


class Histories:
    """The histories of one repository's snapshots, one file a commit."""

    def __init__(self, directory: Path, note: Callable[[StoreCorruptError], None]) -> None:
        """Look in `directory`; `note` takes the word of a damaged file."""
        self._directory, self._note = directory, note
        self._last: tuple[str, History] | None = None
        self._joined: tuple[History, FileTable, FileHistory] | None = None

    @staticmethod
    def name(commit: str) -> str:
        """Return the name of a commit's file."""
        return f"history-{commit}.safetensors"

    def read(self, commit: str) -> History | None:
        """Return a commit's history, or None.

        A damaged file is deleted, so that the next index makes another. The last result is kept.
        """
        path = self._directory / self.name(commit)
        if self._last is not None and self._last[0] == commit:
            return self._last[1]
        if not commit or not path.exists():
            return None
        try:
            self._last = commit, _loaded(path)
        except StoreCorruptError as error:
            self._note(error)
            with suppress(OSError):
                path.unlink()
            return None
        return self._last[1]

    def write(self, commit: str, history: History) -> None:
        """Store a commit's history. Raises `StoreError`."""
        postings, paths = history.postings, "\0".join(history.paths).encode("utf-8", "surrogatepass")
        save_arrays(
            self._directory / self.name(commit),
            {
                "ids": history.ids, "lengths": history.lengths, "starts": history.starts, "files": history.files,
                "paths": np.frombuffer(paths, np.uint8), "keys": postings.keys, "offsets": postings.offsets,
                "docs": postings.docs, "tf": postings.tf,
            },
            {"format": _FORMAT},
        )  # fmt: skip
        self._last = commit, history

    def begin(self, root: Root, commit: str, before: str, *, full: bool) -> Callable[[], None]:
        """Start to read a commit's history from git; return the storing function.

        Nothing is done where it is known. `before` is the commit of the snapshot's last state, or "": only commits that it did
        not have are read. `full` reads everything.
        """
        is_known = not full and self.read(commit) is not None  # a damaged one is found and named here
        if not commit or is_known or not os.access(self._directory, os.W_OK):
            return lambda: None
        found: list[History] = []
        reader = Thread(target=lambda: found.append(self._behind(root, commit, "" if full else before)), daemon=True)
        reader.start()

        def store() -> None:
            reader.join()
            with suppress(StoreError):  # a full disk still answers, and the next run tries again
                for history in found:  # none where reading failed
                    self.write(commit, history)

        return store

    def _behind(self, root: Root, commit: str, before: str) -> History:
        """Return the history behind a commit, empty where git has none.

        A shallow clone has none here: its oldest commit would seem to have written every file.
        """
        from vademecum.code.checkout.commits import advance, is_shallow

        if is_shallow(root):
            return history_of(())
        known = self.read(before)
        match advance(root, commit, before if known is not None else "", MOST_COMMITS):
            case Err():  # as in a clone that leaves out the trees of old commits
                return history_of(())
            case Ok(way) if way.is_whole or known is None:
                return history_of(way.new)
            case Ok(way):
                return continued(known, way.gone, way.new)

    def of(self, commit: str, table: FileTable, prefix: str) -> FileHistory | None:
        """Return a commit's history beside files, or None; the last is kept."""
        history, known = self.read(commit), self._joined
        if history is None:
            return None
        if known is None or known[0] is not history or known[1] is not table:
            known = self._joined = history, table, beside(history, table, prefix)
        return known[2]


def _loaded(path: Path) -> History:
    """Load a history from a file. Raises `StoreCorruptError`."""
    with stored_arrays(path, format=_FORMAT) as (arrays, _):
        a: dict[str, Any] = dict(arrays)
        text = a["paths"].tobytes().decode("utf-8", "surrogatepass")
        postings = Postings(a["keys"], a["offsets"], a["docs"], a["tf"])
        return History(a["ids"], a["lengths"], a["starts"], a["files"], text.split("\0") if text else [], postings)

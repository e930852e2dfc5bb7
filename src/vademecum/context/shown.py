"""Sessions: the pieces already shown, so that none repeats.

An agent chooses the session's name. The keys of shown pieces are below the data directory, one file per session, a key a
line, under a lock: two processes that ask in one session at once never show the same piece. A key names content, not
lines, so changed content is new. A file that did not grow for 30 days is deleted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from vademecum.answers.piece import Part, Piece
from vademecum.code.checkout.lock import exclusive
from vademecum.errors import StoreError, UsageError
from vademecum.private import private_opener

WAIT_SECONDS = 30.0  # another process of the session needs a fraction of a second
KEPT_SECONDS = 30 * 86_400.0
LONGEST_NAME = 200
_BRIEFLY = "signature "  # prefix of keys shown as signatures; these may still be shown whole


@dataclass(slots=True)
class Turn:
    """One answer in a session: keys shown before, and pieces left out."""

    shown: frozenset[str] = frozenset()
    left: int = 0
    _path: Path | None = field(default=None, repr=False)

    def is_new(self, piece: Piece) -> bool:
        """Return whether the session was shown nothing of a piece."""
        keys = {*piece.keys, *(_BRIEFLY + key for key in piece.keys if piece.brief)}
        return self.shown.isdisjoint(keys)

    def remember(self, parts: Iterable[Part]) -> None:
        """Store the keys of the pieces about to be shown. Raises `StoreError`."""
        if self._path is None:
            return
        keys = [_BRIEFLY + key if piece.brief else key for part in parts for piece in part.pieces for key in piece.keys]
        try:
            torn = self._path.exists() and not self._path.read_bytes().endswith(b"\n")  # a process died while writing
            with open(self._path, "ab", opener=private_opener) as file:
                file.write(b"\n" * torn + "".join(f"{key}\n" for key in keys).encode("utf-8", "surrogatepass"))
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror}; ask without a session") from error


@contextmanager
def turn(home: Path, session: str, clock: Callable[[], float] = time.time) -> Iterator[Turn]:
    """Open one turn of a session, with its shown keys.

    Other answers of the session wait until this turn ends.

    Raises:
        UsageError: the name is too long.
        StoreError: the session's file cannot be read or written.
    """
    if not session:
        yield Turn()
        return
    if len(session) > LONGEST_NAME:
        raise UsageError(f"a session's name of {len(session)} characters is too long: take {LONGEST_NAME} at most")
    folder = home / "sessions"
    name = blake2b(session.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    with exclusive(folder / f"{name}.lock", WAIT_SECONDS):
        _sweep(folder, clock() - KEPT_SECONDS)
        path = folder / f"{name}.shown"
        try:
            shown = path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}; ask without a session") from error
        yield Turn(frozenset(shown.split("\n")), 0, path)


def _sweep(folder: Path, before: float) -> None:
    for path in folder.glob("*.shown"):
        with suppress(OSError):  # another process was faster
            if path.stat().st_mtime < before:
                path.unlink()

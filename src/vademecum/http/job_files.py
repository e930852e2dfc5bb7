"""Jobs on disk, a file each, so that one that was accepted is run although the server was killed before it was.

Below the data directory, `jobs/<id>.json` holds a job and `jobs/<id>.lock` is locked by the process that is to run it; the system
lets go of a lock when its holder dies, and whoever starts next takes over what nobody holds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from vademecum.code.checkout.lock import exclusive
from vademecum.errors import StoreBusyError, StoreError, StoreFullError
from vademecum.private import private_folder, private_opener


class JobFiles:
    """The files of one data directory."""

    def __init__(self, directory: Path) -> None:
        """Take the directory, which is made when it is first written to."""
        self._directory = directory
        self._held: dict[str, ExitStack] = {}

    def write(self, record: Mapping[str, Any]) -> None:
        """Keep a job, whole or not at all, and on the disk before this returns.

        Raises:
            StoreError: it cannot be written.
        """
        path = self._directory / f"{record['id']}.json"
        beside = path.with_suffix(".tmp")
        try:
            private_folder(self._directory)
            with open(beside, "w", encoding="utf-8", opener=private_opener) as file:
                json.dump(record, file, default=str)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        except OSError as error:
            kind = StoreFullError if error.errno == 28 else StoreError  # ENOSPC
            raise kind(f"cannot write {path}: {error.strerror}; free some space or mend its permissions") from error

    def take(self, id_: str) -> bool:
        """Make a job this process's own, until it is let go of; False where another has it."""
        if id_ in self._held:
            return True
        stack = ExitStack()
        try:
            stack.enter_context(exclusive(self._directory / f"{id_}.lock", 0.0))
        except StoreBusyError:
            return False
        self._held[id_] = stack
        return True

    def let_go(self, id_: str) -> None:
        """Let others take it."""
        if stack := self._held.pop(id_, None):
            stack.close()
            with suppress(OSError):
                (self._directory / f"{id_}.lock").unlink()

    def drop(self, id_: str) -> None:
        """Forget a job."""
        self.let_go(id_)
        with suppress(OSError):
            (self._directory / f"{id_}.json").unlink()

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield every job, the oldest first; a file that is damaged is passed over."""
        found = []
        for path in self._directory.glob("*.json"):
            with suppress(OSError, ValueError, RecursionError):
                record = json.loads(path.read_bytes())
                if isinstance(record, dict) and record.get("id") == path.stem:
                    found.append(record)
        yield from sorted(found, key=lambda record: float(record.get("created_at") or 0))

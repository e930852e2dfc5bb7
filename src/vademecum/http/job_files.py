"""Files of index jobs, so that accepted jobs survive a killed server.

Below the data directory, `jobs/<id>.json` holds a job. The process that will run the job locks `jobs/<id>.lock`. The
system releases the lock when the process dies, and the next server takes over unlocked jobs.
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
    """The job files of one data directory."""

    def __init__(self, directory: Path) -> None:
        """Take the directory; the first write creates it."""
        self._directory = directory
        self._held: dict[str, ExitStack] = {}

    def write(self, record: Mapping[str, Any]) -> None:
        """Store a job atomically, and sync the file before returning.

        Raises:
            StoreError: the file cannot be written.
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
        """Lock a job for this process; False when another process holds it."""
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
        """Release the lock of a job."""
        if stack := self._held.pop(id_, None):
            stack.close()
            with suppress(OSError):
                (self._directory / f"{id_}.lock").unlink()

    def drop(self, id_: str) -> None:
        """Delete the files of a job."""
        self.let_go(id_)
        with suppress(OSError):
            (self._directory / f"{id_}.json").unlink()

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield every job, the oldest first; skip damaged files."""
        found = []
        for path in self._directory.glob("*.json"):
            with suppress(OSError, ValueError, RecursionError):
                record = json.loads(path.read_bytes())
                if isinstance(record, dict) and record.get("id") == path.stem:
                    found.append(record)
        yield from sorted(found, key=lambda record: float(record.get("created_at") or 0))

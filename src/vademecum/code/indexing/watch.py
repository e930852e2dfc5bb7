"""Index updates while files change, for searches without any delay.

Searches do not need it. With an enricher, a separate process requests sentences for new chunks: a request may take
seconds, and a save should be indexed at once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from vademecum.code.indexing.index import index
from vademecum.code.snapshot.repository import Repository
from vademecum.errors import Error, MissingExtraError, StoreBusyError
from vademecum.protocols import silent
from vademecum.types import EnrichReport, IndexReport, Skipped

DEBOUNCE_MS = 200  # an editor's save is several events; a branch switch is thousands
LOOK_MS = 1_000  # interval between checks of the enricher's process
Report = Callable[[IndexReport | EnrichReport], None]


def watch(repos: Sequence[Repository], on_report: Report, stop: threading.Event) -> None:
    """Index each repository now and after every change, until `stop`.

    An indexing error while watching (a full disk, or git in the middle of an operation) is reported as a failure, and
    indexing is tried again at the next change.

    Raises:
        MissingExtraError: the package that watches files is not installed.
        Error: the first indexing run failed.
    """
    try:
        from watchfiles import watch as changes
    except ImportError as error:
        raise MissingExtraError("watching needs watchfiles: pip install 'vademecum[watch]'") from error
    for repo in repos:
        on_report(index(repo, silent, references=True))
    by_root = {repo.root.path: repo for repo in repos}
    paths = list(by_root)
    beside = Beside(repos, on_report)
    beside.wake()
    try:
        for changed in changes(
            *paths, stop_event=stop, debounce=DEBOUNCE_MS, step=50, raise_interrupt=True,
            rust_timeout=LOOK_MS, yield_on_timeout=True,
        ):  # fmt: skip
            touched = {root for root in paths for _, path in changed if path.startswith(root.rstrip(os.sep) + os.sep)}
            for root in sorted(touched):
                _take_in(by_root[root], on_report, beside)
            beside.look()
    finally:
        beside.close()


def _take_in(repo: Repository, on_report: Report, beside: Beside) -> None:
    try:
        report = index(repo, silent, wait_s=0.0, references=True)
    except StoreBusyError:
        return  # the holder of the lock indexes the change
    except Error as error:
        failure = Skipped(repo.root.path, "not indexed", " ".join(str(error).split()))
        on_report(IndexReport(repo.name, "", 0, 0, 0, 0, 0, failures=(failure,)))
        return
    if report.removed or report.unchanged < report.files:
        on_report(report)
        beside.wake()


class Beside:
    """The one process that runs the enricher, started again after changes."""

    def __init__(self, repos: Sequence[Repository], on_report: Report) -> None:
        self._repos = [repo for repo in repos if repo.enricher]
        self._on_report = on_report
        self._process: subprocess.Popen[bytes] | None = None
        self._due = False

    def wake(self) -> None:
        """Note that new chunks may need sentences."""
        self._due = bool(self._repos)
        self.look()

    def look(self) -> None:
        """Report a finished process, and start the next one if due."""
        if self._process is not None and self._process.poll() is not None:
            assert self._process.stdout is not None
            self._tell(self._process.stdout.read())
            self._process.stdout.close()
            self._process = None
        if self._process is None and self._due:
            self._due = False
            self._process = self._started()

    def close(self) -> None:
        """End the process; its answers so far are stored."""
        if self._process is not None:
            self._process.terminate()
            self._process.communicate()

    def _started(self) -> subprocess.Popen[bytes]:
        first = self._repos[0]
        own = {"VADE_ENRICH__PROVIDER": first.enricher, "VADE_HOME": str(first.catalogue.directory.parent.parent)}
        vade = [sys.executable, "-P", "-m", "vademecum"]
        command = [*vade, "enrich", "--json", *(repo.root.path for repo in self._repos)]
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | own
        )

    def _tell(self, said: bytes) -> None:
        try:
            records = json.loads(said or b"[]")
        except ValueError:
            return
        for record in records:
            report = EnrichReport(**record)
            if report.made or report.failed:
                self._on_report(report)

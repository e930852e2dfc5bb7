"""Watch a repository and index changes at once.

Where an enricher is set, a process beside this one asks it about what is new: it may take seconds for each piece of code, and
a save is to be taken in at once.
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
LOOK_MS = 1_000  # how often the process beside is looked at
Report = Callable[[IndexReport | EnrichReport], None]


def watch(repos: Sequence[Repository], on_report: Report, stop: threading.Event) -> None:
    """Index each repository now, and again whenever its files change, until `stop` is set.

    What cannot be indexed while watching (a disk without room, git in the middle of something) is reported as a failure, and
    tried again at the next change.

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
        return  # whoever holds it takes the change in
    except Error as error:
        failure = Skipped(repo.root.path, "not indexed", " ".join(str(error).split()))
        on_report(IndexReport(repo.name, "", 0, 0, 0, 0, 0, failures=(failure,)))
        return
    if report.removed or report.unchanged < report.files:
        on_report(report)
        beside.wake()


class Beside:
    """The process that asks an enricher about what is new: one at a time, and again when something changed meanwhile."""

    def __init__(self, repos: Sequence[Repository], on_report: Report) -> None:
        self._repos = [repo for repo in repos if repo.enricher]
        self._on_report = on_report
        self._process: subprocess.Popen[bytes] | None = None
        self._due = False

    def wake(self) -> None:
        """Say that there may be something to ask about."""
        self._due = bool(self._repos)
        self.look()

    def look(self) -> None:
        """Tell what a process that is done has done, and start the next one where one is due."""
        if self._process is not None and self._process.poll() is not None:
            assert self._process.stdout is not None
            self._tell(self._process.stdout.read())
            self._process.stdout.close()
            self._process = None
        if self._process is None and self._due:
            self._due = False
            self._process = self._started()

    def close(self) -> None:
        """End the process; what it was answered is kept."""
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

"""Keeping an index warm while files change, for those who want no delay at all. A search does not need it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence

from vademecum.codebase.index import index
from vademecum.codebase.repository import Repository
from vademecum.errors import MissingExtraError, StoreBusyError
from vademecum.types import IndexReport

DEBOUNCE_MS = 200  # an editor's save is several events; a branch switch is thousands


def watch(repos: Sequence[Repository], on_report: Callable[[IndexReport], None], stop: threading.Event) -> None:
    """Index each repository now, and again whenever its files change, until `stop` is set.

    Raises:
        MissingExtraError: the package that watches files is not installed.
    """
    try:
        from watchfiles import watch as changes
    except ImportError as error:
        raise MissingExtraError("watching needs watchfiles: pip install 'vademecum[watch]'") from error
    for repo in repos:
        on_report(index(repo, _silent))
    by_root = {repo.root.path: repo for repo in repos}
    paths = list(by_root)
    for changed in changes(*paths, stop_event=stop, debounce=DEBOUNCE_MS, step=50, raise_interrupt=False):
        touched = {root for root in paths for _, path in changed if path.startswith(root.rstrip(os.sep) + os.sep)}
        for root in sorted(touched):
            try:
                report = index(by_root[root], _silent, wait=False)
            except StoreBusyError:
                continue  # whoever holds it takes the change in
            if report.removed or report.unchanged < report.files:
                on_report(report)


def _silent(stage: str, done: int, total: int) -> None:
    """Show no progress."""

"""A commit's history, read from git while its files are analysed.

Only commits that the snapshot's last state did not have are read. A shallow clone has no history here: its oldest
commit would seem to have written every file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from vademecum.code.checkout.commits import advance, is_shallow
from vademecum.code.snapshot.past_commits import MOST_COMMITS, History, continued, history_of
from vademecum.code.snapshot.repository import Repository
from vademecum.errors import StoreError
from vademecum.result import Err, Ok


def begin_history(repo: Repository, commit: str, before: str, *, full: bool) -> Callable[[], None]:
    """Start to read a commit's history and return the storing function.

    Nothing is done where it is known. `before` is the commit of the snapshot's last state, or "". `full` reads everything.
    """
    own = repo.catalogue
    is_known = not full and own.histories.read(commit) is not None  # a damaged one is found and named here
    if not commit or is_known or not os.access(own.directory, os.W_OK):
        return lambda: None
    found: list[History] = []
    reader = Thread(target=lambda: found.append(_read(repo, commit, "" if full else before)), daemon=True)
    reader.start()

    def store() -> None:
        reader.join()
        with suppress(StoreError):  # a full disk still answers, and the next run tries again
            for history in found:  # none where reading failed
                own.histories.write(commit, history)

    return store


def _read(repo: Repository, commit: str, before: str) -> History:
    """Return the history behind a commit, empty where git has none."""
    if is_shallow(repo.root):
        return history_of(())
    known = repo.catalogue.histories.read(before)
    match advance(repo.root, commit, before if known is not None else "", MOST_COMMITS):
        case Err():  # as in a clone that leaves out the trees of old commits
            return history_of(())
        case Ok(way) if way.is_whole or known is None:
            return history_of(way.new)
        case Ok(way):
            return continued(known, way.gone, way.new)

"""Index refresh before a search, with a time limit.

Another process may be writing the index, or nothing can be written, as on a full disk. Then the last complete state
answers, and every answer says that recent edits may be missing.
"""

from __future__ import annotations

import time
from dataclasses import replace

from vademecum.code.indexing.embed import FEW
from vademecum.code.indexing.index import commit_place, index, report_standing
from vademecum.code.snapshot.repository import Opened, Repository
from vademecum.errors import StoreBusyError, StoreFullError, StoreReadOnlyError
from vademecum.protocols import Progress
from vademecum.types import IndexReport

PATIENCE_SECONDS = 2.0  # the wait for a writing process: an edit is indexed by then, and a person still waits


class Refresher:
    """Opens repositories for a question, with their changes taken in.

    Remembers the repositories that could not be brought up to date, and the errors.
    """

    def __init__(self) -> None:
        self._behind: dict[tuple[str, str, str], StoreBusyError | StoreFullError | StoreReadOnlyError] = {}

    def refresh(self, repo: Repository, progress: Progress, commit: str = "", *, linked: bool = False) -> IndexReport:
        """Index the changes, or fall back to the last complete state.

        Raises:
            StoreError: indexing failed, and there is no complete state.
        """
        place = snapshot_place(repo, commit)
        self._behind.pop((repo.name, *place), None)
        try:
            with repo.catalogue.store.waiting(PATIENCE_SECONDS):
                return index(repo, progress, revision=commit, wait_s=PATIENCE_SECONDS, embed=FEW, references=linked)
        except (StoreBusyError, StoreFullError, StoreReadOnlyError) as error:
            standing = report_standing(repo, commit)
            if standing is not None:
                self._behind[repo.name, *place] = error
                return replace(standing, notes=(self._behind_note(repo, place),))
            if not isinstance(error, StoreBusyError):
                raise
        return index(repo, progress, revision=commit, embed=FEW, references=linked)

    def opened(
        self, repo: Repository, prefixes: tuple[str, ...], commit: str, progress: Progress, *, refresh: bool
    ) -> Opened:
        """Return a repository with the snapshot to search.

        With `refresh` the snapshot is brought up to date first.

        Raises:
            StoreError: there is no state to search.
        """
        place = snapshot_place(repo, commit)
        loaded = repo.catalogue.load(*place)
        if loaded is None or loaded[1].missing or (refresh and not commit):
            self.refresh(repo, progress, commit)
            loaded = repo.catalogue.load(*place)
        assert loaded is not None
        return Opened(
            repo,
            *loaded,
            prefixes,
            "; ".join(filter(None, (*repo.catalogue.damaged(), self._behind_note(repo, place)))),
        )

    def _behind_note(self, repo: Repository, place: tuple[str, str]) -> str:
        error = self._behind.get((repo.name, *place))
        loaded = None if error is None else repo.catalogue.load(*place)
        if error is None or loaded is None:
            return ""
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(loaded[0].indexed_at))
        return f"recent edits may be missing: the index is as of {when}, since {error}"


def snapshot_place(repo: Repository, commit: str) -> tuple[str, str]:
    """Return kind and place of a commit's snapshot, or the usual one."""
    return ("commit", commit_place(repo, commit)) if commit else repo.place

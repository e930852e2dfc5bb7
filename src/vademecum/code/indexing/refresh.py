"""Refresh the index before a search, within a time limit.

Another process may be writing the index, or nothing can be written at all, as on a full disk. The last complete state then
answers, and every answer says that it may lack what was edited since: that nothing was found in it means little.
"""

from __future__ import annotations

import time
from dataclasses import replace

from vademecum.code.indexing.embed import FEW
from vademecum.code.indexing.index import commit_place, index, report_standing
from vademecum.code.snapshot.repository import Opened, Repository
from vademecum.code.snapshot.store import Snapshot
from vademecum.errors import StoreAwayError, StoreBusyError, StoreFullError, StoreReadOnlyError
from vademecum.protocols import Progress
from vademecum.types import IndexReport

PATIENCE_SECONDS = 2.0  # for another process that writes: an edit's worth is indexed by then, and a person still waits


class Refreshing:
    """Opens repositories for a question, and remembers which of them could not be brought up to date, and why."""

    def __init__(self) -> None:
        self._told: set[str] = set()  # which databases were set aside and told of
        self._behind: dict[tuple[str, str, str], StoreBusyError | StoreFullError | StoreReadOnlyError] = {}

    def refresh(self, repo: Repository, progress: Progress, commit: str = "", *, linked: bool = False) -> IndexReport:
        """Take in what changed; where that cannot be done, go on with the last complete state, if there is one.

        Raises:
            StoreError: it is not to be had, and there is none.
        """
        place = self._place(repo, commit)
        self._behind.pop((repo.name, *place), None)
        try:
            with repo.catalogue.store.waiting(PATIENCE_SECONDS):
                return index(
                    repo, progress, revision=commit, wait_s=PATIENCE_SECONDS, embed=FEW, references=linked
                )  # fmt: skip
        except (StoreBusyError, StoreFullError, StoreReadOnlyError) as error:
            standing = report_standing(repo, commit)
            if standing is not None:
                self._behind[repo.name, *place] = error
                return replace(standing, notes=(self._said(repo, place),))
            if not isinstance(error, StoreBusyError):
                raise
        return index(repo, progress, revision=commit, embed=FEW, references=linked)

    def opened(
        self, repo: Repository, prefixes: tuple[str, ...], commit: str, progress: Progress, *, refresh: bool
    ) -> Opened:
        """Return a repository with the snapshot that is to be searched, brought up to date first where `refresh` says so.

        Raises:
            StoreError: there is no state of it that could be searched.
        """
        place = self._place(repo, commit)
        try:
            loaded = repo.catalogue.load(*place)
            if loaded is None or loaded[1].missing or (refresh and not commit):
                self.refresh(repo, progress, commit)
                loaded = repo.catalogue.load(*place)
        except StoreAwayError as error:
            from vademecum.code.indexing.offline import opened_without  # which cuts files, as few searches do

            return opened_without(repo, place, prefixes, error)
        assert loaded is not None
        said = "; ".join(filter(None, (self.anew(repo), self._said(repo, place))))
        return Opened(repo, *loaded, prefixes, said)

    def anew(self, repo: Repository) -> str:
        """Say, once, that a repository's index was damaged and is made anew, "" where it was not."""
        aside = repo.catalogue.store.aside
        if not aside or aside in self._told:
            return ""
        self._told.add(aside)
        return (
            f"the index was damaged and is made anew: what was left of it is {aside} (`vade gc` removes it in a week)"
        )

    @staticmethod
    def _place(repo: Repository, commit: str) -> tuple[str, str]:
        return ("commit", commit_place(repo, commit)) if commit else repo.place

    def _said(self, repo: Repository, place: tuple[str, str]) -> str:
        error = self._behind.get((repo.name, *place))
        loaded = None if error is None else repo.catalogue.load(*place)
        return "" if error is None or loaded is None else behind(loaded[0], error)


def behind(snapshot: Snapshot, error: Exception) -> str:
    """Say that a snapshot may be older than the files, and why."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(snapshot.indexed_at))
    return f"recent edits may be missing: the index is as of {when}, since {error}"

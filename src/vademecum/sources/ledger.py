"""What a source told, and how far a run has come: written together, page by page.

A page's items and the cursor of the next page are one transaction. A run that is killed goes on with the page that it was at;
what it asks for again replaces itself. What a whole run did not tell of is dropped at its end, and at no other time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Never

from vademecum.code.checkout.source import blob_id
from vademecum.items import Item, Page
from vademecum.protocols import Row, Store
from vademecum.sources.document import document_of, path_of, readable

OVERLAP_SECONDS = 600.0  # asked for twice: what was being written while a run looked, and clocks that differ


@dataclass(frozen=True, slots=True)
class Run:
    """A run under way, as it is kept.

    Attributes:
        number: counts runs; an item carries that of the last run that told of it.
        full: whether it asks for everything.
        since: what it asks for: changes from then on, in seconds since the epoch.
        cursor: the page it asks for next.
        began: the server's time at its first page, 0 before that.
        again: whether it looks a second time, before it believes that something is gone.
        added, changed, unchanged, removed: items so far.
    """

    number: int
    full: bool
    since: float
    cursor: str = ""
    began: float = 0.0
    again: bool = False
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0

    @property
    def told(self) -> int:
        """How many items it was told of so far."""
        return self.added + self.changed + self.unchanged


@dataclass(frozen=True, slots=True)
class State:
    """How far a source is known.

    Attributes:
        asked: what was asked of which server, as a digest: another one has to be asked for everything.
        since, resume: where the next run begins.
        runs: how many there were.
        pending: the run that was cut short, if one was.
    """

    asked: str = ""
    since: float = 0.0
    resume: str = ""
    runs: int = 0
    pending: Run | None = None


class Ledger:
    """The items of one source, to be written."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def state(self) -> State:
        """Return how far the source is known."""
        rows = self.store.scan("meta", [("name", "=", "sync")], ("value",)).unwrap()
        if not rows:
            return State()
        known = json.loads(rows[0][0])
        return State(**known | {"pending": Run(**known["pending"]) if known["pending"] else None})

    def count(self) -> int:
        """Return how many items there are."""
        return len(self.store.scan("items", columns=("id",)).unwrap())

    def begin(self, asked: str, *, full: bool, anew: bool = False) -> tuple[State, bool]:
        """Return the state with a run to go on with, and whether that was cut short before.

        A run that was cut short is taken up again, unless everything is asked for now and was not then, or something else;
        or where it is to begin `anew`.
        """
        state = self.state()
        pending = state.pending
        if pending is not None and state.asked == asked and (pending.full or not full) and not anew:
            return state, True
        whole = full or state.asked != asked or not (state.since or state.resume)
        run = Run(state.runs + 1, whole, 0.0 if whole else state.since, "" if whole else state.resume)
        return State(asked, 0.0 if whole else state.since, "" if whole else state.resume, run.number, run), False

    def keep(self, state: State, page: Page) -> State:
        """Keep a page and how far the run is with it. Raises `StoreError`; then nothing of the page is kept."""
        with self.store.transaction():
            state = self._kept(state, page)
            self._write(state)
        return state

    def try_keep(self, state: State, page: Page) -> State:
        """Return what `keep` would, and keep nothing."""
        kept: list[State] = []

        def rehearse() -> Never:
            kept.append(self._kept(state, page))
            raise _UndoneError

        with suppress(_UndoneError), self.store.transaction():
            rehearse()
        return kept[0]

    def missed(self, run: Run) -> list[str]:
        """Return the ids of the items that a run has not told of."""
        return [number for (number,) in self.store.scan("items", [("run", "<", run.number)], ("id",)).unwrap()]

    def look_again(self, state: State) -> State:
        """Send a run over everything a second time, keeping what it saw."""
        assert state.pending is not None
        return self._restarted(state, replace(state.pending, again=True, cursor=""))

    def start_over(self, state: State) -> State:
        """Begin a run again whose cursor has expired: from its first page, or with everything where it went by a token."""
        run = state.pending
        assert run is not None
        if run.cursor == state.resume:
            run = replace(run, full=True, since=0.0)
        return self._restarted(state, replace(run, cursor="", again=False))

    def _restarted(self, state: State, run: Run) -> State:
        state = replace(state, pending=run)
        self._write(state)
        return state

    def finish(self, state: State, page: Page, now: float) -> tuple[State, Run]:
        """End a run: drop what a full one did not tell of, and note where the next one begins. Returns the state and the run."""
        run = state.pending
        assert run is not None
        with self.store.transaction():
            missed = self.missed(run) if run.full or page.whole else []
            self.store.delete("items", [("id", "in", missed)]).unwrap()
            run = replace(run, removed=run.removed + len(missed))
            began = run.began or now
            state = State(state.asked, max(0.0, began - OVERLAP_SECONDS), page.resume, state.runs, None)
            self._write(state)
            self.store.upsert("meta", [("synced_at", str(began))]).unwrap()
        return state, run

    def _kept(self, state: State, page: Page) -> State:
        run = state.pending
        assert run is not None
        added, changed, unchanged = self._upsert(page.items, run.number)
        removed = self.store.delete("items", [("id", "in", list(page.gone))]).unwrap() if page.gone else 0
        run = replace(
            run, cursor=page.cursor, began=run.began or page.at, added=run.added + added, changed=run.changed + changed,
            unchanged=run.unchanged + unchanged, removed=run.removed + removed,
        )  # fmt: skip
        return replace(state, pending=run)

    def _upsert(self, items: Iterable[Item], run: int) -> tuple[int, int, int]:
        """Write items. Returns how many are new to this run, changed in it, and as they were."""
        own = {item.id: item for item in map(readable, items)}
        known = {row[0]: row for row in self.store.get("items", [(number,) for number in own]).unwrap()}
        paths = self._paths(own)
        rows = [_row(item, paths[item.id], run) for item in own.values()]
        self.store.upsert("items", rows).unwrap()
        told = [row for row in rows if row[0] not in known or known[row[0]][-1] < run]  # not yet counted in this run
        added = sum(row[0] not in known for row in told)
        changed = sum(row[0] in known and _compared(known[row[0]]) != _compared(row) for row in told)
        return added, changed, len(told) - added - changed

    def _paths(self, items: dict[str, Item]) -> dict[str, str]:
        """Return a path for each item that no other item has."""
        wanted = {number: path_of(item) for number, item in items.items()}
        rows = self.store.scan("items", [("path", "in", sorted(set(wanted.values())))], ("path", "id")).unwrap()
        taken: dict[str, str] = dict(rows)
        paths: dict[str, str] = {}
        for number, path in wanted.items():
            free = taken.setdefault(path, number) == number
            own = f"{path.removesuffix('.md')}~{blake2b(number.encode(), digest_size=4).hexdigest()}.md"
            paths[number] = path if free else own
        return paths

    def _write(self, state: State) -> None:
        self.store.upsert("meta", [("sync", json.dumps(asdict(state)))]).unwrap()


class _UndoneError(Exception):
    """Ends a transaction that is to be undone."""


def _row(item: Item, path: str, run: int) -> Row:
    content = document_of(item).encode()
    return (
        item.id, item.key, path, item.title, item.kind, item.state, item.url, item.updated,
        json.dumps(item.labels), json.dumps(item.links), blob_id(content), content, run,
    )  # fmt: skip


def _compared(row: Row) -> tuple[object, ...]:
    """What an item is compared by: all its fields but the run, and its hash in place of its text."""
    return (*row[:11],)

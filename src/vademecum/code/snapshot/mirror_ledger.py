"""The ledger of an outside vector index: contents, paths, pending work.

wanted   its points are to be written      there    they are, all of them
anew     they were, and its pieces or vectors have changed since: they go first, then it is wanted
doomed   no snapshot names it any more: its points are to go
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace

from vademecum.code.snapshot.files import LEFT_OUT
from vademecum.protocols import Condition, Store

WANTED, ANEW, THERE, DOOMED = range(4)
SETTLED = "mirrored "  # of the names in `meta` under which a state is noted


@dataclass(frozen=True, slots=True)
class Placement:
    """One content at one path; `label` is the commit in its points' ids."""

    space: str
    path: str
    blob: int
    label: str
    branch: str
    state: int

    @property
    def row(self) -> tuple[object, ...]:
        """The record of it."""
        return astuple(self)


def planned(store: Store, space: str) -> None:
    """Write down what is to be done for every snapshot's files."""
    with store.transaction():
        named: dict[tuple[str, int], tuple[str, str]] = {}
        for number, label, branch in store.scan("snapshots", columns=("id", "label", "branch"), order=("id",)).unwrap():
            for path, blob in store.scan("files", [("snapshot", "=", number)], ("path", "blob")).unwrap():
                if blob != LEFT_OUT:
                    named.setdefault((path, blob), (label, branch))
        have = {(each.path, each.blob): each for each in placements_in(store, space)}
        changed = [Placement(space, *key, *of, WANTED) for key, of in named.items() if key not in have]
        for key, each in have.items():
            if key not in named and each.state != DOOMED:
                changed.append(replace(each, state=DOOMED))
            elif key in named and each.state == DOOMED:
                changed.append(replace(each, state=ANEW))
        store.upsert("placements", [each.row for each in changed]).unwrap()


def replaced(store: Store, blobs: Sequence[int]) -> None:
    """Note that contents were analysed again, inside the transaction that keeps the new analysis."""
    rows = (
        [Placement(*row) for row in store.scan("placements", [("blob", "in", list(blobs))]).unwrap()] if blobs else []
    )
    if rows:
        store.upsert("placements", [replace(each, state=ANEW).row for each in rows if each.state != DOOMED]).unwrap()
        known = store.scan("meta", [("name", "prefix", SETTLED)], ("name",)).unwrap()
        store.upsert("meta", [(name, "") for (name,) in known]).unwrap()


def placements_in(store: Store, space: str, states: Sequence[int] = (WANTED, ANEW, THERE, DOOMED)) -> list[Placement]:
    """Return what the ledger of an index says, in path order; only what is in one of some states."""
    where: list[Condition] = [("space", "=", space), ("state", "in", list(states))]
    return [Placement(*row) for row in store.scan("placements", where, order=("path", "blob")).unwrap()]


def noted(store: Store, placements: Iterable[Placement], state: int) -> None:
    """Note that placements are in a state now."""
    store.upsert("placements", [replace(each, state=state).row for each in placements]).unwrap()


def dropped(store: Store, placements: Iterable[Placement]) -> None:
    """Forget placements whose points are gone."""
    with store.transaction():
        for each in placements:
            store.delete(
                "placements", [("space", "=", each.space), ("path", "=", each.path), ("blob", "=", each.blob)]
            ).unwrap()

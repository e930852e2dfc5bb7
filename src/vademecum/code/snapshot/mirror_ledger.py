"""The ledger of an external vector index: contents, paths and pending work.

Each placement has a state:

    wanted   the points are to be written
    there    all points are written
    anew     the chunks or vectors have changed: the old points are deleted, then the state is wanted
    doomed   no snapshot has the placement any more: the points are to be deleted
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace

from vademecum.code.snapshot.files import LEFT_OUT
from vademecum.protocols import Condition, Store

WANTED, ANEW, THERE, DOOMED = range(4)
SETTLED = "mirrored "  # the prefix of the names in `meta` that record a finished state


@dataclass(frozen=True, slots=True)
class Placement:
    """One content at one path, under the commit `label` in point ids."""

    space: str
    path: str
    blob: int
    label: str
    branch: str
    state: int

    @property
    def row(self) -> tuple[object, ...]:
        """The placement's record."""
        return astuple(self)


def planned(store: Store, space: str) -> None:
    """Record the work needed for every snapshot's files."""
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
    """Mark contents as analysed again, inside the transaction that stores them."""
    rows = (
        [Placement(*row) for row in store.scan("placements", [("blob", "in", list(blobs))]).unwrap()] if blobs else []
    )
    if rows:
        store.upsert("placements", [replace(each, state=ANEW).row for each in rows if each.state != DOOMED]).unwrap()
        known = store.scan("meta", [("name", "prefix", SETTLED)], ("name",)).unwrap()
        store.upsert("meta", [(name, "") for (name,) in known]).unwrap()


def placements_in(store: Store, space: str, states: Sequence[int] = (WANTED, ANEW, THERE, DOOMED)) -> list[Placement]:
    """Return the placements in some states, in path order."""
    where: list[Condition] = [("space", "=", space), ("state", "in", list(states))]
    return [Placement(*row) for row in store.scan("placements", where, order=("path", "blob")).unwrap()]


def noted(store: Store, placements: Iterable[Placement], state: int) -> None:
    """Set the state of placements."""
    store.upsert("placements", [replace(each, state=state).row for each in placements]).unwrap()


def dropped(store: Store, placements: Iterable[Placement]) -> None:
    """Delete placements whose points are gone."""
    with store.transaction():
        for each in placements:
            store.delete(
                "placements", [("space", "=", each.space), ("path", "=", each.path), ("blob", "=", each.blob)]
            ).unwrap()

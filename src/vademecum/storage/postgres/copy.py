"""Copying a store into another: resumable, and verified.

Rows that are already there and equal are skipped, so a second run continues the first. Every row is read
back; a family is verified by its number of rows and by a digest that does not depend on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from vademecum.errors import StoreError
from vademecum.protocols import Progress, Row, Store
from vademecum.storage.postgres.encode import decode, encode
from vademecum.storage.postgres.shape import shapes
from vademecum.storage.schema import FAMILIES

AT_ONCE = 1_000  # rows compared and written at a time
_MODULUS = 1 << 64

Turned = Callable[[str, Row], Row | None]


@dataclass(frozen=True, slots=True)
class Copied:
    """One copied family: its rows, the new ones, and their digest."""

    family: str
    rows: int
    written: int
    digest: str


def copy(source: Store, target: Store, turned: Turned, progress: Progress, *, name: str = "") -> list[Copied]:
    """Copy every family into an empty or partly copied store.

    `turned` returns the target's form of a row; None to skip the row. Raises `StoreError` where the target holds other records,
    or does not return the records as written: then do not rely on it.
    """
    _check_target(source, target, name)
    return [_copy_family(family, source, target, turned, progress, name) for family in FAMILIES]


def to_machine(machine: str) -> Turned:
    """Return the conversion of a file's rows for a shared database.

    Worktrees and derived files get this machine's name.
    """

    def turned(family: str, row: Row) -> Row | None:
        named = dict(zip(FAMILIES[family].columns, row, strict=True))
        if family == "snapshots" and named["kind"] == "worktree":
            named["place"] = f"{machine}:{named['place']}"
        if family == "segments":
            named["file"] = f"{machine}/{named['file']}"
        return _as_kept(family, tuple(named.values()))

    return turned


def from_machine(machine: str) -> Turned:
    """Return the conversion of a shared database's rows for a file.

    Worktrees and derived files of other machines are skipped.
    """

    def turned(family: str, row: Row) -> Row | None:
        named = dict(zip(FAMILIES[family].columns, row, strict=True))
        for of, column, mark in (("snapshots", "place", ":"), ("segments", "file", "/")):
            if family == of and (of == "segments" or named["kind"] == "worktree"):
                if not named[column].startswith(machine + mark):
                    return None
                named[column] = named[column].removeprefix(machine + mark)
        return tuple(named.values())

    return turned


def _as_kept(family: str, row: Row) -> Row:
    """Return a row as the database will return it."""
    shape = shapes()[family]
    encoded = tuple(encode(shape, column, value) for column, value in zip(shape.columns, row, strict=True))
    return decode(list(shape.columns.values()), [encoded])[0]


def _check_target(source: Store, target: Store, name: str) -> None:
    """Refuse a target with records that the source lacks."""
    for family in ("blobs", "events", "tools"):
        there = {row[0] for row in target.scan(family, columns=_key(family)).unwrap()}
        other = there - {row[0] for row in source.scan(family, columns=_key(family)).unwrap()} if there else there
        if other:
            raise StoreError(
                f"{name} holds {len(other)} records of {family} that are no copies: copy into an empty database, or have "
                "`vade index` and `vade memory import` add what is missing"
            )


def _copy_family(family: str, source: Store, target: Store, turned: Turned, progress: Progress, name: str) -> Copied:
    count = written = theirs = ours = 0
    for part in _batches(source, family):
        rows = [made for row in source.get(family, part).unwrap() if (made := turned(family, row)) is not None]
        there = _by_key(target, family, rows)
        lacking = [row for row in rows if there.get(_key_of(family, row)) != row]
        if lacking:
            target.upsert(family, lacking).unwrap()
            there |= _by_key(target, family, lacking)
        count, written = count + len(rows), written + len(lacking)
        ours += sum(map(_digest, rows))
        theirs += sum(map(_digest, there.values()))
        progress(f"copying {family}", count, 0)
    if ours % _MODULUS != theirs % _MODULUS:
        raise StoreError(f"{name} does not give back what was written of {family}: run `vade db check` and copy again")
    return Copied(family, count, written, f"{theirs % _MODULUS:016x}")


def _by_key(store: Store, family: str, rows: Sequence[Row]) -> dict[Row, Row]:
    keys = [_key_of(family, row) for row in rows]
    return {_key_of(family, row): row for row in store.get(family, keys).unwrap()}


def _batches(store: Store, family: str) -> Iterator[list[Row]]:
    keys = store.scan(family, columns=_key(family)).unwrap()
    for start in range(0, len(keys), AT_ONCE):
        yield keys[start : start + AT_ONCE]


def _key(family: str) -> tuple[str, ...]:
    return FAMILIES[family].key


def _key_of(family: str, row: Row) -> Row:
    places = [FAMILIES[family].columns.index(column) for column in FAMILIES[family].key]
    return tuple(row[place] for place in places)


def _digest(row: Row) -> int:
    return int.from_bytes(blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")

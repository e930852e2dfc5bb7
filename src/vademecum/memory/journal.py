"""Event log of one scope, in recording order.

Each scope has its own database, so no event of one repository can appear in another. Events are only ever added. A deleted
event leaves a tombstone with its id and nothing else, so that reading the same transcript again does not bring it back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from vademecum.errors import UnknownError, UsageError
from vademecum.memory.records import Event, Role, is_time
from vademecum.protocols import Condition, Row, Store

FORGOTTEN, ARCHIVED = "forgotten", "archived"
MOVED = "moved"  # the event has a later number now, so arrays under the old number are rebuilt
CUT = "[forgotten]"  # replaces removed words
FACTS_VERSION = "facts_version"


_ROLES = {str(role): role for role in Role}


class Journal:
    """Events of one scope, in its store.

    Use one per process; several processes may open the same store.
    """

    def __init__(self, store: Store) -> None:
        """Take the scope's store, which the caller opened as durable."""
        self.store = store

    # -- writing -------------------------------------------------------------------------------------------------

    def append(self, events: Sequence[Event], recorded_at: float) -> list[Event]:
        """Add events that are neither known nor deleted, and return them.

        Call it inside a transaction.

        Raises:
            UsageError: an event has a time that no calendar has.
            StoreError: the database cannot be written.
        """
        if timeless := next((event for event in events if not is_time(event.at)), None):
            raise UsageError(f"{timeless.at} is no time: give seconds since 1970 between the years 6 and 9987")
        distinct = {event.id: event for event in events}
        ids = list(distinct)
        known = {
            row[0] for family in ("events", "tombstones") for row in self._scan(family, [("id", "in", ids)], ("id",))
        }
        new = [event for id_, event in distinct.items() if id_ not in known]
        self._put([_row(event, recorded_at) for event in new], new)
        return new

    def _put(self, rows: Sequence[Row], events: Sequence[Event]) -> None:
        """Write events with their tags."""
        self.store.upsert("events", rows).unwrap()
        tagged = [event for event in events if event.metadata]
        numbers = self.numbers(event.id for event in tagged)
        self.store.upsert("event_tags", [tag for each in tagged for tag in _tags(each, numbers[each.id])]).unwrap()

    def patch(self, id_: str, changes: Mapping[str, Any]) -> Event:
        """Change an event's metadata; None removes a key. The text never changes.

        Raises:
            UsageError: there is no such event.
            StoreError: the database cannot be written.
        """
        with self.store.transaction():
            rows = self._scan("events", [("id", "=", id_)])
            if not rows:
                raise UnknownError(f"there is no event {id_!r}: `vade memory recall` shows ids")
            event = event_of(rows[0])
            merged = {**event.metadata, **changes}
            patched = replace(event, metadata={key: value for key, value in merged.items() if value is not None})
            self.store.delete("event_tags", [("event", "=", rows[0][0])]).unwrap()
            self._put([(rows[0][0], *_row(patched, rows[0][-1])[1:])], [patched])
        return patched

    def archived(self) -> int:
        """Return the number of archived events. Raises `StoreError`."""
        return len(self._scan("tombstones", [("reason", "=", ARCHIVED)], ("id",)))

    def delete(self, ids: Sequence[str], reason: str, at: float, *, with_claims: bool = True) -> int:
        """Delete events and leave tombstones; return the number deleted.

        Ids of unknown events get a tombstone too. Claims are deleted as well, unless the events are only archived.
        Raises `StoreError`.
        """
        with self.store.transaction():
            numbers = self.numbers(ids)
            dead = {row[0] for row in self._scan("tombstones", [("id", "in", list(ids))], ("id",))}
            stones = [(None, id_, numbers.get(id_, 0), reason, at) for id_ in dict.fromkeys(ids) if id_ not in dead]
            self.store.upsert("tombstones", stones).unwrap()
            self.store.delete("events", [("number", "in", list(numbers.values()))]).unwrap()
            self.store.delete("event_tags", [("event", "in", list(numbers.values()))]).unwrap()
            if with_claims:
                self.store.delete("claims", [("event", "in", list(numbers))]).unwrap()
        return len(numbers)

    def welcome_back(self, ids: Sequence[str]) -> None:
        """Allow archived events to be added again; forgotten ones stay forgotten.

        Call it inside a transaction. Raises `StoreError`.
        """
        rows = self._scan("tombstones", [("reason", "=", ARCHIVED), ("id", "in", list(ids))])
        renamed = [(number, moved_id(id_, event), event, MOVED, at) for number, id_, event, _, at in rows]
        self.store.upsert("tombstones", renamed).unwrap()

    def cut(self, id_: str, words: str, at: float) -> None:
        """Remove words from an event, or delete it if little else remains.

        The rest gets a new number, so that arrays of the old text are rebuilt. Call it inside a transaction. Raises `StoreError`.
        """
        rows = self._scan("events", [("id", "=", id_)])
        if not rows:
            return
        event = event_of(rows[0])
        left = event.text.replace(words, CUT) if words else event.text
        if left == event.text or len(left.replace(CUT, "").strip()) < len(words):
            self.delete([id_], FORGOTTEN, at)
            return
        self._put_behind([(rows[0], replace(event, text=left))], at)

    def read_anew(self, ids: Sequence[str], at: float) -> None:
        """Give events new numbers, so that their arrays are rebuilt.

        The facts that name their subjects have changed. Call it inside a transaction. Raises `StoreError`.
        """
        self._put_behind([(row, event_of(row)) for row in self._scan("events", [("id", "in", list(ids))])], at)

    def _put_behind(self, moved: Sequence[tuple[Row, Event]], at: float) -> None:
        """Store events under new numbers after all others."""
        old = [row[0] for row, _ in moved]
        self.store.delete("events", [("number", "in", old)]).unwrap()
        self.store.delete("event_tags", [("event", "in", old)]).unwrap()
        stones = [(None, moved_id(event.id, row[0]), row[0], MOVED, at) for row, event in moved]
        self.store.upsert("tombstones", stones).unwrap()
        self._put([_row(event, row[-1]) for row, event in moved], [event for _, event in moved])

    def bump(self) -> None:
        """Raise the version of the facts, so that other processes drop caches.

        Call it inside a transaction.
        """
        self.store.upsert("meta", [(FACTS_VERSION, str(int(self.version() or 0) + 1))]).unwrap()

    # -- reading -------------------------------------------------------------------------------------------------

    def version(self) -> str:
        """Return the version of the facts, which changes whenever they do."""
        rows = self._scan("meta", [("name", "=", FACTS_VERSION)], ("value",))
        return str(rows[0][0]) if rows else ""

    def get(self, ids: Sequence[str]) -> list[Event]:
        """Return the events with these ids, in that order, without unknown ids."""
        found = {row[1]: event_of(row) for row in self._scan("events", [("id", "in", list(ids))])}
        return [found[id_] for id_ in ids if id_ in found]

    def read(self, numbers: Sequence[int]) -> dict[int, Event]:
        """Return events by number."""
        return {row[0]: event_of(row) for row in self.store.get("events", [(n,) for n in numbers]).unwrap()}

    def after(self, number: int, at_once: int) -> Iterator[list[tuple[int, Event]]]:
        """Yield the events after a number, in order, in lists of `at_once`."""
        numbers = sorted(row[0] for row in self._scan("events", [("number", ">", number)], ("number",)))
        for start in range(0, len(numbers), at_once):
            part = numbers[start : start + at_once]
            where: list[Condition] = [("number", ">=", part[0]), ("number", "<=", part[-1])]
            yield [(row[0], event_of(row)) for row in self._scan("events", where, order=("number",))]

    def between(
        self, since: float, until: float, session: str = "", metadata: Mapping[str, Any] | None = None
    ) -> list[Event]:
        """Return the events from `since` to before `until`, in order of time.

        Args:
            since: Start, in seconds since the epoch.
            until: End, not included.
            session: Only events of this session, "" for all.
            metadata: Only events whose metadata holds all these values.
        """
        where: list[Condition] = [("at", ">=", since), ("at", "<", until)]
        where += [("session", "=", session)] if session else []
        tagged = self.tagged(metadata) if metadata else None
        rows = self._scan("events", where, order=("at", "number"))
        return [event_of(row) for row in rows if tagged is None or row[0] in tagged]

    def of_session(self, session: str) -> list[tuple[int, Event]]:
        """Return a session's events with their numbers, in order of time."""
        rows = self._scan("events", [("session", "=", session)], order=("at", "number"))
        return [(row[0], event_of(row)) for row in rows]

    def said_before(self, id_: str) -> Event | None:
        """Return a person's message before an event, in its session.

        None where an agent asked something in between, which the event answers.
        """
        for event in self.get([id_]):
            where: list[Condition] = [("session", "=", event.session), ("at", "<", event.at)]
            people, agent = [("role", "in", [Role.USER, Role.NOTE])], [("role", "=", Role.ASSISTANT)]
            said, told = (
                self.store.newest("events", [*where, *who], ("at", "number"), 1).unwrap() for who in (people, agent)
            )
            message, asked = ([event_of(row) for row in rows] for rows in (said, told))
            if message and not (asked and asked[0].at >= message[0].at and asked[0].text.rstrip().endswith("?")):
                return message[0]
        return None

    def edited(self, session: str) -> list[str]:
        """Return the relative paths that a session edited, the latest first."""
        where: list[Condition] = [("session", "=", session), ("role", "=", str(Role.EDIT))]
        paths = [event_of(row).path for row in reversed(self._scan("events", where, order=("at", "number")))]
        return list(dict.fromkeys(filter(None, paths)))

    def digests(self, since: float, until: float, session: str = "") -> list[tuple[float, str]]:
        """Return (end, digest) of sessions that ended in a period, in order."""
        where: list[Condition] = [("last_at", ">=", since), ("last_at", "<", until)]
        where += [("session", "=", session)] if session else []
        return [(row[0], row[1]) for row in self._scan("digests", where, ("last_at", "text"), ("last_at",)) if row[1]]

    def numbers(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the numbers of events by id."""
        return dict(self._scan("events", [("id", "in", list(ids))], ("id", "number")))

    def id_at(self, number: int) -> str:
        """Return the id of the event with a number, "" for none."""
        rows = self._scan("events", [("number", "=", number)], ("id",))
        return str(rows[0][0]) if rows else ""

    def deleted(self, after: int) -> tuple[list[int], int]:
        """Return numbers of events deleted since tombstone `after`, and the last tombstone."""
        rows = self._scan("tombstones", [("number", ">", after)], ("number", "event"))
        return [event for _, event in rows if event], max((number for number, _ in rows), default=after)

    def tagged(self, metadata: Mapping[str, Any]) -> set[int]:
        """Return the numbers of events whose metadata holds all these values."""
        sets = [
            {
                row[0]
                for row in self._scan("event_tags", [("name", "=", name), ("value", "=", _json(value))], ("event",))
            }
            for name, value in metadata.items()
        ]
        return set.intersection(*sets) if sets else set()

    def _scan(
        self, family: str, where: Sequence[Condition] = (), columns: Sequence[str] = (), order: Sequence[str] = ()
    ) -> list[Row]:
        return self.store.scan(family, where, columns, order).unwrap()


def moved_id(id_: str, number: int) -> str:
    """Return the tombstone id for a number that an event gave up.

    >>> moved_id("ab12", 7)
    'ab12#7'
    """
    return f"{id_}#{number}"


def _row(event: Event, recorded_at: float) -> Row:
    """Return an event as a row; the database assigns the number."""
    return (None, event.id, event.at, str(event.role), event.session, event.repo, event.speaker, event.text,
            _json(dict(event.metadata)), recorded_at)  # fmt: skip


def event_of(row: Row) -> Event:
    """Return the event in a row of `events`."""
    _, id_, at, role, session, repo, speaker, text, metadata, _ = row
    return Event(id_, at, _ROLES[role], text, session, repo, speaker, json.loads(metadata) if metadata != "{}" else {})


def _tags(event: Event, number: int) -> list[Row]:
    """Return one row for each plain value or item of a list."""
    rows: dict[Row, None] = {}
    for name, value in event.metadata.items():
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, str | int | float | bool):
                rows[name, _json(item), number] = None
    return list(rows)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    except (TypeError, ValueError, RecursionError) as problem:
        raise UsageError(f"metadata is what JSON can hold, text, numbers, lists and the like: {problem}") from problem

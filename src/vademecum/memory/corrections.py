"""Corrections by a person: explain, confirm, reject, restore, forget, edit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from vademecum.errors import UnknownError, UsageError
from vademecum.memory.anchors import Anchoring
from vademecum.memory.facts import CONFIRMED, FORGOTTEN, REJECTED
from vademecum.memory.journal import FORGOTTEN as DELETED
from vademecum.memory.labels import with_topic
from vademecum.memory.ledger import Scope
from vademecum.memory.portable import Edits
from vademecum.memory.record import Extract, Recording, record
from vademecum.memory.records import Anchor, Event, Fact, FactKind, Reading, Role, Statement, event_id
from vademecum.protocols import Clock


@dataclass(frozen=True, slots=True)
class Why:
    """A fact's sources and history."""

    fact: Fact
    said: tuple[tuple[Event | None, str], ...]  # each event that states the fact (None if not stored), and its words
    history: tuple[Fact, ...]  # all facts with the same key, oldest first
    scope: str
    rejected: bool = False  # a person rejected the fact: it is hidden until restored
    anchors: tuple[Anchor, ...] = ()  # the code it is about, each with its state


class Corrections(ABC):
    """Finds facts by id in all scopes, and changes them.

    `Memory` extends this class.

    Args:
        scopes: Scopes, the nearest first.
        anchoring: Anchors facts to code.
        extract: Reads statements in a text.
        clock: Returns the current time.
    """

    def __init__(self, scopes: Sequence[Scope], anchoring: Anchoring, extract: Extract, clock: Clock) -> None:
        self._scopes = tuple(scopes)
        self._anchoring = anchoring
        self._extract = extract
        self._clock = clock

    @abstractmethod
    def _changed(self) -> None:
        """Drop caches that a change of facts invalidates."""

    def why(self, id_: str) -> Why:
        """Return a fact's sources and history. Raises `UsageError` for an unknown id."""
        scope, fact = self._fact(id_)
        claims = scope.ledger.claims(fact)
        events = {e.id: e for each in self._scopes for e in each.journal.get([claim.event for claim in claims])}
        said = tuple((events.get(claim.event), claim.text) for claim in claims)
        history = tuple(scope.ledger.history(fact.key))
        anchors = self._anchoring.states(scope, [fact]).get(fact.id, ())
        return Why(fact, said, history, scope.name, fact.id not in {each.id for each in history}, anchors)

    def confirm(self, id_: str) -> Fact:
        """Confirm a fact: it is certain from now on. Raises `UsageError`, `StoreError`.

        Facts that contradict it end.
        """
        return self._mark(id_, CONFIRMED)

    def reject(self, id_: str) -> Fact:
        """Reject a fact: it is hidden, and not learned again, until restored.

        Raises `UsageError`, `StoreError`.
        """
        return self._mark(id_, REJECTED)

    def rejected(self) -> list[Fact]:
        """Return the rejected facts as if not rejected, oldest first."""
        return [fact for scope in self._scopes for fact in scope.ledger.rejected()]

    def _mark(self, id_: str, mark: str) -> Fact:
        scope, fact = self._fact(id_)
        with scope.store.transaction():
            scope.ledger.mark(fact, mark, self._clock())
            self._anchoring.anchor(scope, scope.ledger.get([id_]))  # a rejected fact has lost its anchors
        self._changed()
        same = [each for each in scope.ledger.history(fact.key) if each.digest == fact.digest]
        return next((each for each in same if each.valid_to is None), next((e for e in same if e.id == id_), fact))

    def restore(self, id_: str) -> Fact:
        """Undo a rejection and return the fact. Raises `UsageError`, `StoreError`."""
        scope, fact = self._fact(id_)
        if scope.ledger.get([id_]):
            raise UsageError(f"the fact {id_!r} was not rejected: `vade memory restore` lists those that were")
        with scope.store.transaction():
            scope.ledger.unmark(fact)
            self._anchoring.anchor(scope, scope.ledger.get([id_]))
        self._changed()
        return next(iter(scope.ledger.get([id_])), fact)

    def forget(self, id_: str) -> int:
        """Forget a fact or an event for good; return the events cut.

        The words that state the fact are removed from its events. Reading the same transcript again does not bring them back.
        Raises `UsageError`, `StoreError`.
        """
        try:
            scope, fact = self._fact(id_)
        except UnknownError:
            self.delete(id_)
            return 1
        claims = scope.ledger.all_claims(fact.digest)
        cut = 0
        for each in self._scopes:  # the repository's journal may hold words of a global fact
            with each.store.transaction():
                here = {event.id for event in each.journal.get([claim.event for claim in claims])}
                keys = [claim.key for claim in each.ledger.claims_of(list(here))]
                for claim in claims:
                    if claim.event in here:
                        each.journal.cut(claim.event, claim.text, self._clock())
                each.ledger.settle(keys)  # deleting an event deletes its other claims too
                cut += len(here)
        with scope.store.transaction():
            scope.ledger.mark(fact, FORGOTTEN, self._clock())
        self._changed()
        return cut

    def delete(self, id_: str) -> None:
        """Delete an event and its claims for good.

        Reading the same transcript again does not bring it back. Raises `UsageError`, `StoreError`.
        """
        scope, _ = self._held(id_)
        with scope.store.transaction():
            keys = [claim.key for claim in scope.ledger.claims_of([id_])]
            scope.journal.delete([id_], DELETED, self._clock())
            scope.ledger.settle(keys)
        self._changed()

    def edit(self, id_: str, text: str, by: str = "") -> Fact:
        """Replace a fact's wording; the old wording becomes its past.

        `by` is "agent" for an agent's correction. Raises `UsageError`, `StoreError`.
        """
        if not text.strip():
            raise UsageError("there is nothing to put in its place: give some text, or use `vade memory forget`")
        scope, fact = self._fact(id_)
        now = max(
            self._clock(), scope.ledger.after(fact.key)
        )  # later than the old wording, even if the clock was set back
        metadata = {"edits": id_} | ({"by": by} if by else {})
        event = Event(event_id("", Role.NOTE, text, now), now, Role.NOTE, text, "", scope.repo, metadata=metadata)
        wording = _wording_of(fact, self._extract)
        _, facts = record([event], Recording(scope, scope, wording, self._anchoring, fact.key), now)
        self._changed()
        return next(each for each in facts if each.valid_to is None)

    def _note(self, scope: Scope, kind: FactKind, text: str) -> None:
        """Record a sentence as a fact of a kind. Raises `StoreError`."""
        now = self._clock()
        event = Event(event_id("", Role.NOTE, text, now), now, Role.NOTE, text, "", scope.repo)

        def extract(text: str, role: Role) -> Reading:
            found = self._extract(text, role)
            read = found.statements or [Statement(kind, text, "", "", text, 1.0)]
            return Reading([replace(each, kind=kind, confidence=1.0) for each in read])

        record([event], Recording(scope, self._scopes[-1], extract, self._anchoring), now)
        self._changed()

    def _apply(self, scope: Scope, edits: Edits) -> None:
        """Make the changes of a page edited by hand. Raises `StoreError`."""
        for id_, text in edits.corrected.items():
            try:
                self.edit(id_, text)
            except UnknownError:  # forgotten meanwhile
                self._note(scope, FactKind.FACT, text)
        for ids, undo in ((edits.replaced, self.reject), (edits.forgotten, self.forget)):
            for id_ in ids:
                with suppress(UnknownError):  # replaced or forgotten meanwhile
                    undo(id_)
        for kind, text in edits.noted:
            self._note(scope, kind, text)

    def _held(self, id_: str) -> tuple[Scope, Event]:
        """Return an event, and the scope that holds it. Raises `UsageError`."""
        for scope in self._scopes:
            if found := scope.journal.get([id_]):
                return scope, found[0]
        raise UnknownError(f"there is no fact or event {id_!r}: `vade memory recall` shows ids")

    def _fact(self, id_: str) -> tuple[Scope, Fact]:
        for scope in self._scopes:
            if found := scope.ledger.get([id_]):
                return scope, found[0]
        for scope in self._scopes:
            if found := [fact for fact in scope.ledger.rejected() if fact.id == id_]:
                return scope, found[0]
        held = [fact for scope in self._scopes for fact in scope.ledger.facts()]
        about = [
            f"{fact.id} ({with_topic(fact.topic, fact.value)})" for fact in held if fact.subject.lower() == id_.lower()
        ]
        shown = (
            f"of it there are {', '.join(about[:3])}"
            if about
            else "`vade memory prefs --all` and `vade memory recall` show ids"
        )
        raise UnknownError(f"there is no fact {id_!r}: {shown}")


def _wording_of(fact: Fact, read: Extract) -> Extract:
    """Return an extractor that reads any text as this fact's new wording.

    The value is read where the fact's subject is found in the text, else it is the text.
    """

    def extract(text: str, role: Role) -> Reading:
        about = (fact.subject, fact.attribute)
        said = read(text, role).statements if fact.subject else ()
        found = next((each for each in said if (each.subject, each.attribute) == about), None)
        value, reason = (found.value, found.reason) if found else (text, "")
        return Reading([Statement(fact.kind, text, *about, value, 1.0, reason, fact.place, corrects=True)])

    return extract

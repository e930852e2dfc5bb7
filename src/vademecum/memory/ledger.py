"""Claims, facts and marks of one scope, in its store.

A scope is a database with its journal and its ledger. The check of it repairs nothing, since the content exists nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from vademecum.amounts import counted
from vademecum.errors import Error, StoreError
from vademecum.memory.active import ALWAYS_ON
from vademecum.memory.facts import FORGOTTEN, HELD, REJECTED, TAKEN_BACK, digest_of, settle
from vademecum.memory.journal import Journal
from vademecum.memory.kinds import REPLACING
from vademecum.memory.labels import CALLED
from vademecum.memory.records import BEFORE, Claim, Fact, FactKind, Role
from vademecum.memory.reversals import corrected, ended, finished, is_about_past, may_reverse, replaced, states
from vademecum.memory.words import is_denied
from vademecum.protocols import Condition, Row, Store
from vademecum.result import Err
from vademecum.types import Check

_AFTER = 0.001  # seconds
UNTOLD = 0.5  # confidence that ends a fact, and is too low to be told


class Ledger:
    """Claims and facts of one scope."""

    def __init__(self, store: Store, journal: Journal) -> None:
        """Take the scope's store, and the journal that versions its facts."""
        self.store = store
        self.journal = journal

    # -- writing, inside a transaction ---------------------------------------------------------------------------

    def learn(self, claims: Sequence[Claim]) -> list[Fact]:
        """Store claims, settle their keys, and return the facts of these keys.

        Claims of forgotten values are not stored. Raises `StoreError`.
        """
        marks = self.marks(claim.digest for claim in claims)
        kept = [claim for claim in claims if marks.get(claim.digest, ("",))[0] != FORGOTTEN]
        facts, waiting, standing = dict[str, list[Fact]](), list[Claim](), dict[str, list[Fact]]()
        for _, said in groupby(kept, lambda claim: claim.event):
            own = list(said)
            if any(map(may_reverse, own)):
                new = self._keep(waiting)
                facts |= new
                standing = standing | new if standing else _by_key(self.facts())
                held = [fact for of_key in standing.values() for fact in of_key if fact.valid_to is None]
                own, waiting = self._reversing(own, held), []
            waiting += own
        facts |= self._keep(waiting)
        return [fact for of_key in facts.values() for fact in of_key]

    def _keep(self, claims: Sequence[Claim]) -> dict[str, list[Fact]]:
        """Store claims, and return the facts that they make, by key."""
        self.store.upsert("claims", [_row(claim, CLAIM_COLUMNS) for claim in claims]).unwrap()
        return {claim.key: [] for claim in claims} | _by_key(self.settle(claim.key for claim in claims))

    def _reversing(self, claims: Sequence[Claim], standing: Sequence[Fact]) -> list[Claim]:
        """Return an event's claims, and those that take facts back."""
        before = next((claim for claim in claims if claim.subject == BEFORE), None)
        corrected = self._said_before(before, standing) if before is not None else []
        own = [
            each for each in claims if each is not before and not (before and corrected and each.text == before.text)
        ]
        lasting = [fact for fact in standing if fact.kind in REPLACING]
        taken = self._taken_back(own, lasting)
        own = [self._placed(each, lasting) for each in own if each.confidence]
        said = {each.key for each in own if not is_denied(each.value)}
        taken = [each for each in taken if each.key not in said or not is_denied(each.value)]
        keys = {each.key for each in taken}
        new = {(each.key, each.digest) for each in (*own, *taken)}
        gone = [fact for fact in lasting if any(key == fact.key and digest != fact.digest for key, digest in new)]
        todos = [fact for fact in standing if fact.kind is FactKind.TODO]
        done = {fact.id: (claim, fact) for claim in claims for fact in finished(claim, todos)}
        reports = {claim.text for claim, _ in done.values()}  # and no rules
        own = [each for each in own if each.key not in keys and not is_about_past(each, gone, taken)]
        own = [each for each in own if each.text not in reports or each.kind not in ALWAYS_ON]
        ends = [
            _instead(claim, fact, f"not {fact.value}", UNTOLD, number=len(taken) + number)
            for number, (claim, fact) in enumerate(done.values(), 1)
        ]
        return own + taken + corrected + ends

    def _placed(self, claim: Claim, standing: Sequence[Fact]) -> Claim:
        """Return a claim under the key of the fact that it replaces."""
        fact = replaced(claim, [each for each in standing if each.key != claim.key])
        if fact is None:
            return claim
        digest = digest_of(fact.key, claim.value)
        return replace(claim, key=fact.key, digest=digest, subject=fact.subject, attribute=fact.attribute)

    def _taken_back(self, claims: Sequence[Claim], standing: Sequence[Fact]) -> list[Claim]:
        """Return claims that take back the facts gone by a sentence."""
        found: dict[str, Claim] = {}
        for claim in claims:
            for fact, value in ended(claim, [each for each in standing if not any(states(c, each) for c in claims)]):
                if is_denied(fact.value) or fact.id in found:
                    continue
                sure = (
                    fact.confidence if not is_denied(value) else claim.confidence if is_denied(claim.value) else UNTOLD
                )
                found[fact.id] = _instead(claim, fact, value, sure, number=len(found) + 1)
        return list(found.values())

    def _said_before(self, claim: Claim, standing: Sequence[Fact]) -> list[Claim]:
        """Return claims that take back or correct a person's message before."""
        message = self.journal.said_before(claim.event)
        digests = {each.digest for each in self.claims_of([message.id])} if message is not None else ()
        found: list[Claim] = []
        for fact, value in corrected(claim.text, [fact for fact in standing if fact.digest in digests]):
            new = _instead(
                claim, fact, value or f"not {fact.value}", fact.confidence if value else UNTOLD, number=len(found) + 1
            )
            found.append(replace(new, text=f"{fact.text} \u2192 {claim.text}"))
        return found

    def add(self, claims: Sequence[Claim], at: float) -> list[Fact]:
        """Learn claims of stored events, and return the facts.

        Events that gain a subject this way are indexed again under it. Raises `StoreError`.
        """
        named = [claim for claim in claims if claim.subject or claim.attribute]
        known = {tuple(row) for row in self._scan("claims", [("event", "in", list({c.event for c in named}))],
                                                  ("event", "position"))}  # fmt: skip
        facts = self.learn(claims)
        self.journal.read_anew(list({c.event for c in named if (c.event, c.position) not in known}), at)
        return facts

    def settle(self, keys: Iterable[str]) -> list[Fact]:
        """Compute the facts of some keys again from their claims.

        Raises `StoreError`.
        """
        distinct = list(dict.fromkeys(keys))
        if not distinct:
            return []
        by_key = self._by_key(distinct)
        marks = self.marks(claim.digest for claims in by_key.values() for claim in claims)
        facts = [fact for claims in by_key.values() for fact in settle(claims, marks)]
        before = {row[0]: row for row in self._scan("facts", [("key", "in", distinct)], FACT_COLUMNS)}
        rows = [_row(fact, FACT_COLUMNS) for fact in facts]
        self.store.upsert("facts", [row for row in rows if before.get(row[0]) != row]).unwrap()
        gone = before.keys() - {fact.id for fact in facts}
        self.store.delete("facts", [("id", "in", list(gone))]).unwrap()
        self.store.delete("anchors", [("fact", "in", list(gone))]).unwrap()
        self.journal.bump()
        return facts

    def mark(self, fact: Fact, mark: str, at: float) -> None:
        """Store a person's mark on a fact's value, and settle its key.

        The mark's time is later than all claims and marks of the key, whatever the clock says. Raises `StoreError`.
        """
        self.store.upsert("marks", [(fact.digest, mark, max(at, self.after(fact.key)))]).unwrap()
        if mark == FORGOTTEN:
            self.store.delete("claims", [("digest", "=", fact.digest)]).unwrap()
        self.settle([fact.key])

    def unmark(self, fact: Fact) -> None:
        """Remove a person's mark from a fact's value, and settle its key.

        Raises `StoreError`.
        """
        self.store.delete("marks", [("digest", "=", fact.digest)]).unwrap()
        self.settle([fact.key])

    # -- reading -------------------------------------------------------------------------------------------------

    def get(self, ids: Sequence[str]) -> list[Fact]:
        """Return facts by id, in the order of the ids."""
        if not ids:
            return []
        found = {row[0]: _fact(row) for row in self._scan("facts", [("id", "in", list(ids))])}
        return [found[id_] for id_ in ids if id_ in found]

    def facts(self, kinds: Sequence[FactKind] = (), *, standing: bool = True, as_of: float | None = None) -> list[Fact]:
        """Return facts, oldest first.

        Args:
            kinds: Only facts of these kinds; all if empty.
            standing: Only facts that hold now; else all there ever were.
            as_of: Facts that held at this time instead.
        """
        where: list[Condition] = [("kind", "in", [str(kind) for kind in kinds])] if kinds else []
        found = [_fact(row) for row in self._scan("facts", where, order=("valid_from", "id"))]
        if as_of is not None:
            return [fact for fact in found if fact.holds_at(as_of)]
        return [fact for fact in found if fact.valid_to is None] if standing else found

    def rejected(self) -> list[Fact]:
        """Return rejected and held facts as if they were not, oldest first."""
        digests = {row[0] for row in self._scan("marks", [("mark", "in", [REJECTED, HELD])], ("digest",))}
        keys = (
            {row[0] for row in self._scan("claims", [("digest", "in", list(digests))], ("key",))} if digests else set()
        )
        facts = []
        for claims in self._by_key(list(keys)).values():
            marks = self.marks({claim.digest for claim in claims} - digests)
            facts += [fact for fact in settle(claims, marks) if fact.digest in digests]
        return sorted(facts, key=lambda fact: (fact.valid_from, fact.id))

    def held(self, events: Sequence[str]) -> set[str]:
        """Return the events among these whose statement is held back."""
        claims = [claim for claim in self.claims_of(events) if claim.speaker == Role.ASSISTANT]
        marks = self.marks(claim.digest for claim in claims)
        return {claim.event for claim in claims if marks.get(claim.digest, ("",))[0] == HELD}

    def history(self, key: str) -> list[Fact]:
        """Return all facts of one key, oldest first."""
        return [_fact(row) for row in self._scan("facts", [("key", "=", key)], order=("valid_from", "id"))]

    def of_events(self, ids: Sequence[str]) -> dict[str, list[Fact]]:
        """Return the facts that events state, by event."""
        if not ids:
            return {}
        claims = [_claim(row) for row in self.store.get("claims", [(id_,) for id_ in ids]).unwrap()]
        if not claims:
            return {}
        digests = list({claim.digest for claim in claims})
        facts = [_fact(row) for row in self._scan("facts", [("digest", "in", digests)])]
        by_event: dict[str, list[Fact]] = {}
        for claim in claims:
            own = [fact for fact in facts if fact.digest == claim.digest and fact.first_at <= claim.at]
            if own:  # where a value held several times, the latest run that had begun by this claim
                by_event.setdefault(claim.event, []).append(max(own, key=lambda f: (f.first_at, f.valid_from)))
        return by_event

    def claims(self, fact: Fact) -> list[Claim]:
        """Return the claims that support a fact, oldest first."""
        rows = self._scan("claims", [("key", "=", fact.key)])
        own = [claim for claim in map(_claim, rows) if claim.digest == fact.digest]
        end = fact.valid_to if fact.valid_to is not None else float("inf")
        return sorted((c for c in own if fact.first_at <= c.at <= max(fact.last_at, end)), key=lambda c: c.at)

    def all_claims(self, digest: str) -> list[Claim]:
        """Return all claims of a value."""
        return [_claim(row) for row in self._scan("claims", [("digest", "=", digest)])]

    def claims_of(self, events: Sequence[str]) -> list[Claim]:
        """Return the claims of events, in order of time."""
        rows = self._scan("claims", [("event", "in", list(events))])
        return sorted(map(_claim, rows), key=lambda claim: (claim.at, claim.event, claim.position))

    def subjects_of(self, events: Sequence[str]) -> list[tuple[str, str, str]]:
        """Return (event, subject, attribute) of the claims with a subject."""
        rows = self._scan("claims", [("event", "in", list(events))], ("event", "subject", "attribute"))
        return [(event, subject, attribute) for event, subject, attribute in rows if subject]

    def speakers_of(self, digests: Sequence[str]) -> dict[str, set[str]]:
        """Return the speakers of each value, by digest: names or roles."""
        found: dict[str, set[str]] = {}
        for digest, speaker in self._scan("claims", [("digest", "in", list(digests))], ("digest", "speaker")):
            found.setdefault(digest, set()).add(speaker)
        return found

    def marks(self, digests: Iterable[str]) -> dict[str, tuple[str, float]]:
        """Return a person's marks on values, by digest."""
        rows = self._scan("marks", [("digest", "in", list(dict.fromkeys(digests)))])
        return {digest: (mark, at) for digest, mark, at in rows}

    def after(self, key: str) -> float:
        """Return a time after all claims and marks of a key."""
        said = self._scan("claims", [("key", "=", key)], ("at", "digest"))
        marked = self.marks(digest for _, digest in said).values()
        return max([at for at, _ in said] + [at for _, at in marked], default=0.0) + _AFTER

    def uses(self, items: Sequence[str]) -> dict[str, int]:
        """Return how often facts or events were shown, by id."""
        return dict(self._scan("usage", [("item", "in", list(items))]))

    def count_uses(self, shown: Mapping[str, int]) -> None:
        """Add to the counts of shown facts and events. Raises `StoreError`."""
        with self.store.transaction():
            before = self.uses(list(shown))
            rows = [(item, before.get(item, 0) + times) for item, times in shown.items()]
            self.store.upsert("usage", rows).unwrap()

    def _by_key(self, keys: Sequence[str]) -> dict[str, list[Claim]]:
        by_key: dict[str, list[Claim]] = {key: [] for key in keys}
        for row in self._scan("claims", [("key", "in", keys)]) if keys else ():
            by_key[row[2]].append(_claim(row))
        return by_key

    def _scan(
        self, family: str, where: Sequence[Condition] = (), columns: Sequence[str] = (), order: Sequence[str] = ()
    ) -> list[Row]:
        return self.store.scan(family, where, columns, order).unwrap()


def _by_key(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = {}
    for fact in facts:
        found.setdefault(fact.key, []).append(fact)
    return found


def _instead(claim: Claim, fact: Fact, value: str, confidence: float, *, number: int) -> Claim:
    """Return a claim of another value of a fact."""
    return replace(
        claim, position=claim.position + number * TAKEN_BACK, key=fact.key, kind=fact.kind, value=value,
        digest=digest_of(fact.key, value), subject=fact.subject, attribute=fact.attribute, place=fact.place,
        corrects=True, confidence=confidence,
    )  # fmt: skip


def topics_of(ledgers: Iterable[Ledger], events: Sequence[str]) -> dict[str, str]:
    """Return the topics of events by id, from all ledgers.

    A claim meant for everywhere is in another ledger than its event. Raises `StoreError`.
    """
    found: dict[str, dict[str, None]] = {}
    for ledger in ledgers:
        for event, subject, attribute in ledger.subjects_of(events):
            named = (subject, attribute, CALLED.get(subject, ""))
            found.setdefault(event, {}).update(dict.fromkeys(name for name in named if name))
    return {event: " ".join(names) for event, names in found.items()}


def _row(item: Claim | Fact, columns: Sequence[str]) -> Row:
    values = (getattr(item, name) for name in columns)
    return tuple(str(v) if isinstance(v, FactKind) else int(v) if isinstance(v, bool) else v for v in values)


# The families' columns; a claim's `recorded_at` and the like have the same names in both.
CLAIM_COLUMNS = ("event", "position", "key", "digest", "kind", "text", "subject", "attribute", "value", "reason", "place",
                 "confidence", "corrects", "at", "speaker", "recorded_at")  # fmt: skip
FACT_COLUMNS = ("id", "key", "digest", "kind", "text", "subject", "attribute", "value", "reason", "place", "confidence",
                "mentions", "first_at", "last_at", "valid_from", "valid_to", "superseded_by", "disputed", "confirmed",
                "recorded_at", "event")  # fmt: skip


def _claim(row: Row) -> Claim:
    named = dict(zip(CLAIM_COLUMNS, row, strict=True))
    return Claim(**{**named, "kind": FactKind(named["kind"]), "corrects": bool(named["corrects"])})


def _fact(row: Row) -> Fact:
    named = dict(zip(FACT_COLUMNS, row, strict=True))
    told = {"disputed": bool(named["disputed"]), "confirmed": bool(named["confirmed"])}
    return Fact(**{**named, **told, "kind": FactKind(named["kind"])})


REPOSITORY, GLOBAL = "repository", "global"


@dataclass(frozen=True)
class Scope:
    """Database of a scope, with its journal and ledger."""

    name: str  # REPOSITORY or GLOBAL
    repo: str  # the repository's root, "" for the global one
    directory: Path
    store: Store
    journal: Journal
    ledger: Ledger
    number: int  # its index among the open scopes


def scope_of(number: int, name: str, repo: str, directory: Path, store: Store) -> Scope:
    """Return the scope over a store; derived files go below `directory`."""
    journal = Journal(store)
    return Scope(name, repo, directory, store, journal, Ledger(store, journal), number)


FIX = "put back a copy of it, or move it away and `vade memory import` what was exported; `vade memory sync` reads transcripts anew"


def check_memory(opened: Callable[[], Sequence[Scope]]) -> list[Check]:
    """Return one check for each scope, or the error that prevents opening."""
    try:
        scopes = opened()
    except Error as error:
        return [Check("memory", False, str(error), FIX)]
    return [_check(scope) for scope in scopes]


def _check(scope: Scope) -> Check:
    name = f"memory, {scope.name}"
    try:
        found = scope.store.check()
        if isinstance(found, Err):
            return Check(name, False, str(found.error), FIX)
        if found.value != "ok":
            return Check(name, False, found.value, FIX)
        away = scope.journal.archived()
        events, facts = (len(scope.store.scan(of, columns=("id",)).unwrap()) for of in ("events", "facts"))
    except StoreError as error:
        return Check(name, False, str(error), FIX)
    said = [counted(events, "event"), counted(facts, "fact")]
    said += [f"{counted(away, 'event')} archived in {scope.directory / 'memory'}"] if away else []
    return Check(name, True, ", ".join(said))

"""Extract statements with a language model, keeping only quoted ones.

An item of the model's answer counts if it names an event from the prompt and quotes words of that event, regardless of
spaces. All other items are dropped and counted. Statements that were already read in the same words are not learned
twice. Progress is stored after each batch, so the next run continues there and a failing server costs one batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vademecum.memory.extract import extract
from vademecum.memory.facts import claim_of
from vademecum.memory.ledger import Scope
from vademecum.memory.records import Event, FactKind, Role, Statement, writable
from vademecum.memory.sync import load_state, save_state
from vademecum.memory.transcripts.convert import CUT
from vademecum.protocols import Clock, Extractor
from vademecum.redaction.redact import MARK, redact
from vademecum.result import Err
from vademecum.types import Passage

SOURCE = "learn"  # name under which the progress is stored
MOST_EVENTS = 200  # in one run, by default; a local model takes seconds for ten
AT_ONCE = 10
CONFIDENCE: Mapping[Role, float] = {Role.USER: 0.7, Role.NOTE: 0.75, Role.ASSISTANT: 0.5}
SHOWN = 4_000  # characters of an event: two thirds from its beginning, the rest from its end
FIRST_POSITION = 1000  # position of a model's first statement; others come before
_MOST_CHARACTERS = 300  # of a value or reason
_LEAST_QUOTED = 8  # characters: a shorter quotation can be found anywhere


@dataclass
class Learned:
    """Counts of one run.

    Attributes:
        read: Events shown to the model.
        kept: New statements.
        dropped: Items that name no event of the batch, quote words it does not hold, or make no sense.
        shortened: Events that the model was shown without their middle.
        problem: The error that ended the run early, "" for none.
        scope: The scope of the events, "repository" or "global".
    """

    read: int = 0
    kept: int = 0
    dropped: int = 0
    shortened: int = 0
    problem: str = ""
    scope: str = ""


def learn(scope: Scope, extractor: Extractor, clock: Clock, most: int = MOST_EVENTS) -> Learned:
    """Let a model read up to `most` new events, oldest first.

    Raises `StoreError`.
    """
    done = Learned(scope=scope.name)
    start = load_state(scope.store, scope.name, SOURCE).get("number", 0)
    for batch in _batches(scope, int(start), most):
        noted = {c.event for c in scope.ledger.claims_of([e.id for _, e in batch]) if c.position >= FIRST_POSITION}
        events = [event for _, event in batch if event.role in CONFIDENCE and event.id not in noted]
        answer = extractor.read([Passage(shown_of(event.text), event.id, str(event.role)) for event in events])
        if isinstance(answer, Err):
            done.problem = str(answer.error)
            break
        done.read += len(events)
        done.shortened += sum(len(event.text) > SHOWN for event in events)
        _keep(answer.value, events, scope, clock(), done)
        save_state(scope.store, scope.name, SOURCE, {"number": batch[-1][0]}, clock())
    return done


def shown_of(text: str) -> str:
    """Return the text a model is shown, without a long text's middle.

    Both ends stay, since people comment on a paste there.

    >>> len(shown_of("a" * 5_000)), CUT in shown_of("a" * 5_000)
    (4000, True)
    """
    if len(text) <= SHOWN:
        return text
    begin = SHOWN * 2 // 3
    return f"{text[:begin]}{CUT}{text[begin + len(CUT) - SHOWN :]}"


def _batches(scope: Scope, number: int, most: int) -> Iterator[list[tuple[int, Event]]]:
    """Yield events with their numbers, until `most` readable ones have come."""
    left = most
    for batch in scope.journal.after(number, AT_ONCE):
        if left <= 0:
            return
        left -= sum(event.role in CONFIDENCE for _, event in batch)
        yield batch


def _keep(items: Sequence[Mapping[str, Any]], events: Sequence[Event], scope: Scope, now: float, done: Learned) -> None:
    shown = {event.id: event for event in events}
    claims = []
    for position, item in enumerate(items, FIRST_POSITION):
        event = shown.get(str(item.get("event")))
        statement = statement_of(item, event) if event is not None else None
        if event is None or statement is None:
            done.dropped += 1
        elif not _is_known(statement, event):
            claims.append(claim_of(statement, position, event, now))
    if claims:
        with scope.store.transaction():
            scope.ledger.add(claims, now)
    done.kept += len(claims)


def statement_of(item: Mapping[str, Any], event: Event) -> Statement | None:
    """Return the statement in an item of a model's answer, or None.

    None stands for an item that does not quote the event, has no valid kind, or states a secret.

    >>> said = Event("a", 0.0, Role.USER, "Tabs, please. We ship on Fridays.")
    >>> statement_of({"kind": "fact", "quote": "We  ship on Fridays", "subject": "Releases", "value": "Fridays"}, said).start
    14
    >>> statement_of({"kind": "fact", "quote": "We ship on Mondays", "subject": "releases", "value": "Mondays"}, said) is None
    True
    """
    quote = _text(item, "quote")
    place = _found(quote, event.text) if len(quote) >= _LEAST_QUOTED else None
    kind = _text(item, "kind").lower()
    if place is None or kind not in set(FactKind):
        return None
    start, end = place
    said = event.text[start:end]
    subject, value = _text(item, "subject").lower(), _text(item, "value") or said
    if MARK in f"{subject} {value}":
        return None  # the credential is gone, and nothing is left to state
    return Statement(
        FactKind(kind), said, subject, "", value, CONFIDENCE[event.role], _text(item, "reason"), "", start, end
    )


def _text(item: Mapping[str, Any], name: str) -> str:
    """Return a string of an item on one line, without secrets.

    A model may join the parts of a secret that was split.
    """
    value = item.get(name)
    return redact(writable(" ".join(value.split())[:_MOST_CHARACTERS])).text if isinstance(value, str) else ""


def _found(quote: str, text: str) -> tuple[int, int] | None:
    """Return the span of a quotation in a text; spaces may differ."""
    match = re.search(r"\s+".join(map(re.escape, quote.split())), text)
    return match.span() if match else None


def _is_known(statement: Statement, event: Event) -> bool:
    """Return whether a statement of this kind was read there."""
    return any(
        each.kind is statement.kind and each.start < statement.end and statement.start < each.end
        for each in extract(event.text, event.role)
    )

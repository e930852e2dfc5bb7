"""Recall: find the events that answer a question, with a verdict.

`recall` analyses the question, lays the scopes' events side by side, scores them, keeps the best that pass the filters, reads
these, shows the newest of two values first, and judges how far the answer can be trusted. Two kinds of question
have no words to score by. A question about a stretch of time ("what did we discuss last week") is answered by the latest
events of that time, and a question about all open work or all rules by what holds of these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import UsageError
from vademecum.index.fusion import top
from vademecum.index.tokenize import TALK, key
from vademecum.memory.active import ALWAYS_ON, surest
from vademecum.memory.event_segment import ROLES, Reader, View
from vademecum.memory.labels import CALLED, NAMES
from vademecum.memory.ledger import Scope
from vademecum.memory.question import Question, asks_for_all, asks_for_timeline, named, take_apart
from vademecum.memory.records import Event, Evidence, Fact, FactKind, Recalled, Role, is_time
from vademecum.memory.scoring import (
    FOUND_FROM,
    LIKELY_FROM,
    Asking,
    By,
    Floats,
    Found,
    Weighed,
    judge,
    nearest_in_meaning,
    session_scores,
    weigh,
)
from vademecum.memory.segment_store import Sharing
from vademecum.memory.timeline import SAID
from vademecum.memory.words import asked_terms, other_forms, terms
from vademecum.protocols import Clock
from vademecum.types import Passage, Verdict

PART = 0.4  # largest share of an answer's places for rules that hold
REACH = 15  # best events that are compared where a question asks how things stand
NEAR = 0.2  # cosine below which an event without a word of the question has nothing to do with it
CHOSEN = (FactKind.DECISION, *ALWAYS_ON)  # kinds of what somebody decided
LOOKED_AT = 10  # best events that the verdict is judged by, even for a smaller `k`


@dataclass(frozen=True)
class Filters:
    """Conditions on events; every filter applies before the cut."""

    roles: tuple[Role, ...] = ()
    session: str = ""
    since: float | None = None  # seconds since the epoch
    until: float | None = None  # half-open
    metadata: Mapping[str, Any] = field(default_factory=dict)  # an event must have every value
    as_of: float | None = None  # answer as if this were now

    def __post_init__(self) -> None:
        if self.as_of is not None and not is_time(self.as_of):
            raise UsageError(f"as_of is {self.as_of}: give seconds since 1970")


NO_FILTERS = Filters()
Rows = NDArray[np.int64] | Sequence[int]


class Recall:
    """Answers questions from the scopes of one engine.

    The layout of their events is kept between questions.
    """

    def __init__(
        self, scopes: Sequence[Scope], reader: Callable[[], Reader], clock: Clock, sharing: Sharing | None = None
    ) -> None:
        """Take the scopes, the reader of events, the clock and shared arrays.

        Args:
            scopes: The scopes, the nearest first.
            reader: Returns the reader of events; called on first use.
            clock: Returns the current time.
            sharing: Arrays shared with other engines of this process.
        """
        self.scopes = tuple(scopes)
        self._clock = clock
        self._reader = reader
        self._laid = (sharing or Sharing()).of(self.scopes)

    def recall(
        self,
        text: str,
        *,
        k: int,
        filters: Filters,
        by: By = By.BOTH,
        vector: Sequence[float] | None = None,
        standing: bool = False,
    ) -> Recalled:
        """Return the `k` best events for a question, with a verdict.

        A `vector` replaces that of the question. With `standing`, the answer to a request for help also shows the current
        preferences and instructions (decision 0051).

        Raises:
            StoreError: a database cannot be read.
            EmbedError: the question, or new events, cannot be embedded.
            UsageError: the vector has another length than those of the embedder in use.
        """
        now = filters.as_of or self._clock()
        view = self.view()
        question = _as_written(view, take_apart(text, datetime.fromtimestamp(now).astimezone()))
        if by is By.BOTH and vector is None and asks_for_timeline(text):
            return self._course(view, question, k, filters)
        if by is By.BOTH and vector is None and (kinds := asks_for_all(text)):
            listed = self._all_of(view, question, k, filters, kinds)
            if listed.evidence:
                return listed
        asking = self._asking(view, question, filters, by, vector)
        with self._laid.weighing:
            weighed = weigh(view, asking)
        best = _best(view, weighed, max(k, REACH if question.asks_now else LOOKED_AT), by)
        shares = weighed.share(best)
        scores, signals = weighed.score[best].astype(float).tolist(), _signals(weighed, best, shares)
        evidence = self._evidence(view, weighed.rows[best], scores, signals, filters.as_of)
        weights = dict(zip(question.keys.tolist(), weighed.idf.tolist(), strict=True))
        once: dict[tuple[str, str], Evidence] = {}
        for item in newest_first(question, evidence):
            once.setdefault((item.event.speaker, item.event.text), item)  # said again, it is no second answer
        ordered = list(once.values())
        if standing and question.asks_help and by is By.BOTH:
            ordered = self._with_standing(view, asking, ordered, min(k, LOOKED_AT), filters.as_of)
        searched = view.living if asking.mask is None else int(np.count_nonzero(asking.mask))
        found = Found(
            weighed,
            best,
            shares,
            len(view),
            searched,
            by is By.MEANING,
            question.asks_choice and any(i.event.role is Role.COMMIT and not i.facts for i in evidence[:1]),
            _by_another(view, asking, weighed, best),
        )
        verdict, probability, reason = _judged(question, asking, found, ordered, self._reader().embedder.name)
        since, until = asking.period or (filters.since, filters.until)
        reason = reason if verdict is not Verdict.NOT_FOUND else self._or_archived(reason)
        problem = getattr(self._reader().embedder, "problem", "")
        reason = "; ".join(filter(None, (reason, problem and f"ranked by words alone: {problem}")))
        return Recalled(text, verdict, probability, tuple(ordered[:k]), reason, since, until, searched, weights)

    def _with_standing(
        self, view: View, asking: Asking, ordered: list[Evidence], places: int, as_of: float | None
    ) -> list[Evidence]:
        """Return evidence with the nearest current preferences and instructions added.

        They take the last of the first `places`; those already further up stay there. Each carries the signal `standing`.
        """
        most = int(PART * places)
        rows, cosine = nearest_in_meaning(view, asking, rows_stating(self.scopes, view, ALWAYS_ON), most)
        signals = [{"standing": each} for each in cosine.astype(float).round(4).tolist()]
        near = {item.event.id: item for item in self._evidence(view, rows, [0.0] * len(rows), signals, as_of)}
        found = [
            replace(item, signals={**item.signals, **near[item.event.id].signals}) if item.event.id in near else item
            for item in ordered
        ]
        near |= {item.event.id: item for item in found if item.event.id in near}
        further_up = {item.event.id for item in found[: places - most]}
        last = [item for id_, item in near.items() if id_ not in further_up]
        rest = [item for item in found if item not in last]
        return [*rest[: places - len(last)], *last, *rest[places - len(last) :]]

    def _course(self, view: View, question: Question, k: int, filters: Filters) -> Recalled:
        """Return the latest `k` events of the time asked about, latest first.

        Asked for decisions, what states one or a rule comes first.
        """
        since, until = filters.since, filters.until
        if since is None and until is None and question.period is not None:
            since, until = question.period
        mask = self._mask(view, replace(filters, since=since, until=until, roles=filters.roles or SAID))
        rows = np.flatnonzero(view.alive if mask is None else mask)
        chosen = rows_stating(self.scopes, view, CHOSEN, standing=False) if question.asks_choice else ()
        return self._listed(view, question, k, replace(filters, since=since, until=until), rows, chosen)

    def _all_of(self, view: View, question: Question, k: int, filters: Filters, kinds: Sequence[FactKind]) -> Recalled:
        """Return the latest `k` events that state current facts of some kinds.

        A time in the question is a due date, so it does not filter.
        """
        rows = rows_stating(self.scopes, view, kinds, as_of=filters.as_of)
        mask = self._mask(view, filters)
        return self._listed(view, question, k, filters, rows if mask is None else rows[mask.take(rows)])

    def _listed(
        self, view: View, question: Question, k: int, filters: Filters, rows: NDArray[np.integer[Any]], first: Rows = ()
    ) -> Recalled:
        """Return the latest `k` events of some rows, `first` before others."""
        latest = rows[np.lexsort((-view.at[rows], ~np.isin(rows, first)))[:k]]
        evidence = self._evidence(view, latest, [0.0] * len(latest), [{}] * len(latest), filters.as_of)
        verdict, sure = (Verdict.RESOLVED, 1.0) if evidence else (Verdict.NOT_FOUND, 0.0)
        reason = "" if evidence else self._or_archived("nothing is recorded for that time")
        return Recalled(question.text, verdict, sure, tuple(evidence), reason, filters.since, filters.until, len(rows))

    def _or_archived(self, reason: str) -> str:
        """Add to a reason that archived events were not searched."""
        count = sum(scope.journal.archived() for scope in self.scopes)
        return (
            f"{reason}; {count} older events are archived: `vade memory import` brings them back" if count else reason
        )

    def sessions(self, text: str, *, k: int, filters: Filters) -> list[tuple[str, str, float]]:
        """Return (scope, session, score) of the best sessions. Raises like `recall`."""
        question = take_apart(text, datetime.fromtimestamp(filters.as_of or self._clock()).astimezone())
        view = self.view()
        asking = self._asking(view, question, filters, By.BOTH, None)
        with self._laid.weighing:
            scores = session_scores(view, asking, weigh(view, asking))
        best = [int(code) for code in top(scores, k) if scores[code] > 0]
        held_by = view.scope_of(np.array([view.rows_of(np.array([code]))[0] for code in best], np.int64))
        scopes = [self.scopes[number].name for number in held_by.tolist()]
        return [(scope, view.session_names[c], float(scores[c])) for scope, c in zip(scopes, best, strict=True)]

    def view(self) -> View:
        """Return the current view; the same object until events change."""
        return self._laid.view(self.scopes, self._reader())

    def _asking(
        self, view: View, question: Question, filters: Filters, by: By, given: Sequence[float] | None
    ) -> Asking:
        """Return the search to run.

        A time given as a filter replaces the time that the question names.
        """
        embedder = self._reader().embedder
        if given is None:
            vector = embedder.embed([Passage(question.topic)], "query").unwrap()[0]
        else:
            vector = _unit(given, embedder.dim)
        called = named(question, view.speaker_words, view.speaker_count)
        is_given = filters.since is not None or filters.until is not None
        period = None if is_given else question.period
        mask = self._mask(view, filters)
        return Asking(question.keys, vector, question.only_asking, called, mask, period, by)

    def _mask(self, view: View, filters: Filters) -> NDArray[np.bool_] | None:
        """Return the rows that pass the filters: bool (N,), None for all."""
        if filters == NO_FILTERS:
            return None
        mask = view.alive
        if filters.roles:
            mask = mask & np.isin(view.roles, [ROLES.index(role) for role in filters.roles])
        if filters.session:
            mask = mask & np.isin(view.session, view.sessions_named(filters.session))
        if filters.since is not None:
            mask = mask & (view.at >= filters.since * 1000)
        until = min((end for end in (filters.until, filters.as_of) if end is not None), default=None)
        if until is not None:
            mask = mask & (view.at < until * 1000)
        if filters.metadata:
            mask = mask & self._tagged(view, filters.metadata)
        return mask

    def _tagged(self, view: View, metadata: Mapping[str, Any]) -> NDArray[np.bool_]:
        tagged = np.zeros(len(view), bool)
        for number, scope in enumerate(self.scopes):
            numbers = scope.journal.tagged(metadata)
            rows = view.rows_in(number)
            tagged[rows] = np.isin(view.numbers[rows], list(numbers))
        return tagged

    def _evidence(
        self,
        view: View,
        rows: NDArray[np.integer[Any]],
        scores: Sequence[float],
        signals: Sequence[Mapping[str, float]],
        as_of: float | None,
    ) -> list[Evidence]:
        """Return the events of rows, with facts, scores and signals.

        The facts are as of `as_of`, or current without it.
        """
        events: dict[int, Event] = {}
        numbers, held_by = view.numbers.take(rows).tolist(), view.scope_of(rows).tolist()
        for number, scope in enumerate(self.scopes):
            own = {n: row for n, row, held in zip(numbers, rows.tolist(), held_by, strict=True) if held == number}
            found = scope.journal.read(list(own)) if own else {}
            events |= {own[n]: event for n, event in found.items()}
        facts, now, rivals = self._drawn([event.id for event in events.values()], as_of)
        evidence = []
        for row, held, score, why in zip(rows.tolist(), held_by, scores, signals, strict=True):
            event, scope = events.get(row), self.scopes[held]
            if event is not None:  # else another process has just deleted it
                own_facts = tuple(facts.get(event.id, ()))
                after = tuple(now[fact.superseded_by] for fact in own_facts if fact.superseded_by in now)
                against = tuple(each for fact in own_facts for each in rivals.get(fact.id, ()))
                item = Evidence(event, score, dict(why), own_facts, after, against, scope=scope.name, repo=scope.repo)
                evidence.append(item)
        return evidence

    def _drawn(
        self, ids: Sequence[str], as_of: float | None
    ) -> tuple[dict[str, list[Fact]], dict[str, Fact], dict[str, list[Fact]]]:
        """Return the facts of events, their successors, and their rivals.

        Successors are by the id of the fact that ended another, rivals by the id of a disputed fact. The global scope holds facts
        meant for everywhere, while their events stay in the scope where they were recorded.
        """
        facts: dict[str, list[Fact]] = {}
        now: dict[str, Fact] = {}
        rivals: dict[str, list[Fact]] = {}
        for scope in self.scopes:
            drawn = {id_: [_as_known(f, as_of) for f in own] for id_, own in scope.ledger.of_events(ids).items()}
            for id_, own in drawn.items():
                facts.setdefault(id_, []).extend(own)
            closers = [fact.superseded_by for own in drawn.values() for fact in own if fact.superseded_by]
            now |= {fact.id: fact for fact in _latest(scope, closers, as_of)}
            for fact in (each for own in drawn.values() for each in own if each.disputed):
                rivals[fact.id] = [
                    o for o in scope.ledger.history(fact.key) if o.disputed and o.id != fact.id and _was_said(o, as_of)
                ]
        return facts, now, rivals


def newest_first(question: Question, evidence: Sequence[Evidence]) -> list[Evidence]:
    """Put the event of each successor before the replaced one.

    The earlier names the later. All else keeps its order, and none is left out: on weaker grounds, 284 of 290 pairs were wrong on
    279 questions of chats. `evidence` is the best first.
    """
    later = _successors(question, evidence[:REACH])
    ordered = list(range(len(evidence)))
    for old, new in later.items():
        if ordered.index(new) > ordered.index(old):
            ordered.remove(new)
            ordered.insert(ordered.index(old), new)
    marked = {old: replace(evidence[old], superseded_by=evidence[new].event.id) for old, new in later.items()}
    return [marked.get(place, evidence[place]) for place in ordered]


def _successors(question: Question, evidence: Sequence[Evidence]) -> dict[int, int]:
    """Return the places of ended facts' events, each with its successor's.

    Empty where the question looks back; without those whose replaced value the question names, by a word that neither the subject
    nor the successors have.
    """
    if question.asks_back or question.period is not None:
        return {}
    places = {item.event.id: place for place, item in reversed(list(enumerate(evidence)))}
    found = {}
    for place, item in enumerate(evidence):
        ended = bool(item.facts) and all(fact.valid_to is not None for fact in item.facts)
        new = next((places[fact.event] for fact in item.now if fact.event in places), None)
        shared = _words(" ".join(each.value for each in item.now)) | TALK
        told = [_words(fact.value) - _words(f"{fact.subject} {fact.attribute}") - shared for fact in item.facts]
        if ended and new is not None and all(map(question.words.isdisjoint, told)):
            found[place] = new
    return found


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _as_written(view: View, question: Question) -> Question:
    """Return a question, unwritten words replaced by their written forms.

    "Which formatter" finds "formatting" where nobody wrote "formatter". The forms also join the text that is compared in meaning,
    since a question in French is far from every English text.
    """
    known = view.knows(question.keys)
    if known.all():
        return question
    keys, unknown, topic = question.keys.copy(), set(question.keys[~known].tolist()), [question.topic]
    for term in terms(question.text):
        if key(term) in unknown:
            forms = other_forms(term)
            held = view.knows(np.array([key(form) for form in forms], np.uint64)).tolist()
            written = (form for form, is_held in zip(forms, held, strict=True) if is_held and key(form) not in keys)
            form = next(written, term)
            keys[question.keys == key(term)] = key(form)
            topic += [form] if form != term else []
    return replace(question, keys=keys, topic=" ".join(topic))


def _latest(scope: Scope, ids: Sequence[str], as_of: float | None) -> list[Fact]:
    """Return the current fact of each fact's key, under its id.

    With `as_of`, the fact that held then.
    """
    found = []
    closing = [_as_known(fact, as_of) for fact in scope.ledger.get(list(dict.fromkeys(ids)))]
    known = {key: [_as_known(f, as_of) for f in scope.ledger.history(key)] for key in {f.key for f in closing}}
    holding = {key: [f for f in own if f.valid_to is None and _was_said(f, as_of)] for key, own in known.items()}
    for fact in closing:
        standing = holding[fact.key]
        found.append(fact if fact.valid_to is None or not standing else replace(standing[-1], id=fact.id))
    return found


def _as_known(fact: Fact, as_of: float | None) -> Fact:
    """Return a fact as known at a time, without a later end."""
    later = as_of is not None and fact.valid_to is not None and fact.valid_to > as_of
    return replace(fact, valid_to=None, superseded_by="") if later else fact


def _was_said(fact: Fact, as_of: float | None) -> bool:
    return as_of is None or fact.valid_from <= as_of


def _unit(given: Sequence[float], dim: int) -> NDArray[np.float32]:
    """Return a given vector as a unit vector. Raises `UsageError`.

    >>> _unit([3e300, 4e300], 2).round(3).tolist(), _unit([0, 0], 2).tolist()
    ([0.6000000238418579, 0.800000011920929], [0.0, 0.0])
    """
    vector = np.asarray(given, np.float64)
    if vector.shape != (dim,) or not np.isfinite(vector).all():
        raise UsageError(f"the vector has shape {vector.shape}: the embedder in use makes {dim} finite numbers")
    vector = vector / (np.abs(vector).max() or 1.0)  # keeps the squares finite
    return np.asarray(vector / (np.linalg.norm(vector) or 1.0), np.float32)


def _signals(weighed: Weighed, best: NDArray[np.int64], shares: Floats) -> list[dict[str, float]]:
    """Return the signals of each of the best candidates, by name."""
    columns = np.array((weighed.words.take(best), weighed.meaning.take(best), shares), float).round(4)
    return [{"words": words, "meaning": meaning, "share": share} for words, meaning, share in columns.T.tolist()]


def _best(view: View, weighed: Weighed, most: int, by: By) -> NDArray[np.int64]:
    """Return the places of the best events, best first: int64 (B,).

    Each shares a word or a meaning with the question, or is a turn of a talk beside one that does.
    """
    best = top(weighed.score, most)
    best = best[weighed.score[best] > 0]
    if by is not By.BOTH:
        return best
    rows, said = weighed.rows[best], weighed.matches.rows > 0
    beside = view.talks[view.session[rows]] & (said[view.before(rows)] | said[view.after(rows)])
    return best[said[rows] | beside | (weighed.meaning[best] >= NEAR)]


def _judged(
    question: Question, asking: Asking, found: Found, ordered: Sequence[Evidence], embedder: str
) -> tuple[Verdict, float, str]:
    """Return verdict, probability and reason."""
    verdict, probability, reason = judge(found, embedder)
    if verdict is Verdict.RESOLVED and (word := _unsaid(question, ordered[:LOOKED_AT])):
        return Verdict.LIKELY, probability, f"nothing of it says {word!r}"
    if verdict in {Verdict.AMBIGUOUS, Verdict.NOT_FOUND} and _asks_subject(question, ordered[:1]):
        return Verdict.LIKELY, LIKELY_FROM, ""
    names = _words(" ".join(word for word in question.distinctive if not word.isdigit()))
    is_named = bool(ordered and names) and asking.named is None and names <= _words(ordered[0].event.text)
    if verdict is Verdict.NOT_FOUND and is_named:
        return Verdict.AMBIGUOUS, FOUND_FROM, "memory names it, and hardly says more"
    return verdict, probability, reason


def _unsaid(question: Question, evidence: Sequence[Evidence]) -> str:
    """Return a distinctive word that none of the evidence says, else ""."""
    texts = [f"{item.event.speaker} {item.event.text}" for item in evidence]
    texts += [f"{fact.topic} {CALLED.get(fact.subject, '')}" for item in evidence for fact in item.facts]
    said = {term for text in texts for term in terms(text)}
    for word in question.distinctive:
        own = terms(word)
        if own and said.isdisjoint([*own, *(form for term in own for form in other_forms(term))]):
            return word
    return ""


def _asks_subject(question: Question, first: Sequence[Evidence]) -> bool:
    """Return whether a question is the subject of the first event's fact.

    "Which database?" is answered by what has "database" for its subject, though no word or meaning says so.
    """
    asked = set(asked_terms(question.text))
    subjects = [f" {fact.subject}" for item in first for fact in item.facts if fact.subject]
    said = [*subjects, *(name for each in subjects for kind, name in NAMES if each.endswith(f" {kind}"))]
    return bool(asked) and any(asked.issubset(terms(each)) for each in said)


def _by_another(view: View, asking: Asking, weighed: Weighed, best: NDArray[np.int64]) -> bool:
    """Return whether the first event is not by the speaker named."""
    if asking.named is None or not len(best):
        return False
    return not asking.named[view.speaker[weighed.rows[best[0]]]]


def metadata_of(text: str) -> dict[str, Any]:
    """Parse NAME=VALUE into metadata, with the value as JSON or text.

    >>> metadata_of("attempt=2"), metadata_of("branch=main")
    ({'attempt': 2}, {'branch': 'main'})

    Raises:
        UsageError: it has no name, or no `=`.
    """
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise UsageError(f"metadata {text!r} is not NAME=VALUE: write it as `branch=main`")
    try:
        return {name: json.loads(value)}
    except ValueError:
        return {name: value}


def rows_of(scopes: Sequence[Scope], view: View, events: Sequence[str]) -> NDArray[np.int64]:
    """Return the rows of events in a view: int64 (M,), ascending.

    Args:
        scopes: The scopes, which may share an id.
        view: The view.
        events: Ids of events.

    Raises:
        StoreError: a database cannot be read.
    """
    found = []
    for scope in scopes:
        numbers = np.array(sorted(scope.journal.numbers(events).values()), np.int64)
        here = view.rows_in(scope.number)
        own = view.numbers[here]
        place = np.searchsorted(own, numbers)
        there = place < len(own)
        there[there] = own[place[there]] == numbers[there]  # an event recorded just now is only in the next view
        found.append(place[there] + here.start)
    rows: NDArray[np.int64] = np.concatenate([np.zeros(0, np.int64), *found])
    return rows[view.alive.take(rows)]


def rows_stating(
    scopes: Sequence[Scope], view: View, kinds: Sequence[FactKind], *, standing: bool = True, as_of: float | None = None
) -> NDArray[np.int64]:
    """Return the rows of events stating some kinds: int64 (M,), ascending.

    All but todos are those that agents are told. Raises `StoreError`.
    """
    held = [scope.ledger.facts(kinds, standing=standing, as_of=as_of) for scope in scopes]
    todos = (fact for facts in held for fact in facts if fact.kind is FactKind.TODO)
    return rows_of(scopes, view, [fact.event for fact in (*surest(held), *todos)])

"""Traces of one client's session, one for each task.

docs/gateway.md tells how the task of a call is found. Values are forgotten with the task; a password that a call gives
is cut out of what was searched for.

    >>> traced = Traced("s1", clock=lambda: 0.0)
    >>> traced.intend("mail the report")
    >>> _ = traced.called("files/find", {"name": "report"}, "found /tmp/report-7.pdf")
    >>> (trace,) = traced.called("mail/send", {"attachment": "/tmp/report-7.pdf", "password": "hunter2"}, "sent")
    >>> trace.intent, [call.tool for call in trace.calls], trace.links, trace.calls[1].arguments
    ('mail the report', ['files/find', 'mail/send'], ((0, 1),), ('attachment', 'password'))
"""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from vademecum.protocols import Clock
from vademecum.tools.observe import LOOKED_AT, argument_names, secrets, telling, trace
from vademecum.tools.records import Call, Trace
from vademecum.tools.texts import words

PAUSE_S = 900.0  # without a call or a question: what comes next is for something else, unless it shows otherwise
MOST_CALLS, MOST_INTENTS, MOST_TASKS = 100, 8, 6
_SHORT = 3  # letters of a word that says little: "the", "and", "for"
_ALIKE = 0.5  # share of the shorter intent's words from which two ask for much the same
_FIRST, _WAITS = 4.0, 0.1  # times as well, and more, a tool fits a search without a call
_LEFT, _GIVEN = 0.001, 20.0  # times as well it fits a task that was left, or arguments that were asked for
_FLOOR = 0.001  # of a fit: less says nothing
_BETTER = 0.3  # nats from which calls fit better otherwise
_MOST_PIECES = 6  # of two tasks that are shared out anew


@dataclass(slots=True, eq=False)
class _Asked:
    """A search or a plan."""

    intent: str
    order: int  # among all searches and calls
    fits: Mapping[str, float] = field(default_factory=dict)  # the probability of each tool
    planned: Collection[str] = ()

    def is_like(self, intent: str) -> bool:
        mine, other = ({word for word in words(text) if len(word) > _SHORT} for text in (self.intent, intent))
        return len(mine & other) >= _ALIKE * max(min(len(mine), len(other)), 1)


@dataclass(slots=True, eq=False)
class _Made:
    """A call, with its result."""

    call: Call
    order: int
    began: float
    at: float
    said: str
    values: dict[str, set[int]]  # each of its arguments' values, with the earlier calls that returned it
    secrets: set[str]
    piece: int  # the calls that a result flows between


@dataclass(slots=True, eq=False)
class _Task:
    """Calls of one task; none while its search waits for them."""

    at: float  # of the last call or, before any, of the search
    asked: list[_Asked] = field(default_factory=list)
    made: list[_Made] = field(default_factory=list)
    id: str = ""
    is_told: bool = False  # a call said what it is for

    @property
    def intents(self) -> list[str]:
        return [*dict.fromkeys(each.intent for each in self.asked)][:MOST_INTENTS]

    @property
    def intent(self) -> str:
        return "; ".join(self.intents)

    @property
    def since(self) -> int:
        return max((each.order for each in self.asked), default=0)

    def used(self, made: _Made) -> list[_Made]:
        """Return its calls whose results another one used.

        What stands in the question too was not learned from them.
        """
        makers = set[int]().union(*(makers for value, makers in made.values.items() if value not in self.intent))
        return [each for each in self.made if each.order in makers]

    def has_failed(self, tool: str = "") -> bool:
        """Return whether its last call, of a tool, failed."""
        return bool(self.made) and not self.made[-1].call.ok and tool in ("", self.made[-1].call.tool)

    def fit(self, tool: str, made: Sequence[_Made]) -> float:
        """Return how well a tool fits after some calls."""
        done = any(each.call.tool == tool and each.call.ok for each in made)
        found = max((each.fits.get(tool, 0.0) for each in self.asked), default=0.0)
        return (found + (not done and self.plans(tool))) / (1 + done)

    def plans(self, tool: str) -> bool:
        return any(tool in each.planned for each in self.asked)


class Traced:
    """The traces of one client, whose session tells them from others'."""

    def __init__(self, session: str, clock: Clock) -> None:
        self._session = session
        self._clock = clock
        self._lock = threading.Lock()
        self._order = self._number = 0  # of searches and calls, and of traces
        self._tasks: list[_Task] = []  # the latest last

    def intend(
        self, intent: str, *, fits: Mapping[str, float] | None = None, planned: Collection[str] = (), named: bool = False
    ) -> None:  # fmt: skip
        """Note a search or a plan.

        Args:
            intent: what it asked for.
            fits: the probability of each tool for it, by the tool's id.
            planned: the tools of the plan.
            named: whether the intent is a tool's name.
        """
        with self._lock:
            now = self._clock()
            if named and any(now - task.at <= PAUSE_S for task in self._tasks):
                return
            self._tasks = [task for task in self._tasks if task.made or task.intent != intent]
            for task in self._tasks if planned else ():
                for each in task.asked if task.made else ():
                    each.planned = ()
            self._order += 1
            self._latest(_Task(now, [_Asked(intent, self._order, fits or {}, planned)]))

    def called(
        self, tool: str, arguments: Mapping[str, Any], said: str, *, ok: bool = True, latency_s: float = 0.0,
        intent: str = "",
    ) -> list[Trace]:  # fmt: skip
        """Note a call; return the traces that it changes, its own first.

        One whose calls turn out to be another's has none left.
        """
        with self._lock:
            now, before = self._clock(), [one for task in self._tasks for one in task.made]
            self._order += 1
            call = Call(tool, argument_names(arguments), ok, round(latency_s, 4))
            values = {value: {one.order for one in before if value in one.said} for value in telling(arguments)}
            here = _Made(
                call, self._order, now - latency_s, now, said[:LOOKED_AT], values, secrets(arguments), self._order
            )
            task = self._task(here, intent)
            joined = {each.piece for each in task.used(here)}
            joined |= {each.piece for each in task.made[-1:] if task.has_failed(tool)}
            for each in task.made:
                each.piece = here.piece if each.piece in joined else each.piece
            task.made.append(here)
            task.at = now
            self._latest(task)
            known = [
                each for each in self._tasks if not each.is_told and len(each.intents) == 1 and now - each.at <= PAUSE_S
            ]
            others = [each for each in known if each is not task] if task in known else []
            changed = [task, *(one for other in others if self._exchanged(task, other) for one in (task, other))]
            heirs = [self._heir(each) for one in changed for each in one.asked]
            lent = [one for one in self._tasks if any(each in heirs for each in one.asked)]
            told = sorted(dict.fromkeys([*changed, *lent]), key=lambda one: here not in one.made)
            return [self._traced(one) for one in told if one.made or one.id]

    def calls_for(self, intent: str) -> tuple[str, tuple[str, ...]]:
        """Return id and good calls of the latest trace; "" for none."""
        with self._lock:
            task = next((task for task in reversed(self._tasks) if task.made and intent in task.intents), None)
            return (task.id, tuple(made.call.tool for made in task.made if made.call.ok)) if task else ("", ())

    def _traced(self, task: _Task) -> Trace:
        if not task.id:
            self._number += 1
            task.id = f"{self._session}:{self._number}"
        intent = "; ".join(dict.fromkeys([*self._lent(task), *task.intents]))
        return trace(
            intent, tuple(made.call for made in task.made), id_=task.id, links=tuple(_links(task)),
            session=self._session, at=task.made[0].at if task.made else 0.0,
            hidden=set[str]().union(*(made.secrets for made in task.made)),
        )  # fmt: skip

    def _lent(self, task: _Task) -> list[str]:
        """Return the words of earlier searches for the same.

        They led to no call. One that found the first tool as well was not asked again.
        """
        tool = task.made[0].call.tool if task.made else ""
        waiting = [(each, self._heir(each)) for one in self._tasks if not one.made for each in one.asked]
        lent = [(each, heir) for each, heir in waiting if heir and heir in task.asked]
        return [each.intent for each, heir in lent if 2 * each.fits.get(tool, 0.0) <= heir.fits.get(tool, 0.0)]

    def _heir(self, asked: _Asked) -> _Asked | None:
        """Return the next search for much the same."""
        like = [each for each in self._asked() if each.order > asked.order and each.is_like(asked.intent)]
        return min(like, key=lambda each: each.order, default=None)

    def _asked(self) -> list[_Asked]:
        return [each for task in self._tasks for each in task.asked]

    def _latest(self, task: _Task) -> None:
        """Make a task the latest, and forget old ones."""
        tasks = [*(each for each in self._tasks if each is not task), task]
        begun, waiting = [each for each in tasks if each.made], [each for each in tasks if not each.made]
        kept = [*begun[-MOST_TASKS:], *waiting[-MOST_INTENTS:]]
        self._tasks = [each for each in tasks if each in kept]

    def _task(self, made: _Made, intent: str) -> _Task:
        """Return the task of a call, begun if need be."""
        tool, tasks = made.call.tool, [each for each in reversed(self._tasks) if len(each.made) < MOST_CALLS]
        begun, waiting = [each for each in tasks if each.made], [each for each in tasks if not each.made]
        flows = [each for each in begun if each.used(made)]
        if intent:
            asked = [each for each in waiting if each.intent == intent] or [
                _Task(made.at, [_Asked(intent, made.order)])
            ]
            known = [each for each in begun if intent in each.intents] + [each for each in flows if each is begun[0]]
            task = self._joined(known[0], asked[0]) if known else asked[0]
            task.is_told = True
            return task
        recent = [each for each in tasks if made.at - each.at <= PAUSE_S]
        sure = [
            each for each in begun[:1] if each in recent and each.has_failed(tool) and not self._is_left(each, made)
        ]
        if flows and not any(each.plans(tool) for each in waiting):
            sure = flows
        since = begun[0].since if begun else 0
        equal = [*(each for each in recent if each.made), *(each for each in recent[::-1] if not each.made)]
        best = max(equal, key=lambda each: self._worth(each, made, each.made, since), default=_Task(made.at))
        task = sure[0] if sure else best
        if not task.made:
            return self._same(task, made)
        if not (waiting and (flows or task.plans(tool)) and self._is_left(task, made)):
            return task
        step = waiting[0]  # a search for the next step, if it fits as well
        return self._joined(task, step) if step.fit(tool, ()) >= task.fit(tool, task.made) else task

    def _worth(self, task: _Task, made: _Made, before: Sequence[_Made], since: int) -> float:
        """Return how well a call fits a task after others.

        `since` is when the task of the call before was searched for.
        """
        fit = task.fit(made.call.tool, before)
        if not before:
            fit = _FIRST * fit + _WAITS * (task.since > since)
        fit += _FLOOR
        if before and self._is_left(task, made, before) and not task.plans(made.call.tool):
            fit *= _LEFT
        return fit * (_GIVEN if any(value in task.intent for value in made.values) else 1)

    def _is_left(self, task: _Task, made: _Made, before: Sequence[_Made] = ()) -> bool:
        """Return whether something else was searched since its last call."""
        last = (before or task.made)[-1].order
        return any(last < each.order < made.order for each in self._asked() if each not in task.asked)

    def _same(self, task: _Task, made: _Made) -> _Task:
        """Return the task that a search goes on with, or its own.

        That is one that asked for the same, unless the call begins it again, or one that has just failed at much the same.
        """
        begun = [each for each in reversed(self._tasks) if each.made]
        same = [each for each in begun if task.asked and task.intent in each.intents]
        same = [each for each in same if len(each.made) < 2 or each.made[0].call.tool != made.call.tool]
        failed = [each for each in begun[:1] if each.has_failed() and made.at - each.at <= PAUSE_S]
        same += [each for each in failed if task.asked and task.asked[0].is_like(each.intent)]
        return self._joined(same[0], task) if same else task

    def _joined(self, task: _Task, waiting: _Task) -> _Task:
        """Give a search to a task."""
        self._tasks = [each for each in self._tasks if each is not waiting]
        task.asked += waiting.asked
        return task

    def _exchanged(self, *tasks: _Task) -> bool:
        """Share two tasks' latest calls out anew, if they fit better so."""
        made = [each for task in tasks for each in task.made]
        begun = {each.piece: each.order for each in sorted(made, key=lambda each: -each.order)}
        asked = max(task.asked[0].order for task in tasks)
        free = sorted((order, piece) for piece, order in begun.items() if asked < order)[-_MOST_PIECES:]
        if not free:
            return False
        now = {each.piece: task for task in tasks for each in task.made}
        options = [
            now | dict(zip((p for _, p in free), owners, strict=True)) for owners in product(tasks, repeat=len(free))
        ]
        calls = sorted(((each, task) for task in self._tasks for each in task.made), key=lambda call: call[0].order)
        sums = [self._sum(calls, option, free[0][0]) for option in (now, *options)]
        best = max(range(len(sums)), key=sums.__getitem__)
        if sums[best] <= sums[0] + _BETTER:
            return False
        for task in tasks:
            task.made = sorted(
                (each for each in made if options[best - 1][each.piece] is task), key=lambda each: each.order
            )
        emptied, other = sorted(tasks, key=lambda task: len(task.made))
        if not emptied.made and not other.id:
            emptied.id, other.id = other.id, emptied.id
        return True

    def _sum(self, calls: Iterable[tuple[_Made, _Task]], owners: Mapping[int, _Task], begin: int) -> float:
        """Return how well calls fit if these tasks own their pieces.

        Calls from a place on count, in nats.
        """
        before: dict[int, list[_Made]] = {id(task): [] for task in owners.values()}
        found, since = 0.0, self._order
        for each, task in calls:
            owner = owners.get(each.piece, task)
            if each.piece in owners:
                found += math.log(self._worth(owner, each, before[id(owner)], since)) if each.order >= begin else 0
                before[id(owner)].append(each)
            since = owner.since
        return found


def _links(task: _Task) -> Iterator[tuple[int, int]]:
    """Yield links between a task's calls."""
    place = {made.order: number for number, made in enumerate(task.made)}
    for here, made in enumerate(task.made):
        flows = {place[each.order] for each in task.used(made)}
        explained = flows and all(
            value in task.intent or not makers.isdisjoint(place) for value, makers in made.values.items()
        )
        waits = here > 0 and not explained and made.began >= task.made[here - 1].at
        yield from ((earlier, here) for earlier in sorted({*flows, *([here - 1] if waits else [])}))

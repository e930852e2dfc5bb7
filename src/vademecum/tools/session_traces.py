"""Traces of one client's session, one for each task.

Each call is given to a task by what is known of it, the surest first:

    intent     the call says what it is for
    new plan   a plan that no call has followed yet names the tool
    results    the call's arguments hold a value that a call of the task returned
    fit        a plan names the tool and its task has not called it yet, until a later plan takes its place; else the
               tool fits best a search that led to no call yet, which begins a task and counts four times, and a tenth
               more if it was after the search of the task that goes on, or that task, half as well if it has called it

The first call of a task says little. So two searches that were both there before may change their tasks as long as each
has but one: if all calls since then fit better so.

A search begins a task, and leaves those before. It goes on with one that asked for the same words, or that has just
failed at much the same. A task that was left goes on only with a tool that it found and no later one did. After a pause
only intent and results go on with a task. A search that led to no call is evidence, too: where the next one asks for
much the same, its words belong to the task. A tool looked up by its name belongs to the task at hand.

A call used an earlier one's outcome where a value among its arguments stands in what that returned. Any other call is
taken to wait for the call before, unless it began before that ended. Values are forgotten with the task; a password that
a call gives is cut out of what was searched for.

    >>> traced = Traced("s1", clock=lambda: 0.0)
    >>> traced.intend("mail the report")
    >>> _ = traced.called("files/find", {"name": "report"}, "found /tmp/report-7.pdf")
    >>> (trace,) = traced.called("mail/send", {"attachment": "/tmp/report-7.pdf", "password": "hunter2"}, "sent")
    >>> trace.intent, [call.tool for call in trace.calls], trace.links, trace.calls[1].arguments
    ('mail the report', ['files/find', 'mail/send'], ((0, 1),), ('attachment', 'password'))
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vademecum.protocols import Clock
from vademecum.tools.fields import words
from vademecum.tools.observe import LOOKED_AT, argument_names, secrets, telling, trace, used
from vademecum.tools.records import Call, Trace

PAUSE_S = 900.0  # without a call or a question: what comes next is for something else, unless it shows otherwise
MOST_CALLS, MOST_INTENTS, MOST_TASKS = 100, 8, 6
_SHORT = 3  # letters of a word that says little: "the", "and", "for"
_RATHER, _WAITS = (
    4.0,
    0.1,
)  # times as well, and more, a tool fits a later search that waits for its first call than a task
_BETTER = 0.05  # from which tasks change their searches
_ALIKE = 0.5  # share of the shorter intent's words from which two ask for much the same


@dataclass(slots=True)
class _Asked:
    """A search or a plan."""

    intent: str
    at: float
    fits: Mapping[str, float] = field(default_factory=dict)  # how well each tool that was found fits, above 0
    planned: Collection[str] = ()

    def fit(self, tool: str) -> float:
        return self.fits.get(tool, 0.0) + (tool in self.planned)

    def is_like(self, intent: str) -> bool:
        mine, other = _said(self.intent), _said(intent)
        return len(mine & other) >= _ALIKE * max(min(len(mine), len(other)), 1)


@dataclass(slots=True)
class _Task:
    """Calls of one task, with their results."""

    id: str
    at: float
    latest: float
    asked: list[_Asked] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)
    is_left: bool = False  # something was searched for since its last call
    is_told: bool = False  # a call said what it is for

    @property
    def intents(self) -> list[str]:
        return [*dict.fromkeys(each.intent for each in self.asked)][:MOST_INTENTS]

    @property
    def intent(self) -> str:
        return "; ".join(self.intents)

    def is_done(self, tool: str) -> bool:
        return any(call.tool == tool and call.ok for call in self.calls)

    def plans(self, tool: str) -> bool:
        """Return whether a plan names a tool that was not called yet."""
        return not self.is_done(tool) and any(tool in each.planned for each in self.asked)

    def fit(self, tool: str) -> float:
        found = max((each.fits.get(tool, 0.0) for each in self.asked), default=0.0)
        return (found + self.plans(tool)) / (1 + self.is_done(tool))

    def fits(self, asked: _Asked) -> float:
        """Return how well a search fits all calls."""
        return sum(asked.fit(call.tool) for call in self.calls)


class Traced:
    """The traces of one client, whose session tells them from others'."""

    def __init__(self, session: str, clock: Clock) -> None:
        self._session = session
        self._clock = clock
        self._lock = threading.Lock()
        self._number = 0
        self._tasks: list[_Task] = []  # the latest last
        self._asked: list[_Asked] = []  # the latest last

    def intend(
        self, intent: str, *, fits: Mapping[str, float] | None = None, planned: Collection[str] = (), named: bool = False
    ) -> None:  # fmt: skip
        """Note a search or a plan.

        Args:
            intent: what it asked for.
            fits: how well each tool that was found fits, above 0, by the tool's id.
            planned: the tools of the plan.
            named: whether the intent is a tool's name.
        """
        with self._lock:
            now = self._clock()
            latest = max([*(each.at for each in self._asked), *(task.latest for task in self._tasks)], default=None)
            if named and latest is not None and now - latest <= PAUSE_S:
                return
            self._asked = [*self._asked, _Asked(intent, now, fits or {}, planned)][-MOST_INTENTS:]
            for task in self._tasks:
                task.is_left = True
                for each in task.asked if planned else ():
                    each.planned = ()

    def called(
        self, tool: str, arguments: Mapping[str, Any], said: str, *, ok: bool = True, latency_s: float = 0.0,
        intent: str = "",
    ) -> list[Trace]:  # fmt: skip
        """Note a call; return the traces that it changes, its own first."""
        with self._lock:
            now = self._clock()
            task = self._task(tool, arguments, intent, now)
            task.secrets |= secrets(arguments)
            task.links += _links(task, arguments, began=now - latency_s)
            task.calls.append(Call(tool, argument_names(arguments), ok, round(latency_s, 4)))
            task.said.append(said[:LOOKED_AT])
            task.latest, task.is_left = now, False
            return [self._traced(each) for each in (task, *self._exchanged(task))]

    def calls_for(self, intent: str) -> tuple[str, tuple[str, ...]]:
        """Return id and good calls of the latest trace; "" for none."""
        with self._lock:
            task = next((task for task in reversed(self._tasks) if intent in task.intents), None)
            return (task.id, tuple(call.tool for call in task.calls if call.ok)) if task else ("", ())

    def _traced(self, task: _Task) -> Trace:
        return trace(
            task.intent, tuple(task.calls), id_=task.id, links=tuple(task.links), session=self._session, at=task.at,
            hidden=task.secrets,
        )  # fmt: skip

    def _task(self, tool: str, arguments: Any, intent: str, now: float) -> _Task:
        """Return the task of a call, begun if need be."""
        self._asked = [each for each in self._asked if now - each.at <= PAUSE_S]
        tasks = [task for task in reversed(self._tasks) if len(task.calls) < MOST_CALLS]
        flows = [task for task in tasks if used(arguments, task.said, task.intent)]
        if intent:
            asked = [each for each in self._asked if each.intent == intent] or [_Asked(intent, now)]
            known = [task for task in tasks if intent in task.intents] + [task for task in flows if task is tasks[0]]
            task = self._resume(known[0] if known else self._begin(now), asked)
            task.is_told = True
            return task
        recent = [task for task in tasks if now - task.latest <= PAUSE_S]
        if flows and not any(tool in one.planned for one in self._asked):
            return self._resume(flows[0], self._asked[-1:] if flows[0].is_left else ())
        return self._fitting(tool, recent, now)

    def _fitting(self, tool: str, recent: Sequence[_Task], now: float) -> _Task:
        """Return the task that the tool fits best."""
        going = [task for task in recent if not task.is_left or task.plans(tool)]
        task = max(going, key=lambda each: each.fit(tool), default=None)
        since = max((each.at for each in task.asked), default=0.0) if task else 0.0
        waiting = [(each.fit(tool) * _RATHER + (_WAITS if each.at > since else 0), each) for each in self._asked]
        best, asked = max(waiting, key=lambda each: each[0], default=(0.0, None))
        if asked and (task is None or best > task.fit(tool)):
            return self._searched(asked, tool, now)
        left = [each for each in recent if each.fit(tool)] if not (task and task.fit(tool)) else []
        known = left[:1] or [each for each in (task, *recent) if each]
        if not known:
            return self._resume(self._begin(now))
        return self._resume(known[0], self._asked[-1:] if known[0].is_left and known[0].plans(tool) else ())

    def _searched(self, asked: _Asked, tool: str, now: float) -> _Task:
        """Return the task of a search, begun if need be.

        It goes on with one that asked for the same, unless it begins it again, and with one that has just failed at
        much the same.
        """
        tasks = self._tasks[::-1]
        same = [task for task in tasks if asked.intent in task.intents]
        same = [task for task in same if len(task.calls) < 2 or task.calls[0].tool != tool]
        failed = [task for task in tasks[:1] if not task.calls[-1].ok and now - task.latest <= PAUSE_S]
        same += [task for task in failed if asked.is_like(task.intent)]
        found = asked.fit(tool) / 2  # a search that found the tool as well was not asked again
        near = [
            each for each in self._asked if each is asked or (each.fit(tool) <= found and each.is_like(asked.intent))
        ]
        return self._resume(same[0] if same else self._begin(now), near)

    def _exchanged(self, task: _Task) -> list[_Task]:
        """Give a task the search that its calls fit better.

        It waits for its first call, or is another task's, which is returned; nothing was called for either task before
        both searches.
        """
        tasks = [each for each in self._tasks if len(each.asked) == 1 and not each.is_told]
        if task not in tasks:
            return []
        (own,) = task.asked
        options = [(1, each, _Task("", 0.0, 0.0)) for each in self._asked]
        options += [(0, other.asked[0], other) for other in tasks if own.at < other.at]
        gains = [
            (task.fits(each) - task.fits(own) + other.fits(own) - other.fits(each), is_free, each, other)
            for is_free, each, other in options
            if each.at < task.at
        ]
        gain, is_free, each, other = max(gains, key=lambda found: found[0], default=(0.0, 0, own, task))
        if gain <= _BETTER:
            return []
        task.asked, other.asked = [each], [own]
        if is_free:
            self._asked = sorted([own, *(one for one in self._asked if one is not each)], key=lambda one: one.at)
        return [] if is_free else [other]

    def _begin(self, now: float) -> _Task:
        self._number += 1
        self._tasks = [*self._tasks, _Task(f"{self._session}:{self._number}", now, now)][-MOST_TASKS:]
        return self._tasks[-1]

    def _resume(self, task: _Task, asked: Collection[_Asked] = ()) -> _Task:
        """Make a task the latest, with searches that belong to it."""
        self._tasks = [*(each for each in self._tasks if each is not task), task]
        task.asked += asked
        self._asked = [each for each in self._asked if each not in asked]
        return task


def _links(task: _Task, arguments: Any, *, began: float) -> list[tuple[int, int]]:
    """Return links to a new call from those before."""
    here = len(task.calls)
    flows = used(arguments, task.said, task.intent)
    known = f"{task.intent} {' '.join(task.said)}"
    explained = bool(flows) and all(value in known for value in telling(arguments))
    waits = here > 0 and not explained and began >= task.latest
    return [(earlier, here) for earlier in sorted({*flows, *([here - 1] if waits else [])})]


def _said(intent: str) -> set[str]:
    return {word for word in words(intent) if len(word) > _SHORT}

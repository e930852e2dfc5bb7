"""Traces of one client's session, one for each task.

Each call is given to a task by what is known of it, the surest first:

    intent     the call says what it is for
    new plan   a plan that no call has followed yet names the tool
    results    the call's arguments hold a value that a call of the task returned
    fit        a plan names the tool and its task has not called it yet, until a later plan takes its place; else the
               tool fits best a search that led to no call yet, which begins a task and counts four times, or a task
               that goes on, half as well if the task has called it; what fits nothing goes to the latest search
               without a call, if that was after the search of the task that goes on

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
    >>> trace = traced.called("mail/send", {"attachment": "/tmp/report-7.pdf", "password": "hunter2"}, "sent")
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
_WAITS = 4.0  # times as well a tool fits a search that waits for its first call as a task that goes on
_ALIKE = 0.5  # share of the shorter intent's words from which two ask for much the same


@dataclass(slots=True)
class _Asked:
    """A search or a plan that no call has followed yet."""

    intent: str
    at: float
    fits: Mapping[str, float] = field(default_factory=dict)  # how well each tool that was found fits, above 0
    planned: frozenset[str] = frozenset()

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
    intents: list[str] = field(default_factory=list)
    fits: dict[str, float] = field(default_factory=dict)
    asked: float = 0.0  # when its latest search was
    planned: set[str] = field(default_factory=set)  # by a plan, and not called yet
    calls: list[Call] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    secrets: dict[str, None] = field(default_factory=dict)
    is_left: bool = False  # something was searched for since its last call

    @property
    def intent(self) -> str:
        return "; ".join(self.intents)

    def fit(self, tool: str) -> float:
        again = any(call.tool == tool and call.ok for call in self.calls)
        return (self.fits.get(tool, 0.0) + (tool in self.planned)) / (1 + again)

    def takes(self, asked: _Asked) -> None:
        if asked.intent not in self.intents and len(self.intents) < MOST_INTENTS:
            self.intents.append(asked.intent)
        for tool, fit in asked.fits.items():
            self.fits[tool] = max(fit, self.fits.get(tool, 0.0))
        self.planned |= asked.planned
        self.asked = max(self.asked, asked.at)


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
            self._asked = [*self._asked, _Asked(intent, now, fits or {}, frozenset(planned))][-MOST_INTENTS:]
            for task in self._tasks:
                task.is_left = True
                task.planned = set() if planned else task.planned

    def called(
        self, tool: str, arguments: Mapping[str, Any], said: str, *, ok: bool = True, latency_s: float = 0.0,
        intent: str = "",
    ) -> Trace:  # fmt: skip
        """Note a call; return the trace with one more call."""
        with self._lock:
            now = self._clock()
            task = self._task(tool, arguments, intent, now)
            task.secrets |= dict.fromkeys(secrets(arguments))
            task.links += _links(task, arguments, began=now - latency_s)
            task.calls.append(Call(tool, argument_names(arguments), ok, round(latency_s, 4)))
            task.said.append(said[:LOOKED_AT])
            task.planned -= {tool} if ok else set()
            task.latest, task.is_left = now, False
            return self._traced(task)

    def calls_for(self, intent: str) -> tuple[str, tuple[str, ...]]:
        """Return id and good calls of the latest trace; "" for none."""
        with self._lock:
            task = next((task for task in reversed(self._tasks) if intent in task.intents), None)
            return (task.id, tuple(call.tool for call in task.calls if call.ok)) if task else ("", ())

    def _traced(self, task: _Task) -> Trace:
        intent, calls, links = task.intent, tuple(task.calls), tuple(task.links)
        for secret in sorted(task.secrets, key=len, reverse=True):  # one may be part of another
            intent = intent.replace(secret, "[secret]")
        return trace(intent, calls, id_=task.id, links=links, session=self._session, at=task.at)

    def _task(self, tool: str, arguments: Any, intent: str, now: float) -> _Task:
        """Return the task of a call, begun if need be."""
        self._asked = [each for each in self._asked if now - each.at <= PAUSE_S]
        tasks = [task for task in reversed(self._tasks) if len(task.calls) < MOST_CALLS]
        flows = [task for task in tasks if used(arguments, task.said, task.intent)]
        if intent:
            asked = [each for each in self._asked if each.intent == intent] or [_Asked(intent, now)]
            known = [task for task in tasks if intent in task.intents] + [task for task in flows if task is tasks[0]]
            return self._resume(known[0] if known else self._begin(now), asked)
        recent = [task for task in tasks if now - task.latest <= PAUSE_S]
        if flows and not any(tool in one.planned for one in self._asked):
            return self._resume(flows[0], self._asked[-1:] if flows[0].is_left else ())
        return self._fitting(tool, recent, now)

    def _fitting(self, tool: str, recent: Sequence[_Task], now: float) -> _Task:
        """Return the task that the tool fits best."""
        asked = max(reversed(self._asked), key=lambda each: each.fit(tool), default=None)
        going = [task for task in recent if not task.is_left or tool in task.planned]
        task = max(going, key=lambda each: each.fit(tool), default=None)
        if asked and (task is None or asked.fit(tool) * _WAITS > task.fit(tool)):
            return self._searched(asked, tool, now)
        left = [each for each in recent if each.fit(tool)] if not (task and task.fit(tool)) else []
        if asked and task and not (left or task.fit(tool)) and asked.at > task.asked:
            return self._searched(asked, tool, now)  # nothing found it, and this search waits for its first call
        known = left[:1] or [each for each in (task, *recent) if each]
        if not known:
            return self._resume(self._begin(now))
        return self._resume(known[0], self._asked[-1:] if known[0].is_left and tool in known[0].planned else ())

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

    def _begin(self, now: float) -> _Task:
        self._number += 1
        self._tasks = [*self._tasks, _Task(f"{self._session}:{self._number}", now, now)][-MOST_TASKS:]
        return self._tasks[-1]

    def _resume(self, task: _Task, asked: Collection[_Asked] = ()) -> _Task:
        """Make a task the latest, with searches that belong to it."""
        self._tasks = [*(each for each in self._tasks if each is not task), task]
        for each in asked:
            task.takes(each)
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

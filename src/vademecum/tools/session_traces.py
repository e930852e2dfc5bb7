"""Traces of one client's session, one for each task.

Nobody says where a task ends. So each call is given to a task by what is known of it, the surest first:

    intent     the call says what it is for
    plan       a plan that was asked for names the tool, and its task has not called it yet
    results    the call's arguments hold a value that a call of the task returned
    search     the tool fits best a search that led to no call yet, which begins a task, or one of a task that goes on

A search begins a task, and leaves those before. It goes on with one that asked for the same words, or that has just failed at much the
same. A task that was left goes on only with a tool that it found and no later one did. After a pause only intent and results go on with a
task. A search that led to no call is evidence, too: where the next one asks for much the same, its words belong to the task.

A call used an earlier one's outcome where a value among its arguments stands in what that returned (`values`). Of any other call nobody
knows what it waited for: it is taken to wait for the call before, unless it began before that ended. Values and outcomes are forgotten
with the task; kept are names, order and links.

    >>> traced = Traced("s1", clock=lambda: 0.0)
    >>> traced.intend("mail the report")
    >>> _ = traced.called("files/find", {"name": "report"}, "found /tmp/report-7.pdf")
    >>> trace = traced.called("mail/send", {"attachment": "/tmp/report-7.pdf", "password": "hunter2"}, "sent")
    >>> trace.intent, [call.tool for call in trace.calls], trace.links, trace.calls[1].arguments
    ('mail the report', ['files/find', 'mail/send'], ((0, 1),), ('attachment', 'password'))
    >>> traced.intend("order lunch")
    >>> traced.called("shop/order", {}, "done").intent
    'order lunch'

What was searched for may say the value of a password that a call then gives. It is cut out before anything is kept:

    >>> traced.intend("log in as ada with swordfish")
    >>> traced.called("bank/login", {"user": "ada", "password": "swordfish"}, "welcome").intent
    'log in as ada with [secret]'
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vademecum.protocols import Clock
from vademecum.tools.arguments import LOOKED_AT, secrets, telling, used
from vademecum.tools.fields import words
from vademecum.tools.observe import argument_names, trace
from vademecum.tools.records import Call, Trace

PAUSE_S = 900.0  # without a call or a question: what comes next is for something else, unless it shows otherwise
MOST_CALLS, MOST_INTENTS, MOST_TASKS = 100, 8, 6
_SHORT = 3  # letters of a word that says little: "the", "and", "for"
_ALIKE = 0.5  # share of the shorter intent's words from which two ask for much the same


@dataclass(slots=True)
class _Asked:
    """A search or a plan that no call has followed yet."""

    intent: str
    fits: Mapping[str, float]  # how well each tool that was found fits, above 0
    plan: bool
    at: float

    def is_like(self, intent: str) -> bool:
        mine, other = _said(self.intent), _said(intent)
        return len(mine & other) >= _ALIKE * max(min(len(mine), len(other)), 1)


@dataclass(slots=True)
class _Task:
    """Calls of one task, with their results."""

    number: int
    at: float
    latest: float
    intents: list[str] = field(default_factory=list)
    fits: dict[str, float] = field(default_factory=dict)
    planned: set[str] = field(default_factory=set)  # by a plan, and not called yet
    calls: list[Call] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    secrets: dict[str, None] = field(default_factory=dict)
    is_left: bool = False  # something was searched for since its last call

    @property
    def intent(self) -> str:
        return "; ".join(self.intents)

    def begins_with(self, tool: str) -> bool:
        return len(self.calls) > 1 and self.calls[0].tool == tool

    def takes(self, asked: _Asked) -> None:
        if asked.intent not in self.intents and len(self.intents) < MOST_INTENTS:
            self.intents.append(asked.intent)
        for tool, fit in asked.fits.items():
            self.fits[tool] = max(fit, self.fits.get(tool, 0.0))
        self.planned |= set(asked.fits) if asked.plan else set()


class Traced:
    """The traces of one client.

    Args:
        session: What tells this client's traces from others'.
        clock: Tells the time, in seconds since the epoch.
    """

    def __init__(self, session: str, clock: Clock) -> None:
        self._session = session
        self._clock = clock
        self._lock = threading.Lock()
        self._number = 0
        self._tasks: list[_Task] = []  # the latest last
        self._asked: list[_Asked] = []  # the latest last

    def intend(self, intent: str, *, fits: Mapping[str, float] | None = None, plan: bool = False) -> None:
        """Note a search or a plan.

        Args:
            intent: what it asked for.
            fits: how well each tool that was found fits, above 0, by the tool's id.
            plan: whether a plan was asked for.
        """
        with self._lock:
            self._asked = [*self._asked, _Asked(intent, fits or {}, plan, self._clock())][-MOST_INTENTS:]
            for task in self._tasks:
                task.is_left = True

    def called(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        said: str,
        *,
        ok: bool = True,
        latency_s: float = 0.0,
        intent: str = "",
    ) -> Trace:
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
            tasks = [task for task in reversed(self._tasks) if intent in task.intents]
            if not tasks:
                return "", ()
            return self._id(tasks[0]), tuple(call.tool for call in tasks[0].calls if call.ok)

    def _id(self, task: _Task) -> str:
        return f"{self._session}:{task.number}"

    def _traced(self, task: _Task) -> Trace:
        intent = task.intent
        for secret in sorted(task.secrets, key=len, reverse=True):  # one may be part of another
            intent = intent.replace(secret, "[secret]")
        id_ = self._id(task)
        return trace(intent, tuple(task.calls), id_=id_, links=tuple(task.links), session=self._session, at=task.at)

    def _task(self, tool: str, arguments: Any, intent: str, now: float) -> _Task:
        """Return the task of a call, begun if need be."""
        self._asked = [each for each in self._asked if now - each.at <= PAUSE_S]
        tasks = [task for task in reversed(self._tasks) if len(task.calls) < MOST_CALLS]
        flows = [task for task in tasks if used(arguments, task.said, task.intent)]
        if intent:
            asked = [each for each in self._asked if each.intent == intent] or [_Asked(intent, {}, False, now)]
            known = [task for task in tasks if intent in task.intents] + [task for task in flows if task is tasks[0]]
            return self._resume(known[0] if known else self._begin(now), asked)
        recent = [task for task in tasks if now - task.latest <= PAUSE_S]
        if plans := [each for each in self._asked if each.plan and tool in each.fits]:
            return self._searched(plans[-1], tool, now)
        if known := [task for task in recent if tool in task.planned] + flows:
            return self._resume(known[0], self._asked[-1:] if known[0].is_left else ())
        return self._fitting(tool, recent, now)

    def _fitting(self, tool: str, recent: Sequence[_Task], now: float) -> _Task:
        """Return the task that the tool fits best."""

        def fit(one: _Asked | _Task | None) -> float:
            return one.fits.get(tool, 0.0) if one else 0.0

        asked = max(reversed(self._asked), key=fit, default=None)
        task = max((task for task in recent if not task.is_left), key=fit, default=None)
        if asked and (task is None or fit(asked) > fit(task)):
            return self._searched(asked, tool, now)
        left = [task for task in recent if fit(task)] if not fit(task) else []
        known = left[:1] or [each for each in (task, *recent) if each]
        return self._resume(known[0] if known else self._begin(now))

    def _searched(self, asked: _Asked, tool: str, now: float) -> _Task:
        """Return the task of a search, begun if need be.

        It goes on with one that asked for the same, unless it begins it again, and with one that has just failed at much the same.
        """
        tasks = self._tasks[::-1]
        same = [task for task in tasks if asked.intent in task.intents and not task.begins_with(tool)]
        failed = [task for task in tasks[:1] if not task.calls[-1].ok and now - task.latest <= PAUSE_S]
        same += [task for task in failed if asked.is_like(task.intent)]
        near = [each for each in self._asked if each is asked or each.is_like(asked.intent)]
        return self._resume(same[0] if same else self._begin(now), near)

    def _begin(self, now: float) -> _Task:
        self._number += 1
        self._tasks = [*self._tasks, _Task(self._number, now, now)][-MOST_TASKS:]
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

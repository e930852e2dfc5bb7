"""Traces of one client's session, safe to keep.

A trace goes on while the same is being done: until another plan is asked for, or nobody calls for a while. What was
searched for meanwhile says what it was for.

A call used an earlier one's outcome where a value among its arguments stands in what that returned. Values and outcomes
are looked at here, in memory, and forgotten with the trace; kept are names, order and links.

    >>> traced = Traced("s1", clock=lambda: 0.0)
    >>> traced.intend("mail the report")
    >>> _ = traced.called("files/find", {"name": "report"}, "found /tmp/report-7.pdf")
    >>> trace = traced.called("mail/send", {"attachment": "/tmp/report-7.pdf", "password": "hunter2"}, "sent")
    >>> trace.intent, [call.tool for call in trace.calls], trace.links, trace.calls[1].arguments
    ('mail the report', ['files/find', 'mail/send'], ((0, 1),), ('attachment', 'password'))

What was searched for may say the value of a password that a call then gives. It is cut out before anything is kept:

    >>> traced.intend("log in as ada with swordfish", anew=True)
    >>> traced.called("bank/login", {"user": "ada", "password": "swordfish"}, "welcome").intent
    'log in as ada with [secret]'
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vademecum.protocols import Clock
from vademecum.tools.fields import words
from vademecum.tools.observe import argument_names, trace
from vademecum.tools.records import Call, Trace

PAUSE_S = 900.0  # without a call or a question: what comes next is for something else
MOST_CALLS, MOST_INTENTS = 100, 8
LOOKED_AT = 100_000  # characters of an outcome in which values are looked for
_MOST_VALUES = 200
_LEAST_TELLING = 4  # characters of a value: a shorter one stands in any text
_SECRET_NAME = re.compile(r"passw|passphrase|pwd|secret|token|credential|apikey|accesskey|privatekey")


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
        self._latest = clock()
        self._begin()

    @property
    def context(self) -> tuple[str, ...]:
        """The tools called so far, in order."""
        with self._lock:
            return tuple(call.tool for call in self._calls)

    def intend(self, intent: str, *, anew: bool = False) -> None:
        """Note the intent; `anew` starts another task."""
        with self._lock:
            self._go_on(anew=anew and intent not in self._intents)
            if intent not in self._intents and len(self._intents) < MOST_INTENTS:
                self._intents.append(intent)

    def called(
        self, tool: str, arguments: Mapping[str, Any], said: str, *, ok: bool = True, latency_s: float = 0.0
    ) -> Trace:
        """Note a call; return the trace with one more call."""
        with self._lock:
            self._go_on(anew=len(self._calls) >= MOST_CALLS)
            self._secrets |= dict.fromkeys(_secrets(arguments))
            number, intent = len(self._calls), "; ".join(self._intents)
            self._links += [(earlier, number) for earlier in used(arguments, self._said, intent)]
            self._calls.append(Call(tool, argument_names(arguments), ok, round(latency_s, 4)))
            self._said.append(said[:LOOKED_AT])
            id_ = f"{self._session}:{self._number}"
            links = tuple(self._links)
            for secret in sorted(self._secrets, key=len, reverse=True):  # one may be part of another
                intent = intent.replace(secret, "[secret]")
            return trace(intent, tuple(self._calls), id_=id_, links=links, session=self._session, at=self._at)

    def _go_on(self, *, anew: bool) -> None:
        now = self._clock()
        if anew or now - self._latest > PAUSE_S:
            self._begin()
        self._latest = now

    def _begin(self) -> None:
        self._number += 1
        self._at = self._clock()
        self._intents: list[str] = []
        self._calls: list[Call] = []
        self._links: list[tuple[int, int]] = []
        self._said: list[str] = []
        self._secrets: dict[str, None] = {}


def used(arguments: Any, said: Sequence[str], intent: str = "") -> list[int]:
    """Return the earlier results whose values a call's arguments hold.

    What stands in the question too was not learned from them.

    >>> used({"id": "note-4711", "verbose": True}, ["found note-4711", "found nothing"])
    [0]
    """
    values = [value for value in _values(arguments) if value not in intent]
    return [earlier for earlier, text in enumerate(said) if any(value in text for value in values)]


def _secrets(arguments: Any) -> Iterator[str]:
    """The values among arguments whose names say that they are secret."""
    todo, left = [arguments], _MOST_VALUES
    while todo and left:
        value, left = todo.pop(), left - 1
        if isinstance(value, Mapping):
            for name, inner in value.items():
                if _SECRET_NAME.search("".join(words(str(name)))):
                    yield from (text for text in _values(inner) if not text.isdigit() or len(text) > _LEAST_TELLING)
            todo += value.values()
        elif isinstance(value, list):
            todo += value


def _values(arguments: Any) -> Iterator[str]:
    """The telling values among arguments, as a text would write them."""
    todo, left = [arguments], _MOST_VALUES
    while todo and left:
        value, left = todo.pop(), left - 1
        if isinstance(value, Mapping):
            todo += value.values()
        elif isinstance(value, list):
            todo += value
        elif isinstance(value, str | int | float) and not isinstance(value, bool) and len(str(value)) >= _LEAST_TELLING:
            yield str(value)

"""The laid-out events of scopes, shared by the engines of one process.

A server has an engine for each of its threads. Each with arrays of its own would hold the same events as often as there are
threads, and read each new event as often; so engines that are handed one `Sharing` hold them once, whichever of them asks.
What is shared is derived from the databases alone: an engine reads and writes these through connections of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from weakref import WeakValueDictionary

from vademecum.memory.scope import Scope
from vademecum.memory.segment import Reader
from vademecum.memory.segment_store import Shelf
from vademecum.memory.view import View


class Laid:
    """The events of some scopes, side by side; threads take turns.

    Attributes:
        weighing: held while events are weighed for a question. What that takes, some 90 bytes for each event that answers at all, is there
            once then; and threads that weigh at the same time are no sooner done, since most of it holds the interpreter's lock.
    """

    def __init__(self, scopes: Sequence[Scope]) -> None:
        """Take the scopes whose derived files are read."""
        self._shelves = [Shelf(scope.number, scope.directory / "memory") for scope in scopes]
        self._view: View | None = None
        self._taking_turns = (
            threading.Lock()
        )  # a second thread would work out the same, over what the first has half done
        self.weighing = threading.Lock()

    def view(self, scopes: Sequence[Scope], reader: Reader) -> View:
        """Return every current event; the same object while nothing changed.

        Raises what `Shelf.part` does.
        """
        with self._taking_turns:
            pairs = zip(self._shelves, scopes, strict=True)
            parts = tuple(shelf.part(scope.journal, reader) for shelf, scope in pairs)
            if self._view is None or any(a is not b for a, b in zip(self._view.parts, parts, strict=True)):
                self._view = View(parts)
            return self._view


class Sharing:
    """Hands the engines of a process one `Laid` for the same scopes."""

    def __init__(self) -> None:
        """Begin with none."""
        self._known: WeakValueDictionary[tuple[str, ...], Laid] = WeakValueDictionary()
        self._lock = threading.Lock()

    def of(self, scopes: Sequence[Scope]) -> Laid:
        """Return the `Laid` of all scopes with files in the same directories."""
        with self._lock:
            places = tuple(str(scope.directory) for scope in scopes)
            found = self._known.get(places)
            if found is None:
                found = self._known[places] = Laid(scopes)
            return found

"""Refresh the arrays of tools while older ones still answer.

A question sees changed tools and a few new traces at once. Many new traces are worked in, and weights fitted anew, by a
thread; meanwhile what was before answers.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import cached_property

from vademecum.errors import Error, StoreError
from vademecum.tools.dependencies import Pairs
from vademecum.tools.fit import fitted
from vademecum.tools.groups import Groups
from vademecum.tools.ledger import Ledger, Version, within
from vademecum.tools.relations import Ways
from vademecum.tools.shgat import Shgat
from vademecum.tools.view import Reader, View
from vademecum.tools.weights import Model, prior

ENOUGH = 20  # traces from which weights of one's own are fitted
GROWTH = 2.0  # times as many traces as at the last fit: fitted anew
FEW = 200  # traces that a question works in by itself
QUIET_S = 0.25  # before the thread begins, so that the next question comes first
_MODEL = "tools.model"


@dataclass(frozen=True)
class Known:
    """A view with its fitted weights, and values computed when needed."""

    view: View
    model: Model
    version: Version

    @cached_property
    def ways(self) -> Ways:
        """The graph of ways to reach tools."""
        offered = [tool for number, tool in enumerate(self.view.tools) if self.view.offered[number]]
        return Ways(offered, self.view.traces)

    @cached_property
    def groups(self) -> Groups:
        """The learned groups."""
        return Groups(self.view)

    @cached_property
    def shgat(self) -> Shgat:
        """The capabilities as ADR-050 scores them."""
        return Shgat(self.view)

    @cached_property
    def pairs(self) -> Pairs:
        """The links between tools."""
        return Pairs(self.view, self.ways)


class Current:
    """Keeps the view current, beside the questions where that takes long."""

    def __init__(self, ledger: Ledger, reader: Reader) -> None:
        self._ledger, self._reader, self._fact = ledger, reader, within(ledger.scope, _MODEL)
        self._known: Known | None = None
        self._making = threading.RLock()  # one view at a time: the reader and the database are this one's
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._hurry = threading.Event()  # somebody waits for the thread
        self._problem = ""  # why the thread could not go on
        self._closed = False

    def now(self) -> Known:
        """Return the state for a question."""
        version, known = self._ledger.version(), self._known
        if known is None or self._reader.lacks_vectors or self._waited_for(known, version):
            known = self.read()
        if known.version != version or self._is_due(known):
            self._begin()
        return known

    def learn(self) -> None:
        """Start to work in new traces, after a first question."""
        if self._known is not None and self._known.version != self._ledger.version():
            self._begin()

    def read(self, *, laid_out: bool = False) -> Known:
        """Return the current state, with the weights as they are.

        `laid_out` computes all that questions need before any of them sees it.
        """
        with self._making:
            if laid_out and self._closed:
                raise StoreError("the tools were closed")
            version = self._ledger.version()
            if self._known is None or self._known.version != version or self._reader.lacks_vectors:
                view, model = self._reader.view(), Model.read(self._ledger.fact(self._fact))
                made = Known(view, model or prior(), version)
                if laid_out:
                    _ = view.ridge, view.metas.after, view.graph.merged, made.ways, made.pairs, made.groups.known
                self._known, self._problem = made, ""
            return self._known

    def settle(self) -> Known:
        """Wait until all traces and weights count; return the state."""
        self._hurry.set()
        if thread := self._thread:
            thread.join()
        self._hurry.clear()
        known = self.read()
        return self._fit(known) if self._is_due(known) else known

    def fit(self) -> Known:
        """Fit the weights on all traces now, due or not."""
        return self._fit(self.read())

    def close(self) -> None:
        """Release the database; unfinished work of the thread is dropped."""
        self._hurry.set()
        with self._making:
            self._closed = True

    def _is_due(self, known: Known) -> bool:
        """Return whether the weights are to be fitted, and can be."""
        return not self._reader.problem and len(known.view.traces) >= max(ENOUGH, GROWTH * known.model.traces)

    def _waited_for(self, known: Known, version: Version) -> bool:
        """Return whether a question waits for new traces."""
        few = known.version != version and len(known.view.traces) <= FEW
        return few or known.version.catalogue != version.catalogue or bool(self._problem)

    def _fit(self, known: Known) -> Known:
        """Fit the weights, store them, and use them for answers.

        Without the embedder they would be those of words alone.
        """
        if not known.view.traces or self._reader.problem:
            return known
        model = fitted(known.view, known.pairs, prior())
        with self._making:
            if not self._closed and not self._reader.problem:
                self._ledger.keep_fact(self._fact, model.write())
                self._known = replace(self._known or known, model=model)
            return self._known or known

    def _begin(self) -> None:
        """Start the thread, unless it is at work."""
        with self._starting:
            if not self._closed and not self._problem and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._work, name="vademecum-tools", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        self._hurry.wait(QUIET_S)
        try:
            while not self._closed:
                known = self.read(laid_out=True)
                if self._is_due(known):
                    self._fit(known)
                elif known.version == self._ledger.version():
                    return
        except Error as error:  # the next question reads by itself, and says what is wrong
            self._problem = str(error)

"""Counters, gauges, histograms and spans: Prometheus reads the first three.

    >>> counter = Counter("demo_total", "What the demo did.")
    >>> counter.add(operation="hit"); counter.add(2, operation="miss")
    >>> counter.value(operation="miss")
    2.0
    >>> print(exposition([counter]), end="")
    # HELP demo_total What the demo did.
    # TYPE demo_total counter
    demo_total{operation="hit"} 1
    demo_total{operation="miss"} 2
    >>> took = Histogram("demo_seconds", "How long it took.", (0.1, 1.0))
    >>> took.observe(0.05); took.observe(3.0)
    >>> print(exposition([took]), end="")
    # HELP demo_seconds How long it took.
    # TYPE demo_seconds histogram
    demo_seconds_bucket{le="0.1"} 1
    demo_seconds_bucket{le="1"} 1
    demo_seconds_bucket{le="+Inf"} 2
    demo_seconds_sum 3.05
    demo_seconds_count 2

They count within one process; a server shows `exposition()` at `/metrics`. Format: Prometheus text exposition 0.0.4.

A span measures a step of a request, for OpenTelemetry. It may also be a histogram's observation, so a trace shows one
request's times and metrics show those of all:

    >>> took = Histogram("demo_stage_seconds", "Seconds by stage.", (1.0,))
    >>> with span("search.rank", took, stage="rank"):
    ...     pass
    >>> took.count(stage="rank")
    1

Without OpenTelemetry nothing else happens. `use` sets a tracer, our own or any with `start_as_current_span`; `vade serve`
does so if the extra `otel` is installed and the usual variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, ...) say where spans go.
Attributes are kinds and counts, never the text of a question.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

Labels = tuple[tuple[str, str], ...]
# Seconds, from a search to an index run.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class Metric:
    """A metric: a name, a help text, and values by labels."""

    kind: ClassVar[str]

    def __init__(self, name: str, said: str) -> None:
        self.name = name
        self.said = said
        self._lock = threading.Lock()

    def lines(self) -> list[str]:
        """Return the lines of the exposition."""
        return [f"# HELP {self.name} {self.said}", f"# TYPE {self.name} {self.kind}", *self._rows()]

    def _rows(self) -> Iterator[str]:
        raise AssertionError(self.kind)


class Number(Metric):
    """A number for each combination of labels, for several threads."""

    def __init__(self, name: str, said: str) -> None:
        super().__init__(name, said)
        self._values: dict[Labels, float] = {}

    def add(self, amount: float = 1, **labels: str) -> None:
        """Add `amount`."""
        key = tuple(sorted(labels.items()))
        with self._lock:
            self._values[key] = self._values.get(key, 0.0) + amount

    def value(self, **labels: str) -> float:
        """Return the number for these labels."""
        return self._values.get(tuple(sorted(labels.items())), 0.0)

    def _rows(self) -> Iterator[str]:
        with self._lock:
            rows = sorted(self._values.items())
        yield from (f"{self.name}{_labels(key)} {value:.15g}" for key, value in rows)


class Counter(Number):
    """A number that only grows; its name ends in `_total`."""

    kind = "counter"


class Gauge(Number):
    """A number that goes up and down."""

    kind = "gauge"

    def set(self, amount: float, **labels: str) -> None:
        """Set the number to `amount`."""
        with self._lock:
            self._values[tuple(sorted(labels.items()))] = amount

    @contextmanager
    def during(self, **labels: str) -> Iterator[None]:
        """Count one more for the duration of the block."""
        self.add(1, **labels)
        try:
            yield
        finally:
            self.add(-1, **labels)


@dataclass(slots=True)
class _Seen:
    """Observations with one combination of labels: counts between bounds, and sum."""

    counts: list[int]
    total: float = 0.0


class Histogram(Metric):
    """A distribution: counts of observations up to ascending bounds, and sum."""

    kind = "histogram"

    def __init__(self, name: str, said: str, bounds: Sequence[float] = SECONDS) -> None:
        super().__init__(name, said)
        self.bounds = tuple(bounds)
        self._seen: dict[Labels, _Seen] = {}

    def observe(self, amount: float, **labels: str) -> None:
        """Add one observation."""
        key = tuple(sorted(labels.items()))
        with self._lock:
            seen = self._seen.get(key)
            if seen is None:
                seen = self._seen[key] = _Seen([0] * (len(self.bounds) + 1))
            seen.counts[bisect_left(self.bounds, amount)] += 1
            seen.total += amount

    def count(self, **labels: str) -> int:
        """Return the number of observations for these labels."""
        seen = self._seen.get(tuple(sorted(labels.items())))
        return 0 if seen is None else sum(seen.counts)

    def _rows(self) -> Iterator[str]:
        with self._lock:
            seen = sorted((key, list(of.counts), of.total) for key, of in self._seen.items())
        for key, counts, total in seen:
            below = 0
            for bound, count in zip((*(f"{each:g}" for each in self.bounds), "+Inf"), counts, strict=True):
                below += count
                yield f"{self.name}_bucket{_labels((*key, ('le', bound)))} {below}"
            yield f"{self.name}_sum{_labels(key)} {total:.15g}"
            yield f"{self.name}_count{_labels(key)} {below}"


M = TypeVar("M", bound=Metric)
_ALL: dict[str, Metric] = {}


def counter(name: str, said: str) -> Counter:
    """Return the counter of this name, created at first use and exposed."""
    return _kept(Counter(name, said))


def gauge(name: str, said: str) -> Gauge:
    """Return the gauge of this name, created at first use and exposed."""
    return _kept(Gauge(name, said))


def histogram(name: str, said: str) -> Histogram:
    """Return the histogram of this name, created at first use and exposed."""
    return _kept(Histogram(name, said))


def exposition(metrics: Iterable[Metric] | None = None) -> str:
    """Return metrics as text, by default all."""
    chosen = sorted(_ALL.values(), key=lambda each: each.name) if metrics is None else metrics
    return "".join(f"{line}\n" for each in chosen for line in each.lines())


def _kept(metric: M) -> M:
    known = _ALL.setdefault(metric.name, metric)
    assert isinstance(known, type(metric)), f"{metric.name} is a {known.kind}"
    return known


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def _labels(key: Labels) -> str:
    quoted = (f'{name}="{value.translate(_ESCAPES)}"' for name, value in key)
    return "{" + ",".join(quoted) + "}" if key else ""


# Counted for every kind of database.
STORE_ERRORS = counter("vademecum_store_errors_total", "Database failures, by error.")


_tracer: Any = None


def use(tracer: Any) -> None:
    """Set the OpenTelemetry tracer that makes spans; None for none."""
    global _tracer  # noqa: PLW0603 - one process, one place where its spans go
    _tracer = tracer


@contextmanager
def span(name: str, took: Histogram | None = None, **labels: str) -> Iterator[None]:
    """Open a span with these labels; observe its time as `took`."""
    started = time.perf_counter()
    try:
        with nullcontext() if _tracer is None else _tracer.start_as_current_span(name, attributes=labels):
            yield
    finally:
        if took is not None:
            took.observe(time.perf_counter() - started, **labels)


def note(attributes: Mapping[str, str | float]) -> None:
    """Add attributes to the current span."""
    if _tracer is not None:
        from opentelemetry import trace

        for name, value in attributes.items():
            trace.get_current_span().set_attribute(name, value)


@contextmanager
def continued(headers: Mapping[str, str]) -> Iterator[None]:
    """Continue the trace that `traceparent` (W3C Trace Context) in headers names."""
    if _tracer is None:
        yield
        return
    from opentelemetry import context
    from opentelemetry.propagate import extract

    token = context.attach(extract(dict(headers)))
    try:
        yield
    finally:
        context.detach(token)

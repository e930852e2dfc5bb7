"""Spans: time measurements of a request's steps, for OpenTelemetry.

Each span may also be a histogram's observation, so a trace shows one request's times and metrics show those of all:

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

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from vademecum.metrics import Histogram

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

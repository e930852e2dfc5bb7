"""Spans: what took how long inside of what, for whoever looks at one slow question.

Each span may be a histogram's observation as well, so that what a trace shows of one question, metrics show of all:

    >>> took = Histogram("demo_stage_seconds", "Seconds by stage.", (1.0,))
    >>> with span("search.rank", took, stage="rank"):
    ...     pass
    >>> took.count(stage="rank")
    1

Without OpenTelemetry nothing else happens. `use` hands in a tracer, its own or any that has `start_as_current_span`; `vade serve`
does so where the extra `otel` is installed and its usual variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, ...) say where spans go.
Attributes are kinds and counts, never what was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from vademecum.metrics import Histogram

_tracer: Any = None


def use(tracer: Any) -> None:
    """Have spans made by an OpenTelemetry tracer; None for none."""
    global _tracer  # noqa: PLW0603 - one process, one place where its spans go
    _tracer = tracer


def span(name: str, took: Histogram | None = None, **labels: str) -> AbstractContextManager[None]:
    """Make a span for as long as this takes, and an observation of `took`, both with these labels."""
    timed = nullcontext() if took is None else took.timed(**labels)
    return timed if _tracer is None else _traced(name, timed, labels)


@contextmanager
def _traced(name: str, timed: AbstractContextManager[None], labels: Mapping[str, str]) -> Iterator[None]:
    with _tracer.start_as_current_span(name, attributes=labels), timed:
        yield


def note(attributes: Mapping[str, str | float]) -> None:
    """Say more of the span that is open."""
    if _tracer is not None:
        from opentelemetry import trace

        for name, value in attributes.items():
            trace.get_current_span().set_attribute(name, value)


@contextmanager
def continued(headers: Mapping[str, str]) -> Iterator[None]:
    """Make spans part of the trace that a caller's headers name (`traceparent`, W3C Trace Context)."""
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

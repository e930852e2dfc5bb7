"""Export of spans to an OpenTelemetry collector.

OpenTelemetry's own variables name the collector; without them no span is sent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from vademecum import tracing
from vademecum.errors import MissingExtraError
from vademecum.version import __version__

_WHERE = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def start(environ: Mapping[str, str] = os.environ) -> Callable[[], None]:
    """Start exporting spans, if the environment names a collector.

    Returns a function that sends the last spans and stops.

    Raises:
        MissingExtraError: a collector is named, and OpenTelemetry is not installed.
    """
    asked = next((name for name in _WHERE if environ.get(name)), None)
    if asked is None or environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return lambda: None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingExtraError(f"{asked} is set and {error.name} is missing: pip install 'vademecum[otel]'") from error
    resource = Resource.create(
        {"service.name": environ.get("OTEL_SERVICE_NAME", "vademecum"), "service.version": __version__}
    )
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracing.use(provider.get_tracer("vademecum", __version__))

    def stop() -> None:
        tracing.use(None)
        provider.shutdown()

    return stop

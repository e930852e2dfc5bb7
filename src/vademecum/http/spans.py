"""Where spans go: to the collector that OpenTelemetry's own variables name, and nowhere where they name none."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from vademecum import tracing
from vademecum.errors import MissingExtraError
from vademecum.version import __version__

_WHERE = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def start(environ: Mapping[str, str] = os.environ) -> Callable[[], None]:
    """Send spans where the environment says, if it does. Returns what sends the last ones and ends it.

    Raises:
        MissingExtraError: it says where, and OpenTelemetry is not installed.
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

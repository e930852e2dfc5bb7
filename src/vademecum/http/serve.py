"""`vade serve`: the listening socket, the access rules, the logs, the run.

Spans are sent to an OpenTelemetry collector, if OpenTelemetry's own variables name one. Logs are
JSON, one object a line on standard error. They name the caller and the route. They show questions only with the setting
for that.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

import click

from vademecum import heaps, metrics
from vademecum.addresses import is_loopback
from vademecum.amounts import between_commas
from vademecum.cli.session import ask_first, settings_for
from vademecum.config import Settings
from vademecum.errors import MissingExtraError, UsageError
from vademecum.http.auth import Key, read_keys
from vademecum.http.auth import new_key as made_key
from vademecum.version import __version__
from vademecum.wiring.roots import OpenedRoot, distinct_names, narrow

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
    metrics.use(provider.get_tracer("vademecum", __version__))

    def stop() -> None:
        metrics.use(None)
        provider.shutdown()

    return stop


GRACE_SECONDS = 30  # for running requests to finish


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--host",
    metavar="ADDRESS",
    help="Where to listen; any but a loopback address needs keys.",
    show_default="server.host",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port; 0 for any that is free.",
    show_default="server.port",
)
@click.option("--new-key", metavar="NAME", default="", help="Print a new key and its entry for server.keys, and exit.")
@click.option(
    "--for",
    "repositories",
    metavar="REPOS",
    default="*",
    help="With --new-key: which repositories it opens, with commas; * is everything.",
)
def serve(paths: tuple[str, ...], host: str | None, port: int | None, new_key: str, repositories: str) -> int:
    """Serve the current repository, or each PATH, over HTTP.

    Serves the API, a page for people at /, metrics, and MCP for agents at /mcp. Needs the extra `server`.

    \b
    vade serve
    vade serve ~/app ~/lib --port 0
    vade serve --new-key ci --for app
    """  # noqa: D301 -- click reads the backspace as "leave these lines as they are"
    if new_key:
        key, entry = made_key(new_key, repositories)
        click.echo(
            f"key, shown this once: {key}\nentry of server.keys, in your user file or VADE_SERVER__KEYS: {entry}"
        )
        return 0
    settings = settings_for(paths)
    ask_first(paths, settings)
    run(paths, settings, host, port)
    return 0


def run(paths: Sequence[str], settings: Settings, host: str | None = None, port: int | None = None) -> None:
    """Serve repositories until interrupted.

    Raises:
        MissingExtraError: FastAPI or uvicorn is not installed.
        UsageError: other machines could reach the server, and there is no key.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its thread pool costs more than it saves here
    heaps.keep_few()
    own = settings.server
    own = replace(own, host=own.host if host is None else host, port=own.port if port is None else port)
    settings = replace(settings, server=own)
    keys = read_keys(own.keys)
    check_reach(own.host, keys)
    roots = opened_roots(paths)
    try:
        import uvicorn

        from vademecum.http.app import Patient, application
    except ImportError as error:
        raise MissingExtraError(f"`vade serve` needs {error.name}: pip install 'vademecum[server]'") from error
    listening = listen(own.host, own.port)
    ending = threading.Event()
    app = application(roots, settings, keys, hosts_of(settings), start(), ending)
    log_to_standard_error()
    address, number = listening.getsockname()[:2]
    shown = f"[{address}]" if ":" in address else address
    click.echo(f"vade: serving {', '.join(root.name for root in roots)} at http://{shown}:{number}/", err=True)

    class Server(uvicorn.Server):
        """Signals the end to streams, because shutdown waits for them."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            ending.set()
            super().handle_exit(sig, frame)

    class Timely(Patient):
        """Gives a request's head as long as a call may take."""

        seconds = own.timeout_s

    server = Server(
        uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, proxy_headers=False,
            timeout_graceful_shutdown=GRACE_SECONDS, http=Timely,
        )
    )  # fmt: skip
    server.run(sockets=[listening])


def check_reach(host: str, keys: Sequence[Key]) -> None:
    """Refuse a public address without a key. Raises `UsageError`."""
    if not keys and not is_loopback(host):
        raise UsageError(
            f"{host} can be reached from other machines, and there is no key: make one with `vade serve --new-key NAME` and set "
            "server.keys in your user file or VADE_SERVER__KEYS, or listen at 127.0.0.1"
        )


def opened_roots(paths: Sequence[str]) -> list[OpenedRoot]:
    """Return the repositories of the paths, with their names. Raises `RootError`."""
    roots = list(narrow(tuple(paths) or (".",)))
    return [OpenedRoot(name, root.path) for root, name in zip(roots, distinct_names(roots), strict=True)]


def hosts_of(settings: Settings) -> frozenset[str] | None:
    """Return the host names that requests may address; None for any.

    Any name is safe when keys are required, because a page in a browser has no key.
    """
    own = settings.server
    more = between_commas(own.hosts.lower())
    if own.keys and not more and not is_loopback(own.host):
        return None
    shown = f"[{own.host}]" if ":" in own.host else own.host
    return frozenset({"localhost", "127.0.0.1", "[::1]", shown, *more})


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises `UsageError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(2048)
    except OSError as error:
        listening.close()
        other = "--host" if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL else "--port"
        raise UsageError(
            f"cannot listen at {host}:{port}: {error.strerror or error}: choose another {other}"
        ) from error
    return listening


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line of JSON."""
        said: dict[str, Any] = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            said["trace"] = "".join(traceback.format_exception(*record.exc_info))
        return json.dumps(said, ensure_ascii=True, default=str)


def log_to_standard_error() -> None:
    """Write logs of this server and its libraries as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    # uvicorn's record of a bug is dropped: our own also has the request's id
    handler.addFilter(lambda record: not record.getMessage().startswith("Exception in ASGI application"))
    for name in ("vademecum", "uvicorn", "uvicorn.error", "mcp"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler] if name in {"vademecum", "uvicorn", "mcp"} else []
        logger.setLevel(logging.INFO if name == "vademecum" else logging.WARNING)
        logger.propagate = name not in {"vademecum", "uvicorn", "mcp"}

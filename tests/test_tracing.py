"""Spans: nested, timed, without what was asked, and nothing at all where nobody wants them."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from vademecum import metrics
from vademecum.errors import MissingExtraError
from vademecum.http import serve
from vademecum.metrics import Histogram


@pytest.fixture
def made():
    """The spans that are made while a test runs."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    metrics.use(provider.get_tracer("tests"))
    yield exporter
    metrics.use(None)
    provider.shutdown()


def test_a_search_is_a_tree_of_spans(made, repo, engine):
    """Indexing, then the stages; none says what was asked."""
    with metrics.span("asked"):
        engine(repo()).codebase.search("split the secret budget")
    by_name = {span.name: span for span in made.get_finished_spans()}
    stages = [f"search.{name}" for name in ("filter", "question", "nearness", "signals", "rank", "rerank", "evidence")]
    assert set(by_name) == {"asked", "index", *stages}
    assert by_name["search.evidence"].parent.span_id == by_name["search.rerank"].context.span_id
    assert by_name["search.rank"].parent.span_id == by_name["asked"].context.span_id
    assert by_name["search.rank"].attributes == {"stage": "rank"}
    assert all("secret" not in str(span.to_json()) for span in by_name.values())


def test_a_request_continues_its_callers_trace(made, tmp_path, repo):
    """`traceparent` names the trace; threads that answer stay in it."""
    import asyncio

    from vademecum import config
    from vademecum.http.app import application
    from vademecum.http.serve import hosts_of, opened_roots

    settings = config.load(None, arguments={"search.embedder": "hashing", "index.workers": 1})
    app = application(opened_roots([str(repo().path)]), settings, (), hosts_of(settings))
    trace = "0af7651916cd43dd8448eb211c80319c"
    headers = [(b"host", b"localhost"), (b"traceparent", f"00-{trace}-b7ad6b7169203331-01".encode())]
    statuses = []

    async def ask():
        events = [asyncio.Event(), asyncio.Event()]

        async def receive_life():
            if not events[0].is_set():
                events[0].set()
                return {"type": "lifespan.startup"}
            await events[1].wait()
            return {"type": "lifespan.shutdown"}

        async def send_life(message):
            if message["type"] == "lifespan.startup.complete":
                started.set()

        started = asyncio.Event()
        life = asyncio.create_task(app({"type": "lifespan"}, receive_life, send_life))
        await started.wait()

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            statuses.append(message.get("status"))

        scope = {
            "type": "http", "method": "GET", "path": "/v1/search", "raw_path": b"/v1/search", "root_path": "",
            "query_string": b"q=budget", "headers": headers, "scheme": "http", "http_version": "1.1",
            "server": ("localhost", 80), "client": ("localhost", 1),
        }  # fmt: skip
        await app(scope, receive, send)
        events[1].set()
        await life

    asyncio.run(ask())
    assert statuses[0] == 200
    found = {span.name: span for span in made.get_finished_spans()}
    assert {f"{span.context.trace_id:032x}" for span in found.values()} == {trace}
    assert found["HTTP GET"].attributes == {"http.route": "/v1/search", "http.response.status_code": 200}
    assert "search.rank" in found


def test_without_a_tracer_only_what_is_timed_is_kept():
    took = Histogram("t_seconds", "T.")
    with metrics.span("a"), metrics.span("b", took, stage="b"), metrics.continued({"traceparent": "x"}):
        metrics.note({"number": 1})
    assert took.count(stage="b") == 1


def test_spans_go_where_the_environment_says_and_nowhere_else(monkeypatch):
    serve.start({})()
    assert metrics._tracer is None
    serve.start({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"})()
    assert metrics._tracer is None
    stop = serve.start({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})
    assert metrics._tracer is not None
    stop()
    assert metrics._tracer is None


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(MissingExtraError, match=r"vademecum\[otel\]"):
        serve.start({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9"})

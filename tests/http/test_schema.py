"""The API against its own description: whatever is asked, it never fails, and answers as it says it does."""

from __future__ import annotations

import contextlib
import itertools
import json
import os

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import checks

EXAMPLES = int(os.environ.get("VADE_TEST_EXAMPLES", "4"))  # of each operation; a longer run asks for more
NOT_HTTP = "Invalid HTTP request received."  # what uvicorn says of an address of more than 64 kB
CHECKS = (
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
)


@schemathesis.serializer("application/x-ndjson")
def lines(_, value):
    """A body that is text already, or is meant to be wrong."""
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "replace")


def test_the_description_tells_what_comes_back(serve, repo):
    """No answer is just some object, and what is in one that the description does not name would be found by the test below."""
    client = serve(repo())
    described = client.get("/openapi.json").json
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            told = operation["responses"]
            for status in {"200", "201", "202"} & set(told):
                schema = told[status].get("content", {}).get("application/json", {}).get("schema")
                if schema is not None:
                    assert "$ref" in schema or "items" in schema or "anyOf" in schema, (method, path, schema)
    for name in ("ContextShape", "TimelineShape", "ListedFact", "ToolGraph", "SearchShape", "Found"):
        assert described["components"]["schemas"][name]["properties"], name
    assert described["components"]["schemas"]["Found"]["additionalProperties"] is False


@pytest.mark.slow
def test_the_api_is_as_it_describes_itself_and_never_fails(serve, repo):
    """Parameters and bodies of every kind, right and wrong, for each operation."""
    client = serve(repo())
    client.post("/v1/events", {"text": "We decided to use SQLite.", "role": "user"})
    client.post("/v1/tools/register", [{"name": name, "inputSchema": {"properties": {"path": {}}}} for name in "ab"])
    client.post("/v1/tools/observe", [{"intent": "read a file", "calls": [{"tool": "a"}, {"tool": "b"}]}])
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{client.port}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 40
    asked = []
    for operation, mode in itertools.product(operations, schemathesis.GenerationMode):

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
            database=None,
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def answered(case):
            said = case.call()
            if said.text != NOT_HTTP:
                case.validate_response(said, checks=CHECKS)
            asked.append(said.status_code)

        with contextlib.suppress(Unsatisfiable):  # an operation without parameters cannot be called wrongly
            answered()
    assert {200, 404, 422} <= set(asked)
    assert client.get("/healthz").status == 200

"""docs/http.md says what there is: every route, every metric, no other."""

from __future__ import annotations

import re
from pathlib import Path

import vademecum.http.app  # noqa: F401 -- so that every metric is made
from vademecum import config
from vademecum.http.serve import opened_roots
from vademecum.metrics import exposition

PAGE = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")


def test_every_route_is_on_the_page(serve, repo):
    described = serve(repo()).get("/openapi.json").json
    routes = {f"{method.upper()} {path}" for path, methods in described["paths"].items() for method in methods}
    shown = set(re.findall(r"^\| `((?:GET|POST|PATCH|DELETE) \S+)` \|", PAGE, re.MULTILINE))
    assert shown == routes


def test_every_metric_is_on_the_page_with_its_labels(serve, repo):
    client = serve(repo())
    client.get("/v1/search?q=budget")
    client.post("/v1/events", {"text": "I prefer tabs.", "role": "user"})
    text = client.get("/metrics").body.decode()
    names = set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE))
    rows = dict(re.findall(r"^\| `((?:memory|vademecum)_\w+)` \| (.*?) \|", PAGE, re.MULTILINE))
    assert set(rows) == names
    for name, labels in re.findall(r"^(\w+?)(?:_bucket|_count|_sum)?\{(.*)\} ", text, re.MULTILINE):
        known = set(re.findall(r"`(\w+)`", rows[name]))
        assert set(re.findall(r"(\w+)=", labels)) - {"le"} <= known, name


def test_the_names_of_the_page_are_those_of_the_server(repo):
    assert [root.name for root in opened_roots([str(repo().path)])] == ["handbook"]
    assert f"127.0.0.1:{config.Settings().server.port}" in PAGE
    assert exposition()

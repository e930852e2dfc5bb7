"""What is counted, in Prometheus' own eyes: its tool checks the text, a running one scrapes it and answers the dashboard."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from needed import program
from vademecum.hooks.hook import RUNS, count_run
from vademecum.http.engines import HookRuns
from vademecum.metrics import STORE_ERRORS, Counter, Histogram, exposition
from vademecum.result import Err
from vademecum.storage.sqlite import SqliteStore

TOP = Path(__file__).parents[2]
DASHBOARD = json.loads((TOP / "deploy" / "grafana.json").read_text(encoding="utf-8"))
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def a_busy_store(tmp_path):
    """A database that somebody else writes to."""
    first, second = SqliteStore(tmp_path / "s.db"), SqliteStore(tmp_path / "s.db", busy_seconds=0.01)
    with first.transaction():
        first.upsert("meta", [("a", "b")]).unwrap()
        said = second.upsert("meta", [("a", "c")])
    first.close()
    second.close()
    return said


@pytest.fixture
def used(serve, repo, tmp_path):
    """A server that everything was asked of once, with the key for its metrics."""
    handbook = repo()
    client, key = serve(handbook, keys=[("prometheus", "*")], refresh_s=0)
    client = client.with_key(key)
    client.done(client.post("/v1/index").json)
    handbook.write("src/old.py", "def shout():\n    print 'in the syntax of another time'\n")
    client.get("/v1/search?q=split%20the%20token%20budget")
    client.get("/v1/search?q=nowhere_to_be_found_at_all")
    for text in ("I prefer tabs over spaces.", "My key is AKIAIOSFODNN7EXAMPLE, keep it."):
        client.post("/v1/events", {"text": text, "role": "user"})
    client.get("/v1/memory/context?q=indent")
    client.get("/readyz")
    assert isinstance(a_busy_store(tmp_path), Err)
    count_run("prompt", "done", 0.02)
    return client


def families(text):
    """Metric → the names of its labels, of every sample."""
    found = {}
    for name, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? \S+$", text, re.MULTILINE):
        found.setdefault(name, set()).update(re.findall(r"(\w+)=\"", labels))
    return found


@pytest.mark.slow
def test_promtool_finds_nothing_to_complain_of(used):
    text = used.get("/metrics").body
    assert used.get("/metrics").headers["content-type"].startswith("text/plain; version=0.0.4")
    checked = subprocess.run(
        [program("promtool", how="apt install prometheus"), "check", "metrics"],
        input=text,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


def test_what_was_done_is_counted(used):
    text = used.get("/metrics").body.decode()
    found = families(text)
    assert {"operation", "type"} == found["memory_cache_operations_total"]
    for line in (
        'memory_cache_operations_total{operation="miss",type="preferences"}',
        'vademecum_search_verdicts_total{verdict="not_found"}',
        'vademecum_evidence_total{freshness="fresh"}',
        'vademecum_index_runs_total{outcome="changed"}',
        'vademecum_index_files_total{outcome="added"}',
        'vademecum_store_errors_total{error="StoreBusyError"}',
        'vademecum_hook_runs_total{hook="prompt",outcome="done"}',
        'vademecum_http_requests_total{method="GET",route="/v1/search",status="200"}',
        'memory_redacted_total{kind="',
    ):
        values = [float(re.search(r" (\S+)$", each)[1]) for each in text.splitlines() if each.startswith(line)]
        assert max(values, default=0) > 0, line  # several where a label's value is left open
    stages = set(re.findall(r'vademecum_search_stage_duration_seconds_count\{stage="(\w+)"\}', text))
    assert stages == {"filter", "question", "nearness", "signals", "rank", "rerank", "evidence"}
    assert re.search(r"^vademecum_http_requests_in_flight 1$", text, re.MULTILINE)


def test_the_dashboard_asks_for_what_there_is(used):
    """Every metric and every label of every panel's query is exposed."""
    found = families(used.get("/metrics").body.decode())
    assert len(DASHBOARD["panels"]) >= 10
    asked = set()
    for query in QUERIES:
        for name, grouped in [(n, re.search(r"by \((.*?)\)", query)) for n in re.findall(r"([a-z_]+)\{", query)]:
            assert name in found, query
            asked.add(name.removesuffix("_bucket"))
            labels = set(grouped[1].split(", ")) if grouped else set()
            assert labels <= found[name], query
    shown = {re.sub(r"_(bucket|sum|count)$", "", name) for name in found}
    assert shown - asked == set(), "counted and on no panel"


@pytest.mark.slow
def test_a_running_prometheus_scrapes_with_a_key_and_answers_every_panel(used, tmp_path):
    prometheus = program("prometheus", how="apt install prometheus")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    key = used.headers["Authorization"].removeprefix("Bearer ")
    (tmp_path / "prometheus.yml").write_text(
        "global: {scrape_interval: 500ms, scrape_timeout: 400ms}\n"
        f"scrape_configs:\n- job_name: vademecum\n  authorization: {{credentials: '{key}'}}\n"
        f"  static_configs: [{{targets: ['127.0.0.1:{used.port}']}}]\n"
    )
    running = subprocess.Popen(
        [prometheus, f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data",
         f"--web.listen-address=127.0.0.1:{port}"],
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        answers = {}
        until = time.monotonic() + 60
        while len(answers) < len(QUERIES) and time.monotonic() < until:
            time.sleep(1)
            for query in set(QUERIES) - set(answers):
                if found := ask_prometheus(port, query):
                    answers[query] = found
        assert set(QUERIES) - set(answers) == set()
        assert ask_prometheus(port, 'up{job="$job"}')[0]["value"][1] == "1"
        assert all("vademecum" not in str(series["metric"]) for found in answers.values() for series in found)
    finally:
        running.terminate()
        running.communicate(timeout=60)


def ask_prometheus(port, query):
    """The series a query finds now; () while it does not answer yet."""
    asked = query.replace("$job", "vademecum").replace("$__rate_interval", "30s")
    address = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": asked})
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return json.load(answer)["data"]["result"]
    except OSError:
        return ()


def test_hooks_are_counted_once_and_through_a_new_file(tmp_path):
    """Lines count when they are whole, once, and go on in the file that took the old one's place."""
    path = tmp_path / RUNS
    runs, before = HookRuns(path), _hooks()
    runs.count()
    path.write_text("zz done 0.5\nzz failed 1.5\nzz do")
    runs.count()
    runs.count()
    assert _hooks() - before == 2
    with path.open("a") as file:
        file.write("ne 0.1\nnonsense\nzz done what\n")
    runs.count()
    assert _hooks() - before == 3
    path.rename(tmp_path / "old")
    path.write_text("zz done 0.1\n")
    runs.count()
    assert _hooks() - before == 4


def _hooks():
    lines = exposition().splitlines()
    return sum(
        float(line.rpartition(" ")[2]) for line in lines if line.startswith('vademecum_hook_runs_total{hook="zz"')
    )


def test_a_metric_escapes_what_it_is_given(tmp_path):
    counter, took = Counter("x_total", "X."), Histogram("x_seconds", "X.", (0.5, 1.0))
    counter.add(a='quote " slash \\ line\n')
    took.observe(0.5, stage="s")
    took.observe(0.7, stage="s")
    text = exposition([counter, took])
    assert 'x_total{a="quote \\" slash \\\\ line\\n"} 1' in text
    assert 'x_seconds_bucket{stage="s",le="0.5"} 1' in text
    assert 'x_seconds_bucket{stage="s",le="+Inf"} 2' in text
    before = STORE_ERRORS.value(error="StoreBusyError")
    a_busy_store(tmp_path)
    assert STORE_ERRORS.value(error="StoreBusyError") == before + 1


def test_what_others_call_a_method_makes_no_more_to_count(serve, repo):
    """Every combination of labels is kept for as long as the server runs, so that none may be of the asker's making."""
    client = serve(repo())
    made = ("PROPFIND", "PURGE", "MKCOL", "REPORT")
    for method in made:
        assert client.ask(method, "/v1/repos").status == 405
    counted = [line for line in client.get("/metrics").body.decode().split("\n") if 'status="405"' in line]
    assert 'vademecum_http_requests_total{method="ANY",route="/v1/repos",status="405"} 4' in counted
    assert not [line for line in counted if any(method in line for method in made)]

"""Who is let in: names, origins, keys, sizes; and what every answer carries."""

from __future__ import annotations

import http.client
import json
import logging
import time

import pytest

ANYBODY = ["/healthz", "/readyz", "/openapi.json", "/docs"]


def test_a_key_opens_and_nothing_else_does(serve, repo):
    client, key = serve(repo(), keys=[("ci", "*")])
    assert client.get("/v1/repos").status == 401
    assert client.get("/v1/repos").headers["www-authenticate"].startswith("Bearer")
    assert "vade serve --new-key" in client.get("/v1/repos").json["detail"]
    assert client.get("/v1/repos", Authorization=f"Bearer {key}").status == 200
    assert client.get("/v1/repos", X_API_Key=key).status == 200
    for wrong in (key[:-1], key + "x", "", "vade_", key.upper(), "é"):
        assert client.get("/v1/repos", Authorization=f"Bearer {wrong}".encode().decode("latin-1")).status == 401
    assert client.get("/v1/repos", Authorization=f"Basic {key}").status == 401
    assert {path: client.get(path).status for path in ANYBODY} == dict.fromkeys(ANYBODY, 200)
    assert client.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}).status == 401
    assert client.get("/metrics").status == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "localhost.evil"])
def test_a_name_of_somebody_elses_is_not_answered(serve, repo, host):
    """A page whose name was made to lead to this machine (DNS rebinding) asks under that name."""
    client = serve(repo())
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
    connection.putrequest("GET", "/v1/repos", skip_host=True)
    connection.putheader("Host", host)
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 421
    assert "server.hosts" in json.loads(answer.read())["detail"]
    connection.close()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST:99", "work.lan"])
def test_its_own_names_are_answered(serve, repo, host):
    client = serve(repo(), hosts="work.lan, other")
    assert client.get("/v1/repos", Host=host).status == 200


def test_pages_of_other_sites_may_not_ask(serve, repo):
    client = serve(repo())
    own = f"127.0.0.1:{client.port}"
    assert client.get("/v1/repos", Origin=f"http://{own}").status == 200
    assert client.get("/v1/repos", Origin="https://evil.example").status == 403
    assert client.get("/v1/repos", Origin="null").status == 403
    assert client.get("/v1/repos", Sec_Fetch_Site="cross-site").status == 403
    assert client.get("/v1/repos", Sec_Fetch_Site="same-site").status == 403
    assert client.get("/v1/repos", Sec_Fetch_Site="same-origin").status == 200
    assert client.get("/docs", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate").status == 200  # a link
    assert client.post("/v1/index", {}, Origin="https://evil.example").status == 403
    preflight = client.ask("OPTIONS", "/v1/index", Origin="https://evil.example", Access_Control_Request_Method="POST")
    assert preflight.status == 403
    assert not [name for name in preflight.headers if name.startswith("access-control")]


def test_bodies_that_a_form_can_send_are_refused(serve, repo):
    client = serve(repo())
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        assert client.post("/v1/events", b'{"text": "hello"}', Content_Type=kind).status == 415, kind
    assert client.get("/v1/events").json["total"] == 0
    assert client.post("/v1/events", {"text": "hello"}).status == 201


def test_a_body_that_is_too_large_is_refused_whatever_it_says_of_itself(serve, repo):
    client = serve(repo(), max_body_bytes=1000)
    assert client.post("/v1/events", {"text": "x" * 2000}).status == 413
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
    pieces = (b'{"text": "' if not n else b"x" * 500 for n in range(9))
    connection.request("POST", "/v1/events", pieces, {"Content-Type": "application/json"}, encode_chunked=True)
    answer = connection.getresponse()
    assert answer.status == 413
    assert answer.headers["Content-Type"] == "application/problem+json"
    connection.close()
    assert (
        client.post("/v1/events", b"", Content_Length="no").status == 400
    )  # no body: bytes left unread would reset the connection


def test_every_answer_is_hardened_and_has_an_id(serve, repo):
    client = serve(repo())
    for path in ("/healthz", "/v1/repos", "/nowhere", "/v1/search"):
        said = client.get(path)
        assert said.headers["x-content-type-options"] == "nosniff"
        assert said.headers["x-frame-options"] == "DENY"
        assert "default-src" in said.headers["content-security-policy"]
        assert len(said.headers["x-request-id"]) == 32
    assert client.get("/healthz", X_Request_Id="mine-1").headers["x-request-id"] == "mine-1"
    assert client.get("/healthz", X_Request_Id="no good").headers["x-request-id"] != "no good"
    wrong = client.get("/v1/search", X_Request_Id="mine-2")
    assert (wrong.status, wrong.json["instance"]) == (422, "mine-2")
    assert wrong.headers["content-type"] == "application/problem+json"


def test_logs_say_what_was_done_and_not_what_was_asked(serve, repo, caplog):
    caplog.set_level(logging.INFO, "vademecum.http")
    client, key = serve(repo(), keys=[("ci", "*")])
    client.get("/v1/search?q=confidential", Authorization=f"Bearer {key}", X_Request_Id="seen-1")
    client.get("/v1/symbols/confidential", Authorization=f"Bearer {key}")
    records = logged(caplog, 2)
    assert records[0]["request"] == "seen-1"
    assert records[0]["visitor"] == "ci"
    assert (records[0]["method"], records[0]["route"], records[0]["status"]) == ("GET", "/v1/search", 200)
    assert records[1]["route"] == "/v1/symbols/{name:path}"
    assert "confidential" not in str(records)
    assert key not in str(records)


def test_logs_show_what_was_asked_where_that_is_set(serve, repo, caplog):
    caplog.set_level(logging.INFO, "vademecum.http")
    serve(repo(), log_queries=True).get("/v1/search?q=budget")
    assert [fields["asked"] for fields in logged(caplog, 1)] == ["/v1/search?q=budget"]


def logged(caplog, count):
    """What was logged of so many requests; a line is written when its answer is sent already."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found = [record.fields for record in caplog.records if record.getMessage() == "request"]
        if len(found) == count:
            return found
        time.sleep(0.01)
    raise AssertionError(caplog.records)

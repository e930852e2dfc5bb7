"""Requests to `/mcp` that mean harm, or are cut short: each is refused with words, and the server goes on."""

from __future__ import annotations

import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

ACCEPT = {"Accept": "application/json, text/event-stream", "Content_Type": "application/json"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
AT_ONCE = 12
MALFORMED = {
    "nothing": b"",
    "half": b'{"jsonrpc": "2.0", "id": 1, "method": "pi',
    "no UTF-8": b'{"jsonrpc": "2.0", "id": 1, "method": "\xff\xfe"}',
    "zeros": b"\0" * 100,
    "a number": b"3",
    "no requests": b"[]",
    "many requests": json.dumps([PING] * 5_000).encode(),
    "no method": b'{"jsonrpc": "2.0", "id": 1}',
    "a method that is none": b'{"jsonrpc": "2.0", "id": 1, "method": {"a": 1}}',
    "an old version": b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    "brackets": b"[" * 100_000,
    "braces": b'{"a":' * 50_000,
    "deep parameters": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": '
    + b'{"a":' * 900
    + b"1"
    + b"}" * 901,
    "a digit too many": b'{"jsonrpc": "2.0", "id": ' + b"9" * 5_000 + b', "method": "ping"}',
}


def call(number, **arguments):
    return {
        "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "search", "arguments": arguments}
    }  # fmt: skip


def message_in(said):
    """Return the message of an answer, which is JSON or one event of a stream."""
    text = said.body.decode()
    found = re.search(r"^data: (\{.*)$", text, re.MULTILINE)
    return json.loads(found[1] if found else text)


def works(client):
    """Return whether an ordinary question is answered."""
    said = client.post("/mcp", call(7, query="token budget"), **ACCEPT)
    return said.status == 200 and "Budget" in json.dumps(message_in(said)["result"])


def test_malformed_and_deep_requests_are_refused_and_the_server_goes_on(serve, repo):
    """None ends in an internal error, or takes the server down."""
    client = serve(repo())
    statuses = {}
    for name, body in MALFORMED.items():
        said = client.post("/mcp", body, **ACCEPT)
        statuses[name] = said.status
        assert b"Traceback" not in said.body
        assert len(said.body) < 20_000
    assert {name: status for name, status in statuses.items() if not 400 <= status < 500} == {}
    assert works(client)


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": ["x"]}, {"query": {"a": {"b": 1}}}, {"query": ""}, {"query": "\0\u202e"}, {"query": "x", "k": -1},
        {"query": "x", "k": 10**30}, {"query": "x", "regex": "(" * 5_000}, {"query": "budget " * 30_000},
        {"query": "x", "path": "../" * 50}, {"query": "x", "more": [[[[]]]]},
    ],
)  # fmt: skip
def test_arguments_that_are_none_are_told_to_the_model(serve, repo, arguments):
    """An answer or an error that says what is wrong, never an internal one."""
    client = serve(repo())
    said = client.post("/mcp", call(1, **arguments), **ACCEPT)
    assert said.status == 200
    message = message_in(said)
    assert message["id"] == 1
    assert "internal error" not in json.dumps(message)
    assert works(client)


def test_a_request_larger_than_the_limit_is_refused(serve, repo):
    client = serve(repo(), max_body_bytes=10_000)
    assert client.post("/mcp", call(1, query="x" * 20_000), **ACCEPT).status == 413
    assert works(client)


def test_requests_at_once_get_each_its_own_answer(serve, repo):
    """The answer to a question goes to whoever asked it, malformed ones between."""
    client = serve(repo())

    def asked(number):
        if number % 3 == 2:
            return client.post("/mcp", b"[" * 1_000, **ACCEPT).status
        query = "token budget" if number % 3 else "retry with backoff"
        message = message_in(client.post("/mcp", call(number, query=query), **ACCEPT))
        return message["id"], ("Budget" if number % 3 else "retry_with_backoff") in json.dumps(message)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(asked, range(3 * AT_ONCE)))
    assert answers == [400 if number % 3 == 2 else (number, True) for number in range(3 * AT_ONCE)]


def test_clients_that_hang_up_leave_nothing_running(serve, repo):
    """In the middle of the request, before the answer, or in the middle of it; nothing is in flight afterwards."""
    client = serve(repo())
    body = json.dumps(call(1, query="token budget")).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\nAccept: {ACCEPT['Accept']}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    for sent in (head[:30], head, head + body[:10], head + body):
        for read in (0, 1):
            with socket.create_connection(("127.0.0.1", client.port), timeout=30) as peer:
                peer.sendall(sent)
                if read and sent == head + body:
                    peer.recv(1)
    assert works(client)
    until = time.monotonic() + 60
    while (in_flight(client)) > 1 and time.monotonic() < until:  # the question itself is one
        time.sleep(0.05)
    assert in_flight(client) == 1


def in_flight(client):
    """Return how many requests are being answered."""
    text = client.get("/metrics").body.decode()
    return float(re.search(r"^vademecum_http_requests_in_flight\S* (\S+)$", text, re.MULTILINE)[1])

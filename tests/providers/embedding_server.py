"""A server that embeds, faithful to the wire of Ollama, of OpenAI and of Voyage, which can be told to misbehave."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Mapping
from http.server import ThreadingHTTPServer
from typing import Any

from loopback import Handler
from vademecum.providers.embedders.hashing import HashingEmbedder
from vademecum.types import Passage

WIDTH = 128
PATHS = {"/api/embed": "ollama", "/v1/embeddings": "openai", "/voyage/v1/embeddings": "voyage"}


class EmbeddingServer(ThreadingHTTPServer):
    """Embeds by hashing words.

    `faults` are what happens to the next requests, one each, and to all further ones the last if `stuck`. A fault is a
    status, or a key of `EmbeddingHandler.FAULTS`.
    """

    daemon_threads = True
    model = "tiny-embed"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), EmbeddingHandler)
        self.faults: list[int | str] = []
        self.stuck = False
        self.key = ""
        self.retry_after = ""
        self.most_texts = 2_048
        self.most_characters = 1_000_000
        self.requests: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.embedded: list[str] = []
        self.closing = threading.Event()
        self.on_request: Callable[[], None] = lambda: None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def next_fault(self) -> int | str:
        if not self.faults:
            return ""
        return self.faults[0] if self.stuck and len(self.faults) == 1 else self.faults.pop(0)


def vectors(texts: list[str], width: int = WIDTH) -> list[list[float]]:
    """What the model behind it makes: float32 numbers, not of unit length."""
    rows = HashingEmbedder(str(width)).embed([Passage(text) for text in texts], "document").unwrap()
    return [[3 * float(number) for number in row] if row.any() else [1.0] + [0.0] * (width - 1) for row in rows]


class EmbeddingHandler(Handler):
    """Answers one request."""

    server: EmbeddingServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.requests.append((self.path, body, {k.lower(): v for k, v in self.headers.items()}))
        server.on_request()
        api = PATHS.get(self.path)
        fault = server.next_fault()
        if api is None:
            return self.reply(404, b"404 page not found")
        if server.key and self.headers.get("Authorization") != f"Bearer {server.key}":
            return self.error(api, 401, f"Incorrect API key provided: {self.headers.get('Authorization')}")
        if fault:
            return self.fail(api, fault, body["input"])
        if body["model"] != server.model:
            return self.error(api, 404, f"model '{body['model']}' not found")
        return self.embed(api, body)

    def embed(self, api: str, body: dict[str, Any]) -> None:
        texts = body["input"]
        assert all(isinstance(text, str) and text for text in texts)
        if api == "ollama":
            assert body.keys() == {"model", "input", "truncate"}
        elif api == "openai":
            assert body.keys() == {"model", "input", "encoding_format"}
        else:
            assert body.keys() == {"model", "input", "input_type", "truncation"}
            assert body["input_type"] in {"query", "document"}
        if len(texts) > self.server.most_texts:
            return self.error(api, 400, "too many inputs in one request")
        if max(map(len, texts)) > self.server.most_characters:
            return self.error(api, 400, "This model's maximum context length is exceeded")
        self.server.embedded += texts
        return self.answer(api, vectors(texts))

    def answer(self, api: str, rows: list[Any]) -> None:
        if api == "ollama":
            return self.reply(200, {"model": self.server.model, "embeddings": rows, "prompt_eval_count": len(rows)})
        data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
        # in any order: the index says which is which
        return self.reply(
            200, {"object": "list", "data": data[::-1], "model": self.server.model, "usage": {"total_tokens": 1}}
        )

    def error(self, api: str, status: int, said: str) -> None:
        bodies = {
            "ollama": {"error": said},
            "openai": {"error": {"message": said, "type": "x"}},
            "voyage": {"detail": said},
        }
        return self.reply(status, bodies[api])

    def fail(self, api: str, fault: int | str, texts: list[str]) -> None:
        if isinstance(fault, int):
            self.error(api, fault, "the model runner has stopped")
            return
        rows = vectors(texts)
        changed: dict[str, Callable[[], Any]] = {
            "half": lambda: self.answer(api, rows[: len(rows) // 2]),
            "wider": lambda: self.answer(api, vectors(texts, WIDTH * 2)),
            "ragged": lambda: self.answer(api, [*rows[:-1], rows[-1][:-1]]),
            "nan": lambda: self.answer(api, [[math.nan] * WIDTH for _ in rows]),
            "zeros": lambda: self.answer(api, [[0.0] * WIDTH for _ in rows]),
            "words": lambda: self.answer(api, [["a"] * WIDTH for _ in rows]),
            "garbage": lambda: self.reply(200, b'{"embeddings": [[0.1, '),
            "page": lambda: self.reply(200, b"<html>welcome</html>"),
            "nothing": lambda: self.reply(200, {}),
            "elsewhere": self.redirect,
            "cut": self.cut,
            "drips": self.drip,
            "slow": lambda: self.server.closing.wait(5),
            "hangs up": lambda: None,
        }
        self.close_connection = True
        changed[fault]()

    def redirect(self) -> None:
        self.send_response(307)
        self.send_header("Location", "http://192.0.2.1/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def cut(self) -> None:
        """Break the connection in the middle of the answer."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"embeddings": [[')

    def drip(self) -> None:
        self.send_response(200)
        self.end_headers()
        while not self.server.closing.wait(0.01):
            self.wfile.write(b" ")

    def reply(
        self, status: int, body: object, kind: str = "application/json", more: Mapping[str, str] | None = None
    ) -> None:
        waits = {"Retry-After": self.server.retry_after} if self.server.retry_after and status in {429, 503} else {}
        super().reply(status, body, kind, {**waits, **(more or {})})

"""A Qdrant server for tests: Qdrant's REST interface on loopback, over the client's own in-memory engine.

Requests are read by the models that Qdrant generates from its OpenAPI description, which refuse what it does not know, and
what the real server checks besides (lengths of vectors, ids, names) is checked here. Faults are put in a queue: each is
what happens to the next request.
"""

from __future__ import annotations

import json
import re
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
from pydantic import TypeAdapter, ValidationError
from qdrant_client import QdrantClient, models

from loopback import Handler, running

MOST_BYTES = 32 * 1024 * 1024  # of one request, as the real one's default


class RefusedError(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


class QdrantServer(ThreadingHTTPServer):
    """Holds collections in memory; `requests` is what it was asked, `faults` what it does to the next requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), QdrantHandler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.lock = threading.RLock()
        self.engine = QdrantClient(":memory:")
        self.api_key = ""
        self.requests: list[tuple[str, str, Any]] = []
        self.faults: deque[int | str | tuple[int, str]] = deque()
        self.spread: dict[str, dict[str, Any]] = {}
        self.indexed: dict[str, set[str]] = {}
        self.keeps_metadata = True
        self.closing = threading.Event()

    # each returns what stands under "result"

    def exists(self, name: str, _: Any) -> Any:
        return {"exists": self.engine.collection_exists(name)}

    def create(self, name: str, body: Any) -> Any:
        wanted = models.CreateCollection.model_validate(body)
        if self.engine.collection_exists(name):
            raise RefusedError(409, f"Wrong input: Collection `{name}` already exists!")
        if not name or set(name) & set('<>:"/\\|?*\0') or len(name) > 255:
            raise RefusedError(422, "collection name cannot contain special characters")
        metadata = wanted.metadata if self.keeps_metadata else None
        self.engine.create_collection(name, wanted.vectors, wanted.sparse_vectors, metadata=metadata)
        spread = ("shard_number", "replication_factor", "write_consistency_factor")
        self.spread[name] = {key: getattr(wanted, key) for key in spread}
        self.indexed[name] = set()
        return True

    def info(self, name: str, _: Any) -> Any:
        found = json.loads(self.engine.get_collection(name).model_dump_json(exclude_none=True))
        found["config"]["params"] |= {key: value for key, value in self.spread.get(name, {}).items() if value}
        found["payload_schema"] = {key: {"data_type": "keyword", "points": 0} for key in self.indexed.get(name, ())}
        return found

    def update(self, name: str, body: Any) -> Any:
        self.engine.update_collection(name, metadata=models.UpdateCollection.model_validate(body).metadata)
        return True

    def drop(self, name: str, _: Any) -> Any:
        for alias in [each.alias_name for each in self.engine.get_aliases().aliases if each.collection_name == name]:
            gone = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
            self.engine.update_collection_aliases([gone])
        return self.engine.delete_collection(name)

    def listed(self, _: str, __: Any) -> Any:
        return self.engine.get_collections()

    def index(self, name: str, body: Any) -> Any:
        self.indexed[name].add(models.CreateFieldIndex.model_validate(body).field_name)
        return {"operation_id": 1, "status": "completed"}

    def upsert(self, name: str, body: Any) -> Any:
        points = models.PointsList.model_validate(body).points
        size = self.engine.get_collection(name).config.params.vectors["dense"].size
        for point in points:
            if isinstance(point.id, str):
                UUID(point.id)
            for vector, value in point.vector.items():
                if vector == "dense" and len(value) != size:
                    raise RefusedError(
                        400, f"Wrong input: Vector dimension error: expected dim: {size}, got {len(value)}"
                    )
                if vector == "words" and len(set(value.indices)) != len(value.values):
                    raise RefusedError(422, "Validation error in JSON body: indices must be unique")
                if vector not in {"dense", "words"}:
                    raise RefusedError(400, f"Wrong input: Not existing vector name error: {vector}")
        self.engine.upsert(name, points)
        return {"operation_id": 2, "status": "completed"}

    def delete(self, name: str, body: Any) -> Any:
        selector = TypeAdapter(models.PointsSelector).validate_python(body)
        if isinstance(selector, models.PointIdsList):
            [UUID(str(key)) for key in selector.points]
        self.engine.delete(name, selector)
        return {"operation_id": 3, "status": "completed"}

    def query(self, name: str, body: Any) -> Any:
        q = models.QueryRequest.model_validate(body)
        size = self.engine.get_collection(name).config.params.vectors["dense"].size
        asked = q.query.nearest if isinstance(q.query, models.NearestQuery) else q.query
        if isinstance(asked, list) and len(asked) != size:
            raise RefusedError(400, f"Wrong input: Vector dimension error: expected dim: {size}, got {len(asked)}")
        return self.engine.query_points(
            name, query=q.query, using=q.using, prefetch=q.prefetch, query_filter=q.filter, limit=q.limit or 10,
            with_payload=True if q.with_payload is None else q.with_payload,
        )  # fmt: skip

    def scroll(self, name: str, body: Any) -> Any:
        s = models.ScrollRequest.model_validate(body)
        records, offset = self.engine.scroll(
            name, s.filter, limit=s.limit or 10, offset=s.offset, with_payload=s.with_payload, with_vectors=False
        )
        return models.ScrollResult(points=records, next_page_offset=offset)

    def aliases(self, _: str, __: Any) -> Any:
        return self.engine.get_aliases()

    def change_aliases(self, _: str, body: Any) -> Any:
        self.engine.update_collection_aliases(models.ChangeAliasesOperation.model_validate(body).actions)
        return True


NAMED = {
    ("GET", "exists"): QdrantServer.exists,
    ("PUT", ""): QdrantServer.create,
    ("GET", ""): QdrantServer.info,
    ("PATCH", ""): QdrantServer.update,
    ("DELETE", ""): QdrantServer.drop,
    ("PUT", "index"): QdrantServer.index,
    ("PUT", "points"): QdrantServer.upsert,
    ("POST", "points/delete"): QdrantServer.delete,
    ("POST", "points/query"): QdrantServer.query,
    ("POST", "points/scroll"): QdrantServer.scroll,
}
UNNAMED = {
    ("GET", "collections"): QdrantServer.listed,
    ("GET", "aliases"): QdrantServer.aliases,
    ("POST", "collections/aliases"): QdrantServer.change_aliases,
}
NO_COLLECTION_NEEDED = {QdrantServer.exists, QdrantServer.create}


class QdrantHandler(Handler):
    """One request."""

    server: QdrantServer
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        path = urlsplit(self.path)
        self.server.requests.append((self.command, self.path, body))
        fault = self.server.faults.popleft() if self.server.faults else None
        if fault not in {None, "ok", "half"}:
            return self.fail(fault)
        if self.server.api_key and self.headers.get("api-key") != self.server.api_key:
            return self.reply(401, b"Must provide an API key or an Authorization bearer token", "text/plain")
        if length > MOST_BYTES:
            return self.reply(413, b"Payload too large", "text/plain")
        status, answer = self.outcome(path.path.strip("/"), parse_qs(path.query), body)
        if fault == "half":  # it was done, and nobody hears of it
            self.close_connection = True
            return None
        return self.reply(status, answer)

    def outcome(self, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any]:
        try:
            with self.server.lock, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return 200, {"result": _plain(self.route(path, query, body)), "status": "ok", "time": 0.0001}
        except RefusedError as error:
            return error.status, {"status": {"error": str(error)}, "time": 0.0001}
        except (ValidationError, ValueError, KeyError) as error:
            if re.search(r"Collection \S+ not found", str(error)):  # as where an alias is to name one that is gone
                return 404, {"status": {"error": f"Not found: {error}"}, "time": 0.0001}
            return 400, {"status": {"error": f"Format error in JSON body: {error}"}, "time": 0.0001}

    def route(self, path: str, query: dict[str, list[str]], body: Any) -> Any:
        if (self.command, path) in UNNAMED:
            return UNNAMED[self.command, path](self.server, "", body)
        collections, name, *rest = path.split("/")
        step = NAMED.get((self.command, "/".join(rest)))
        if collections != "collections" or step is None:
            raise RefusedError(404, f"there is no {self.command} {path}")
        if self.command == "PUT" and rest and query.get("wait") != ["true"]:
            raise RefusedError(400, "this test's server wants its writes waited for")
        if step not in NO_COLLECTION_NEEDED and not self.server.engine.collection_exists(name):
            raise RefusedError(404, f"Not found: Collection `{name}` doesn't exist!")
        return step(self.server, name, body)

    def fail(self, fault: int | str | tuple[int, str]) -> None:
        answers: dict[str, tuple[Any, ...]] = {
            "garbage": (200, b"<html>welcome</html>", "text/html"),
            "elsewhere": (307, b"", "text/plain", {"Location": "http://192.0.2.1/"}),
            "odd": (
                200,
                {"result": {"points": [{"id": 1, "version": 0, "score": 0.5, "payload": {}}]}, "status": "ok"},
            ),
            "undone": (200, {"result": {"operation_id": 7, "status": "acknowledged"}, "status": "ok", "time": 0.1}),
        }
        if isinstance(fault, tuple):
            self.reply(fault[0], {"status": {"error": "Too many requests"}}, more={"Retry-After": fault[1]})
        elif isinstance(fault, int):
            self.reply(fault, {"status": {"error": f"Service internal error: key {self.headers.get('api-key')}"}})
        elif fault in answers:
            self.reply(*answers[fault])
        else:
            if fault == "slow":
                self.server.closing.wait(20)
            if fault == "drips":
                self.send_response(200)
                self.end_headers()
                while not self.server.closing.wait(0.05):
                    self.wfile.write(b" ")
            self.close_connection = True  # "dropped"

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - as the standard library calls them


def _plain(result: Any) -> Any:
    return json.loads(result.model_dump_json(exclude_none=True)) if hasattr(result, "model_dump_json") else result


@pytest.fixture
def qdrant_server() -> Iterator[QdrantServer]:
    """A Qdrant server with nothing in it."""
    with running(QdrantServer()) as server:
        yield server


@pytest.fixture
def qdrant_on(qdrant_server: QdrantServer) -> Iterator[Callable[..., Any]]:
    """Open indexes on that server, closed when the test ends: `qdrant_on("app", "model", 8, shards=2)`. Nothing sleeps."""
    from vademecum.storage.qdrant import QdrantIndex

    opened: list[QdrantIndex] = []

    def make(collection: str = "app", model: str = "model", dim: int = 8, **options: Any) -> QdrantIndex:
        options = {"url": qdrant_server.url, "timeout_s": 20.0, "sleep": lambda _: None} | options
        opened.append(QdrantIndex(collection, model, dim, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()

"""`VectorIndex` on Qdrant: one collection per model, and an alias.

    <collection>                     the alias: searches use it; it switches at once when another model's collection is complete
    <collection>.<model>-<digest>    the collection: named vectors "dense" and "words" (sparse), the whole payload

The payload has two more fields, for filters: `places` (a path, all its directories and their names) and `names` (of
symbols, qualified and bare). A collection's metadata hold its schema and whether it is complete. Needs
Qdrant 1.16 or newer, for metadata and for the constant of reciprocal rank fusion.

Retried: a connection that was refused or dropped, a busy server (429, after the time it names), a server's own failures
(5xx). Not retried: a refused key, a refused request, a malformed answer. Every write is safe to repeat.
"""

from __future__ import annotations

import math
import random
import ssl
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from vademecum.addresses import is_address, is_elsewhere
from vademecum.errors import StoreError, UsageError, VectorIndexError
from vademecum.matching import Filter, Near, Point, nearest_passing, payload_of
from vademecum.result import Result, attempt
from vademecum.storage.collection import SCHEMA, Collection, conditions, record_of

FAILURES = (QdrantException, ResponseHandlingException, UnexpectedResponse, httpx.HTTPError, ValueError)
READ_TRIES, WRITE_TRIES = 2, 4  # somebody waits for what is read
FIRST_PAUSE_S = 0.2  # doubles each time, minus a random half
LONGEST_PAUSE_S = 30.0  # a longer `Retry-After` ends the call
DETAIL_CHARACTERS = 200


class InTime(httpx.HTTPTransport):
    """Transport with one time limit for a whole answer, unlike httpx's."""

    def __init__(self, seconds: float, **more: Any) -> None:
        super().__init__(**more)
        self._seconds = seconds

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return an answer whose reading ends in time."""
        end = time.monotonic() + self._seconds
        response = super().handle_request(request)
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Timed(response.stream, end)
        return response


class _Timed(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream, end: float) -> None:
        self._inner, self._end = inner, end

    def __iter__(self) -> Iterator[bytes]:
        for part in self._inner:
            if time.monotonic() > self._end:
                raise httpx.ReadTimeout("the answer takes too long")
            yield part

    def close(self) -> None:
        self._inner.close()


class Calls:
    """Calls one server; its key is removed from messages."""

    def __init__(self, url: str, api_key: str, timeout_s: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self._url, self._key, self._timeout_s, self._sleep = url, api_key, timeout_s, sleep

    def run(self, step: Callable[[], T], tries: int) -> T:
        """Run a step, at most `tries` times; raise `StoreError`."""
        pause = FIRST_PAUSE_S
        for left in reversed(range(tries)):
            try:
                return step()
            except FAILURES as error:
                wait = _pause(error, pause)
                if left == 0 or wait is None or wait > LONGEST_PAUSE_S:
                    raise VectorIndexError(self._named(error).replace(self._key or "\0", "…")) from error
                self._sleep(wait)
                pause *= 2
        raise AssertionError("a step is tried at least once")

    def _named(self, error: Exception) -> str:
        at = f"qdrant at {self._url}"
        cause = error.source if isinstance(error, ResponseHandlingException) else error
        match cause:
            case httpx.TimeoutException():
                return f"{at} took longer than {self._timeout_s:g} s: raise qdrant.timeout_s, or look at its load"
            case httpx.ConnectError():
                return f"nothing answers at {self._url}: start Qdrant, or set qdrant.url"
            case httpx.HTTPError():
                return (
                    f"{at} broke off ({_short(str(cause) or type(cause).__name__)}): look at its log, or set qdrant.url"
                )
            case ResourceExhaustedResponse():
                return f"{at} is busy and asks to come back in {cause.retry_after_s} s: try again then"
            case UnexpectedResponse():
                return f"{at} {_refusal(cause)}"
        said = "its answer is not one of Qdrant's" if isinstance(cause, ValidationError) else _short(str(cause))
        return f"{at}: {said}: check qdrant.url, and that it is 1.16 or newer"


def _pause(error: Exception, usual: float) -> float | None:
    """Return the seconds to wait before retrying, None for no retry."""
    cause = error.source if isinstance(error, ResponseHandlingException) else error
    jittered = usual * random.uniform(0.5, 1)  # noqa: S311 - so that many clients do not come back at once
    match cause:
        case ResourceExhaustedResponse():
            return float(cause.retry_after_s)
        case UnexpectedResponse():
            status = cause.status_code or 0
            return jittered if status == 429 or status >= 500 else None
        case httpx.TimeoutException():  # the time limit has passed once already
            return None
        case httpx.TransportError():
            return jittered
    return None


def _refusal(error: UnexpectedResponse) -> str:
    status = error.status_code or 0
    detail = _short(error.content.decode("utf-8", "replace"))
    if status in {401, 403}:
        return "refused the key: set qdrant.api_key in your user file, or VADE_QDRANT__API_KEY"
    if 300 <= status < 400:
        return "leads elsewhere: set qdrant.url to where it leads"
    if status == 404:
        return f"does not have it ({detail}): `vade doctor --repair` writes what is missing, or check qdrant.url"
    if status == 429:
        return "is busy: try again later"
    return f"answered with status {status} ({detail}): look at its log"


def _short(text: str) -> str:
    return " ".join(text.split())[:DETAIL_CHARACTERS] or "no more said"


T = TypeVar("T")

DENSE, WORDS = "dense", "words"
INDEXED = ("repo", "branch", "commit", "path", "places", "language", "kind", "file_kind", "names", "blob")
RRF_K = 60
PREFETCHED = 4  # times `k`: candidates from each side before fusion
BATCH_POINTS, BATCH_BYTES = 500, 8_000_000  # of one request; Qdrant's default limit is 32 MB
PAGE = 2_000  # keys listed at once


class QdrantIndex(Collection):
    """The points of one model in a collection of a Qdrant server.

    Args:
        collection, model, dim: the arguments of every vector index.
        url: the server's address.
        api_key: the server's key; "" for none.
        shards, replicas, write_consistency: how a new collection is spread over a cluster; 0 for the server's defaults.
        timeout_s: the most seconds for an answer.
        client: an open client, such as Qdrant's local mode in tests.
        sleep: waits before a retry.

    Raises:
        UsageError: `url` is not an address.
    """

    remedy = "set qdrant.collection to another name"

    def __init__(  # noqa: PLR0913 - each is a setting
        self,
        collection: str,
        model: str,
        dim: int,
        *,
        url: str = "http://127.0.0.1:6333",
        api_key: str = "",
        shards: int = 0,
        replicas: int = 0,
        write_consistency: int = 0,
        timeout_s: float = 10.0,
        client: QdrantClient | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not is_address(url):
            raise UsageError("qdrant.url is not an address like http://127.0.0.1:6333: a key goes into qdrant.api_key")
        url = url.rstrip("/")
        super().__init__(f"qdrant at {url}", collection, model, dim)
        self.address = url
        self.remote = is_elsewhere(url)
        spread = {"shard_number": shards, "replication_factor": replicas, "write_consistency_factor": write_consistency}
        self._spread: dict[str, Any] = {name: value for name, value in spread.items() if value}
        self._client = client or _connected(url, api_key, timeout_s)
        self._calls = Calls(url, api_key, timeout_s, sleep)
        self._made = False

    def run(self, step: Callable[[], T], *, reading: bool) -> T:
        """Run a step with retries, fewer when somebody waits for an answer."""
        return self._calls.run(step, READ_TRIES if reading else WRITE_TRIES)

    # -- writing -------------------------------------------------------------------------------------------------

    def batches(self, points: Sequence[Point]) -> Iterator[Sequence[Point]]:
        """Cut points into requests of a few megabytes."""
        first, weight = 0, 0
        for number, point in enumerate(points):
            own = 3 * len(point.payload.text) + 12 * point.vector.size + 16 * len(point.tokens)  # a rough size as JSON
            if number > first and (number - first >= BATCH_POINTS or weight + own > BATCH_BYTES):
                yield points[first:number]
                first, weight = number, 0
            weight += own
        if points:
            yield points[first:]

    def write(self, points: Sequence[Point]) -> None:
        """Write points, which are searchable on return."""
        self._make()
        self._settled(self._client.upsert(self.collection, [_struct(point) for point in points], wait=True))

    def remove(self, keys: Sequence[str]) -> None:
        """Delete the points with these keys."""
        if self._is_there():
            listed = models.PointIdsList(points=list(keys))
            self._settled(self._client.delete(self.collection, listed, wait=True))

    def _settled(self, done: models.UpdateResult) -> None:
        if done.status != models.UpdateStatus.COMPLETED:
            raise VectorIndexError(
                f"{self.name} took a write and has not done it ({done.status.value}): look at its load"
            )

    def switch(self) -> None:
        """Switch the alias to this model's collection, and drop other models'."""
        self._make()
        known = {alias.alias_name: alias.collection_name for alias in self._client.get_aliases().aliases}
        if known.get(self.alias) != self.collection:
            change: list[Any] = []
            if self.alias in known:
                change.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=self.alias)))
            create = models.CreateAlias(collection_name=self.collection, alias_name=self.alias)
            change.append(models.CreateAliasOperation(create_alias=create))
            self._client.update_collection_aliases(change)  # atomically
        for other in self._client.get_collections().collections:
            if other.name.startswith(f"{self.alias}.") and other.name != self.collection:
                said = self._said(other.name)
                if said is not None and said.get("collection") == self.alias:
                    self._client.delete_collection(other.name)

    # -- reading -------------------------------------------------------------------------------------------------

    def find(self, vector: NDArray[np.float32], count: int, where: Filter) -> list[Near]:
        """Return the nearest points that pass `conditions`."""
        return self._asked(count, query=vector.tolist(), using=DENSE, query_filter=_filter(where))

    def fused(
        self, vector: NDArray[np.float32], tokens: Mapping[int, float], k: int, where: Filter
    ) -> Result[list[Near], StoreError]:
        """Return up to `k` points by reciprocal rank fusion of both searches.

        The server fuses the search by meaning with the search by words.

        The score is the sum of 1 / (60 + rank), as Qdrant counts ranks.
        """
        return nearest_passing(lambda count: self._fused(vector, tokens, count, where), k, where)

    @attempt(StoreError, StoreError)
    def _fused(self, vector: NDArray[np.float32], tokens: Mapping[int, float], count: int, where: Filter) -> list[Near]:
        self.check_length(vector, "the question")
        narrowed, deep = _filter(where), count * PREFETCHED
        sides = [
            models.Prefetch(query=vector.tolist(), using=DENSE, limit=deep, filter=narrowed),
            models.Prefetch(query=_sparse(tokens), using=WORDS, limit=deep, filter=narrowed),
        ]
        fusion = models.RrfQuery(rrf=models.Rrf(k=RRF_K))
        return self.run(lambda: self._asked(count, prefetch=sides, query=fusion), reading=True)

    def _asked(self, count: int, **query: Any) -> list[Near]:
        if not self._is_there():
            return []
        found = self._client.query_points(self.collection, limit=count, with_payload=True, **query).points
        return [Near(payload_of(each.payload or {}), self._finite(each.score)) for each in found]

    def _finite(self, score: float) -> float:
        if not math.isfinite(score):
            raise VectorIndexError(f"{self.name} answered with a score that is no number: look at its log")
        return score

    def listed(self, where: Filter, *, whole: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the points that pass `conditions`: keys, and records if `whole`."""
        offset: Any = None
        while self._is_there():
            records, offset = self._client.scroll(
                self.collection, _filter(where), limit=PAGE, offset=offset, with_payload=whole
            )
            yield from ((str(record.id), record.payload or {}) for record in records)
            if offset is None:
                return

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    # -- the collection ------------------------------------------------------------------------------------------

    def _is_there(self) -> bool:
        self._made = self._made or (self._client.collection_exists(self.collection) and self._is_whole())
        return self._made

    def _make(self) -> None:
        """Create the collection, or finish an interrupted creation."""
        if self._made:
            return
        if not self._client.collection_exists(self.collection):
            self._client.create_collection(
                self.collection,
                vectors_config={DENSE: models.VectorParams(size=self.dim, distance=models.Distance.COSINE)},
                sparse_vectors_config={WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
                metadata=self._metadata("making"),
                **self._spread,
            )
        if not self._is_whole():
            for name in INDEXED:
                self._client.create_payload_index(self.collection, name, models.PayloadSchemaType.KEYWORD, wait=True)
            self._client.update_collection(self.collection, metadata=self._metadata("made"))
        self._made = True

    def _metadata(self, state: str) -> dict[str, Any]:
        said = {"schema": SCHEMA, "collection": self.alias, "model": self.model, "state": state}
        return {"vademecum": said}

    def _said(self, collection: str) -> dict[str, Any] | None:
        """Return our metadata of a collection, None for a foreign one."""
        said = (self._client.get_collection(collection).config.metadata or {}).get("vademecum")
        return said if isinstance(said, dict) else None

    def _is_whole(self) -> bool:
        """Return whether the collection's creation has finished. Raises `StoreError` if unusable."""
        said = self._said(self.collection)
        if said is None:
            raise VectorIndexError(
                f"{self.name} has a collection {self.collection!r} that is not ours, or is older than 1.16: set "
                "qdrant.collection to another name, or upgrade Qdrant"
            )
        vectors = self._client.get_collection(self.collection).config.params.vectors
        dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
        self.check_kept(said.get("schema"), dense.size if dense else 0)
        return said.get("state") == "made"


def _connected(url: str, api_key: str, timeout_s: float) -> QdrantClient:
    """Return a client that follows no proxy and no redirect."""
    parts = urlsplit(url)
    verify: Any = ssl.create_default_context() if parts.scheme == "https" else True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a key sent unencrypted, which is the user's choice
        return QdrantClient(
            url=url, port=parts.port or (443 if parts.scheme == "https" else 6333), api_key=api_key or None,
            timeout=max(1, math.ceil(timeout_s)), check_compatibility=False, follow_redirects=False,
            transport=InTime(max(1.0, timeout_s), verify=verify, trust_env=False),
        )  # fmt: skip


def _struct(point: Point) -> models.PointStruct:
    vector: dict[str, Any] = {DENSE: point.vector.tolist()}
    if point.tokens:
        vector[WORDS] = _sparse(point.tokens)
    return models.PointStruct(id=point.payload.key, vector=vector, payload=record_of(point))


def _sparse(tokens: Mapping[int, float]) -> models.SparseVector:
    return models.SparseVector(indices=list(tokens), values=list(tokens.values()))


def _filter(where: Filter) -> models.Filter:
    must: list[models.Condition] = [
        models.FieldCondition(key=field, match=models.MatchAny(any=values))
        for field, values in conditions(where).items()
    ]
    return models.Filter(must=must)

"""`VectorIndex` on Qdrant: one collection per model, and an alias.

    <collection>                     the alias: searches use it; it switches at once when another model's collection is complete
    <collection>.<model>-<digest>    the collection: named vectors "dense" and "words" (sparse), the whole payload

The payload has two more fields, for filters: `places` (a path, all its directories and their names) and `names` (of
symbols, qualified and bare). A collection's metadata hold its schema and whether it is complete. Needs
Qdrant 1.16 or newer, for metadata and for the constant of reciprocal rank fusion.
"""

from __future__ import annotations

import math
import re
import ssl
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models

from vademecum.addresses import is_address, is_elsewhere
from vademecum.errors import StoreError, StoreVersionError, UsageError, VectorIndexError
from vademecum.matching import defined_names, is_exact, matches, nearest_passing, places, said_by_places
from vademecum.points import Filter, Near, Point, payload_of
from vademecum.result import Err, Ok, Result
from vademecum.storage.qdrant_calls import Calls, InTime

SCHEMA = 1
DENSE, WORDS = "dense", "words"
INDEXED = ("repo", "branch", "commit", "path", "places", "language", "kind", "file_kind", "names", "blob")
RRF_K = 60
PREFETCHED = 4  # times `k`: candidates from each side before fusion
BATCH_POINTS, BATCH_BYTES = 500, 8_000_000  # of one request; Qdrant's default limit is 32 MB
PAGE = 2_000  # keys listed at once


class QdrantIndex:
    """The points of one model in a collection of a Qdrant server.

    Args:
        collection: the alias.
        model: the embedder's name.
        dim: the vectors' dimensions.
        url: the server's address.
        api_key: the server's key; "" for none.
        shards, replicas, write_consistency: how a new collection is spread over a cluster; 0 for the server's defaults.
        timeout_s: the most seconds for an answer.
        client: an open client, such as Qdrant's local mode in tests.
        sleep: waits before a retry.

    Raises:
        UsageError: `url` is not an address.
    """

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
        url = _checked(url)
        self.name = f"qdrant at {url}"
        self.address = url
        self.remote = is_elsewhere(url)
        self.alias = collection
        self.model, self.dim = model, dim
        digest = blake2b(model.encode(), digest_size=4).hexdigest()
        self.collection = f"{collection}.{re.sub(r'[^A-Za-z0-9_-]+', '-', model)[:40]}-{digest}"
        spread = {"shard_number": shards, "replication_factor": replicas, "write_consistency_factor": write_consistency}
        self._spread: dict[str, Any] = {name: value for name, value in spread.items() if value}
        self._client = client or _connected(url, api_key, timeout_s)
        self._calls = Calls(url, api_key, timeout_s, sleep)
        self._made = False

    # -- writing -------------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> Result[int, StoreError]:
        """Write points in requests of a few megabytes.

        The points of a request are searchable once it is answered.
        """
        for point in points:
            if point.vector.shape != (self.dim,):
                return Err(self._of_other_length(point.vector, point.payload.id))
        made = self._calls.write(self._make) if points else Ok(None)
        if isinstance(made, Err):
            return made
        for batch in _batches(points):
            structs = [_struct(point) for point in batch]
            done = self._calls.write(lambda structs=structs: self._written(structs))  # type: ignore[misc]
            if isinstance(done, Err):
                return done
        return Ok(len(points))

    def _written(self, structs: list[models.PointStruct]) -> None:
        self._settled(self._client.upsert(self.collection, structs, wait=True))

    def delete(self, which: Filter | Sequence[str]) -> Result[None, StoreError]:
        """Delete the points that match a filter, or have these keys."""
        if isinstance(which, Filter) and not is_exact(which):
            match self.keys(which):
                case Err() as failed:
                    return failed
                case Ok(keys):
                    return self.delete(sorted(keys))
        return self._calls.write(lambda: self._deleted(which))

    def _deleted(self, which: Filter | Sequence[str]) -> None:
        if not self._is_there():
            return
        if isinstance(which, Filter):
            selector = models.FilterSelector(filter=_conditions(which))
            self._settled(self._client.delete(self.collection, selector, wait=True))
            return
        for first in range(0, len(which), PAGE):
            listed = models.PointIdsList(points=list(which[first : first + PAGE]))
            self._settled(self._client.delete(self.collection, listed, wait=True))

    def _settled(self, done: models.UpdateResult) -> None:
        if done.status != models.UpdateStatus.COMPLETED:
            raise VectorIndexError(
                f"{self.name} took a write and has not done it ({done.status.value}): look at its load"
            )

    def activate(self) -> Result[None, StoreError]:
        """Switch the alias to this model's collection, and drop other models'."""
        return self._calls.write(self._activated)

    def _activated(self) -> None:
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

    def nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> Result[list[Near], StoreError]:
        """Return up to `k` points that match a filter, nearest first."""
        if vector.shape != (self.dim,):
            return Err(self._of_other_length(vector, "the question"))

        def ask(count: int) -> Result[list[Near], StoreError]:
            return self._calls.read(
                lambda: self._asked(count, query=vector.tolist(), using=DENSE, query_filter=_conditions(where))
            )

        return nearest_passing(ask, k, where)

    def fused(
        self, vector: NDArray[np.float32], tokens: Mapping[int, float], k: int, where: Filter
    ) -> Result[list[Near], StoreError]:
        """Return up to `k` points by reciprocal rank fusion of both searches.

        The server fuses the search by meaning with the search by words.

        The score is the sum of 1 / (60 + rank), as Qdrant counts ranks.
        """
        if vector.shape != (self.dim,):
            return Err(self._of_other_length(vector, "the question"))

        def ask(count: int) -> Result[list[Near], StoreError]:
            narrowed = _conditions(where)
            deep = count * PREFETCHED
            sides = [
                models.Prefetch(query=vector.tolist(), using=DENSE, limit=deep, filter=narrowed),
                models.Prefetch(query=_sparse(tokens), using=WORDS, limit=deep, filter=narrowed),
            ]
            joined = models.RrfQuery(rrf=models.Rrf(k=RRF_K))
            return self._calls.read(lambda: self._asked(count, prefetch=sides, query=joined))

        return nearest_passing(ask, k, where)

    def _asked(self, count: int, **query: Any) -> list[Near]:
        if not self._is_there():
            return []
        found = self._client.query_points(self.collection, limit=count, with_payload=True, **query).points
        return [Near(payload_of(each.payload or {}), self._finite(each.score)) for each in found]

    def _finite(self, score: float) -> float:
        if not math.isfinite(score):
            raise VectorIndexError(f"{self.name} answered with a score that is no number: look at its log")
        return score

    def keys(self, where: Filter) -> Result[set[str], StoreError]:
        """Return the keys of all points that match a filter."""
        return self._calls.read(lambda: set(self._scrolled(where)))

    def _scrolled(self, where: Filter) -> Iterator[str]:
        offset: Any = None
        while self._is_there():
            records, offset = self._client.scroll(
                self.collection, _conditions(where), limit=PAGE, offset=offset, with_payload=not is_exact(where)
            )
            for record in records:
                if is_exact(where) or matches(where, payload_of(record.payload or {})):
                    yield str(record.id)
            if offset is None:
                return

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    # -- the collection ------------------------------------------------------------------------------------------

    def _is_there(self) -> bool:
        """Return whether the collection is complete and readable."""
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
        """Return whether the collection's creation has finished.

        Raises `StoreError` if this index cannot use the collection.
        """
        said = self._said(self.collection)
        if said is None:
            raise VectorIndexError(
                f"{self.name} has a collection {self.collection!r} that is not ours, or is older than 1.16: set "
                "qdrant.collection to another name, or upgrade Qdrant"
            )
        schema = said.get("schema")
        if not isinstance(schema, int) or schema > SCHEMA:
            raise StoreVersionError(
                f"collection {self.collection!r} of {self.name} has schema {schema}, newer than this vademecum's {SCHEMA}: "
                "upgrade vademecum, or set qdrant.collection to another name"
            )
        vectors = self._client.get_collection(self.collection).config.params.vectors
        dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
        if dense is None or dense.size != self.dim:
            raise VectorIndexError(
                f"collection {self.collection!r} of {self.name} holds vectors of {dense.size if dense else 'no'} numbers, and "
                f"{self.model} makes {self.dim}: delete it, or set qdrant.collection to another name"
            )
        return said.get("state") == "made"

    def _of_other_length(self, vector: NDArray[np.float32], whose: str) -> VectorIndexError:
        said = "x".join(map(str, vector.shape))
        return VectorIndexError(
            f"{self.collection!r} of {self.name} holds vectors of {self.dim} numbers, and {whose} has {said}"
        )


def _checked(url: str) -> str:
    if not is_address(url):
        raise UsageError("qdrant.url is not an address like http://127.0.0.1:6333: a key goes into qdrant.api_key")
    return url.rstrip("/")


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


def _batches(points: Sequence[Point]) -> Iterator[Sequence[Point]]:
    first, weight = 0, 0
    for number, point in enumerate(points):
        own = 3 * len(point.payload.text) + 12 * point.vector.size + 16 * len(point.tokens)  # a rough size as JSON
        if number > first and (number - first >= BATCH_POINTS or weight + own > BATCH_BYTES):
            yield points[first:number]
            first, weight = number, 0
        weight += own
    if points:
        yield points[first:]


def _struct(point: Point) -> models.PointStruct:
    payload = asdict(point.payload) | {
        "symbols": list(point.payload.symbols),
        "places": places(point.payload.path),
        "names": defined_names(point.payload.symbols),
    }
    vector: dict[str, Any] = {DENSE: point.vector.tolist()}
    if point.tokens:
        vector[WORDS] = _sparse(point.tokens)
    return models.PointStruct(id=point.payload.key, vector=vector, payload=payload)


def _sparse(tokens: Mapping[int, float]) -> models.SparseVector:
    return models.SparseVector(indices=list(tokens), values=list(tokens.values()))


def _conditions(where: Filter) -> models.Filter:
    """Return the part of a filter that Qdrant supports: no globs."""
    one = [("repo", where.repo), ("commit", where.commit), ("names", where.symbol)]
    any_of: list[tuple[str, Sequence[str]]] = [
        ("path", where.files), ("language", where.languages), ("kind", where.kinds), ("file_kind", where.file_kinds),
        ("places", said_by_places(where.paths)),
    ]  # fmt: skip
    must: list[models.Condition] = [
        models.FieldCondition(key=key, match=models.MatchValue(value=value)) for key, value in one if value
    ]
    must += [
        models.FieldCondition(key=key, match=models.MatchAny(any=list(values))) for key, values in any_of if values
    ]
    return models.Filter(must=must)

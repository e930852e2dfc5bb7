"""Qdrant: the promises of an index, in the client's local mode, over the wire, and on a real server where one is named."""

from __future__ import annotations

import gc
import os
import secrets

import numpy as np
import pytest
from qdrant_client import QdrantClient

from vademecum.errors import StoreVersionError, UsageError, VectorIndexError
from vademecum.matching import Filter, Point
from vademecum.result import Err, Ok
from vademecum.storage.qdrant import QdrantIndex
from vademecum.testing import check_vector_index, some_points

REAL = os.environ.get("VADE_TEST_QDRANT_URL", "")
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant:UserWarning")


# The client leaves the database of a collection that was deleted to the garbage collector, of which Python 3.13 warns.
DIRECTORY = pytest.param("directory", marks=pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning"))


@pytest.fixture(params=["memory", DIRECTORY, "wire", *(["server"] if REAL else [])])
def qdrant(request, tmp_path, qdrant_on):
    """Open indexes: by the client's local mode in memory or in a directory, over the wire, on a real server."""
    name = f"test-{secrets.token_hex(4)}"
    if request.param == "wire":
        yield lambda model="model", dim=8: qdrant_on(name, model, dim)
        return
    client = {
        "memory": lambda: QdrantClient(":memory:"),
        "directory": lambda: QdrantClient(path=str(tmp_path / "qdrant")),
        "server": lambda: QdrantClient(url=REAL),
    }[request.param]()
    yield lambda model="model", dim=8: QdrantIndex(name, model, dim, client=client)
    for collection in client.get_collections().collections:
        if collection.name.startswith(name):
            client.delete_collection(collection.name)
    client.close()
    gc.collect()  # here, where its warning is expected, and not in the middle of another test


def test_it_keeps_the_promises_of_a_vector_index(qdrant):
    """As every index does."""
    check_vector_index(qdrant())


def test_points_are_there_for_who_opens_it_next(qdrant):
    """What one process wrote, another finds."""
    points = some_points()
    qdrant().upsert(points).unwrap()
    assert qdrant().keys(Filter()) == Ok({point.payload.key for point in points})


def test_meaning_and_words_are_joined_on_the_server(qdrant):
    """By ranks: what both put first is first, and a point that only one of them finds is found."""
    index = qdrant()
    points = some_points()
    index.upsert(points).unwrap()
    near, named = points[4], points[9]
    found = index.fused(near.vector, {9: 1.0}, 8, Filter()).unwrap()
    assert {found[0].payload, found[1].payload} == {near.payload, named.payload}
    assert 1 / 61 <= found[1].score <= found[0].score <= 2 / 60, "one over sixty and the rank, from each side"
    both = index.fused(near.vector, {4: 1.0}, 3, Filter()).unwrap()
    assert both[0].payload == near.payload
    assert both[0].score == pytest.approx(2 / 60, rel=0.05), "first by both"
    narrowed = index.fused(near.vector, {9: 1.0, 1000: 1.0}, 5, Filter(repo="repo1", exclude=("tests",))).unwrap()
    assert narrowed[0].payload == named.payload
    assert all(n.payload.repo == "repo1" and not n.payload.path.startswith("tests") for n in narrowed)
    assert index.fused(near.vector, {}, 1, Filter()).unwrap()[0].payload == near.payload, "no words are no harm"
    assert isinstance(index.fused(near.vector[:3], {}, 1, Filter()), Err)


def test_another_model_stands_beside_until_it_is_complete(qdrant):
    """The alias leads to the old points until the new ones are activated; then these are the only ones."""
    old, new = qdrant("model-1", 8), qdrant("model-2", 4)
    points = some_points()
    old.upsert(points).unwrap()
    old.activate().unwrap()
    halves = [Point(point.payload, point.vector[:4]) for point in points]
    new.upsert(halves[:12]).unwrap()
    client = old._client
    assert len(client.scroll(old.alias, limit=100)[0]) == 24, "who reads by the alias sees all of the old"
    assert old.nearest(points[0].vector, 1, Filter()).unwrap()[0].payload == points[0].payload
    new.upsert(halves[12:]).unwrap()
    new.activate().unwrap()
    assert client.get_collection(old.alias).config.metadata["vademecum"]["model"] == "model-2"
    assert not client.collection_exists(old.collection)
    again = qdrant("model-1", 8)
    assert again.nearest(points[0].vector, 1, Filter()) == Ok([])
    assert new.activate() == Ok(None), "activating twice is activating once"


def test_a_collection_of_a_name_that_begins_the_same_is_left_alone(qdrant_on, qdrant_server):
    """Only what is ours, of this collection, is dropped."""
    other, own = qdrant_on("app.other"), qdrant_on("app")
    other.upsert(some_points()).unwrap()
    qdrant_server.engine.create_collection("app.hand-made", {})
    own.activate().unwrap()
    assert len(other.keys(Filter()).unwrap()) == 24
    assert qdrant_server.engine.collection_exists("app.hand-made")


def test_a_newer_schema_is_refused(qdrant):
    """It is said which, and what to do; nothing is written to it."""
    index = qdrant()
    index.upsert(some_points()).unwrap()
    said = index._metadata("made")
    said["vademecum"]["schema"] = 99
    index._client.update_collection(index.collection, metadata=said)
    fresh = qdrant()
    for outcome in (fresh.nearest(some_points()[0].vector, 1, Filter()), fresh.upsert(some_points()), fresh.activate()):
        assert isinstance(outcome, Err)
        assert isinstance(outcome.error, StoreVersionError)
        assert "upgrade vademecum" in str(outcome.error)


def test_a_collection_that_was_half_made_is_finished(qdrant_on, qdrant_server):
    """A crash between its making and its last payload index leaves no collection without indexes."""
    index = qdrant_on()
    qdrant_server.faults.extend(
        ["ok"] * 6 + [400]
    )  # exists, create, info, info, two indexes; then the third index fails
    assert isinstance(index.upsert(some_points()), Err)
    assert len(qdrant_server.indexed[index.collection]) == 2
    again = qdrant_on()
    again.upsert(some_points()).unwrap()
    info = qdrant_server.info(again.collection, None)
    assert set(info["payload_schema"]) >= {"repo", "branch", "commit", "path", "language", "kind"}
    assert info["config"]["metadata"]["vademecum"] == {
        "schema": 1,
        "collection": "app",
        "model": "model",
        "state": "made",
    }


def test_a_collection_of_somebody_else_is_refused(qdrant):
    """A collection that happens to have the name, or was made for vectors of another length, is never written to."""
    index = qdrant()
    index._client.create_collection(index.collection, vectors_config={})
    outcome = index.upsert(some_points())
    assert isinstance(outcome, Err)
    assert isinstance(outcome.error, VectorIndexError)
    assert "qdrant.collection" in str(outcome.error)


def test_vectors_of_another_length_are_refused(qdrant):
    """A model that changed its length without its name is noticed when the collection is opened."""
    qdrant("model", 8).upsert(some_points()).unwrap()
    outcome = qdrant("model", 4).upsert([Point(p.payload, p.vector[:4]) for p in some_points()])
    assert isinstance(outcome, Err)
    assert "holds vectors of 8 numbers" in str(outcome.error)
    assert "makes 4" in str(outcome.error)


@pytest.mark.parametrize("url", ["", "localhost:6333", "ftp://host", "http://", "http://u:p@host", "http://h:x", "http://h/?k=1", "http://h ost"])  # fmt: skip
def test_what_is_no_address_is_refused(url):
    """And a key in it is not shown."""
    with pytest.raises(UsageError, match=r"qdrant\.url is not an address") as raised:
        QdrantIndex("app", "model", 8, url=url)
    assert "p@" not in str(raised.value)


def test_many_points_go_in_several_requests(qdrant_on, qdrant_server):
    """Each well below what a server takes."""
    index = qdrant_on()
    vector = some_points()[0].vector
    payloads = [point.payload for point in some_points(1_200)]
    index.upsert([Point(payload, vector) for payload in payloads]).unwrap()
    sent = [
        len(body["points"]) for method, path, body in qdrant_server.requests if method == "PUT" and "/points" in path
    ]
    assert sent == [500, 500, 200]
    assert len(index.keys(Filter()).unwrap()) == 1_200
    index.delete([payload.key for payload in payloads]).unwrap()
    assert index.keys(Filter()) == Ok(set())


def test_zero_vectors_are_taken():
    """A piece without words has no direction: it is stored and never near."""
    index = QdrantIndex("app", "model", 8, client=QdrantClient(":memory:"))
    empty = Point(some_points()[0].payload, np.zeros(8, np.float32))
    index.upsert([empty]).unwrap()
    assert [near.score for near in index.nearest(some_points()[1].vector, 1, Filter()).unwrap()] == [0.0]

"""What a Qdrant server may do wrong, over the wire, and what comes of it: the table in docs/vectors.md, row by row."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from vademecum.errors import VectorIndexError
from vademecum.matching import Filter, Point
from vademecum.result import Err, Ok
from vademecum.testing import some_points

PAGE = Path(__file__).parents[2] / "docs" / "vectors.md"
POINTS = some_points()
ALL = {point.payload.key for point in POINTS}

# fault → (what the server does, from the first request after the index was opened, what is said in the end or "" for
# nothing, how often it was asked to write, seconds slept)
FAULTS = {
    "refused connection": ("nowhere", r"nothing answers at .*start Qdrant, or set qdrant\.url", 0),
    "slow": (["slow"], r"took longer than 1 s: raise qdrant\.timeout_s", 1),
    "an answer that drips": (["drips"], r"took longer than 1 s: raise qdrant\.timeout_s", 1),
    "401": ([401], r"refused the key: set qdrant\.api_key", 1),
    "429 with `Retry-After`": ([(429, "2")], "", 2),
    "429 with a `Retry-After` of more than 30 s": ([(429, "600")], r"is busy and asks to come back in 600 s", 1),
    "429 without": ([429], "", 2),
    "500, twice": ([500, 500], "", 3),
    "500, for good": ([500] * 9, r"answered with status 500 .*look at its log", 4),
    "dropped connection": (["dropped"], "", 2),
    "done, and the answer is lost": (["half"], "", 2),
    "garbage instead of JSON": (["garbage"], r"check qdrant\.url", 1),
    "redirect": (["elsewhere"], r"leads elsewhere: set qdrant\.url", 1),
    "taken, and not done": (["undone"], r"took a write and has not done it", 1),
}


LATE = {"slow", "an answer that drips"}  # which are waited for


@pytest.fixture
def opened(qdrant_on, qdrant_server, request):
    """An index that has been made and holds one point, and what it slept."""
    slept: list[float] = []
    late = getattr(request.node, "callspec", None) is not None and request.node.callspec.params.get("fault") in LATE
    qdrant_on().upsert(POINTS[:1]).unwrap()
    index = qdrant_on(sleep=slept.append, api_key="sesame", timeout_s=1.0 if late else 20.0)
    assert len(index.keys(Filter()).unwrap()) == 1
    qdrant_server.requests.clear()
    return index, slept


@pytest.mark.parametrize("fault", FAULTS)
def test_a_write(fault, opened, qdrant_on, qdrant_server):
    """Either every point is there, or an error names what to do and what was there stays; and the next try is whole."""
    does, said, asked = FAULTS[fault]
    index, _ = opened
    if does == "nowhere":
        outcome = qdrant_on(url="http://127.0.0.1:9").upsert(POINTS)
    else:
        qdrant_server.faults.extend(does)
        outcome = index.upsert(POINTS)
    writes = [path for method, path, _ in qdrant_server.requests if method == "PUT" and "/points?" in path]
    assert len(writes) == asked
    qdrant_server.faults.clear()
    if said:
        assert isinstance(outcome, Err)
        assert isinstance(outcome.error, VectorIndexError)
        assert re.search(said, str(outcome.error)), outcome.error
        assert "sesame" not in str(outcome.error)
        assert qdrant_on().keys(Filter()) == Ok({POINTS[0].payload.key})
    else:
        assert outcome == Ok(len(POINTS))
    after = qdrant_on()
    assert after.upsert(POINTS) == Ok(len(POINTS))
    assert after.keys(Filter()) == Ok(ALL)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_search(fault, opened, qdrant_on, qdrant_server):
    """It is asked twice at most: somebody is waiting. It answers right, or says what is wrong."""
    does, said, _ = FAULTS[fault]
    index, _ = opened
    index.upsert(POINTS).unwrap()
    qdrant_server.requests.clear()
    asked = POINTS[3].vector
    if does == "nowhere":
        outcome = qdrant_on(url="http://127.0.0.1:9").nearest(asked, 1, Filter())
    else:
        qdrant_server.faults.extend(does)
        outcome = index.nearest(asked, 1, Filter())
    assert len([path for _, path, _ in qdrant_server.requests if "query" in path]) <= 2
    if isinstance(outcome, Ok):
        assert outcome.value[0].payload == POINTS[3].payload
    else:
        assert re.search(said or r"answered with status 500", str(outcome.error)) or does == ["undone"]
        assert "sesame" not in str(outcome.error)


def test_waiting_is_as_long_as_was_asked(opened, qdrant_server):
    """By Retry-After; else a fraction of a second that grows."""
    index, slept = opened
    qdrant_server.faults.extend([(429, "7"), 500, 503])
    index.upsert(POINTS).unwrap()
    assert slept[0] == 7
    assert 0.1 <= slept[1] <= 0.8
    assert slept[1:] == sorted(slept[1:])


def test_half_a_batch(qdrant_on, qdrant_server):
    """The first request of three is done, the second fails for good: what is there stays, and the next try writes all."""
    index = qdrant_on()
    many = [Point(point.payload, POINTS[0].vector) for point in some_points(1_200)]
    index.upsert(many[:1]).unwrap()
    qdrant_server.faults.extend(["ok"] + [500] * 4)
    assert isinstance(index.upsert(many), Err)
    qdrant_server.faults.clear()
    assert len(index.keys(Filter()).unwrap()) == 500
    index.upsert(many).unwrap()
    assert len(index.keys(Filter()).unwrap()) == 1_200


def test_a_wrong_key(qdrant_on, qdrant_server):
    """The server's own word for it, in plain text."""
    qdrant_server.api_key = "sesame"
    outcome = qdrant_on(api_key="open").upsert(POINTS)
    assert isinstance(outcome, Err)
    assert "VADE_QDRANT__API_KEY" in str(outcome.error)
    assert qdrant_on(api_key="sesame").upsert(POINTS) == Ok(len(POINTS))


def test_a_server_that_echoes_the_key_is_not_quoted(opened, qdrant_server):
    """What a server says of its failure goes without the key."""
    index, _ = opened
    qdrant_server.faults.extend([500] * 4)
    outcome = index.upsert(POINTS)
    assert isinstance(outcome, Err)
    assert "key …" in str(outcome.error)


def test_an_answer_that_is_not_ours(opened, qdrant_server):
    """A point without our payload is an error, never evidence."""
    index, _ = opened
    qdrant_server.faults.append("odd")
    outcome = index.nearest(POINTS[0].vector, 1, Filter())
    assert isinstance(outcome, Err)
    assert "a point has no id of the right type" in str(outcome.error)


def test_a_server_older_than_metadata(qdrant_on, qdrant_server):
    """It is said which version is needed."""
    qdrant_server.keeps_metadata = False
    outcome = qdrant_on().upsert(POINTS)
    assert isinstance(outcome, Err)
    assert "older than 1.16" in str(outcome.error)


def test_a_collection_is_spread_as_set(qdrant_on, qdrant_server):
    """Shards, replicas and the copies that have to take a write, when it is made."""
    index = qdrant_on(shards=3, replicas=2, write_consistency=2)
    index.upsert(POINTS).unwrap()
    assert qdrant_server.spread[index.collection] == {
        "shard_number": 3,
        "replication_factor": 2,
        "write_consistency_factor": 2,
    }
    usual = qdrant_on("other")
    usual.upsert(POINTS).unwrap()
    assert set(qdrant_server.spread[usual.collection].values()) == {None}


def test_a_wrong_length_is_refused_before_it_is_sent(opened, qdrant_server):
    """And a server that is told all the same says so itself."""
    index, _ = opened
    outcome = index.upsert([*POINTS[:3], Point(POINTS[4].payload, np.ones(3, np.float32))])
    assert isinstance(outcome, Err)
    assert "holds vectors of 8 numbers" in str(outcome.error)
    assert not qdrant_server.requests
    index.dim = 3
    told = index.upsert([Point(POINTS[4].payload, np.ones(3, np.float32))])
    assert isinstance(told, Err)
    assert "expected dim: 8, got 3" in str(told.error)


def test_the_table_of_faults_is_on_its_page():
    """docs/vectors.md has a row for each fault that is tried here, and says of each whether it ends well."""
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    for fault, (_, said, asked) in FAULTS.items():
        assert fault in rows, fault
        again = "asked again" in rows[fault]
        assert again == (asked > 1), fault
        assert ("error" in rows[fault]) == bool(said), fault

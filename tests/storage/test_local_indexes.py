"""LanceDB and Chroma: the promises of an index, kept in a directory of this machine."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from needed import package
from vademecum.errors import StoreVersionError, VectorIndexError
from vademecum.matching import Filter, Point
from vademecum.plugins import load
from vademecum.result import Err, Ok
from vademecum.testing import check_vector_index, some_points

pytestmark = [
    pytest.mark.slow,  # the packages are large
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


PACKAGES = {"lancedb": "lancedb", "chroma": "chromadb"}


@pytest.fixture(params=PACKAGES)
def kind(request):
    """The name of the provider."""
    package(PACKAGES[request.param])
    return request.param


@pytest.fixture
def index_in(kind, tmp_path):
    """Open indexes in one directory, closed when the test ends."""
    opened = []

    def make(model="model", dim=8, collection="app"):
        opened.append(load("vectors", kind, collection=collection, model=model, dim=dim, directory=tmp_path / "here"))
        return opened[-1]

    yield make
    for index in opened:
        index.close()


def test_it_keeps_the_promises_of_a_vector_index(index_in):
    """As every index does."""
    check_vector_index(index_in())


def test_points_are_there_for_who_opens_it_next(index_in):
    """A directory is all there is to it."""
    first = index_in()
    first.upsert(some_points()).unwrap()
    first.close()
    assert index_in().keys(Filter()) == Ok({point.payload.key for point in some_points()})


def test_another_process_writes_while_this_one_has_it_open(kind, index_in, tmp_path):
    """What it wrote is found, also by meaning, and what it deleted is not."""
    index = index_in()
    points = some_points()
    index.upsert(points[:20]).unwrap()
    assert index.nearest(points[21].vector, 1, Filter()).unwrap()[0].payload != points[21].payload
    code = f"""
from vademecum.plugins import load
from vademecum.testing import some_points
index = load("vectors", {kind!r}, collection="app", model="model", dim=8, directory={str(tmp_path / "here")!r})
index.upsert(some_points()[20:]).unwrap()
index.delete([some_points()[3].payload.key]).unwrap()
index.close()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)
    assert index.nearest(points[21].vector, 1, Filter()).unwrap()[0].payload == points[21].payload
    assert index.nearest(points[3].vector, 1, Filter()).unwrap()[0].payload != points[3].payload


def test_another_model_stands_beside_until_it_is_complete(index_in, tmp_path):
    """Then it is the only one, and the file that names the current one says so."""
    old, new, other = index_in("model-1"), index_in("model-2", 4), index_in("model-1", collection="other")
    points = some_points()
    old.upsert(points).unwrap()
    old.activate().unwrap()
    other.upsert(points).unwrap()
    new.upsert([Point(point.payload, point.vector[:4]) for point in points]).unwrap()
    assert len(old.keys(Filter()).unwrap()) == 24
    new.activate().unwrap()
    assert "model-2" in (tmp_path / "here" / "app.current").read_text()
    assert index_in("model-1").keys(Filter()) == Ok(set())
    assert len(other.keys(Filter()).unwrap()) == 24


def test_vectors_of_another_length_are_refused(index_in):
    """A model that changed its length without its name is noticed when the directory is opened."""
    index_in("model", 8).upsert(some_points()).unwrap()
    outcome = index_in("model", 4).upsert([Point(p.payload, p.vector[:4]) for p in some_points()])
    assert isinstance(outcome, Err)
    assert isinstance(outcome.error, VectorIndexError)
    assert "holds vectors of 8 numbers" in str(outcome.error)


def test_a_newer_schema_is_refused(index_in, kind, monkeypatch):
    """It is said which, and what to do."""
    module = sys.modules[type(index_in()).__module__]
    monkeypatch.setattr(module, "SCHEMA", 99)
    index_in().upsert(some_points()).unwrap()
    monkeypatch.undo()
    outcome = index_in().nearest(some_points()[0].vector, 1, Filter())
    assert isinstance(outcome, Err)
    assert isinstance(outcome.error, StoreVersionError)
    assert "schema 99" in str(outcome.error)


def test_zero_vectors_are_taken(index_in):
    """A piece without words has no direction: it is stored and never near."""
    index = index_in()
    points = some_points()
    index.upsert([Point(points[0].payload, np.zeros(8, np.float32)), points[1]]).unwrap()
    found = index.nearest(points[1].vector, 2, Filter()).unwrap()
    assert found[0].score == pytest.approx(1, abs=1e-5)
    assert [near.score for near in found[1:]] in ([], [0.0])
    assert len(index.keys(Filter()).unwrap()) == 2


def test_a_directory_that_cannot_be_one_is_said(kind, tmp_path):
    """A file in its place, say."""
    (tmp_path / "file").write_text("")
    index = load("vectors", kind, collection="app", model="model", dim=8, directory=tmp_path / "file")
    outcome = index.upsert(some_points())
    assert isinstance(outcome, Err)
    assert str(tmp_path / "file") in str(outcome.error)


def test_many_points_are_written_found_and_deleted(index_in):
    """More than one call's worth."""
    index = index_in()
    points = some_points(4_100)
    index.upsert(points).unwrap()
    assert len(index.keys(Filter()).unwrap()) == 4_100
    asked = points[7].vector
    best = sorted(points, key=lambda point: -float(point.vector @ asked))[:500]
    found = index.nearest(asked, 500, Filter()).unwrap()
    assert len({near.payload.id for near in found} & {point.payload.id for point in best}) >= 490
    index.delete([point.payload.key for point in points[:3_000]]).unwrap()
    assert len(index.keys(Filter()).unwrap()) == 1_100


GUARD = """
import sys
def note(event, args):
    if event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.connect", "socket.sendto"}:
        print("reached out:", event, args[1:])
sys.addaudithook(note)
"""
USE = """
from vademecum.plugins import load
from vademecum.matching import Filter
from vademecum.testing import some_points
points = some_points()
index = load("vectors", sys.argv[1], collection="app", model="model", dim=8, directory=sys.argv[2])
index.upsert(points).unwrap()
index.activate().unwrap()
print(len(index.nearest(points[0].vector, 3, Filter()).unwrap()), "found")
index.close()
"""


def test_nothing_leaves_the_machine(kind, tmp_path):
    """No telemetry, no model that is downloaded: nobody asks for a name or connects to anything."""
    command = [sys.executable, "-W", "ignore", "-c", GUARD + USE, kind, str(tmp_path / "here")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout == "3 found\n"

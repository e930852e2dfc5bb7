"""`VectorIndex` on pgvector: its promises, the graph beside comparing one by one, and searches that use it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vademecum.errors import StoreError, VectorIndexError
from vademecum.matching import Filter, Point
from vademecum.result import Err
from vademecum.storage.collection import ExactIndex
from vademecum.storage.postgres import pgvector
from vademecum.storage.postgres.connect import close_all
from vademecum.storage.postgres.pgvector import PgvectorIndex
from vademecum.testing import check_vector_index, some_points

pytestmark = pytest.mark.once


def test_pgvector_keeps_the_promises_of_an_index(database):
    """Nearest, filters before the cut, replacing, models side by side."""
    check_vector_index(PgvectorIndex("app", "model", 8, url=database))


def test_the_graph_keeps_them_too(database, monkeypatch):
    """As if everything were too much to be compared one by one; what it returns is scored by the vectors as they are."""
    index, exact = PgvectorIndex("app", "model", 8, url=database), ExactIndex("app", "model", 8)
    points = some_points(600)
    for each in (index, exact):
        each.upsert(points).unwrap()
    monkeypatch.setattr(pgvector, "EXACT_BELOW", 0)
    asked = points[5].vector
    for where in (
        Filter(),
        Filter(repo="repo1"),
        Filter(languages=("go",), kinds=("class",)),
        Filter(paths=("src/deep",)),
    ):
        found, expected = (each.nearest(asked, 10, where).unwrap() for each in (index, exact))
        assert len({near.payload.id for near in found} & {near.payload.id for near in expected}) >= 9
        assert [near.score for near in found] == sorted((near.score for near in found), reverse=True)
    assert index.nearest(asked, 1, Filter()).unwrap()[0].score == pytest.approx(1, abs=1e-5)


def test_a_selective_filter_loses_nothing(database):
    """Two points in a thousand pass, and are found however far away they are."""
    index = PgvectorIndex("app", "model", 8, url=database)
    points = some_points(1000)
    rare = [Point(replace(p.payload, language="ada"), -points[0].vector) for p in points[:2]]
    index.upsert([*points, *rare]).unwrap()
    found = index.nearest(points[0].vector, 5, Filter(languages=("ada",))).unwrap()
    assert {near.payload.language for near in found} == {"ada"}
    assert len(found) == 2


def test_what_text_cannot_hold_is_kept(database):
    """U+0000 in a text or a name."""
    index = PgvectorIndex("app", "model", 8, url=database)
    point = some_points(1)[0]
    odd = Point(replace(point.payload, text="a\x00b\x10", symbols=("n\x00m",), path="x\x00/y"), point.vector)
    index.upsert([odd]).unwrap()
    assert index.nearest(point.vector, 1, Filter(symbol="n\x00m")).unwrap()[0].payload == odd.payload


def test_a_server_without_pgvector_and_one_that_is_not_there_are_named(system_server, system_database):
    """What to install, or which setting to look at."""
    index = PgvectorIndex("app", "model", 8, url=system_database)
    outcome = index.upsert(some_points(1))
    if isinstance(outcome, Err):
        assert isinstance(outcome.error, VectorIndexError)
        assert "pgvector" in str(outcome.error)
    nowhere = PgvectorIndex("app", "model", 8, url="postgresql:///code?host=/nowhere").keys(Filter())
    assert isinstance(nowhere, Err)
    assert isinstance(nowhere.error, StoreError)
    assert "storage.url" in str(nowhere.error)


@pytest.mark.parametrize("records", ["sqlite", "postgres"])
def test_a_search_by_pgvector_answers_as_over_arrays(repo, engine, database, tmp_path, records):
    """Records in files or in the database, vectors in the database: the same evidence."""
    made = repo()
    options = {"storage__url": database, "storage__provider": records, "search__vectors": "pgvector"}
    here = engine(made, home=tmp_path / "files")
    beside = engine(made, home=tmp_path / "one", **options)
    beside.codebase.index()
    for question in ("how is the token budget split", "retry with backoff"):
        found = [each.codebase.search(question).evidence for each in (here, beside)]
        assert [item.id for item in found[0]][:3] == [item.id for item in found[1]][:3]
    index = PgvectorIndex("x", "y", 8, url=database)
    assert index.keys(Filter()).unwrap() == set()
    assert all(check.ok for check in beside.codebase.doctor())
    close_all(database)

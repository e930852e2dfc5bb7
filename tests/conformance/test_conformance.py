"""Every shipped provider keeps the promises that `vademecum.testing` checks, and the checks notice those who do not."""

from __future__ import annotations

import pickle
from contextlib import closing

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vademecum.plugins import load
from vademecum.result import Err, Ok
from vademecum.storage.postgres.store import PostgresStore
from vademecum.storage.sqlite import SqliteStore
from vademecum.testing import CountingEmbedder, check_closed_store, check_embedder, check_store


@pytest.mark.parametrize("name", ["hashing", "hashing:256", "static"])
def test_embedders_keep_their_promises(name):
    """Shape, type, length, determinism, and the zero vector for empty text."""
    check_embedder(load("embedder", name))


def test_the_counting_fake_is_an_embedder():
    """A fake that third parties are given is held to the same promises."""
    check_embedder(CountingEmbedder(load("embedder", "hashing")))


def test_sqlite_keeps_the_promises_of_a_store(tmp_path):
    """Reading back, replacing, filters, order, transactions."""
    store = SqliteStore(tmp_path / "x.db")
    check_store(store)
    check_closed_store(store)


@pytest.mark.once
@pytest.mark.parametrize("server", ["database", "system_database", "full_database"])
def test_postgres_keeps_the_promises_of_a_store(server, request):
    """The same, over the server of a wheel and over the system's."""
    store = PostgresStore(request.getfixturevalue(server), "conformance")
    check_store(store)
    check_closed_store(store)


@pytest.fixture(params=["sqlite", "postgres"])
def store(tmp_path, request):
    """A store with 300 vectors of one embedder and one of another, and two chunks of each of 150 blobs, three symbols each."""
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "x.db")
    else:
        store = PostgresStore(request.getfixturevalue("database"), "conformance")
    store.upsert("vectors", [("e", f"{n:03}", bytes([n % 256])) for n in range(300)]).unwrap()
    store.upsert("vectors", [("other", "000", b"x")]).unwrap()
    symbols = [(n // 2, n % 2, p, f"s{n}", f"q{n}", "function", n, n + 1, "") for n in range(300) for p in range(3)]
    store.upsert("symbols", symbols).unwrap()
    yield store
    store.close()


def test_a_store_gives_rows_by_their_whole_key(store):
    """The row of each key that is there, whatever is asked for besides, in one statement's worth or in many."""
    assert store.get("vectors", []) == Ok([])
    assert store.get("vectors", [("e", "007")]) == Ok([("e", "007", b"\x07")])
    assert store.get("vectors", [("other", "001"), ("nobody", "000")]) == Ok([]), "each key as a whole, never its parts"
    assert store.get("vectors", [("e", "0"), ("e", "00"), ("e", "")]) == Ok([]), "a key's value is not a prefix"
    wanted = [("e", f"{n:03}") for n in range(0, 400, 2)] + [("other", "000")]
    rows = store.get("vectors", wanted).unwrap()
    assert sorted(rows) == [("e", f"{n:03}", bytes([n % 256])) for n in range(0, 300, 2)] + [("other", "000", b"x")]


def test_another_process_opens_a_store_that_it_was_sent(store):
    """A store is pickled as its address: both see the rows of either."""
    with closing(pickle.loads(pickle.dumps(store))) as other:
        assert other.get("vectors", [("e", "007")]) == Ok([("e", "007", b"\x07")])
        other.upsert("vectors", [("e", "007", b"new")]).unwrap()
    assert store.get("vectors", [("e", "007")]) == Ok([("e", "007", b"new")])


def test_a_store_gives_rows_by_the_beginning_of_their_key(store):
    """Every row whose key begins with one of those asked for: by one column of three, or by two."""
    every = store.scan("symbols").unwrap()
    assert sorted(store.get("symbols", [(3,)]).unwrap()) == sorted(row for row in every if row[0] == 3)
    assert sorted(store.get("symbols", [(3, 1)]).unwrap()) == sorted(row for row in every if row[:2] == (3, 1))
    assert store.get("symbols", [(1000,), (-1,)]) == Ok([])
    assert len(store.get("vectors", [("e",)]).unwrap()) == 300


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)  # it is only read
def test_a_store_gives_what_a_scan_filtered_by_key_gives(store, data):
    """For any number of keys, of any one length, there or not; a part of the key's columns or all of them."""
    length = data.draw(st.integers(1, 3))
    keys = data.draw(
        st.lists(st.tuples(*[st.integers(0, high) for high in (120, 2, 3)[:length]]), unique=True, max_size=250)
    )
    expected = [row for row in store.scan("symbols").unwrap() if row[:length] in set(keys)]
    assert sorted(store.get("symbols", keys).unwrap()) == sorted(expected)


def test_a_store_finds_rows_of_one_transaction_before_it_ends(store):
    """What was just written is there, what was just deleted is not."""
    with store.transaction():
        store.upsert("meta", [("new", "1")]).unwrap()
        store.delete("vectors", [("hash", "=", "001")]).unwrap()
        assert store.get("meta", [("new",), ("old",)]) == Ok([("new", "1")])
        assert store.get("vectors", [("e", "001")]) == Ok([])


def test_a_closed_store_gives_an_error(store):
    """It is said in the result, as by every other operation."""
    store.close()
    assert isinstance(store.get("meta", [("a",)]), Err)


class _Unnormalised:
    name, dim, remote = "long", 4, False

    def embed(self, passages, kind):
        return Ok(np.full((len(passages), 4), 3, np.float32))


def test_a_broken_promise_is_named():
    """The check says which promise is broken."""
    with pytest.raises(AssertionError, match="unit length"):
        check_embedder(_Unnormalised())

"""A PostgreSQL that hangs: nothing waits for it for ever, and what only takes long is not taken for it."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest

from postgres_wire import between
from vademecum.errors import StoreAwayError, StoreBusyError
from vademecum.result import Err, Ok
from vademecum.storage.postgres import connect
from vademecum.storage.postgres.connect import LOCK, connections
from vademecum.storage.postgres.migrate import differences, downgrade, upgrade, version
from vademecum.storage.postgres.store import PostgresStore

pytestmark = pytest.mark.once


@pytest.fixture
def quick(monkeypatch):
    """Have the server asked soon whether it lives."""
    monkeypatch.setattr(connect, "ASKED_AFTER", 0.3)


def failed(store):
    """What a read says that fails."""
    outcome = store.scan("meta")
    assert isinstance(outcome, Err)
    return outcome.error


def test_a_server_that_hangs_in_mid_statement_is_given_up(database, quick):
    """The one who waited is told what to change; those who come then are told at once, until it answers again."""
    with between(database) as wire:
        store = PostgresStore(wire.url, "x", timeout_s=2)
        store.upsert("meta", [("a", "1")]).unwrap()
        wire.silent.set()
        error = failed(store)
        assert isinstance(error, StoreAwayError)
        assert "says nothing (it stopped answering" in str(error)
        assert "storage.timeout_s" in str(error)
        error = failed(store)  # another connection, which is not had either
        assert "cannot be reached" in str(error)
        assert "storage.url" in str(error)
        asked = len(wire.opened)
        assert "cannot be reached" in str(failed(store))
        assert len(wire.opened) == asked, "it was asked in vain a moment ago, and is not asked again"
        wire.silent.clear()
        connections(wire.url, 2)._failure = None  # half a minute later
        assert store.scan("meta") == Ok([("a", "1")])
        store.close()


def test_a_server_that_hangs_in_a_transaction_keeps_nothing_of_it(database, quick):
    """That is said, and the next one works."""
    with between(database) as wire:
        store = PostgresStore(wire.url, "x", timeout_s=2)

        def half():
            with store.transaction():
                store.upsert("meta", [("half", "1")]).unwrap()
                wire.silent.set()
                store.upsert("meta", [("other half", "1")]).unwrap()

        with pytest.raises(StoreAwayError, match="says nothing"):
            half()
        wire.silent.clear()
        until = time.monotonic() + 60
        while True:  # the server learns of it when the connection ends
            try:
                with store.transaction():
                    store.upsert("meta", [("whole", "1")]).unwrap()
                break
            except StoreBusyError:
                assert time.monotonic() < until
        assert store.scan("meta") == Ok([("whole", "1")])
        store.close()


def test_one_connection_that_hangs_is_given_up_while_the_server_lives(database, quick, monkeypatch):
    """As when its process hangs, or a router forgot the connection: the server lives, and answers this statement never."""
    monkeypatch.setattr(connect, "GRACE", 0.5)
    with between(database) as wire:
        store = PostgresStore(wire.url, "x", timeout_s=1)
        store.upsert("meta", [("a", "1")]).unwrap()
        wire.hang()
        error = failed(store)
        assert "no answer to a statement for" in str(error)
        assert "storage.timeout_s" in str(error)
        assert store.scan("meta") == Ok([("a", "1")]), "another connection answers"
        store.close()


def test_a_statement_that_takes_too_long_is_ended_by_the_server(database, monkeypatch):
    """The connection is as good as before. What builds an index may take longer."""
    monkeypatch.setattr(connect, "LEAST_PATIENCE", 1.0)
    own, store = connections(database, 0.5), PostgresStore(database, "x", timeout_s=0.5)
    with pytest.raises(Exception, match="statement timeout"):
        own.run(lambda connection: connection.execute("SELECT pg_sleep(3)"))
    own.run(lambda connection: connection.execute("SELECT pg_sleep(2)"), slow=True)
    with own.borrowed() as connection:
        assert connection.execute("SHOW statement_timeout").fetchone() == ("1s",)
    assert store.scan("meta") == Ok([])
    store.close()


def test_waiting_for_another_writer_is_no_hanging(database, quick):
    """The server lives, so it is waited for as long as is set."""
    one, other = PostgresStore(database, "x", timeout_s=3), PostgresStore(database, "x", timeout_s=3)
    said: list[BaseException] = []

    def write():
        try:
            with other.transaction():
                pass
        except StoreBusyError as error:
            said.append(error)

    with one.transaction():
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
    assert "storage.timeout_s" in str(said[0])


def test_a_migration_takes_its_time_and_a_server_that_hangs_does_not(empty_database, quick, monkeypatch):
    """What it began is undone by the server, and it says so: the next one begins anew."""
    monkeypatch.setattr(connect, "CONNECT_SECONDS", 2)
    with between(empty_database) as wire:
        assert version(wire.url) == ""
        held = psycopg.connect(empty_database)
        held.execute("SELECT pg_advisory_lock(%s)", [LOCK])  # another process migrates
        threading.Timer(3, held.close).start()
        assert "empty" in upgrade(wire.url)[0], "it was waited for, longer than a silent server would be"
        downgrade(wire.url, "base")
        with psycopg.connect(empty_database) as again:
            again.execute("SELECT pg_advisory_lock(%s)", [LOCK])
            threading.Timer(1, wire.silent.set).start()
            with pytest.raises(StoreAwayError, match="says nothing"):
                upgrade(wire.url)
        wire.silent.clear()
        assert version(wire.url) == ""
        for ask in (version, differences):
            wire.silent.set()
            with pytest.raises(StoreAwayError):
                ask(wire.url)
            wire.silent.clear()

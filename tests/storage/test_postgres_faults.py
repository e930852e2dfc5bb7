"""PostgreSQL when things go wrong: what is said, what is tried again, and that nothing acknowledged is lost."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import ExitStack, suppress

import psycopg
import pytest

from postgres_wire import between
from vademecum.errors import (
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreVersionError,
)
from vademecum.metrics import STORE_ERRORS
from vademecum.result import Err, Ok
from vademecum.storage.postgres.connect import NEWEST, close_all, named
from vademecum.storage.postgres.migrate import downgrade
from vademecum.storage.postgres.store import PostgresStore

pytestmark = pytest.mark.once


def run(url, *statements):
    """Do something to a database behind the store's back."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def end_connections(url):
    """End every other connection to a database, as a server does that is restarted."""
    run(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
             "AND datname = current_database()")  # fmt: skip


def connected_when_there_is_room(url):
    """Connect once the server has noticed that others are gone."""
    until = time.monotonic() + 30
    while True:
        try:
            return psycopg.connect(url)
        except psycopg.OperationalError:
            assert time.monotonic() < until
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://[", "storage.url is no address"),
        ("nonsense", "storage.url is no address"),
        ("postgresql://ada:secret@127.0.0.1:1/code", "127.0.0.1:1/code cannot be reached"),
        ("postgresql:///code?host=/nowhere/at/all", "check storage.url"),
    ],
)
def test_a_wrong_url_is_said_to_be_one(url, said):
    """The message names the setting and the place, and never the password."""
    with pytest.raises(StoreError, match=r"storage\.url") as caught:
        PostgresStore(url, "x", timeout_s=2)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_database_that_is_not_there_is_named(database):
    """The server's own words are handed on."""
    with pytest.raises(StoreError, match="does not exist"):
        PostgresStore(database.replace("@/t", "@/absent_"), "x")


def test_what_a_server_could_not_do_is_counted(database):
    """By error, in the counter of every store."""
    store = PostgresStore(database, "x", timeout_s=2)
    before = STORE_ERRORS.value(error="StoreVersionError"), STORE_ERRORS.value(error="StoreAwayError")
    run(database, "DROP TABLE chunks CASCADE")
    assert isinstance(store.scan("chunks"), Err)
    with pytest.raises(StoreError):
        PostgresStore("postgresql://127.0.0.1:1/code", "x", timeout_s=2)
    after = STORE_ERRORS.value(error="StoreVersionError"), STORE_ERRORS.value(error="StoreAwayError")
    assert after == (before[0] + 1, before[1] + 1)
    store.close()


def test_a_wrong_password_is_told_from_a_right_one(database, wheel_server):
    """Neither is shown."""
    name = database.partition("@/")[2].partition("?")[0]
    run(database, "DROP ROLE IF EXISTS locked", "CREATE ROLE locked LOGIN SUPERUSER PASSWORD 'right-one'")
    url = wheel_server.url(name).replace("vade@", "locked:{}@")
    with pytest.raises(StoreError, match=r"password authentication failed.*storage\.url") as caught:
        PostgresStore(url.format("wrong-one"), "x")
    assert "wrong-one" not in str(caught.value)
    store = PostgresStore(url.format("right-one"), "x")
    assert store.scan("meta") == Ok([])
    close_all(url.format("right-one"))


def test_a_server_that_says_nothing_is_not_waited_for_for_ever():
    """It took the connection and that was all."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(StoreError, match=f"127.0.0.1:{port}/code cannot be reached"):
            PostgresStore(f"postgresql://127.0.0.1:{port}/code", "x", timeout_s=1)


@pytest.mark.parametrize("fault", [b"\xff" * 300, None])
def test_an_answer_that_is_garbage_or_breaks_off_costs_no_record(database, fault):
    """Between calls it is asked again; in a transaction all is undone, and that is said."""
    with between(database) as wire:
        store, faults = PostgresStore(wire.url, "x", timeout_s=5), wire.faults
        store.upsert("meta", [("a", "1")]).unwrap()
        faults.append(fault)
        assert store.scan("meta") == Ok([("a", "1")])
        faults.append(fault)
        assert store.upsert("meta", [("b", "2")]) == Ok(1)

        def spoiled():
            with store.transaction():
                store.upsert("meta", [("c", "3")]).unwrap()
                faults.append(fault)
                store.upsert("meta", [("d", "4")]).unwrap()

        with pytest.raises(StoreError, match=r"cannot be reached.*storage\.url"):
            spoiled()
        assert store.scan("meta") == Ok([("a", "1"), ("b", "2")])
        store.close()


@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 400 Bad Request\r\n\r\n<html>", b"R\0\0\0\x08\0\0\0\0garbage", b"", bytes(200)]
)
def test_what_is_no_postgresql_is_said_to_be_out_of_reach(said):
    """Another server at that port, or one that hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def answer():
            with suppress(OSError):
                while True:
                    client, _ = listening.accept()
                    with client, suppress(OSError):
                        client.recv(1000)
                        client.sendall(said)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(StoreError, match=rf"127.0.0.1:{port}/code cannot be reached.*check storage\.url") as caught:
            PostgresStore(f"postgresql://ada:secret@127.0.0.1:{port}/code", "x", timeout_s=2)
        assert "secret" not in str(caught.value)
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_server_that_has_no_room_is_asked_again(database):
    """Another connection may end meanwhile; if none does, it is said that the server is busy."""
    run(database, "DROP ROLE IF EXISTS few", "CREATE ROLE few LOGIN CONNECTION LIMIT 1", "GRANT ALL ON SCHEMA public TO few",
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO few")  # fmt: skip
    url = database.replace("vade@", "few@")
    held = psycopg.connect(url)
    timer = threading.Timer(0.5, held.close)
    timer.start()
    store = PostgresStore(url, "x")
    timer.join()
    store.close()
    close_all(url)
    with connected_when_there_is_room(url), pytest.raises(StoreBusyError, match="too many connections"):
        PostgresStore(url, "x")
    close_all(url)
    run(database, "DROP OWNED BY few", "DROP ROLE few")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DELETE FROM alembic_version", "has no tables yet: run `vade db upgrade`"),
        ("UPDATE alembic_version SET version_num = '9999'", "newer than this vademecum's"),
        ("DROP TABLE alembic_version", "something else made them"),
    ],
)
def test_a_database_of_another_version_is_refused(database, change, said):
    """It is left as it is, whatever is wrong with it."""
    run(database, change)
    with pytest.raises(StoreVersionError, match=said):
        PostgresStore(database, "x")


def test_a_database_without_tables_or_with_old_ones_says_what_to_run(empty_database, database):
    """Nothing makes tables by itself in a database that others use."""
    with pytest.raises(StoreVersionError, match="vade db upgrade"):
        PostgresStore(empty_database, "x")
    if NEWEST != "0001":
        downgrade(database, "0001")
        with pytest.raises(StoreVersionError, match=f"older than {NEWEST}"):
            PostgresStore(database, "x")


def test_a_table_that_is_gone_is_named(database):
    """As of a database that was made by hand, or restored by half."""
    store = PostgresStore(database, "x")
    run(database, "DROP TABLE symbols")
    outcome = store.scan("symbols")
    assert isinstance(outcome, Err)
    assert isinstance(outcome.error, StoreVersionError)
    assert "symbols" in str(outcome.error)


def test_a_connection_that_ends_between_two_calls_is_made_again(database):
    """A restarted server costs nothing; reads and writes that can be done twice are."""
    store = PostgresStore(database, "x")
    store.upsert("meta", [("a", "1")]).unwrap()
    end_connections(database)
    assert store.scan("meta") == Ok([("a", "1")])
    end_connections(database)
    assert store.upsert("meta", [("b", "2")]) == Ok(1)
    end_connections(database)
    with store.transaction():
        store.upsert("meta", [("c", "3")]).unwrap()
    assert store.get("meta", [("a",), ("b",), ("c",)]).unwrap() == [("a", "1"), ("b", "2"), ("c", "3")]


def test_a_connection_that_ends_in_a_transaction_undoes_all_of_it(database):
    """Nothing of it is kept, that is said, and the next one works."""
    store = PostgresStore(database, "x")

    def half():
        with store.transaction():
            store.upsert("meta", [("half", "1")]).unwrap()
            end_connections(database)
            store.upsert("meta", [("other half", "1")]).unwrap()

    with pytest.raises(StoreError, match="cannot be reached"):
        half()
    assert store.scan("meta") == Ok([])
    with store.transaction():
        store.upsert("meta", [("whole", "1")]).unwrap()
    assert store.scan("meta") == Ok([("whole", "1")])


def test_a_connection_that_ends_before_the_commit_undoes_all_of_it(database):
    """What was not committed was not acknowledged."""
    store = PostgresStore(database, "x")

    def ended():
        with store.transaction():
            store.upsert("meta", [("half", "1")]).unwrap()
            end_connections(database)

    with pytest.raises(StoreError, match="cannot be reached"):
        ended()
    assert store.scan("meta") == Ok([])


def test_a_statement_that_failed_and_was_ignored_does_not_pass_for_a_commit(database):
    """PostgreSQL would undo the transaction in silence."""
    store = PostgresStore(database, "x")

    def careless():
        with store.transaction():
            store.upsert("meta", [("a", "1")]).unwrap()
            store.upsert("snapshots", [(1, None, *[""] * 5, 0.0, "", "", "")])  # a NULL where none may be

    with pytest.raises(StoreError, match="nothing of its transaction was kept"):
        careless()
    assert store.scan("meta") == Ok([])


def test_another_writer_of_the_same_space_is_waited_for_and_then_named(database):
    """A writer of another space is in nobody's way."""
    one, other = PostgresStore(database, "x", timeout_s=0.3), PostgresStore(database, "x", timeout_s=0.3)
    elsewhere = PostgresStore(database, "y", timeout_s=0.3)
    with one.transaction():
        outcome: list[BaseException] = []

        def write():
            try:
                with other.transaction():
                    pass
            except StoreError as error:
                outcome.append(error)

        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        assert isinstance(outcome[0], StoreBusyError)
        assert "storage.timeout_s" in str(outcome[0])
        with elsewhere.transaction():
            elsewhere.upsert("meta", [("a", "1")]).unwrap()
    with other.transaction():
        pass


def test_writers_at_once_lose_nothing(database):
    """Eight threads, each reading and then writing, count to 80; rows numbered by the database are all different."""
    stores = [PostgresStore(database, "x") for _ in range(4)]

    def count(store):
        for _ in range(10):
            with store.transaction():
                rows = store.get("meta", [("n",)]).unwrap()
                store.upsert("meta", [("n", str(int(rows[0][1]) + 1 if rows else 1))]).unwrap()
            store.upsert("tombstones", [(None, f"{threading.get_ident()}-{_}", 0, "", 0.0)]).unwrap()

    threads = [threading.Thread(target=count, args=(store,)) for store in stores * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stores[0].get("meta", [("n",)]) == Ok([("n", "80")])
    numbers = [number for (number,) in stores[0].scan("tombstones", columns=("number",), order=("number",)).unwrap()]
    assert numbers == list(range(1, 81))
    assert PostgresStore(database, "y").scan("meta") == Ok([]), "another space knows nothing of it"


def test_a_server_that_may_only_be_read_says_so(database):
    """As one that follows another."""
    PostgresStore(database, "x")
    url = f"{database}&options=-c%20default_transaction_read_only%3Don"
    store = PostgresStore(url, "x")
    outcome = store.upsert("meta", [("a", "1")])
    close_all(url)
    assert isinstance(outcome, Err)
    assert "set storage.url to a user and server that may write" in str(outcome.error)


def test_what_cannot_be_brought_about_here_has_a_name_too():
    """A full disk and damaged pages, by the codes that the server gives them."""
    url = "postgresql://db.example.org/code"
    assert isinstance(named(psycopg.errors.DiskFull("could not extend file"), url), StoreFullError)
    assert isinstance(named(psycopg.errors.IndexCorrupted("bad page"), url), StoreCorruptError)
    assert isinstance(named(psycopg.errors.DeadlockDetected("deadlock detected"), url), StoreBusyError)


def test_a_space_that_is_begun_anew_is_set_aside_and_not_deleted(database):
    """Its rows are there under another name."""
    store = PostgresStore(database, "code:x")
    store.upsert("meta", [("a", "1")]).unwrap()
    store.start_over()
    assert store.scan("meta") == Ok([])
    [aside] = [name for name in PostgresStore.spaces(database) if "damaged" in name]
    assert PostgresStore(database, aside).scan("meta") == Ok([("a", "1")])


def test_records_that_do_not_fit_together_are_found(database):
    """A chunk without its content, say."""
    store = PostgresStore(database, "code:x")
    assert store.check() == Ok("ok")
    store.upsert("chunks", [(7, 0, 1, 2, 0, 9, "function", "f", "", "", "", "h", "", "")]).unwrap()
    assert store.check() == Ok("1 of chunks name blobs that are not there")


def test_keys_too_long_for_an_index_are_found_all_the_same(database):
    """What PostgreSQL has no room for in an index is kept by its beginning and a digest."""
    store = PostgresStore(database, "x")
    import random

    letters = random.Random(1)
    long = ["".join(chr(letters.randrange(0x4E00, 0x9000)) for _ in range(3000)) for _ in range(3)]
    store.upsert("event_tags", [(name, name, number) for number, name in enumerate(long)]).unwrap()
    for number, name in enumerate(long):
        assert store.scan("event_tags", [("name", "=", name), ("value", "in", [name])], ("event",)) == Ok([(number,)])


def test_names_are_found_whatever_the_case_of_their_letters(database):
    """As SQLite does: of ASCII letters alone."""
    store = PostgresStore(database, "x")
    store.upsert(
        "symbols", [(1, n, 0, name, name, "function", 1, 2, "") for n, name in enumerate(("Read", "Été"))]
    ).unwrap()
    for where in (("name", "=", "rEAD"), ("name", "in", ["READ", "x"]), ("name", "prefix", "rE")):
        assert store.scan("symbols", [where], ("qualified",)) == Ok([("Read",)])
    assert store.scan("symbols", [("name", "=", "été")]) == Ok([])
    assert store.scan("symbols", [("name", "=", "ÉTÉ")]) == Ok([])
    assert store.scan("symbols", [("name", "=", "ÉTé")], ("name",)) == Ok([("Été",)])


def test_connections_are_let_go(database):
    """A store that is closed keeps nothing open on the server."""
    with ExitStack() as opened:
        for n in range(10):
            store = PostgresStore(database, f"s{n}")
            opened.callback(store.close)
            store.upsert("meta", [("a", "1")]).unwrap()
        with psycopg.connect(database) as watching:
            count = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            assert watching.execute(count).fetchone() == (1,), "ten stores share one connection"
    with psycopg.connect(database, autocommit=True) as watching:  # each look by itself: what one transaction sees stays
        until = time.monotonic() + 30  # the server ends what served a connection after that is closed
        while watching.execute(count).fetchone() != (0,) and time.monotonic() < until:
            time.sleep(0.05)
        assert watching.execute(count).fetchone() == (0,)

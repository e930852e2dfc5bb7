"""Versions of the database: up and down on an empty one and on a full one, and nothing in it that no migration made."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import psycopg
import pytest

from postgres_servers import NAMED
from vademecum.errors import StoreError, UsageError
from vademecum.storage.postgres.connect import NEWEST, REVISIONS, close_all
from vademecum.storage.postgres.migrate import check_database, differences, downgrade, upgrade, version
from vademecum.storage.postgres.statements import shapes
from vademecum.storage.postgres.store import PostgresStore
from vademecum.storage.sqlite import FAMILIES

pytestmark = pytest.mark.once


def filled(url, rows=20):
    """Write some rows of every family, each value of its column's type. Returns all that is there."""
    random_of, store = random.Random(7), PostgresStore(url, "code:full")
    made = {"bigint": lambda n: n, "double precision": lambda n: n / 7, "bytea": lambda n: random_of.randbytes(n % 9)}
    for family, shape in shapes().items():
        values = [
            tuple(made.get(kind, lambda n, column=column: f"{column}-{n}")(n) for column, kind in shape.columns.items())
            for n in range(1, rows + 1)
        ]
        store.upsert(family, values).unwrap()
    return everything(url)


def everything(url):
    """Return every row of every family."""
    store = PostgresStore(url, "code:full")
    return {family: sorted(store.scan(family).unwrap()) for family in FAMILIES}


def tables(url):
    """Return the names of a database's tables."""
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        return {name for (name,) in rows}


def test_migrations_make_what_the_code_expects(database, system_database, full_database):
    """Nothing differs from a database made anew, with pgvector, with pg_trgm and with both."""
    assert differences(database) == []
    assert differences(system_database) == []
    assert differences(full_database) == []


def test_migrations_make_the_tables_of_every_family(database):
    """Columns, their types and the indexes of every family are those of its file."""
    columns = """
        SELECT column_name, data_type, is_nullable = 'YES' FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name = %s ORDER BY ordinal_position
    """
    with psycopg.connect(database) as connection:
        for family, shape in shapes().items():
            own = [(name, kind, name in shape.nullable) for name, kind in shape.columns.items()]
            assert connection.execute(columns, [family]).fetchall() == [("space_id", "bigint", False), *own], family
            rows = connection.execute("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s", [family])
            indexes = {
                name: said.partition(" USING btree ")[2].replace('"', "")
                for name, said in rows
                if "trigram" not in name
            }
            keys = [shape.key, *shape.unique, *shape.indexes.values()]
            wanted = [", ".join(f"lower({c})" if c in shape.folded else c for c in ("space_id", *key)) for key in keys]
            assert sorted(indexes.values()) == sorted(f"({each})" for each in wanted), family


def test_a_database_can_be_spread_by_its_spaces(database):
    """Unique indexes name the space, but for those of spaces, jobs, versions and points, which have collections."""
    statement = """
        SELECT t.relname FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
        WHERE t.relnamespace = current_schema()::regnamespace AND i.indisunique AND NOT EXISTS (
            SELECT 1 FROM pg_attribute a
            WHERE a.attrelid = t.oid AND a.attname = 'space_id' AND a.attnum = ANY(i.indkey::int2[])
        )
    """
    with psycopg.connect(database) as connection:
        assert {name for (name,) in connection.execute(statement)} == {
            "spaces",
            "jobs",
            "alembic_version",
            "derived_points",
        }


def test_what_no_migration_made_is_found(database):
    """The test above can fail: a column, an index or a table too many or too few is named."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "ALTER TABLE meta ADD COLUMN colour text; DROP INDEX symbols_by_name; CREATE TABLE stray (id int)"
        )
    assert len(differences(database)) == 3
    checks = {check.name: check for check in check_database(database)}
    assert not checks["tables"].ok
    assert "stray" in checks["tables"].detail


def test_up_and_down_through_every_version(empty_database):
    """Each version can be reached from the one before it and left again, and what one made it takes along."""
    before = tables(empty_database)
    for revision in REVISIONS:
        upgrade(empty_database, revision)
        assert version(empty_database) == revision
    assert differences(empty_database) == []
    for revision in [*REVISIONS[-2::-1], "base"]:
        downgrade(empty_database, revision)
        assert version(empty_database) == ("" if revision == "base" else revision)
    assert tables(empty_database) - before == {"alembic_version"}
    upgrade(empty_database)
    assert differences(empty_database) == []


def test_records_outlive_every_version_that_has_a_place_for_them(empty_database):
    """A full database goes down to each version and up again, and holds what it held; the tables of records never change."""
    upgrade(empty_database)
    before = filled(empty_database)
    assert all(len(rows) == 20 for rows in before.values())
    for revision in REVISIONS[-2::-1]:
        downgrade(empty_database, revision)
        upgrade(empty_database)
        assert everything(empty_database) == before
    assert differences(empty_database) == []


def test_a_migration_that_fails_changes_nothing(empty_database):
    """All of a call is one transaction: here a table of that name is in the way."""
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute("CREATE TABLE usage (mine int)")
    with pytest.raises(StoreError, match="usage"):
        upgrade(empty_database)
    assert tables(empty_database) == {"usage"}
    assert version(empty_database) == ""


def test_several_may_upgrade_at_once(empty_database):
    """Of several processes all but the first wait, and find the work done."""
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "VADE_STORAGE__URL": empty_database}
    command = [sys.executable, "-m", "vademecum", "db", "upgrade"]
    running = [subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], said
    assert version(empty_database) == NEWEST
    assert differences(empty_database) == []


def test_a_version_that_is_not_there_is_a_wrong_call(database):
    """The message lists those that are."""
    with pytest.raises(UsageError, match=REVISIONS[0]):
        upgrade(database, "0815")
    with pytest.raises(UsageError, match=REVISIONS[0]):
        downgrade(database, "0815")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match="9999"):
        upgrade(database)


def test_a_server_provides_what_it_has_and_says_what_it_goes_without(empty_database, system_server):
    """The wheel's has vectors and no trigrams, another that is named has both; it is said, and again when asked again."""
    without = "does not have pg_trgm: it goes without names that are spelled nearly so"
    expected = "pg_trgm provides names that are spelled nearly so" if NAMED else without
    said = "\n".join(upgrade(empty_database))
    assert "vector provides searching vectors in the server" in said
    assert expected in said
    assert (without in "\n".join(upgrade(empty_database))) is (expected == without)
    assert [check.ok for check in check_database(empty_database)] == [True] * 6
    url = system_server.create()
    assert "pg_trgm provides" in "\n".join(upgrade(url))
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'trigram_%'").fetchone()
    assert rows == (3,)
    system_server.drop(url)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_of_another_encoding_is_spoken_to_in_ours(wheel_server, encoding):
    """As one made by `initdb` in an environment without a language: text comes back as text, whatever the server would send by itself."""
    name = f"odd_{encoding.lower()}"
    url = wheel_server.url(name)
    with psycopg.connect(wheel_server.url("postgres"), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    try:
        upgrade(url)
        assert version(url) == NEWEST
        store = PostgresStore(url, "code:odd")
        store.upsert("meta", [("who", "Éva")]).unwrap()
        assert store.scan("meta", [("name", "=", "who")]).unwrap() == [("who", "Éva")]
    finally:
        close_all(url)
        wheel_server.drop(url)

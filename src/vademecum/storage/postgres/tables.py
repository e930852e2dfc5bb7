"""All tables as SQLAlchemy metadata: the target of the migrations.

The store itself uses SQL; SQLAlchemy and Alembic are loaded for migrations only.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Column,
    DateTime,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    func,
)
from sqlalchemy import text as sql
from sqlalchemy.types import TypeEngine

from vademecum.storage.postgres.publish import FIELDS
from vademecum.storage.postgres.shape import Kind, Shape, shapes

NAMES = {"pk": "%(table_name)s_pkey", "uq": "%(table_name)s_%(column_0_N_name)s_key"}  # PostgreSQL's own default names


def text() -> Text:
    """Return the text type, compared by bytes."""
    return Text(collation="C")


_TYPES: dict[Kind, TypeEngine[Any]] = {
    "bigint": BigInteger(), "double precision": Double(), "text": text(), "bytea": LargeBinary()
}  # fmt: skip


def every_table() -> MetaData:
    """Return the metadata of the whole database."""
    metadata = MetaData(naming_convention=NAMES)
    Table(  # the owners of rows
        "spaces",
        metadata,
        Column("id", BigInteger, Identity(), primary_key=True),
        Column("name", text(), nullable=False, unique=True),
        Column("made_at", Double, nullable=False),
    )
    Table(  # the last number given in a space, for families that the database numbers
        "counters",
        metadata,
        Column("space_id", BigInteger, primary_key=True, autoincrement=False),
        Column("family", text(), primary_key=True),
        Column("last", BigInteger, nullable=False),
    )
    _jobs_table(metadata)
    _search_tables(metadata)
    for name, shape in shapes().items():
        _family_table(metadata, name, shape)
    return metadata


def _jobs_table(metadata: MetaData) -> None:
    """Add the job queue.

    One job of a source runs at a time, and one waits at each revision.
    """
    now = sql("now()")
    table = Table(
        "jobs",
        metadata,
        Column("id", BigInteger, Identity(), primary_key=True),
        Column("source", text(), nullable=False),
        Column("revision", text(), nullable=False),
        Column("state", text(), nullable=False, server_default="ready"),
        Column("attempts", Integer, nullable=False, server_default="0"),
        Column("lease", BigInteger, nullable=False, server_default="0"),  # counts up, which exposes an outdated holder
        Column("lease_until", DateTime(timezone=True)),
        Column("worker", text(), nullable=False, server_default=""),
        Column("said", text(), nullable=False, server_default=""),
        Column("added_at", DateTime(timezone=True), nullable=False, server_default=now),
        Column("not_before", DateTime(timezone=True), nullable=False, server_default=now),
        Column("ended_at", DateTime(timezone=True)),
    )
    state = table.c.state
    Index("jobs_one_runs", table.c.source, unique=True, postgresql_where=state == "running")
    Index("jobs_one_waits", table.c.source, table.c.revision, unique=True, postgresql_where=state == "ready")
    Index("jobs_in_turn", state, table.c.not_before, table.c.id)


def _search_tables(metadata: MetaData) -> None:
    """Add the search tables, written in batches without updates."""

    def whole(*names: str, of: type[TypeEngine[int]] = Integer) -> list[Column[int]]:
        return [Column(name, of, nullable=False) for name in names]

    Table(
        "search_batches",
        metadata,
        *whole("space_id", of=BigInteger),
        Column("batch", BigInteger, Identity(), nullable=False),
        *whole("documents", *FIELDS, of=BigInteger),
        PrimaryKeyConstraint("space_id", "batch"),
    )
    documents = Table(
        "search_documents",
        metadata,
        *whole("space_id", "batch", of=BigInteger),
        *whole("document"),
        *whole("blob", of=BigInteger),
        *whole("ordinal", *FIELDS),
        PrimaryKeyConstraint("space_id", "batch", "document"),
    )
    Index("search_documents_by_blob", documents.c.space_id, documents.c.blob)
    Table(  # each term's documents in a batch, with frequencies per field
        "search_postings",
        metadata,
        *whole("space_id", "term", "batch", of=BigInteger),
        Column("documents", ARRAY(Integer), nullable=False),
        *(Column(name, ARRAY(SmallInteger), nullable=False) for name in FIELDS),
        PrimaryKeyConstraint("space_id", "term", "batch"),
    )


def _family_table(metadata: MetaData, name: str, shape: Shape) -> None:
    columns = [
        Column(column, _TYPES[kind], nullable=column in shape.nullable) for column, kind in shape.columns.items()
    ]
    table = Table(
        name,
        metadata,
        Column("space_id", BigInteger, nullable=False),
        *columns,
        PrimaryKeyConstraint("space_id", *shape.key),
        *(UniqueConstraint("space_id", *unique) for unique in shape.unique),
    )
    for index, parts in shape.indexes.items():
        Index(
            index,
            table.c.space_id,
            *(func.lower(table.c[part]) if part in shape.folded else table.c[part] for part in parts),
        )

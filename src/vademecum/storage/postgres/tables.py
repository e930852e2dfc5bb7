"""Every table of the database as SQLAlchemy metadata: what migrations must lead to, and nothing that runs beside them.

The store itself speaks SQL; SQLAlchemy and Alembic are loaded for migrations alone.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Identity,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    func,
)
from sqlalchemy.types import TypeEngine

from vademecum.storage.postgres.shape import Kind, Shape, shapes

NAMES = {"pk": "%(table_name)s_pkey", "uq": "%(table_name)s_%(column_0_N_name)s_key"}  # as PostgreSQL itself would


def text() -> Text:
    """Return the type of text, compared by its bytes."""
    return Text(collation="C")


def _type(kind: Kind) -> TypeEngine[Any]:
    kinds: dict[Kind, TypeEngine[Any]] = {
        "bigint": BigInteger(),
        "double precision": Double(),
        "text": text(),
        "bytea": LargeBinary(),
    }
    return kinds[kind]


def every_table() -> MetaData:
    """Return the metadata of the whole database."""
    metadata = MetaData(naming_convention=NAMES)
    Table(  # whose rows are whose
        "spaces",
        metadata,
        Column("id", BigInteger, Identity(), primary_key=True),
        Column("name", text(), nullable=False, unique=True),
        Column("made_at", Double, nullable=False),
    )
    Table(  # the last number given in a space, for families whose rows are numbered by the database
        "counters",
        metadata,
        Column("space", BigInteger, primary_key=True, autoincrement=False),
        Column("family", text(), primary_key=True),
        Column("last", BigInteger, nullable=False),
    )
    for name, shape in shapes().items():
        _family_table(metadata, name, shape)
    return metadata


def _family_table(metadata: MetaData, name: str, shape: Shape) -> None:
    columns = [Column(column, _type(kind), nullable=column in shape.nullable) for column, kind in shape.columns.items()]
    table = Table(
        name,
        metadata,
        Column("space", BigInteger, nullable=False),
        *columns,
        PrimaryKeyConstraint("space", *shape.key),
        *(UniqueConstraint("space", *unique) for unique in shape.unique),
    )
    for index, parts in shape.indexes.items():
        Index(
            index,
            table.c.space,
            *(func.lower(table.c[part]) if part in shape.folded else table.c[part] for part in parts),
        )

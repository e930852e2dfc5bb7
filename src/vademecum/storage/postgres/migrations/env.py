"""Alembic's environment, after its async template.

Migrations run over one connection, in one transaction.
"""

from __future__ import annotations

import asyncio
from functools import partial

from alembic import context
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from vademecum.storage.postgres.connect import CONNECT_SECONDS, ENCODING, LOCK, WatchedAsync, lives


def run_migrations(connection: Connection) -> None:
    """Run the migrations on a connection.

    A second process waits until the first has finished, then finds nothing to do.
    """
    context.configure(connection=connection, transaction_per_migration=False)
    with context.begin_transaction():
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        context.run_migrations()


async def run_async_migrations() -> None:
    """Open a psycopg connection and run the migrations."""
    url = context.config.attributes["url"]

    async def connected() -> WatchedAsync:
        connection = await WatchedAsync.connect(url, client_encoding=ENCODING, connect_timeout=CONNECT_SECONDS)
        connection.lives = partial(lives, url, CONNECT_SECONDS)
        return connection

    engine = create_async_engine("postgresql+psycopg://", async_creator=connected, poolclass=NullPool)
    async with engine.connect() as connection:
        await connection.run_sync(run_migrations)
    await engine.dispose()


if getattr(context, "config", None) is not None:  # Alembic runs this module; it is not merely imported
    asyncio.run(run_async_migrations())

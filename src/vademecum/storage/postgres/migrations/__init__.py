"""Alembic's environment, and the migrations: a file of SQL for each version."""

from __future__ import annotations

import re
from pathlib import Path

from alembic import op

SCRIPTS = Path(__file__).with_name("versions")


def statements(script: str) -> list[str]:
    """Return the statements of a script, in order."""
    return [each for each in (SCRIPTS / script).read_text(encoding="utf-8").split(";") if each.strip()]


def create(script: str) -> None:
    """Run a script, inside a migration."""
    for statement in statements(script):
        op.execute(statement)


def drop(script: str) -> None:
    """Drop the tables that a script creates, inside a migration."""
    tables = re.findall(r"CREATE TABLE (\w+)", "".join(statements(script)))
    op.execute(f"DROP TABLE {', '.join(tables)}")

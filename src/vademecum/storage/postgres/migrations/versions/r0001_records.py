"""The tables of all record families, and their spaces."""

from vademecum.storage.postgres.migrate import create, drop

revision, down_revision = "0001", None


def upgrade() -> None:
    """Create the tables."""
    create("0001_records.sql")


def downgrade() -> None:
    """Drop the tables with their contents."""
    drop("0001_records.sql")

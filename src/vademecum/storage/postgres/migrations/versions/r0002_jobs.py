"""The queue of repositories to index."""

from vademecum.storage.postgres.migrate import create, drop

revision, down_revision = "0002", "0001"


def upgrade() -> None:
    """Create the queue."""
    create("0002_jobs.sql")


def downgrade() -> None:
    """Drop the queue with its jobs."""
    drop("0002_jobs.sql")

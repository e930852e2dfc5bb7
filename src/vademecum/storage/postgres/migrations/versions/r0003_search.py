"""The server's search tables: documents, lengths and postings."""

from vademecum.storage.postgres.migrate import create, drop

revision, down_revision = "0003", "0002"


def upgrade() -> None:
    """Create the tables; `vade index` fills them."""
    create("0003_search.sql")


def downgrade() -> None:
    """Drop the tables, which hold only derived data."""
    drop("0003_search.sql")

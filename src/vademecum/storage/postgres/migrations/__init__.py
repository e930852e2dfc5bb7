"""Alembic's environment: how migrations are run, and each of them."""

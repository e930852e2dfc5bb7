"""Alembic's environment and the migrations."""

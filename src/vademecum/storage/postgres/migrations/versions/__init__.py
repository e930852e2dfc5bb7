"""Database versions in order; released ones are never edited."""

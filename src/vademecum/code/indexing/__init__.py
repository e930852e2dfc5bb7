"""Indexing: workers, embedding, refreshing, watching."""

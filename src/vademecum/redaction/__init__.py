"""Redaction of secrets in all that is kept: events, documents, traces."""

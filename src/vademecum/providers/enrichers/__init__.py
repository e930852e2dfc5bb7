"""Enrichers: one sentence that describes a chunk of code."""

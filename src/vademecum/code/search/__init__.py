"""Searching code: signals, ranking, evidence, verdict."""

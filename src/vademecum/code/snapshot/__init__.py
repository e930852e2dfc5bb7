"""Snapshots: which content stands at which path, as arrays."""

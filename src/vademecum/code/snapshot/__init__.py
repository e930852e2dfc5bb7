"""Snapshots: the content at each path, as records and arrays."""

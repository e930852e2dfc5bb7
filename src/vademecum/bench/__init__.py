"""Benchmark of the engine on the user's own repository.

The questions come from the repository itself.
"""

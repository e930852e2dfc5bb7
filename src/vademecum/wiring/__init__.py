"""Wiring: the only place where parts meet."""

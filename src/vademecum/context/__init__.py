"""Contexts: the choice of code and notes within a budget."""

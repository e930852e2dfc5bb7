"""Answers as text for agents and terminals, and as JSON."""

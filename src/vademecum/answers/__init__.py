"""Answers: how much is shown of each result, as text for agents and terminals and as JSON."""

"""Hooks of coding agents: what they call, and the inbox they write to."""

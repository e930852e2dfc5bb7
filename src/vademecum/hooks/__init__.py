"""Hooks of coding agents: the commands and their inbox."""

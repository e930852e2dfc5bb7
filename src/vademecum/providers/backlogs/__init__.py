"""Backlogs: issues, work items and tasks, one file per server."""

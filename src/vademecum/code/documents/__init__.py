"""Backlogs and document sources beside the code."""

"""Backlogs: issues, work items and tasks, one file for each server that keeps them."""

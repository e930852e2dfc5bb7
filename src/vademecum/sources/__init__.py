"""Backlogs and sources of documents: fetched, kept, and brought up to date."""

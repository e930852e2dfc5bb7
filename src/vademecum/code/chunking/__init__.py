"""Cutting a file into chunks, and describing each."""

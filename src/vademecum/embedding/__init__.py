"""Embedders that wrap other embedders.

One joins an embedder for code with one for prose; one keeps working while another fails.
"""

"""Embedders made of other embedders."""

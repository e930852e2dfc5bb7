"""Embedders: text to vectors. `static` is the built-in default."""

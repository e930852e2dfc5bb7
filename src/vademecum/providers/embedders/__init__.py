"""Embedders: text to vectors. `static` is built in, `hashing` needs nothing at all."""

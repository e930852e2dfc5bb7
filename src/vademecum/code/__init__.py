"""Code and documents: indexing and searching.

`indexing.index` indexes and `search.search` searches. `checkout.walk` lists files, `chunking.analyse` turns one file's
content into chunks, terms and vectors, and `snapshot` stores which content stands at which path.
"""

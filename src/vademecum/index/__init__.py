"""The search library of code, memory and tools.

`tokenize` cuts text into terms. `arrays` are counted and kept in files, and `segment` holds documents in them. `bm25`
scores documents by the fields of a schema, `segment` by meaning; `fusion` makes a ranking of scores. `query` reads
questions about code.
"""

"""Ranking, shared by every capability: pure functions over arrays, and the arrays themselves.

`tokens` cuts text into terms; `postings` and `segment` hold what was indexed; `view` is one snapshot of it; `lexical`,
`dense` and `features` are the signals; `fusion` and `rank` join them; `confidence` says how far to trust the result.
"""

"""Find code: where a thing is, what uses it, what to read.

The flow in is told by `index`, the flow out by `search`. `walk` lists files, `analyse` turns one file's content into
chunks, terms and vectors, `snapshot` keeps which content stands at which path.
"""

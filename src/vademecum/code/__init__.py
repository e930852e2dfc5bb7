"""Code and documents: where is it, what is it, what must be read to change it?

The flow in is told by `index`, the flow out by `search`. `walk` lists files, `analyse` turns one file's content into
chunks, terms and vectors, `snapshot` keeps which content stands at which path.
"""

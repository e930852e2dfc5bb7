"""Routes: one module per part of the API.

Each route asks the engine and returns the same records as `--json` on the command line.
"""

"""`vade serve`: the HTTP server with page, metrics and MCP.

It serves the engine to programs, a page to people, metrics, and MCP to agents. All logic is in the engine.
"""

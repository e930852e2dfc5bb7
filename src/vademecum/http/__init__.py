"""`vade serve`: the engine over HTTP, with the page for people, metrics, and MCP for agents. No logic of its own."""

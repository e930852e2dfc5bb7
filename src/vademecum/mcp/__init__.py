"""The MCP server: tools in `registry`, the protocol in `loop`."""

"""The engine for coding agents, over the Model Context Protocol: the tools in `registry`, the wire in `stdio`."""

"""The graph: declarations as nodes, references resolved to edges."""

"""Who refers to whom: definitions as nodes, references resolved to them as edges, each with how it is known."""

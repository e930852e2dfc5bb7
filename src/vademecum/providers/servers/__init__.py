"""Tool servers: processes, HTTP addresses, and the files that name them."""

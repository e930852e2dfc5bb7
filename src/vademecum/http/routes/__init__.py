"""One module per part of the API: each route asks the engine and hands on what the command line prints as JSON."""

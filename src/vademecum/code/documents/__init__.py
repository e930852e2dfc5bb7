"""Documents and issues beside the code."""

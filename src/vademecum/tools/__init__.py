"""Find the fitting tool, the next call and the whole plan."""

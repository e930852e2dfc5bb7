"""Which tool fits, which call comes next, and what the whole plan is."""

"""What says in one sentence what a piece of code does."""

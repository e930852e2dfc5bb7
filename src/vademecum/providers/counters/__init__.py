"""Token counters, one file each."""

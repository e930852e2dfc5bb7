"""Everything outside the process, and everything that can be swapped: one file each, loaded by name."""

"""Providers: everything outside the process that can be swapped."""

"""PostgreSQL as a store for many machines.

One database has a space for each repository, memory and owner.
"""

"""PostgreSQL as a store for many machines: one database, a space for each repository, memory and owner in it."""

"""Record stores behind one narrow interface, `protocols.Store`.

Each family of records has its own schema; the interface is the same for all.
"""

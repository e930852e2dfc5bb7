"""Joining coding agents: which there are, where they keep their settings, and putting our part in and out again.

The flow is told by `install`: find the agents, plan what each file would become, show it, write it down in the journal,
replace the files. Every format has a module of its own that changes text and never rewrites what others wrote.
"""

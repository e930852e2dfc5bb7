"""Installation into coding agents: their settings, our parts, and removal.

`install` has the flow: find the agents, plan each file's new content, show the plan, record it in the journal, replace
the files. Each format has its own module, which edits text and never rewrites others' entries.
"""

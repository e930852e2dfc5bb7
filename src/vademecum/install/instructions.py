"""What agents are told: when to use vademecum, and when not to."""

INSTRUCTIONS = """\
## vademecum

The MCP server `vademecum` (on the command line `vade`) finds code in this repository and remembers the work.

Use it
- to find code by what it does: `search` with a question in plain words, then `open` the lines it names;
- before a change: `context` with the task gathers what to read, within a budget;
- for where a name is defined: `symbol`; for what was decided, and why: `recall`; for a decision worth keeping: `remember`.

Do not use it
- for an exact string: grep is quicker;
- for a file whose path you know: read it;
- again after `not_found`: rephrase once at most, then say that it is not there.
"""

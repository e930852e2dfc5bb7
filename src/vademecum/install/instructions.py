"""Instructions for agents: when to use vademecum, and when not to."""

INSTRUCTIONS = """\
## vademecum

The MCP server `vademecum` (on the command line `vade`) finds code in this repository by meaning, knows who calls what,
and remembers the work.

Use it
- to find where something is done or decided: `search` with a question in plain words;
- before you change a function: `symbol` with relation `impact`: who calls it, what may break, which tests to run;
- before a larger change: `context` with the whole issue: what to read, within a budget;
- for what was decided or preferred before, and why: `recall`; for a decision worth keeping: `remember`.

Do not use it
- for an exact string: grep is quicker;
- for a file whose path you know: read it;
- again after `not_found`: rephrase once at most, then say that it is not there.
"""

"""Texts for agents: instructions, the skill and the explorer subagent.

Each agent has its own form of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NAME = "vademecum-explorer"
RULES = "instructions"  # for every session
SKILL, EXPLORER = "skill", "explorer"  # also the names of the Markdown files beside this module
SAID = {
    SKILL: "Finds code in this repository by meaning, says who calls a function, what a change may break and which tests "
    "to run, and recalls what was decided. Use it before you change, rename or delete a function, when you look for where "
    "something is done or decided and do not know the exact words, when you start on an issue, and when you ask what was "
    "agreed before. Not for exact strings (grep) or files whose path you know.",
    EXPLORER: "Answers where something is done in this repository and how it works, with path:lines and reasons, by meaning "
    "and call graph. Use it for questions that take several searches, and before a change to learn what the change touches. "
    "It reads and never edits.",
}
_TOOLS = ("search", "context", "symbol", "recall")
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


@dataclass(frozen=True, slots=True)
class Text:
    """An agent's file with one of our texts."""

    file: str  # template of its path
    head: str = ""  # the beginning of a file that we create
    of: str = RULES
    format: str = "markdown"  # a key of `formats`

    def words(self) -> str:
        """Return the content of the file below its head."""
        said = INSTRUCTIONS if self.of == RULES else body(self.of)
        if self.format == "markdown":
            return said
        return (
            f'name = "{NAME}"\ndescription = "{SAID[self.of]}"\nsandbox_mode = "read-only"\n'
            f"developer_instructions = '''\n{said}'''\n"
        )


def texts(agent: str, skills: str, agents: str) -> tuple[Text, Text]:
    """Return an agent's skill and explorer, for its folders of each."""
    skill = Text(f"{skills}/vademecum/SKILL.md", front_matter("name: vademecum", f"description: {SAID[SKILL]}"), SKILL)
    if agent == "codex":
        return skill, Text(f"{agents}/{NAME}.toml", "", EXPLORER, "toml-file")
    head = gemini_head() if agent == "gemini" else claude_head(NAME)
    return skill, Text(f"{agents}/{NAME}.md", head, EXPLORER)


def body(of: str) -> str:
    """Return a text without its head."""
    return Path(__file__).with_name(f"{of}.md").read_text(encoding="utf-8")


def claude_head(name: str, server: str = "mcp__vademecum__") -> str:
    """Return the front matter of Claude Code's explorer.

    `server` is the prefix of our tools' names there.

    >>> print(claude_head("explorer").splitlines()[3])
    tools: mcp__vademecum__search, mcp__vademecum__context, mcp__vademecum__symbol, mcp__vademecum__recall, Read, Grep
    """
    tools = ", ".join([*(server + tool for tool in _TOOLS), "Read", "Grep"])
    return front_matter(f"name: {name}", f"description: {SAID[EXPLORER]}", f"tools: {tools}")


def gemini_head() -> str:
    """Return the front matter of Gemini CLI's explorer."""
    tools: Sequence[str] = [*(f"mcp_vademecum_{tool}" for tool in _TOOLS), "read_file", "grep_search"]
    listed = "\n".join(["tools:", *(f"  - {tool}" for tool in tools)])
    return front_matter(f"name: {NAME}", f"description: {SAID[EXPLORER]}", "kind: local", listed)


def front_matter(*lines: str) -> str:
    """Return lines as the front matter of a Markdown file."""
    return "\n".join(["---", *lines, "---", "", ""])

"""Texts in files of their own: the skill, and the subagent that explores, in the form of each agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NAME = "vademecum-explorer"
SKILL, EXPLORER = "skill", "explorer"  # each is also the name of the file beside this one that holds the words
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


@dataclass(frozen=True, slots=True)
class Text:
    """A file of an agent that holds one of our texts.

    Attributes:
        file: Template of its path.
        of: Which text: `SKILL` or `EXPLORER`.
        head: What the file opens with.
        format: A key of `formats`.
    """

    file: str
    of: str
    head: str
    format: str = "markdown"

    def words(self) -> str:
        """Return what the file says below its head."""
        said = body(self.of)
        if self.format == "markdown":
            return said
        return (
            f'name = "{NAME}"\ndescription = "{SAID[self.of]}"\nsandbox_mode = "read-only"\n'
            f"developer_instructions = '''\n{said}'''\n"
        )


def claude_texts(place: str) -> tuple[Text, ...]:
    """Return the texts that Claude Code reads in its directory."""
    return _skill(f"{place}/skills"), Text(f"{place}/agents/{NAME}.md", EXPLORER, claude_head(NAME))


def codex_texts(skills: str, place: str) -> tuple[Text, ...]:
    """Return the texts that Codex reads: skills in a directory of their own, a subagent in its settings'."""
    return _skill(skills), Text(f"{place}/agents/{NAME}.toml", EXPLORER, "", "toml-file")


def gemini_texts(place: str) -> tuple[Text, ...]:
    """Return the texts that Gemini CLI reads in its directory."""
    return _skill(f"{place}/skills"), Text(f"{place}/agents/{NAME}.md", EXPLORER, gemini_head())


def body(of: str) -> str:
    """Return the words of a text, without any head."""
    return Path(__file__).with_name(f"{of}.md").read_text(encoding="utf-8")


def skill_head() -> str:
    """Return the front matter of a skill, as all agents read it."""
    return _front("name: vademecum", f"description: {SAID[SKILL]}")


def claude_head(name: str, server: str = "mcp__vademecum__") -> str:
    """Return the front matter of Claude Code's explorer; `server` is what the names of our tools begin with there.

    >>> print(claude_head("explorer").splitlines()[3])
    tools: mcp__vademecum__search, mcp__vademecum__context, mcp__vademecum__symbol, mcp__vademecum__recall, Read, Grep
    """
    tools = ", ".join([*(server + tool for tool in _TOOLS), "Read", "Grep"])
    return _front(f"name: {name}", f"description: {SAID[EXPLORER]}", f"tools: {tools}")


def gemini_head() -> str:
    """Return the front matter of Gemini CLI's explorer."""
    tools: Sequence[str] = [*(f"mcp_vademecum_{tool}" for tool in _TOOLS), "read_file", "grep_search"]
    listed = "\n".join(["tools:", *(f"  - {tool}" for tool in tools)])
    return _front(f"name: {NAME}", f"description: {SAID[EXPLORER]}", "kind: local", listed)


def _skill(skills: str) -> Text:
    return Text(f"{skills}/vademecum/SKILL.md", SKILL, skill_head())


def _front(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "", ""])

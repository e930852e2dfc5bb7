"""Import statements as rows, and the parts that languages share.

A row is (local name, module, name in the module). The name is "" where the module itself is bound, "*" where everything
in the module is; the local name is "" where nothing is bound but the module is read. Modules are spelled as the language
spells them; `modules` finds their files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

Bound = tuple[str, str, str]

HASHED = r"#[^\n]*"
SLASHED = r"//[^\n]*|/\*.*?\*/"  # of statements, with re.DOTALL
QUOTED = r"[\"'`]([^\"'`\n]*)[\"'`]"
RENAMED = r"\s+as\s+"


def text_of(node: tree_sitter.Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode(errors="ignore")


def without_comments(statement: str, pattern: str = SLASHED) -> str:
    """Return a statement without its comments."""
    return re.sub(pattern, "", statement, flags=re.DOTALL)


def in_one_line(statement: str) -> str:
    """Return a statement with single blanks, without the semicolon."""
    return " ".join(statement.split()).rstrip("; ")


def named_in(text: str, by: str = "") -> Iterator[tuple[str, str]]:
    """Yield (name, local name) of a list with renamed names.

    `as` renames, or the sign `by`.
    """
    for part in text.split(","):
        words = part.split(by) if by else re.split(RENAMED, part.strip())
        name = words[0].strip().removeprefix("type ").strip()
        local = words[-1].partition("=")[0].strip() if len(words) > 1 else name.partition("=")[0].strip()
        if name and not name.startswith("..."):
            yield name.partition("=")[0].strip(), local

"""A marked block in a text: insertion and removal.

Blocks hold instructions in Markdown, and our own files in YAML, TOML and JavaScript. The hint holds:

glue        the line ends put before the block, so that an empty line precedes it
headed      the file was empty, and its head is ours
replaced    the earlier block
"""

from __future__ import annotations

import re

from vademecum.install.part import EditError, Hint, Part, newline_of

BEGIN = "vademecum:begin -- `vade uninstall` removes this block"
END = "vademecum:end"
_MARKS = {"markdown": ("<!-- ", " -->"), "yaml-file": ("# ", ""), "toml-file": ("# ", ""), "javascript": ("// ", "")}


def upsert(text: str, part: Part) -> tuple[str, Hint]:
    """Insert the block; return the text and a hint for removal.

    The hint is empty if the block was already there.

    Raises:
        EditError: a block has no end, or there are several blocks.
    """
    newline = newline_of(text)
    block = _block(part).replace("\n", newline)
    span = _span(text, part)
    if span is not None:
        there = text[slice(*span)]
        if there.rstrip("\r\n") == block.rstrip("\r\n"):
            return text, {}
        block = block if there.endswith("\n") else block.rstrip("\r\n")
        return text[: span[0]] + block + text[span[1] :], {"replaced": there}
    if not text:
        return part.head + block, {"headed": True}
    glue = newline if text.endswith("\n") else newline * 2
    return text + glue + block, {"glue": glue}


def remove(text: str, part: Part, hint: Hint) -> str:
    """Return the text without the block.

    The earlier text is restored, except for others' later changes. Raises as `upsert` does.
    """
    span = _span(text, part)
    if span is None:
        return text
    start, end = span
    if "replaced" in hint:
        return text[:start] + str(hint["replaced"]) + text[end:]
    kept = text[:start].removesuffix(str(hint.get("glue", "")))
    if text[end:] and kept and not kept.endswith("\n"):  # others appended text: it must begin on its own line
        kept += newline_of(text)
    kept += text[end:]
    return "" if hint.get("headed") and kept.strip() == part.head.strip() else kept


def _block(part: Part) -> str:
    opening, closing = _MARKS[part.format]
    return f"{opening}{BEGIN}{closing}\n{str(part.value).strip()}\n{opening}{END}{closing}\n"


def _span(text: str, part: Part) -> tuple[int, int] | None:
    opening, closing = map(re.escape, _MARKS[part.format])
    begins = list(re.finditer(rf"^{opening}vademecum:begin\b[^\r\n]*{closing}[ \t]*\r?$", text, re.MULTILINE))
    ends = list(re.finditer(rf"^{opening}vademecum:end{closing}[ \t]*(?:\r?\n|\Z)", text, re.MULTILINE))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        raise EditError("its vademecum block does not begin and end once: mend the marks, or take them out")
    return begins[0].start(), ends[0].end()

"""A marked block of lines into a text and out of it: instructions in Markdown, files of our own in YAML, TOML and JavaScript.

glue        what was put before the block, so that an empty line stands between it and what is there
headed      the file held nothing, and what it opens with is ours
replaced    the block that was there before
"""

from __future__ import annotations

import re

from vademecum.install.part import EditError, Hint, Part, newline_of

BEGIN = "vademecum:begin -- `vade uninstall` removes this block"
END = "vademecum:end"
_MARKS = {"markdown": ("<!-- ", " -->"), "yaml-file": ("# ", ""), "toml-file": ("# ", ""), "javascript": ("// ", "")}


def upsert(text: str, part: Part) -> tuple[str, Hint]:
    """Return the text with the block in it, and the hint that undoes it; the hint is empty where it was there already.

    Raises:
        EditError: a block begins and does not end, or there are several.
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
    """Return the text without the block: as it was, but for what others changed since. Raises as `upsert` does."""
    span = _span(text, part)
    if span is None:
        return text
    start, end = span
    if "replaced" in hint:
        return text[:start] + str(hint["replaced"]) + text[end:]
    kept = text[:start].removesuffix(str(hint.get("glue", "")))
    if text[end:] and kept and not kept.endswith("\n"):  # others wrote behind us: their line begins after a line's end
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

"""File formats: one function to add a part, one to remove it.

JSON, TOML and YAML have modules of their own. Here is the marked block, for instructions in Markdown and for our own
files in YAML, TOML and JavaScript. A block's hint holds:

    glue        the line ends put before the block, so that an empty line precedes it
    headed      the file was empty, and its head is ours
    replaced    the earlier block
"""

from __future__ import annotations

import re
from collections.abc import Callable

from vademecum.install import json_text, toml_text
from vademecum.install.part import EditError, Hint, Part, cut, newline_of

BOM = "\ufeff"
BEGIN = "vademecum:begin -- `vade uninstall` removes this block"
END = "vademecum:end"
_MARKS = {"markdown": ("<!-- ", " -->"), "yaml-file": ("# ", ""), "toml-file": ("# ", ""), "javascript": ("// ", "")}


def upsert(text: str, part: Part) -> tuple[str, Hint]:
    """Insert the part; return the text and a hint for removal.

    The hint is {} if the part was already there.

    Raises:
        EditError: the text breaks its format, or the part cannot be added.
    """
    mark, text = _split_mark(text)
    text, hint = _editor(part)[0](text, part)
    return mark + text, hint


def remove(text: str, part: Part, hint: Hint) -> str:
    """Return the text without the part.

    The earlier text is restored, except for others' later changes. Raises as `upsert` does.
    """
    mark, text = _split_mark(text)
    return mark + _editor(part)[1](text, part, hint)


def _editor(part: Part) -> tuple[Callable[[str, Part], tuple[str, Hint]], Callable[[str, Part, Hint], str]]:
    """Return the two functions of a part's format."""
    match part.format:
        case "json" | "jsonc":
            return json_text.upsert, json_text.remove
        case "toml":
            return toml_text.upsert, toml_text.remove
        case "yaml":
            from vademecum.install import yaml_text

            return yaml_text.upsert, yaml_text.remove
    return _upsert_block, _remove_block


def decoded(content: bytes) -> str:
    """Return a file's content as text. Raises `EditError` unless UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditError("it is not UTF-8") from error


def _split_mark(text: str) -> tuple[str, str]:
    return text[: text.startswith(BOM)], text.removeprefix(BOM)


def _upsert_block(text: str, part: Part) -> tuple[str, Hint]:
    newline = newline_of(text)
    opening, closing = _MARKS[part.format]
    block = f"{opening}{BEGIN}{closing}\n{str(part.value).strip()}\n{opening}{END}{closing}\n".replace("\n", newline)
    span = _block_span(text, part)
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


def _remove_block(text: str, part: Part, hint: Hint) -> str:
    span = _block_span(text, part)
    if span is None:
        return text
    rest = cut(text, span, hint)
    return "" if hint.get("headed") and rest.strip() == part.head.strip() else rest


def _block_span(text: str, part: Part) -> tuple[int, int] | None:
    opening, closing = map(re.escape, _MARKS[part.format])
    begins = list(re.finditer(rf"^{opening}vademecum:begin\b[^\r\n]*{closing}[ \t]*\r?$", text, re.MULTILINE))
    ends = list(re.finditer(rf"^{opening}vademecum:end{closing}[ \t]*(?:\r?\n|\Z)", text, re.MULTILINE))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        raise EditError("its vademecum block does not begin and end once: mend the marks, or take them out")
    return begins[0].start(), ends[0].end()

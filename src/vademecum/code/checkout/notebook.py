"""Jupyter notebooks: the text of their cells, line by line.

Each line stands where it does in the file. Cells of code are read in the kernel's language, cells of prose as
comments; outputs are blank. A mark begins each cell, as the percent format has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_KERNEL = re.compile(rb'"language_info":\s*\{[^\[\]]*?"name":\s*"([\w#+-]+)"|"language":\s*"([\w#+-]+)"')
_KIND = re.compile(rb'(\s*)"cell_type":\s*"(\w+)"')
_SOURCE = re.compile(rb'(\s*)"source":\s*(?:(\[\s*)|("[^\n]*"))\s*,?\s*')
_LINE = re.compile(rb'\s*("(?:[^"\\]|\\.)*"),?\s*')
_SLASHES = {"c", "c++", "c#", "f#", "go", "java", "javascript", "kotlin", "rust", "scala", "swift", "typescript"}
# Magic whose cell is code all the same.
_CODE = re.compile(r"%%(?:time|timeit|capture|prun|memit)\b")
_MAGIC = re.compile(r"(\s*)(%{1,2}[a-zA-Z]|[!?]|[\w.]+\?+\s*$)")


def cells(content: bytes) -> bytes | None:
    r"""Return the text of a notebook's cells, None without line breaks.

    The line above the first cell names the language. The text has as many lines as the file.

    >>> cells(b'{\n"cells": [{\n"cell_type": "code",\n"source": [\n"a = \\"b\\"\\n"\n]\n}]\n}').decode().split("\n")
    ['', '', '#!python', '# %%', 'a = "b"', '', '', '']
    """
    found = _KERNEL.search(content, content.rfind(b'"metadata"')) or _KERNEL.search(content)
    language = (found[1] or found[2]).decode().lower().removeprefix("i") if found else "python"
    lines = content.split(b"\n")
    try:
        texts = list(_texts(lines, "// " if language in _SLASHES else "# "))
    except ValueError:  # a line that holds several
        return None
    if not any(texts):
        return None
    first = next(number for number, text in enumerate(texts) if text)
    texts[first - 1] = f"#!{language}"
    return "\n".join(texts).encode("utf-8", "replace")


def _texts(lines: list[bytes], mark: str) -> Iterator[str]:
    indent, kind, inside, is_code = b"", b"", False, True
    for line in lines:
        text = ""
        if inside:
            found = _LINE.fullmatch(line)
            inside = found is not None
            text = _said(found[1]) if found else ""
            if text.startswith("%%"):
                is_code = bool(_CODE.match(text))
            text = _code(text, mark) if is_code else f"{mark}{text}" if text else ""
        elif found := _KIND.match(line):
            indent, kind = found.groups()
        elif kind and (found := _SOURCE.fullmatch(line)) and found[1] == indent:
            inside, is_code = found[2] is not None, kind == b"code"
            cell = "" if is_code else f" [{kind.decode()}]"
            text = f"{mark}%%{cell}"
            if found[3] and found[3] != b'""':
                text = _code(_said(found[3]), mark) if is_code else mark + _said(found[3])
        yield text


def _said(quoted: bytes) -> str:
    """Return the one line that a string of JSON holds."""
    text = str(json.loads(quoted)).removesuffix("\n").removesuffix("\r")
    if "\n" in text:
        raise ValueError
    return text


def _code(text: str, mark: str) -> str:
    """Return a line of code, a comment where the notebook runs it."""
    return _MAGIC.sub(rf"\1{mark}\2", text, count=1) if _MAGIC.match(text) else text

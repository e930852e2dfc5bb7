"""Attachments: text files of an item, fetched as sections of its document.

Names and sizes decide before anything is fetched; pictures, archives and large files are left out. So is a file that is
gone or closed to the key. A server that fails ends the run as it does anywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from vademecum.items import Attachment
from vademecum.providers.document_formats import PAGES, SUFFIXES, WORD, UnreadableError, markdown_from
from vademecum.providers.web import Web

DATA = (
    *(".log", ".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".csv", ".tsv", ".xml", ".sql", ".diff", ".patch"),
    *(".py", ".js", ".ts", ".java", ".go", ".rs", ".rb", ".php", ".c", ".h", ".cpp", ".cs", ".sh", ".ps1"),
)  # fmt: skip
MOST_FILES = 20  # of one item
MOST_BYTES = 500_000  # of one file
_FENCES = re.compile(r"^`{3,}", re.MULTILINE)


class Told(NamedTuple):
    """A file as its server lists it, before fetching."""

    name: str
    url: str
    size: int  # bytes; 0 if unknown


def is_text(name: str) -> bool:
    """Return whether a file of this name is fetched.

    >>> is_text("Notes.MD"), is_text("trace.log"), is_text("screen.png")
    (True, True, False)
    """
    return name.lower().endswith((*SUFFIXES, *DATA))


def attachments(web: Web, told: Iterable[Told]) -> tuple[Attachment, ...]:
    """Fetch the text files among a server's files. Raises `SyncError`."""
    wanted = [each for each in told if each.url and is_text(each.name) and each.size <= MOST_BYTES][:MOST_FILES]
    found = ((each.name, web.file(each.url, MOST_BYTES)) for each in wanted)
    read = ((name, _markdown(name, content)) for name, content in found if content is not None)
    return tuple(Attachment(name, text) for name, text in read if text.strip())


def _markdown(name: str, content: bytes) -> str:
    """Return a file as Markdown, fenced unless prose; "" for no text."""
    lowered = name.lower()
    if not lowered.endswith(WORD) and b"\0" in content[:8192]:
        return ""
    try:
        text = markdown_from(name, content)
    except UnreadableError:
        return ""
    if lowered.endswith((".md", ".markdown", ".mdx", *PAGES, WORD)):
        return text
    fence = "`" * max(3, 1 + max((len(each) for each in _FENCES.findall(text)), default=0))
    return f"{fence}\n{text.rstrip()}\n{fence}" if text.strip() else ""

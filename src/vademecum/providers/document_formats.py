"""Document files to Markdown: Markdown, plain text, HTML, and Word's `.docx`.

A `.docx` is a zip archive. Its words are paragraphs (`w:p`) of runs (`w:t`) in `word/document.xml`; heading styles are
called `Heading1` to `Heading6` (ECMA-376, WordprocessingML). Pictures, notes and formatting are left out.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from vademecum.providers.markup import markdown_of

TEXTS = (".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ".asciidoc", ".org")
PAGES = (".html", ".htm", ".xhtml")
WORD = ".docx"
SUFFIXES = (*TEXTS, *PAGES, WORD)
MOST_BYTES = 2_000_000
MOST_WORD_BYTES = 32_000_000  # of an archive, pictures included
MOST_XML_BYTES = 32_000_000  # of its words, unpacked
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


class UnreadableError(Exception):
    """A file is too large to be a document, or damaged."""


def most_bytes(path: str) -> int:
    """Return the size limit, in bytes, for a file of this name."""
    return MOST_WORD_BYTES if path.lower().endswith(WORD) else MOST_BYTES


def markdown_from(path: str, content: bytes) -> str:
    """Return a file's content as Markdown, by suffix. Raises `UnreadableError`."""
    if len(content) > most_bytes(path):
        raise UnreadableError
    if path.lower().endswith(WORD):
        return _word(content)
    text = content.decode("utf-8-sig", "replace")
    return markdown_of(text) if path.lower().endswith(PAGES) else text


def _word(content: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            inner = archive.getinfo("word/document.xml")
            if inner.file_size > MOST_XML_BYTES:
                raise UnreadableError
            with archive.open(inner) as opened:
                xml = opened.read(MOST_XML_BYTES + 1)
        # writers declare none; a DOCTYPE could name files or expand
        if len(xml) > MOST_XML_BYTES or b"<!DOCTYPE" in xml[:4096]:
            raise UnreadableError
        body = ET.fromstring(xml).find(f"{_W}body")  # noqa: S314 - without a DOCTYPE there are no entities to expand
    except (zipfile.BadZipFile, KeyError, ET.ParseError, RuntimeError, NotImplementedError, EOFError) as error:
        raise UnreadableError from error
    return "\n\n".join(_paragraphs(body)) if body is not None else ""


def _paragraphs(body: ET.Element) -> Iterator[str]:
    for block in body:
        if block.tag == f"{_W}tbl":
            yield _table(block)
        elif block.tag == f"{_W}p" and (text := _text(block)):
            yield _styled(block, text)


def _styled(paragraph: ET.Element, text: str) -> str:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    name = (style.get(f"{_W}val") or "" if style is not None else "").lower()
    level = name.removeprefix("heading").strip()
    if name == "title":
        return f"# {text}"
    if name.startswith("heading") and level in set("123456"):
        return f"{'#' * int(level)} {text}"
    return f"- {text}" if paragraph.find(f"{_W}pPr/{_W}numPr") is not None else text


def _table(table: ET.Element) -> str:
    rows = [
        [" ".join(map(_text, cell.iter(f"{_W}p"))) for cell in row.iter(f"{_W}tc")] for row in table.iter(f"{_W}tr")
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines[:1], "|" + " --- |" * len(rows[0]), *lines[1:]]) if rows else ""


def _text(paragraph: ET.Element) -> str:
    said = []
    for node in paragraph.iter():
        if node.tag == f"{_W}t":
            said.append(node.text or "")
        elif node.tag in {f"{_W}tab", f"{_W}br"}:
            said.append(" ")
    return "".join(said).strip()

"""HTML, Word's files and attachments to Markdown.

    <h2>Why</h2><p>It <b>fails</b> <a href="https://e.org/x">here</a>.</p>   →   ## Why, It **fails** [here](https://e.org/x).

Styles and scripts are dropped. Confluence's storage format, which is XHTML with its own elements, works too: code macros, links
to pages, task lists. The parser is the standard library's, which accepts unclosed elements: editors and people write such
pages.

A `.docx` is a zip archive. Its words are paragraphs (`w:p`) of runs (`w:t`) in `word/document.xml`; heading styles are
called `Heading1` to `Heading6` (ECMA-376, WordprocessingML). Pictures, notes and formatting are left out.

Attachments are text files of an item, fetched as sections of its document. Names and sizes decide before anything is fetched; pictures, archives and large files are left out. So is a file that is
gone or closed to the key. A server that fails ends the run as it does anywhere else.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from typing import NamedTuple
from xml.etree import ElementTree as ET

from vademecum.items import Attachment
from vademecum.providers.web import Web

DATA = (
    *(".log", ".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".csv", ".tsv", ".xml", ".sql", ".diff", ".patch"),
    *(".py", ".js", ".ts", ".java", ".go", ".rs", ".rb", ".php", ".c", ".h", ".cpp", ".cs", ".sh", ".ps1"),
)  # fmt: skip
MOST_FILES = 20  # of one item
MOST_ATTACHMENT_BYTES = 500_000  # of one file
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
    wanted = [each for each in told if each.url and is_text(each.name) and each.size <= MOST_ATTACHMENT_BYTES][
        :MOST_FILES
    ]
    found = ((each.name, web.file(each.url, MOST_ATTACHMENT_BYTES)) for each in wanted)
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


_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_BLANK = re.compile(r"\n{3,}")
_SPACES = re.compile(r"[ \t\r\n\f]+")
_SILENT = frozenset({"script", "style", "head", "template", "svg", "ac:parameter", "noscript"})
_BLOCKS = frozenset({
    *("p", "div", "section", "article", "header", "footer", "main", "aside", "figure", "blockquote", "dl", "dt", "dd"),
    *("details", "summary", "form", "fieldset", "address", "ac:rich-text-body", "ac:layout-cell", "ac:task-list"),
    *("tbody", "thead"),
})  # fmt: skip
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_INLINE = {"b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "del": "~~", "s": "~~"}
_ADDRESS = re.compile(r"(?:https?|mailto):|/", re.IGNORECASE)


def markdown_of(text: str) -> str:
    """Return HTML, or Confluence's storage format, as Markdown.

    >>> print(markdown_of("<h2>Why</h2><p>It <b>fails</b>:</p><ul><li>once<li>twice</ul><pre>a &lt; b</pre>"))
    ## Why
    <BLANKLINE>
    It **fails**:
    <BLANKLINE>
    - once
    - twice
    <BLANKLINE>
    ```
    a < b
    ```
    """
    reader = _Reader()
    # escape CDATA: as text it survives every version of the parser
    reader.feed(_CDATA.sub(lambda found: html.escape(found[1], quote=False), text.replace("\0", "")))
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    """Parser that collects Markdown."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._out: list[str] = []
        self._lines = 0  # line ends due before the next text
        self._begun = True  # the line is empty but for the mark of a heading or a list item
        self._silent = 0
        self._verbatim = 0
        self._lists: list[int] = []  # next number of each open list, 0 for bullets
        self._links: list[str] = []
        self._cells = -1  # of the open row, -1 outside a row
        self._rows = 0
        self._language = ""
        self._parameter = ""

    def text(self) -> str:
        """Return the collected Markdown."""
        lines = (line.rstrip() for line in "".join(self._out).split("\n"))
        return _BLANK.sub("\n\n", "\n".join(lines)).strip("\n")

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Skip a `<![` section to the next `>`, like browsers.

        The parser of some Python versions fails if no name follows.
        """
        return self.parse_bogus_comment(i, report)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "ac:parameter":
            self._parameter = given.get("ac:name", "")
        if tag in _SILENT:
            self._silent += 1
        elif tag in _HEADINGS:
            self._break()
            self._mark(f"{_HEADINGS[tag]} ")
        elif tag in {"pre", "ac:plain-text-body"}:
            self._open_code()
        elif tag in _INLINE:
            self._put("" if self._verbatim else _INLINE[tag])
        elif tag in {"li", "ac:task"}:
            self._open_item()
        elif tag in {"ul", "ol"}:
            self._break(1 if self._lists else 2)
            self._lists.append(1 if tag == "ol" else 0)
        else:
            self._open_other(tag, given)

    def _open_other(self, tag: str, given: Mapping[str, str]) -> None:
        if tag == "a":
            self._links.append(given.get("href", "").strip())
            self._put("[" if self._addressed() else "")
        elif tag == "br":
            self._break(1)
        elif tag == "hr":
            self._break()
            self._put("---")
            self._break()
        elif tag in {"td", "th"}:
            self._cells += self._cells >= 0
            self._mark("| " if self._cells == 1 else " | ")
        elif tag == "tr":
            self._break(1)
            self._cells = 0
        elif tag == "table":
            self._break()
            self._rows = 0
        elif tag in {"img", "ri:page", "ri:attachment", "ri:url"}:
            self._put(_said(tag, given))
        elif tag in _BLOCKS:
            self._break()

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag in {"pre", "ac:plain-text-body"}:
            self._close_code()
        elif tag in _INLINE:
            self._put("" if self._verbatim else _INLINE[tag])
        elif tag in {"ul", "ol"}:
            if self._lists:
                self._lists.pop()
            self._break(1 if self._lists else 2)
        elif tag == "a" and self._links:
            closing = f"]({self._links[-1]})" if self._addressed() else ""
            self._links.pop()
            self._put(closing)
        elif tag == "tr":
            self._close_row()
        elif tag in {"li", "ac:task"}:
            self._break(1)
        elif tag == "table" or tag in _BLOCKS or tag in _HEADINGS:
            self._break()

    def handle_data(self, data: str) -> None:
        if self._silent:
            if self._parameter == "language":
                self._language = data.strip()
        elif self._verbatim:
            self._put(data)
        else:
            words = _SPACES.sub(" ", data)
            self._put(words.lstrip() if self._begun or self._lines else words)

    def _put(self, text: str) -> None:
        """Write text, after the line ends that are due."""
        if text and not self._silent:
            before = self._out[-1] if self._out else "\n"
            apart = self._cells > 0 and self._begun and not (before.endswith((" ", "\n")) or text.startswith(" "))
            self._out.append("\n" * self._lines + " " * apart + text)
            self._lines, self._begun = 0, False

    def _mark(self, text: str) -> None:
        """Write the mark that begins a heading, an item or a cell."""
        self._put(text)
        self._begun = True

    def _break(self, lines: int = 2) -> None:
        """End the line, with a blank line after it by default."""
        if self._verbatim or self._begun:
            return
        if self._cells >= 0:
            self._begun = True
        elif self._out:
            self._lines = max(self._lines, 1 if self._lists else lines)

    def _open_code(self) -> None:
        self._break()
        self._put(f"```{self._language}\n")
        self._verbatim += 1
        self._language = ""

    def _close_code(self) -> None:
        if self._verbatim:
            self._put("\n```")
            self._verbatim -= 1
            self._break()

    def _open_item(self) -> None:
        self._break(1)
        depth = max(0, len(self._lists) - 1)
        number = self._lists[-1] if self._lists else 0
        self._mark("  " * depth + (f"{number}. " if number else "- "))
        if number:
            self._lists[-1] += 1

    def _close_row(self) -> None:
        cells, self._cells = self._cells, -1
        if cells > 0:
            self._put(" |")
            self._rows += 1
            self._put("\n|" + " --- |" * cells if self._rows == 1 else "")
        self._break(1)

    def _addressed(self) -> bool:
        return bool(self._links) and not self._verbatim and _ADDRESS.match(self._links[-1]) is not None


def _said(tag: str, given: Mapping[str, str]) -> str:
    """Return the text for a picture or a linked page."""
    if tag == "img":
        return given.get("alt", "")
    return given.get("ri:content-title") or given.get("ri:filename") or given.get("ri:value", "")

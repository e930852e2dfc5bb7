"""HTML to Markdown: headings, lists, tables, code and links.

    <h2>Why</h2><p>It <b>fails</b> <a href="https://e.org/x">here</a>.</p>   →   ## Why, It **fails** [here](https://e.org/x).

Styles and scripts are dropped. Confluence's storage format, which is XHTML with its own elements, works too: code macros, links
to pages, task lists. The parser is the standard library's, which accepts unclosed elements: editors and people write such
pages.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from html.parser import HTMLParser

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

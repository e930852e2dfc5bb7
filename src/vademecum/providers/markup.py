"""HTML to Markdown, as far as a search has use for it: headings, lists, tables, code, links. Styles and scripts go.

    <h2>Why</h2><p>It <b>fails</b> <a href="https://e.org/x">here</a>.</p>   →   ## Why, It **fails** [here](https://e.org/x).

Also Confluence's storage format, which is XHTML with elements of its own: code macros, links to pages, task lists. By the standard
library's parser, which forgives what is not closed: what wrote these pages were editors and people.
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
    # what stands in CDATA is text: escaped, it survives every version of the parser
    reader.feed(_CDATA.sub(lambda found: html.escape(found[1], quote=False), text.replace("\0", "")))
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    """Gathers Markdown while it is fed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._out: list[str] = []
        self._silent = 0
        self._verbatim = 0
        self._lists: list[int] = []  # the number of the next item of each open list, 0 for bullets
        self._links: list[str] = []
        self._row: list[str] | None = None
        self._rows = 0
        self._language = ""
        self._parameter = ""

    def text(self) -> str:
        """Return what was gathered."""
        lines = (line.rstrip() for line in "".join(self._out).split("\n"))
        return _BLANK.sub("\n\n", "\n".join(lines)).strip("\n")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "ac:parameter":
            self._parameter = given.get("ac:name", "")
        if tag in _SILENT:
            self._silent += 1
        elif tag in _HEADINGS:
            self._break()
            self._out.append(f"{_HEADINGS[tag]} ")
        elif tag in {"pre", "ac:plain-text-body"}:
            self._open_code()
        elif tag in _INLINE:
            self._out.append("" if self._verbatim else _INLINE[tag])
        elif tag in {"li", "ac:task"}:
            self._open_item()
        else:
            self._open_other(tag, given)

    def _open_other(self, tag: str, given: Mapping[str, str]) -> None:
        if tag in {"ul", "ol"}:
            self._break(1 if self._lists else 2)
            self._lists.append(1 if tag == "ol" else 0)
        elif tag == "a":
            self._links.append(given.get("href", "").strip())
            self._out.append("[" if self._addressed() else "")
        elif tag == "br":
            self._out.append("\n")
        elif tag == "hr":
            self._break()
            self._out.append("---\n\n")
        elif tag in {"td", "th"}:
            self._out.append("| ")
        elif tag == "tr":
            self._row = []
            self._break(1)
        elif tag == "table":
            self._break()
            self._rows = 0
        elif tag in {"img", "ri:page", "ri:attachment", "ri:url"}:
            self._out.append(_said(tag, given))
        elif tag in _BLOCKS:
            self._break(1 if self._lists or self._row is not None else 2)

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag in _HEADINGS:
            self._break()
        elif tag in {"pre", "ac:plain-text-body"}:
            self._close_code()
        elif tag in _INLINE:
            self._out.append("" if self._verbatim else _INLINE[tag])
        elif tag in {"ul", "ol"}:
            if self._lists:
                self._lists.pop()
            self._break(1 if self._lists else 2)
        elif tag == "a" and self._links:
            closing = f"]({self._links[-1]})" if self._addressed() else ""
            self._links.pop()
            self._out.append(closing)
        elif tag in {"td", "th", "tr"}:
            self._close_cell(tag)
        elif tag == "table" or tag in _BLOCKS:
            self._break(1 if self._lists or self._row is not None else 2)

    def handle_data(self, data: str) -> None:
        if self._silent:
            if self._parameter == "language":
                self._language = data.strip()
            return
        if self._verbatim:
            self._out.append(data)
            return
        words = _SPACES.sub(" ", data)
        if words == " " and (not self._out or self._out[-1].endswith(("\n", " "))):
            return
        self._out.append(words.lstrip() if self._at_line_start() else words)

    def _at_line_start(self) -> bool:
        return not self._out or self._out[-1].endswith("\n")

    def _break(self, lines: int = 2) -> None:
        """End the line, and leave a blank one unless told otherwise."""
        if self._out and not self._verbatim and not self._silent:
            if self._row is not None:  # a row of a table is one line
                self._out.append(" ")
                return
            self._out.append("\n" * lines)

    def _open_code(self) -> None:
        self._break()
        self._verbatim += 1
        self._out.append(f"```{self._language}\n")
        self._language = ""

    def _close_code(self) -> None:
        if self._verbatim:
            self._verbatim -= 1
            self._out.append("\n```\n\n")

    def _open_item(self) -> None:
        self._break(1)
        depth = max(0, len(self._lists) - 1)
        number = self._lists[-1] if self._lists else 0
        self._out.append("  " * depth + (f"{number}. " if number else "- "))
        if number:
            self._lists[-1] += 1

    def _close_cell(self, tag: str) -> None:
        if tag != "tr":
            self._out.append(" ")
            if self._row is not None:
                self._row.append("")
            return
        cells, self._row = len(self._row or ()), None
        self._out.append("|\n" if cells else "\n")
        self._rows += 1
        if self._rows == 1 and cells:
            self._out.append("|" + " --- |" * cells + "\n")

    def _addressed(self) -> bool:
        return bool(self._links) and not self._verbatim and _ADDRESS.match(self._links[-1]) is not None


def _said(tag: str, given: Mapping[str, str]) -> str:
    """What stands for a picture, or for a page that another one names."""
    if tag == "img":
        return given.get("alt", "")
    return given.get("ri:content-title") or given.get("ri:filename") or given.get("ri:value", "")

"""Atlassian Document Format to Markdown, by way of HTML.

Jira Cloud's version 3 writes descriptions and comments in this format. A document is a tree of nodes:
{"type": "paragraph", "content": [{"type": "text", "text": "…", "marks": [{"type": "strong"}]}]}.
Source: Atlassian Document Format, developer.atlassian.com/cloud/jira/platform/apis/document/structure. A node of an unknown kind
is replaced by its content.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from vademecum.providers.markup import markdown_of

DEEPEST = 60  # depth of nodes; deeper ones are not read
_TAGS = {
    "paragraph": "p", "caption": "p", "bulletList": "ul", "taskList": "ul", "decisionList": "ul", "orderedList": "ol",
    "listItem": "li", "taskItem": "li", "decisionItem": "li", "table": "table", "tableRow": "tr", "tableHeader": "th",
    "tableCell": "td", "rule": "hr", "hardBreak": "br", "panel": "div",
    "strong": "strong", "em": "em", "code": "code", "strike": "s",
}  # fmt: skip
_SHOWN = ("text", "shortName", "url")  # the attributes of mentions, emoji and cards that are read

Node = Mapping[str, Any]


def adf_markdown(node: Any) -> str:
    """Return a document as Markdown; strings, as in version 2, stay unchanged.

    >>> said = {"type": "text", "text": "twice", "marks": [{"type": "strong"}]}
    >>> adf_markdown({"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Retry "}, said]}]})
    'Retry **twice**'
    """
    if isinstance(node, str):
        return node.strip()
    return markdown_of(_html(node, 0)) if isinstance(node, Mapping) else ""


def _html(node: Node, depth: int) -> str:
    kind, given = str(node.get("type")), _attributes(node)
    if kind == "text":
        return _marked(escape(str(node.get("text", ""))), node.get("marks"))
    content = node.get("content")
    nodes = [each for each in content if isinstance(each, Mapping)] if isinstance(content, list) else []
    inner = "".join(_html(each, depth + 1) for each in nodes) if depth < DEEPEST else ""
    if kind == "heading":
        level = given.get("level")
        return _tagged(f"h{level if isinstance(level, int) and 1 <= level <= 6 else 2}", inner)
    if kind == "codeBlock":
        text = "".join(str(each.get("text", "")) for each in nodes)
        language = escape(str(given.get("language") or ""))
        return f'<ac:parameter ac:name="language">{language}</ac:parameter><pre>{escape(text)}</pre>'
    if kind == "blockquote":
        return inner.replace("<p>", "<p>&gt; ")
    if kind in _TAGS:
        return _tagged(_TAGS[kind], inner)
    shown = next((str(given[name]) for name in _SHOWN if given.get(name)), "")
    return inner or escape(shown)


def _marked(text: str, marks: Any) -> str:
    for mark in marks if isinstance(marks, list) else ():
        kind = str(mark.get("type")) if isinstance(mark, Mapping) else ""
        if kind in _TAGS:
            text = _tagged(_TAGS[kind], text)
        elif kind == "link":
            text = f'<a href="{escape(str(_attributes(mark).get("href", "")))}">{text}</a>'
    return text


def _tagged(tag: str, inner: str) -> str:
    return f"<{tag}>{inner}</{tag}>"


def _attributes(node: Node) -> Node:
    given = node.get("attrs")
    return given if isinstance(given, Mapping) else {}

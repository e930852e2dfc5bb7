"""Items as documents: Markdown text, and a path."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime

from vademecum.items import Comment, Item
from vademecum.redaction.redact import redact

MOST_CHARACTERS = 1_000_000  # of a document; the rest is cut, and the document says so
PART_CHARACTERS = 100  # of one part of a path
_UNFIT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\\/:*?\"<>|]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # a NUL would make it look binary; tabs and line ends stay
_TOP = re.compile(r"^# ", re.MULTILINE)
_HEADING = re.compile(r"^(#{1,5})(?= )", re.MULTILINE)


def readable(item: Item) -> Item:
    """Return an item without secrets, control characters and lone surrogates."""
    comments = [replace(each, author=_plain(each.author), text=_without_secrets(each.text)) for each in item.comments]
    attached = [replace(each, name=_line(each.name), text=_without_secrets(each.text)) for each in item.attachments]
    return replace(
        item, id=_plain(item.id), key=_line(item.key), title=_line(_without_secrets(item.title)), body=_without_secrets(item.body), kind=_line(item.kind),
        state=_line(item.state), url=_line(item.url), path=_plain(item.path), labels=tuple(map(_line, item.labels)),
        links=tuple(map(_line, item.links)), comments=tuple(comments),
        attachments=tuple(attached),
    )  # fmt: skip


def _without_secrets(text: str) -> str:
    """Return a text without the secrets that people paste into tickets."""
    return redact(_plain(text)).text


def _plain(text: str) -> str:
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).encode("utf-8", "replace").decode()


def _line(text: str) -> str:
    return " ".join(_plain(text).split())


def document_of(item: Item) -> str:
    """Return a `readable` item as Markdown.

    The order is facts, text, then a section for each comment and each attachment.

    >>> print(document_of(Item("1", "ABC-1", "Retry twice", "It fails.", "Bug", "Open", labels=("net",), links=("blocks ABC-2",))))
    # ABC-1: Retry twice
    <BLANKLINE>
    Bug, Open. Labels: net. Links: blocks ABC-2.
    <BLANKLINE>
    It fails.
    <BLANKLINE>
    """
    title = " ".join(item.title.split()) or item.key
    heading = f"# {item.key}: {title}" if item.key != title and not item.path else f"# {title}"
    body = item.body.strip()
    if _TOP.search(body):  # the item's own title is the top heading
        body = _HEADING.sub(r"#\1", body)
    parts = [heading, _facts(item), body]
    parts += [_said(comment) for comment in item.comments]
    for attachment in item.attachments:
        parts.append(f"## Attachment {attachment.name}\n\n{_HEADING.sub('##', attachment.text.strip())}")
    text = "\n\n".join(part for part in parts if part)
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}\n\n(cut: {len(text) - MOST_CHARACTERS} more characters at {item.url or item.key})"
    return f"{text}\n"


def _facts(item: Item) -> str:
    said = [f"{item.kind}, {item.state}"] if item.kind and item.state else []
    said += [f"Labels: {', '.join(item.labels)}"] if item.labels else []
    said += [f"Links: {', '.join(item.links)}"] if item.links else []
    return " ".join(f"{each}." for each in said if each)


def _said(comment: Comment) -> str:
    day = datetime.fromtimestamp(comment.at, UTC).strftime(", %Y-%m-%d") if comment.at else ""
    by = " ".join(comment.author.split()) or "somebody"
    return f"## Comment by {by}{day}\n\n{_HEADING.sub(r'##', comment.text.strip())}"


def path_of(item: Item) -> str:
    """Return the path of an item's document, safe on any system.

    The path never leads upwards.

    >>> path_of(Item("1", "ABC-1", "")), path_of(Item("2", "2", "", path="TEAM/How to: release?")), path_of(Item("3", "3", "", path="../../etc/passwd"))
    ('ABC-1.md', 'TEAM/How to- release-.md', 'etc/passwd.md')
    """
    parts = [_part(part) for part in (item.path or item.key).split("/")]
    path = "/".join(part for part in parts if part) or _part(item.id) or "item"
    return path if path.endswith(".md") else f"{path}.md"


def _part(text: str) -> str:
    plain = _UNFIT.sub("-", unicodedata.normalize("NFC", text)).strip(" .")
    return plain[:PART_CHARACTERS].strip(" .")

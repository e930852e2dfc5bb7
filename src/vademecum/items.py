"""Records of backlogs and sources of documents, as `types` for code.

A provider answers in pages of items. An item becomes one document of the index. People call it by `Item.key`
(`ABC-123`, `AB#42`, a page's number); its server calls it by `Item.id`, which never changes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an item."""

    author: str
    at: float  # seconds since the epoch; 0 if unknown
    text: str  # Markdown


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text file attached to an item."""

    name: str
    text: str  # Markdown


@dataclass(frozen=True, slots=True)
class Item:
    """An issue, a task or a page: one document with an address."""

    id: str  # the server's own, permanent id
    key: str  # the name that people use, in commits and in code
    title: str
    body: str = ""  # Markdown
    kind: str = ""  # "bug", "story", "page", in the server's words
    state: str = ""  # "In Progress", "closed"
    url: str = ""  # the web address for people
    updated: float = 0.0  # seconds since the epoch
    path: str = ""  # the place among other items, as "SPACE/Title"; "" for the key
    labels: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # its relations, as "blocks ABC-7"
    comments: tuple[Comment, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a provider's items, with the next cursor.

    Attributes:
        items: in any order; an item may come twice, and the later one counts.
        gone: ids of deleted items.
        cursor: the cursor of the next page; "" on the last page.
        resume: on the last page, the cursor for the next run; "" if the server filters by time.
        at: the server's own time, in seconds since the epoch; 0 if unknown.
        whole: on the last page, whether this run returned all items although only changes were requested: other items are gone.
    """

    items: tuple[Item, ...]
    gone: tuple[str, ...] = ()
    cursor: str = ""
    resume: str = ""
    at: float = 0.0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The result of one run of `vade sync` for one source."""

    source: str
    provider: str
    added: int
    changed: int
    unchanged: int
    removed: int
    items: int  # the source's items now
    full: bool  # whether everything was fetched, so that unseen items were dropped
    resumed: bool = False  # whether the run continued an interrupted one
    dry_run: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """The status of one source."""

    source: str
    provider: str
    place: str  # its address, or its folder
    remote: bool
    items: int
    synced_at: float  # the start of the last complete run, seconds since the epoch; 0 for never
    pending: bool  # whether a run was interrupted; the next one continues it
    repos: tuple[str, ...] = ()  # the source's repositories; () for all


@dataclass(frozen=True, slots=True)
class NamedItem:
    """An item that code or commits name, with one such place."""

    source: str
    key: str
    title: str
    kind: str
    state: str
    url: str
    updated: float
    path: str  # the path of its document
    why: str  # "src/app.py:12", "commit 1a2b3c4 Retry twice"

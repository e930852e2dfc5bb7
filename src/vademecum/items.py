"""What a backlog and a source of documents tell of: frozen records, as `types` has them for code.

A provider answers in pages of items. An item becomes one document of the index: `Item.key` is what people call it
(`ABC-123`, `AB#42`, a page's number), `Item.id` what its server does, and never changes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody said of an item."""

    author: str
    at: float  # seconds since the epoch; 0 where it is not known
    text: str  # Markdown


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of text that is attached to an item."""

    name: str
    text: str  # Markdown


@dataclass(frozen=True, slots=True)
class Item:
    """An issue, a task, a page: one document with an address of its own."""

    id: str  # what its server calls it, and always will
    key: str  # what people call it, in commits and in code
    title: str
    body: str = ""  # Markdown
    kind: str = ""  # "bug", "story", "page", as its server says it
    state: str = ""  # "In Progress", "closed"
    url: str = ""  # where a person looks at it
    updated: float = 0.0  # seconds since the epoch
    path: str = ""  # where it lies among the others, as "SPACE/Title"; "" for its key
    labels: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # what it points to, as "blocks ABC-7"
    comments: tuple[Comment, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One answer of a provider: some items, and where to go on.

    Attributes:
        items: in any order; an item may come twice, and the later one counts.
        gone: ids of items that are no more.
        cursor: what to ask for the next page with; "" where this was the last.
        resume: on the last page, what the next run begins with; "" for a server that goes by time.
        at: the server's own time, in seconds since the epoch; 0 where it does not say.
        whole: on the last page, whether this run told of everything although only changes were asked for: the rest is gone.
    """

    items: tuple[Item, ...]
    gone: tuple[str, ...] = ()
    cursor: str = ""
    resume: str = ""
    at: float = 0.0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one run of `vade sync` did to one source."""

    source: str
    provider: str
    added: int
    changed: int
    unchanged: int
    removed: int
    items: int  # that the source has now
    full: bool  # whether everything was asked for, and what was not told is gone
    resumed: bool = False  # whether it went on with a run that had been cut short
    dry_run: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """What is known of one source."""

    source: str
    provider: str
    place: str  # its address, or its folder
    remote: bool
    items: int
    synced_at: float  # when the last whole run began, seconds since the epoch; 0 for never
    pending: bool  # whether a run was cut short: the next one goes on with it
    repos: tuple[str, ...] = ()  # the repositories it belongs to; () for all


@dataclass(frozen=True, slots=True)
class NamedItem:
    """An item that code or commits name, and where they do."""

    source: str
    key: str
    title: str
    kind: str
    state: str
    url: str
    updated: float
    path: str  # of its document
    why: str  # "src/app.py:12", "commit 1a2b3c4 Retry twice"

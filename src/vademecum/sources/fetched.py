"""The fetched items of a source and each run's progress.

A page's items and the cursor of the next page are written in one transaction. A run that is killed continues with its current
page; items fetched twice replace themselves. Items that a full run did not see are dropped at its end, and at no other time.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b

from vademecum.code.checkout.source import blob_id
from vademecum.items import Comment, Item, Page
from vademecum.protocols import Row, Store
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


OVERLAP_SECONDS = (
    600.0  # a run starts this much before the last one began: for items written meanwhile, and clocks that differ
)


@dataclass(frozen=True, slots=True)
class Run:
    """A run in progress, as stored.

    Attributes:
        number: counts runs; an item carries the number of the last run that saw it.
        full: whether the run fetches everything.
        since: the run fetches changes from this time on, in seconds since the epoch.
        cursor: the cursor of the next page.
        began: the server's time at the first page, 0 before.
        again: whether the run looks a second time, before items count as gone.
        added, changed, unchanged, removed: numbers of items so far.
    """

    number: int
    full: bool
    since: float
    cursor: str = ""
    began: float = 0.0
    again: bool = False
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0

    @property
    def told(self) -> int:
        """The number of items seen so far."""
        return self.added + self.changed + self.unchanged


@dataclass(frozen=True, slots=True)
class State:
    """The sync state of a source.

    Attributes:
        asked: a digest of server and query: another digest needs a full run.
        since, resume: the start of the next run.
        runs: the number of runs so far.
        pending: the interrupted run, if there is one.
    """

    asked: str = ""
    since: float = 0.0
    resume: str = ""
    runs: int = 0
    pending: Run | None = None


class Ledger:
    """The stored items of one source, for writing."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def state(self) -> State:
        """Return the source's sync state."""
        rows = self.store.scan("meta", [("name", "=", "sync")], ("value",)).unwrap()
        if not rows:
            return State()
        known = json.loads(rows[0][0])
        return State(**known | {"pending": Run(**known["pending"]) if known["pending"] else None})

    def count(self) -> int:
        """Return the number of items."""
        return len(self.store.scan("items", columns=("id",)).unwrap())

    def begin(self, asked: str, *, full: bool, anew: bool = False) -> tuple[State, bool]:
        """Return a state with a run, and whether the run was interrupted.

        An interrupted run is continued, with three exceptions: a full run is wanted and it was not full, server or query differ,
        or `anew` is set.
        """
        state = self.state()
        pending = state.pending
        if pending is not None and state.asked == asked and (pending.full or not full) and not anew:
            return state, True
        whole = full or state.asked != asked or not (state.since or state.resume)
        run = Run(state.runs + 1, whole, 0.0 if whole else state.since, "" if whole else state.resume)
        return State(asked, 0.0 if whole else state.since, "" if whole else state.resume, run.number, run), False

    def keep(self, state: State, page: Page) -> State:
        """Store a page and the run's progress; return the state.

        Raises `StoreError`; then nothing of the page is stored.
        """
        with self.store.transaction():
            state = self._kept(state, page)
            self._write(state)
        return state

    def try_keep(self, state: State, page: Page) -> State:
        """Return the state that `keep` would return, without storing anything."""
        kept = state
        with suppress(_UndoneError), self.store.transaction():
            kept = self._kept(state, page)
            raise _UndoneError
        return kept

    def missed(self, run: Run) -> list[str]:
        """Return the ids of the items that a run did not see."""
        return [number for (number,) in self.store.scan("items", [("run", "<", run.number)], ("id",)).unwrap()]

    def look_again(self, state: State) -> State:
        """Restart a run at its first page, keeping the items it saw."""
        assert state.pending is not None
        return self._restarted(state, replace(state.pending, again=True, cursor=""))

    def start_over(self, state: State) -> State:
        """Restart a run whose cursor has expired.

        It restarts from its first page, or fetches everything if the expired cursor was the last run's `resume`.
        """
        run = state.pending
        assert run is not None
        if run.cursor == state.resume:
            run = replace(run, full=True, since=0.0)
        return self._restarted(state, replace(run, cursor="", again=False))

    def _restarted(self, state: State, run: Run) -> State:
        state = replace(state, pending=run)
        self._write(state)
        return state

    def finish(self, state: State, page: Page, now: float) -> tuple[State, Run]:
        """End a run; return the final state and the run.

        Items that a full run did not see are dropped, and the start of the next run is stored.
        """
        run = state.pending
        assert run is not None
        with self.store.transaction():
            missed = self.missed(run) if run.full or page.whole else []
            self.store.delete("items", [("id", "in", missed)]).unwrap()
            run = replace(run, removed=run.removed + len(missed))
            began = run.began or now
            state = State(state.asked, max(0.0, began - OVERLAP_SECONDS), page.resume, state.runs, None)
            self._write(state)
            self.store.upsert("meta", [("synced_at", str(began))]).unwrap()
        return state, run

    def _kept(self, state: State, page: Page) -> State:
        run = state.pending
        assert run is not None
        added, changed, unchanged = self._upsert(page.items, run.number)
        removed = self.store.delete("items", [("id", "in", list(page.gone))]).unwrap() if page.gone else 0
        run = replace(
            run, cursor=page.cursor, began=run.began or page.at, added=run.added + added, changed=run.changed + changed,
            unchanged=run.unchanged + unchanged, removed=run.removed + removed,
        )  # fmt: skip
        return replace(state, pending=run)

    def _upsert(self, items: Iterable[Item], run: int) -> tuple[int, int, int]:
        """Write items; return the numbers of new, changed and unchanged ones.

        Items that this run has already counted count in none of them.
        """
        own = {item.id: item for item in map(readable, items)}
        known = {row[0]: row for row in self.store.get("items", [(number,) for number in own]).unwrap()}
        paths = self._paths(own)
        rows = [_row(item, paths[item.id], run) for item in own.values()]
        self.store.upsert("items", rows).unwrap()
        told = [row for row in rows if row[0] not in known or known[row[0]][-1] < run]  # not counted in this run yet
        added = sum(row[0] not in known for row in told)
        changed = sum(row[0] in known and known[row[0]][:11] != row[:11] for row in told)  # all but content and run
        return added, changed, len(told) - added - changed

    def _paths(self, items: dict[str, Item]) -> dict[str, str]:
        wanted = {number: path_of(item) for number, item in items.items()}
        rows = self.store.scan("items", [("path", "in", sorted(set(wanted.values())))], ("path", "id")).unwrap()
        taken: dict[str, str] = dict(rows)
        paths: dict[str, str] = {}
        for number, path in wanted.items():
            free = taken.setdefault(path, number) == number
            own = f"{path.removesuffix('.md')}~{blake2b(number.encode(), digest_size=4).hexdigest()}.md"
            paths[number] = path if free else own
        return paths

    def _write(self, state: State) -> None:
        self.store.upsert("meta", [("sync", json.dumps(asdict(state)))]).unwrap()


class _UndoneError(Exception):
    """Exception that rolls back a transaction on purpose."""


def _row(item: Item, path: str, run: int) -> Row:
    content = document_of(item).encode()
    return (
        item.id, item.key, path, item.title, item.kind, item.state, item.url, item.updated,
        json.dumps(item.labels), json.dumps(item.links), blob_id(content), content, run,
    )  # fmt: skip

"""The protocols that third parties implement, all on one page.

Each is a `Protocol` of a few methods, so implementations need no import of vademecum. Methods that touch the outside world return
a `Result`; their error classes are in `errors.py`. `vademecum.testing` holds a conformance check for each.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vademecum.errors import (
        EmbedError,
        EnrichError,
        ProviderError,
        RerankError,
        StoreError,
        SyncError,
        ToolServerError,
    )
    from vademecum.items import Page
    from vademecum.matching import Filter, Near, Point
    from vademecum.result import Result
    from vademecum.types import Bm25f, EmbedKind, Hit, Passage, Scope, TermStatistics

Row = tuple[Any, ...]
Operator = Literal["=", "in", ">", ">=", "<", "<=", "prefix"]
Condition = tuple[str, Operator, Any]

# (stage, done, total): called to show progress; total is 0 while unknown.
Progress = Callable[[str, int, int], None]
Told = Callable[[float, float | None, str], None]  # a call's progress: done, total, and words
Hears = Callable[[str, Mapping[str, Any]], None]  # a notification: its method and params
# a question, method and params, to {"result"} or {"error"}
Asks = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]


def silent(stage: str, done: int, total: int) -> None:
    """Show no progress: the default `Progress`."""


@runtime_checkable
class Embedder(Protocol):
    """Turns passages into unit vectors, by kind: query or document."""

    remote: bool  # True when text leaves the machine

    @property
    def name(self) -> str:
        """The embedder's name, with the model's version.

        Vectors of different names are never mixed.
        """
        ...

    @property
    def dim(self) -> int:
        """The vectors' dimensions.

        A server may have to be asked, which may raise `EmbedError`.
        """
        ...

    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Result[NDArray[np.float32], EmbedError]:
        """Return float32 of shape (len(passages), dim).

        Each row has unit length, or is all zeros for empty text.
        """
        ...


@runtime_checkable
class Reranker(Protocol):
    """Scores a few passages by how well they answer a question."""

    name: str
    remote: bool  # True when text leaves the machine

    def rerank(self, query: str, passages: Sequence[Passage]) -> Result[list[float], RerankError]:
        """Return a finite score for each passage, in order.

        Higher is better.

        Passages come best first, with `context` the path and `title` the signature. Scores are compared only within one call;
        passages of equal score keep their order.
        """
        ...


@runtime_checkable
class Enricher(Protocol):
    """Describes a chunk of code in one sentence.

    Enrichers may be slow and cost money: no chunk is described twice.
    """

    name: str  # with the model: sentences of different names are never mixed
    remote: bool  # True when text leaves the machine

    def sentence(self, passage: Passage) -> Result[str, EnrichError]:
        """Return one sentence on one line, not empty.

        Several threads may call at once.
        """
        ...


@runtime_checkable
class TokenCounter(Protocol):
    """Counts the tokens of a text for a language model.

    Counters are called often, and work on this machine.
    """

    name: str

    def count(self, text: str) -> int:
        """Return the number of tokens, at least 0; 0 for empty text."""
        ...


@runtime_checkable
class Extractor(Protocol):
    """Notes lasting statements in messages.

    The caller checks the notes against the messages.
    """

    name: str
    remote: bool  # True when text leaves the machine

    def read(self, messages: Sequence[Passage]) -> Result[list[Mapping[str, Any]], ProviderError]:
        """Return notes as mappings of strings.

        Their keys are `event` (a message's id), `quote`, `kind`, `subject`, `value` and `reason`.

        Messages come with their id as `title` and the speaker's role as `context`.
        """
        ...


@runtime_checkable
class ToolServer(Protocol):
    """A server with tools, started or connected at first use."""

    name: str
    remote: bool  # True when arguments leave the machine
    about: str  # the server's description of itself; "" before the first call, or if it has none
    stale: bool  # True when the tools changed since they were last listed
    alive: bool  # False when the server can no longer be asked: open a new one

    def tools(self) -> Result[list[Mapping[str, Any]], ToolServerError]:
        """Return every tool as MCP's `tools/list` writes it."""
        ...

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Result[Mapping[str, Any], ToolServerError]:
        """Return a call's result in MCP's form; any thread may call."""
        ...

    def close(self) -> None:
        """Close the server; waiting callers get an error."""
        ...


@runtime_checkable
class TellingServer(Protocol):
    """A `ToolServer` that can report a call's progress."""

    def call_telling(
        self, tool: str, arguments: Mapping[str, Any], told: Told
    ) -> Result[Mapping[str, Any], ToolServerError]:
        """Do as `call`, passing progress on to `told`.

        `told` gets the content of MCP's `notifications/progress`, from any thread.
        """
        ...


@runtime_checkable
class AskingServer(Protocol):
    """A `ToolServer` that may ask questions while it works.

    It may ask the user, the client's model, or for the directories it may read.
    """

    def answer_by(self, asks: Asks, offers: Mapping[str, Any]) -> None:
        """Set the answerer of its questions, before any other call.

        `asks` may wait for a person, and may be called from several threads; `offers` are MCP's client capabilities.
        """
        ...


@runtime_checkable
class OfferingServer(Protocol):
    """A `ToolServer` with more than tools: resources, prompts, logs."""

    def offers(self) -> Result[Mapping[str, Any], ToolServerError]:
        """Return its capabilities as MCP writes them."""
        ...

    def ask(self, method: str, params: Mapping[str, Any]) -> Result[Mapping[str, Any], ToolServerError]:
        """Return any MCP request's result in MCP's form; any thread may call."""
        ...

    def tell(self, hears: Hears) -> None:
        """Set the receiver of its notifications, before any other call.

        `hears` is called from any thread.
        """
        ...


@runtime_checkable
class Backlog(Protocol):
    """Returns the items of a backlog: issues, work items, tasks.

    Code and commits name items by their keys.
    """

    name: str
    remote: bool  # True when another machine is asked

    def page(self, since: float, cursor: str) -> Result[Page, SyncError]:
        """Return a page of items changed at or after `since`.

        `since` is in seconds since the epoch; 0 asks for all items.

        `cursor` is "" at the beginning, then the `cursor` of the previous page; or, at the beginning of a run, the `resume` of the last
        complete run. A cursor keeps its meaning in another process. No item may be left out because other items
        change meanwhile: items that come twice are harmless.
        """
        ...


@runtime_checkable
class DocumentSource(Protocol):
    """Returns documents: pages of a wiki, files of a library."""

    name: str
    remote: bool  # True when another machine is asked

    def page(self, since: float, cursor: str) -> Result[Page, SyncError]:
        """Return a page of changed documents, as `Backlog.page` does."""
        ...


class Store(Protocol):
    """A record store.

    Families are named in `storage.schema`; rows are tuples in the family's column order.
    """

    aside: str  # the new name of a damaged database, if this object set one aside; else ""

    def upsert(self, family: str, rows: Sequence[Row]) -> Result[int, StoreError]:
        """Insert or replace rows by key; return the number of rows written."""
        ...

    def scan(
        self, family: str, where: Sequence[Condition] = (), columns: Sequence[str] = (), order: Sequence[str] = ()
    ) -> Result[list[Row], StoreError]:
        """Return the matching rows, or their named columns, in order."""
        ...

    def newest(
        self, family: str, where: Sequence[Condition], order: Sequence[str], most: int
    ) -> Result[list[Row], StoreError]:
        """Return the last `most` matching rows of an order, last first.

        No more rows are read than that.
        """
        ...

    def count(self, family: str, where: Sequence[Condition] = ()) -> Result[int, StoreError]:
        """Return the number of matching rows."""
        ...

    def get(self, family: str, keys: Sequence[Row]) -> Result[list[Row], StoreError]:
        """Return the rows whose key begins with one of `keys`.

        Keys are distinct and of one length; a whole key counts as its own beginning.
        """
        ...

    def delete(self, family: str, where: Sequence[Condition]) -> Result[int, StoreError]:
        """Delete the matching rows. Returns the number of rows deleted."""
        ...

    def reach(
        self, family: str, start: Sequence[int], along: tuple[str, str], where: Sequence[Condition], depth: int
    ) -> Result[list[tuple[int, int]], StoreError]:
        """Follow a family's rows as edges; return nodes with least steps.

        `along` names the columns of an edge's start and end; `start` is reached in 0 steps. Cycles are harmless.
        """
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Open a transaction: all writes inside commit or none. Raises `StoreError`."""
        ...

    def waiting(self, seconds: float) -> AbstractContextManager[None]:
        """Limit this thread's wait for another writer, if the server allows."""
        ...

    def state(self) -> Hashable:
        """Return a value that changes with any write, by any process.

        The value is None if only a query can tell.
        """
        ...

    def check(self) -> Result[str, StoreError]:
        """Return "ok" if the database is undamaged, else the fault."""
        ...

    def start_over(self) -> None:
        """Set a damaged database aside and begin an empty one.

        The damaged database is never deleted. Raises `StoreError`.
        """
        ...

    def close(self) -> None:
        """Close the database."""
        ...


@runtime_checkable
class VectorIndex(Protocol):
    """Finds the points nearest to a vector.

    One index holds the vectors of one model, all of one length.

    The arguments are `collection`, which names a set of points, `model`, the embedder's name, and `dim`. The first write creates
    everything needed on the server. Another model's vectors of the same collection stay untouched
    until this index is activated. Errors are `StoreError`s: `VectorIndexError`, or `StoreVersionError` for a schema of
    another version. Points are identified by `Payload.key`. Reads see every write that has returned.
    """

    name: str  # kind and place, for messages: "qdrant at http://127.0.0.1:6333"
    remote: bool  # True when text leaves the machine

    def upsert(self, points: Sequence[Point]) -> Result[int, StoreError]:
        """Write points, replacing those with the same key; return their number.

        Repeating a write changes nothing.
        """
        ...

    def delete(self, which: Filter | Sequence[str]) -> Result[None, StoreError]:
        """Delete the points that match a filter, or have these keys.

        Missing points are no error.
        """
        ...

    def nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> Result[list[Near], StoreError]:
        """Return up to `k` points that match a filter, nearest first.

        The filter applies before the cut to `k`.
        """
        ...

    def keys(self, where: Filter) -> Result[set[str], StoreError]:
        """Return the keys of all points that match a filter."""
        ...

    def activate(self) -> Result[None, StoreError]:
        """Make this model's points current: drop other models' points."""
        ...

    def close(self) -> None:
        """Close the index."""
        ...


class SearchServer(Protocol):
    """A server that stores records of many repositories and searches them."""

    def unpublished(self, space: str, embedder: str, most: int) -> Result[list[int], StoreError]:
        """Return a space's contents that are not searchable yet.

        At most `most` contents are returned; deleted contents are forgotten first.
        """
        ...

    def publish(self, space: str, embedder: str, batch: Any) -> Result[None, StoreError]:
        """Publish contents of an `index.segment.Segment`, all or none."""
        ...

    def forget(self, space: str) -> Result[None, StoreError]:
        """Delete all that is published of a space."""
        ...

    def words(self, terms: Sequence[int], scope: Scope, k: int, constants: Bm25f) -> Result[list[Hit], StoreError]:
        """Return the `k` best chunks for the terms, by BM25F."""
        ...

    def statistics(self, terms: Sequence[int], scope: Scope) -> Result[TermStatistics, StoreError]:
        """Return the statistics of the searched repositories for the terms."""
        ...

    def near(
        self, vector: NDArray[np.float32], embedder: str, scope: Scope, k: int
    ) -> Result[list[Hit] | None, StoreError]:
        """Return the `k` chunks nearest to a vector, by cosine.

        The result is None if the server cannot search vectors.
        """
        ...

    def named(self, names: Sequence[str], scope: Scope, k: int) -> Result[list[Hit], StoreError]:
        """Return chunks that define one of these names or a similar one.

        A chunk with the name itself scores 1, one with a similar name less.
        """
        ...

    def arrays(
        self, contents: Sequence[tuple[str, int]], embedder: str
    ) -> Result[list[tuple[str, str, bytes]], StoreError]:
        """Return language, embedder and packed arrays of each content.

        A content is a space and its blob. Arrays with the vectors of `embedder` go before others; the bytes are empty where
        none are stored.
        """
        ...

    def read(self, hits: Sequence[Hit]) -> Result[list[Mapping[str, Any]], StoreError]:
        """Return the stored record of each hit, in order.

        A record has the columns of the chunk, `text`, `language`, `symbols`, `content` (git's id), and those of the snapshot.
        """
        ...


class Clock(Protocol):
    """Returns the time; tests pass their own."""

    def __call__(self) -> float:
        """Return seconds since the epoch."""
        ...

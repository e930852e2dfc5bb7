"""Every seam of the house on one page: what a third party implements to take part.

Each is a `Protocol` of a few methods, so nobody needs to import us. Methods that touch the outside world return a
`Result`; their error classes are in `errors.py`. `vademecum.testing` holds a conformance check for each.
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
    from vademecum.points import Filter, Near, Point
    from vademecum.result import Result
    from vademecum.types import Bm25f, EmbedKind, Hit, Passage, Scope

Row = tuple[Any, ...]
Operator = Literal["=", "in", ">", ">=", "<", "<=", "prefix"]
Condition = tuple[str, Operator, Any]

# (stage, done, total): told to whoever shows progress; total is 0 while it is not known.
Progress = Callable[[str, int, int], None]
Told = Callable[[float, float | None, str], None]  # how far a call is: progress, of how much in all, and words
Hears = Callable[[str, Mapping[str, Any]], None]  # a notification: its method and params
Asks = Callable[
    [str, Mapping[str, Any]], Mapping[str, Any]
]  # a question, method and params, to {"result"} or {"error"}


def silent(stage: str, done: int, total: int) -> None:
    """Show no progress: what a `Progress` is where nobody asked to see one."""


@runtime_checkable
class Embedder(Protocol):
    """Turns passages into unit vectors; queries and documents may be read differently."""

    remote: bool  # True when text leaves the machine

    @property
    def name(self) -> str:
        """Its name, with the model's version: vectors of different names are never mixed."""
        ...

    @property
    def dim(self) -> int:
        """How wide its vectors are; a server may have to be asked, and `EmbedError` be raised."""
        ...

    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Result[NDArray[np.float32], EmbedError]:
        """Return float32 of shape (len(passages), dim), each row of unit length or all zeros for empty text."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """Says how well each of a few passages answers a question, so that they can be put into a better order."""

    name: str
    remote: bool  # True when text leaves the machine

    def rerank(self, query: str, passages: Sequence[Passage]) -> Result[list[float], RerankError]:
        """Return a finite score for each passage, in the order given; higher is better.

        Passages come best first, with `context` the path and `title` the signature. Scores of one call are compared with
        each other and with nothing else; passages of equal score keep the order they came in.
        """
        ...


@runtime_checkable
class Enricher(Protocol):
    """Says in one sentence what a piece of code does. It may be slow and cost money: nothing is asked twice."""

    name: str  # with the model: sentences of different names are never mixed
    remote: bool  # True when text leaves the machine

    def sentence(self, passage: Passage) -> Result[str, EnrichError]:
        """Return one sentence, not empty, on one line. Several threads may ask at once."""
        ...


@runtime_checkable
class TokenCounter(Protocol):
    """Says how many tokens a text is to whoever reads it. It is asked often, and answers on this machine."""

    name: str

    def count(self, text: str) -> int:
        """Return the number of tokens, at least 0; 0 for an empty text."""
        ...


@runtime_checkable
class Extractor(Protocol):
    """Notes what messages say that is to last; what it notes is checked against them by whoever asks."""

    name: str
    remote: bool  # True when text leaves the machine

    def read(self, messages: Sequence[Passage]) -> Result[list[Mapping[str, Any]], ProviderError]:
        """Return what it noted, each as a mapping of strings: `event` (a message's id), `quote`, `kind`, `subject`, `value`, `reason`.

        Messages come with their id as `title` and the speaker's role as `context`.
        """
        ...


@runtime_checkable
class ToolServer(Protocol):
    """A server whose tools can be listed and called. It is started or reached when first asked."""

    name: str
    remote: bool  # True when arguments leave the machine
    about: str  # what it says of itself; "" before it was asked anything, or where it says nothing
    stale: bool  # True when its tools changed since they were last listed
    alive: bool  # False when it can no longer be asked: a new one has to be opened

    def tools(self) -> Result[list[Mapping[str, Any]], ToolServerError]:
        """Return every tool as MCP's `tools/list` writes it."""
        ...

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Result[Mapping[str, Any], ToolServerError]:
        """Return the result of a call as MCP's `tools/call` writes it. May be called from several threads."""
        ...

    def close(self) -> None:
        """Let go of it. Whoever waits for an answer is told that none will come."""
        ...


@runtime_checkable
class TellingServer(Protocol):
    """A `ToolServer` that can hand on how far a call is."""

    def call_telling(
        self, tool: str, arguments: Mapping[str, Any], told: Told
    ) -> Result[Mapping[str, Any], ToolServerError]:
        """Do what `call` does; `told` is called from any thread with what MCP's `notifications/progress` says."""
        ...


@runtime_checkable
class AskingServer(Protocol):
    """A `ToolServer` that may ask something while it works: the user, the model in front of it, where it may look."""

    def answer_by(self, asks: Asks, offers: Mapping[str, Any]) -> None:
        """Have its questions answered; called before it is asked anything.

        `asks` may wait for a person, and may be called from several threads; `offers` are MCP's client capabilities.
        """
        ...


@runtime_checkable
class OfferingServer(Protocol):
    """A `ToolServer` that may have more than tools: resources, prompts, words for a log."""

    def offers(self) -> Result[Mapping[str, Any], ToolServerError]:
        """Return its capabilities as MCP writes them."""
        ...

    def ask(self, method: str, params: Mapping[str, Any]) -> Result[Mapping[str, Any], ToolServerError]:
        """Return the result of any request of MCP's as that writes it. May be called from several threads."""
        ...

    def tell(self, hears: Hears) -> None:
        """Have its notifications handed on, from any thread; called before it is asked anything."""
        ...


@runtime_checkable
class Backlog(Protocol):
    """Tells of the items of a backlog: issues, work items, tasks. Code and commits name them by their keys."""

    name: str
    remote: bool  # True when another machine is asked

    def page(self, since: float, cursor: str) -> Result[Page, SyncError]:
        """Return some of the items that changed at or after `since`, in seconds since the epoch; 0 asks for all.

        `cursor` is "" at the beginning, then what the page before gave; or, at the beginning of a run, what the last whole run
        gave as `resume`. A cursor keeps its meaning in another process. No item may be left out because others
        change meanwhile: those that come twice do no harm.
        """
        ...


@runtime_checkable
class DocumentSource(Protocol):
    """Tells of documents: pages of a wiki, files of a library."""

    name: str
    remote: bool  # True when another machine is asked

    def page(self, since: float, cursor: str) -> Result[Page, SyncError]:
        """Return some of the documents that changed at or after `since`; as `Backlog.page` does."""
        ...


class Store(Protocol):
    """A record store. Families are named in `storage.schema`; rows are tuples in the family's column order."""

    aside: str  # where a damaged database was set aside since this object was made, "" for none that was

    def upsert(self, family: str, rows: Sequence[Row]) -> Result[int, StoreError]:
        """Insert rows, or replace those with the same key. Returns how many were written."""
        ...

    def scan(
        self, family: str, where: Sequence[Condition] = (), columns: Sequence[str] = (), order: Sequence[str] = ()
    ) -> Result[list[Row], StoreError]:
        """Return the matching rows, or the named columns of them, in the order asked for."""
        ...

    def newest(
        self, family: str, where: Sequence[Condition], order: Sequence[str], most: int
    ) -> Result[list[Row], StoreError]:
        """Return the last `most` of the matching rows in the order asked for, the last one first; no more is read than that."""
        ...

    def count(self, family: str, where: Sequence[Condition] = ()) -> Result[int, StoreError]:
        """Return how many rows match."""
        ...

    def get(self, family: str, keys: Sequence[Row]) -> Result[list[Row], StoreError]:
        """Return the rows whose key is, or begins with, one of `keys`: distinct, of one length."""
        ...

    def delete(self, family: str, where: Sequence[Condition]) -> Result[int, StoreError]:
        """Delete the matching rows. Returns how many there were."""
        ...

    def reach(
        self, family: str, start: Sequence[int], along: tuple[str, str], where: Sequence[Condition], depth: int
    ) -> Result[list[tuple[int, int]], StoreError]:
        """Follow the rows of a family as edges. Returns what is reached, with the least number of steps to it.

        `along` names the columns an edge is followed from and to; `start` is reached in 0 steps. Circles do no harm.
        """
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside is written together or not at all. Raises `StoreError`."""
        ...

    def waiting(self, seconds: float) -> AbstractContextManager[None]:
        """Inside, this thread waits so long for another writer, and no longer; a server may have patience of its own."""
        ...

    def state(self) -> Hashable:
        """Return what is another value whenever anything may have been written since, by whomever; None where only asking tells."""
        ...

    def check(self) -> Result[str, StoreError]:
        """Return "ok" when the database is whole, else what is wrong with it."""
        ...

    def start_over(self) -> None:
        """Set a damaged database aside, never deleted, and begin an empty one. Raises `StoreError`."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...


@runtime_checkable
class VectorIndex(Protocol):
    """Finds the points that are nearest to a vector. One index holds the vectors of one model, all of one length.

    It is made with `collection`, which names what belongs together, `model`, the embedder's name, and `dim`; what it needs
    on the server is made with the first write. Another model's vectors of the same collection stand beside, untouched,
    until this index is activated. Errors are `StoreError`s: `VectorIndexError`, or `StoreVersionError` for a schema of
    another version. Points are named by `Payload.key`. Writes are there for reads once they return.
    """

    name: str  # what it is and where, as messages say it: "qdrant at http://127.0.0.1:6333"
    remote: bool  # True when text leaves the machine

    def upsert(self, points: Sequence[Point]) -> Result[int, StoreError]:
        """Write points, or replace those with the same key. Returns how many; doing it twice is doing it once."""
        ...

    def delete(self, which: Filter | Sequence[str]) -> Result[None, StoreError]:
        """Delete the points that a filter lets pass, or those with these keys. What is not there is no error."""
        ...

    def nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> Result[list[Near], StoreError]:
        """Return up to `k` points that a filter lets pass, the nearest first. The filter applies before the cut."""
        ...

    def keys(self, where: Filter) -> Result[set[str], StoreError]:
        """Return the keys of all points that a filter lets pass."""
        ...

    def activate(self) -> Result[None, StoreError]:
        """Make this model's points what the collection's name stands for; those of other models are dropped."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class SearchServer(Protocol):
    """A server that keeps records of many repositories and searches them itself; where they lie is no business of it."""

    def unpublished(self, space: str, embedder: str, most: int) -> Result[list[int], StoreError]:
        """Return contents of a space that it cannot find yet, at most so many, after it forgot those that are gone."""
        ...

    def publish(self, space: str, embedder: str, batch: Any) -> Result[None, StoreError]:
        """Take in the arrays of contents, a `index.segment.Segment`; all of them or none."""
        ...

    def forget(self, space: str) -> Result[None, StoreError]:
        """Forget what was published of a space."""
        ...

    def words(
        self, terms: Sequence[int], counted: int, scope: Scope, k: int, constants: Bm25f
    ) -> Result[list[Hit], StoreError]:
        """Return the `k` pieces that hold the terms best, by BM25F; of the first `counted` terms a share is counted."""
        ...

    def near(
        self, vector: NDArray[np.float32], embedder: str, scope: Scope, k: int
    ) -> Result[list[Hit] | None, StoreError]:
        """Return the `k` pieces that are nearest to a vector, by cosine; None where it cannot do that."""
        ...

    def named(self, names: Sequence[str], scope: Scope, k: int) -> Result[list[Hit], StoreError]:
        """Return pieces that define one of these names, with score 1, or one that is spelled nearly so, with less."""
        ...

    def read(self, hits: Sequence[Hit]) -> Result[list[Mapping[str, Any]], StoreError]:
        """Return what is kept of each: the columns of its chunk, with `text`, `language`, `symbols`, `content` (git's id), and of its snapshot."""
        ...


class Clock(Protocol):
    """Tells the time; tests hand in their own."""

    def __call__(self) -> float:
        """Return seconds since the epoch."""
        ...

"""The nouns: frozen records that every floor may name.

Lines count from 1 and are inclusive at both ends. Byte offsets count from 0 and are half-open, into the UTF-8 text as
stored. Scores: higher is better, everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class Verdict(StrEnum):
    """How far an answer can be trusted."""

    RESOLVED = "resolved"
    LIKELY = "likely"
    AMBIGUOUS = "ambiguous"
    NOT_FOUND = "not_found"


class Freshness(StrEnum):
    """Whether evidence still equals the file it names."""

    FRESH = "fresh"  # the file on disk (or the commit) holds exactly these lines
    EDITED = "edited"  # the file changed since it was indexed; these lines were re-read just now
    STALE = "stale"  # the file is gone or unreadable; these lines are what was indexed


class FileKind(StrEnum):
    """What a file is for, judged from its path."""

    PRODUCT = "product"
    TEST = "test"
    DOC = "doc"
    CONFIG = "config"
    EXAMPLE = "example"
    VENDORED = "vendored"
    GENERATED = "generated"


class ChunkKind(StrEnum):
    """What a chunk is."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    INTERFACE = "interface"
    TYPE = "type"
    CONSTANT = "constant"
    MODULE = "module"  # imports and top-level statements between declarations
    SECTION = "section"  # of Markdown, configuration or SQL
    WINDOW = "window"  # of text without a grammar


# What `--kind` and `Query.kind` accept, and the file kinds each stands for.
KINDS: Mapping[str, frozenset[FileKind]] = {
    "code": frozenset({FileKind.PRODUCT, FileKind.EXAMPLE, FileKind.VENDORED, FileKind.GENERATED}),
    "test": frozenset({FileKind.TEST}),
    "doc": frozenset({FileKind.DOC}),
    "config": frozenset({FileKind.CONFIG}),
    "all": frozenset(FileKind),
}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that a chunk defines."""

    name: str
    qualified: str  # "Class.method"; equals `name` at top level
    kind: str  # a ChunkKind value, or finer ("enum", "trait", "macro")
    start_line: int
    end_line: int
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one file that is found, shown and cited as a whole.

    `metadata` holds what only some languages have: `parameters`, `returns`, `docstring` (parsed), `decorators`,
    `cyclomatic`, `cognitive`, `lines_of_code`, `bases`. It is JSON-serialisable.
    """

    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    kind: str
    text: str
    name: str = ""  # "" for remainders, windows
    scope: str = ""  # qualified name of the enclosing declaration, "" at top level
    signature: str = ""
    doc: str = ""  # the doc comment, markers stripped
    summary: str = ""  # one sentence
    symbols: tuple[Symbol, ...] = ()
    calls: tuple[str, ...] = ()  # distinct callee names as written, in order of first appearance
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def qualified(self) -> str:
        """Scope and name joined: `Class.method`."""
        return f"{self.scope}.{self.name}" if self.scope and self.name else self.name or self.scope


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """One file, cut into chunks, with what belongs to the file as a whole."""

    language: str
    chunks: tuple[Chunk, ...]
    imports: tuple[str, ...] = ()  # module paths as written
    has_errors: bool = False  # the grammar found errors; everything was kept all the same
    problem: str = ""  # why it was cut by windows although there is a grammar
    references: str = ""  # what it refers to, as `code.languages.references` writes it, where that was asked for


@dataclass(frozen=True, slots=True)
class Passage:
    """What an embedder or a reranker reads of a chunk: models that know fields weigh them, others join them."""

    text: str
    title: str = ""  # the symbol's name; for a reranker the signature
    context: str = ""  # scope and anything else that frames the text; for a reranker the path
    prose: bool = False  # whether it is written for people: an embedder of its own may read it

    @property
    def joined(self) -> str:
        """Context, title and text, one below the other; a title that the text says anyway is not repeated."""
        title = "" if self.title in self.text else self.title
        return "\n".join(part for part in (self.context, title, self.text) if part)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was left out of the index, and why."""

    path: str
    reason: str  # "binary", "too large", "secret", "symlink out of the root", "unreadable", …
    detail: str = ""

    @property
    def why(self) -> str:
        """The reason, with its detail."""
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file found by the walk, not yet read. `size` and `mtime_ns` are 0 for a file of a commit."""

    path: str  # relative to the root, with forward slashes
    size: int
    mtime_ns: int
    inode: int = 0
    blob: str = ""  # the content's git blob id where it is known without reading, else ""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one indexing run did."""

    repo: str
    commit: str  # a commit id, or `<commit>+<treeHash>`; "" outside of git, and before the first commit
    files: int
    chunks: int
    added: int  # files whose content was not known before
    removed: int  # files of the previous state that are gone
    unchanged: int
    skipped: tuple[Skipped, ...] = ()
    failures: tuple[Skipped, ...] = ()  # files that were kept, but by windows, and why
    degraded: Mapping[str, int] = field(default_factory=dict)  # tolerated failures by step
    notes: tuple[str, ...] = ()  # what is still to be done elsewhere, and why
    trouble: str = ""  # why pieces have no vector, where some have none
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Query:
    """A question about code and what narrows it. Every filter applies before the cut to `k`."""

    text: str
    k: int = 10
    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()  # globs or prefixes; any may match
    exclude: tuple[str, ...] = ()
    kind: str = "all"  # a key of KINDS
    symbol: str = ""  # only chunks that define this name
    pattern: str = ""  # a regular expression the chunk's text must match
    joined: bool = True  # chunks of a file that stand near each other become one result


@dataclass(frozen=True)
class Evidence:
    """One piece of an answer: where it is, what it says, why it is here, and whether it still holds."""

    id: str  # <repo>:<commit>:<path>:<chunkHash>
    repo: str
    branch: str
    commit: str
    path: str
    start_line: int
    end_line: int
    snippet: str
    score: float
    kind: str
    language: str
    symbols: tuple[str, ...] = ()
    signature: str = ""
    summary: str = ""
    file_kind: str = ""
    signals: Mapping[str, float] = field(default_factory=dict)  # ranks and boosts by name
    freshness: Freshness = Freshness.FRESH
    metadata: Mapping[str, Any] = field(default_factory=dict)  # what `symbol` knows: parameters, complexity, calls, …
    url: str = ""  # of an item of a backlog or of documents: where a person looks at it
    updated: str = ""  # when that item last changed, as 2026-02-03T04:05:06Z
    best_line: int = 0  # where the best of several neighbouring pieces begins; 0 where there is one

    @property
    def focus(self) -> int:
        """The line from which it is shown where only some lines are."""
        return self.best_line or self.start_line


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found, how far to trust it, and, when nothing was, why."""

    query: str
    verdict: Verdict
    probability: float  # that the evidence holds the answer, 0..1
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""  # said when the verdict is not `resolved`
    nearest: tuple[str, ...] = ()  # names close to what was asked, apart from the evidence
    searched: int = 0  # chunks that passed the filters

    def __bool__(self) -> bool:
        """True when anything was found."""
        return self.verdict is not Verdict.NOT_FOUND


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A declaration or file that the graph leads to, how, and how that is known."""

    repo: str
    path: str
    start_line: int
    end_line: int
    name: str  # qualified; "" for a file
    kind: str  # "file", or what kind of declaration it is
    relation: str  # its place towards what was asked about: "called_by", "imports", "test_for", …
    tier: str  # exact, typed, unique; "guess" only where guesses are asked for; the weakest of the way
    distance: int  # steps along edges
    line: int = 0  # where the last step is written: in the file of the node it starts from
    line_path: str = ""
    via: str = ""  # what lies between, nearest to the start first: "a > b"
    text: str = ""  # that line
    signature: str = ""
    is_test: bool = False
    chunk: int = -1  # the ordinal of the chunk that defines it, -1 for a file
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What the graph says to one question, and what it cannot say.

    `verdict` is "found", which says nothing of `uncovered` files; "none", when there is nothing and everything was covered; "unknown", when there is nothing but
    `uncovered` files or `withheld` guesses may hide something; "not_found", when there is no such name.
    """

    query: str
    relation: str  # "callers", "callees", "impact", "path", "related"
    verdict: str
    depth: int
    of: tuple[Neighbour, ...] = ()  # what was asked about, at distance 0
    found: tuple[Neighbour, ...] = ()
    withheld: int = 0  # guesses that are not shown
    uncovered: tuple[
        str, ...
    ] = ()  # files that may refer to it unseen, beside what was found too: errors, no resolver, the name on something unknown
    tests: tuple[str, ...] = ()  # test files to run
    reason: str = ""
    nearest: tuple[str, ...] = ()
    total: int = 0  # of what was found, before the cut

    def __bool__(self) -> bool:
        """True when anything was found."""
        return bool(self.found)


EmbedKind = Literal["query", "document"]


@dataclass(frozen=True, slots=True)
class RepoStatus:
    """What is indexed of one repository, and whether it still matches the disk."""

    repo: str
    root: str
    branch: str
    commit: str  # the label of the worktree's snapshot; "" when nothing is indexed yet
    files: int
    chunks: int
    languages: Mapping[str, int]  # files by language, most first
    skipped: tuple[Skipped, ...]
    embedder: str
    database: str
    bytes: int  # of everything kept for the repository
    fresh: bool
    indexed_at: float  # seconds since the epoch; 0 when never
    pending: int = 0  # chunks whose vector is still to be made


@dataclass(frozen=True, slots=True)
class EnrichReport:
    """What one run of enrichment did to one repository."""

    repo: str
    enricher: str
    wanted: int  # distinct pieces of code
    known: int  # of which a sentence was there before
    made: int  # new ones
    failed: int  # the offline summary stays; the next run asks again
    problem: str = ""  # why the last one failed, and why it stopped where it did
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class GcReport:
    """What a clean-up dropped."""

    blobs: int
    chunks: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Check:
    """One thing `doctor` looked at."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A repository that workers are to index, or have indexed."""

    id: int
    source: str  # a directory, or where to clone from
    revision: str  # "" for a directory as it is, or for what the origin has checked out
    state: str  # "ready", "running", "done" or "dead"
    attempts: int  # times it was begun
    lease: int  # counts up whenever it is taken
    worker: str  # who has it, "" for nobody
    said: str  # what became of it
    added_at: float  # seconds since the epoch
    waits_s: float  # seconds until it may be taken


@dataclass(frozen=True, slots=True)
class Scope:
    """Which pieces a server that searches is to look at; what is empty narrows nothing."""

    repos: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()  # regular expressions, any of which a path begins with
    exclude: tuple[str, ...] = ()  # likewise, none of which it may
    symbol: str = ""  # a name that is defined


@dataclass(frozen=True, slots=True)
class Bm25f:
    """The constants of BM25F (`index.bm25`), by field: body, name, signature, docs."""

    k1: float
    weights: tuple[float, ...]
    b: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A piece that a server found, at one path of the newest snapshot of its repository."""

    space: str
    snapshot: int
    path: str
    blob: int
    ordinal: int
    score: float  # of one ranking, compared with no other's
    share: float = 0.0  # of the question's idf that it holds

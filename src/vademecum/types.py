"""Frozen records that every layer of the package may use.

Lines count from 1 and are inclusive at both ends. Byte offsets count from 0 and are half-open, into the UTF-8 text as
stored. Scores: higher is better, everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class Verdict(StrEnum):
    """The degree to which an answer can be trusted."""

    RESOLVED = "resolved"
    LIKELY = "likely"
    AMBIGUOUS = "ambiguous"
    NOT_FOUND = "not_found"


class Freshness(StrEnum):
    """The state of evidence, compared with the file it names."""

    FRESH = "fresh"  # the file on disk (or the commit) holds exactly these lines
    EDITED = "edited"  # the file changed since indexing; these lines were read again just now
    STALE = "stale"  # the file is gone or unreadable; these lines are the indexed ones


class FileKind(StrEnum):
    """The purpose of a file, judged from its path."""

    PRODUCT = "product"
    TEST = "test"
    DOC = "doc"
    CONFIG = "config"
    EXAMPLE = "example"
    VENDORED = "vendored"
    GENERATED = "generated"


class ChunkKind(StrEnum):
    """The kind of a chunk."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    INTERFACE = "interface"
    TYPE = "type"
    CONSTANT = "constant"
    MODULE = "module"  # imports and top-level statements between declarations
    SECTION = "section"  # of Markdown, configuration or SQL
    WINDOW = "window"  # of text without a grammar


# The values of `--kind` and `Query.kind`, each with its kinds of file.
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
    """A part of one file that is found, shown and cited whole.

    `metadata` holds values that only some languages have: `parameters`, `returns`, `docstring` (parsed), `decorators`,
    `cyclomatic`, `cognitive`, `lines_of_code`, `bases`. It is JSON-serialisable.
    """

    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    kind: str
    text: str
    name: str = ""  # "" for remainders and windows
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
    """One file, cut into chunks, with the facts of the whole file."""

    language: str
    chunks: tuple[Chunk, ...]
    imports: tuple[str, ...] = ()  # module paths as written
    has_errors: bool = False  # the grammar found errors; all content is kept anyway
    problem: str = ""  # the reason for windows although there is a grammar
    references: str = ""  # the file's references as `code.languages.references` writes them, if requested


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """A commit's message, author, time and files.

    `at` is the author's time in seconds since the epoch.
    """

    id: str
    author: str
    at: float
    text: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk's text for an embedder or a reranker.

    Models that know the fields weigh them; others join them.
    """

    text: str
    title: str = ""  # the symbol's name; for a reranker the signature
    context: str = ""  # scope and anything else that frames the text; for a reranker the path
    prose: bool = False  # whether the text is prose, for which a separate embedder may be set

    @property
    def joined(self) -> str:
        """Context, title and text, each on its own line.

        A title that the text contains is not repeated.
        """
        title = "" if self.title in self.text else self.title
        return "\n".join(part for part in (self.context, title, self.text) if part)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was left out of the index, with the reason."""

    path: str
    reason: str  # "binary", "too large", "secret", "symlink out of the root", "unreadable", …
    detail: str = ""

    @property
    def why(self) -> str:
        """The reason, with its detail."""
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file found by the walk, not yet read.

    `size` and `mtime_ns` are 0 for a file of a commit.
    """

    path: str  # relative to the root, with forward slashes
    size: int
    mtime_ns: int
    inode: int = 0
    blob: str = ""  # the content's git blob id if known without reading, else ""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The result of one indexing run."""

    repo: str
    commit: str  # a commit id, or `<commit>+<treeHash>`; "" outside of git, and before the first commit
    files: int
    chunks: int
    added: int  # files with new content
    removed: int  # files of the previous state that are gone
    unchanged: int
    skipped: tuple[Skipped, ...] = ()
    failures: tuple[Skipped, ...] = ()  # files that were kept, but as windows, with the reason
    degraded: Mapping[str, int] = field(default_factory=dict)  # tolerated failures by step
    notes: tuple[str, ...] = ()  # work left to do elsewhere, with the reason
    trouble: str = ""  # the reason that some chunks have no vector
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Query:
    """A question about code, with its filters.

    Every filter applies before the cut to `k`.
    """

    text: str
    k: int = 10
    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()  # globs or prefixes; any may match
    exclude: tuple[str, ...] = ()
    kind: str = "all"  # a key of KINDS
    symbol: str = ""  # only chunks that define this name
    pattern: str = ""  # a regular expression the chunk's text must match
    joined: bool = True  # whether neighbouring chunks of a file become one result


@dataclass(frozen=True)
class Evidence:
    """One result of an answer: place, text, signals and freshness."""

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
    # the details that `symbol` shows: parameters, complexity, calls, …
    metadata: Mapping[str, Any] = field(default_factory=dict)
    url: str = ""  # the web address of an item of a backlog or of documents
    updated: str = ""  # the time of that item's last change, as 2026-02-03T04:05:06Z
    best_line: int = 0  # the first line of the best of several joined chunks; 0 for a single chunk

    @property
    def focus(self) -> int:
        """The first line to show if only some lines are shown."""
        return self.best_line or self.start_line


@dataclass(frozen=True, slots=True)
class Answer:
    """The evidence found, its verdict, and the reason for finding none."""

    query: str
    verdict: Verdict
    probability: float  # probability that the evidence holds the answer, 0..1
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""  # given when the verdict is not `resolved`
    nearest: tuple[str, ...] = ()  # names close to the question's, apart from the evidence
    searched: int = 0  # chunks that passed the filters

    def __bool__(self) -> bool:
        """True when anything was found."""
        return self.verdict is not Verdict.NOT_FOUND


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A definition or file that the graph leads to.

    The record says how the graph leads there, and how certain that is.
    """

    repo: str
    path: str
    start_line: int
    end_line: int
    name: str  # qualified; "" for a file
    kind: str  # "file", or the kind of definition
    relation: str  # its relation to the query: "called_by", "imports", "test_for", …
    tier: str  # exact, typed, unique; "guess" only if guesses are requested; the weakest of the path
    distance: int  # steps along edges
    line: int = 0  # the line of the last step, in the file of the node where the step starts
    line_path: str = ""
    via: str = ""  # the nodes in between, nearest to the start first: "a > b"
    text: str = ""  # the text of that line
    signature: str = ""
    is_test: bool = False
    chunk: int = -1  # the ordinal of the chunk that defines it, -1 for a file
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Uncovered:
    """A file with lines that may be further references."""

    path: str
    lines: tuple[int, ...] = ()  # from 1 on; empty for a file or a part that was left out of the index

    def __str__(self) -> str:
        """Return the place as people write one.

        >>> str(Uncovered("a.py", (3, 7))), str(Uncovered("b.py"))
        ('a.py:3,7', 'b.py')
        """
        return f"{self.path}:{','.join(map(str, self.lines))}" if self.lines else self.path


@dataclass(frozen=True, slots=True)
class ChosenTest:
    """A test file to run after a change, and the reason.

    `because` is "changed", it is part of the change; "ran", coverage data says that it ran the code; "calls", calls and
    other uses lead to it; "imports", it imports the file, and nothing else is known.
    """

    path: str
    because: str
    tier: str  # the weakest link; "exact" of "ran" if the code is as it was when it was measured, else "typed"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The graph's answer to one question, and its gaps.

    `verdict` is "found", which says nothing about `uncovered` files; "none", if nothing was found and all files were covered; "unknown", if
    nothing was found but `uncovered` files may hide something, or code that is not here may call it; "not_found", if there is no such name.
    """

    query: str
    relation: str  # "callers", "callees", "impact", "path", "related"
    verdict: str
    depth: int
    of: tuple[Neighbour, ...] = ()  # the definitions asked about, at distance 0
    found: tuple[Neighbour, ...] = ()
    withheld: int = 0  # the number of guesses not shown
    uncovered: tuple[Uncovered, ...] = ()  # places that write the name, and may mean the definition or another one
    tests: tuple[ChosenTest, ...] = ()  # test files to run, the surest first
    coverage: tuple[str, ...] = ()  # what coverage data says about the code, in words, with its age
    reason: str = ""
    nearest: tuple[str, ...] = ()
    total: int = 0  # the number found, before the cut

    def __bool__(self) -> bool:
        """True when anything was found."""
        return bool(self.found)


EmbedKind = Literal["query", "document"]


@dataclass(frozen=True, slots=True)
class RepoStatus:
    """The indexed state of one repository, compared with the disk."""

    repo: str
    root: str
    branch: str
    commit: str  # the label of the worktree's snapshot; "" if nothing is indexed yet
    files: int
    chunks: int
    languages: Mapping[str, int]  # files by language, most first
    skipped: tuple[Skipped, ...]
    embedder: str
    database: str
    bytes: int  # of all data of the repository
    fresh: bool
    indexed_at: float  # seconds since the epoch; 0 for never
    pending: int = 0  # chunks without a vector so far
    note: str = ""  # what parts alone are indexed; what of the index was damaged, and is made anew


@dataclass(frozen=True, slots=True)
class EnrichReport:
    """The result of one enrichment run for one repository."""

    repo: str
    enricher: str
    wanted: int  # distinct chunks
    known: int  # of which a sentence existed
    made: int  # new ones
    failed: int  # the offline summary stays; the next run asks again
    problem: str = ""  # the last failure's reason, and the reason for stopping
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class GcReport:
    """The amounts that a clean-up removed."""

    blobs: int
    chunks: int
    bytes: int
    note: str = ""  # what of the index was damaged, and is made anew


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of `doctor`."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A repository in the index queue."""

    id: int
    source: str  # a directory, or an address to clone from
    revision: str  # "" for a directory as it is, or for the origin's default
    state: str  # "ready", "running", "done" or "dead"
    attempts: int  # times it was started
    lease: int  # counts up with each taking
    worker: str  # the worker that holds the job, "" for none
    said: str  # the result
    added_at: float  # seconds since the epoch
    waits_s: float  # seconds until it may be taken


@dataclass(frozen=True, slots=True)
class Scope:
    """The filter of a server's search; empty fields filter nothing."""

    repos: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()  # regular expressions; a path must begin with one of them
    exclude: tuple[str, ...] = ()  # regular expressions; a path must begin with none of them
    symbol: str = ""  # a defined name


@dataclass(frozen=True, slots=True)
class Bm25f:
    """The constants of BM25F (`index.bm25`), by field.

    The fields are body, name, signature and docs.
    """

    k1: float
    weights: tuple[float, ...]
    b: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a server found, at one path.

    The path is in the newest snapshot of the chunk's repository.
    """

    space: str
    snapshot: int
    path: str
    blob: int
    ordinal: int
    score: float  # comparable only within one ranking


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """Statistics of a collection for T terms, as BM25F needs them.

    Attributes:
        documents: the number of documents.
        mean_lengths: the mean number of terms in each field, at least 1.
        holding: of each term, the number of documents that hold it.
    """

    documents: int
    mean_lengths: tuple[float, ...]
    holding: tuple[float, ...]

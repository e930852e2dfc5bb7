"""The compared systems: the engine, plain BM25, and a grep reader.

All search the same files. Each answers a question with a *reading*: the returned pieces in reading order, with their
costs. An agent asks the engine, or BM25, for ten results, and for more if they do not suffice. If the engine says that
there is nothing, the reading is empty. With grep the reader first reads the list of matching lines, then windows around
them.

Trees to search, in temporary indexes outside of the user's home.

A tree is the content of one snapshot of a temporary index. Files are read as the index reads them. All compared systems
search the same files with the same text, because they get the index's files.
"""

from __future__ import annotations

import functools
import math
import os
import re
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np

from vademecum.bench.measures import Hit, Piece, Reading, tokens_in
from vademecum.code.checkout.root import Root
from vademecum.code.checkout.source import Source, read_source
from vademecum.code.checkout.walk import WalkSettings, walk
from vademecum.code.codebase import Codebase
from vademecum.code.snapshot.repository import Repository
from vademecum.code.snapshot.view import LEFT_OUT
from vademecum.config import Settings
from vademecum.index.tokenize import STOP_WORDS
from vademecum.matching import is_below
from vademecum.protocols import Embedder, Progress
from vademecum.types import Evidence
from vademecum.wiring.parts import Parts

EVERYTHING = WalkSettings(exclude=("!*",))  # a copy has only files that were let in, so it excludes none


@dataclass(frozen=True)
class Tree:
    """One snapshot, ready for questions."""

    repo: Repository  # of the temporary index
    commit: str  # "" for the files on disk
    files: Mapping[str, str]  # the text of every file, by path
    blobs: Mapping[str, int]  # the database ids of their contents, by path
    chunks: int
    ask: Callable[[str, int], Sequence[Evidence]]  # at most so many pieces of evidence for a question


def read_tree(root: Root, prefixes: Sequence[str], settings: Settings) -> dict[str, bytes]:
    """Return the text of every indexable file on disk, by path.

    `prefixes`, if any, narrow the tree.

    Raises:
        GitError: git failed.
    """
    limit = settings.index.max_file_bytes
    found = {}
    for entry in walk(root, WalkSettings(limit)).unwrap().entries:
        if is_below(entry.path, prefixes) and isinstance(source := read_source(root, entry, limit), Source):
            found[entry.path] = source.text
    return found


def write_tree(files: Mapping[str, bytes], directory: Path) -> Root:
    """Write files below a new directory outside of any repository."""
    for path, content in files.items():
        place = directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return Root(os.path.realpath(directory))


@contextmanager
def opened(
    root: Root,
    settings: Settings,
    embedder: Embedder | str | None,
    *,
    prefixes: tuple[str, ...] = (),
    copied: bool = False,
) -> Iterator[Callable[[Progress, str], Tree]]:
    """Open a temporary index of a root.

    The index is below the home in `settings`. Yields a function that indexes a commit, or "" for the disk, and returns
    the tree. With `copied`, every file of the root is indexed, because the copy has only files that were let in.

    Raises:
        Error: the root cannot be indexed.
    """
    parts = Parts(settings, embedder=embedder)
    try:
        repo = parts.repository(root, "bench")
        repo = replace(repo, walk=EVERYTHING) if copied else repo
        codebase = Codebase([(repo, prefixes)], parts)

        def tree(progress: Progress, commit: str = "") -> Tree:
            codebase.index(progress, commit=commit)
            return tree_of(repo, codebase, prefixes, commit)

        yield tree
    finally:
        parts.close()


def tree_of(repo: Repository, codebase: Codebase, prefixes: Sequence[str], commit: str) -> Tree:
    """Return the tree of an indexed snapshot."""
    loaded = repo.catalogue.load("commit", commit) if commit else repo.catalogue.load("worktree", repo.root.path)
    assert loaded is not None
    _, view = loaded
    blobs = {
        path: blob
        for path, blob in zip(view.files.paths, view.files.blobs.tolist(), strict=True)
        if blob != LEFT_OUT and is_below(path, prefixes)
    }
    files = {path: repo.catalogue.content(blob).decode() for path, blob in blobs.items()}

    def ask(question: str, k: int) -> Sequence[Evidence]:
        return codebase.search(question, k=k, commit=commit, refresh=False).evidence

    return Tree(repo, commit, files, blobs, len(view), ask)


Match = tuple[int, str]  # the line, from 1, and the word it holds

OURS, BM25, GREP = "vademecum", "bm25", "grep"
SYSTEMS: Mapping[str, str] = {OURS: "vademecum", BM25: "BM25", GREP: "grep"}  # with their names in the table
TEN = 10  # results of the first request
DEPTH = 100  # results to read at most
WINDOW = 40  # lines of a chunk for BM25
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
AROUND = 20  # lines read before and after a match
LISTED = 100  # matching lines in the list, as after `| head -100`
LISTED_PER_FILE = 5  # lines of one file, so that a long file does not fill the list
LISTED_CHARACTERS = 200  # characters of a line; minified code would fill the list
_WORD = re.compile(r"\w+")
_NOTHING = re.compile(r"(?!)")
_DECLARES = (
    r"\b(?:def|class|struct|enum|trait|interface|protocol|type|typedef|func|fun|fn|function|module|namespace|object|record|impl"
    r"|union|macro|defp?|defmodule|defmacro|const|let|var|val|static|public|private|protected|internal|void)\b[^=(]*"
)


def tokens_of(text: str) -> list[str]:
    """Split into lower-cased words, each compound identifier followed by its parts.

    >>> tokens_of("getHTTPResponse(max_rows)")
    ['gethttpresponse', 'get', 'http', 'response', 'max_rows', 'max', 'rows']
    """
    return [token for word in _IDENTIFIER.findall(text) for token in _tokens_of_word(word)]


@functools.lru_cache(1 << 16)
def _tokens_of_word(word: str) -> tuple[str, ...]:
    parts = _PART.findall(word)
    return (word.lower(), *(part.lower() for part in parts)) if len(parts) > 1 else (word.lower(),)


class Bm25:
    r"""Plain BM25 over windows of 40 lines, as in the textbook.

    score(window) = sum over the question's distinct words of  idf * tf (k1 + 1) / (tf + k1 (1 - b + b length / average))
    idf = ln(1 + (N - n + 0.5) / (n + 0.5))

    for N windows of which n hold the word. Words are those of the text, compound identifiers also by their parts, and a
    window counts its file's path as part of its text; nothing is stemmed. Source: Robertson & Zaragoza 2009, "The
    Probabilistic Relevance Framework: BM25 and Beyond", §3; Manning, Raghavan & Schütze 2008, §11.4.3.

    >>> index = Bm25([("src/retry.py", "def call():\n    sleep()\n"), ("src/parse.py", "def parse(line):\n    pass\n")])
    >>> index.search("where do we sleep before a retry", 10)
    [Hit(path='src/retry.py', start=1, end=2)]
    """

    def __init__(self, files: Iterable[tuple[str, str]], k1: float = 1.2, b: float = 0.75) -> None:
        """Cut paths with their texts into windows, and count the words."""
        self.windows: list[Hit] = []
        self._k1 = k1
        lengths: list[int] = []
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for path, content in files:
            lines = content.removesuffix("\n").split("\n") if content else []
            heading = tokens_of(path)
            for first in range(0, len(lines), WINDOW):
                part = lines[first : first + WINDOW]
                counts = Counter(heading + tokens_of("\n".join(part)))
                for token, count in counts.items():
                    postings[token].append((len(self.windows), count))
                lengths.append(counts.total())
                self.windows.append(Hit(path, first + 1, first + len(part)))
        size = np.array(lengths, np.float64)
        self._norm = k1 * (1 - b + b * size / max(size.mean(), 1.0)) if lengths else size
        self._postings = {token: np.array(rows) for token, rows in postings.items()}

    def search(self, question: str, k: int) -> list[Hit]:
        """Return the best `k` windows with a word of the question."""
        scores = np.zeros(len(self.windows))
        for token in set(tokens_of(question)):
            rows = self._postings.get(token)
            if rows is not None:
                windows, counts = rows[:, 0], rows[:, 1]
                idf = math.log(1 + (len(self.windows) - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[windows] += idf * counts * (self._k1 + 1) / (counts + self._norm[windows])
        order = np.argsort(-scores, kind="stable")[:k]
        return [self.windows[i] for i in order if scores[i] > 0]


def keywords_of(question: str) -> list[str]:
    """Return a question's words to grep for, lower-cased and distinct.

    >>> keywords_of("How does the HTTPClient retry a request?")
    ['httpclient', 'retry', 'request']
    """
    words = [word.lower() for word in _WORD.findall(question)]
    return list(dict.fromkeys(word for word in words if len(word) > 1 and word not in STOP_WORDS) or words)


class Grep:
    r"""A careful reader with grep alone.

    1. grep -i -F for every content word of the question; each file with the number of distinct words it holds
    2. files with more distinct words first; then those with a line that looks like the word's definition; then more matches
    3. the list of matching lines, best files first, cut at a length that a reader still reads
    4. windows of 20 lines before and after a match: the best window of every file in order, then their next best ones

    No process is started: an index of the words finds the very lines that `grep -i -F` would. The search words are single
    words, so a match never spans two words.

    >>> grep = Grep([("src/retry.py", "def call():\n    sleep()\n"), ("src/parse.py", "def parse(line):\n    pass\n")])
    >>> grep.search("where do we sleep", 10), grep.listing("where do we sleep")
    ([Hit(path='src/retry.py', start=1, end=2)], 'src/retry.py:2:    sleep()\n')
    """

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        """Index the lines of every word, in paths with their texts."""
        self._lines: dict[str, list[str]] = {path: text.split("\n") for path, text in files}
        self._paths = list(self._lines)
        sizes = [len(lines) for lines in self._lines.values()]
        self._bases = list(accumulate(sizes, initial=0))  # first line of each file, numbered through all files
        found: dict[str, array[int]] = defaultdict(lambda: array("q"))
        for base, lines in zip(self._bases, self._lines.values(), strict=False):
            for number, line in enumerate(lines, base):
                for word in set(_WORD.findall(line.lower())):
                    found[word].append(number)
        self._found = dict(found)
        self._words = "\n".join(["", *sorted(found), ""])
        self._asked: tuple[str, list[tuple[str, list[Match]]]] = ("", [])

    def search(self, question: str, k: int) -> list[Hit]:
        """Return the first `k` windows to read."""
        hits: list[Hit] = []
        reading = [self._windows(path, matches) for path, matches in self.ranked(question)]
        while reading and len(hits) < k:
            still = []
            for windows in reading[: k - len(hits)]:
                window = next(windows, None)
                if window is not None:
                    hits.append(window)
                    still.append(windows)
            reading = still
        return hits

    def listing(self, question: str) -> str:
        """Return the matching lines as grep prints them, best files first."""
        rows: list[str] = []
        for path, matches in self.ranked(question):
            numbers = list(dict.fromkeys(number for number, _ in matches))[:LISTED_PER_FILE]
            rows += (f"{path}:{n}:{self._lines[path][n - 1][:LISTED_CHARACTERS]}\n" for n in numbers)
            if len(rows) >= LISTED:
                break
        return "".join(rows[:LISTED])

    def ranked(self, question: str) -> list[tuple[str, list[Match]]]:
        """Return the files, best first, with their matches."""
        if self._asked[0] != question:
            self._asked = (question, self._rank(keywords_of(question)))
        return self._asked[1]

    def _rank(self, words: Sequence[str]) -> list[tuple[str, list[Match]]]:
        matches: dict[int, list[Match]] = defaultdict(list)
        for word in words:
            for line in sorted(self._lines_with(word)):
                file = bisect_right(self._bases, line) - 1
                matches[file].append((line - self._bases[file] + 1, word))

        definition = definition_of(words[0]) if len(words) == 1 else _NOTHING

        def order(file: int) -> tuple[int, bool, int, str]:
            own, lines = matches[file], self._lines[self._paths[file]]
            defined = len(words) == 1 and any(definition.search(lines[line - 1]) for line, _ in own)
            return -len({word for _, word in own}), not defined, -len(own), self._paths[file]

        return [(self._paths[file], sorted(matches[file])) for file in sorted(matches, key=order)]

    def _lines_with(self, word: str) -> set[int]:
        """Return the lines with a word, numbered through all files."""
        lines: set[int] = set()
        at = self._words.find(word)
        while at >= 0:
            start, end = self._words.rfind("\n", 0, at) + 1, self._words.find("\n", at)
            lines.update(self._found[self._words[start:end]])
            at = self._words.find(word, end)
        return lines

    def _windows(self, path: str, matches: list[Match]) -> Iterator[Hit]:
        """Yield windows around a file's matches, best first, until all are read."""
        lines = self._lines[path]
        size = len(lines) - (not lines[-1])
        while matches:
            at = self._best(lines, matches)
            start, end = max(1, at - AROUND), min(max(1, size), at + AROUND)
            yield Hit(path, start, end)
            matches = [match for match in matches if not start <= match[0] <= end]

    def _best(self, lines: list[str], matches: list[Match]) -> int:
        """Return the line of the best match."""
        words = {word for _, word in matches}
        definition = definition_of(next(iter(words))) if len(words) == 1 else _NOTHING
        around: Counter[str] = Counter()
        first = last = 0
        best, chosen = (0, False, 0), matches[0][0]
        for line, _ in matches:  # in ascending order, so both ends of the window only move forward
            while last < len(matches) and matches[last][0] <= line + AROUND:
                around[matches[last][1]] += 1
                last += 1
            while matches[first][0] < line - AROUND:
                around[matches[first][1]] -= 1
                first += 1
            worth = (sum(map(bool, around.values())), bool(definition.search(lines[line - 1])), last - first)
            if worth > best:
                best, chosen = worth, line
        return chosen


def definition_of(word: str) -> re.Pattern[str]:
    """Return a pattern for lines that define a name.

    A reader recognises such lines in the list of matches.

    >>> [bool(definition_of("parse").search(line)) for line in ("def parse(x):", "int parse(char *x)", "  y = parse(x)")]
    [True, True, False]
    """
    name = rf"\b{re.escape(word)}\b"
    return re.compile(
        rf"{_DECLARES}{name}|^\w[\w\s*&:<>]*[\s*&:]{name}\s*\(|{name}\s*\([^)]*\)[^;]*\{{\s*$|^\s*{name}\s*(?:::|:?=[^=])",
        re.IGNORECASE,
    )


class Systems:
    """The compared systems, over one tree."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._lines = {path: text.split("\n") for path, text in tree.files.items()}
        self._bm25 = Bm25(tree.files.items())
        self._grep = Grep(tree.files.items())

    def readings(self, question: str) -> dict[str, Reading]:
        """Return every system's reading of a question."""
        windows = tuple(map(self._window, self._bm25.search(question, DEPTH)))
        around = tuple(map(self._window, self._grep.search(question, DEPTH)))
        return {
            OURS: Reading(self._engine(question)),
            BM25: Reading(windows),
            GREP: Reading(around, before=tokens_in(self._grep.listing(question))),
        }

    def _engine(self, question: str) -> tuple[Piece, ...]:
        """Read ten results, then further ones not among them."""
        first = self._tree.ask(question, TEN)
        found: dict[Hit, Piece] = {}
        for item in (*first, *self._tree.ask(question, DEPTH)) if first else ():
            hit = Hit(item.path, item.start_line, item.end_line)
            found.setdefault(hit, _piece(hit, item.snippet))
        return tuple(found.values())

    def _window(self, hit: Hit) -> Piece:
        return _piece(hit, "\n".join(self._lines[hit.path][hit.start - 1 : hit.end]))


def _piece(hit: Hit, text: str) -> Piece:
    return Piece(hit, tokens_in(f"{hit.path}:{hit.start}-{hit.end}\n{text}\n"))

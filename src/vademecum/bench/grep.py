"""A careful reader with grep alone, as a baseline.

The reader lists lines with a word of the question, and reads around them.

    1. grep -i -F for every content word of the question; each file with the number of distinct words it holds
    2. files with more distinct words first; then those with a line that looks like the word's definition; then more matches
    3. the list of matching lines, best files first, cut at a length that a reader still reads
    4. windows of 20 lines before and after a match: the best window of every file in order, then their next best ones

No process is started: an index of the words finds the very lines that `grep -i -F` would. The search words are single
words, so a match never spans two words.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from vademecum.bench.measures import Hit
from vademecum.index.stopwords import STOP_WORDS

Match = tuple[int, str]  # the line, from 1, and the word it holds

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


def keywords_of(question: str) -> list[str]:
    """Return a question's words to grep for, lower-cased and distinct.

    >>> keywords_of("How does the HTTPClient retry a request?")
    ['httpclient', 'retry', 'request']
    """
    words = [word.lower() for word in _WORD.findall(question)]
    return list(dict.fromkeys(word for word in words if len(word) > 1 and word not in STOP_WORDS) or words)


class Grep:
    r"""The lines of files, indexed by their words.

    >>> grep = Grep([("src/retry.py", "def call():\n    sleep()\n"), ("src/parse.py", "def parse(line):\n    pass\n")])
    >>> grep.search("where do we sleep", 10), grep.listing("where do we sleep")
    ([Hit(path='src/retry.py', start=1, end=2)], 'src/retry.py:2:    sleep()\n')
    """

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        """Index the lines of every word.

        `files` are paths with their texts.
        """
        self._lines: dict[str, list[str]] = {path: text.split("\n") for path, text in files}
        self._paths = list(self._lines)
        sizes = [len(lines) for lines in self._lines.values()]
        self._bases = list(
            accumulate(sizes, initial=0)
        )  # first line number of each file, when all lines are numbered from 0
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
        """Return the matching lines as grep prints them.

        Files are in order of rank.
        """
        rows: list[str] = []
        for path, matches in self.ranked(question):
            numbers = list(dict.fromkeys(number for number, _ in matches))[:LISTED_PER_FILE]
            rows += (f"{path}:{n}:{self._lines[path][n - 1][:LISTED_CHARACTERS]}\n" for n in numbers)
            if len(rows) >= LISTED:
                break
        return "".join(rows[:LISTED])

    def ranked(self, question: str) -> list[tuple[str, list[Match]]]:
        """Return the files with a word of the question, best first.

        Each has its matches: a line and the word.
        """
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
        """Return the lines with a word, also inside longer words.

        Lines are numbered through all files.
        """
        lines: set[int] = set()
        at = self._words.find(word)
        while at >= 0:
            start, end = self._words.rfind("\n", 0, at) + 1, self._words.find("\n", at)
            lines.update(self._found[self._words[start:end]])
            at = self._words.find(word, end)
        return lines

    def _windows(self, path: str, matches: list[Match]) -> Iterator[Hit]:
        """Yield the windows around a file's matches, best first.

        It ends when every match was read.
        """
        lines = self._lines[path]
        size = len(lines) - (not lines[-1])
        while matches:
            at = self._best(lines, matches)
            start, end = max(1, at - AROUND), min(max(1, size), at + AROUND)
            yield Hit(path, start, end)
            matches = [match for match in matches if not start <= match[0] <= end]

    def _best(self, lines: list[str], matches: list[Match]) -> int:
        """Return the line of the best match.

        The best match has the most distinct words around it, then a definition, then the most matches.
        """
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

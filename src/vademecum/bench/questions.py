"""Questions of three kinds, with the lines that answer them.

The same seed draws the same questions.

docstring   the first sentence of a declaration's own doc comment, which is cut out of the code before the question is asked
symbol      the name of a definition, for the first line of every definition that the index's parser found
history     the first line of a commit, asked of the tree before it
"""

from __future__ import annotations

import random
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from vademecum.amounts import counted
from vademecum.bench.measures import Target
from vademecum.bench.trees import Tree
from vademecum.code import languages
from vademecum.code.checkout.classify import file_kind
from vademecum.code.languages.declarations import KIND, LEAVES
from vademecum.index.stopwords import STOP_WORDS
from vademecum.types import FileKind

T = TypeVar("T")

DOCSTRING, SYMBOL, HISTORY = "docstring", "symbol", "history"
LEAST_FILES = 5  # fewer files give an interval too wide to say anything
ALIKE = 0.6  # two questions with this share of common words count as one
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_ANY_WORD = re.compile(r"\w+")
LEAST_CHARACTERS = 4
MOST_DEFINITIONS = 3  # a name with more definitions (`run`, `__init__`) identifies nothing
_ASKED = frozenset(KIND) - LEAVES - {"namespace", "module", "impl", "extension"}


@dataclass(frozen=True, slots=True)
class Question:
    """One question, with its targets."""

    kind: str
    text: str
    targets: tuple[Target, ...]
    source: str  # a declaration's qualified name, or a commit's id
    commit: str = ""  # the commit whose tree is asked; "" for the files on disk


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A kind of question that is left out, with the reason."""

    kind: str
    reason: str


def is_product(path: str) -> bool:
    """Return whether a path names product code with known declarations.

    >>> is_product("src/app.py"), is_product("tests/test_app.py"), is_product("src/page.html")
    (True, False, False)
    """
    row = languages.row(languages.language_of(path))
    return file_kind(path) is FileKind.PRODUCT and row is not None and row.module is not None


def content_words(text: str) -> list[str]:
    """Return a sentence's content words, lower-cased and distinct.

    >>> content_words("Returns the length of the list.")
    ['returns', 'length', 'list']
    """
    words = (word.lower() for word in _WORD.findall(text))
    return list(dict.fromkeys(word for word in words if len(word) > 1 and word not in STOP_WORDS))


def alike(one: str, other: str) -> bool:
    """Return whether two questions are nearly the same.

    They share most of their words.

    >>> alike("Fix crash in the parser", "fix crash in parser"), alike("Close the socket", "Open the socket late")
    (True, False)
    """
    first, second = set(_ANY_WORD.findall(one.lower())), set(_ANY_WORD.findall(other.lower()))
    return len(first & second) >= ALIKE * len(first | second)


def draw(candidates: Mapping[str, Sequence[T]], most: int, seed: str, accept: Callable[[T], bool]) -> list[T]:
    """Draw at most `most` candidates, file by file in turn.

    No file is asked about twice before every file is asked about once. `accept` is called in order, so it may depend on
    earlier candidates.

    >>> draw({"a.py": [1, 2], "b.py": [3, 4]}, 2, "7", lambda number: number > 2)
    [3, 4]
    """
    chance = random.Random(seed)  # noqa: S311 -- a draw that can be repeated, nothing secret
    files = sorted(candidates)
    chance.shuffle(files)
    waiting = [chance.sample(candidates[file], len(candidates[file])) for file in files]
    drawn: list[T] = []
    while any(waiting):
        for own in waiting:
            while own and len(drawn) < most:
                candidate = own.pop()
                if accept(candidate):
                    drawn.append(candidate)
                    break
        if len(drawn) >= most:
            break
    return drawn


def enough(kind: str, questions: Sequence[Question]) -> LeftOut | None:
    """Return the reason to leave a kind out, or None."""
    files = len(files_asked(questions))
    if files >= LEAST_FILES:
        return None
    what = f"{counted(len(questions), 'question')} about {counted(files, 'file')}" if questions else "no question"
    return LeftOut(kind, f"{what}, and {LEAST_FILES} files are the least that can be measured")


def files_asked(questions: Iterable[Question]) -> set[str]:
    """Return the first file of each question's answer, as groups."""
    return {question.targets[0].path for question in questions}


def symbol_questions(tree: Tree, most: int, seed: int) -> list[Question]:
    """Draw names of functions, methods and types in product code.

    A name is asked about if it is neither short nor special, and is defined a few times, in product code alone.
    """
    definitions = _definitions(tree)
    candidates: dict[str, list[str]] = defaultdict(list)
    for name, places in sorted(definitions.items()):
        is_usual = len(name) >= LEAST_CHARACTERS and name.isidentifier() and not name.startswith("__")
        if is_usual and len(places) <= MOST_DEFINITIONS and all(is_product(path) for path, _ in places):
            candidates[places[0][0]].append(name)
    drawn = draw(candidates, most, f"{seed}:{SYMBOL}", lambda _: True)
    return [Question(SYMBOL, name, _first_lines(definitions[name]), name) for name in drawn]


def _definitions(tree: Tree) -> dict[str, list[tuple[str, int]]]:
    """Return every defined name, with path and line of each definition."""
    columns = ("blob", "name", "kind", "start_line")
    rows = tree.repo.catalogue.symbols([("blob", "in", sorted(set(tree.blobs.values())))], columns)
    blobs = [row[0] for row in rows]
    places: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for path, blob in sorted(tree.blobs.items()):
        for row in rows[bisect_left(blobs, blob) : bisect_left(blobs, blob + 1)]:
            if row[2] in _ASKED:
                places[row[1]].append((path, row[3]))
    return places


def _first_lines(places: list[tuple[str, int]]) -> tuple[Target, ...]:
    lines: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for path, line in places:
        lines[path].append((line, line))
    return tuple(Target(path, tuple(spans)) for path, spans in lines.items())

"""What is asked: questions of three kinds, each with the lines that answer it, drawn the same way for the same seed.

docstring   the first sentence of a declaration's own doc comment, which is cut out of the code before anybody is asked
symbol      the name of a definition
history     the first line of a commit, asked of the tree as it was before it
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from vademecum.amounts import counted
from vademecum.bench.measures import Target
from vademecum.code import languages
from vademecum.code.checkout.classify import file_kind
from vademecum.index.tokenize import STOP_WORDS
from vademecum.types import FileKind

T = TypeVar("T")

DOCSTRING, SYMBOL, HISTORY = "docstring", "symbol", "history"
LEAST_FILES = 5  # with questions about fewer, an interval would say how few they are and nothing else
ALIKE = 0.6  # share of common words from which on two questions are one
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_ANY_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `source` says where it comes from: a declaration's qualified name, or a commit's id."""

    kind: str
    text: str
    targets: tuple[Target, ...]
    source: str
    commit: str = ""  # whose tree it is asked of; "" is the files on disk


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A kind of question that is not asked, and why."""

    kind: str
    reason: str


def is_product(path: str) -> bool:
    """Whether a path names source code that users run, in a language whose declarations are known.

    >>> is_product("src/app.py"), is_product("tests/test_app.py"), is_product("src/page.html")
    (True, False, False)
    """
    row = languages.row(languages.language_of(path))
    return file_kind(path) is FileKind.PRODUCT and row is not None and row.module is not None


def content_words(text: str) -> list[str]:
    """Return the distinct words of a sentence that carry content, in lower case.

    >>> content_words("Returns the length of the list.")
    ['returns', 'length', 'list']
    """
    words = (word.lower() for word in _WORD.findall(text))
    return list(dict.fromkeys(word for word in words if len(word) > 1 and word not in STOP_WORDS))


def alike(one: str, other: str) -> bool:
    """Whether two questions share so many words that they are one.

    >>> alike("Fix crash in the parser", "fix crash in parser"), alike("Close the socket", "Open the socket late")
    (True, False)
    """
    first, second = set(_ANY_WORD.findall(one.lower())), set(_ANY_WORD.findall(other.lower()))
    return len(first & second) >= ALIKE * len(first | second)


def draw(candidates: Mapping[str, Sequence[T]], most: int, seed: str, accept: Callable[[T], bool]) -> list[T]:
    """Draw at most `most` candidates, file by file in turn, so that no file is asked about twice before every one is once.

    Args:
        candidates: by file, in a fixed order.
        most: how many to draw.
        seed: of the order in which files, and candidates of a file, come.
        accept: has the last word about a candidate; it is asked in order and may remember what it accepted.

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
    """Say why a kind of question is left out, or None when there are enough of it."""
    files = len(files_asked(questions))
    if files >= LEAST_FILES:
        return None
    what = f"{counted(len(questions), 'question')} about {counted(files, 'file')}" if questions else "no question"
    return LeftOut(kind, f"{what}, and {LEAST_FILES} files are the least that can be measured")


def files_asked(questions: Iterable[Question]) -> set[str]:
    """Return the first file of each question's answer: what questions are grouped by."""
    return {question.targets[0].path for question in questions}

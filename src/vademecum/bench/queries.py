"""Questions of three kinds, with the lines that answer them.

The same seed draws the same questions.

docstring   the first sentence of a declaration's own doc comment, which is cut out of the code before the question is asked
symbol      the name of a definition, for the first line of every definition that the index's parser found
history     the first line of a commit, asked of the tree before it

Questions from doc comments, which are cut out of the code.

A sentence is a fair question only if its words are not beside the answer. So the whole comment is cut out of a copy of
the tree; its lines are left empty so that every line keeps its number. A sentence is asked only if

    it has at least four words of content, and is neither a licence nor a note to oneself,
    it is nowhere else in the tree, in no other comment, page or generated file,
    the file without it parses, and the declaration is still there, without documentation.

A leading name, as in Go's `// Serve accepts connections.`, is removed from the question: it would make the question a
look-up of a name.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from vademecum.amounts import counted
from vademecum.bench.measures import Span, Target
from vademecum.bench.systems import Tree
from vademecum.code import languages
from vademecum.code.checkout.classify import file_kind
from vademecum.code.chunking.enrich import first_sentence
from vademecum.code.languages import comments
from vademecum.code.languages.declarations import KIND, LEAVES, Declaration, Outline
from vademecum.code.languages.line_index import Lines
from vademecum.code.languages.parse import Range, Syntax, parse
from vademecum.index.tokenize import STOP_WORDS
from vademecum.result import Ok
from vademecum.types import FileKind

LEAST_WORDS = 4
MOST_FILES = 2_000  # searched for comments
MOST_CHARACTERS = 300  # of a question; longer ones are lists without full stops
_NOT_ASKED = re.compile(
    r"\b(?:copyright|licen[cs]ed?|all rights reserved|spdx|deprecated|auto-?generated|code generated|to-?do|fix-?me)\b",
    re.IGNORECASE,
)
_DOC_WORD = re.compile(r"\w+")
_LINE_COMMENT = re.compile(rb"#[^\n]*")


@dataclass(frozen=True, slots=True)
class Documented:
    """A declaration with a doc comment."""

    path: str
    name: str
    sentence: str  # the comment's first
    opening: str  # the comment's first line as written, with markup that the sentence lacks
    span: Span
    cuts: tuple[Range, ...]  # the bytes of the comment
    stays: bool  # whether the comment is the whole body, so that a placeholder must replace it


def docstring_questions(
    files: Mapping[str, bytes], most: int, seed: int, deadline_s: float
) -> tuple[list[Question], dict[str, bytes]]:
    """Return questions from doc comments, and the files without these comments.

    `files` has the content of every file of the tree, by path. Parsing one may take `deadline_s`.
    """
    candidates: dict[str, list[Documented]] = {}
    paths = sorted(filter(is_product, files))
    if len(paths) > MOST_FILES:  # a sample parses within minutes
        paths = sorted(random.Random(f"{seed}:files").sample(paths, MOST_FILES))  # noqa: S311 -- a draw that can be repeated
    for path in paths:
        if found := list(documented(path, files[path], deadline_s)):
            candidates[path] = found
    sentences = Counter(_flat(one.sentence) for own in candidates.values() for one in own)
    said = _Sayings(files)
    drawn: list[Documented] = []

    def accept(candidate: Documented) -> bool:
        fair = (
            sentences[_flat(candidate.sentence)] == 1  # a cheap test first, before the search of the whole tree
            and said.once(candidate.sentence)
            and said.once(candidate.opening)
            and not any(alike(candidate.sentence, other.sentence) for other in drawn)
            and _is_hidden(candidate, files[candidate.path], deadline_s)
        )
        if fair:
            drawn.append(candidate)
        return fair

    draw(candidates, most, f"{seed}:{DOCSTRING}", accept)
    questions = [Question(DOCSTRING, d.sentence, (Target(d.path, (d.span,)),), d.name) for d in drawn]
    by_file: dict[str, list[Documented]] = {}
    for one in drawn:
        by_file.setdefault(one.path, []).append(one)
    return questions, {path: without(files[path], own) for path, own in by_file.items()}


def documented(path: str, content: bytes, deadline_s: float) -> Iterator[Documented]:
    """Yield the declarations of a valid file whose comments make questions."""
    read = _outline(path, content, deadline_s)
    if read is None:
        return
    outline, syntax = read
    lines = Lines(content)
    for declaration in outline.all:
        if not declaration.defines or not declaration.doc or declaration.capture in LEAVES:
            continue
        sentence = question_of(declaration)
        cuts = _comment_ranges(declaration, syntax, content)
        if sentence and cuts:
            span = (lines.number(declaration.core), lines.number(max(declaration.core, declaration.end - 1)))
            yield Documented(
                path, declaration.qualified, sentence, declaration.doc.strip().partition("\n")[0], span, cuts,
                _is_all_there_is(declaration, content, cuts[-1]),
            )  # fmt: skip


def _outline(path: str, content: bytes, deadline_s: float) -> tuple[Outline, Syntax] | None:
    """Return a file's declarations and syntax, or None with errors."""
    language = languages.language_of(path, content[: languages.HEAD])
    row = languages.row(language)
    parsed = parse(content, language, deadline_s)
    if row is None or not isinstance(parsed, Ok) or parsed.value.has_errors:
        return None
    return Outline(content, parsed.value, equations=row.equations), parsed.value


def question_of(declaration: Declaration) -> str:
    """Return a comment's first sentence as a question, "" if unfit."""
    sentence = first_sentence(declaration.doc)
    if re.match(rf"{re.escape(declaration.name)}\b", sentence):
        sentence = sentence[len(declaration.name) :].lstrip(" -:,.()")
    if _NOT_ASKED.search(declaration.doc[: 2 * MOST_CHARACTERS]) or len(sentence) > MOST_CHARACTERS:
        return ""
    return sentence if len(content_words(sentence)) >= LEAST_WORDS else ""


def _comment_ranges(declaration: Declaration, syntax: Syntax, content: bytes) -> tuple[Range, ...]:
    """Return the comments above a declaration, and its docstring."""
    above = [
        extent
        for capture in ("comment", "doc")
        for extent in syntax.captures.get(capture, ())
        if declaration.start <= extent[0] and extent[1] <= declaration.core
    ]
    strings = syntax.captures.get("docstring", [])
    own = strings[bisect_left(strings, (declaration.core, 0)) : bisect_left(strings, (declaration.end, 0))]
    inside = [extent for extent in own if comments.docstring(content[slice(*extent)].decode()) == declaration.doc]
    return tuple(sorted(above) + inside[:1])


def _is_all_there_is(declaration: Declaration, content: bytes, cut: Range) -> bool:
    """Return whether a body has nothing but its docstring."""
    if not declaration.body or not declaration.body <= cut[0] < declaration.end:
        return False
    rest = content[declaration.body : cut[0]] + content[cut[1] : declaration.end]
    return not _LINE_COMMENT.sub(b"", rest).strip()


def without(content: bytes, declarations: list[Documented]) -> bytes:
    r"""Return a file without some declarations' comments.

    Every line keeps its number.

    >>> found = list(documented("a.py", b'def f(x):\n    "Return the longest line of x."\n', 5.0))
    >>> without(b'def f(x):\n    "Return the longest line of x."\n', found)
    b'def f(x):\n    ...\n'
    """
    for start, end, stays in sorted(
        ((*cut, d.stays and cut == d.cuts[-1]) for d in declarations for cut in d.cuts), reverse=True
    ):
        kept = b"..." if stays else b""
        content = content[:start] + kept + b"\n" * content.count(b"\n", start, end) + content[end:]
    return content


def _is_hidden(candidate: Documented, content: bytes, deadline_s: float) -> bool:
    """Return whether the cut file parses, without the sentence."""
    cut = without(content, [candidate])
    read = _outline(candidate.path, cut, deadline_s)
    if read is None or _flat(candidate.sentence) in _flat(cut.decode()):
        return False
    number = Lines(cut).number
    return any(
        declaration.qualified == candidate.name
        and number(declaration.core) == candidate.span[0]
        and not declaration.doc
        for declaration in read[0].all
    )


class _Sayings:
    """The words of a tree, to find repeated sentences."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._words = "".join(_flat(content.decode()) for content in files.values())

    def once(self, sentence: str) -> bool:
        """Return whether a sentence is in one place at most.

        Wrapping and markup do not matter. A sentence of few words always counts as unique.
        """
        words = _flat(sentence)
        first = self._words.find(words)
        return words.count(" ") <= LEAST_WORDS or first < 0 or self._words.find(words, first + 1) < 0


def _flat(text: str) -> str:
    """Return the words of a text with one space around each."""
    return f" {' '.join(_DOC_WORD.findall(text.lower()))} "


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

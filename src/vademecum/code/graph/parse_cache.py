"""Files examined for questions: lines, declarations, comments, references.

Asking who calls something asks this of every file that writes the name, and the next question of most of them again. What was
examined last is kept, for as many bytes of content as `MOST_KEPT`; of syntax trees, which are asked where characters do not tell,
`MOST_TREES`. It depends on the path, the content and its language alone.

Comments, strings and code are told apart by characters, in a tenth of the time of a syntax tree. Each language reads its own;
see `Language.lexed`. Where a language asks for a parser, as JavaScript does for `/` after a bracket, for markup and for strings
within strings, and in a language without a reader, nothing is told, and the syntax tree is to be asked.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from vademecum.code.languages import rules_of
from vademecum.code.languages.lexing import COMMENT, FRAGMENT, TEMPLATE, UNSURE, UnsureError
from vademecum.code.languages.line_index import Lines
from vademecum.code.languages.parse import syntax_tree
from vademecum.code.languages.references import References
from vademecum.result import Ok

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.code.graph.terms import Node


_NAMES_ARGUMENT = re.compile(rb"\s*=(?!=)")
T = TypeVar("T")
MOST_KEPT = 5_000_000  # bytes of content; what is kept of them takes four to eight times as much
MOST_TREES = 1_000_000  # bytes of content; their trees take some thirty times as much at most
_PARSING_S = 1.0


class Lexed:
    r"""The places of comments and strings in a file.

    >>> source = b"x = h()  # h\n"
    >>> [Lexed(source, "python").is_code(at, at + 1) for at in (4, 11)]
    [True, False]
    >>> Lexed(source, "ruby").is_code(4, 5) is None
    True
    """

    def __init__(self, content: bytes, language: str) -> None:
        self._content, self._rules = content, rules_of(language)
        self._starts, self._ends, self._kinds = array("q"), array("q"), bytearray()
        self._known = 0  # how far it is known what is what
        self._unread = self._rules.lexed(content)
        self._lock = threading.Lock()

    def is_code(self, start: int, end: int) -> bool | None:
        """Return whether a name is code, None if characters cannot tell.

        A name is no code in a comment, or in a text of several words that does not call it.

        Args:
            start: where the name is, in bytes.
            end: where it ends.
        """
        if start >= self._known:
            with self._lock:
                self._read(start)
            if start >= self._known:
                return None
        at = bisect_right(self._starts, start) - 1
        if at >= 0 and start < self._ends[at]:
            is_word = _is_word(self._content[self._starts[at] : self._ends[at]], self._kinds[at])
            is_called = is_word is False and self._kinds[at] != COMMENT and self._content[end : end + 1] == b"("
            return None if is_called else is_word  # of what is generated, or of prose
        if self._rules.names_arguments and _NAMES_ARGUMENT.match(self._content, end):
            return None  # `f(name=1)` names a parameter, `name = 1` does not
        return True

    def _read(self, to: int) -> None:
        """Read on to an offset, or until characters are unsure."""
        if self._unread is None:
            return
        try:
            for start, end, kind in self._unread:
                self._ends.append(end)
                self._kinds.append(kind)
                self._starts.append(start)
                self._known = end
                if end > to:
                    return
            self._known = len(self._content)
        except UnsureError:
            self._unread = None


def _is_word(written: bytes, kind: int) -> bool | None:
    """Return whether a comment or string is a single word.

    Code may look such a word up by name.
    """
    if kind == COMMENT:
        return False
    if kind == UNSURE or b"\\" in written:
        return None
    if kind == FRAGMENT:
        return False if len(written.split()) > 1 else None
    is_word = len(written.split()) < 2
    if kind == TEMPLATE and is_word != (len(written[1:-1].split()) < 2):
        return None
    return is_word


class Examined:
    r"""One file, examined on demand.

    >>> found = Examined("a.py", b"x = 1  # one\n", "python")
    >>> found.root.descendant_for_byte_range(8, 9).type, found.lines.number(8)
    ('comment', 1)
    """

    def __init__(self, path: str, content: bytes, language: str) -> None:
        self.path, self.content, self.language = path, content, language
        self._holders: list[Node] | None = None
        self._references: References | None = None

    @cached_property
    def lines(self) -> Lines:
        """The lines of the file."""
        return Lines(self.content)

    @cached_property
    def lexed(self) -> Lexed:
        """The comments and strings of the file."""
        return Lexed(self.content, self.language)

    @property
    def root(self) -> tree_sitter.Node | None:
        """The root of the syntax tree, None without one."""
        return _TREES.of(self.path, self.content, self.language)

    def holders(self, listed: Callable[[], list[Node]]) -> list[Node]:
        """Return the declarations that hold code, innermost first.

        `listed` gives them the first time.
        """
        if self._holders is None:
            self._holders = listed()
        return self._holders

    def references(self, stored: Callable[[], str]) -> References:
        """Return the references of the file.

        `stored` gives them the first time; there are none if nothing is stored.
        """
        if self._references is None:
            text = stored()
            if not text:
                return References()
            self._references = References.load(text)
        return self._references


class Shelf(Generic[T]):
    """Keeps the latest results of files, for a number of bytes.

    Threads may share the shelf. None is not kept.

    >>> shelf = Shelf(Examined, 3)
    >>> first = shelf.of("a.py", b"a", "python")
    >>> shelf.of("a.py", b"a", "python") is first, shelf.of("b.py", b"bcd", "python") is first
    (True, False)
    >>> shelf.of("a.py", b"a", "python") is first
    False
    """

    def __init__(self, make: Callable[[str, bytes, str], T], most: int = MOST_KEPT) -> None:
        self._make, self._most, self._size = make, most, 0
        self._kept: OrderedDict[tuple[str, str, bytes], T] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, path: str, content: bytes, language: str) -> T:
        """Return the kept result for a path, content and language."""
        key = path, language, content
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = self._make(path, content, language)  # which may take its time, and others ask meanwhile
        with self._lock:
            if made is None or key in self._kept:
                return self._kept.get(key, made)
            self._kept[key] = made
            self._size += len(content)
            while self._size > self._most and len(self._kept) > 1:
                (*_, oldest), _ = self._kept.popitem(last=False)
                self._size -= len(oldest)
        return made


def _root(_: str, content: bytes, language: str) -> tree_sitter.Node | None:
    parsed = syntax_tree(content, language, _PARSING_S)
    return parsed.value.root_node if isinstance(parsed, Ok) else None


_TREES = Shelf(_root, MOST_TREES)

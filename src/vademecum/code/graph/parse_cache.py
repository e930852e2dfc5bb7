"""Files examined for questions: lines, declarations, comments, references.

Asking who calls something asks this of every file that writes the name, and the next question of most of them again. What was
examined last is kept, for as many bytes of content as `MOST_KEPT`; of syntax trees, which are asked where characters do not tell,
`MOST_TREES`. It depends on the path, the content and its language alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from vademecum.code.graph.comments import Lexed
from vademecum.code.languages.line_index import Lines
from vademecum.code.languages.parse import syntax_tree
from vademecum.code.languages.references import References
from vademecum.result import Ok

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.code.graph.terms import Node

T = TypeVar("T")
MOST_KEPT = 5_000_000  # bytes of content; what is kept of them takes four to eight times as much
MOST_TREES = 1_000_000  # bytes of content; their trees take some thirty times as much at most
_PARSING_S = 1.0


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

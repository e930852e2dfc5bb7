"""What is read of a file to tell what stands at a place in it: lines, declarations, syntax tree, references.

Asking who calls something asks this of every file that writes the name, and the next question of most of them again. What was
examined last is kept, for as many bytes of content as `MOST_KEPT`. It depends on the path, the content and its language alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from vademecum.codebase.cut import Lines
from vademecum.codebase.parse import syntax_tree
from vademecum.codebase.references import References
from vademecum.result import Ok

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.codebase.graph.terms import Node

MOST_KEPT = 2_000_000  # bytes of content; their trees and references take some thirty times as much at most
_PARSING_S = 1.0


class Examined:
    r"""One file, examined as far as was asked.

    >>> found = Examined("a.py", b"x = 1  # one\n", "python")
    >>> found.root.descendant_for_byte_range(8, 9).type, found.lines.number(8)
    ('comment', 1)
    """

    def __init__(self, path: str, content: bytes, language: str) -> None:
        self.path, self.content, self.language = path, content, language
        self.holders: list[Node] | None = None  # its declarations with code, the innermost first; None: not asked yet
        self._root: tree_sitter.Node | None = None
        self._references: References | None = None

    @cached_property
    def lines(self) -> Lines:
        """Its lines."""
        return Lines(self.content)

    @property
    def root(self) -> tree_sitter.Node | None:
        """The root of its syntax tree; None where it was not parsed in time, or no grammar reads it."""
        if self._root is None:
            parsed = syntax_tree(self.content, self.language, _PARSING_S)
            self._root = parsed.value.root_node if isinstance(parsed, Ok) else None
        return self._root

    def references(self, stored: Callable[[], str]) -> References:
        """Return what it refers to, as `stored` gives it where it was not loaded before; none where nothing is stored."""
        if self._references is None:
            text = stored()
            if not text:
                return References()
            self._references = References.load(text)
        return self._references


class Shelf:
    """Keeps what was examined last, for files of so many bytes together. Threads may share it.

    >>> shelf = Shelf(3)
    >>> first = shelf.examined("a.py", b"a", "python")
    >>> shelf.examined("a.py", b"a", "python") is first, shelf.examined("b.py", b"bcd", "python") is first
    (True, False)
    >>> shelf.examined("a.py", b"a", "python") is first
    False
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most, self._size = most, 0
        self._kept: OrderedDict[tuple[str, str, bytes], Examined] = OrderedDict()
        self._lock = threading.Lock()

    def examined(self, path: str, content: bytes, language: str) -> Examined:
        """Return a file as far as it was examined."""
        key = path, language, content
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
            found = self._kept[key] = Examined(path, content, language)
            self._size += len(content)
            while self._size > self._most and len(self._kept) > 1:
                (*_, oldest), _ = self._kept.popitem(last=False)
                self._size -= len(oldest)
        return found

"""Comments, strings and code of a file, told apart by characters.

This takes a tenth of the time of a syntax tree.

Each language reads its own; see `Language.lexed`. Where a language asks for a parser, as JavaScript does for `/` after a
bracket, for markup and for strings within strings, and in a language without a reader, nothing is told, and the syntax
tree is to be asked.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_right

from vademecum.code.languages import rules_of
from vademecum.code.languages.lexing import COMMENT, FRAGMENT, TEMPLATE, UNSURE, UnsureError

_NAMES_ARGUMENT = re.compile(rb"\s*=(?!=)")


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

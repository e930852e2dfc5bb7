"""What of a file is comment, text or code, told by its characters: in a tenth of the time that a syntax tree takes.

Comments and strings are those of the lexical grammars of ECMAScript (ECMA-262, 12), Python (reference, 2), Go (specification,
"Lexical elements") and Java (specification, 3). Where these ask for a parser, as `/` after a bracket, markup and strings within
strings do, and in any other language, nothing is told, and the syntax tree is to be asked.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_right
from collections.abc import Iterator

_COMMENT, _TEXT, _TEMPLATE, _FRAGMENT, _UNSURE = range(5)
_DEEPEST = 8  # templates within each other
_Span = tuple[int, int, int]  # start, end, what it is

# What may follow the first byte of a token, which alone is looked for: four times as fast as alternatives of whole tokens. A byte
# that none follows is a token by itself.
_DOUBLE = rb'(?<=")(?!"")[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_SINGLE = _DOUBLE.replace(b'"', b"'")
_BLOCK = rb'(?<=")""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
_SLASHED = rb"(?<=/)(?:/[^\n]*|\*[^*]*(?:\*(?!/)[^*]*)*\*/)"


def _tokens(first: bytes, *followed: bytes) -> re.Pattern[bytes]:
    return re.compile(b"[" + first + b"](?:" + b"|".join(followed) + b")?", re.DOTALL)


_PYTHON = _tokens(b"\"'#", rb"(?<=#)[^\n]*", _BLOCK, _BLOCK.replace(b'"', b"'"), _DOUBLE, _SINGLE)
_GO = _tokens(b"\"'`/", _SLASHED, _DOUBLE, _SINGLE, rb"(?<=`)[^`]*`")
_JAVA = _tokens(b"\"'/", _SLASHED, _BLOCK, _DOUBLE, _SINGLE)
_IN_SCRIPT = _SLASHED, _DOUBLE, _SINGLE, rb"(?<=`)[^`\\$]*`"
_SCRIPT, _SUBSTITUTED = _tokens(b"\"'`/", *_IN_SCRIPT), _tokens(b"\"'`/{}", *_IN_SCRIPT)
_KINDS = {b"/": _COMMENT, b"#": _COMMENT, b'"': _TEXT, b"'": _TEXT, b"`": _TEMPLATE}
_TEMPLATE_PARTS = re.compile(rb"\\.|`|\$\{", re.DOTALL)
_REGEX = re.compile(rb"/(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/")
_BEFORE_REGEX = re.compile(
    rb"(?:^|[(,=:;?&|{\[~^%*]|=>|(?<![\w$.])(?:return|typeof|case|in|of|delete|void|instanceof|new|throw|else|do|await|yield))\s*$"
)
_BEFORE_DIVISION = re.compile(rb"[\w$\]\"']\s*$")
_PREFIX = re.compile(rb"(?<!\w)[rbuftRBUFT]{1,2}$")
_NAMES_ARGUMENT = re.compile(rb"\s*=(?!=)")
_REACH = 80  # bytes before a slash that say what it is
# what only a parser reads: lines that end otherwise, markup, comments of HTML
_ODD_LINES = re.compile(rb"\r(?!\n)|\xe2\x80[\xa8\xa9]")
_MARKUP = re.compile(rb"</|/>|<!--|-->")


class _UnsureError(Exception):
    """These characters alone do not tell."""


class Lexed:
    r"""Where the comments and strings of a file are.

    >>> source = b"x = h()  # h\n"
    >>> [Lexed(source, "python").is_code(at, at + 1) for at in (4, 11)]
    [True, False]
    >>> Lexed(source, "ruby").is_code(4, 5) is None
    True
    """

    def __init__(self, content: bytes, language: str) -> None:
        self._content, self._language = content, language
        self._starts, self._ends, self._kinds = array("q"), array("q"), bytearray()
        self._known = 0  # how far it is known what is what
        self._unread = _READERS[language](content) if language in _READERS else None
        self._lock = threading.Lock()

    def is_code(self, start: int, end: int) -> bool | None:
        """Return whether a name is neither in a comment nor in a text of several words, None where that cannot be told.

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
            return _is_word(self._content[self._starts[at] : self._ends[at]], self._kinds[at])
        if self._language == "python" and _NAMES_ARGUMENT.match(self._content, end):
            return None  # `f(name=1)` names a parameter, `name = 1` does not
        return True

    def _read(self, to: int) -> None:
        """Note what there is, to an offset and a little on, or to where the characters alone do not tell."""
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
        except _UnsureError:
            self._unread = None


def _is_word(written: bytes, kind: int) -> bool | None:
    """Return whether what stands in a comment or string is a word alone, which may be looked up by name."""
    if kind == _COMMENT:
        return False
    if kind == _UNSURE or b"\\" in written:
        return None
    if kind == _FRAGMENT:
        return False if len(written.split()) > 1 else None
    is_word = len(written.split()) < 2
    if kind == _TEMPLATE and is_word != (len(written[1:-1].split()) < 2):
        return None
    return is_word


def _of_go(content: bytes) -> Iterator[_Span]:
    return _plain(content, _GO)


def _of_java(content: bytes) -> Iterator[_Span]:
    return _plain(content, _JAVA)


def _plain(content: bytes, pattern: re.Pattern[bytes]) -> Iterator[_Span]:
    for found in pattern.finditer(content):
        start, end = found.span()
        first = content[start : start + 1]
        if end - start > 1 or first == b"#":
            yield start, end, _KINDS[first]
        elif first != b"/":
            raise _UnsureError  # a quote that nothing closes


def _of_python(content: bytes) -> Iterator[_Span]:
    if _ODD_LINES.search(content):
        raise _UnsureError
    for start, end, kind in _plain(content, _PYTHON):
        prefix = _PREFIX.search(content, max(0, start - 3), start) if kind == _TEXT else None
        before = prefix[0].lower() if prefix else b""
        is_formatted = b"f" in before or b"t" in before
        if is_formatted and content.count(b"{", start, end) != content.count(b"}", start, end):
            raise _UnsureError  # a string may be within
        yield start - len(before), end, _UNSURE if is_formatted else kind


def _of_javascript(content: bytes) -> Iterator[_Span]:
    if _MARKUP.search(content):
        raise _UnsureError
    yield from _of_typescript(content)


def _of_typescript(content: bytes) -> Iterator[_Span]:
    if _ODD_LINES.search(content) or b"<!--" in content or b"-->" in content or content.startswith(b"#!"):
        raise _UnsureError
    at = 0
    while at < len(content):
        for token in _SCRIPT.finditer(content, at):
            start, end = token.span()
            if end - start == 1:
                found: list[_Span] = []
                at = _beyond(content, start, found, 0)
                yield from sorted(found)
                break
            yield start, end, _KINDS[content[start : start + 1]]
        else:
            return


def _beyond(content: bytes, start: int, found: list[_Span], depth: int) -> int:
    """Return where to go on after what a pattern of tokens does not read alone: a template with substitutions, a slash."""
    first = content[start : start + 1]
    if first == b"`":
        return _template(content, start, found, depth + 1)
    if first == b"/":
        return _after_slash(content, start)
    raise _UnsureError  # a quote that nothing closes


def _substitution(content: bytes, at: int, found: list[_Span], depth: int) -> int:
    """Note what a template's substitution holds; return where the brace that closes it ends."""
    braces = 0
    while token := _SUBSTITUTED.search(content, at):
        start, at = token.span()
        first = content[start : start + 1]
        if at - start > 1:
            found.append((start, at, _KINDS[first]))
        elif first == b"{":
            braces += 1
        elif first == b"}" and not braces:
            return at
        elif first == b"}":
            braces -= 1
        else:
            at = _beyond(content, start, found, depth)
    raise _UnsureError


def _template(content: bytes, start: int, found: list[_Span], depth: int) -> int:
    """Note the parts of a template literal and what its substitutions hold; return where it ends."""
    if depth > _DEEPEST:
        raise _UnsureError
    at = begin = start
    at += 1
    while part := _TEMPLATE_PARTS.search(content, at):
        at = part.end()
        if part[0] == b"`":
            found.append((begin, at, _TEMPLATE if begin == start else _FRAGMENT))
            return at
        if part[0] == b"${":
            found.append((begin, part.start(), _FRAGMENT))
            at = begin = _substitution(content, at, found, depth)
    raise _UnsureError


def _after_slash(content: bytes, start: int) -> int:
    """Return where to go on after a slash that begins no comment: it divides, or begins a regular expression."""
    before = content[max(0, start - _REACH) : start]
    if _BEFORE_REGEX.search(before):
        if regex := _REGEX.match(content, start):
            return regex.end()
    elif _BEFORE_DIVISION.search(before):
        return start + 1
    raise _UnsureError


_READERS = {
    "python": _of_python, "go": _of_go, "java": _of_java,
    "javascript": _of_javascript, "typescript": _of_typescript, "tsx": _of_javascript,
}  # fmt: skip

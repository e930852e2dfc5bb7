"""SCIP indexes, read: the meaning of each name according to a compiler.

SCIP is Sourcegraph's format for the output of indexers that run compilers, in Protocol Buffers (`scip.proto` of
github.com/sourcegraph/scip). Few fields of four messages are needed, so the wire format is read here: that is shorter
than what a dependency would ask of every user.

Nothing in a file is trusted: lengths and numbers are checked, and whatever is no index raises `ScipError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from vademecum.errors import SourceError

DEFINITION = 1  # the role of an occurrence that declares its symbol
UTF8, UTF16, UTF32 = 1, 2, 3  # what a document's columns count
LOCAL = "local "  # how a symbol begins that means something inside its document only
_LONGEST = 10  # bytes of a number
_PLAIN = 0x80
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types
_WIDTHS = {_FIXED64: 8, _FIXED32: 4}
_LONGEST_NAME = 4_000  # characters of a symbol; templates make long ones
# Quantifiers give nothing back: a hostile name takes no longer than another.
_PART = r"(?:[^ ]|  )*+"
_PACKAGE = re.compile(rf"{_PART} {_PART} ({_PART}) {_PART} ")
_QUOTED, _PLAIN_NAME = r"`((?:[^`]|``)*+)`", r"([\w+\-$]++)"
_DESCRIPTOR = re.compile(
    rf"(?:{_QUOTED}|{_PLAIN_NAME})(?:[/#.:!]|\([\w+\-$]*+\)\.)|\((?:{_QUOTED}|{_PLAIN_NAME})\)"
    r"|\[(?:`(?:[^`]|``)*+`|[\w+\-$]++)\]"
)
_SIGILS = "#@$"  # what code may write before a name
_SPECIAL = re.compile(r"<[\w ]+>")  # as in `<constructor>` and `<get>total`
_MODULE = ("/", "/__init__:")  # how the symbol of a file or a module ends


class ScipError(SourceError):
    """A file is no SCIP index, or was cut short."""


class Occurrence(NamedTuple):
    """One name in a document.

    Lines and columns count from 0, and the end is excluded.
    """

    line: int
    start: int
    last_line: int
    end: int
    symbol: str
    roles: int


class Document(NamedTuple):
    """One file of an index, with the places of its names."""

    path: str  # below the root of the project
    encoding: int  # UTF8, UTF16 or UTF32; UTF16 unless told, as indexers count that tell nothing
    data: bytes  # the index
    places: list[tuple[int, int]]  # where the occurrences lie in it

    def occurrences(self) -> Iterator[Occurrence]:
        """Yield names with a place and a symbol. Raises `ScipError`."""
        for first, last in self.places:
            found = _occurrence(self.data, first, last)
            if found is not None:
                yield found


class Metadata(NamedTuple):
    """The maker of an index, and the address of the project."""

    tool: str
    project_root: str


class Symbol(NamedTuple):
    """The parts of a symbol's name."""

    package: str  # "" for a local one
    names: tuple[str, ...]  # from the outermost module or type to the symbol itself; () if the name cannot be read
    is_module: bool

    is_counted: bool  # whether a number follows the name, so that there may be several

    @property
    def name(self) -> str:
        """The name in code, "" if code writes another or none."""
        return _SPECIAL.sub("", self.names[-1]) if self.names else ""

    def is_written(self, word: str) -> bool:
        """Return whether a word in code is the symbol's name.

        >>> parts_of("scip-typescript npm shop 1.0.0 `till.ts`/sum0:").is_written("sum")
        True
        """
        plain, name = word.lstrip(_SIGILS), self.name.lstrip(_SIGILS)
        return plain == name or (self.is_counted and name.startswith(plain) and name[len(plain) :].isdigit())


def metadata(data: bytes) -> Metadata:
    """Return the maker and the project of an index. Raises `ScipError`."""
    tool, root = "", ""
    for number, first, last in _fields(data, 0, len(data)):
        if number != 1 or last < 0:
            continue
        for key, begin, end in _fields(data, first, last):
            if key == 2 and end >= 0:
                parts = [_text(data, *where) for which, *where in _fields(data, begin, end) if which in {1, 2}]
                tool = " ".join(parts)
            elif key == 3 and end >= 0:
                root = _text(data, begin, end)
        break
    return Metadata(tool, root)


def documents(data: bytes) -> Iterator[Document]:
    """Yield the documents of an index. Raises `ScipError`."""
    for number, first, last in _fields(data, 0, len(data)):
        if number == 2 and last >= 0:
            yield _document(data, first, last)


@lru_cache(maxsize=100_000)
def parts_of(symbol: str) -> Symbol:
    """Return the parts of a symbol's name.

    >>> parts_of("scip-typescript npm shop 1.0.0 src/`till.ts`/Till#add().").names
    ('src', 'till.ts', 'Till', 'add')
    >>> parts_of("local 7"), parts_of("nonsense").name
    (Symbol(package='', names=(), is_module=False, is_counted=False), '')
    """
    is_read = not symbol.startswith(LOCAL) and len(symbol) <= _LONGEST_NAME
    head = _PACKAGE.match(symbol) if is_read else None
    if head is None:
        return Symbol("", (), False, False)
    names: list[str] = []
    at = head.end()
    while at < len(symbol):
        found = _DESCRIPTOR.match(symbol, at)
        if found is None:
            return Symbol(head[1], (), False, False)
        own = next((text for text in found.groups() if text is not None), "")
        names.append(own.replace("``", "`"))
        at = found.end()
    return Symbol(head[1], tuple(names), symbol.endswith(_MODULE), symbol.endswith(":"))


def _document(data: bytes, first: int, last: int) -> Document:
    path, encoding = "", 0
    places: list[tuple[int, int]] = []
    for number, begin, end in _fields(data, first, last):
        if number == 1 and end >= 0:
            path = _text(data, begin, end)
        elif number == 2 and end >= 0:
            places.append((begin, end))
        elif number == 6 and end < 0:
            encoding = begin
    return Document(path, encoding if encoding in {UTF8, UTF32} else UTF16, data, places)


def _occurrence(data: bytes, first: int, last: int) -> Occurrence | None:
    """Return an occurrence, None if it has no place or no symbol."""
    symbol, roles = "", 0
    place: list[int] = []
    for number, begin, end in _fields(data, first, last):
        if number == 1 and end < 0:
            place.append(begin)
        elif number == 1:
            at = begin
            while at < end:
                value, at = _varint(data, at, end)
                place.append(value)
        elif number == 2 and end >= 0:
            symbol = _text(data, begin, end)
        elif number == 3 and end < 0:
            roles = begin
    if len(place) not in {3, 4} or not symbol:
        return None
    line, start, *_, end = place
    return Occurrence(line, start, place[2] if len(place) == 4 else line, end, intern(symbol), roles)


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the fields of a message: number, start, end.

    A number's field has the value for its start, and -1 for its end.
    """
    while at < end:
        key, at = _varint(data, at, end)
        kind = key & 7
        if kind == _BYTES:
            size, at = _varint(data, at, end)
            if size > end - at:
                raise ScipError("it was cut short")
            yield key >> 3, at, at + size
            at += size
        elif kind == _VARINT:
            value, at = _varint(data, at, end)
            yield key >> 3, value, -1
        elif kind in _WIDTHS and _WIDTHS[kind] <= end - at:
            at += _WIDTHS[kind]
        else:
            raise ScipError("it is no SCIP index")


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    value = shift = 0
    for place in range(at, min(at + _LONGEST, end)):
        byte = data[place]
        if byte < _PLAIN:
            return value | byte << shift, place + 1
        value |= (byte & 0x7F) << shift
        shift += 7
    raise ScipError("it was cut short" if end - at < _LONGEST else "it is no SCIP index")


def _text(data: bytes, first: int, last: int) -> str:
    return data[first:last].decode("utf-8", "replace") if last >= 0 else ""

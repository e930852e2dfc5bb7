"""SCIP indexes written by hand: just enough of the format for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

DEFINED, READ = 1, 8
Said = tuple[str, int, str, int]  # a word, which of its places in the file (from 0), a symbol, a role


def varint(value: int) -> bytes:
    """Return a number as Protocol Buffers write it."""
    value &= (1 << 64) - 1
    found = b""
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


def field(number: int, content: bytes | str | int) -> bytes:
    """Return one field of a message."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def occurrence(place: Sequence[int], symbol: str, role: int = READ) -> bytes:
    """Return a name at [line, start, end], all from 0, or with a last line before the end."""
    return field(1, b"".join(map(varint, place))) + field(2, symbol) + field(3, role)


def document(path: str, *occurrences: bytes) -> bytes:
    """Return a document."""
    return field(1, path) + b"".join(field(2, each) for each in occurrences)


def index(*documents: bytes, root: str = "") -> bytes:
    """Return an index."""
    made = field(2, field(1, "scip-hand") + field(2, "1.0")) + field(3, root)
    return field(1, made) + b"".join(field(2, each) for each in documents)


def place(text: str, word: str, which: int = 0) -> list[int]:
    """Return [line, start, end] of a word, columns in UTF-16."""
    at = -1
    for _ in range(which + 1):
        at = text.index(word, at + 1)
    start = text.rfind("\n", 0, at) + 1
    units = len(text[start:at].encode("utf-16-le")) // 2
    return [text.count("\n", 0, at), units, units + len(word.encode("utf-16-le")) // 2]


def written(folder: Path, said: Mapping[str, Sequence[Said]], name: str = "index.scip") -> Path:
    """Write an index of files as they are now, and return its path."""
    documents = []
    for path, names in said.items():
        text = (folder / path).read_text("utf-8")
        documents.append(
            document(
                path,
                *(occurrence(place(text, word, which), symbol(means), role) for word, which, means, role in names),
            )
        )
    (folder / name).write_bytes(index(*documents, root=folder.as_uri()))
    return folder / name


def symbol(short: str) -> str:
    """Return a symbol of the package `shop`; others come whole."""
    return short if " " in short else f"hand pip shop 1 {short}"

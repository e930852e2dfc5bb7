"""Safe reading and decoding of a file.

Nothing outside the root is ever read. Each directory on the way is opened from its parent, and no link is followed,
even if a link replaces a directory during the read.

Of a Jupyter notebook only the cells are read; each line stands where it does in the file. Cells of code are read in the
kernel's language, cells of prose as comments; outputs are blank. A mark begins each cell, as the percent format has it.
"""

# Paths are strings here, as in the walk
from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from vademecum.beneath import from_folder, open_beneath
from vademecum.code.checkout.root import Root
from vademecum.errors import OutsideRootError
from vademecum.result import Err, Ok, Result
from vademecum.types import FileEntry, Skipped

MAX_FILE_BYTES = 1 << 20
FORCED_FILE_BYTES = 64 << 20  # a `!pattern` cannot force in a larger file
NOTEBOOK = ".ipynb"
NOTEBOOK_TIMES = 16  # a notebook may be so many times larger than other files: most of it is pictures
INODE_BITS = (1 << 63) - 1  # the database keeps 63 bits of an inode number; some file systems use 64
_SNIFFED_BYTES = 8192  # a NUL this early means binary, as in git
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:|\\\\")


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text, as UTF-8 without a mark, and its blob id."""

    text: bytes
    blob: str


def is_printable(path: str) -> bool:
    """Return whether a path is UTF-8 on one line, without control characters."""
    return path.isprintable() or not _CONTROL.search(path)


def printable(path: str) -> str:
    r"""Escape a path so that it can be stored and shown.

    >>> printable("a/b.py"), printable("a\nb"), printable("caf\udce9")
    ('a/b.py', 'a\\nb', 'caf\\xe9')
    """
    decoded = os.fsencode(path).decode(errors="backslashreplace")
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), decoded)


def contained(root: Root, path: str) -> Result[str, OutsideRootError]:
    """Return a path relative to the root, with links resolved.

    "." is the root itself. Absolute paths must lie in the root. The file need not exist.
    """
    if "\0" in path:
        return Err(OutsideRootError(f"{printable(path)!r} holds a NUL byte, which no path can"))
    if _DRIVE.match(path):
        return Err(OutsideRootError(f"{path!r} names a drive; give a path relative to {root.path}"))
    if ".." in path.split("/"):
        return Err(OutsideRootError(f"{path!r} climbs with '..'; give a path relative to {root.path}"))
    top = os.path.realpath(root.path)
    target = os.path.realpath(os.path.join(top, path))
    inside = from_folder(target, top)
    if inside is None:
        return Err(OutsideRootError(f"{path!r} leads out of {root.path}, to {target}; only files inside are read"))
    return Ok(inside)


def read_source(root: Root, entry: FileEntry, max_bytes: int = MAX_FILE_BYTES) -> Source | Skipped:
    """Read one file as text, or return the reason not to.

    A file that was forced in is read up to its own size.
    """
    content = read_beneath(root.path, entry.path, max(max_bytes, min(entry.size, FORCED_FILE_BYTES)))
    if isinstance(content, Skipped):
        return content
    return decode_source(entry.path, content)


def decode_source(path: str, content: bytes) -> Source | Skipped:
    """Decode a file's content, from the disk or from a commit.

    UTF-16 and UTF-32 are recognised by a byte order mark. In a file with some valid UTF-8 beyond ASCII, invalid bytes
    become U+FFFD. A file with none is read as Windows-1252, which covers Latin-1 text. Of a notebook only cells are read.

    >>> decode_source("menu.txt", "café".encode("latin-1")).text.decode()
    'café'
    """
    text = _decode(content)
    if text is not None and path.lower().endswith(NOTEBOOK):
        text = _cells(text) or text
    return Skipped(path, "binary", "NUL bytes") if text is None else Source(text, blob_id(content))


def bytes_said(number: int) -> str:
    """Format a number of bytes for people.

    >>> bytes_said(67108864), bytes_said(1_500_000), bytes_said(100)
    ('64 MiB', '1.4 MiB', '100 bytes')
    """
    return f"{number / 2**20:.1f} MiB".replace(".0 ", " ") if number >= 2**20 else f"{number} bytes"


def read_beneath(root: str, path: str, limit: int) -> bytes | Skipped:
    """Read a file below the root, refusing links."""
    descriptor = -1
    try:
        descriptor = open_beneath(root, path)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return Skipped(path, "not a regular file")
        content = _read_at_most(descriptor, limit + 1)
    except (OSError, ValueError) as error:
        detail = error.strerror if isinstance(error, OSError) else str(error)
        return Skipped(printable(path), "unreadable", detail or "")
    finally:
        if descriptor >= 0:
            os.close(descriptor)
    return content if len(content) <= limit else Skipped(path, "too large", f"more than {bytes_said(limit)}")


_PIECE = 1 << 24  # bytes asked for at once: a limit may be larger than memory


def _read_at_most(descriptor: int, limit: int) -> bytes:
    pieces = []
    while limit > 0 and (piece := os.read(descriptor, min(limit, _PIECE))):
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)


_MARKS = (  # UTF-32's little-endian mark begins with UTF-16's
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def _decode(content: bytes) -> bytes | None:
    """Return the content as UTF-8, or None when it is binary."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace").encode()
    content = content.removeprefix(b"\xef\xbb\xbf")
    if content.find(b"\0", 0, _SNIFFED_BYTES) >= 0:
        return None
    try:
        content.decode()
    except UnicodeDecodeError:
        tolerant = content.decode(errors="ignore")
        return content.decode("cp1252" if tolerant.isascii() else "utf-8", "replace").encode()
    return content


def blob_id(content: bytes) -> str:
    r"""Name content as git does.

    >>> blob_id(b"hello\n")
    'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    import hashlib  # loads OpenSSL

    digest = hashlib.sha1(b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


_KERNEL = re.compile(rb'"language_info":\s*\{[^\[\]]*?"name":\s*"([\w#+-]+)"|"language":\s*"([\w#+-]+)"')
_KIND = re.compile(rb'(\s*)"cell_type":\s*"(\w+)"')
_SOURCE = re.compile(rb'(\s*)"source":\s*(?:(\[\s*)|("[^\n]*"))\s*,?\s*')
_LINE = re.compile(rb'\s*("(?:[^"\\]|\\.)*"),?\s*')
_SLASHES = {"c", "c++", "c#", "f#", "go", "java", "javascript", "kotlin", "rust", "scala", "swift", "typescript"}
# Magic whose cell is code all the same.
_CODE = re.compile(r"%%(?:time|timeit|capture|prun|memit)\b")
_MAGIC = re.compile(r"(\s*)(%{1,2}[a-zA-Z]|[!?]|[\w.]+\?+\s*$)")


def _cells(content: bytes) -> bytes | None:
    r"""Return the text of a notebook's cells, None without line breaks.

    The line above the first cell names the language. The text has as many lines as the file.

    >>> _cells(b'{\n"cells": [{\n"cell_type": "code",\n"source": [\n"a = \\"b\\"\\n"\n]\n}]\n}').decode().split("\n")
    ['', '', '#!python', '# %%', 'a = "b"', '', '', '']
    """
    found = _KERNEL.search(content, content.rfind(b'"metadata"')) or _KERNEL.search(content)
    language = (found[1] or found[2]).decode().lower().removeprefix("i") if found else "python"
    lines = content.split(b"\n")
    try:
        texts = list(_texts(lines, "// " if language in _SLASHES else "# "))
    except ValueError:  # a line that holds several
        return None
    if not any(texts):
        return None
    first = next(number for number, text in enumerate(texts) if text)
    texts[first - 1] = f"#!{language}"
    return "\n".join(texts).encode("utf-8", "replace")


def _texts(lines: list[bytes], mark: str) -> Iterator[str]:
    indent, kind, inside, is_code = b"", b"", False, True
    for line in lines:
        text = ""
        if inside:
            found = _LINE.fullmatch(line)
            inside = found is not None
            text = _said(found[1]) if found else ""
            if text.startswith("%%"):
                is_code = bool(_CODE.match(text))
            text = _code(text, mark) if is_code else f"{mark}{text}" if text else ""
        elif found := _KIND.match(line):
            indent, kind = found.groups()
        elif kind and (found := _SOURCE.fullmatch(line)) and found[1] == indent:
            inside, is_code = found[2] is not None, kind == b"code"
            cell = "" if is_code else f" [{kind.decode()}]"
            text = f"{mark}%%{cell}"
            if found[3] and found[3] != b'""':
                text = _code(_said(found[3]), mark) if is_code else mark + _said(found[3])
        yield text


def _said(quoted: bytes) -> str:
    """Return the one line that a string of JSON holds."""
    text = str(json.loads(quoted)).removesuffix("\n").removesuffix("\r")
    if "\n" in text:
        raise ValueError
    return text


def _code(text: str, mark: str) -> str:
    """Return a line of code, a comment where the notebook runs it."""
    return _MAGIC.sub(rf"\1{mark}\2", text, count=1) if _MAGIC.match(text) else text

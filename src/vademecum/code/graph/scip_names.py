"""Names of a SCIP index, checked against the text of the repository.

An index carries neither content nor its hash. So a document fits a file only if every name stands where the index puts
it: a whole word at each place, and at each declaration the declared name. What fits is followed to our declarations by
file, line and name. A reference that is written otherwise than its symbol is believed only if the file imports it so.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from vademecum.code.graph.scip import DEFINITION, LOCAL, UTF8, UTF32, Document, Occurrence, parts_of
from vademecum.code.graph.stored_graph import Records
from vademecum.code.languages.line_index import Lines
from vademecum.code.languages.parse import syntax_tree
from vademecum.code.snapshot.repository import Opened
from vademecum.code.snapshot.view import LEFT_OUT
from vademecum.result import Ok

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.code.graph.definitions import File

_ENCODINGS = {UTF8: ("utf-8", 1), UTF32: ("utf-32-le", 4)}
_UTF16 = ("utf-16-le", 2)
_QUOTES = "'\"`"
_CONTINUES = (".", "?", ")", "]", "}", "-", ":")  # how a line begins that goes on with an expression
_JOINTS = (".", "->", "::")  # how a line ends that does
_LONGEST_LINE = 20_000  # characters
_MOST_NAMES = 1_000  # in a file beyond one for each byte: an index that says more is no honest one


class Proof(NamedTuple):
    """The meaning of a name at a line."""

    line: int  # from 1
    name: str  # as written
    is_member: bool  # whether it is written after a receiver
    begins: int  # the line on which the expression that ends with the name begins
    path: str  # the file that declares what is meant, "" where none of the repository does
    qualified: str  # its qualified name, "" for what is no declaration of ours, as a local variable


@dataclass(slots=True)
class Taken:
    """The part of an index that fits, and the rest."""

    files: dict[str, tuple[str, list[Proof]]] = field(default_factory=dict)  # path → git blob id, proofs
    stale: list[str] = field(default_factory=list)  # files that are not as they were when the index was made
    outside: list[str] = field(default_factory=list)  # paths that lead out of the repository
    absent: int = 0  # documents of files that are not indexed


class _Name(NamedTuple):
    """A name of a document, found at its place."""

    line: int  # from 0
    word: str
    symbol: str
    is_definition: bool
    is_member: bool
    continues: bool  # whether the expression may begin on an earlier line
    column: int  # in characters


class Taker:
    """Takes one index for the files of a snapshot."""

    def __init__(self, opened: Opened, prefix: str) -> None:
        """Take the snapshot and the folder of the project.

        The folder is "" or ends with a slash.
        """
        repo, files = opened.repo, opened.view.files
        self._catalogue, self._prefix = repo.catalogue, prefix
        self._records = Records(repo.catalogue, opened.snapshot.id, repo.plan)
        self._files = {
            path: (blob, files.language(number), files.digests[number].tobytes().hex())
            for number, (path, blob) in enumerate(zip(files.paths, files.blobs.tolist(), strict=True))
            if blob != LEFT_OUT
        }
        self._folders = {part for path in files.paths for part in path.split("/")[:-1]}
        self._deadline_s = repo.plan.deadline_s
        self._named: dict[str, list[_Name]] = {}
        self._declared: dict[str, set[tuple[str, str]]] = {}  # by symbol, a local one with its file: our declarations
        self._defined: dict[str, str] = {}  # by symbol: the path of a file that does not fit, and defines it
        self._packages: set[str] = set()
        self._seen: set[str] = set()
        self._taken = Taken()

    def take(self, documents: Iterable[Document]) -> Taken:
        """Return the part of an index that fits. Raises `ScipError`."""
        for document in documents:
            self._read(document)
        self._packages |= {parts_of(symbol).package for symbol in self._defined}
        for path, names in self._named.items():
            self._taken.files[path] = self._files[path][2], sorted(set(self._proofs(path, names)))
        return self._taken

    # -- documents and text --------------------------------------------------------------------------------------

    def _read(self, document: Document) -> None:
        path = posixpath.normpath(posixpath.join(self._prefix, document.path))
        if document.path[:1] == "/" or path.partition("/")[0] == "..":
            self._taken.outside.append(document.path)
        elif path not in self._files:
            self._taken.absent += 1
        elif path not in self._seen:
            self._seen.add(path)
            names = fitting(document, self._catalogue.content(self._files[path][0]))
            if names is None:
                self._taken.stale.append(path)
                self._defined |= {each.symbol: path for each in document.occurrences() if _defines(each)}
            else:
                self._named[path] = names
                self._declare(path, names)

    def _declare(self, path: str, names: Iterable[_Name]) -> None:
        """Note the declarations of a file by their symbols."""
        rows: dict[str, list[tuple[int, int, str]]] = {}
        for _, _, name, qualified, _, start, end in self._records.symbols(self._files[path][0]):
            rows.setdefault(name, []).append((end - start, start, qualified))
        for each in names:
            if not each.is_definition:
                continue
            line = each.line + 1
            around = [row for row in rows.get(each.word, ()) if row[1] <= line <= row[1] + row[0]]
            declared = self._declared.setdefault(_key(path, each.symbol), set())
            declared |= {(path, min(around)[2])} if around else set()
            self._packages.add(parts_of(each.symbol).package)

    # -- proofs --------------------------------------------------------------------------------------------------

    def _proofs(self, path: str, names: list[_Name]) -> Iterator[Proof]:
        """Yield the proofs of a fitting file."""
        blob, language, _ = self._files[path]
        begins = _Begins(self._catalogue.content(blob), language, self._deadline_s)
        file = self._records.file(path, blob, language)
        for each in names:
            meant = self._meant(path, each)
            if meant is None or (each.is_definition and meant[1]) or not _is_believed(each, file):
                continue
            line = each.line + 1
            begin = begins.of(each) if each.continues else line
            yield Proof(line, each.word, each.is_member, begin, *meant)

    def _meant(self, path: str, each: _Name) -> tuple[str, str] | None:
        """Return path and qualified name of a proof, or None."""
        symbol = parts_of(each.symbol)
        if symbol.is_module:
            return None
        declared = self._declared.get(_key(path, each.symbol))
        if declared is not None:
            if len(declared) > 1:  # an indexer that gives one symbol to several declarations
                return None
            where, qualified = next(iter(declared), (path, ""))
            holder, _, own = qualified.rpartition(".")
            is_made = not symbol.name and holder.rpartition(".")[2] == each.word != own  # a constructor, by its class
            return where, holder if is_made else qualified
        if each.symbol in self._defined:
            return self._spelled(self._defined[each.symbol], symbol.names)
        is_ours = symbol.package in self._packages or symbol.package.rpartition("/")[2] in self._folders
        return None if is_ours or not symbol.package else ("", "")

    def _spelled(self, path: str, names: tuple[str, ...]) -> tuple[str, str] | None:
        """Return the declaration of a changed file that a symbol spells out."""
        here = {row[3] for row in self._records.symbols(self._files[path][0])}
        ways = (".".join(names[first:]) for first in range(len(names)))
        return next(((path, way) for way in ways if way in here), None)


def fitting(document: Document, content: bytes) -> list[_Name] | None:
    """Return the names of a document, None if the text differs."""
    lines = content.decode("utf-8", "replace").split("\n")
    found: list[_Name] = []
    if len(document.places) > _MOST_NAMES + len(content):
        return None
    for each in document.occurrences():
        if (each.line, each.start) == (each.last_line, each.end):
            continue  # the file itself
        if each.line != each.last_line or each.line >= len(lines):
            return None
        line = lines[each.line]
        if len(line) > _LONGEST_LINE:
            continue  # machines write such
        start, end = (each.start, each.end) if line.isascii() else _columns(line, each, document.encoding)
        word = line[start:end]
        if not start < end <= len(line) or not _is_whole(line, start, end):
            return None
        bare = word.strip(_QUOTES)
        symbol = parts_of(each.symbol)
        if _defines(each) and symbol.name.isidentifier() and not symbol.is_written(bare):
            return None
        before = line[:start].strip()
        goes_on = not before and each.line > 0 and lines[each.line - 1].rstrip().endswith(_JOINTS)
        is_member = goes_on or before.endswith(_JOINTS)
        continues = goes_on or before.startswith(_CONTINUES)
        found.append(_Name(each.line, bare, each.symbol, _defines(each), is_member, continues, start))
    return found


def _columns(line: str, each: Occurrence, encoding: int) -> tuple[int, int]:
    """Return a range in characters, empty if it cuts one."""
    codec, width = _ENCODINGS.get(encoding, _UTF16)
    units = line.encode(codec, "surrogatepass")
    try:
        before = units[: each.start * width].decode(codec)
        return len(before), len(before) + len(units[each.start * width : each.end * width].decode(codec))
    except UnicodeDecodeError:
        return 0, 0


def _is_whole(line: str, start: int, end: int) -> bool:
    """Return whether a range splits no word and has no outer blanks."""
    first, last = line[start], line[end - 1]
    if first.isspace() or last.isspace():
        return False
    splits_first = start > 0 and _is_letter(first) and _is_letter(line[start - 1])
    return not splits_first and not (end < len(line) and _is_letter(last) and _is_letter(line[end]))


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


def _is_believed(each: _Name, file: File) -> bool:
    """Return whether a name is that of its symbol or an import."""
    symbol = parts_of(each.symbol)
    if each.symbol.startswith(LOCAL) or each.is_definition or symbol.is_written(each.word):
        return True
    if not symbol.name:  # a constructor, written as its class
        return len(symbol.names) > 1 and each.word == symbol.names[-2]
    return any(member == symbol.name for _, _, member in file.imports.get(each.word, ()))


def _defines(each: Occurrence) -> bool:
    return bool(each.roles & DEFINITION)


def _key(path: str, symbol: str) -> str:
    return f"{path}\0{symbol}" if symbol.startswith(LOCAL) else symbol


class _Begins:
    """Tells where expressions of one file begin."""

    def __init__(self, content: bytes, language: str, deadline_s: float) -> None:
        self._content, self._language, self._deadline_s = content, language, deadline_s
        self._root: tree_sitter.Node | None = None
        self._lines: Lines | None = None

    def of(self, each: _Name) -> int:
        """Return the first line, from 1, of the chain before a name."""
        if self._lines is None:
            self._lines = Lines(self._content)
            parsed = syntax_tree(self._content, self._language, self._deadline_s)
            self._root = parsed.value.root_node if isinstance(parsed, Ok) else None
        if self._root is None:
            return each.line + 1
        start = self._lines.starts[each.line]
        line = self._content[start:].partition(b"\n")[0].decode("utf-8", "replace")
        at = start + len(line[: each.column].encode())
        node = self._root.descendant_for_byte_range(at, at + 1)
        while node is not None and node.parent is not None and node.parent.end_byte == node.end_byte:
            if node.parent.type.endswith(("statement", "program", "module", "block", "body")):
                break
            node = node.parent
        return each.line + 1 if node is None else self._lines.number(node.start_byte)

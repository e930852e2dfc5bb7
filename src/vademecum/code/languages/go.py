"""Go: modules by go.mod, names and methods shared in a package."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vademecum.code.languages.imports import QUOTED, Bound
from vademecum.code.languages.language import Language, Read
from vademecum.code.languages.lexing import DOUBLE, SINGLE, SLASHED

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.code.languages.modules import Modules
    from vademecum.code.languages.references import References
    from vademecum.code.languages.scopes import Candidate, Source

# Methods of the standard library's interfaces, and functions that run by themselves.
_SPECIAL = """
    Error String GoString Format Unwrap Is As Timeout Temporary MarshalJSON UnmarshalJSON MarshalText UnmarshalText AppendText
    MarshalBinary UnmarshalBinary AppendBinary MarshalXML UnmarshalXML MarshalXMLAttr UnmarshalXMLAttr GobEncode GobDecode
    ServeHTTP RoundTrip Flush Hijack WriteHeader Header Read Write Close Seek ReadAt WriteAt ReadFrom WriteTo ReadByte UnreadByte
    WriteByte ReadRune UnreadRune WriteString Len Less Swap Push Pop Scan Value Set IsBoolFlag Open Stat ReadDir ReadFile Glob Sub
    Readdir Name Size Mode ModTime IsDir Sys Type Info Lock Unlock Deadline Done Err Sum Reset BlockSize Int63 Uint64 Seed Handle
    Enabled WithAttrs WithGroup LogValue Visit Accept Addr LocalAddr RemoteAddr SetDeadline SetReadDeadline SetWriteDeadline Network
    Begin Commit Rollback Prepare Exec Query Connect Driver ColorModel Bounds At main init
"""
_GENERIC = "cmp iter maps slices sync"


class _Go(Language):
    def imported(self, statement: str) -> Iterator[Bound]:
        """Read one line of an import declaration.

        >>> [list(LANGUAGE.imported(spec)) for spec in ('"a/go-yaml/v2"', '. "b"', 'c "d/e"', '_ "f"')]
        [[('yaml', 'a/go-yaml/v2', '')], [('*', 'b', '*')], [('c', 'd/e', '')], [('', 'f', '')]]
        """
        quoted = re.search(QUOTED, statement)
        if quoted is None:
            return
        path, alias = quoted[1], statement[: quoted.start()].strip()
        if alias == ".":
            yield "*", path, "*"
        else:
            last = [part for part in path.split("/") if not re.fullmatch(r"v\d+", part)][-1:] or [path]
            yield ("" if alias == "_" else alias or re.sub(r"\.v\d+$|^go-|-go$", "", last[0])), path, ""

    def results(self, written: tree_sitter.Node, text: Read) -> Sequence[str]:
        """Return the type of each result."""
        if written.type != "parameter_list":
            return (text(written),)
        listed = ((each.child_by_field_name("type"), each.children_by_field_name("name")) for each in written.children)
        return [text(typed) for typed, names in listed if typed is not None for _ in names or (None,)]

    def calls_itself(self, name: str) -> bool:
        """Return whether the library calls a method, or runs a test."""
        return super().calls_itself(name) or re.match(r"(?:Test|Benchmark|Example|Fuzz)(?![a-z])", name) is not None

    def locate(self, modules: Modules, importer: str, module: str) -> str:
        """Find a package by the module paths of go.mod files."""
        for name, folder in modules.once(_module_paths):
            if module == name or module.startswith(name + "/"):
                place = posixpath.join(folder, module[len(name) + 1 :]).rstrip("/")
                return f"{place}/" if place in modules.folders else ""
        return ""

    def may_join_function(self, before: bytes, refs: References) -> bool:
        """Return False after a value: functions stand after packages."""
        word = re.search(rb"(?:^|[^\w.)\]])(\w+)\.$", before)
        named = word[1].decode() if word else ""
        is_imported = any(row[2] == named for row in refs.imports)
        return bool(named) and (is_imported or all(row[2] != named for row in refs.bindings))

    def in_package(self, path: str) -> bool:
        """Return whether a file is no test."""
        return path.endswith(".go") and not path.endswith("_test.go")

    def is_seen(self, file: Source, scope: str, candidate: Candidate) -> bool:
        """Return whether a declaration is no member; members need a receiver."""
        return "." not in candidate[1].qualified

    def chosen(
        self, file: Source, scope: str, found: Sequence[Candidate], modules: Modules
    ) -> tuple[Candidate, bool] | None:
        """Return a declaration of the file's own package."""
        folder, package = posixpath.dirname(file.path), file.refs.package
        own = [e for e in found if posixpath.dirname(e[0].path) == folder and e[0].refs.package == package]
        return (own[0], True) if own else None


def _module_paths(modules: Modules) -> list[tuple[str, str]]:
    """Return each module's path with its directory, the longest path first."""
    found = []
    for path in modules.by_last.get("go.mod", ()):
        named = re.search(r"^module\s+(\S+)", modules.content(path), re.MULTILINE)
        if named:
            found.append((named[1].strip('"'), posixpath.dirname(path)))
    return sorted(found, key=lambda each: -len(each[0]))


LANGUAGE = _Go(
    "go",
    extensions=(".go",),
    aliases=("golang",),
    module="tree_sitter_go",
    queries=("go",),
    result_last=True,
    is_lexical=True,
    shares_names=True,
    opened_in=lambda one, other: posixpath.dirname(one) == posixpath.dirname(other),
    lexical=(b"\"'`/", SLASHED, DOUBLE, SINGLE, rb"(?<=`)[^`]*`"),  # The Go Programming Language Specification
    special=_SPECIAL,
    types_results=True,
    generic=frozenset(_GENERIC.split()),
    shadows_packages=True,
    is_structural=True,
    decorates=rb"//(?:go:|export(?= ))",
    inert="noinline nosplit norace noescape build generate embed",
    builds_one=True,
)

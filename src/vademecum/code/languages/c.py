"""C: headers, functions of the whole program, macros between declarations."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from vademecum.code.languages.imports import Bound
from vademecum.code.languages.language import Language
from vademecum.code.languages.modules import Modules, nearest
from vademecum.code.languages.scopes import CLASSES, Candidate, Source, anywhere, parent_scopes, starred

_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++")
_COMMON = """
    push_back begin end c_str data front back emplace emplace_back at substr find_first_of reserve resize str what good eof
"""
_STANDARD_TEXT = """
    assert ctype errno fcntl float inttypes limits locale malloc math memory poll pthread sched semaphore setjmp
    signal stdarg stdatomic stdbool stddef stdint stdio stdlib string strings time unistd wchar windows
"""
_STANDARD = frozenset(_STANDARD_TEXT.split())
# What only C++ writes at the beginning of a header.
_CPP_HEADER = (
    rb"^\s*(?:class\s+\w+\s*(?:final\s*)?[:{;]|class\s+\w+\s+\w+|namespace\b|template\s*<|using\s+\w+\s*=|(?:public|private|protected)\s*:)"
    rb"|\bstd::|\bconstexpr\b|\bnoexcept\b|^#include <(?:iostream|string|vector|map|memory|utility|algorithm)>"
)
# Macros that stand where C has no place for them: alone on a line (`FMT_BEGIN_NAMESPACE`), between `class` and its
# name, before a function's type (`FMT_API void f(`), or after a field or a function: clang's thread safety annotations.
_MACROS = (
    rb"(?m)^[A-Z][A-Z0-9]*_[A-Z0-9_]+(?=[ \t]*\r?$)"
    rb"|(?<=^class )[A-Z][A-Z0-9_]{2,}(?=[ \t]+\w+[^;\n]*$)"
    rb"|(?<=^struct )[A-Z][A-Z0-9_]{2,}(?=[ \t]+\w+[^;\n=(]*$)"
    rb"|(?<=^class )[A-Z][A-Z0-9_]{2,}(?=[ \t]+\w+[ \t]*(?:final[ \t]*)?[:{])"
    rb"|(?<=[\w)][ \n])[A-Z_]*(?:GUARDED_BY|GUARDED_VAR|(?:EXCLUSIVE|SHARED)_LOCKS_REQUIRED|LOCKS_EXCLUDED"
    rb"|(?:EXCLUSIVE|SHARED|UN)_?LOCK_FUNCTION|THREAD_SAFETY_ANALYSIS|LOCK_RETURNED|ACQUIRED_(?:AFTER|BEFORE))"
    rb"(?:\([^()\n]*\))?(?=\s*[;{=,])"
    rb"|^(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+)(?=[ \t]+[a-z_][\w:<>]*(?:[ \t]+[\w:<>]+)*[ \t*&]+[\w:~]+[ \t]*\()"
)


class C(Language):
    """C, and the parts that C++ shares."""

    def refined(self, name: str, head: bytes) -> str:
        """Return "cpp" for a header that only C++ can read."""
        return "cpp" if name.endswith(".h") and re.search(_CPP_HEADER, head, re.MULTILINE) else self.id

    def readable(self, content: bytes) -> bytes:
        """Return a file with blanks for macros that break the grammar."""
        return re.sub(_MACROS, lambda macro: b" " * len(macro[0]), content)

    def imported(self, statement: str) -> Iterator[Bound]:
        """Read an include, or a `using` of C++.

        >>> [list(LANGUAGE.imported(each)) for each in ('#include <a.h>', '#include "b.h"', "using namespace c::d;")]
        [[('', 'a.h', '<')], [('', 'b.h', '')], [('*', 'c.d', '*')]]
        """
        if statement.startswith("using"):
            text = " ".join(statement.split()).rstrip("; ").removeprefix("using ")
            whole = text.removeprefix("namespace ").replace("::", ".")
            module, _, name = whole.rpartition(".")
            yield ("*", whole, "*") if text.startswith("namespace ") else (name, module, name)
            return
        found = re.search(r"[\"<]([^\">\n]+)[\">]", statement)
        if found:
            yield "", found[1], "<" if "<" in statement else ""

    def locate(self, modules: Modules, importer: str, module: str) -> str:
        """Find a header beside the includer, else the nearest one."""
        beside = modules.beside(importer, module)
        if beside or ("/" not in module and module.rpartition(".")[0] in _STANDARD):
            return beside
        return nearest(modules.ending(posixpath.normpath(module)), importer)

    def is_header(self, path: str) -> bool:
        """Return whether a path is that of a header."""
        return path.endswith(_HEADERS)

    def is_seen(self, file: Source, scope: str, candidate: Candidate) -> bool:
        """Return whether a declaration is a type, or stands in nothing."""
        return "." not in candidate[1].qualified or candidate[1].kind in CLASSES

    def chosen(
        self, file: Source, scope: str, found: Sequence[Candidate], modules: Modules
    ) -> tuple[Candidate, bool] | None:
        """Return a function of the program, certain if a header declares it."""
        own = [each for each in found if each[0].path == file.path]
        spaces = {"", *parent_scopes(scope)}
        found = own or [
            e for e in found if (a := e[1].qualified.rpartition(".")[0]) in spaces or _is_space(e[0], a, file)
        ]
        if not found:
            return None
        name = found[0][1].qualified.rpartition(".")[2]
        bodies = [each for each in found if not self.is_header(each[0].path)] or found
        headers = [each for each in found if each not in bodies]
        seen = {modules.locate(file.path, module, self) for _, module, _ in file.imports.get("", ())}
        read = [each for each in [*headers, *bodies] if each[0].path in seen]
        if not (own or read) and name in LANGUAGE.common_names:
            return None  # the C library's, as far as the file says
        if len(bodies) == 1 or own:
            return (own or bodies)[0], bool(own or read)
        return (read[0], True) if len({node.qualified for _, node in read}) == 1 else None


def _is_space(other: Source, around: str, file: Source) -> bool:
    """Return whether a scope is an open namespace, or no class."""
    return around in starred(file) or (around not in other.nodes and around.rpartition(".")[2] in file.refs.owners)


LANGUAGE = C(
    "c",
    extensions=(".c", ".h"),
    interpreters=("tcc",),
    module="tree_sitter_c",
    queries=("c",),
    type_first=True,
    declares_apart=True,
    shares_names=True,
    opened_in=anywhere,
    common=_COMMON,
    has_library=True,
    types_results=True,
)

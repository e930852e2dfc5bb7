"""C: headers, functions of the whole program, macros between declarations.

The grammar knows conditionals of the preprocessor around whole statements and members. Of one that cuts across a statement, a
list or a bracket the longest branch is kept alone:

    int a =             int a =
    #ifdef SIZE
        SIZE       →        SIZE
    #else
        1
    #endif
        - 1;                - 1;
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from vademecum.code.languages.imports import Bound
from vademecum.code.languages.language import Language
from vademecum.code.languages.modules import Modules, nearest
from vademecum.code.languages.scopes import (
    CLASSES,
    Candidate,
    Source,
    anywhere,
    parent_scopes,
    spaces_around,
    spaces_lost,
    starred,
)

if TYPE_CHECKING:
    import tree_sitter


_DIRECTIVE = rb"(?m)^[ \t]*#[ \t]*(if|el|endif)[a-z]*\b(?:\\\r?\n|[^\n])*"
_HEADER = rb"\(([<\"][^>\"\n]*[>\"])\)"  # of `__has_include`, which the grammar takes for no number
_OTHERS = rb"(?m)^[ \t]*#(?:\\\r?\n|[^\n])*"  # directives of any kind
_ASIDE = rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_LONGEST = 2000  # bytes of a branch; longer ones hold whole statements
_BEFORE = 300  # bytes before a conditional that say whether a statement ended there
_OPEN = rb"(?:[=(,+\-*/%&|^?<\[]|\b[a-z_]\w*)\Z"  # what a statement does not end with
_GOES_ON = rb"(?:[,.?=/%|^<>)\]]|&&|:(?!:))"  # what no statement begins with
_ENDED = rb"[,;{})>:\"]\Z|\b[A-Z0-9_]{3,}\Z"  # what may stand before a directive that cuts across nothing
_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++")
_STANDARD_TEXT = """
    assert ctype errno fcntl float inttypes limits locale malloc math memory poll pthread sched semaphore setjmp
    signal stdarg stdatomic stdbool stddef stdint stdio stdlib string strings time unistd wchar windows
"""
_STANDARD = frozenset(_STANDARD_TEXT.split())
# What only C++ writes at the beginning of a header.
_CPP_HEADER = (
    rb"^\s*(?:class\s+\w+\s*(?:final\s*)?[:{;]|class\s+\w+\s+\w+|namespace\b|template\s*<|using\s+\w+\s*=|(?:public|private|protected)\s*:)"
    rb"|^\s*enum\s+class\b|\btemplate\s*<\s*(?:typename|class)\b|\bstatic_cast<|\bnullptr\b|\bstd::|\bconstexpr\b|\bnoexcept\b|^#include <(?:iostream|string|vector|map|memory|utility|algorithm)>"
)
# Macros that stand where C has no place for them: alone on a line (`FMT_BEGIN_NAMESPACE`), between
# `class` and its name, before a function's type or name (`FMT_API void f(`), before its body (`f() FMT_NOEXCEPT {`), or
# after a field or a function: clang's thread safety annotations. One that is given a text stands on a line above.
_CAPITALS = rb"\b[A-Z][A-Z0-9_]{2,}"
_SEVERAL = rb"[A-Z][A-Z0-9_]{2,}(?:[ \t]+[A-Z][A-Z0-9_]{2,}(?=[ \t]+(?!final\b)\w))*"  # before a class's name
_MACRO = rb"[A-Z][A-Z0-9]*_[A-Z0-9_]+"
_INDENTED = rb"(?:^|(?<=\n\t)|(?<=\n\t\t)|(?<=\n  )|(?<=\n    ))"
_MACROS = (
    rb"(?m)^" + _MACRO + rb"(?=[ \t]*\r?$)"
    rb"|(?<=\bclass )" + _SEVERAL + rb"(?=[ \t]+\w+[^;\n]*$)"
    rb"|(?<=\bstruct )" + _SEVERAL + rb"(?=[ \t]+\w+[^;\n=(]*$)"
    rb"|(?<=\bclass )" + _SEVERAL + rb"(?=[ \t]+\w+[ \t]*(?:final[ \t]*)?[:{])"
    rb"|(?:(?<=[\w)][ \n])|(?<=\n    ))[A-Z_]*(?:GUARDED_BY|GUARDED_VAR|(?:EXCLUSIVE|SHARED)_LOCKS?_REQUIRED_?|LOCKS?_EXCLUDED_?"
    rb"|(?:EXCLUSIVE|SHARED|UN)_?LOCK_FUNCTION|THREAD_SAFETY_ANALYSIS|LOCK_RETURNED|ACQUIRED_(?:AFTER|BEFORE))"
    rb"(?:\([^()\n]*\))?(?=\s*[;{=,])"
    rb"|(?<![\w#])(?<!define[ \t])" + _MACRO + rb"(?=(?:[ \t]+[A-Z0-9]*_[A-Z0-9_]+)*[ \t]+"
    rb"(?:(?:template|class|struct|using|enum|typedef|inline|friend|explicit|operator)\b"
    rb"|(?:(?:(?=[\w:<>]*[a-z])[\w:<>]+|FILE|[A-Z])[ \t*&]+)*(?:\w+::)*(?:~?(?=\w*[a-z])\w+|operator(?:\(\)|[^\w\s(]{1,3}))[ \t]*\())"
    rb"|" + _INDENTED + _MACRO + rb"(?=[ \t]+(?:static|const|constexpr|extern|virtual)\b)"
    rb"|" + _INDENTED + _MACRO + rb"\(\"[^\"\n]*\"\)(?=[ \t]*\r?\n[ \t]*(?:[\w:<>]+[ \t*&]+)+~?\w+\()"
    rb"|(?<=[\w)] )"
    + _MACRO
    + rb"(?=\s*\{)|(?:(?<=\) )|(?<=\) const ))"
    + _MACRO
    + rb"(?=;)|(?<=\bif )"
    + _MACRO
    + rb"(?= *\()"
)
# What the grammar of C++ lacks: a variable in a loop's condition, brackets around a name that Windows has a macro for.
_IN_LOOP = rb"(\bfor \([^;{}]*;\s*)((?:const )?[\w:]+[ *&]+)(?=\w+ = [^;{}]*;)"
_IN_BRACKETS = rb"\(((?:\w+::)*(?:min|max))\)(?=[ \t]*\()"
_CONTINUED = rb"(?m)^[^\n]*\\\r?$"  # a line of a macro of several, which the grammar ends at a comment
_COMMENT = rb"/\*.*?\*/"
_COMMENTS = rb"(?s)/\*.*?\*/|//[^\n]*"
# The body of a type, and macros in it that the grammar has no place for: those that write fields or enumerated names.
_BODY = rb"\b(?:(enum)|struct|union)\b[^{};()=#/]{0,200}\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}"
_AMONG_FIELDS = rb"(?m)^[ \t]+[A-Z][A-Z0-9]*_[A-Z0-9_]+(?=[ \t]*\r?$)"
_AMONG_NAMES = (
    rb"(?m)^[ \t]*(?:#[ \t]*(?:define|undef)\b(?:\\\r?\n|[^\n])*"
    rb"|[A-Z][A-Z0-9_]+[ \t]*\([^()\n]*\),?[ \t]*\r?$|[A-Z][A-Z0-9]*_[A-Z0-9_]+[ \t]*\r?\n(?=[ \t]*[A-Z]))"
)


def with_one_branch(content: bytes) -> bytes:
    r"""Return a file with one branch of conditionals that cut across code.

    >>> with_one_branch(b"int a =\n#if B\n 1\n#else\n 22\n#endif\n;\n#if C\nint d;\n#endif\n")
    b'int a =\n     \n  \n     \n 22\n      \n;\n#if C\nint d;\n#endif\n'
    """
    read, around = bytearray(content), []
    for directive in re.finditer(_DIRECTIVE, content):
        for header in re.finditer(_HEADER, directive[0]):
            start, end = (directive.start() + place for place in header.span(1))
            read[start:end] = b"1".ljust(end - start)
        if directive[1] == b"if":
            around.append([directive.span()])
        elif around:
            around[-1].append(directive.span())
            if directive[1] == b"endif":
                _settle(read, around.pop())
    return bytes(read)


def _settle(read: bytearray, places: list[tuple[int, int]]) -> None:
    """Keep one branch of a conditional that cuts across code."""
    branches = [(end, start) for (_, end), (start, _) in pairwise(places)]
    if max(end - start for start, end in branches) > _LONGEST:
        return
    texts = [_code(read[start:end]) for start, end in branches]
    begun = _code(read[max(0, places[0][0] - _BEFORE) : places[0][0]])
    if not any(texts) or not (re.search(_OPEN, begun) or any(map(_cuts, texts))):
        return
    if begun.endswith(b",") and all(text.endswith(b",") for text in texts if text):
        return  # a list, as of an enumeration
    kept = max(branches, key=lambda branch: branch[1] - branch[0])
    for start, end in [*places, *(branch for branch in branches if branch != kept)]:
        read[start:end] = re.sub(rb"[^\r\n]", b" ", read[start:end])


def _code(text: bytearray) -> bytes:
    """Return a text without comments, strings and directives."""
    return re.sub(_OTHERS, b"", re.sub(_ASIDE, lambda found: b'""' if found[0][:1] in b"\"'" else b"", text)).strip()


def _cuts(text: bytes) -> bool:
    """Return whether a branch is no sequence of whole statements."""
    is_even = all(text.count(pair[:1]) == text.count(pair[1:]) for pair in (b"()", b"[]", b"{}"))
    return bool(text) and (not is_even or re.match(_GOES_ON, text) is not None or not re.search(_ENDED, text))


class C(Language):
    """C, and the parts that C++ shares."""

    def refined(self, name: str, head: bytes) -> str:
        """Return "cpp" for a header that only C++ can read."""
        return "cpp" if name.endswith(".h") and re.search(_CPP_HEADER, head, re.MULTILINE) else self.id

    def readable(self, content: bytes) -> bytes:
        """Return a file with blanks for macros that break the grammar."""
        content = with_one_branch(content.replace(b"->*", b"-> "))  # the grammar knows no pointer to a member
        content = re.sub(_IN_LOOP, lambda loop: loop[1] + b" " * len(loop[2]), content)
        content = re.sub(_IN_BRACKETS, rb" \1 ", content)
        placed, read = re.compile(_MACROS), bytearray(content)
        for word in re.finditer(_CAPITALS, content):
            if macro := placed.match(content, word.start()):
                read[macro.start() : macro.end()] = _blank(macro)
        content = re.sub(_CONTINUED, _without_comments, bytes(read))
        return re.sub(_BODY, lambda body: re.sub(_AMONG_NAMES if body[1] else _AMONG_FIELDS, _blank, body[0]), content)

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

    def has_body(self, kind: str, name: str, text: str) -> bool:
        """Return whether a body follows a function's name."""
        is_function = kind in {"function", "method", "constructor"}
        return not is_function or b"{" in re.sub(_COMMENTS, b"", text.encode()).partition(name.encode())[2]

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
        if not found:
            return None
        own = [each for each in found if each[0].path == file.path]
        sure = [each for each in own if not _is_conditional(each)]
        if sure:
            return sure[0], True
        spaces = {"", *parent_scopes(scope)}
        found = [e for e in found if (a := e[1].qualified.rpartition(".")[0]) in spaces or is_space(e[0], a, file)]
        bodies = [each for each in found if not self.is_header(each[0].path)] or found
        headers = [each for each in found if each not in bodies]
        seen = modules.included(file, self)
        if len(found) > 2 and not any(each[0].path in seen for each in found):
            seen = modules.nearest_included(file, self, frozenset(each[0].path for each in found))
        read = [each for each in [*headers, *bodies] if each[0].path in seen]
        if any((not read or _is_conditional(e)) and self._may_be_the_librarys(e) for e in found):
            return None  # the library's, as far as the file says
        sure = [each for each in bodies if not _is_conditional(each)]
        if len(sure) == 1 and not own:
            return sure[0], bool(read)
        if len({node.qualified for _, node in read}) == 1:
            return read[0], True
        alone = own or next((each for each in (headers, bodies) if len(each) == 1 or self._are_one(each)), [])
        return (alone[0], bool(own)) if alone else None

    def _may_be_the_librarys(self, candidate: Candidate) -> bool:
        """Return whether the library may have a function, by its name."""
        file, name = candidate[0], candidate[1].qualified
        in_none = not (spaces_around(candidate) or spaces_lost(file))
        is_used = bool(self.library) and any(module == self.library for _, module, _ in file.imports.get(name, ()))
        return is_used or (in_none and name in LANGUAGE.common_names)

    def _are_one(self, found: Sequence[Candidate]) -> bool:
        """Return whether declarations are overloads: of one namespace, all in headers."""
        spaces = {(each[1].qualified, *spaces_around(each)) for each in found if self.is_header(each[0].path)}
        return self.opens_namespaces and len(spaces) == 1 and all(self.is_header(each[0].path) for each in found)

    def is_guarded(self, node: tree_sitter.Node) -> bool:
        """Return whether the condition is that of a header read once."""
        condition = node.parent
        first = condition.named_children[1:2] if condition is not None and condition.type == "preproc_ifdef" else ()
        return any(each.type == "preproc_def" and each.child_by_field_name("value") is None for each in first)


def _is_conditional(candidate: Candidate) -> bool:
    return candidate[1].qualified in candidate[0].conditional


def _without_comments(line: re.Match[bytes]) -> bytes:
    """Return a line with blanks for the comments that end on it."""
    text, end, rest = line[0].rpartition(b"*/")
    return re.sub(_COMMENT, _blank, text + end) + rest


def _blank(found: re.Match[bytes]) -> bytes:
    """Return blanks in place of a match."""
    return re.sub(rb"[^\r\n]", b" ", found[0])


def is_space(other: Source, around: str, file: Source) -> bool:
    """Return whether a scope is an open namespace, or no class."""
    return around in starred(file) or (around.rpartition(".")[2] in file.refs.owners and around not in other.nodes)


LANGUAGE = C(
    "c",
    extensions=(".c", ".h"),
    interpreters=("tcc",),
    module="tree_sitter_c",
    queries=("c",),
    type_first=True,
    slow_on_errors=True,
    declares_apart=True,
    shares_names=True,
    opened_in=anywhere,
    types_results=True,
    special="main",
    decorates=rb"__attribute__\s*\(\(",
    inert="unused maybe_unused noinline always_inline format nonnull pure const cold hot warn_unused_result deprecated noreturn "
    "nothrow malloc visibility __format__ __noreturn__ __unused__ __pure__ __const__ __nonnull__ __malloc__ __visibility__",
)

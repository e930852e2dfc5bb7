"""Java: names shared in a package, imports of a package's class."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vademecum.code.languages.imports import Bound, in_one_line, without_comments
from vademecum.code.languages.language import Language
from vademecum.code.languages.lexing import BLOCK, DOUBLE, SINGLE, SLASHED
from vademecum.code.languages.scopes import Candidate, Source, by_package

if TYPE_CHECKING:
    from vademecum.code.languages.modules import Modules

# Methods of Object and of interfaces that the language and its library call.
_SPECIAL = """
    annotationType toString equals hashCode compareTo compare close run call iterator hasNext next finalize clone accept apply test
    get readObject writeObject readResolve writeReplace main premain agentmain
"""
# Methods of the standard library's containers and wrappers.
_SAME = """
    stream iterator filter sorted distinct limit skip orElse orElseThrow orElseGet toList subList
    descendingIterator values
"""
_ONE = """
    get getFirst getLast next first last poll peek remove pop element findFirst findAny pollFirst pollLast
    removeFirst removeLast getOrDefault computeIfAbsent
"""


class Packaged(Language):
    """A language of packages, such as the Java family."""

    def imported(self, statement: str) -> Iterator[Bound]:
        """Read an import.

        >>> [list(LANGUAGE.imported(f"import {each}")) for each in ("a.b.C;", "static a.b.C.*;", "a.b.C as D")]
        [[('C', 'a.b', 'C')], [('*', 'a.b.C', '*')], [('D', 'a.b', 'C')]]
        """
        text = in_one_line(without_comments(statement)).removeprefix("import ").removeprefix("static ")
        path, _, alias = text.partition(" as ")
        module, _, name = path.replace(" ", "").rpartition(".")
        yield ("*" if name == "*" else alias.strip() or name), module, name

    def imports_declaration(self, name: str) -> bool:
        """Return True: an import spells a package and a class."""
        return True

    def otherwise(self, name: str) -> Iterator[str]:
        """Yield the property of a getter, the getter of a property.

        >>> [list(LANGUAGE.otherwise(each)) for each in ("getAge", "age")]
        [['age'], ['getAge']]
        """
        found = re.match(r"(?:get|set|is)([A-Z]\w*)", name)
        yield found[1][:1].lower() + found[1][1:] if found else f"get{name[:1].upper()}{name[1:]}"

    def chosen(
        self, file: Source, scope: str, found: Sequence[Candidate], modules: Modules
    ) -> tuple[Candidate, bool] | None:
        """Return a declaration of the package, else a starred import."""
        return by_package(file, found)


LANGUAGE = Packaged(
    "java",
    extensions=(".java",),
    module="tree_sitter_java",
    queries=("java",),
    type_first=True,
    slow_on_errors=True,
    implicit_self=True,
    shares_names=True,
    calls_apart=True,
    has_beans=True,
    lexical=(b"\"'/", SLASHED, BLOCK, DOUBLE, SINGLE),  # The Java Language Specification, chapter 3
    common="let also takeIf mapNotNull firstOrNull joinToString use onEach launch async emit",
    same=_SAME,
    one=_ONE,
    special=_SPECIAL,
    decorates=b"@",
    inert="""
        Override Deprecated SuppressWarnings SafeVarargs FunctionalInterface Nullable NonNull NotNull Nonnull CheckReturnValue
        CanIgnoreReturnValue VisibleForTesting Beta Generated Pure Contract
    """,
)

"""C++: C with classes, and namespaces that many files open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vademecum.code.languages.c import C, is_space
from vademecum.code.languages.scopes import (
    CLASSES,
    Candidate,
    Declared,
    Source,
    anywhere,
    parent_scopes,
    spaces_around,
    spaces_lost,
    starred,
)

if TYPE_CHECKING:
    import tree_sitter

# Methods of the standard library's containers and wrappers.
_SAME = """
    get lock begin end
"""
_ONE = """
    front back at value top find
"""
# What loops, coroutines and the library's templates call.
_SPECIAL = """
    begin end rbegin rend cbegin cend swap what hash_value get_return_object initial_suspend final_suspend
    return_value return_void yield_value unhandled_exception await_ready await_suspend await_resume await_transform
"""
# The beginning of a namespace, in a macro too, and a macro on a line of its own that opens one.
_SPACE = rb"(?m)(?<!using )\bnamespace[ \t]+(\w+)(?=[ \t]*(?:::|\{|\\?\r?\n[ \t]*\{))|^[A-Z][A-Z0-9_]*NAMESPACE[A-Z0-9_]*(?=[ \t]*\r?$)"


class _Cpp(C):
    def calls_itself(self, name: str) -> bool:
        """Return whether a name is special, an operator's or a destructor's."""
        return name.startswith(("operator", "~")) or super().calls_itself(name)

    def package(self, known: str, found: str) -> str:
        """Return the names of all namespaces that a file opens."""
        names = known.split(".") if known else []
        return ".".join(dict.fromkeys([*names, *found.split(".")]))

    def hidden_packages(self, content: bytes) -> Iterator[str]:
        r"""Return macros and names that open namespaces.

        >>> list(LANGUAGE.hidden_packages(b"#define A_NAMESPACE namespace a { \\\n namespace b {\nA_NAMESPACE\nint f();"))
        ['a', 'b', 'A_NAMESPACE']
        >>> list(LANGUAGE.hidden_packages(b"using namespace a::b;"))
        []
        """
        return (found[found.lastindex or 0].decode() for found in re.finditer(_SPACE, content))

    def is_transparent(self, name: tree_sitter.Node) -> bool:
        """Return whether a namespace is inline."""
        return name.parent is not None and name.parent.children[0].type == "inline"

    def imports_declaration(self, name: str) -> bool:
        """Return whether an import is a `using` of a name."""
        return bool(name)

    def is_seen(self, file: Source, scope: str, candidate: Candidate) -> bool:
        """Return whether a declaration stands in an open namespace.

        A class is meant by its name, not its constructor. Arguments may bring other namespaces in sight.
        """
        other, node = candidate
        space = node.qualified.rpartition(".")[0]
        if space and file.path != other.path and space not in parent_scopes(scope) and not is_space(other, space, file):
            return False  # a member, as most are: its file is not read
        opened = {*file.refs.package.split("."), *(name for module in starred(file) for name in module.split("."))}
        around, lost = spaces_around(candidate), spaces_lost(candidate[0])
        is_open = opened.issuperset(around) if around else not lost or not opened.isdisjoint(lost)
        return is_open and not _makes(candidate[1])


def _makes(node: Declared) -> bool:
    """Return whether a declaration is a constructor."""
    *_, around, name = ("", *node.qualified.split("."))
    return around == name and node.kind not in CLASSES


LANGUAGE = _Cpp(
    "cpp",
    extensions=(
        ".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl", ".tpp", ".txx", ".cu", ".cuh", ".ino",
    ),
    aliases=("c++", "cxx", "cplusplus", "hpp"),
    module="tree_sitter_cpp",
    queries=("c", "cpp"),
    type_first=True,
    declares_apart=True,
    head="c",
    implicit_self=True,
    shares_names=True,
    opens_namespaces=True,
    library="std",
    opened_in=anywhere,
    same=_SAME,
    one=_ONE,
    special=_SPECIAL,
)  # fmt: skip

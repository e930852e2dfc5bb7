"""C++: C with classes, and namespaces that many files open."""

from __future__ import annotations

from vademecum.code.languages.c import C
from vademecum.code.languages.scopes import Candidate, Source, anywhere

# Methods of the standard library's containers and wrappers.
_SAME = """
    get lock begin end
"""
_ONE = """
    front back at value top find
"""


class _Cpp(C):
    def calls_itself(self, name: str) -> bool:
        """Return whether a name is an operator's, a destructor's or `main`."""
        return name.startswith(("operator", "~")) or name == "main"

    def package(self, known: str, found: str) -> str:
        """Return the names of all namespaces that a file opens."""
        names = known.split(".") if known else []
        return ".".join(dict.fromkeys([*names, *found.split(".")]))

    def imports_declaration(self, name: str) -> bool:
        """Return whether an import is a `using` of a name."""
        return bool(name)

    def is_seen(self, file: Source, scope: str, candidate: Candidate) -> bool:
        """Return True: a namespace may hold the declaration; see `chosen`."""
        return True


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
    opened_in=anywhere,
    same=_SAME,
    one=_ONE,
)  # fmt: skip

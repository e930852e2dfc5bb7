"""Rules of scope that several languages share."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from vademecum.code.languages.references import References

# Kinds of declarations that have members.
_CLASSES_TEXT = """
    class interface trait protocol struct union enum record object annotation type alias module
"""
CLASSES = frozenset(_CLASSES_TEXT.split())


class Declared(Protocol):
    """A declaration as the rules see it."""

    @property
    def qualified(self) -> str:
        """The names around it and its own, joined by dots."""

    @property
    def kind(self) -> str:
        """The kind of declaration, as `declarations` has it."""

    @property
    def start_line(self) -> int:
        """The first line."""


class Source(Protocol):
    """A file as the rules see it."""

    @property
    def path(self) -> str:
        """The path in the repository."""

    @property
    def refs(self) -> References:
        """The references of the file."""

    @property
    def imports(self) -> Mapping[str, Sequence[tuple[str, str, str]]]:
        """By local name: the import's owner, the module, the name there."""

    @property
    def within(self) -> Mapping[str, str]:
        """The nameless function around each declaration that has one."""

    @property
    def nodes(self) -> Mapping[str, Declared]:
        """The declarations by qualified name."""

    @property
    def conditional(self) -> Container[str]:
        """The qualified names that the preprocessor may leave out."""


Candidate = tuple[Source, Declared]


def parent_scopes(scope: str, within: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """Yield a qualified name and its parents, innermost first.

    The file's "" is left out. A declaration may stand `within` a function without a name, which is no part of its own.
    Functions of one name may stand within each other: no function is gone around twice.

    >>> list(parent_scopes("A.f.g")), list(parent_scopes("A.f.g", {"A.f": "A.<1>"}))
    (['A.f.g', 'A.f', 'A'], ['A.f.g', 'A.f', 'A.<1>', 'A'])
    >>> list(parent_scopes("f", {"f": "g.<1>", "g": "f.<1>"}))
    ['f', 'g.<1>', 'g', 'f.<1>', 'f']
    """
    stood_within: list[str] = []
    while scope:
        yield scope
        around = within.get(scope, "") if scope not in stood_within else ""
        if around:
            stood_within.append(scope)
        scope = around or scope.rpartition(".")[0]


def functions_around(owners: Sequence[str], within: Iterable[tuple[int, int, int]]) -> dict[str, str]:
    """Return the one nameless function around each declaration.

    `within` has numbers of `owners`: a declaration, its line, and the function. A part of a declaration that bears its
    name, as Ruby's `class << self`, stands within none.
    """
    found: dict[str, set[str]] = {}
    for owner, _, around in within:
        if not owners[around].startswith(f"{owners[owner]}."):
            found.setdefault(owners[owner], set()).add(owners[around])
    return {name: around.pop() for name, around in found.items() if len(around) == 1}


def is_nameless(scope: str) -> bool:
    """Return whether a scope is a function without a name.

    >>> is_nameless("A.f.<1>"), is_nameless("A.operator<"), is_nameless("<A as B>")
    (True, False, False)
    """
    own = scope.rpartition(".")[2]
    return own[:1] == "<" and own[1:2].isdigit()


def declaration_of(scope: str) -> str:
    """Return the innermost declaration of a scope, "" for the file.

    >>> declaration_of("A.f.<1>.<2>"), declaration_of("A.f"), declaration_of("<1>")
    ('A.f', 'A.f', '')
    """
    while is_nameless(scope):
        scope = scope.rpartition(".")[0]
    return scope


def starred(file: Source) -> set[str]:
    """Return the modules of which a file imports everything."""
    return {module for _, module, name in file.imports.get("*", ()) if name == "*"}


def spaces_around(candidate: Candidate) -> list[str]:
    """Return the namespaces around a declaration, outermost first."""
    file, node = candidate
    around = (name for first, last, name in file.refs.spaces if first <= node.start_line <= last)
    return [name for names in around for name in names.split(".")]


def may_define(member: Candidate, around: str, file: Source, scope: str) -> bool:
    """Return whether a definition's namespaces fit those of its class."""
    own = file.nodes.get(scope)
    there = [*spaces_around(member), *around.split(".")]
    here = [*(spaces_around((file, own)) if own is not None else ()), *scope.split(".")]
    few, many = sorted((there, here), key=len)
    left = iter(many)
    return all(name in left for name in few)


def spaces_lost(file: Source) -> set[str]:
    """Return the namespaces, and macros for them, that no parser sees."""
    return set(file.refs.package.split(".")).difference(*(name.split(".") for _, _, name in file.refs.spaces), {""})


def by_package(file: Source, found: Sequence[Candidate], around: Iterable[str] = ()) -> tuple[Candidate, bool] | None:
    """Return the first declaration in sight: own package, then others.

    Others are packages of which everything is imported, and those `around`.
    """
    package = file.refs.package
    visible = {package, *starred(file), *around}
    own = [each for each in found if each[0].refs.package == package]
    near = own or [each for each in found if each[0].refs.package in visible]
    return (near[0], True) if near else None


def anywhere(_one: str, _other: str) -> bool:
    """Return True: a class may get members anywhere in the repository."""
    return True

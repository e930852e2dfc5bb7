"""Declarations in namespaces that many files open, as those of C++."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from vademecum.code.graph.classes import Classes
from vademecum.code.graph.definitions import File
from vademecum.code.graph.meanings import OUTSIDE, UNKNOWN, Meaning
from vademecum.code.graph.terms import Node
from vademecum.code.languages.scopes import spaces_around, spaces_lost

# A declaration, and the namespaces around it, or those that its file opens where no parser sees them.
Opened = tuple[tuple[File, Node], list[str] | frozenset[str]]


class Spaces(Classes):
    """Finds declarations by their namespaces."""

    @abstractmethod
    def chosen(self, file: File, scope: str, found: list[tuple[File, Node]]) -> Meaning | None:
        """Return the meaning of the best of declarations in sight."""

    def in_namespaces(self, file: File, scope: str, parts: Sequence[tuple[str, str]]) -> tuple[Meaning, int]:
        """Return the declaration in the namespace that begins a chain.

        With it comes the number of names after the first that lead there, 0 for none. A name that the repository declares
        elsewhere is unknown: a parser may have lost its place.
        """
        for used, (name, suffix) in enumerate(parts[1:], 1):
            if parts[used - 1][1]:
                break
            found = self.in_namespace(file, scope, [each for each, _ in parts[:used]], name)
            if found is not OUTSIDE:
                return found, used
            if suffix:
                break
        return UNKNOWN, int(bool(self.definitions.named(parts[1][0], file.family)))

    def in_namespace(self, file: File, scope: str, spaces: list[str], name: str) -> Meaning:
        """Return a declaration of a namespace that other files open."""
        nothing: list[Opened] = []
        opened = self.definitions.once(("opened", name, file.family), self._opened_by, nothing, name, file.family)
        found = [each for each, around in opened if _is_in(spaces, around)]
        return self.chosen(file, scope, found) or OUTSIDE

    def _opened_by(self, name: str, family: str) -> list[Opened]:
        """Return the declarations of a name, each with its namespaces."""
        named = (each for each in self.definitions.named(name, family) if "." not in each[1].qualified)
        return [(each, spaces_around(each) or self._spaces(each[0])) for each in named]

    def _spaces(self, file: File) -> frozenset[str]:
        """Return the namespaces that macros open, or that a parser lost."""
        return self.definitions.once(("spaces", file.path), self._opened_spaces, frozenset(), file)

    def _opened_spaces(self, file: File) -> frozenset[str]:
        lost = spaces_lost(file)
        others = (other for name in lost if name.isupper() for other, _ in self.definitions.named(name, file.family))
        return frozenset(space for other in others for space in other.refs.package.split(".")) | lost


def _is_in(spaces: list[str], around: list[str] | frozenset[str]) -> bool:
    """Return whether a declaration stands in a namespace."""
    if isinstance(around, frozenset):
        return spaces[-1] in around
    innermost = around[-len(spaces) :]
    return innermost == spaces[-len(innermost) :]

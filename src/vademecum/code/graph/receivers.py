"""Classes of receivers of which nothing is known.

It is the one class whose name the receiver bears, in sight or written in the file, or the one class of the repository
that has all that the file calls on a receiver of that name. Where the file does not write that class, no other may have
most of it. What a class of the library has too tells nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from vademecum.code.graph.classes import ancestors_named
from vademecum.code.graph.definitions import File
from vademecum.code.graph.meanings import Value
from vademecum.code.graph.names import Names
from vademecum.code.graph.terms import Node, Tier
from vademecum.code.languages.declarations import FUNCTIONS
from vademecum.code.languages.scopes import parent_scopes

_MOST = 200  # declarations of the names called on a receiver beyond which nobody looks for the class


class Receivers:
    """Finds the methods that one file calls on unknown receivers."""

    def __init__(self, names: Names, file: File) -> None:
        self._names, self._file = names, file
        self._known: dict[str, Value | None] = {}
        self._asked: dict[str, set[str]] = {}
        always = file.rules.library_classes.get("Object", frozenset())
        for _, _, spelled in file.refs.calls:
            receiver, _, name = spelled.rpartition(".")
            if name not in always:
                self._asked.setdefault(receiver, set()).add(name)

    def method(self, scope: str, receiver: str, name: str) -> Node | None:
        """Return the method that a call means, None for unknown."""
        value = self._namesake(scope, receiver)
        if value is not None and value.name != self._file.class_around(scope):
            return self._own(value, name)  # what a class holds under its own name is rather what it is about
        if receiver not in self._known:
            self._known[receiver] = self._having(self._asked.get(receiver, set())) if receiver[:1] not in "?'" else None
        value = self._known[receiver]
        return self._own(value, name) if value is not None else None

    def _namesake(self, scope: str, receiver: str) -> Value | None:
        """Return the class whose name a receiver bears.

        It stands in a module around, or the file writes its name or its module's.
        """
        words = receiver.rpartition(".")[2].removesuffix("()").lstrip("@$").split("_")
        called = "".join(word[:1].upper() + word[1:] for word in words)
        named = self._names.definitions.named(called, self._file.family)
        found = {node.qualified: node for _, node in self._seen(named) if node.kind == "class"}
        node = next(iter(found.values())) if len(found) == 1 and called != words[0] else None
        if node is None:
            return None
        value, around = Value("inst", node.path, node.qualified), node.qualified.rpartition(".")[0]
        is_seen = not around or around in parent_scopes(scope) or around in self._written  # a module at the top
        return value if is_seen or self._is_written(value) else None

    def _having(self, asked: set[str]) -> Value | None:
        """Return the one class that has all methods of these names."""
        names, file = self._names, self._file
        if len(asked) < 2 or any(asked <= own for own in file.rules.library_classes.values()):
            return None
        named = [each for name in sorted(asked) for each in names.definitions.named(name, file.family)]
        if len(named) > _MOST:
            return None
        holders = Counter(
            Value("inst", node.path, around)
            for _, node in self._seen(named)
            if (around := node.qualified.rpartition(".")[0])
        )
        having = [value for value in holders if all(self._has(value, name) for name in asked)]
        roots = [value for value in having if not any(base in having for base in self._above(value))]
        most = (each for each, count in holders.items() if 4 * count > 3 * len(asked))
        is_one = len(roots) == 1 and (self._is_written(roots[0]) or all(self._is_akin(each, roots[0]) for each in most))
        return roots[0] if is_one else None

    def _above(self, value: Value) -> list[Value]:
        return [base._replace(what="inst") for base in self._names.bases(value)[0]]

    def _is_akin(self, value: Value, root: Value) -> bool:
        """Return whether one of two classes is or extends the other."""
        return value in (root, *self._above(root)) or root in self._above(value)

    def _is_written(self, value: Value) -> bool:
        """Return whether the file writes the name of a class."""
        return value.name.rpartition(".")[2] in self._written

    @cached_property
    def _written(self) -> frozenset[str]:
        """The names in the calls and reads of the file."""
        refs = self._file.refs
        return frozenset(name for _, _, spelled in (*refs.calls, *refs.loads) for name in spelled.split("."))

    def _seen(self, named: Iterable[tuple[File, Node]]) -> list[tuple[File, Node]]:
        """Leave out declarations of tests, unless the file is one."""
        return [(other, node) for other, node in named if self._file.is_test or not other.is_test]

    def _has(self, value: Value, name: str) -> bool:
        found, _ = self._names.member(self._file, value, name, Tier.UNIQUE)
        return found is not None and not found.is_external

    def _own(self, value: Value, name: str) -> Node | None:
        """Return a method of a class that no other class overrides."""
        names, file = self._names, self._file
        method, _ = names.member(file, value, name, Tier.UNIQUE)
        node = names.node(method) if method is not None and method.what == "def" else None
        if node is None or node.kind not in FUNCTIONS:
            return None
        others = (
            Value("def", each.path, each.qualified.rpartition(".")[0])
            for _, each in names.definitions.named(name, file.family)
            if each.id != node.id
        )
        is_overridden = any(base.id == node.id for each in others for base in ancestors_named(names, each, name))
        return None if is_overridden else node

"""Declarations in namespaces that many files open, and in files' own modules."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence

from vademecum.code.graph.classes import Classes
from vademecum.code.graph.common_names import is_common
from vademecum.code.graph.definitions import File
from vademecum.code.graph.meanings import HELD, LACKING, OUTSIDE, UNKNOWN, Meaning, Value
from vademecum.code.graph.terms import Node, Tier
from vademecum.code.languages.declarations import FUNCTIONS
from vademecum.code.languages.scopes import parent_scopes, spaces_around, spaces_lost

# A declaration, and the namespaces around it, or those that its file opens where no parser sees them.
Opened = tuple[tuple[File, Node], list[str] | frozenset[str]]

_ANYTHING = Value("anything")  # what an extension of a type parameter is called on
_BOUND = re.compile(r"(?:^|[+:]\s*)(?:[\w:]*::)?(\w+)")  # the name of a trait in `: io::Read + Sink<A> + ?Sized`
Bounded = tuple[Value, frozenset[str]]  # a method, and the bounds of which a type has to have one
Extension = tuple[Value, Value | None]  # a method, and the value that it is called on


class Spaces(Classes):
    """Finds declarations by their namespaces."""

    @abstractmethod
    def chosen(self, file: File, scope: str, found: list[tuple[File, Node]]) -> Meaning | None:
        """Return the meaning of the best of declarations in sight."""

    @abstractmethod
    def imported(self, file: File, module: str, name: str) -> Meaning:
        """Return the meaning of an imported name."""

    def module_beside(self, file: File, parts: Sequence[tuple[str, str]], value: Value | None) -> Value | None:
        """Return the module behind a chain's first name, else its value.

        A function may have the name too, or a variable that lacks the next name: `store := store.New(&store.Settings{})`.
        """
        name = parts[0][0]
        if file.rules.shadows_packages and name in file.imports and value is not None and value.what == "inst":
            is_hidden = self.member(file, value, parts[1][0], Tier.EXACT)[0] in {None, LACKING[0]}
            return self.meaning(file, "", name)[0] if is_hidden else value
        node = self.node(value) if file.rules.numbers_fields else None
        rows = file.imports.get(name, ()) if node is not None and node.kind in FUNCTIONS else ()
        places = (self.modules.locate(file.path, f"{module}::{own}", file.rules) for _, module, own in rows)
        return next((Value("module", where) for where in places if where), value)

    def rows_of(self, file: File, scope: str, name: str) -> list[tuple[str, str, str]]:
        """Return the bindings of a name in a scope.

        The value of a variable that is named after its package is read outside of the scope.
        """
        rows = file.bindings.get(scope, {}).get(name, [])
        if not rows or not file.rules.shadows_packages or name not in file.imports:
            return rows
        return [(how, text, "" if text.startswith(f"{name}.") else made) for how, text, made in rows]

    def inside(self, file: File, module: str, name: str) -> Meaning | None:
        """Return a member of an enum, or of a file's module."""
        if not file.rules.numbers_fields:
            return None
        return self.definitions.once(("inside", file.path, module, name), self._of_inner, None, file, module, name)

    def _of_inner(self, file: File, module: str, name: str) -> Meaning | None:
        around, _, own = module.rpartition("::")
        where = self.modules.locate(file.path, around or "self", file.rules)
        other = self.definitions.file(where or file.path)
        holder = self.node(self.meaning(other, "", own)[0]) if where and own not in other.scopes else None
        if holder is not None and holder.kind == "enum":
            where, own = holder.path, holder.qualified
        if (node := self.definitions.file(where).scopes.get(own, {}).get(name) if where else None) is not None:
            return Value("def", where, node.qualified), Tier.EXACT
        rows = (row for each in (name, "*") for row in other.imports.get(each, ()) if where and row[0] == own)
        taken = (self.imported(other, from_file(other, own, of), name if as_ == "*" else as_) for _, of, as_ in rows)
        return next((found for found in taken if found is not OUTSIDE), None)

    def in_module(self, file: File, module: Node, name: str) -> Meaning | None:
        """Return a member of a module that its file holds."""
        if (node := file.scopes.get(module.qualified, {}).get(name)) is not None:
            return Value("def", file.path, node.qualified), Tier.EXACT
        own = (row for row in file.imports.get(name, ()) if row[0] == module.qualified)
        taken = (self.imported(file, from_file(file, module.qualified, of), member) for _, of, member in own)
        return next((found for found in taken if found is not OUTSIDE), None)

    def of_scripts(self, file: File, name: str) -> Meaning | None:
        """Return the declaration of another script of a page."""
        named = (each for each in self.definitions.named(name, file.family) if each[1].qualified == name)
        found = [n for other, n in named if not (other.refs.imports or other.refs.exports or other.is_test)]
        if len(found) > 1:
            return UNKNOWN
        return (Value("def", found[0].path, name), Tier.UNIQUE) if found else None

    def extension(self, file: File, whole: str) -> Meaning:
        """Return the one function that an import spells without its receiver's type.

        `import p.Url.of` may mean `fun String.of()` in p's class `Url`.
        """
        found = set()
        for other, node in self.definitions.named(whole.rpartition(".")[2], file.family):
            holder = node.qualified.rpartition(".")[0]
            spelled = (other.refs.package, holder.rpartition(".")[0], node.name)
            if holder and holder not in other.nodes and ".".join(filter(None, spelled)) == whole:
                found.add(Value("def", other.path, node.qualified))
        return (found.pop(), Tier.TYPED) if len(found) == 1 else OUTSIDE

    def extended(self, file: File, value: Value, name: str) -> Meaning | None:
        """Return the extension function called on a value, if any."""
        if file.rules.numbers_fields:
            return self._by_bound(file, value, name)
        if not file.rules.has_extensions:
            return None
        asked = ("extensions", name, file.family)
        known: list[Extension] = self.definitions.once(asked, self._extensions, [], file, name)
        bases, complete = self.bases(value) if value.name and known else ((), False)
        complete = complete and value.what != "many"  # a container is of the library
        wanted = {_type_of(value), *(_type_of(base._replace(what=value.what)) for base in bases)}
        near = [(method, of) for method, of in known if of is not None and _type_of(of) in wanted]
        near = [each for each in near if bool(each[1].given[2]) == bool(value.given[2])] if near[1:] else near
        fitting = {method for method, _ in near or (each for each in known if complete and each[1] is _ANYTHING)}
        if len(fitting) == 1:
            return fitting.pop(), Tier.TYPED
        may_fit = not complete and any(of is None or of.is_external for _, of in known)
        return HELD if fitting or may_fit else None

    def _by_bound(self, file: File, value: Value, name: str) -> Meaning | None:
        """Return the method of a trait for all types with a bound.

        In Rust `impl<S: Stream> StreamExt for S` gives the methods of `StreamExt` to each type that is a `Stream`.
        """
        asked = ("for all", name, file.family)
        known: list[Bounded] = self.definitions.once(asked, self._for_all, [], file, name)
        kinds = (value, *self.bases(value)[0]) if known and value.what == "inst" else ()
        bounds = {bound for each in kinds for _, text in self.based_on(each) for bound in _BOUND.findall(text)}
        bounds.update(_BOUND.findall(value.given[2]) if value.is_external else ())
        fitting = {method for method, wanted in known if wanted & bounds}
        return (fitting.pop(), Tier.TYPED) if len(fitting) == 1 else None

    def _for_all(self, file: File, name: str) -> list[Bounded]:
        """Return such methods, each with the bounds that suffice."""
        found = []
        for other, node in self.definitions.named(name, file.family):
            trait = node.qualified.rpartition(".")[0]
            types = [scope for scope, bases in other.bases.items() if trait in bases]  # the S of `impl<S> Trait for S`
            texts = (known for scope in types if (known := other.aliases.get(scope, {}).get(scope)))
            wanted = {bound for text in texts for bound in _BOUND.findall(text)}
            if wanted:
                found.append((Value("def", other.path, node.qualified), frozenset(wanted)))
        return found

    def _extensions(self, file: File, name: str) -> list[Extension]:
        """Return the extension functions of a name with their receivers."""
        found = []
        for other, node in self.definitions.named(name, file.family):
            holder = node.qualified.rpartition(".")[0]
            marked = [text for place, text in other.takes.get(node.qualified, ()) if place < 0]  # in C#
            if marked or (holder and holder not in other.nodes):
                around = next((scope for scope in parent_scopes(holder) if scope in other.nodes), "")
                spelled = marked[0] if marked else holder.removeprefix(f"{around}.")
                bound = other.aliases.get(node.qualified, {}).get(spelled)  # of a type parameter
                of = self.type(other, node.qualified if marked else around, bound or spelled)[0]
                found.append((Value("def", other.path, node.qualified), of if bound != "" else _ANYTHING))
        return found

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
        return self.chosen(file, scope, found) or (opened and self._taken(file, name, spaces[-1])) or OUTSIDE

    def from_other_namespace(self, file: File, scope: str, named: list[tuple[File, Node]]) -> Meaning | None:
        """Return a function that a header takes, or arguments bring in sight.

        The latter is the only one of the name that the file includes: it would not compile otherwise.
        """
        name = named[0][1].name if named and file.rules.opens_namespaces else ""
        taken = self._taken(file, name) if name else None
        if taken is not None or is_common(name, file.rules.id):
            return taken
        paths = frozenset(other.path for other, node in named if node.kind in FUNCTIONS and "." not in node.qualified)
        read = self.modules.nearest_included(file, file.rules, paths)
        found = [each for each in named if each[0].path in read]
        is_one = len({tuple(spaces_around(each)) for each in found}) == 1
        chosen = self.chosen(file, scope, found) if is_one else None
        return chosen and (chosen[0], Tier.UNIQUE)

    def _taken(self, file: File, name: str, space: str = "") -> Meaning | None:
        """Return the meaning of a header's `using`, perhaps in a namespace."""
        nothing: dict[str, list[tuple[File, str]]] = {}
        known = self.definitions.once(("taken", file.path), self._taken_by_headers, nothing, file).get(name, ())
        taken = [self.imported(other, of, name) for other, of in known if space in {"", *other.refs.package.split(".")}]
        return next((found for found in taken if found is not OUTSIDE), None)

    def _taken_by_headers(self, file: File) -> dict[str, list[tuple[File, str]]]:
        """Return the headers with a `using` of a name, by name."""
        found: dict[str, list[tuple[File, str]]] = {}
        paths = [path for level in self.modules.levels(file, file.rules) for path in sorted(level)]
        for other in map(self.definitions.file, paths):
            for name, rows in other.imports.items():
                taken = [(other, module) for _, module, member in rows if module and member == name]
                found.setdefault(name, []).extend(taken)
        return found

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


def from_file(file: File, scope: str, module: str) -> str:
    """Return a module's path, with `super` in a file's module replaced."""
    around = (file.nodes.get(each) for each in parent_scopes(scope)) if module.startswith("super") else ()
    is_inside = any(node is not None and node.kind == "namespace" for node in around)
    return module.replace("super", "self", 1) if is_inside else module


def _is_in(spaces: list[str], around: list[str] | frozenset[str]) -> bool:
    """Return whether a declaration stands in a namespace."""
    if isinstance(around, frozenset):
        return spaces[-1] in around
    innermost = around[-len(spaces) :]
    return innermost == spaces[-len(innermost) :]


def _type_of(value: Value) -> tuple[str, ...]:
    """Return a value's class, or the written name of an external type."""
    return value.what, value.path, value.name, value.given[2] if value.is_external else ""

"""Edges of one file: calls, instances, bases, types, values, imports, tests.

An edge is made only where `names` says what is meant. Where the receiver's type is not known, a method's name that is
declared once in the repository, and that no library has, decides (`unique`); several declarations make guesses, which are
kept apart and counted. What is known to be external gets no edge at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from vademecum.code.graph.classes import ancestors_named
from vademecum.code.graph.common_names import is_common
from vademecum.code.graph.definitions import File
from vademecum.code.graph.meanings import HANDED, LACKING, UNKNOWN, Meaning, Value, itself
from vademecum.code.graph.names import Names
from vademecum.code.graph.receivers import Receivers
from vademecum.code.graph.terms import Node, Relation, Tier, node_id
from vademecum.code.languages.declarations import FUNCTIONS, LEAVES, plain_holder
from vademecum.code.languages.expression import chain, first_name
from vademecum.code.languages.references import NARROWED, SHADOW, TYPE, VALUE
from vademecum.code.languages.scopes import CLASSES

if TYPE_CHECKING:
    from vademecum.code.graph.proven_edges import Proven

NOBODY: tuple[list[Node], bool] = ([], False)
MOST_GUESSES = 4  # definitions of a name beyond which it says nothing
_MOST_ROOTS = 40  # functions of a name beyond which it is not asked which override others
_READ_AT_ONCE = 64  # declarations of a name
_MAKERS = frozenset({"new", "super", "base"})  # called, they make an instance
_HOLDER = re.compile(r"(?:[\w$]+\.)*[A-Z][\w$]*(?=\.)")  # `Order` of `Order.find`, a class or constant
_FUNCTION = re.compile(r":?\s*(?:<|\(.*=>)", re.DOTALL)  # a type of functions
_CALLABLE = re.compile(r"=>|\(|Callable|Function|Func|Action|Any\b|any\b|unknown|Fn|fn\b|func\b")  # may be one of them
_INTERFACES = frozenset({"interface", "trait", "protocol", "annotation"})


@dataclass(slots=True)
class Found:
    """The edges and the unresolved names of one file."""

    edges: dict[tuple[int, int, int], tuple[Tier, int]] = field(default_factory=dict)
    unresolved: set[str] = field(default_factory=set)  # names that are called on something unknown, and got no edge

    def add(
        self, source: Node, relation: Relation, target: Node, tier: Tier, line: int, *, is_import: bool = False
    ) -> None:
        """Keep an edge; of two, the surer tier, then the first line.

        The import of a name gives way to a use of the name, unless that is a guess.
        """
        if source.id == target.id and relation is not Relation.CALLS:
            return
        key = (source.id, int(relation), target.id)
        known = self.edges.get(key)
        if known is None or (known[0] is Tier.GUESS if is_import else (tier, line) < known):
            self.edges[key] = (tier, line)


class FileEdges:
    """Makes the edges that start in one file."""

    def __init__(self, names: Names, file: File, proven: Proven | None = None) -> None:
        """Take one file. Proven references of the file get no edge here."""
        self._names = names
        self._file = file
        self._rules = file.rules
        self._refs = proven.rest() if proven else file.refs
        self._unlisted = proven.unlisted if proven else frozenset()
        self._known: dict[str, Meaning] = {}  # of chains that stand for the same all over the file
        self._begun: dict[tuple[str, str], Meaning] = {}  # of the names that chains begin with, by scope
        self.found = Found()
        self._receivers = Receivers(names, file) if file.rules.calls_bare else None

    def make(self) -> Found:
        """Make all of them."""
        self._calls()
        self._mentions()
        self._texts()
        self._imports()
        self._bases()
        self._objects()
        if self._rules.fixture_file and self._file.is_test:
            self._fixtures()
        return self.found

    def once_each(self, rows: Iterable[tuple[int, int, str]]) -> Iterable[tuple[int, int, str]]:
        """Return (owner, line, text) once for each owner and text.

        The line is the first one.
        """
        first: dict[tuple[int, str], int] = {}
        for owner, line, text in rows:
            key = (owner, text)
            if first.setdefault(key, line) > line:
                first[key] = line
        return [(owner, line, text) for (owner, text), line in first.items()]

    def _is_declared_below(self, owner: int, line: int, name: str) -> bool:
        """Return whether a name is used above its declaration in the scope.

        The scope is a class body or a module, which runs from top to bottom.
        """
        file, scope = self._file, self._refs.owners[owner]
        node = file.scopes.get(scope, {}).get(name)
        if node is None or node.start_line < line or name in file.bindings.get(scope, {}):
            return False
        return not scope or (scope in file.nodes and file.nodes[scope].kind in CLASSES)

    def _source(self, owner: int) -> Node:
        return self._file.around(self._refs.owners[owner])

    def _meaning(self, owner: int, spelled: str) -> Meaning:
        known = self._known.get(spelled)
        if known is not None:
            return known
        first = first_name(spelled)
        if not (self._rules.is_lexical and self._names.is_same_name(self._file, first)):
            return self._followed(self._refs.owners[owner], first, spelled)
        known = self._known[spelled] = self._followed("", first, spelled)
        return known

    def _followed(self, scope: str, first: str, spelled: str) -> Meaning:
        """Return the meaning of a chain, given that of its first name."""
        begun = self._begun.get((scope, first))
        if begun is None:
            begun = self._begun[scope, first] = self._names.meaning_in(self._file, scope, first)
        if first == spelled:
            return begun
        if self._file.tested or self._rules.imports_packages or self._rules.opens_namespaces:
            return self._names.meaning_in(self._file, scope, spelled)
        if begun[0] is None:
            return UNKNOWN
        is_module = begun[1] is Tier.EXACT or "." not in spelled.removeprefix(f"{first}.")
        if begun[0].is_external and is_module and not ("(" in spelled or "[" in spelled or self._rules.adds_methods):
            return itself(begun)
        return self._names.meaning_in(self._file, scope, spelled)

    def _imports(self) -> None:
        file, names = self._file, self._names
        first: dict[str, int] = {}  # of each module
        for _, line, local, module, name in [*self._refs.imports, *self._refs.exports]:
            if not module:
                continue
            if line < first.get(module, line + 1):
                first[module] = line
                self._import_module(module, line)
            if not local or name in {"", "*"}:
                continue
            value, tier = names.imported(file, module, name)
            node = self._meant(value)
            if value is not None and value.what == "module" and not value.path.endswith("/"):
                self._import(value.path, line)
            elif node is not None:
                self._import(node.path, line)
                tier = Tier.EXACT if value is not None and value.leaf else tier  # which constant it is, is not in doubt
                for each in (node, *self._holders(node)):
                    self.found.add(file.itself, Relation.REFERENCES, each, tier, line, is_import=True)

    def _holders(self, node: Node) -> Iterator[Node]:
        """Yield the classes around a declaration, which its import names."""
        nodes = self._names.definitions.file(node.path).nodes
        around = node.qualified.rpartition(".")[0]
        while around:
            if (holder := nodes.get(around)) is not None and holder.kind in CLASSES:
                yield holder
            around = around.rpartition(".")[0]

    def _meant(self, value: Value | None) -> Node | None:
        """Return the declaration of a value, for a constant the constant itself."""
        if value is not None and value.leaf:
            return self._names.definitions.file(value.leaf_path).nodes.get(value.leaf)
        return self._names.node(value) if value is not None and value.what in {"def", "inst"} else None

    def _texts(self) -> None:
        """Add edges to declarations that texts name by path: `"app.tasks.send"`."""
        is_module = self._rules.has_submodules
        for owner, line, path in self.once_each(self._refs.texts):
            node = self._at_path(path.split(".")) if is_module else self._names.node(self._meaning(owner, path)[0])
            if node is not None:
                self.found.add(self._source(owner), Relation.REFERENCES, node, Tier.TYPED, line)

    def _at_path(self, parts: Sequence[str]) -> Node | None:
        """Return the declaration or file at the longest module path."""
        names, file = self._names, self._file
        for cut in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:cut])
            where = names.modules.locate(file.path, module, file.rules)
            if not where or (where.endswith("/") and cut < len(parts) - 1):
                continue
            value, tier = names.imported(file, module, parts[cut])
            if (
                value is not None
                and value.what == "module"
                and cut == len(parts) - 1
                and value.path in names.definitions
            ):
                return names.definitions.file(value.path).itself
            for name in parts[cut + 1 :]:
                value, tier = names.member(file, value, name, tier) if value is not None else UNKNOWN
            if (node := self._meant(value)) is not None:
                return node
            break
        is_model = len(parts) == 2 and parts[1][:1].isupper()
        return self._at_path([parts[0], "models", parts[1]]) if is_model else None  # Django's `app.Model`

    def _import_module(self, module: str, line: int) -> None:
        """Add the edges to the files of a module."""
        file, modules = self._file, self._names.modules
        where = modules.locate(file.path, module, file.rules)
        if where and not where.endswith("/"):
            self._import(where, line)
        elif where:
            for path in modules.by_folder.get(where.rstrip("/"), ()):
                if file.rules.in_package(path):
                    self._import(path, line)

    def _import(self, path: str, line: int) -> None:
        if path != self._file.path and path in self._names.definitions:
            other = self._names.definitions.file(path)
            self.found.add(self._file.itself, Relation.IMPORTS, other.itself, Tier.EXACT, line)
            if self._file.is_test and not other.is_test:
                self.found.add(self._file.itself, Relation.TESTS, other.itself, Tier.EXACT, line)

    def _calls(self) -> None:
        calls, names = self._refs.calls, self._names
        above = [row for row in calls if self._is_declared_below(*row)] if self._rules.runs_class_bodies else []
        for owner, line, spelled in self.once_each(above):
            self._call(owner, line, spelled, names.above(self._file, self._refs.owners[owner], spelled))
        for owner, line, spelled in self.once_each([row for row in calls if row not in above] if above else calls):
            name, _, count = spelled.partition("/")
            scope = self._refs.owners[owner]
            meaning = self._meaning(owner, name) if "." in name else names.called(self._file, scope, name)
            meaning = self._or_extension(owner, name, meaning) if self._rules.has_extensions else meaning
            self._call(owner, line, name, names.fitting(meaning, int(count)) if count else meaning)
        for owner, line, text in self.once_each(self._refs.news):
            spelled = chain(text)
            if spelled:
                value, tier = self._meaning(owner, spelled)
                if value is not None and value.is_external and value.leaf and not self._rules.declares_apart:
                    self._call(owner, line, spelled, (value, tier))  # a constant stands for a class from elsewhere
                elif value is None or value.what == "def" or not value.leaf:  # a field that is initialised is no class
                    self._use(owner, line, value, tier)

    def _call(self, owner: int, line: int, spelled: str, meaning: Meaning) -> None:
        if spelled == "super" and self._rules.calls_super:
            return
        value, tier = meaning
        found = self._imported_extension(spelled) if value is None or value.what == "external" else None
        if found or (value is not None and value.what == "external" and (found := self._outside_classes(spelled))):
            self.found.add(self._source(owner), Relation.CALLS, found, Tier.TYPED, line)
        elif value is None:
            self._by_name(owner, line, spelled, is_free=tier is not Tier.GUESS)
        elif value.what == "def":
            self._use(owner, line, value, tier)
        elif value.what != "external" or value.leaf:
            self._held(owner, line, value, tier, spelled)
        elif value == LACKING[0] and first_name(spelled) == "super":
            self._beyond_next(owner, line, spelled)
        elif value == LACKING[0] and not self._is_unlisted(line, spelled):
            self._lacking(owner, line, spelled.rpartition(".")[2])
        elif value.given[0] and (value == HANDED or not is_common(spelled.rpartition(".")[2], self._file.language)):
            self._by_name(owner, line, spelled, is_free=False)  # of a type made of one that is declared here
        elif first_name(spelled) not in self._file.imports:
            self._of_elsewhere(owner, line, spelled)

    def _or_extension(self, owner: int, spelled: str, meaning: Meaning) -> Meaning:
        """Return the extension that is called where a property has its name.

        Where a method has its name, the arguments decide: the call may mean either.
        """
        receiver, _, name = spelled.rpartition(".")
        value = meaning[0]
        of = self._meaning(owner, receiver)[0] if receiver and value is not None else None
        if value is None or of is None or not (value.leaf or value.what == "def"):
            return meaning
        extension = self._names.extended(self._file, of, name)
        if extension is None or extension[0] == value:
            return meaning
        if value.leaf:
            return extension
        self.found.unresolved.add(name)
        return meaning

    def _outside_classes(self, spelled: str) -> Node | None:
        """Return the function of Kotlin that Java calls: `UtilKt.run()`."""
        holder, _, name = spelled.rpartition(".")
        if not holder[:1].isupper() or self._rules.has_extensions or not self._rules.imports_declaration(name):
            return None
        named = self._names.definitions.named(name, self._file.family)
        found = [
            node for other, node in named
            if other.rules.has_extensions and node.kind in FUNCTIONS and node.qualified.rpartition(".")[0] not in other.nodes
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def _imported_extension(self, spelled: str) -> Node | None:
        """Return the function that is imported to be called on a receiver."""
        receiver, _, name = spelled.rpartition(".")
        rows = self._file.imports.get(name, ()) if receiver and self._rules.has_extensions else ()
        found = (self._names.extension(self._file, f"{module}.{member}")[0] for _, module, member in rows)
        return next((node for value in found if (node := self._names.node(value)) and node.kind in FUNCTIONS), None)

    def _beyond_next(self, owner: int, line: int, spelled: str) -> None:
        """Add the edge of a call beyond the next base.

        What stands next to a mixin, a class that takes the mixin decides.
        """
        around, name = self._file.class_around(self._refs.owners[owner]), spelled.rpartition(".")[2]
        above = ancestors_named(self._names, Value("def", self._file.path, around), name)
        if (node := next(above, None)) is not None:
            self.found.add(self._source(owner), Relation.CALLS, node, Tier.TYPED, line)
        else:
            self._by_name(owner, line, spelled, is_free=False)

    def _lacking(self, owner: int, line: int, name: str) -> None:
        """Note a call of a member that its class lacks.

        In Ruby a class may be given a module as it runs.
        """
        roots, is_sure = NOBODY if is_common(name, self._file.language) else self._members_named(name)
        holder = self._names.node(_class_of(roots[0])) if is_sure and self._rules.calls_bare else None
        if holder is not None and holder.kind == "module":
            self.found.add(self._source(owner), Relation.CALLS, roots[0], Tier.UNIQUE, line)
        else:
            self.found.unresolved.add(name)

    def _of_elsewhere(self, owner: int, line: int, spelled: str) -> None:
        """Note a call on a library's type that may run a method.

        A class that is based on that type may have it: in Rust a trait's method gets an edge, elsewhere the call stays
        unresolved.
        """
        name, first = spelled.rpartition(".")[2], first_name(spelled)
        if self._rules.numbers_fields:
            named = self._names.definitions.named(name, self._file.family)
            if self._names.is_variable(self._file, self._refs.owners[owner], first):
                roots, is_sure = NOBODY if is_common(name, self._file.language) else self._members_named(name)
                if is_sure and self._is_of_trait(roots[0]):
                    self.found.add(self._source(owner), Relation.CALLS, roots[0], Tier.UNIQUE, line)
            elif any(first in other.bases.get(node.qualified.rpartition(".")[0], ()) for other, node in named):
                self.found.unresolved.add(name)  # of a trait, called by the trait's name
        elif first != name and not is_common(name, self._file.language):
            roots, _ = self._members_named(name)
            if any(not self._names.bases(_class_of(root))[1] for root in roots):
                self.found.unresolved.add(name)

    def _use(self, owner: int, line: int, value: Value | None, tier: Tier) -> None:
        """Add the edge of a call, or of an instance made."""
        node = self._names.node(value)
        if value is not None and node is not None and value.what != "many":
            is_name = self._rules.calls_bare and node.kind not in FUNCTIONS  # calls are written as names are
            self.found.add(self._source(owner), Relation.REFERENCES if is_name else Relation.CALLS, node, tier, line)

    def _held(self, owner: int, line: int, value: Value, tier: Tier, spelled: str) -> None:
        """Add the edge of calling a constant, a field, an object."""
        names, node = self._names, None
        if value.what == "inst" and self._rules.call_method:
            called, _ = names.member(self._file, value, self._rules.call_method, tier)
            node = names.node(called)
        elif value.leaf:
            node = names.definitions.file(value.leaf_path).nodes.get(value.leaf)
        elif value.what == "inst" and spelled.rpartition(".")[2] in _MAKERS:
            node = names.node(value)
        elif value.what == "module" and not value.path.endswith("/"):
            other = names.definitions.file(value.path)
            is_nameless = ("", "") in other.exports.get(value.name or "=", ())
            node = other.itself if is_nameless else None  # the file is the function it exports without a name
        if node is not None:
            self.found.add(self._source(owner), Relation.CALLS, node, tier, line)
        elif value.what == "either":
            self._by_name(owner, line, spelled, is_free=False)

    def _by_name(self, owner: int, line: int, spelled: str, *, is_free: bool) -> None:
        """Add an edge by the name alone.

        One declaration is taken for sure where it has the name alone, no other class overriding it or holding a field
        of that name, where the class has no members from elsewhere, and where `is_free`: nothing is known of the receiver.
        """
        receiver, _, name = spelled.rpartition(".")
        union = self._meaning(owner, receiver)[0] if receiver else None
        if union is not None and union.what == "either":
            self._of_either(owner, line, union, name)
            return
        if not (receiver or self._rules.calls_bare) or "(" in name or "[" in name or self._is_unlisted(line, spelled):
            return
        if name in self._rules.library_classes.get("Object", ()):  # whatever it is called on has it
            self.found.unresolved.add(name)
            return
        receivers = self._receivers if is_free else None
        own = receivers.method(self._refs.owners[owner], receiver, name) if receivers else None
        if own is not None:
            self.found.add(self._source(owner), Relation.CALLS, own, Tier.UNIQUE, line)
            return
        if is_common(name, self._file.language):
            self.found.unresolved.add(name)
            return
        roots, is_sure = self._members_named(name)
        if is_sure and (is_free or self._is_of_trait(roots[0])):
            self.found.add(self._source(owner), Relation.CALLS, roots[0], Tier.UNIQUE, line)
        elif 0 < len(roots) <= MOST_GUESSES:
            for node in roots:
                self.found.add(self._source(owner), Relation.CALLS, node, Tier.GUESS, line)
        elif roots:
            self.found.unresolved.add(name)

    def _of_either(self, owner: int, line: int, union: Value, name: str) -> None:
        """Add the edges of a call on a union."""
        for value in self._names.alternatives(union):
            called = self._names.member(self._file, value, name, Tier.TYPED)[0] if value is not None else None
            if called is None or called.what == "inst":
                self.found.unresolved.add(name)
            elif called.what == "def":
                self._use(owner, line, called, Tier.TYPED)

    def _members_named(self, name: str) -> tuple[list[Node], bool]:
        """Return the answer of `_members`, asked once."""
        family, is_test = self._file.family, self._file.is_test
        asked = ("members", name, family, is_test)
        return self._names.definitions.once(asked, self._members, NOBODY, name, family, is_test)

    def _is_of_trait(self, node: Node) -> bool:
        """Return whether types from elsewhere may have a function, by a trait."""
        holder = self._names.node(_class_of(node))
        return self._rules.numbers_fields and holder is not None and holder.kind == "trait"

    def _is_unlisted(self, line: int, spelled: str) -> bool:
        """Return whether a proof leads to something that is no declaration."""
        receiver, _, name = spelled.rpartition(".")
        return (line, name, bool(receiver)) in self._unlisted

    def _members(self, name: str, family: str, is_test: bool) -> tuple[list[Node], bool]:
        """Return the functions a name may mean, and whether one is certain.

        Of a name that thousands of files declare few are looked at.
        """
        named = self._names.definitions.named(name, family)
        named = _defined([each for each in named if "." in each[1].qualified and (is_test or not each[0].is_test)])
        functions = self._of_objects(
            each for each in named if each[1].kind in FUNCTIONS or any(map(_FUNCTION.match, _types_of(*each)))
        )
        candidates = [node for _, node in islice(functions, _MOST_ROOTS + 1)]
        if len(candidates) > _MOST_ROOTS:
            return candidates, False
        roots = self._roots(candidates)
        if len(roots) != 1:
            return roots, False
        others = (n for file, n in self._of_objects(named) if not (n is roots[0] or _holds_other(file, n)))
        is_of_trait = self._is_of_trait(roots[0])
        above = (ancestors_named(self._names, _class_of(node), name) for node in others) if is_of_trait else ()
        is_alone = all(any(base.id == roots[0].id for base in bases) for bases in above) and (
            is_of_trait or not any(others)
        )
        return roots, is_alone and (is_of_trait or self._is_closed(roots[0]))

    def _of_objects(self, members: Iterable[tuple[File, Node]]) -> Iterator[tuple[File, Node]]:
        """Leave out functions in functions, where these are no objects."""
        left = iter(members)
        while some := list(islice(left, _READ_AT_ONCE)):
            asked = (node.parent for file, node in some if not file.rules.nests_functions)
            holders = self._names.definitions.nodes(asked)
            for file, node in some:
                holder = holders.get(node.parent)
                around = node.qualified.rpartition(".")[0]
                if holder is None or holder.qualified != around or holder.kind not in FUNCTIONS:
                    yield file, node

    def _is_closed(self, node: Node) -> bool:
        """Return whether a member's class is unique and has known bases."""
        file, around = self._names.definitions.file(node.path), _class_of(node)
        if file.rules.declares_apart:
            around = self._names.own_class(file, around.name)
        return around.name not in file.several and self._names.bases(around)[1]

    def _roots(self, candidates: list[Node]) -> list[Node]:
        """Return candidates that override no other, few of many."""
        if len(candidates) < 2:
            return candidates
        ids = {node.id for node in candidates}
        roots = (
            node for node in candidates
            if not any(base.id in ids for base in ancestors_named(self._names, _class_of(node), node.name))
        )  # fmt: skip
        return list(islice(roots, MOST_GUESSES + 1))

    def _mentions(self) -> None:
        """Add the edges of types named and of values passed on."""
        file, names, refs = self._file, self._names, self._refs
        handed = [(owner, line, text) for owner, line, how, text in refs.returns if how == VALUE and text[-1:] != ")"]
        handed += [row[5:] + row[1:2] + row[4:5] for row in refs.bindings if row[3] == VALUE and row[4][-1:] != ")"]
        rows = [*refs.loads, *handed]
        held = [(*row[:2], begun[0]) for row in (*rows, *refs.calls) if (begun := _HOLDER.match(row[2]))]
        for owner, line, spelled in self.once_each([*rows, *held]):
            value, tier = self._meaning(owner, spelled)
            node = self._meant(value) if value is not None and (value.leaf or value.what == "def") else None
            if value is not None and value.what == "module" and value.path in names.definitions and "." not in spelled:
                node = names.definitions.file(value.path).itself  # a module that is handed on
            if node is not None:
                self.found.add(self._source(owner), Relation.REFERENCES, node, tier, line)
        typed = [(scope, line, text) for _, line, _, how, text, scope in refs.bindings if how in {TYPE, NARROWED}]
        typed += [(owner, line, text) for owner, line, how, text in refs.returns if how == TYPE]
        known: dict[str, Node | None] = {}  # of types that mean the same all over the file
        for owner, line, text in self.once_each([*typed, *refs.types]):
            plain = names.plain(file, text)
            if not plain:
                continue
            if plain in known:
                node = known[plain]
            else:
                node = names.node(names.type(file, refs.owners[owner], plain)[0])
                if names.is_same_type(file, plain):
                    known[plain] = node
            if node is not None:
                self.found.add(self._source(owner), Relation.REFERENCES, node, Tier.EXACT, line)

    def _bases(self) -> None:
        """Add the edges of bases, interfaces and overridden methods."""
        file, names = self._file, self._names
        for owner, line, text in self._refs.bases:
            qualified = self._refs.owners[owner]
            own = plain_holder(qualified)
            source = file.nodes.get(own) or names.node(names.meaning(file, "", own)[0])  # of an `impl` or an extension
            base = names.base(file, qualified, text)
            target = names.node(base)
            if source is not None and target is not None and base is not None:
                self.found.add(source, _how(target), target, Tier.EXACT, line)
        for qualified in file.bases:
            for name, node in file.scopes.get(qualified, {}).items():
                if node.kind in FUNCTIONS or node.kind == "property" or self._rules.overrides_fields:
                    self._overrides(node, ancestors_named(names, Value("def", file.path, qualified), name))

    def _objects(self) -> None:
        """Add the edges from an object's methods to its declared type's."""
        file, names = self._file, self._names
        for qualified, node in file.nodes.items() if self._rules.nests_functions else ():
            rows = file.bindings.get(qualified, {}).get(node.name, ()) if node.kind == "object" else ()
            for _, text, scope in (row for row in rows if row[0] == TYPE):
                base = names.type(file, scope, text)[0]
                if base is not None and base.what == "inst":
                    above = (base._replace(what="def"), *names.bases(base)[0])
                    for name, member in file.scopes.get(qualified, {}).items():
                        declared = (names.definitions.file(each.path).scopes.get(each.name, {}) for each in above)
                        self._overrides(member, (known[name] for known in declared if name in known))

    def _overrides(self, node: Node, above: Iterable[Node]) -> None:
        """Add the edges to the nearest methods that a method overrides."""
        names = self._names
        beyond = set[Value]()
        for base_node in above:
            around = _class_of(base_node)
            if around not in beyond and names.may_override(node, base_node):
                holder = names.node(around)
                self.found.add(node, _how(holder or base_node), base_node, Tier.EXACT, node.start_line)
                beyond.update(names.bases(around)[0])

    def _fixtures(self) -> None:
        """Add edges from tests and fixtures to their parameters' fixtures."""
        for owner, line, name, how, _, _ in self._refs.bindings:
            source = self._file.nodes.get(self._refs.owners[owner])
            if how not in {SHADOW, TYPE} or source is None or source.kind not in FUNCTIONS:
                continue
            if source.name.startswith("test") or source.qualified in self._file.fixtures:
                node = self._names.fixture(self._file, name)
                if node is not None and node.qualified in self._names.definitions.file(node.path).fixtures:
                    self.found.add(source, Relation.REFERENCES, node, Tier.EXACT, line)


def _defined(named: list[tuple[File, Node]]) -> list[tuple[File, Node]]:
    """Leave out declarations of members that are defined elsewhere."""
    bodies = {node.qualified for file, node in named if _is_apart(file, node)}
    return [(file, node) for file, node in named if _is_apart(file, node) or node.qualified not in bodies]


def _is_apart(file: File, node: Node) -> bool:
    """Return whether a function stands apart from its class."""
    return file.rules.declares_apart and node.parent != node_id(node.path, node.qualified.rpartition(".")[0])


def _holds_other(file: File, node: Node) -> bool:
    """Return whether a field is declared a type that cannot be called."""
    declared = _types_of(file, node)
    return bool(declared) and not any(_CALLABLE.search(text) for text in declared)


def _types_of(file: File, node: Node) -> list[str]:
    """Return the types that a field is declared with."""
    rows = file.bindings.get(node.qualified.rpartition(".")[0], {}).get(node.name, ()) if node.kind in LEAVES else ()
    return [text for how, text, _ in rows if how == TYPE]


def _how(base: Node) -> Relation:
    return Relation.IMPLEMENTS if base.kind in _INTERFACES else Relation.INHERITS


def _class_of(node: Node) -> Value:
    return Value("def", node.path, node.qualified.rpartition(".")[0])

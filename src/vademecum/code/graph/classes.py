"""The contents of a class: members, bases, fields, results of methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from vademecum.code.graph.blocks import narrowed
from vademecum.code.graph.callbacks import alias_text, handed
from vademecum.code.graph.common_names import is_common
from vademecum.code.graph.definitions import Definitions, File
from vademecum.code.graph.generics import from_elsewhere, standing_for
from vademecum.code.graph.meanings import (
    EXTERNAL,
    GIVES,
    HELD,
    LACKING,
    SEVERAL,
    UNKNOWN,
    WRITTEN,
    Meaning,
    Value,
    alike,
    held_by,
    itself,
)
from vademecum.code.graph.terms import Node, Tier
from vademecum.code.languages.declarations import FUNCTIONS, LEAVES, plain_holder
from vademecum.code.languages.expression import (
    TURNS,
    arguments_of,
    chain,
    containers_in,
    is_written_out,
    plain_type,
    result_of,
)
from vademecum.code.languages.language import SELVES
from vademecum.code.languages.modules import Modules
from vademecum.code.languages.references import CONTEXT, EACH, GIVEN, LITERAL, NARROWED, RETURNED, SHADOW, TYPE
from vademecum.code.languages.scopes import CLASSES, may_define

_NOTHING = frozenset({"None", "null", "nil", "undefined", "NULL", "nullptr", "True", "False", "true", "false"})
_INFERRED = frozenset({"var", "val", "auto"})  # what stands for a type that is not written
_MOST_BASES = 64
_DECLARING = frozenset({"interface", "protocol"})  # their methods give way to those of classes and traits
_NO_BASES = {"object", "Object", "ABC", "abc.ABC"}
_YIELDS = ("next", "into_iter", "iter")  # Rust's, where the type of what they yield is declared elsewhere
_RECEIVER = {"Self", "this", "static"}
_ITSELF = {*_RECEIVER, "self"}


class Classes(ABC):
    """Finds members, types and results, given the meaning of names."""

    def __init__(self, definitions: Definitions, modules: Modules) -> None:
        self.definitions = definitions
        self.modules = modules

    def forget(self) -> None:
        """Let go of everything read and answered."""
        self.definitions.forget()
        self.modules.forget()

    @abstractmethod
    def meaning(self, file: File, scope: str, spelled: str) -> Meaning:
        """Return the meaning of a chain in the scope of a declaration."""

    @abstractmethod
    def member(self, file: File, value: Value, name: str, tier: Tier) -> Meaning:
        """Return the meaning of `value.name`."""

    def node(self, value: Value | None) -> Node | None:
        """Return the declaration that a value is, or is an instance of."""
        if value is None or not value.name:
            return None
        return self.definitions.file(value.path).nodes.get(value.name)

    def own_class(self, file: File, around: str) -> Value:
        """Return an instance of the class around, perhaps of another file."""
        near = file.rules.opened_in
        if around in file.nodes or near is None:
            return Value("inst", file.path, around)
        parts = around.split(".")
        for other, node in self.definitions.named(parts[-1], file.family):
            whole = node.qualified.split(".")
            if (
                node.kind in CLASSES - {"alias"}
                and whole[-len(parts) :] == parts[-len(whole) :]
                and near(file.path, other.path)
            ):
                return Value("inst", other.path, node.qualified)
        return Value("inst", file.path, around)

    def _of_class(self, value: Value, name: str) -> Meaning:
        """Return a member of a class or of its bases.

        A method of a class or a trait comes before one that an interface only declares. The member is external if a
        base is external and no nearer class has the member. Of several `impl`s the one trait they implement has it.
        """
        file = self.definitions.file(value.path)
        is_built_in = file.rules.numbers_fields and value.name[:1].islower() and value.name not in file.nodes
        if is_built_in and is_common(name, file.language):  # `str` has it, before any trait
            return HELD
        found = self._of_one(value, value, name)
        if found is not None and found is not SEVERAL:
            return found
        bases, complete = self.bases(value)
        if found is SEVERAL:
            traits = [each for base in bases if (each := self._of_one(base, value, name))]
            return traits[0] if len(traits) == 1 else HELD
        declared: Meaning | None = None
        for base in bases:
            given, holder = self._of_one(base, value, name), self.node(base)
            if given is not None and (holder is None or holder.kind not in _DECLARING):
                return given
            declared = declared or given
        is_pointer = "Target" in file.aliases.get(value.name, ())  # of Rust's `Deref`
        return declared or (UNKNOWN if is_pointer else LACKING if complete else HELD)

    def _of_one(self, each: Value, value: Value, name: str) -> Meaning | None:
        """Return a member that a class of `value` declares itself."""
        file = self.definitions.file(each.path)
        node = file.scopes.get(each.name, {}).get(name)
        if file.rules.calls_bare:
            name, node = self._renamed(file, each.name, name, node)
        if name == each.name.rpartition(".")[2] and _is_constructor(node, file):
            if file.rules.declares_apart and each.name in file.nodes:
                return Value("def", each.path, each.name), Tier.EXACT
            node = None  # the name of a class is the class, all over its body
        if node is None or (file.rules.is_header(each.path) and node.kind in FUNCTIONS):  # defined elsewhere
            scopes = (file.scopes[scope] for scope in file.apart.get(each.name, ()))
            parts = [members[name] for members in scopes if name in members]
            if len(parts) > 1:
                return SEVERAL
            node = next(self._opened(file, each.name, name), (file, node))[1] if not parts else parts[0]
        node = self._in_reach(file, node, each, value)
        declared = ((part, rows) for part in self.parts(each) if (rows := part.fields(each.name).get(name)))
        home, rows = next(declared, (file, None))
        if node is not None and (node.kind not in LEAVES or not rows):
            found, tier = self._read(value, node)
            return found, Tier.GUESS if self._is_declared_twice(each.name, node) else tier
        if rows:
            found, tier = self.bound(home, name, rows)
            if found is not None:
                return held_by((found, max(tier, Tier.TYPED)), node)
            if node is None:
                return HELD
        return (Value("def", node.path, node.qualified), Tier.EXACT) if node is not None else None

    def _in_reach(self, file: File, node: Node | None, each: Value, value: Value) -> Node | None:
        """Leave out a class's own methods, where instances are asked.

        Those of a module are not even those of the classes that include it.
        """
        if node is None or node.qualified not in file.statics:
            return node
        holder = self.node(each) if each.name != value.name else None
        return None if value.what == "inst" or (holder is not None and holder.kind == "module") else node

    def _is_declared_twice(self, scope: str, node: Node) -> bool:
        """Return whether another file declares a method of the class, too.

        Which one is loaded, or loaded last, is not told; a part that keeps the method under another name replaces it.
        """
        home = self.definitions.file(node.path)
        others = self._opened(home, scope, node.name) if home.rules.calls_bare and node.kind in FUNCTIONS else ()
        own = [other for other, part in others if part.qualified == node.qualified]
        return any(not (other.is_test or other.former or home.former) for other in own)

    def _renamed(self, file: File, scope: str, name: str, node: Node | None) -> tuple[str, Node | None]:
        """Return a method's first name, and the method that a call reaches.

        An alias keeps the former self of a method that another part of its class replaces.
        """
        if replacing := file.former.get(f"{scope}.{name}"):
            name = replacing.rpartition(".")[2]
            return name, next((part for _, part in self._opened(file, scope, name)), None)
        if node is None:
            name = file.aliases.get(scope, {}).get(name, name).lstrip(":")
            node = file.scopes.get(scope, {}).get(name)
        if node is not None:
            parts = (part for other, part in self._opened(file, scope, name) if part.qualified in other.former.values())
            node = next(parts, node)
        return name, node

    def held(self, node: Node, name: str) -> Meaning | None:
        """Return a variant's field, or a further result by its number."""
        file = self.definitions.file(node.path)
        if name.isdigit() and node.kind in FUNCTIONS and (known := file.fields(node.qualified).get(name)):
            return self.bound(file, name, known)
        if node.kind not in LEAVES or not file.rules.numbers_fields:
            return None
        rows = file.fields(node.qualified).get(name) or file.fields(node.qualified.rpartition(".")[0]).get(name)
        return held_by(self.bound(file, name, rows), file.nodes.get(f"{node.qualified}.{name}")) if rows else None

    def _read(self, value: Value, node: Node) -> Meaning:
        """Return a method, for a getter its result."""
        file, own = self.definitions.file(node.path), (Value("def", node.path, node.qualified), Tier.EXACT)
        if value.what != "inst" or node.qualified not in file.properties:
            return own
        found = self.result(*own)
        return own if found[0] is None else held_by(found, node)

    def put_on(self, node: Node, name: str) -> Meaning:
        """Return a member that a function is given outside of itself."""
        inside = self.definitions.file(node.path).put_on.get(node.qualified, {}).get(name)
        return (Value("def", node.path, inside.qualified), Tier.EXACT) if inside is not None else UNKNOWN

    def fitting(self, meaning: Meaning, count: int) -> Meaning:
        """Return the method or base method for a number of arguments.

        A field is no method, and gives way to one of a base too.
        """
        value, tier = meaning
        if value is None or not (value.leaf or value.what == "def"):
            return meaning
        path, called = (value.leaf_path, value.leaf) if value.leaf else (value.path, value.name)
        if self._takes(path, called, count):
            return meaning
        around, _, name = called.rpartition(".")
        bases, complete = self.bases(Value("def", path, around))
        for base in bases:
            node = self.definitions.file(base.path).scopes.get(base.name, {}).get(name)
            if node is not None and self._takes(node.path, node.qualified, count):
                return Value("def", node.path, node.qualified), max(tier, Tier.TYPED)
        return meaning if complete else HELD

    def _takes(self, path: str, qualified: str, count: int) -> bool:
        """Return whether a function may take so many arguments."""
        file = self.definitions.file(path)
        node, known = file.nodes.get(qualified), file.arities.get(qualified)
        if node is not None and node.kind in LEAVES:
            return False
        return not known or any(least <= count <= most for least, most in known)

    def may_override(self, node: Node, base: Node) -> bool:
        """Return whether overloads of two functions take equally many arguments."""
        own = self.definitions.file(node.path).arities.get(node.qualified, ())
        others = self.definitions.file(base.path).arities.get(base.qualified, ())
        return not own or not others or bool(set(own) & set(others))

    def _opened(self, file: File, scope: str, name: str) -> Iterator[tuple[File, Node]]:
        """Yield a class's members of a name that other files declare."""
        same = file.rules.opened_in
        if same is None:
            return
        for other, node in self.definitions.members(name, scope.rpartition(".")[2], file.family):
            is_near = same(file.path, other.path)
            if other.path == file.path or not (is_near or file.rules.extends_by_traits):
                continue
            if file.rules.reopens and other.refs.package != file.refs.package:
                continue
            around = plain_holder(node.qualified.rpartition(".")[0])
            if file.rules.reopens:
                is_part = f".{around}".endswith(f".{scope}") or f".{scope}".endswith(f".{around}")
                is_namesake = node.kind in FUNCTIONS and around in other.nodes and scope in file.nodes
                is_same = around == scope or (is_part and not is_namesake)
            else:
                is_same = not self._is_namesake(other, around, file, scope, is_near=is_near)
                is_same = is_same and (not file.rules.declares_apart or may_define((other, node), around, file, scope))
            if is_same:
                yield other, node

    def _is_namesake(self, other: File, around: str, file: File, scope: str, *, is_near: bool) -> bool:
        """Return whether a file extends a namesake of a class.

        A file from afar has to name the class so that it is known to be this one.
        """
        if other.rules.declares_apart:  # headers declare classes several times
            own = other.nodes.get(around)
            return own is not None and own.kind in CLASSES
        meant, _ = self.meaning(other, "", around)
        is_known = meant is not None and meant.what == "def"
        return (is_known or not is_near) and (meant is None or (meant.path, meant.name) != (file.path, scope))

    def bases(self, value: Value) -> tuple[tuple[Value, ...], bool]:
        """Return all bases, nearest first, and the fact that they are complete."""
        nothing: tuple[tuple[Value, ...], bool] = ((), False)
        return self.definitions.once(("bases", value.path, value.name), self._bases, nothing, value)

    def _bases(self, value: Value) -> tuple[tuple[Value, ...], bool]:
        found: dict[Value, None] = {}
        complete = True
        queue = [Value("def", value.path, value.name)]
        while queue and len(found) <= _MOST_BASES:
            each = queue.pop(0)
            if each in found:
                continue
            found[each] = None
            near: list[Value] = []
            for file, text in self.based_on(each):
                base = self.base(file, each.name, text)
                if base is None or base.is_external or not base.name or base.what == "many":
                    complete &= text in _NO_BASES or text.startswith(("Generic[", "Protocol["))
                elif base.what == "inst":
                    near.append(Value("def", base.path, base.name))
            if self.definitions.file(value.path).rules.calls_bare:  # modules come before the class, the last first
                near.reverse()
                queue[:0] = sorted(near, key=lambda each: (of := self.node(each)) is not None and of.kind == "class")
            else:
                queue += near
        found.pop(Value("def", value.path, value.name), None)
        return tuple(found), complete

    def base(self, file: File, qualified: str, text: str) -> Value | None:
        """Return the type that a declaration is based on."""
        if text.partition("<")[0].rpartition(":")[2] in TURNS:
            return EXTERNAL
        around, is_own = qualified.rpartition(".")[0], False
        if file.rules.calls_bare and text != "self":  # Ruby's `include Inner` stands in the class
            parts = self.parts(Value("def", file.path, qualified))
            is_own = any(text.partition(":")[0].partition(".")[0] in each.scopes.get(qualified, ()) for each in parts)
        return self.type(file, qualified if is_own else around, text)[0]

    def parts(self, value: Value) -> list[File]:
        """Return the files that declare a class, its own first."""
        file = self.definitions.file(value.path)
        if not file.rules.reopens:
            return [file]
        named = self.definitions.named(value.name.rpartition(".")[2], file.family)
        others = (other for other, node in named if node.qualified == value.name and node.kind in CLASSES)
        package = file.refs.package
        return [file, *(other for other in others if other.path != file.path and other.refs.package == package)]

    def based_on(self, value: Value) -> Iterator[tuple[File, str]]:
        """Yield the base types of a class, from all its parts."""
        file = self.definitions.file(value.path)
        parts = ((each, name) for each in self.parts(value) for name in (value.name, *each.apart.get(value.name, ())))
        yield from ((each, text) for each, name in parts for text in each.bases.get(name, ()))
        around, _, name = value.name.rpartition(".")
        is_other = value.name not in file.nodes or file.nodes[value.name].kind == "alias"
        bounds = file.aliases.get(around, {}).get(name, "") if is_other else ""
        yield from ((file, text) for text in bounds.split("+") if text)

    # -- types, bindings, results --------------------------------------------------------------------------------

    def type(self, file: File, scope: str, text: str) -> Meaning:
        """Return an instance of a type, or a collection of instances."""
        if "{" in text and is_written_out(text):
            return WRITTEN, Tier.TYPED
        if "+" in text and file.rules.numbers_fields:  # bounds: the one that is declared here
            bounds = {value for part in text.split("+") if (value := self.type(file, scope, part)[0]) and value.name}
            return (bounds.pop(), Tier.TYPED) if len(bounds) == 1 else UNKNOWN
        plain = self.plain(file, text)
        argument = standing_for(self, file, scope, text, plain) if plain else UNKNOWN
        if argument is not None:
            return argument
        value = self._named_type(file, scope, plain.removesuffix("[]"))
        if value is None or value.is_external:
            return from_elsewhere(self, file, scope, text, plain) if value else UNKNOWN
        if ("<" in text or "[" in text) and (arguments := arguments_of(text, plain.removesuffix("[]"))):
            value = value._replace(given=(file.path, scope, arguments))
        if plain.endswith("[]"):
            return (value._replace(what="many") if value.what == "inst" else None), Tier.TYPED
        return value, Tier.TYPED

    def plain(self, file: File, text: str) -> str:
        """Return the class that a type in a file names."""
        if "<" not in text and "[" not in text:
            return plain_type(text)
        named = ((name, self.node(self.meaning(file, "", path)[0])) for name, path in containers_in(text))
        own = frozenset(name for name, node in named if node is not None and node.kind in CLASSES - {"alias"})
        return plain_type(text, own)

    def _named_type(self, file: File, scope: str, name: str) -> Value | None:
        """Return an instance of a type by its name, None for unknown."""
        if (alias := self._alias(file, scope, name)) is not None:
            return alias[0]
        value, _ = self.meaning(file, "" if file.rules.shadows_packages and "." in name else scope, name)
        if (value is None or value.what != "def") and name in file.inner_names:  # a variable of a type's name
            value, _ = self.meaning(file, "", name)
        node = self.node(value)
        if value is None or value.is_external:
            rows = file.bindings.get("", {}).get(name, ())  # what `TypeVar()` makes may stand for any type
            return EXTERNAL if value and not any(text[-1:] == ")" for _, text, _ in rows) else None
        if value.what == "inst" and name in file.rules.self_names:  # Ruby's `class Inner < self`
            return value
        if value.what != "def" or (node is not None and node.kind not in CLASSES):
            return None
        if node is not None and node.kind == "alias":
            alias = self._alias(self.definitions.file(value.path), value.name.rpartition(".")[0], node.name)
            return alias[0] if alias is not None else None
        return Value("inst", value.path, value.name)

    def _alias(self, file: File, scope: str, name: str) -> Meaning | None:
        """Return the type behind an alias or a type parameter, else None."""
        known = alias_text(file, scope, name)
        if known is None or not known[1]:  # a type parameter, as nearly all of them are
            return known and UNKNOWN
        own = f"{known[0]}.{name}".lstrip(".")  # with type parameters of its own it is read among them
        written = (own if own in file.aliases and not file.rules.numbers_fields else known[0]), known[1]
        found = self.definitions.once(("alias", file.path, known[0], name), self.type, UNKNOWN, file, *written)
        if found[0] is None and "+" in known[1] and file.rules.numbers_fields:  # it has all its bounds for bases
            return Value("inst", file.path, f"{known[0]}.{name}"), Tier.TYPED
        return found

    def bound(self, file: File, name: str, rows: list[tuple[str, str, str]]) -> Meaning:
        """Return the value of a name, if all its bindings agree."""
        if len(rows) == 1 and (alone := self._bound_alone(file, name, *rows[0])) is not None:
            return alone
        types = [self.type(file, scope, text) for how, text, scope in rows if how == TYPE and text not in _INFERRED]
        if types:
            return self._declared(file, name, types, [row for row in rows if row[0] != TYPE])
        if all(how == SHADOW and text == LITERAL for how, text, _ in rows):
            return WRITTEN, Tier.TYPED
        if any(how == SHADOW for how, _, _ in rows):
            return self._fixture(file, name) if file.is_test and file.rules.fixture_file else UNKNOWN
        found = dict.fromkeys(  # in the order they are written: the classes that several have in common are told in it
            itself(self._value_of(file, how, text, scope))
            for how, text, scope in rows
            if how != TYPE and text not in _NOTHING
        )
        found = dict.fromkeys(alike(found))
        if len({value for value, _ in found}) != 1:
            return self._shared([value for value, _ in found])
        value, tier = max(found, key=lambda each: each[1])
        return value, max(tier, Tier.TYPED)

    def _declared(self, file: File, name: str, types: list[Meaning], others: list[tuple[str, str, str]]) -> Meaning:
        """Return the value of a name whose type is declared.

        A parameter that is text, say, may be made an object under the same name.
        """
        types = alike(types)
        declared = types[0] if len({value for value, _ in types}) == 1 else UNKNOWN
        if file.rules.numbers_fields and self._is_made_other(file, name, declared[0], others):
            return HELD
        if file.rules.numbers_fields and any(how == SHADOW for how, _, _ in others):
            return UNKNOWN  # `for (n, name) in …` makes another variable
        if not others or declared[0] is None or not declared[0].is_external:
            return declared
        given = self.bound(file, name, others)
        return given if given[0] is not None and given[0].what == "inst" else declared

    def _is_made_other(self, file: File, name: str, value: Value | None, others: list[tuple[str, str, str]]) -> bool:
        """Return whether a method gives its variable another value."""
        texts = [t for _, t, _ in others if t.startswith(f"{name}.") and t[-2:] == "()" and t.count(".") == 1]
        called = [self.member(file, value, text[len(name) + 1 : -2], Tier.TYPED)[0] for text in texts if value]
        return any(each and each.what == "def" and self.result(each, Tier.TYPED)[0] != value for each in called)

    def _bound_alone(self, file: File, name: str, how: str, text: str, scope: str) -> Meaning | None:
        """Return the value of a single binding, None if it tells none."""
        if how == TYPE:
            return self.type(file, scope, text) if text not in _INFERRED else None
        if how == NARROWED:
            return narrowed(self, file, scope, name, self.type(file, scope, text))
        if how == SHADOW or text in _NOTHING:
            return None
        value, tier = itself(self._value_of(file, how, text, scope))
        return value, max(tier, Tier.TYPED)

    def _shared(self, values: list[Value | None]) -> Meaning:
        """Return an instance of the nearest class that several values share."""
        lines: list[tuple[Value, ...]] = []
        for value in values:
            if value is None or value.what != "inst":
                return UNKNOWN
            itself_too = (Value("def", value.path, value.name), *self.bases(value)[0])
            lines.append(itself_too)
        common = [each for each in min(lines, key=len, default=()) if all(each in line for line in lines)]
        return (Value("inst", common[0].path, common[0].name), Tier.TYPED) if common else UNKNOWN

    def _fixture(self, file: File, name: str) -> Meaning:
        """Return the result of the nearest fixture with a parameter's name."""
        node = self.fixture(file, name)
        return UNKNOWN if node is None else self.result(Value("def", node.path, node.qualified), Tier.TYPED)

    def fixture(self, file: File, name: str) -> Node | None:
        """Return the nearest fixture with a parameter's name."""
        folder = file.path
        places = [file.path]
        while folder:
            folder = folder.rpartition("/")[0]
            places.append(f"{folder}/{file.rules.fixture_file}".removeprefix("/"))
        for place in places:
            node = self.definitions.file(place).scopes.get("", {}).get(name) if place in self.definitions else None
            if node is not None and node.kind in FUNCTIONS:
                return node
        self.definitions.consulted.add("/" + file.rules.fixture_file.partition(".")[0])
        return None

    def called_without_brackets(self, value: Value, tier: Tier) -> Meaning:
        """Return the result of a function that its name alone calls."""
        node = self.node(value)
        if value.what.startswith(GIVES) or (value.what == "def" and node is not None and node.kind in FUNCTIONS):
            return self.result(value, tier)
        return value, tier

    def _value_of(self, file: File, how: str, text: str, scope: str) -> Meaning:
        if how == GIVEN:
            return handed(self, file, scope, text)
        value, tier = self.meaning(file, scope, text)
        if value is None or value.is_external:
            return HELD if how == EACH and not file.rules.types_results else (value, tier)
        if file.rules.calls_bare:
            value, tier = self.called_without_brackets(value, tier)
        if how == EACH:
            if value is not None and value.what == "inst" and file.rules.numbers_fields:
                return self._element(value)
            value = self.elements(value)
            many = value is not None and value.what == "many"
            return (Value("inst", value.path, value.name), Tier.TYPED) if value and many else UNKNOWN
        if how == CONTEXT and value is not None and value.what == "inst":
            entered, _ = self.member(file, value, "__enter__", tier)
            return self.result(entered, Tier.TYPED) if entered is not None and not entered.is_external else UNKNOWN
        return value, tier

    def elements(self, value: Value | None) -> Value | None:
        """Return the collection behind a named type, else the value."""
        own = self.definitions.file(value.path) if value is not None and value.what == "inst" else None
        rows = own.fields(value.name).get(EACH) if own is not None and value is not None else None
        return self.bound(own, EACH, rows)[0] if own is not None and rows else value

    def _element(self, value: Value) -> Meaning:
        """Return an iterator's element, for other values the value."""
        own = self.definitions.file(value.path)
        if "Item" in own.aliases.get(value.name, ()):
            return self.type(own, value.name, "Item")
        return (value, Tier.TYPED) if not any(map(own.scopes.get(value.name, {}).get, _YIELDS)) else UNKNOWN

    def result(self, value: Value, tier: Tier, *, is_new: bool = False) -> Meaning:
        """Return the result of calling a value, with `new` or without."""
        node = self.node(value)
        if value.what == "inst":
            own = self.definitions.file(value.path) if node is not None else None
            if own is not None and own.rules.call_method:
                called, _ = self.member(own, value, own.rules.call_method, tier)
                return self.result(called, Tier.TYPED) if called is not None and called.what == "def" else UNKNOWN
            is_signature = own is not None and own.rules.erases_types and value.name in own.returns
            return self._result(value) if is_signature else (value, tier)  # `Foo.new()`
        if value.what.startswith(GIVES):
            return Value(value.what.removeprefix(GIVES), value.path, value.name), tier
        if value.what != "def" or node is None:
            return UNKNOWN
        file = self.definitions.file(value.path)
        if node.kind in CLASSES or _makes(file, value.name, is_new=is_new):
            alias = self._alias(file, value.name.rpartition(".")[0], node.name) if node.kind == "alias" else None
            return (alias and alias[0]) or Value("inst", value.path, value.name), max(tier, Tier.TYPED)
        found = self.definitions.once(("result", value.path, value.name), self._result, UNKNOWN, value)
        return found[0], max(tier, found[1], Tier.TYPED)

    def gives_receiver(self, value: Value | None) -> bool:
        """Return whether a method gives its receiver, or its like."""
        node = self.node(value)
        if value is None or value.what != "def" or node is None or node.kind not in FUNCTIONS:
            return False
        rows = self.definitions.file(value.path).returns.get(value.name, ())
        declared = [text for how, text in rows if how == TYPE]
        if declared:
            extended = [text for at, text in self.definitions.file(value.path).takes.get(value.name, ()) if at < 0]
            return _written(declared[0]) in _RECEIVER or declared[:1] == extended
        return bool(rows) and all(text in SELVES for _, text in rows)

    def _repeats(self, file: File, value: Value, text: str) -> bool:
        """Return whether a result is a call of the function itself."""
        called = self.meaning(file, value.name, text.removesuffix("()"))[0] if text.endswith("()") else None
        return called is not None and (called.path, called.name) == (value.path, value.name)

    def _result(self, value: Value) -> Meaning:
        file = self.definitions.file(value.path)
        rows = file.returns.get(value.name, ())
        declared = [text for how, text in rows if how == TYPE]
        if not rows and file.rules.erases_types:  # a property that is declared a function
            held = file.fields(value.name.rpartition(".")[0]).get(value.name.rpartition(".")[2], ())
            declared = [result for how, text, _ in held if how == TYPE and (result := result_of(text))]
        if declared:
            if _written(declared[0]) in _ITSELF and (around := file.class_around(value.name)):
                return Value("inst", file.path, around), Tier.TYPED
            types = alike(self.type(file, value.name, text) for text in dict.fromkeys(declared))
            own = {each for each, _ in types if each is None or not each.is_external}
            is_one = own <= {types[0][0]} or types[0] == (WRITTEN, Tier.TYPED)  # which lists others, of its members
            return types[0] if is_one else self._shared([each for each, _ in types])
        given = (text for how, text in rows if how != TYPE and text not in _NOTHING)
        written = Value("written", file.path, f"{value.name}.{RETURNED}")
        texts = [text for text in given if not self._repeats(file, value, text)]
        found = {written if text == RETURNED else self.meaning(file, value.name, text)[0] for text in texts}
        return (next(iter(found)), Tier.TYPED) if len(found) == 1 else UNKNOWN


def ancestors_named(names: Classes, value: Value, name: str) -> Iterator[Node]:
    """Yield the declarations that a member of a class overrides."""
    for base in names.bases(value)[0]:
        declared = (part.scopes.get(base.name, {}).get(name) for part in names.parts(base))
        yield from (node for node in declared if node is not None)


def _written(text: str) -> str:
    """Return the class of a result's type, or the word for itself."""
    word = text.strip(" :?")
    return word if word in _ITSELF else chain(plain_type(text))


def _is_constructor(node: Node | None, file: File) -> bool:
    """Return whether a member with its class's name is a constructor."""
    if file.rules.declares_apart:
        return node is None or node.kind in FUNCTIONS
    return node is not None and node.kind == "constructor"


def _makes(file: File, name: str, *, is_new: bool) -> bool:
    """Return whether calling a function makes an instance of itself."""
    return file.makes_instances(name) and (is_new or all(text in _NOTHING for _, text in file.returns.get(name, ())))

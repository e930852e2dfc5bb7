"""The values of names: types, bindings, results of functions."""

from __future__ import annotations

from abc import ABC, abstractmethod

from vademecum.code.graph.blocks import narrowed
from vademecum.code.graph.callbacks import alias_text, handed
from vademecum.code.graph.definitions import Definitions, File
from vademecum.code.graph.generics import from_elsewhere, standing_for
from vademecum.code.graph.meanings import (
    EXTERNAL,
    GIVES,
    HANDED,
    HELD,
    UNKNOWN,
    WRITTEN,
    Meaning,
    Value,
    alike,
    given_back,
    itself,
)
from vademecum.code.graph.terms import Node, Tier
from vademecum.code.languages.declarations import FUNCTIONS, LEAVES
from vademecum.code.languages.expression import (
    arguments_of,
    chain,
    containers_in,
    first_name,
    is_written_out,
    plain_type,
    result_of,
    union_of,
)
from vademecum.code.languages.language import SELVES
from vademecum.code.languages.modules import Modules
from vademecum.code.languages.references import CONTEXT, EACH, GIVEN, LITERAL, NARROWED, RETURNED, SHADOW, TYPE
from vademecum.code.languages.scopes import CLASSES

_NOTHING = frozenset({"None", "null", "nil", "undefined", "NULL", "nullptr", "True", "False", "true", "false"})
_INFERRED = frozenset({"var", "val", "auto"})  # what stands for a type that is not written
_YIELDS = ("next", "into_iter", "iter")  # Rust's, where the type of what they yield is declared elsewhere
_RECEIVER = {"Self", "this", "static"}
_ITSELF = {*_RECEIVER, "self"}


class Results(ABC):
    """Finds types and results, given the meaning of names."""

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

    @abstractmethod
    def own_class(self, file: File, around: str) -> Value:
        """Return an instance of the class around, perhaps of another file."""

    @abstractmethod
    def bases(self, value: Value) -> tuple[tuple[Value, ...], bool]:
        """Return all bases, nearest first, and the fact that they are complete."""

    def type(self, file: File, scope: str, text: str) -> Meaning:
        """Return an instance of a type, or a collection of instances."""
        if "{" in text and is_written_out(text):
            return WRITTEN, Tier.TYPED
        joint = "+" if file.rules.numbers_fields else "&" if file.rules.marks_variables else ""
        if joint and joint in text.strip(joint):  # it has all of the types: the one that is declared here
            bounds = {value for part in text.split(joint) if (value := self.type(file, scope, part)[0]) and value.name}
            return (bounds.pop(), Tier.TYPED) if len(bounds) == 1 else UNKNOWN
        plain = self.plain(file, text)
        argument = standing_for(self, file, scope, text, plain) if plain else self._union(file, scope, text)
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

    def _union(self, file: File, scope: str, text: str) -> Meaning:
        """Return an instance of one of the types of a union."""
        either = Value("either", given=(file.path, scope, text))
        found = self.alternatives(either) if len(union_of(text)) > 1 else []
        if any(each and each.what == "inst" for each in found):
            return either, Tier.TYPED
        outside = [each for each in found if each and each.is_external]
        return (max(outside, key=lambda each: each.given), Tier.TYPED) if outside and outside == found else UNKNOWN

    def alternatives(self, value: Value) -> list[Value | None]:
        """Return the instances of a union, None for an unknown one."""
        file = self.definitions.file(value.given[0])
        found: list[Value | None] = []
        for text in union_of(value.given[2]):
            each, _ = self.type(file, value.given[1], text)
            found += self.alternatives(each) if each is not None and each.what == "either" else [each]
        return found

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
            return EXTERNAL if value and not self._is_made_here(file, name) else None
        if value.what == "inst" and name in file.rules.self_names:  # Ruby's `class Inner < self`
            return value
        if value.what != "def" or (node is not None and node.kind not in CLASSES):
            return None
        if node is not None and node.kind == "alias":
            alias = self._alias(self.definitions.file(value.path), value.name.rpartition(".")[0], node.name)
            return alias[0] if alias is not None else None
        return Value("inst", value.path, value.name)

    def _is_made_here(self, file: File, name: str) -> bool:
        """Return whether a value here has a type's name.

        What `TypeVar()` makes, or a token that is injected, may stand for any type.
        """
        rows = file.bindings.get("", {}).get(name, ())
        taken = {member for _, _, member in file.imports.get(name, ())}
        known = (node for each in taken for _, node in self.definitions.named(each, file.family))
        return any(text[-1:] == ")" for _, text, _ in rows) or any(
            node.qualified in taken and node.kind in LEAVES for node in known
        )

    def _alias(self, file: File, scope: str, name: str) -> Meaning | None:
        """Return the type behind an alias or a type parameter, else None."""
        known = alias_text(file, scope, name)
        if known is None or not known[1]:  # a type parameter, as nearly all of them are
            return known and UNKNOWN
        own = f"{known[0]}.{name}".lstrip(".")  # with type parameters of its own it is read among them
        written = (own if own in file.aliases and not file.rules.numbers_fields else known[0]), known[1]
        if file.rules.numbers_fields and plain_type(known[1]) == name:  # `type Bits: Bits` is bound by what is around
            written = known[0].rpartition(".")[0], known[1]
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
        if given[0] is None:
            return HELD
        return given if given[0].what == "inst" or given[0] == HANDED else declared

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
            is_held = how == EACH and (not file.rules.types_results or self.gives_back(file, text))
            return given_back(value) if is_held else (value, tier)
        if file.rules.calls_bare:
            value, tier = self.called_without_brackets(value, tier)
        is_own = value is not None and value.what == "inst" and file.rules.numbers_fields
        value = self.elements(value) if how == EACH and not is_own else value
        if (
            how in {EACH, CONTEXT} and value is not None and value.what == "many"
        ):  # a generator is made a context manager
            return Value("inst", value.path, value.name), Tier.TYPED
        if how == EACH:
            return self._element(value) if value is not None and is_own else UNKNOWN
        if how == CONTEXT and value is not None and value.what == "inst":
            entered, _ = self.member(file, value, "__enter__", tier)
            return self.result(entered, Tier.TYPED) if entered is not None and not entered.is_external else UNKNOWN
        return value, tier

    def gives_back(self, file: File, spelled: str) -> bool:
        """Return whether a chain may give its calls' arguments.

        Functions of the language's library do so where they are generic, those of other modules may be.
        """
        imports = file.imports.get(first_name(spelled), ()) if file.rules.generic and "()" in spelled else ()
        return any(module in file.rules.generic or "." in module.partition("/")[0] for _, module, _ in imports)

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
        variant = self.of_variant(node)
        if variant or node.kind in CLASSES or _makes(file, value.name, is_new=is_new):
            alias = self._alias(file, value.name.rpartition(".")[0], node.name) if node.kind == "alias" else None
            return variant or (alias and alias[0]) or Value("inst", value.path, value.name), max(tier, Tier.TYPED)
        found = self.definitions.once(("result", value.path, value.name), self._result, UNKNOWN, value)
        return found[0], max(tier, found[1], Tier.TYPED)

    def of_variant(self, node: Node) -> Value | None:
        """Return an instance of a variant's enum (Rust)."""
        file, around = self.definitions.file(node.path), node.qualified.rpartition(".")[0]
        holder = file.nodes.get(around) if node.kind == "field" and file.rules.numbers_fields else None
        return Value("inst", node.path, around) if holder is not None and holder.kind == "enum" else None

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


def _written(text: str) -> str:
    """Return the class of a result's type, or the word for itself."""
    word = text.strip(" :?")
    return word if word in _ITSELF else chain(plain_type(text))


def _makes(file: File, name: str, *, is_new: bool) -> bool:
    """Return whether calling a function makes an instance of itself."""
    return file.makes_instances(name) and (is_new or all(text in _NOTHING for _, text in file.returns.get(name, ())))

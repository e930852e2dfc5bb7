"""What a name or an expression stands for, at a place in a file.

    `self.store.get`  in `Cache.read`:   self → an instance of Cache; its field store was assigned a parameter declared
    as Store → an instance of Store; get → the method `Store.get`, known by types.

Nothing here guesses. A name that is bound elsewhere, or nowhere, is external; one whose type is not known is unknown,
and `edges` decides what that is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vademecum.codebase.declarations import FUNCTIONS, LEAVES
from vademecum.codebase.expression import chain, plain_type
from vademecum.codebase.graph.definitions import CLASSES, Definitions, File
from vademecum.codebase.graph.modules import Modules
from vademecum.codebase.graph.scopes import (
    IMPLICIT_SELF,
    OPEN_CLASSES,
    PACKAGED,
    is_here,
    parent_scopes,
)
from vademecum.codebase.graph.terms import Node, Tier
from vademecum.codebase.references import CONTEXT, EACH, SHADOW, TYPE

_SELVES = frozenset({"self", "this", "$this", "Self", "static", "$static"})
_SUPERS = frozenset({"super", "parent", "base"})
_NOTHING = frozenset({"None", "null", "nil", "undefined", "NULL", "nullptr", "True", "False", "true", "false"})
_MOST_BASES = 64


@dataclass(frozen=True, slots=True)
class Value:
    """What a name stands for.

    `what` is "def" (a declaration itself), "inst" (an instance of the class declared), "many" (a collection of such),
    "module" (a file, or with a slash at its end a directory), or "external".
    """

    what: str
    path: str = ""
    name: str = ""  # the declaration's qualified name


EXTERNAL = Value("external")
Meaning = tuple[Value | None, Tier]
UNKNOWN: Meaning = (None, Tier.EXACT)
OUTSIDE: Meaning = (EXTERNAL, Tier.EXACT)


class Names:
    """Says what names stand for in one snapshot."""

    def __init__(self, definitions: Definitions, modules: Modules) -> None:
        self.definitions = definitions
        self.modules = modules

    # -- expressions ---------------------------------------------------------------------------------------------

    def meaning(self, file: File, scope: str, spelled: str) -> Meaning:
        """Return what a chain stands for, read in the scope of a declaration of the file."""
        return self.definitions.once(
            ("chain", file.path, scope, spelled), lambda: self._follow(file, scope, spelled), UNKNOWN
        )

    def _follow(self, file: File, scope: str, spelled: str) -> Meaning:
        head, *rest = spelled.split(".")
        name, suffix = _parts(head)
        value, tier = self._head(file, scope, name)
        value, tier = self._applied(file, value, tier, suffix)
        for number, part in enumerate(rest):
            if value is None or value.what == "external":
                return value, tier
            if file.language == "ruby":  # a name after a dot is a call, with brackets or without
                value, tier = self._called_without_brackets(value, tier)
            name, suffix = _parts(part)
            value, tier = self.member(file, value, name, tier)
            value, tier = self._applied(file, value, tier, suffix)
            del number
        return value, tier

    def _called_without_brackets(self, value: Value, tier: Tier) -> Meaning:
        node = self.node(value)
        if value.what == "def" and node is not None and node.kind in FUNCTIONS:
            return self.result(value, tier)
        return value, tier

    def _applied(self, file: File, value: Value | None, tier: Tier, suffix: str) -> Meaning:
        """Apply the calls and subscripts written after a name."""
        while suffix and value is not None and value.what != "external":
            if suffix.startswith("()"):
                value, tier = self.result(value, tier)
            elif value.what == "many":
                value = Value("inst", value.path, value.name)
            elif not (value.what == "def" and file.language in {"python", "typescript", "tsx"}):  # Generic[T]
                return UNKNOWN
            suffix = suffix[2:]
        return value, tier

    def node(self, value: Value | None) -> Node | None:
        """Return the declaration that a value is, or is an instance of."""
        if value is None or not value.name:
            return None
        return self.definitions.file(value.path).nodes.get(value.name)

    # -- the first name ------------------------------------------------------------------------------------------

    def _head(self, file: File, scope: str, name: str) -> Meaning:
        if name in _SELVES:
            around = file.class_around(scope)
            if around:
                return Value("def" if name in {"Self", "static"} else "inst", file.path, around), Tier.EXACT
            return self.modules_self(file) if name == "self" else UNKNOWN
        if name == "cls" and file.language == "python" and (around := file.class_around(scope)):
            return Value("def", file.path, around), Tier.EXACT
        if name in _SUPERS and (around := file.class_around(scope)):
            bases, _ = self.bases(Value("def", file.path, around))
            return (Value("inst", bases[0].path, bases[0].name), Tier.EXACT) if bases else OUTSIDE
        if name.startswith("@"):
            around = file.class_around(scope)
            return (
                self.member(file, Value("inst", file.path, around), name.lstrip("@"), Tier.EXACT) if around else UNKNOWN
            )
        if name == "?":
            return UNKNOWN
        variable = name.startswith("$") and file.language == "php"
        name = name.lstrip("$") if variable else name
        return (
            self._in_function(file, scope, name)
            or (UNKNOWN if variable else None)
            or self._in_file(file, scope, name)
            or self._around_file(file, scope, name)
        )

    def modules_self(self, file: File) -> Meaning:
        """Return what `self` is outside of a class: in Rust the module."""
        return (Value("module", file.path), Tier.EXACT) if file.language == "rust" else UNKNOWN

    def _in_function(self, file: File, scope: str, name: str) -> Meaning | None:
        """Look the name up in the declarations around the place, innermost first, up to the file."""
        for around in parent_scopes(scope):
            node = file.nodes.get(around)
            is_class = node is None or node.kind in CLASSES
            if is_class and around != scope and file.language not in IMPLICIT_SELF:
                continue  # a class's names are not seen from its methods
            if rows := file.bindings.get(around, {}).get(name):
                if not is_class or around == scope:
                    return self._bound(file, rows)
                return self.member(file, Value("inst", file.path, around), name, Tier.EXACT)
            local = file.scopes.get(around, {}).get(name)
            if local is not None:
                return Value("def", file.path, local.qualified), Tier.EXACT
            for owner, module, member in file.imports.get(name, ()):
                if owner == around:
                    return self._imported(file, module, member)
            if is_class and file.language in IMPLICIT_SELF:
                found, tier = self.member(file, Value("inst", file.path, around), name, Tier.EXACT)
                if found is not None and found is not EXTERNAL:
                    return found, tier
        return None

    def _in_file(self, file: File, scope: str, name: str) -> Meaning | None:
        """Look the name up among the file's own and what it imports."""
        node = file.scopes.get("", {}).get(name)
        rows = file.bindings.get("", {}).get(name)
        if node is not None and (node.kind not in LEAVES or not rows):
            return Value("def", file.path, node.qualified), Tier.EXACT
        imports = [(module, member) for owner, module, member in file.imports.get(name, ()) if owner in {"", scope}]
        if imports:
            return self._imported(file, *imports[0])
        if rows:
            found = self._bound(file, rows)
            if found[0] is not None or node is None:
                return found
        return (Value("def", file.path, node.qualified), Tier.EXACT) if node is not None else None

    def _around_file(self, file: File, scope: str, name: str) -> Meaning:
        """Look the name up where the language looks next: starred imports, the package, the whole repository."""
        for _, module, member in file.imports.get("*", ()):
            where = self.modules.locate(file.path, module, file.language)
            if where and member == "*":
                found = self._of_module(where, name)
                if found is not None:
                    return found
        if file.language in PACKAGED:
            return self._of_package(file, scope, name)
        if file.language == "rust" and (where := self.modules.locate(file.path, name, "rust")):
            return Value("module", where), Tier.EXACT
        return OUTSIDE

    def _of_package(self, file: File, scope: str, name: str) -> Meaning:
        """Look the name up in the package, namespace or program that the file belongs to."""
        found = [
            (other, node)
            for other, node in self.definitions.named(name, file.family)
            if is_here(file, scope, other, node)
        ]
        best = PACKAGED[file.language](file, scope, found, self.modules)
        if best is None:
            return OUTSIDE if not found else UNKNOWN
        (other, node), tier = best
        return Value("def", other.path, node.qualified), tier

    def _imported(self, file: File, module: str, name: str) -> Meaning:
        """Return what an import binds."""
        if file.language in {"java", "kotlin", "csharp", "php"} or (file.language == "cpp" and name):
            return self._qualified(file, f"{module}.{name}" if module else name)
        where = self.modules.locate(file.path, module, file.language)
        if not where:
            return OUTSIDE
        if not name:
            return self._whole(where)
        found = self._of_module(where, name)
        if found is not None:
            return found
        separator = "::" if file.language == "rust" else "" if module.endswith(".") else "."
        below = self.modules.locate(file.path, f"{module}{separator}{name}", file.language)
        return (Value("module", below), Tier.EXACT) if below and file.language in {"python", "rust"} else OUTSIDE

    def _whole(self, where: str) -> Meaning:
        """Return a module as a value: what CommonJS hands on as a whole, else the module."""
        if not where.endswith("/"):
            other = self.definitions.file(where)
            for module, spelled in other.exports.get("=", ())[:1]:
                found = self.meaning(other, "", spelled) if not module else UNKNOWN
                if found[0] is not None and found[0] is not EXTERNAL:
                    return found
        return Value("module", where), Tier.EXACT

    def _qualified(self, file: File, whole: str) -> Meaning:
        """Return the declaration that a package and a name, joined by dots, spell out."""
        name = whole.rpartition(".")[2]
        for other, node in self.definitions.named(name, file.family):
            package = other.refs.package
            if (f"{package}.{node.qualified}" if package else node.qualified) == whole:
                return Value("def", other.path, node.qualified), Tier.EXACT
        return OUTSIDE

    # -- members -------------------------------------------------------------------------------------------------

    def member(self, file: File, value: Value, name: str, tier: Tier) -> Meaning:
        """Return what `value.name` stands for."""
        if value.what == "module":
            found = self.definitions.once(
                ("module", value.path, name), lambda: self._of_module(value.path, name), None
            ) or self._submodule(file, value.path, name)
            return (found[0], max(tier, found[1])) if found is not None else OUTSIDE
        if value.what == "many" or value.what == "external":
            return OUTSIDE
        node = self.node(value)
        if node is not None and value.what == "def" and node.kind not in CLASSES:
            return UNKNOWN
        if value.what == "def" and name == "new" and file.language == "ruby":
            return Value("inst", value.path, value.name), tier
        found = self.definitions.once(
            ("member", value.path, value.name, name), lambda: self._of_class(value, name), UNKNOWN
        )
        return found[0], max(tier, found[1])

    def _of_module(self, where: str, name: str) -> Meaning | None:
        """Return what a module calls by a name, None where it has no such name."""
        if where.endswith("/"):
            return self._of_directory(where, name)
        file = self.definitions.file(where)
        if file.family == "javascript" and (exported := self._exported(file, name)) is not None:
            return exported
        found = self._in_file(file, "", name)
        if found is not None or file.family == "javascript":
            return found
        for _, module, member in file.imports.get("*", ()):
            other = self.modules.locate(file.path, module, file.language)
            if other and member == "*" and other != where:
                found = self.definitions.once(("module", other, name), lambda o=other: self._of_module(o, name), None)
                if found is not None:
                    return found
        return None

    def _exported(self, file: File, name: str) -> Meaning | None:
        """Return what a JavaScript module exports under a name."""
        for module, spelled in file.exports.get(name, ()):
            if not module:
                return self.meaning(file, "", spelled)
            where = self.modules.locate(file.path, module, file.language)
            if not where:
                return OUTSIDE
            return self._whole(where) if not spelled else self._again(where, spelled)
        if name == "default" and "=" in file.exports:
            return self._whole(file.path)
        for module, _ in file.exports.get("*", ()):
            where = self.modules.locate(file.path, module, file.language)
            if where and (found := self._again(where, name)) is not None:
                return found
        return None

    def _again(self, where: str, name: str) -> Meaning | None:
        return self.definitions.once(("module", where, name), lambda: self._of_module(where, name), None)

    def _of_directory(self, where: str, name: str) -> Meaning | None:
        """Return a declaration of a Go package."""
        for other, node in self.definitions.named(name, "go"):
            if (
                other.path.rpartition("/")[0] == where.rstrip("/")
                and node.qualified == name
                and not other.path.endswith("_test.go")
            ):
                return self._in_file(other, "", name)
        return None

    def _submodule(self, file: File, where: str, name: str) -> Meaning | None:
        """Return a module below a package."""
        if file.language == "rust":
            below = self.modules.rust_child(where, name)
        elif file.language == "python" and (where.endswith("/") or where.endswith(("/__init__.py", "/__init__.pyi"))):
            below = self.modules.locate(
                where.rstrip("/") + "/x" if where.endswith("/") else where, f".{name}", "python"
            )
        else:
            return None
        return (Value("module", below), Tier.EXACT) if below else None

    def _of_class(self, value: Value, name: str) -> Meaning:
        """Return a member of a class or of what it is based on; external where a base is and nothing nearer has it."""
        bases, complete = self.bases(value)
        for each in (value, *bases):
            file = self.definitions.file(each.path)
            node = file.scopes.get(each.name, {}).get(name) or self._opened(file, each.name, name)
            rows = file.bindings.get(each.name, {}).get(name)
            if node is not None and (node.kind not in LEAVES or not rows):
                if value.what == "inst" and node.path == each.path and node.qualified in file.properties:
                    return self.result(Value("def", node.path, node.qualified), Tier.EXACT)
                return Value("def", node.path, node.qualified), Tier.EXACT
            if rows:
                found, tier = self._bound(file, rows)
                if found is not None or node is None:
                    return found, max(tier, Tier.TYPED)
            if node is not None:
                return Value("def", node.path, node.qualified), Tier.EXACT
        return OUTSIDE if complete else UNKNOWN

    def _opened(self, file: File, scope: str, name: str) -> Node | None:
        """Return a member that is declared apart from its class, where the language allows that."""
        same = OPEN_CLASSES.get(file.language)
        if same is None:
            return None
        last = scope.rpartition(".")[2]
        for other, node in self.definitions.named(name, file.family):
            around = node.qualified.rpartition(".")[0]
            if around.rpartition(".")[2] == last and around and same(file.path, other.path):
                return node
        return None

    def bases(self, value: Value) -> tuple[tuple[Value, ...], bool]:
        """Return every class that a class is based on, nearest first, and whether all of them are known."""
        return self.definitions.once(("bases", value.path, value.name), lambda: self._bases(value), ((), False))

    def _bases(self, value: Value) -> tuple[tuple[Value, ...], bool]:
        found: dict[Value, None] = {}
        complete = True
        queue = [Value("def", value.path, value.name)]
        while queue and len(found) < _MOST_BASES:
            each = queue.pop(0)
            file = self.definitions.file(each.path)
            for text in file.bases.get(each.name, ()):
                base, _ = self.type(file, each.name.rpartition(".")[0], text)
                if base is None or base is EXTERNAL or not base.name:
                    complete &= text in {"object", "Object", "ABC", "abc.ABC"} or text.startswith(
                        ("Generic[", "Protocol[")
                    )
                elif (
                    base.what == "inst"
                    and (known := Value("def", base.path, base.name)) not in found
                    and known != queue
                ):
                    found[known] = None
                    queue.append(known)
        found.pop(Value("def", value.path, value.name), None)
        return tuple(found), complete

    # -- types, bindings, results --------------------------------------------------------------------------------

    def type(self, file: File, scope: str, text: str) -> Meaning:
        """Return what is of a type: an instance, or a collection of instances."""
        plain = plain_type(text)
        if not plain:
            return UNKNOWN
        many = plain.endswith("[]")
        value, _ = self.meaning(file, scope, plain.removesuffix("[]"))
        node = self.node(value)
        if value is None or value is EXTERNAL:
            return value, Tier.TYPED
        if value.what != "def" or node is None or node.kind not in CLASSES:
            return UNKNOWN
        if node.kind == "alias":
            return UNKNOWN
        return Value("many" if many else "inst", value.path, value.name), Tier.TYPED

    def _bound(self, file: File, rows: list[tuple[str, str, str]]) -> Meaning:
        """Return what a name is bound to, where all that binds it agrees."""
        types = [
            self.type(file, scope, text) for how, text, scope in rows if how == TYPE and text not in {"var", "auto"}
        ]
        if types:
            return types[0] if len({value for value, _ in types}) == 1 else UNKNOWN
        if any(how == SHADOW for how, _, _ in rows):
            return UNKNOWN
        found = {
            self._value_of(file, how, text, scope) for how, text, scope in rows if how != TYPE and text not in _NOTHING
        }
        if len({value for value, _ in found}) != 1:
            return UNKNOWN
        value, tier = max(found, key=lambda each: each[1])
        return value, max(tier, Tier.TYPED)

    def _value_of(self, file: File, how: str, text: str, scope: str) -> Meaning:
        value, tier = self.meaning(file, scope, text)
        if value is None or value is EXTERNAL:
            return value, tier
        if file.language == "ruby":
            value, tier = self._called_without_brackets(value, tier)
        if how == EACH:
            many = value is not None and value.what == "many"
            return (Value("inst", value.path, value.name), Tier.TYPED) if value and many else UNKNOWN
        if how == CONTEXT and value is not None and value.what == "inst":
            entered, _ = self.member(file, value, "__enter__", tier)
            return self.result(entered, Tier.TYPED) if entered is not None and entered is not EXTERNAL else UNKNOWN
        return value, tier

    def result(self, value: Value, tier: Tier) -> Meaning:
        """Return what calling a value gives."""
        node = self.node(value)
        if value.what == "inst":
            if node is not None and node.path.endswith((".py", ".pyi")):
                found, _ = self.member(self.definitions.file(value.path), value, "__call__", tier)
                return self.result(found, Tier.TYPED) if found is not None and found.what == "def" else UNKNOWN
            return value, tier  # `Foo.new()`
        if value.what != "def" or node is None:
            return UNKNOWN
        if node.kind in CLASSES:
            return Value("inst", value.path, value.name), max(tier, Tier.TYPED)
        found = self.definitions.once(("result", value.path, value.name), lambda: self._result(value), UNKNOWN)
        return found[0], max(tier, found[1], Tier.TYPED)

    def _result(self, value: Value) -> Meaning:
        file = self.definitions.file(value.path)
        rows = file.returns.get(value.name, ())
        declared = [text for how, text in rows if how == TYPE]
        if declared:
            if chain(plain_type(declared[0])) in {"Self", "this", "static", "self"} and (
                around := file.class_around(value.name)
            ):
                return Value("inst", file.path, around), Tier.TYPED
            return self.type(file, value.name, declared[0])
        found = {self.meaning(file, value.name, text)[0] for how, text in rows if how != TYPE and text not in _NOTHING}
        return (next(iter(found)), Tier.TYPED) if len(found) == 1 else UNKNOWN


def _parts(part: str) -> tuple[str, str]:
    """Split a part of a chain into its name and the calls and subscripts after it."""
    end = min((place for place in (part.find("("), part.find("[")) if place >= 0), default=len(part))
    return part[:end], part[end:]


def ancestors_named(names: Names, value: Value, name: str) -> Iterator[Node]:
    """Yield the declarations that a member of a class overrides."""
    for base in names.bases(value)[0]:
        node = names.definitions.file(base.path).scopes.get(base.name, {}).get(name)
        if node is not None:
            yield node


Lookup = Callable[[File, str, str], Meaning]

"""The contents of a class: members, bases, fields."""

from __future__ import annotations

from collections.abc import Iterator

from vademecum.code.graph.common_names import is_common
from vademecum.code.graph.definitions import File
from vademecum.code.graph.meanings import (
    EXTERNAL,
    HELD,
    LACKING,
    SEVERAL,
    UNKNOWN,
    Meaning,
    Value,
    held_by,
)
from vademecum.code.graph.results import Results
from vademecum.code.graph.terms import Node, Tier
from vademecum.code.languages.declarations import EXTENDED, FUNCTIONS, LEAVES, plain_holder
from vademecum.code.languages.expression import TURNS
from vademecum.code.languages.language import NAMELESS
from vademecum.code.languages.scopes import CLASSES, may_define

_MOST_BASES = 64
_DECLARING = frozenset({"interface", "protocol"})  # their methods give way to those of classes and traits
_NO_BASES = {"object", "Object", "ABC", "abc.ABC"}


class Classes(Results):
    """Finds members and bases, given the meaning of names."""

    def own_class(self, file: File, around: str) -> Value:
        """Return an instance of the class around, perhaps of another file."""
        near = file.rules.opened_in
        if around in file.nodes or near is None:
            return Value("inst", file.path, around)
        parts = around.split(".")
        found = [
            Value("inst", other.path, node.qualified)
            for other, node in self.definitions.named(parts[-1], file.family)
            if node.kind in CLASSES - {"alias"}
            and (whole := node.qualified.split("."))[-len(parts) :] == parts[-len(whole) :]
            and near(file.path, other.path)
        ]
        named = self.meaning(file, "", around)[0] if len(found) > 1 and file.rules.names_modules else None
        meant = named._replace(what="inst") if named is not None and named.what == "def" else None
        return meant if meant in found else next(iter(found), Value("inst", file.path, around))

    def _of_class(self, value: Value, name: str) -> Meaning:
        """Return a member of a class or of its bases.

        A method of a class or a trait comes before one that an interface only declares. The member is external if a
        base is external and no nearer class has the member. Of several `impl`s the one trait they implement has it.
        """
        file = self.definitions.file(value.path)
        is_built_in = file.rules.numbers_fields and value.name[:1].islower() and value.name not in file.nodes
        if is_built_in and is_common(name, file.language):  # `str` has it, before any trait
            return HELD
        if file.rules.calls_bare and value.what == "def" and (own := self._of_singleton(value, name)) is not None:
            return own
        found = self._of_one(value, value, name)
        if found is not None and found is not SEVERAL:
            return found
        bases, complete = self.bases(value)
        if file.rules.calls_bare and value.what == "inst":  # what the classes themselves have comes last
            apart = {base for each in (value, *bases) for base in self._extended(each)}
            bases = tuple(sorted(bases, key=apart.__contains__))
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

    def _of_singleton(self, value: Value, name: str) -> Meaning | None:
        """Return a method of a class itself, as Ruby finds it."""
        for each in (value, *self.bases(value)[0]):
            found = self._of_one(each, value, name)
            own = found[0] if found is not None else None
            is_own = each is not value or value.given[2] != NAMELESS
            if is_own and own is not None and own.path and own.name in self.definitions.file(own.path).statics:
                return found
            for base in self._extended(each):
                if (found := self._of_one(base, base._replace(what="inst"), name)) is not None:
                    return found
        return None

    def _extended(self, value: Value) -> tuple[Value, ...]:
        """Return the modules whose methods a class itself has."""
        question = ("extended", value.path, value.name)
        nothing: tuple[Value, ...] = ()
        return self.definitions.once(question, self._extending, nothing, value)

    def _extending(self, value: Value) -> tuple[Value, ...]:
        texts = [(file, text) for file, text in self.based_on(value) if text.endswith(EXTENDED)]
        # what ActiveSupport extends by without being told
        texts += [(file, "ClassMethods") for file, text in texts if text.endswith(f"Concern{EXTENDED}")]
        named = [self.base(file, value.name, text) for file, text in texts]
        found = [Value("def", each.path, each.name) for each in named if each is not None and each.what == "inst"]
        return tuple(dict.fromkeys(base for each in found for base in (each, *self.bases(each)[0])))

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
        is_field = node is not None and node.kind == "field" and file.rules.numbers_fields  # a method has its name too
        is_declared = node is not None and file.rules.is_header(each.path) and node.kind in FUNCTIONS
        if node is None or is_field or is_declared:  # defined elsewhere
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

    def by_trait(self, file: File, scope: str, spelled: str) -> Meaning:
        """Return the method that a trait and a receiver name.

        As `Display::fmt(x, f)` does.
        """
        receiver, _, called = spelled.partition(".<")
        trait, _, name = called.partition(">.")
        value, _ = self.meaning(file, scope, receiver)
        if value is None or value.what != "inst":
            return (value, Tier.TYPED) if value is not None and value.is_external else UNKNOWN
        home = self.definitions.file(value.path)
        impls = (
            (each, text) for each in (value.name, *home.apart.get(value.name, ())) for text in home.bases.get(each, ())
        )
        heads = (each for each, text in impls if text.partition("<")[0].rpartition(":")[2] == trait)
        node = next(filter(None, (home.scopes.get(each, {}).get(name) for each in heads)), None)
        return (Value("def", node.path, node.qualified), Tier.TYPED) if node is not None else UNKNOWN

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
        if rows:
            return held_by(self.bound(file, name, rows), file.nodes.get(f"{node.qualified}.{name}"))
        variant = self.of_variant(node)
        return self.member(file, variant, name, Tier.TYPED) if variant is not None else None

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
        around, is_own, text = qualified.rpartition(".")[0], False, text.removesuffix(EXTENDED)
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


def ancestors_named(names: Classes, value: Value, name: str) -> Iterator[Node]:
    """Yield the declarations that a member of a class overrides."""
    for base in names.bases(value)[0]:
        declared = (part.scopes.get(base.name, {}).get(name) for part in names.parts(base))
        yield from (node for node in declared if node is not None)


def _is_constructor(node: Node | None, file: File) -> bool:
    """Return whether a member with its class's name is a constructor."""
    if file.rules.declares_apart:
        return node is None or node.kind in FUNCTIONS
    return node is not None and node.kind == "constructor"

"""The meaning of a name or an expression at a place.

    `self.store.get`  in `Cache.read`:   self → an instance of Cache; its field store was assigned a parameter declared
    as Store → an instance of Store; get → the method `Store.get`, known by types.

Nothing here guesses. A name that is bound elsewhere, or nowhere, is external; one whose type is not known is unknown,
and `edges` decides what that is worth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from vademecum.code.graph.blocks import given, in_scopes, itself_in, of_receiver, receivers_around
from vademecum.code.graph.common_names import is_common
from vademecum.code.graph.definitions import File
from vademecum.code.graph.exports import Exports
from vademecum.code.graph.generics import stood_for
from vademecum.code.graph.meanings import (
    EXTERNAL,
    GIVEN_BACK,
    GIVES,
    HELD,
    LACKING,
    OUTSIDE,
    UNKNOWN,
    WRITTEN,
    Meaning,
    Value,
    given_back,
    held_by,
    held_in,
    itself,
)
from vademecum.code.graph.spaces import from_file
from vademecum.code.graph.terms import Node, Tier
from vademecum.code.languages.declarations import FUNCTIONS, LEAVES
from vademecum.code.languages.expression import parts_of
from vademecum.code.languages.language import NAMELESS, SELVES, SUPERS
from vademecum.code.languages.scopes import CLASSES, is_nameless, parent_scopes

_HOLD_NOTHING = frozenset({"namespace", "interface", "alias"})  # they have no members of their own at run time
_STANDS_FOR = re.compile("Proxy|Lazy")  # in the name of a class whose instances are others
_NONE: Mapping[str, Any] = {}
_NOWHERE: frozenset[str] = frozenset()
_OF_A_CLASS = SELVES | SUPERS | {"cls"}


class Names(Exports):
    """Finds the meaning of names in one snapshot."""

    # -- expressions ---------------------------------------------------------------------------------------------

    def meaning(self, file: File, scope: str, spelled: str) -> Meaning:
        """Return the meaning of a chain in the scope of a declaration."""
        return self.meaning_in(file, "" if scope and self.is_same_chain(file, spelled) else scope, spelled)

    def meaning_in(self, file: File, scope: str, spelled: str) -> Meaning:
        """Return the meaning of a chain where the scope matters.

        The scope is the file's, or one that gives names another meaning: each question is asked once.
        """
        return self.definitions.once(("chain", file.path, scope, spelled), self._follow, UNKNOWN, file, scope, spelled)

    def called(self, file: File, scope: str, name: str) -> Meaning:
        """Return the meaning of a bare name that is called.

        Where variables and functions have names apart, a variable of that name hides nothing.
        """
        around = parent_scopes(scope, file.within) if name in file.inner_names else ()
        rows = (row for each in around for row in file.bindings.get(each, _NONE).get(name, ()))
        is_apart = file.rules.calls_apart or (file.rules.calls_bare and name in file.inner_names)
        if not file.rules.calls_bare and any(text.startswith(f"{name}()") for _, text, _ in rows):
            return self._in_file(file, scope, name) or self._around_file(file, scope, name)  # what makes the variable
        if not is_apart or name in file.rules.self_names:
            return self.meaning(file, scope, name)
        return self.definitions.once(("called", file.path, scope, name), self._called, UNKNOWN, file, scope, name)

    def _called(self, file: File, scope: str, name: str) -> Meaning:
        if file.rules.calls_bare:
            found = in_scopes(self, file, scope, name, is_called=True) if scope else None
            return found or self._in_file(file, scope, name) or self._inherited(file, scope, name)
        for around in parent_scopes(scope):
            if around not in file.nodes or file.nodes[around].kind in CLASSES:
                value, tier = self.member(file, self.own_class(file, around), name, Tier.EXACT)
                if value is not None and not value.is_external:
                    return value, tier
        return self._in_file(file, scope, name) or self._around_file(file, scope, name)

    def above(self, file: File, scope: str, name: str) -> Meaning:
        """Return the meaning of a name above its declaration in a scope."""
        if scope:
            around = (each for each in parent_scopes(scope) if each in file.nodes)
            return self.meaning(file, next((each for each in around if file.nodes[each].kind not in CLASSES), ""), name)
        imports = [(module, member) for owner, module, member in file.imports.get(name, ()) if not owner]
        return self.imported(file, *imports[0]) if imports else self._around_file(file, scope, name)

    def is_same_type(self, file: File, plain: str) -> bool:
        """Return whether a type's name means the same all over a file."""
        name = plain.removesuffix("[]")
        return name not in file.alias_names and self.is_same_chain(file, name)

    def is_same_chain(self, file: File, spelled: str) -> bool:
        """Return whether a chain means the same all over a file."""
        return file.rules.is_lexical and self.is_same_name(file, parts_of(spelled)[0][0])

    def is_same_name(self, file: File, name: str) -> bool:
        """Return whether no inner scope gives a name another meaning."""
        is_parameter = file.rules.numbers_fields and name in file.alias_names
        is_taken = bool(file.inner_stars) and name[:1].isupper()
        return not (is_parameter or is_taken or name in file.inner_names or name in _OF_A_CLASS or name[:1] == "@")

    def _follow(self, file: File, scope: str, spelled: str) -> Meaning:
        if ".<" in spelled:
            return self.by_trait(file, scope, spelled)
        parts = parts_of(spelled)
        (value, tier), used = self._tested(file, scope, parts) or self._begin(file, scope, parts)
        rest = parts[1:]
        for place, (name, suffix) in enumerate(rest[used:], used + 1):
            if value is None or (value.is_external and name.isdigit()):  # of a pair, which may hold anything
                return UNKNOWN
            if value.is_external and self.extended(file, value, name) is None:
                if file.rules.has_extensions and any(self.extended(file, EXTERNAL, later) for later, _ in rest[place:]):
                    return HELD
                is_held = place < len(parts) - 1 and (
                    value.given[0] or (tier is Tier.TYPED and not file.rules.types_results)
                )
                is_held = is_held or self.gives_back(file, spelled) or self._is_given(file, rest[place - 1 :])
                return given_back(value) if is_held else itself((value, tier))
            if file.rules.calls_bare:  # a name after a dot is a call, with brackets or without
                value, tier = self.called_without_brackets(value, tier)
                if value is None:
                    return UNKNOWN
            found = self._step(file, value, tier, (name, suffix), goes_on=place < len(parts) - 1)
            if found == LACKING and place == 1 and parts[0] == ("self", "") and file.rules.names_modules:
                found = self._step(file, Value("module", file.path), tier, (name, suffix), goes_on=False)
            value, tier = found
        return value, tier

    def _begin(self, file: File, scope: str, parts: Sequence[tuple[str, str]]) -> tuple[Meaning, int]:
        """Return the meaning of a chain's first names, and the number used."""
        value, tier = self._first(file, scope, parts[0], is_whole=parts == ((parts[0][0], ""),))
        rest = parts[1:]
        if not rest:
            return itself((value, tier)) if parts[0][1] else (value, tier), 0
        value = self.module_beside(file, parts, value) if not parts[0][1] else value
        found, used = self._through_packages(file, scope, value, parts)
        if parts[0] in {("self", ""), ("Self", "")} and (beside := file.beside(scope, rest[0][0])) is not None:
            found, used = (Value("def", file.path, beside.qualified), Tier.EXACT), 1
        return (self._applied(file, *found, rest[used - 1]) if used else (value, tier)), used

    def _tested(self, file: File, scope: str, parts: Sequence[tuple[str, str]]) -> tuple[Meaning, int] | None:
        """Return the member of which a test around tells the type."""
        spelled = parts[0][0]
        for used, (name, suffix) in enumerate(parts[1:] if file.tested and not parts[0][1] else (), 1):
            spelled = f"{spelled}.{name}"
            for around in parent_scopes(scope, file.within) if spelled in file.tested else ():
                if rows := file.bindings.get(around, _NONE).get(spelled):
                    return self._applied(file, *self.bound(file, spelled, rows), ("", suffix)), used
            if suffix:
                break
        return None

    def _step(self, file: File, value: Value, tier: Tier, part: tuple[str, str], *, goes_on: bool) -> Meaning:
        """Return the meaning of a chain's next name, with its calls."""
        name, suffix = part
        if goes_on and file.rules.numbers_fields and suffix[:2] != "()" and value.what == "inst":
            holder = self.definitions.file(value.path)
            if rows := holder.fields(value.name).get(name):  # a method may have the name too
                return self._applied(file, *self.bound(holder, name, rows), part)
        found = self.member(file, value, name, tier)
        if found[0] is None or (found[0].is_external and (suffix[:2] == "()" or not found[0].leaf)):
            found = self.extended(file, value, name) or found
        if suffix == "()" and self.gives_receiver(found[0]) and self.node(value) is not None:
            what = value.what if file.rules.calls_bare else "inst"
            return value._replace(what=what), max(tier, found[1], Tier.TYPED)
        return self._given(file, value, found, part)

    def _given(self, file: File, value: Value, found: Meaning, part: tuple[str, str]) -> Meaning:
        """Return the value of a member, perhaps by a type parameter."""
        return stood_for(self, value, found[0], part) or self._applied(file, *found, part)

    def _first(self, file: File, scope: str, part: tuple[str, str], *, is_whole: bool) -> Meaning:
        """Return the meaning of a chain's first name and its calls."""
        name, suffix = part
        if suffix[:2] == "()":
            value, tier = self.called(file, scope, name)
        else:  # many chains of a scope begin with one name: what it means is asked once
            value, tier = self._head(file, scope, name) if is_whole else self.meaning(file, scope, name)
        if name == "super" and file.rules.calls_super:  # `super()` is what `super` is elsewhere
            suffix = suffix.removeprefix("()")
        is_called = value is not None and value.is_external and suffix
        if is_called and (self._is_given(file, [part]) or self.is_variable(file, scope, name)):
            return HELD if _STANDS_FOR.search(name) else GIVEN_BACK
        is_member = value.what == "def" if value is not None else not self.is_variable(file, scope, name)
        if file.rules.implicit_self and is_member and (around := file.class_around(scope)):
            return self._given(file, self.own_class(file, around), (value, tier), part)
        return self._applied(file, value, tier, (name, suffix)) if suffix else (value, tier)

    def _is_given(self, file: File, parts: Sequence[tuple[str, str]]) -> bool:
        """Return whether a library's function or collection may give the repository's own.

        A name in capitals is a class, which makes an instance of its own, where functions are not named so; a proxy stands
        for another object.
        """
        if file.rules.types_results:
            return False
        if any("[" in suffix for _, suffix in parts):
            return True
        called = [name for name, suffix in parts if suffix[:2] == "()"]
        return any(
            file.rules.capital_functions or not name.lstrip("_")[:1].isupper() or _STANDS_FOR.search(name)
            for name in called
        )

    def is_variable(self, file: File, scope: str, name: str) -> bool:
        """Return whether a name is bound to a value, and not imported."""
        own = name.lstrip("$") if file.rules.marks_variables else name
        return any(own in file.bindings.get(around, _NONE) for around in (*parent_scopes(scope, file.within), ""))

    def _through_packages(
        self, file: File, scope: str, value: Value | None, parts: Sequence[tuple[str, str]]
    ) -> tuple[Meaning, int]:
        """Return the declaration behind a chain's package or namespace.

        With it comes the number of names after the first that lead there, 0 for none.
        """
        name = parts[0][0]
        is_outside = value is not None and value.is_external
        if name and name == file.rules.library:
            return OUTSIDE, 1
        if file.rules.opens_namespaces:
            is_variable = self.is_variable(file, scope, name)
            if not is_outside and (is_variable or value is not None):
                return UNKNOWN, 0
            found, used = self.in_namespaces(file, scope, parts)
            return (UNKNOWN, 0) if is_variable and found[0] is None else (found, used)
        may_spell = file.rules.imports_packages or (is_outside and file.rules.imports_declaration(name))
        if may_spell and name[:1] != "$" and name not in file.rules.self_names:
            return self._spelled(file, parts)
        return UNKNOWN, 0

    def _applied(self, file: File, value: Value | None, tier: Tier, part: tuple[str, str]) -> Meaning:
        """Apply the calls and subscripts written after a name."""
        name, suffix = part
        while suffix and value is not None:
            if value.is_external:
                return given_back(value) if "[" in suffix and not file.rules.types_results else (value, tier)
            held = self.elements(value) if suffix[0] == "[" else value
            if suffix.startswith("()"):
                value, tier = self.result(value, tier, is_new=name in file.made)
            elif held is not None and held.what == "many":
                value = Value("inst", held.path, held.name)
            elif file.rules.calls_bare:
                called, tier = self.member(file, value, "[]", tier)
                value, tier = self.result(called, tier) if called is not None and called.what == "def" else UNKNOWN
            elif not (value.what == "def" and file.rules.subscripts_classes):
                return UNKNOWN
            suffix = suffix[2:]
        return value, tier

    # -- the first name ------------------------------------------------------------------------------------------

    def _head(self, file: File, scope: str, name: str) -> Meaning:
        if name in file.rules.self_names or name[:1] == "@":
            rows = receivers_around(self, file, scope) if name == "this" else []
            found = self.bound(file, name, rows) if rows else self._of_itself(file, scope, name)
            if found is not None:
                return found
        if name[:1] in {"?", "'"}:
            return UNKNOWN if name == "?" else self._of_literal(file, name[1:])
        variable = name[:1] == "$" and file.rules.marks_variables
        name = name.lstrip("$") if variable else name
        found = (
            self._taken_within(file, scope, name)
            or (
                (in_scopes if file.rules.calls_bare else Names._in_function)(self, file, scope, name) if scope else None
            )
            or (self._variable(file, scope, name) if variable else None)
            or self._in_file(file, scope, name)
            or (given(self, file, "", name) if file.rules.calls_bare else self._bound_of(file, scope, name))
            or self._inherited(file, scope, name)
        )
        return HELD if found == OUTSIDE and name in file.imports and self._is_made(file, name) else found

    def _taken_within(self, file: File, scope: str, name: str) -> Meaning | None:
        """Return a variant of an enum whose names a function takes."""
        around = parent_scopes(scope) if file.inner_stars and name[:1].isupper() else ()
        found = (self.inside(file, module, name) for each in around for module in file.inner_stars.get(each, ()))
        return next(filter(None, found), None)

    def _is_made(self, file: File, name: str) -> bool:
        """Return whether a module here lacks an imported name.

        A macro makes it, or code that runs.
        """
        named = ((module, member) for _, module, member in file.imports[name] if member not in {"", "*"})
        found = ((self.modules.locate(file.path, module, file.rules), member) for module, member in named)
        return any(where and self._again(where, member) is None for where, member in found)

    def _inherited(self, file: File, scope: str, name: str) -> Meaning:
        """Look the name up outside, perhaps as a field from elsewhere."""
        found = self._around_file(file, scope, name)
        is_field = (
            found == OUTSIDE and file.rules.implicit_self and (name[:1].islower() or file.rules.capital_functions)
        )
        around = file.class_around(scope) if is_field else ""
        return HELD if around and not self.bases(self.own_class(file, around))[1] else found

    def _of_literal(self, file: File, kind: str) -> Meaning:
        """Return the class of a literal, where the repository opens it."""
        named = self.definitions.named(kind.capitalize(), file.family) if kind else ()
        opened = (node for _, node in named if node.kind in CLASSES and node.qualified == node.name)
        node = next(opened, None)
        return (Value("inst", node.path, node.name) if node is not None else WRITTEN), Tier.TYPED

    def _bound_of(self, file: File, scope: str, name: str) -> Meaning | None:
        """Return the trait that a type parameter or associated type has."""
        value, tier = (file.rules.numbers_fields and self._alias(file, scope, name)) or UNKNOWN
        return (value._replace(what="def"), tier) if value is not None and value.what == "inst" else None

    def _variable(self, file: File, scope: str, name: str) -> Meaning:
        """Return the meaning of a marked variable that no function binds."""
        return self.bound(file, name, rows) if (rows := file.bindings.get("", {}).get(name)) and not scope else UNKNOWN

    def _of_itself(self, file: File, scope: str, name: str) -> Meaning | None:
        """Return the meaning of `self`, `super`, `@field`; None for plain names."""
        around = file.class_around(scope)
        if not around:
            if name == "self" and file.rules.names_modules:
                return Value("module", file.path), Tier.EXACT
            rows = file.bindings.get("", _NONE).get(name.lstrip("@"), ()) if name[:1] == "@" else ()
            blocks = ([row for row in rows if row[2].startswith(f"{block}.")] for block in parent_scopes(scope))
            if rows:  # of a test in blocks, set in the nearest block
                return self.bound(file, name, next(filter(None, blocks), rows))
            return UNKNOWN if name in SELVES or name[:1] == "@" else None
        if name.startswith("@"):
            return self.member(file, self.own_class(file, around), name.lstrip("@"), Tier.EXACT)
        own = itself_in(self, file, around, scope) if file.rules.calls_bare else self.own_class(file, around)
        if name in SUPERS:
            bases, _ = self.bases(own)
            none = (
                LACKING if file.rules.calls_super or file.rules.calls_bare else OUTSIDE
            )  # of a mixin another class has it
            return (Value("inst", bases[0].path, bases[0].name), Tier.EXACT) if bases else none
        return own._replace(what="def") if name in {"Self", "static", "cls"} else own, Tier.EXACT

    def _in_function(self, file: File, scope: str, name: str) -> Meaning | None:
        """Look the name up in the scopes around, innermost first."""
        binding = file.inner_names.get(name, _NOWHERE)
        is_inner = binding is not _NOWHERE  # else only a class can have it
        for around in parent_scopes(scope, file.within) if is_inner or file.rules.implicit_self else ():
            if around not in binding and not file.rules.implicit_self:
                continue
            node = file.nodes.get(around)
            is_class = not is_nameless(around) and (node is None or node.kind in CLASSES)
            may_run = file.rules.implicit_self or (around == scope and file.rules.runs_class_bodies)
            is_asked = may_run if is_class else is_inner
            found = of_receiver(self, file, around, name) if file.rules.has_extensions else None
            found = found or (self._in_scope(file, scope, around, name, is_class=is_class) if is_asked else None)
            if found is not None:
                return found
        return None

    def _in_scope(self, file: File, scope: str, around: str, name: str, *, is_class: bool) -> Meaning | None:
        """Look the name up in one of the scopes around."""
        is_own_name = is_class and file.rules.declares_apart and around.rpartition(".")[2] == name
        local = None if is_own_name else file.local(around, name)
        rows = self.rows_of(file, around, name)
        if rows and not (local is not None and local.kind in FUNCTIONS and file.rules.nests_functions):
            if not is_class or around == scope:
                return self.bound(file, name, rows)
            return self.member(file, self.own_class(file, around), name, Tier.EXACT)
        if local is not None:
            return Value("def", file.path, local.qualified), Tier.EXACT
        for owner, module, member in file.imports.get(name, ()):
            if owner == around:
                return self.imported(file, from_file(file, around, module), member)
        is_own = is_class and file.rules.implicit_self
        found = self.member(file, self.own_class(file, around), name, Tier.EXACT) if is_own else UNKNOWN
        return found if found[0] is not None and not found[0].is_external else None

    def _in_file(self, file: File, scope: str, name: str) -> Meaning | None:
        """Look the name up among the file's declarations and imports."""
        node = file.scopes.get("", {}).get(name)
        block = file.within.get(name, "")
        if "." in block and block not in parent_scopes(scope, file.within):
            return None  # declared in a function without a name in another, which is not around
        is_leaf = node is None or node.kind in LEAVES
        is_either = file.rules.numbers_fields and node is not None and node.kind in CLASSES  # as a condition says
        if is_leaf or is_either or file.rules.has_exports:
            imports = [(module, member) for owner, module, member in file.imports.get(name, ()) if owner in {"", scope}]
            if imports:  # a function without a name may declare the name too, for some of the file
                return self.imported(file, *min(imports, key=lambda each: each[0] == "self")) if is_leaf else UNKNOWN
        return self._own(file, name)

    def _own(self, file: File, name: str) -> Meaning | None:
        """Look the name up among the file's own declarations and bindings."""
        node = file.scopes.get("", _NONE).get(name) if name not in file.conditional else None
        rows = file.bindings.get("", _NONE).get(name)
        if node is not None and (node.kind not in LEAVES or not rows):
            return Value("def", file.path, node.qualified), Tier.EXACT
        if rows:
            found = self.bound(file, name, rows)
            if found[0] is not None or node is None:
                return held_by(found, node)
        return (Value("def", file.path, node.qualified), Tier.EXACT) if node is not None else None

    def _around_file(self, file: File, scope: str, name: str) -> Meaning:
        """Look the name up in starred imports, the package, the repository."""
        starred = file.imports.get("*", ())
        is_made = name in file.rules.hold_all
        may_spell = starred and file.rules.imports_declaration(name) and self.definitions.named(name, file.family)
        for _, module, member in starred:
            where = self.modules.locate(file.path, module, file.rules)
            is_made |= bool(where) and file.rules.numbers_fields and name.isupper()  # a constant, by a macro
            found = (self._again(where, name) if where else self.inside(file, module, name)) if member == "*" else None
            if found is None and may_spell:
                found = self._qualified(file, f"{module}.{name}")
            if found is not None and found is not OUTSIDE:
                return found
        if file.rules.assigns_modules and name == "exports":
            return Value("module", file.path), Tier.EXACT
        if file.rules.shares_names:
            return self._of_package(file, scope, name)
        if file.rules.has_exports and (shared := self.of_scripts(file, name)) is not None:
            return shared
        module = from_file(file, scope, name)
        if file.rules.names_modules and (where := self.modules.locate(file.path, module, file.rules)):
            return Value("module", where), Tier.EXACT
        return HELD if is_made else OUTSIDE

    def _of_package(self, file: File, scope: str, name: str) -> Meaning:
        """Look the name up in the file's package, namespace or program."""
        named = self.definitions.named(name, file.family)
        found = [candidate for candidate in named if file.rules.is_seen(file, scope, candidate)]
        may_inherit = file.rules.implicit_self and any(node.kind in CLASSES for _, node in named)
        may_be_seen = found or may_inherit or (named and (file.rules.opens_namespaces or file.rules.calls_bare))
        if not file.is_test:
            found = [candidate for candidate in found if not candidate[0].is_test]
        chosen = self.chosen(file, scope, found) or self.from_other_namespace(file, scope, named)
        return chosen or (UNKNOWN if may_be_seen else HELD if name in file.rules.hold_all else OUTSIDE)

    def chosen(self, file: File, scope: str, found: list[tuple[File, Node]]) -> Meaning | None:
        """Return the meaning of the best of declarations in sight."""
        best = file.rules.chosen(file, scope, found, self.modules)
        if best is None:
            return None
        (other, node), is_certain = best
        return Value("def", other.path, node.qualified), Tier.EXACT if is_certain else Tier.UNIQUE

    # -- members -------------------------------------------------------------------------------------------------

    def member(self, file: File, value: Value, name: str, tier: Tier) -> Meaning:
        """Return the meaning of `value.name`."""
        if value.what in {"def", "inst"}:
            return self._of_declared(file, value, name, tier)
        if value.what == "module":
            inside = self._again(value.path, f"{value.name}.{name}" if value.name else name)
            inside = inside or self._submodule(file, value.path, name)
            return (inside[0], max(tier, inside[1])) if inside is not None else LACKING
        if value.what.startswith(GIVES):  # a property, as Kotlin's `values` is
            value = self.result(value, tier)[0] or value
        if value.what == "many":
            is_pointer = file.rules.declares_apart and not is_common(name, file.language)  # an iterator of C++
            return HELD if is_pointer else held_in(value, file.rules.gives.get(name))
        if value.what == "either":
            return HELD
        return self._of_written(file, value, name) if value.what == "written" else OUTSIDE

    def _of_written(self, source: File, value: Value, name: str) -> Meaning:
        """Return a member of an object literal with a name.

        Where texts and numbers may be given methods, those that the library lacks are of the repository.
        """
        scope, path = (value.name, value.path) if value.name else (value.leaf, value.leaf_path)
        if not scope:
            return UNKNOWN if source.rules.calls_bare else HELD
        file = self.definitions.file(path)
        rows, node = file.bindings.get(scope, {}).get(name), file.scopes.get(scope, {}).get(name)
        found = held_by(self.bound(file, name, rows), node) if rows else HELD
        return (Value("def", node.path, node.qualified), Tier.EXACT) if node is not None and found[0] is None else found

    def _of_declared(self, file: File, value: Value, name: str, tier: Tier) -> Meaning:
        """Return a member of a declaration or of an instance."""
        node = self.node(value)
        if node is not None and value.what == "def":
            if self.definitions.file(node.path).rules.erases_types and node.kind in _HOLD_NOTHING:
                return self._of_namesake(value, name, tier)
            own = self.definitions.file(node.path)
            apart = self._exported_beside(node, name) or self._bound_of(own, node.qualified, name)
            apart = self.in_module(own, node, name) if node.kind == "namespace" and own.rules.names_modules else apart
            if apart is not None or node.kind not in CLASSES:
                return apart or self.held(node, name) or self.put_on(node, name)
        turned = file.rules.turns.get(name)  # on `self` too, which is a class in a method of the class
        is_made = turned == "inst" and node is not None and node.kind == "module" and value.given[2] != NAMELESS
        if turned is not None and not is_made:  # a module makes nothing, unless it declares how
            return Value(turned, value.path, value.name, given=("", "", NAMELESS * (name == NAMELESS))), tier
        question = ("member", *value[:3], name, value.given[2] == NAMELESS)
        found = self.definitions.once(question, self._of_class, UNKNOWN, value, name)
        if file.rules.calls_bare and name[-1:] == "=" and (found in {LACKING, HELD}):  # one word declares both
            read = self._of_declared(file, value, name[:-1], tier)
            return read if read[0] is not None and not read[0].is_external else found
        is_lacking = found in {LACKING, HELD} if file.rules.calls_bare else value.what == "inst" and found == LACKING
        is_lacking |= found == HELD and value.what == "inst" and name in file.rules.unwraps
        if is_lacking and name in file.rules.gives and not self._gives_else(file, value, name):
            return held_in(value, file.rules.gives.get(name))  # of a wrapper around it
        is_one = value.name not in self.definitions.file(value.path).several
        return found[0], max(tier, found[1], Tier.EXACT if is_one else Tier.GUESS)

    def _gives_else(self, file: File, value: Value, name: str) -> bool:
        """Return whether a type is itself a wrapper, as a future is."""
        own = (
            self.definitions.once(("member", *value[:3], each), self._of_class, UNKNOWN, value, each)[0]
            for each in file.rules.gives_else.get(name, ())
        )
        return any(each is not None and not each.is_external for each in own)

    def _of_namesake(self, value: Value, name: str, tier: Tier) -> Meaning:
        """Return a member of a namespace, or of an interface's constant."""
        other = self.definitions.file(value.path)
        node, inside = other.nodes[value.name], other.scopes.get(value.name, {}).get(name)
        is_apart = inside is not None and not node.start_line <= inside.start_line <= node.end_line  # in the constant
        if inside is not None and (is_apart or node.kind == "namespace"):
            return Value("def", value.path, inside.qualified), tier
        around, _, own = value.name.rpartition(".")
        rows = other.bindings.get(around, {}).get(own)
        held, how = self.bound(other, own, rows) if rows else UNKNOWN
        return self.member(other, held, name, max(tier, how)) if held is not None and held.what == "inst" else UNKNOWN

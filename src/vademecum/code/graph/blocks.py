"""Ruby's scopes, `self` of blocks, `this` of lambdas, tested types."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from vademecum.code.graph.meanings import HANDED, HELD, UNKNOWN, Meaning, Value, itself
from vademecum.code.graph.terms import Tier
from vademecum.code.languages.declarations import FUNCTIONS
from vademecum.code.languages.references import GIVEN
from vademecum.code.languages.scopes import CLASSES, declaration_of, is_nameless, parent_scopes

if TYPE_CHECKING:
    from vademecum.code.graph.definitions import File
    from vademecum.code.graph.results import Results
    from vademecum.code.graph.spaces import Spaces


def in_scopes(names: Results, file: File, scope: str, name: str, *, is_called: bool = False) -> Meaning | None:
    """Look a name up in the scopes around, innermost first.

    In a class only constants of those around it are in sight. A call means no variable.
    """
    is_outer = False
    for around in parent_scopes(scope, file.within):
        node = file.nodes.get(around)
        if is_nameless(around) or (node is not None and node.kind not in CLASSES):
            found = given(names, file, around, name) or _bound(names, file, around, name, is_called=is_called)
        elif is_outer and not name[:1].isupper():
            return None
        else:
            is_outer, found = True, _of_class(names, file, (around, scope), name)
        if found is not None:
            return found
    return None


def given(names: Results, file: File, block: str, name: str) -> Meaning | None:
    """Return a member of a block's `self`, None for unknown."""
    bound = file.bindings.get(block, {})
    for row in bound.get("self", ()) if name not in bound else ():
        value, tier = names.bound(file, "self", [row])
        found = names.member(file, value, name, tier) if value is not None else UNKNOWN
        if found[0] is not None and not found[0].is_external:
            return found
    return None


def itself_in(names: Results, file: File, around: str, scope: str) -> Value:
    """Return `self`: the class outside of methods of its instances."""
    value = names.own_class(file, around)
    function = next((each for each in parent_scopes(scope) if each in file.nodes or each == around), around)
    is_method = function != around and file.nodes[function].kind in FUNCTIONS
    return value if is_method and function not in file.of_class else value._replace(what="def")


def of_receiver(names: Spaces, file: File, block: str, name: str) -> Meaning | None:
    """Return a member of a lambda's `this`, None for none."""
    rows = file.bindings.get(block, {}).get("this")
    if not rows or name[:1].isupper():
        return None
    value, tier = names.bound(file, "this", rows)
    if value is None or value == HANDED:
        return HELD if rows[0][0] != GIVEN else None
    found: Meaning | None = names.member(file, value, name, tier)
    if found is None or found[0] is None or found[0].is_external:
        found = names.extended(file, value, name)
    return found if found is not None and found[0] is not None else None


def receivers_around(names: Results, file: File, scope: str) -> list[tuple[str, str, str]]:
    """Return the `this` of the lambdas around, [] for the class."""
    inside = takewhile(is_nameless, parent_scopes(scope, file.within))
    around = (rows for each in inside if (rows := file.bindings.get(each, {}).get("this")))
    return next(
        (rows for rows in around if rows[0][0] != GIVEN or names.bound(file, "this", rows)[0] not in {None, HANDED}), []
    )


def narrowed(names: Results, file: File, part: str, name: str, told: Meaning) -> Meaning:
    """Return the value of a name whose type a test tells.

    Of two classes of which none extends the other it may be either: something may extend both.
    """
    spelled = f"${name}" if file.rules.marks_variables and name[0] != "$" else name
    known, how = itself(names.meaning(file, part.rpartition(".")[0], spelled))
    value = told[0]
    if known is None or known.is_external or not known.name:
        return told
    if value is None or not value.name or _extends(names, known, value):
        return known, how
    return told if _extends(names, value, known) else UNKNOWN


def _extends(names: Results, one: Value, other: Value) -> bool:
    """Return whether a class is another one, or extends it."""
    above = ((base.path, base.name) for base in (one, *names.bases(one)[0]))
    return (other.path, other.name) in above


def _bound(names: Results, file: File, around: str, name: str, *, is_called: bool) -> Meaning | None:
    """Return the meaning of a name that a method or block binds."""
    if not is_called and (rows := file.bindings.get(around, {}).get(name)):
        return names.bound(file, name, rows)
    inside = f"{declaration_of(around)}.{name}".lstrip(".") if is_nameless(around) else ""
    if name in file.scopes.get(around, {}):
        return Value("def", file.path, file.scopes[around][name].qualified), Tier.EXACT
    return (Value("def", file.path, inside), Tier.EXACT) if file.within.get(inside) == around else None


def _of_class(names: Results, file: File, scopes: tuple[str, str], name: str) -> Meaning | None:
    """Return a member of a class, or a variable of its body."""
    around, scope = scopes
    value, local = itself_in(names, file, *scopes), file.scopes.get(around, {}).get(name)
    if rows := file.bindings.get(around, {}).get(name):
        return names.bound(file, name, rows) if around == scope else names.member(file, value, name, Tier.EXACT)
    if local is not None and (value.what == "def") == (local.qualified in file.statics):
        return Value("def", file.path, local.qualified), Tier.EXACT
    found, tier = names.member(file, value, name, Tier.EXACT)
    return (found, tier) if found is not None and not found.is_external else None

"""Type parameters of a class, and the types they stand for.

    class Repository<T> { find(id): T }      users: Repository<User>      users.find(1) is a User

The same is known of what a base is given: `class Users extends Repository<User>`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vademecum.code.graph.callbacks import alias_text
from vademecum.code.graph.meanings import EXTERNAL, GIVEN_BACK, UNKNOWN, Meaning, Value, held_by
from vademecum.code.graph.terms import Tier
from vademecum.code.languages.declarations import FUNCTIONS, plain_holder
from vademecum.code.languages.expression import arguments_of, split
from vademecum.code.languages.references import TYPE

if TYPE_CHECKING:
    from vademecum.code.graph.classes import Classes
    from vademecum.code.graph.definitions import File
    from vademecum.code.graph.results import Results

_MOST = 64  # classes
Arguments = dict[str, Value]  # what each parameter of a class stands for
ByClass = dict[tuple[str, str], Arguments]  # by file and class, the nearest first


def stood_for(names: Classes, value: Value, found: Value | None, part: tuple[str, str]) -> Meaning | None:
    """Return the value of a member declared as a type parameter.

    `found` is the member, None for a field; `part` is its name, with the calls after it.
    """
    known: ByClass = (
        names.definitions.once(("given", *value), given_to, {}, names, value) if value.what == "inst" else {}
    )
    if not any(known.values()):
        return None
    method = found if found is not None and found.what == "def" else None
    holder = next((each for each in known if _declares(names, each, method, part[0])), None)
    if holder is None:
        return None
    file = names.definitions.file(holder[0])
    plain = names.plain(file, _declared(names, holder, method, part))
    given = known[holder].get(plain.removesuffix("[]"))
    if given is None or given.what != "inst":
        return None
    given = given._replace(what="many") if plain.endswith("[]") else given
    return held_by((given, Tier.TYPED), None if part[1] else file.scopes.get(holder[1], {}).get(part[0]))


def standing_for(names: Results, file: File, scope: str, text: str, plain: str) -> Meaning | None:
    """Return the meaning of a type whose alias stands for an argument.

    `Maybe<User>` is a User where `type Maybe<T> = T | null`.
    """
    named = plain.removesuffix("[]")
    if "<" not in text:
        return None
    known, own = alias_text(file, scope, named), file
    where = f"{known[0]}.{named}".lstrip(".") if known is not None else ""
    if known is None:
        node = names.node(names.meaning(file, scope, named)[0])
        if node is None or node.kind != "alias":
            return None
        own, where = names.definitions.file(node.path), node.qualified
        known = alias_text(own, where.rpartition(".")[0], node.name)
    listed = split(arguments_of(text, named), ",")
    if listed == [""]:
        return None
    inner = names.plain(own, known[1]) if known is not None else ""
    at = next((n for n, each in enumerate(own.aliases.get(where, ())) if each == inner.removesuffix("[]")), len(listed))
    if at >= len(listed):
        return None
    value, tier = names.type(file, scope, listed[at].strip())
    many = value is not None and value.what == "inst" and (inner + plain).endswith("[]")
    return (value._replace(what="many") if value is not None and many else value), tier


def from_elsewhere(names: Results, file: File, scope: str, text: str, plain: str) -> Meaning:
    """Return an instance of a type from elsewhere.

    It bears the file where it is made of a type that is declared here, or may name one; it is unknown where every value
    is of the type.
    """
    if plain.rpartition(".")[2] in file.rules.anything:
        return UNKNOWN
    parts = split(arguments_of(text, plain.removesuffix("[]")), ",") if "<" in text or "[" in text else ()
    values = (names.type(file, scope, part.strip())[0] for part in parts if part.strip()[:1] not in {"", "'"})
    if file.rules.opens_namespaces and not plain.startswith(f"{file.rules.library}."):
        return GIVEN_BACK  # a macro may hide its declaration
    may_be_own = plain in file.rules.without_methods or any(value is None or not value.is_external for value in values)
    of = plain if file.rules.has_extensions else ""  # extensions are told apart by it
    if file.rules.numbers_fields:  # and methods of Rust's traits by the bounds of a type parameter
        bounds = alias_text(file, scope, plain)
        of = bounds[1] if bounds is not None else plain
    return EXTERNAL._replace(given=(file.path if may_be_own else "", "", of)), Tier.TYPED


def _declares(names: Results, holder: tuple[str, str], method: Value | None, name: str) -> bool:
    """Return whether a class is the one that declares a member."""
    path, around = holder
    if method is not None:
        return plain_holder(method.name.rpartition(".")[0]) == around
    return name in names.definitions.file(path).fields(around)


def _declared(names: Results, holder: tuple[str, str], method: Value | None, part: tuple[str, str]) -> str:
    """Return the declared type of a field or a result."""
    (path, around), (name, suffix) = holder, part
    declared, node = list[str](), names.node(method)
    if method is not None and node is not None:
        file = names.definitions.file(method.path)
        is_read = node.kind not in FUNCTIONS or method.name in file.properties
        rows = file.returns.get(method.name, ()) if suffix or is_read else ()
        declared += [text for how, text in rows if how == TYPE]
    if not suffix:
        declared += [text for how, text, _ in names.definitions.file(path).fields(around).get(name, ()) if how == TYPE]
    return declared[0] if declared and suffix in {"", "()"} else ""


def given_to(names: Classes, value: Value) -> ByClass:
    """Return the types for the parameters of a class and its bases."""
    found: ByClass = {}
    queue: list[tuple[Value, Arguments]] = [(value, {})]
    while queue and len(found) < _MOST:
        each, around = queue.pop(0)
        if (each.path, each.name) in found:
            continue
        own = found[each.path, each.name] = _arguments(names, each, around)
        for file, text in names.based_on(each):
            base = names.base(file, each.name, text)
            if base is not None and base.what == "inst":
                queue.append((base, own))
    return found


def _arguments(names: Results, value: Value, around: Arguments) -> Arguments:
    """Return the types for the parameters of one class.

    `around` has those of the class that extends it.
    """
    path, scope, text = value.given
    if not text:
        return {}
    file = names.definitions.file(path)
    written = [part.strip() for part in split(text, ",") if part.strip()[:1] != "'"]  # without Rust's lifetimes
    given = [around.get(part) or names.type(file, scope, part)[0] for part in written]
    parameters = names.definitions.file(value.path).parameters(value.name)
    return {name: each for name, each in zip(parameters, given, strict=False) if each is not None}

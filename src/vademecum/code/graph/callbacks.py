"""Parameters of callbacks, typed by the functions that take callbacks.

    app.get("/", (c) => c.text("hi"))      get: (path: string, handler: Handler) => App
                                           type Handler = (c: Context, next: Next) => Response

`c` is a Context. Where several declarations or types come into question, all that say something must say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from vademecum.code.graph.meanings import UNKNOWN, Meaning, Value, itself
from vademecum.code.graph.terms import Tier
from vademecum.code.languages.expression import parameters_of, split
from vademecum.code.languages.references import BLOCK, HANDED_ON, TYPE
from vademecum.code.languages.scopes import CLASSES, parent_scopes

if TYPE_CHECKING:
    from vademecum.code.graph.definitions import File
    from vademecum.code.graph.results import Results

_DEEPEST = 8  # types that stand for one another
Written = tuple["File", str, str]  # a file, a scope in it, a type as written there


def handed(names: Results, file: File, scope: str, text: str) -> Meaning:
    """Return the value that a callback's parameter is handed.

    `text` names the place of the parameter, that of the callback among the arguments, perhaps as a member of one, and the
    chain of what is called; or "" and a type in place of the two.
    """
    place, argument, spelled = text.split("/", 2)
    if not argument:
        return _agreed(names, [(file, scope, spelled)], int(place))
    value, _ = names.meaning(file, scope if argument != BLOCK else scope.rpartition(".")[0], spelled)
    if value is None or value.what not in {"def", "inst"}:
        return UNKNOWN
    question = ("handed", value.path, value.name, argument, place)
    return names.definitions.once(question, _of_taker, UNKNOWN, names, value, argument, int(place))


def _of_taker(names: Results, value: Value, argument: str, place: int) -> Meaning:
    """Return the value that a function hands to a callback."""
    if argument == BLOCK:
        return _to_block(names, value, place)
    return _agreed(names, _taken(names, value, *argument.split(".")), place)


def _to_block(names: Results, value: Value, place: int) -> Meaning:
    """Return the value that a method of Ruby hands to its block."""
    node, own = names.node(value), names.definitions.file(value.path)
    if node is not None and node.kind in CLASSES:  # made, with a block
        made, _ = names.member(own, value._replace(what="inst"), "initialize", Tier.TYPED)
        return _to_block(names, made, place) if made is not None and made.what == "def" else UNKNOWN
    found: set[Value | None] = set()
    for scope, at, text in own.handing.get(value.name, ()):
        if at == place:
            given = itself(names.meaning(own, scope, text))
            found.add(names.called_without_brackets(given[0], given[1])[0] if given[0] else None)
        elif at == HANDED_ON and (known := handed(names, own, f"{scope}.", f"{place}/{BLOCK}/{text}"))[0] is not None:
            found.add(known[0])
    only = found.pop() if len(found) == 1 else None
    return (only, Tier.TYPED) if only is not None and not only.is_external else UNKNOWN


def _agreed(names: Results, types: Iterable[Written], place: int) -> Meaning:
    """Return the one value that types of functions say."""
    found = {value for each in dict.fromkeys(types) for value in _parameter(names, each, place, _DEEPEST)}
    value = found.pop() if len(found) == 1 else None
    return (value, Tier.TYPED) if value is not None and value.what in {"inst", "many"} else UNKNOWN


def alias_text(file: File, scope: str, name: str) -> tuple[str, str] | None:
    """Return the scope and text of an alias or type parameter.

    The text of a type parameter that may be anything is "".
    """
    if name not in file.alias_names:  # as most are: the scopes need not be gone through
        return None
    known = ((around, file.aliases.get(around, {}).get(name)) for around in (*parent_scopes(scope, file.within), ""))
    return next(((around, text) for around, text in known if text is not None), None)


def _taken(names: Results, value: Value, argument: str, member: str = "") -> Iterator[Written]:
    """Yield the types declared for an argument, or a member of one."""
    own = names.definitions.file(value.path)
    for text in _at(own, value.name, int(argument)):
        if not member:
            yield own, value.name, text
        elif (holder := names.type(own, value.name, text)[0]) is not None and holder.what == "inst":
            other = names.definitions.file(holder.path)
            declared = other.fields(holder.name).get(member, ())
            yield from ((other, holder.name, text.lstrip(": ")) for how, text, _ in declared if how == TYPE)


def _at(own: File, taker: str, argument: int) -> Iterator[str]:
    """Yield the types of a parameter, one for each overload."""
    for place, text in own.takes.get(taker, ()):
        if place == argument:
            yield text.removeprefix("...") if not text.startswith("...") else _element(text, 0)
        elif place < argument and text.startswith("..."):
            yield _element(text, argument - place)


def _element(text: str, number: int) -> str:
    """Return the type of one of several arguments, "" for unknown."""
    text = text.removeprefix("...").strip()
    if text.startswith("[") and text.endswith("]"):
        parts = split(text[1:-1], ",")
        text = parts[number].strip() if number < len(parts) else ""
        return text.removeprefix("...").removesuffix("[]")
    return text.removesuffix("[]") if text.endswith("[]") else ""


def _parameter(names: Results, written: Written, place: int, deepest: int) -> Iterator[Value | None]:
    """Yield the types of one parameter in a type of functions."""
    file, scope, text = written
    for part in split(text.strip(), "|") if deepest else ():
        listed = parameters_of(part)
        if listed is not None:
            if place < len(listed) and ":" in listed[place]:
                yield names.type(file, scope, listed[place].partition(":")[2])[0]
        elif part.strip().startswith("("):
            yield from _parameter(names, (file, scope, part.strip()[1:-1]), place, deepest - 1)
        else:
            yield from _named(names, (file, scope, part.partition("<")[0].strip()), place, deepest)


def _named(names: Results, written: Written, place: int, deepest: int) -> Iterator[Value | None]:
    """Yield the types of one parameter in a type with a name."""
    file, scope, name = written
    known = alias_text(file, scope, name)
    if known is not None:
        yield from _parameter(names, (file, *known), place, deepest - 1)
        return
    value, _ = names.meaning(file, scope, name) if name else UNKNOWN
    node = names.node(value)
    if value is None or node is None:
        return
    own = names.definitions.file(value.path)
    if node.kind == "alias":
        yield from _named(names, (own, value.name.rpartition(".")[0], node.name), place, deepest - 1)
    elif node.kind == "interface":
        yield from (names.type(own, value.name, text)[0] for text in _at(own, value.name, place))

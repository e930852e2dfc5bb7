"""Possible meanings of a name, with their certainty."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from vademecum.code.graph.terms import Node, Tier

NOT_GIVEN = ("", "", "")


class Value(NamedTuple):
    """The meaning of a name.

    `what` is "def" (a declaration itself), "inst" (an instance of the class declared), "many" (a collection of such),
    "module" (a file, or with a slash at its end a directory), "written" (a literal, or of a type that lists its members where it
    is used: what is called on it is of no class), "either" (an instance of one of the types in `given`), "external", or after `GIVES` what a method of a library's container gives.
    """

    what: str
    path: str = ""
    name: str = ""  # the declaration's qualified name
    leaf: str = ""  # the constant or field that it was read from, as a qualified name in the file `leaf_path`
    leaf_path: str = ""
    given: tuple[str, str, str] = (
        NOT_GIVEN  # a generic class's arguments (file, scope, text), an external type, a union
    )

    @property
    def is_external(self) -> bool:
        """Say whether the value is known to be declared elsewhere."""
        return self.what == "external"


GIVES = "gives "
EXTERNAL = Value("external")
WRITTEN = Value("written")
Meaning = tuple[Value | None, Tier]
UNKNOWN: Meaning = (None, Tier.EXACT)
# Unknown, yet said to be the receiver's own or from elsewhere: that others have such a name says nothing.
HELD: Meaning = (None, Tier.GUESS)
# Unknown: several `impl`s of one type declare the member, for other arguments or traits.
SEVERAL: Meaning = (None, Tier.GUESS)
OUTSIDE: Meaning = (EXTERNAL, Tier.EXACT)
# What code from elsewhere gives: of a type from elsewhere too, or handed to it before.
HANDED = EXTERNAL._replace(given=("?", "", ""))
GIVEN_BACK: Meaning = (HANDED, Tier.TYPED)
# A member that its class, all of it in the repository, lacks: generated, of the language's own, or of another class.
LACKING: Meaning = (Value("external", "lacking"), Tier.EXACT)


def given_back(of: Value | None) -> Meaning:
    """Return the meaning of a result or element from elsewhere.

    A container of a type that is declared here may hold such a one.
    """
    return HELD if of is None or (of.given[0] and of != HANDED) else GIVEN_BACK


def alike(meanings: Iterable[Meaning]) -> list[Meaning]:
    """Return meanings apart from type arguments that differ."""
    listed = list(meanings)
    if len({value for value, _ in listed}) < 2:
        return listed
    return [(value and value._replace(given=NOT_GIVEN), tier) for value, tier in listed]


def held_by(meaning: Meaning, node: Node | None) -> Meaning:
    """Return a meaning with the constant or field it came from."""
    value, tier = meaning
    if node is None or value is None or value.what in {"def", "module"}:
        return meaning
    return value._replace(leaf=node.qualified, leaf_path=node.path), tier


def itself(meaning: Meaning) -> Meaning:
    """Return a meaning apart from where it was read from."""
    value, tier = meaning
    return meaning if value is None or not value.leaf else (value._replace(leaf="", leaf_path=""), tier)


def held_in(container: Value, given: str | None) -> Meaning:
    """Return the result of a library container's method, if known."""
    if given is None:
        return OUTSIDE
    return Value(GIVES + ("inst" if given == "one" else container.what), container.path, container.name), Tier.TYPED

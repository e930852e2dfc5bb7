"""Fields of tools' schemas, and matches of outputs with inputs.

An output field meets an input when both are about the same thing and their types agree. What a field is about is in its
words, those of the objects that it lies in, and, where its name says next to nothing (`id`, `name`), in the name of the
tool: `create_user` gives `id`, and `delete_user` wants `user_id`.

    >>> given, wanted = (fields_of({"properties": {name: {"type": "integer"}}})[0] for name in ("id", "user_id"))
    >>> [match(given, words(giver), wanted, words("delete_user")) for giver in ("create_user", "create_order")]
    [0.5, 0.0]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

DEPTH = 4  # of nested objects and arrays that is looked into
MOST_FIELDS = 200  # of one schema
SAME, WITHIN, BY_TOOL = 1.0, 0.8, 0.5  # how far a match can be trusted
# Names that are about anything: alone they match nothing.
_GENERIC = """
id ids uuid key name names title type kind value values text string content contents body data item items result results output
input query url uri path date time status state code count number limit offset page size message description note label format
options params config metadata info ok success error
"""
GENERIC = frozenset(_GENERIC.split())
_IDENTIFIERS = (("id",), ("ids",), ("uuid",), ("key",))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UNTOLD = frozenset(
    {"get", "set", "list", "create", "make", "add", "new", "delete", "remove", "update", "read", "write"}
)


@dataclass(frozen=True, slots=True)
class Field:
    """A place for a value in a schema."""

    name: str  # as it is written, with those of the objects around it: `user.id`
    words: tuple[str, ...]  # of its own name, in small letters, without plural
    around: frozenset[str] = frozenset()  # those of the objects around it
    type: str = ""  # JSON Schema's; "" where it is open
    required: bool = False
    said: str = ""  # its description

    @property
    def own(self) -> str:
        """The name without those of the objects around it."""
        return self.name.rpartition(".")[2]

    @property
    def telling(self) -> frozenset[str]:
        """The words of a field's own name that describe its subject."""
        telling = frozenset(self.words) - GENERIC
        return telling or (frozenset(self.words[:-1]) if self.words[-1:] in _IDENTIFIERS else telling)


def words(name: str) -> tuple[str, ...]:
    """Return the words of a name in small letters, without plural.

    >>> words("listOpenIssues_v2")
    ('list', 'open', 'issue', 'v', '2')
    """
    return tuple(_singular(word.lower()) for word in _WORD.findall(name))


def fields_of(schema: Mapping[str, Any]) -> list[Field]:
    """Return the fields of a JSON Schema, outermost first, arrays included."""
    return [field for field, _ in zip(_fields(schema, "", frozenset(), 0), range(MOST_FIELDS), strict=False)]


def inputs_of(schema: Mapping[str, Any]) -> list[Field]:
    """Return the arguments of a tool: the outermost fields alone."""
    return [field for field in fields_of(schema) if "." not in field.name]


def match(given: Field, giver: tuple[str, ...], wanted: Field, taker: tuple[str, ...]) -> float:
    """Return the trust that an output serves as an input, 0..`SAME`.

    `giver` and `taker` are the words of the tools' names.
    """
    types = {given.type, wanted.type} - {""}
    if given.words[-1:] != wanted.words[-1:] or not given.words or (len(types) > 1 and types != {"integer", "number"}):
        return 0.0
    telling = wanted.telling
    if telling:
        if given.words == wanted.words:
            return SAME
        if telling <= given.around | set(given.words):
            return WITHIN
        return BY_TOOL if telling <= given.around | set(given.words) | set(giver) else 0.0
    return BY_TOOL if about(wanted, taker) & given.around.union(given.words, giver) else 0.0


def about(wanted: Field, taker: tuple[str, ...]) -> frozenset[str]:
    """Return the words of which a giver must share one."""
    return wanted.telling or frozenset(wanted.around.union(taker) - GENERIC - _UNTOLD)


def _fields(schema: Any, prefix: str, around: frozenset[str], depth: int) -> Iterator[Field]:
    if depth > DEPTH or not isinstance(schema, Mapping):
        return
    properties = schema.get("properties")
    inner: list[tuple[Mapping[str, Any], str, frozenset[str]]] = []
    required = schema.get("required")
    for name, body in properties.items() if isinstance(properties, Mapping) else ():
        body = body if isinstance(body, Mapping) else {}  # noqa: PLW2901 -- `true` stands for anything
        own = words(name)
        needed = isinstance(required, list) and name in required and "default" not in body
        said = body.get("description")
        yield Field(prefix + name, own, around, _type(body), needed, said if isinstance(said, str) else "")
        inner.append((body, f"{prefix}{name}.", around | set(own)))
    if "items" in schema:
        inner.append((schema["items"], prefix, around))
    for body, name, above in inner:
        yield from _fields(body, name, above, depth + 1)


def _type(body: Mapping[str, Any]) -> str:
    found = body.get("type", "")
    if isinstance(found, list):
        found = next((one for one in found if one != "null"), "")
    return found if isinstance(found, str) else ""


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word

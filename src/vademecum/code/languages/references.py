"""The references of one content, as they are kept.

`find_references` finds them, `graph` resolves them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Any

VERSION = 38  # raised when other references are found, so that those found before are found anew
# how a name was bound
TYPE, VALUE, EACH, CONTEXT, GIVEN, SHADOW = "type", "value", "each", "context", "given", "shadow"
NARROWED = "narrowed"  # by a test, in a part of a function: the name has another type around it
RETURNED = "return"  # the scope of the members of the object that a function writes out as its result
FIELDS = "this"  # the scope of the fields of a function that is a class
BLOCK = "block"  # in place of an argument's number: the block that a call of Ruby has
ITSELF, HANDED_ON = -1, -2  # in place of a parameter's number: the `self` of a block, the call that is handed the block
LITERAL = "{}"  # the text of a name that is bound to something written out: its members are there, or built in
# What only the file's own edges ask for, more than half of all.
USES = ("calls", "news", "loads", "types", "texts")


@dataclass(slots=True)
class References:
    """The references of one content.

    `owners` are qualified names of its declarations; the first, "", is the file itself. A function without a name has
    one too, as in `setup.<1>`: it is a scope, but no declaration, and tells those of one name apart: `<1>.Store.get`.
    Every row begins with its owner's number and the line. A binding's scope is the owner in which its text is to be
    read: a field belongs to its class, and is bound in a constructor.
    """

    version: int = 0
    package: str = ""
    spaces: list[tuple[int, int, str]] = field(default_factory=list)  # first line, last line, name of a namespace
    owners: list[str] = field(default_factory=lambda: [""])
    imports: list[tuple[int, int, str, str, str]] = field(default_factory=list)  # … local name, module, name
    exports: list[tuple[int, int, str, str, str]] = field(default_factory=list)  # … exported name, module, name
    calls: list[tuple[int, int, str]] = field(default_factory=list)  # … chain, after a slash the number of arguments
    takes: list[tuple[int, int, int, str]] = field(
        default_factory=list
    )  # … place of a parameter, its type; place -1 for what an extension is called on
    arities: list[tuple[int, int, int, int]] = field(default_factory=list)  # … least and most arguments
    news: list[tuple[int, int, str]] = field(default_factory=list)  # … type
    bindings: list[tuple[int, int, str, str, str, int]] = field(default_factory=list)  # … name, how, text, scope
    returns: list[tuple[int, int, str, str]] = field(default_factory=list)  # … "type" or "value", type or chain
    bases: list[tuple[int, int, str]] = field(default_factory=list)  # … type
    loads: list[tuple[int, int, str]] = field(default_factory=list)  # … chain
    types: list[tuple[int, int, str]] = field(default_factory=list)  # … type
    texts: list[tuple[int, int, str]] = field(default_factory=list)  # … path of a name within a text: `app.tasks.send`
    aliases: list[tuple[int, int, str, str]] = field(default_factory=list)  # … name, type, "" for any
    conditional: list[tuple[int, int]] = field(default_factory=list)
    statics: list[tuple[int, int]] = field(default_factory=list)
    getters: list[tuple[int, int]] = field(default_factory=list)
    within: list[tuple[int, int, int]] = field(default_factory=list)  # … the function without a name around it
    apart: list[tuple[int, int, int, str]] = field(default_factory=list)  # … last line of a declaration, its name alone
    unread: str = field(default="", repr=False, compare=False)

    def known(self, qualified: str, line: int) -> str:
        """Return a declaration's name, told apart by the function around it."""
        within = ((self.owners[owner], name) for owner, *lines, name in self.apart if lines[0] <= line <= lines[1])
        names = [f"{own}{rest}" for own, name in within if not (rest := qualified.removeprefix(name)) or rest[0] == "."]
        return names[-1] if names else qualified

    def dump(self) -> str:
        """Return two lines of JSON, of which the second holds USES.

        Empty parts are left out.
        """
        known = {each.name: value for each in fields(self) if (value := getattr(self, each.name))}
        parts = ({name: known.pop(name) for name in USES if name in known}, known)
        return "\n".join(json.dumps(part, ensure_ascii=False, separators=(",", ":")) for part in reversed(parts))

    @staticmethod
    def load(text: str) -> References:
        """Read the lines of `dump`, the second when it is needed.

        >>> found = References.load(References(package="shop", calls=[(0, 1, "run/0")]).dump())
        >>> found.package, found.calls, found.loads
        ('shop', [[0, 1, 'run/0']], [])
        """
        own, _, uses = text.partition("\n")
        found = References(**json.loads(own)) if own else References()
        if uses:
            found.unread = uses
            for name in USES:
                delattr(found, name)
        return found

    def __getattr__(self, name: str) -> Any:
        """Read USES, and return one of them.

        Python calls this for an attribute that is not set.
        """
        if name not in USES:
            raise AttributeError(name)
        read = json.loads(self.unread)
        for each in USES:
            setattr(self, each, read.get(each, []))
        self.unread = ""
        return getattr(self, name)

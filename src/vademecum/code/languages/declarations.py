"""Declarations from captured byte ranges: nesting, names, and belongings.

Owns the meaning of the queries' vocabulary. A capture names either a declaration (`function`, `class`, … the keys of
`KIND`) or something that belongs to the innermost declaration around it:

    name, scope, base, body, docstring     parts of a declaration
    decorator                              inside a declaration's head, or directly above it
    comment, lead                          directly above: a doc comment, an attribute
    doc                                    directly above: documentation that is not a comment (`@doc "…"`)
    typing                                 directly above: a type signature, which is the best signature there is
    member                                 a method, but only inside a declared class or object; else nothing
    inner                                  an object of functions, likewise only inside a declared class or object
    rest                                   directly below: a body that the grammar sets beside its head (Dart)
    wrap                                   around it: `export …`, `template <…> …`, decorators
    call, branch, import                   read by `chunk`, wherever they stand

Below the first node of a pattern, `_` may stand where a field tells the kind: tree-sitter takes 10 to 40 ms to compile each
named kind that has children, in every process. `(_primary/identifier)` is an identifier in an expression.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from vademecum.code.languages import comments
from vademecum.code.languages.parse import Range, Syntax
from vademecum.types import ChunkKind

# What a capture declares, as the kind of the chunk that holds it.
# Where two patterns claim one node the earlier here wins.
KIND: dict[str, ChunkKind] = {
    "function": ChunkKind.FUNCTION,
    "method": ChunkKind.METHOD,
    "constructor": ChunkKind.METHOD,
    "macro": ChunkKind.FUNCTION,
    "impl": ChunkKind.CLASS,
    "extension": ChunkKind.CLASS,
    "object": ChunkKind.CLASS,
    "record": ChunkKind.CLASS,
    "module": ChunkKind.CLASS,
    "namespace": ChunkKind.MODULE,
    "interface": ChunkKind.INTERFACE,
    "trait": ChunkKind.INTERFACE,
    "protocol": ChunkKind.INTERFACE,
    "annotation": ChunkKind.INTERFACE,
    "struct": ChunkKind.TYPE,
    "union": ChunkKind.TYPE,
    "enum": ChunkKind.TYPE,
    "class": ChunkKind.CLASS,
    "type": ChunkKind.TYPE,
    "alias": ChunkKind.TYPE,
    "member": ChunkKind.METHOD,
    "inner": ChunkKind.CLASS,
    "constant": ChunkKind.CONSTANT,
    "field": ChunkKind.CONSTANT,
    "property": ChunkKind.CONSTANT,
}
FUNCTIONS = frozenset({"function", "method", "constructor", "macro"})
LEAVES = frozenset({"constant", "field", "property", "alias"})
_SPACES = frozenset({"module", "namespace"})  # functions in them are not methods
_REOPENED = frozenset({"impl", "extension"})  # they add to a type that is defined elsewhere
_BROADER = {name: rank for rank, name in enumerate(("wrap", *KIND))}
_SIGNATURE = 300
_ABOVE = frozenset({"comment", "lead", "doc", "typing"})
EXTENDED = "<self>"  # behind a base that a class itself has, and not its instances (Ruby)
_PARTS = ("name", "scope", "base", "extended", "body", "rest", "docstring", "decorator", *sorted(_ABOVE))

_QUALIFIED = re.compile(r"^(.*[\w>?!])(?:::|\.|:)(~?[^\W\d][\w$]*[?!=]?|operator\b.*)$", re.DOTALL)
_GENERIC = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)")
_NOT_NAMES = frozenset({"module.exports", "exports"})
_NOT_A_SCOPE = re.compile(r"^(?:module\.exports|exports|this|self)(?:\.|$)|\.prototype$")


@dataclass(slots=True, eq=False)
class Declaration:
    """One declaration and the bytes that belong to it."""

    capture: str
    start: int  # of the first thing that belongs to it: doc comment, decorator, wrapper
    end: int
    core: int  # where the declaration itself starts
    head: int = 0  # where the decorators within it end; 0 when there are none
    body: int = 0  # where its body starts; 0 when it has none
    names: list[Range] = field(default_factory=list)
    bases: list[str] = field(default_factory=list)
    decorators: list[str] = field(default_factory=list)
    children: list[Declaration] = field(default_factory=list)
    parent: Declaration | None = None
    name: str = ""
    scope: str = ""
    doc: str = ""
    signature: str = ""

    @property
    def qualified(self) -> str:
        """Scope and name joined."""
        return f"{self.scope}.{self.name}" if self.scope and self.name else self.name or self.scope

    @property
    def defines(self) -> bool:
        """Say whether the name is defined here, and not only extended."""
        return bool(self.name) and self.capture not in _REOPENED

    def ancestors(self) -> Iterator[Declaration]:
        """Yield the declarations around it, innermost first."""
        around = self.parent
        while around is not None:
            yield around
            around = around.parent


class Outline:
    """The declarations of one file, in order."""

    def __init__(self, content: bytes, syntax: Syntax, *, equations: bool = False) -> None:
        self.all: list[Declaration] = []
        self.top: list[Declaration] = []
        self.docstrings: list[tuple[int, str]] = []  # of the file itself
        self._content = content
        self._leads: list[tuple[int, int, str]] = []
        self._stack: list[Declaration] = []
        self._absorbed: set[int] = set()  # ids of clauses that were joined to the one before
        self._comments = syntax.captures.get("comment", [])
        self._sweep(syntax)
        self._leads.sort()
        for declaration in self.all:
            self._claim_leads(declaration)
            self._name(declaration)
        self._tell_apart()
        if equations:
            self.top = self._merged(self.top)
            for declaration in self.all:
                declaration.children = self._merged(declaration.children)
            absorbed = self._absorbed
            self.all = [declaration for declaration in self.all if id(declaration) not in absorbed]

    def _sweep(self, syntax: Syntax) -> None:
        """Visit every capture by position, outer before inner."""
        events = [
            (start, -end, _BROADER.get(capture, 99), capture)
            for capture in (*_BROADER, *_PARTS)
            for start, end in syntax.captures.get(capture, ())
        ]
        events.sort()
        seen = (-1, 0)
        for start, minus_end, rank, capture in events:
            while self._stack and self._stack[-1].end <= start:
                self._stack.pop()
            if rank == 99:
                self._part(capture, start, -minus_end)
            elif capture == "wrap" or (start, minus_end) != seen:  # two patterns may claim one node: the broader wins
                seen = seen if capture == "wrap" else (start, minus_end)
                self._open(capture, start, -minus_end)

    def _open(self, capture: str, start: int, end: int) -> None:
        declaration = Declaration(capture, start, end, start)
        outer = self._stack[-1] if self._stack else None
        self._stack.append(declaration)
        if capture == "wrap":
            declaration.parent = outer
            declaration.core = -1  # until what it wraps is found
            return
        if capture in {"member", "inner"}:
            around = next((d for d in reversed(self._stack[:-1]) if d.capture != "wrap"), None)
            if around is None or around.capture in FUNCTIONS:
                declaration.capture, declaration.parent = "wrap", outer
                return
            of_class = "method" if around.capture != "constant" else "function"
            declaration.capture = "object" if capture == "inner" else of_class
        while outer is not None and outer.capture == "wrap":
            if outer.core < 0:
                outer.core = start
                declaration.start, declaration.end = outer.start, max(outer.end, end)
                declaration.core = outer.start if not outer.decorators else declaration.core
                declaration.decorators = outer.decorators + declaration.decorators
            outer = outer.parent
        declaration.parent = outer
        (outer.children if outer else self.top).append(declaration)
        self.all.append(declaration)

    def _part(self, capture: str, start: int, end: int) -> None:
        """Hand a capture to the declaration it belongs to."""
        holder = self._stack[-1] if self._stack else None
        if capture == "body":
            self._body(start)
        elif capture == "rest":
            self._rest(start, end)
        elif capture in _ABOVE or (
            capture == "decorator" and (holder is None or (holder.names and holder.capture != "wrap"))
        ):
            self._leads.append((start, end, capture))
        elif holder is not None:
            self._hand(holder, capture, start, end)
        elif capture == "docstring":
            self.docstrings.append((start, comments.docstring(self._content[start:end].decode())))

    def _body(self, start: int) -> None:
        """Note the start of a body for the declaration around it."""
        holder = self._stack[-1] if self._stack else None
        while holder is not None and (holder.capture == "wrap" or holder.core >= start):
            holder = holder.parent
        if holder is not None:
            holder.body = holder.body or start

    def _rest(self, start: int, end: int) -> None:
        """Join a body to the declaration directly above."""
        head = self.all[-1] if self.all else None
        if head is not None and head.end <= start and not self._content[head.end : start].strip():
            head.body, head.end = start, end
            self._stack.append(head)

    def _hand(self, holder: Declaration, capture: str, start: int, end: int) -> None:
        if capture == "decorator":
            holder.decorators.append(self._decorator(start, end))
            holder.head = end
        elif holder.capture == "wrap":
            return
        elif capture == "name":
            holder.names.append((start, end))
        elif capture == "docstring":
            holder.doc = holder.doc or comments.docstring(self._content[start:end].decode())
        elif capture in {"base", "extended"}:  # a hook of Ruby's names the bases of what includes its module
            holder = holder.parent if holder.capture in FUNCTIONS and holder.parent else holder
            holder.bases.append(self._text(start, end, 80) + EXTENDED * (capture == "extended"))
        elif not holder.scope:  # "scope"
            holder.scope = self._text(start, end, 120)

    def _text(self, start: int, end: int, limit: int) -> str:
        return " ".join(self._content[start:end].decode().split())[:limit]

    def _decorator(self, start: int, end: int) -> str:
        return self._text(start, end, 120).removeprefix("#").strip("@[]")

    def _claim_leads(self, declaration: Declaration) -> None:
        """Pull the comments, attributes and signatures directly above into the declaration."""
        at = bisect_left(self._leads, (declaration.start,)) - 1
        claimed: list[tuple[int, int, str]] = []
        while at >= 0 and self._directly_above(self._leads[at], declaration.start):
            declaration.start = self._leads[at][0]
            claimed.append(self._leads[at])
            at -= 1
        above = [self._content[s:e].decode() for s, e, capture in reversed(claimed) if capture == "comment"]
        for start, end, capture in reversed(claimed):
            if capture == "doc":
                declaration.doc = comments.docstring(self._content[start:end].decode().partition(" ")[2])
            if capture == "decorator":
                declaration.decorators.append(self._decorator(start, end))
            elif capture == "typing":
                declaration.signature = self._text(start, end, _SIGNATURE)
        if above and not declaration.doc:
            declaration.doc = comments.comment("\n".join(above))

    def _directly_above(self, lead: tuple[int, int, str], start: int) -> bool:
        """Return whether a lead stands alone, directly above a place."""
        between = self._content[lead[1] - 1 : start]
        # Haskell leaves a blank line between a long haddock and its signature.
        breaks = 2 if self._content.startswith((b"-- |", b"{-|", b"{- |"), lead[0]) else 1
        if len(between) > 400 or between.count(b"\n") > breaks or between[1:].strip():
            return False
        line = self._content.rfind(b"\n", max(0, lead[0] - 400), lead[0]) + 1
        return not self._content[line : lead[0]].strip()

    def _name(self, declaration: Declaration) -> None:
        """Work out name, scope and signature; parents come before their children."""
        names = (_plain_name(self._content[start:end].decode()) for start, end in declaration.names)
        declaration.name = next((name for name in names if name not in _NOT_NAMES), "")
        if declaration.capture in _REOPENED:
            declaration.name = _plain_scope(declaration.name)
        if declaration.scope and len(declaration.names) > 1:
            declaration.name = (
                f"{self._text(*declaration.names[1], 80)}_Test"  # behind its macro's name; nobody calls it
            )
        inside = ""
        receiver = _plain_scope(declaration.scope)
        # tree-sitter-kotlin reads the `f` of `fun A.f()` as part of the receiver
        if not declaration.name and not declaration.names:
            receiver, _, declaration.name = receiver.rpartition(".")
        elif len(declaration.name) < 300 and (qualified := _QUALIFIED.match(declaration.name)):
            inside, declaration.name = _plain_scope(qualified[1]), qualified[2]
        parent = declaration.parent
        if parent and parent.capture == "constant" and (declaration.core, declaration.end) in declaration.names:
            parent = declaration.parent = parent.parent  # Ruby makes methods of the names that a constant lists
        around = parent.qualified if parent else ""
        if parent and not parent.name and parent.capture in FUNCTIONS:
            around = parent.scope
        declaration.scope = ".".join(part for part in (around, receiver, inside) if part)
        if declaration.capture == "function" and (
            receiver or inside or (parent and parent.capture not in FUNCTIONS | _SPACES)
        ):
            declaration.capture = "method"
        elif declaration.capture == "method" and parent is None and not declaration.scope:
            declaration.capture = "function"
        if not declaration.signature:
            declaration.signature = self._signature(declaration)

    def _tell_apart(self) -> None:
        """Tell `impl`s of one type apart that declare one name.

        They are named by the whole type, and by the trait: `Slim<V, 1>`, `<Slim as From<A>>`. An `impl` without a trait that
        declares a name alone keeps the plain name.
        """
        impls = [each for each in self.all if each.capture == "impl" and each.names]
        heads = {
            each: (self._text(*each.names[0], 120).replace(".", ""), "".join(each.bases[:1]).replace(".", ""))
            for each in impls
        }  # type and trait
        declaring: dict[str, set[tuple[str, str]]] = {}
        functions = [(each, child.qualified) for each in heads for child in each.children if child.capture in FUNCTIONS]
        for each, name in functions:
            declaring.setdefault(name, set()).add(heads[each])
        apart = {
            each
            for each, name in functions
            if len(rivals := declaring[name]) > 1 and (heads[each][1] or sum(not trait for _, trait in rivals) > 1)
        }
        for each in apart:
            before, (of, trait) = len(each.qualified), heads[each]
            each.name = f"<{of} as {trait}>" if trait else of
            _move(each.children, before, each.qualified)

    def _signature(self, declaration: Declaration) -> str:
        """Return the declaration's text up to its body, values one line."""
        start = max(declaration.core, declaration.head)
        if declaration.names[:1] == [(declaration.core, declaration.end)]:  # one of several that a line declares
            start = self._content.rfind(b"\n", 0, start) + 1
        end = min(declaration.body or declaration.end, start + 2000)
        if not declaration.body and declaration.capture not in FUNCTIONS:
            line = self._content.find(b"\n", start, end)
            end = line if line > 0 else end
        end = self._before_comments(start, end) if declaration.body else end
        text = self._text(start, end, 2000).lstrip("]) ").rstrip(" {=;").removesuffix(" do")
        return text[:_SIGNATURE].rstrip(" :,")

    def _before_comments(self, start: int, end: int) -> int:
        """Return the start of comments between head and body, else `end`."""
        while at := bisect_left(self._comments, (end,)):
            first, last = self._comments[at - 1]
            if first < start or self._content[last:end].strip():
                break
            end = first
        return end

    def _merged(self, siblings: list[Declaration]) -> list[Declaration]:
        """Join neighbouring equations, clauses or overloads of one name."""
        merged: list[Declaration] = []
        for declaration in siblings:
            last = merged[-1] if merged else None
            if (
                last
                and last.name == declaration.name
                and {last.capture, declaration.capture} <= FUNCTIONS
                and not self._content[last.end : declaration.start].strip(b" \t\r\n;")
            ):
                last.end = declaration.end
                last.body = last.body or declaration.body
                self._absorbed.add(id(declaration))
                last.children += declaration.children
            else:
                merged.append(declaration)
        return merged


def _move(declarations: Sequence[Declaration], before: int, scope: str) -> None:
    """Put declarations, and all in them, into a renamed scope.

    `before` is the length of its former name.
    """
    for each in declarations:
        each.scope = f"{scope}{each.scope[before:]}" if before else ".".join(filter(None, (scope, each.scope)))
        _move(each.children, before, scope)


def plain_holder(qualified: str) -> str:
    """Return the plain name of a type that an `impl` is for.

    >>> plain_holder("a.Slim<V, 1>"), plain_holder("<b::X<T> as From<Y>>"), plain_holder("f.<1>"), plain_holder("<(A, B) as T>")
    ('a.Slim', 'b.X', 'f.<1>', '')
    """
    if qualified[-1:] != ">":
        return qualified
    around, _, own = qualified.rpartition(".")
    of, is_trait, _ = own[1:].partition(" as ")
    if own[0] == "<" and not is_trait:
        return qualified
    return ".".join(filter(None, (around, _plain_scope(of if is_trait and own[0] == "<" else own))))


@functools.lru_cache(4096)
def _plain_scope(text: str) -> str:
    """Reduce a receiver, type or path to dotted names.

    >>> _plain_scope("*Server[K, V]"), _plain_scope("a::B<C<D>>"), _plain_scope("app.prototype"), _plain_scope("exports")
    ('Server', 'a.B', 'app', '')
    """
    text = _without_arguments(text).replace("::", ".").replace(":", ".").lstrip("*& ")
    return _NOT_A_SCOPE.sub("", text.strip(" .")).strip(" .*&")


def _plain_name(text: str) -> str:
    r"""Reduce a written name to the name people ask for.

    >>> _plain_name("formatter<\n  R, Char,\n  enable<R>>"), _plain_name("std::hash<A>"), _plain_name("operator<=>"), _plain_name("`f`")
    ('formatter', 'std::hash', 'operator<=>', 'f')
    """
    if text.endswith(">") and not text.startswith("operator"):
        text = _without_arguments(text)
    return text.removeprefix("@test ").strip("\"'`: ")


def _without_arguments(text: str) -> str:
    previous = None
    while previous != text:
        previous, text = text, _GENERIC.sub("", text)
    return text

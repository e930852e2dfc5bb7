"""Find the references of one file, by the names as written.

References belong to content, as chunks do: they are found once, beside them, and resolved per snapshot by `graph`. The
queries (`<language>.refs.scm`) use this vocabulary:

    call                    what is called; with `object`, `method` and perhaps `arguments` where the grammar keeps them apart
    setter                  a method that is called by an assignment, as `name=` is by `x.name = 1`
    inherited               a call of the method that the one around overrides (Ruby)
    parameters              the parameters of a function that others of its name may overload
    token                   the last name of a call that has no syntax of its own: among a macro's arguments, a symbol
    new                     a class of which an instance is made
    using, exporting        an import statement, an export statement
    package                 the package or namespace the file belongs to; with `space`, its part of the file
    name + type | value | each | context
                            a name bound to a type, to a value, to each element of one, to what a `with` gives; alone, it
                            is only shadowed
    declared                a name that is declared without a value, which it is given later
    global                  a name of the file that a function binds (Python)
    again + value           a name declared before, perhaps by a function around, and bound to a value now
    holder + members        an object that is written out, with the name it is bound to
    documented + docs       a declaration, and the comment that tells the types it leaves out
    fields                  the types of fields that have numbers for names
    pattern                 a pattern that names the type of what it takes apart
    name + given | meant    a parameter of a function without a name that is handed to a call, or meant to be of a type;
                            with `among`, the arguments, `key`, a member of one, and `listed`, the parameters
    further + result        a name bound to a further result of a call (Go)
    elements + collection   the type of a collection that has a name of its own, and the name (Go)
    receiving + value       a function without a name, and what is `this` in it (Kotlin)
    handing + given         a function without a name behind a call, and what is called (Kotlin)
    implied                 a function without a name or parameters, whose argument has a name by itself (Kotlin's `it`)
    taking                  the parameters of a function that may be handed functions; what it hands to a block (Ruby)
    evaluated + given       a block of Ruby, and the method that is handed it, perhaps `of` a receiver
    field                   a parameter that makes a field of the class around it
    mixed                   a module that a block, or a whole file, is given (Ruby)
    described + value       a block of a test, and the class that it is about; of a class without a name, and its base
    static                  a method of a class itself (Ruby)
    return, returned        a function's declared type; a value it returns
    embedded                a type that stands for a base (Go)
    load, ref, bare         a value passed on or read; a type named; a name that may be a call without brackets (Ruby)
    constant                a name that is read: a constant, if the file declares one or it begins with a capital
    inner                   a function without a name: a scope of its own
    subject + kind          a name, and the type that a `test` tells of it, or that it has in the part `told`
    block                   a part of a function that is a scope where it binds a name otherwise than another part
    anew + let              a pattern and its statement, which binds names anew for what follows in its block (Rust)
    trait + object          a trait whose method is called by its name, and what it is called on: `Display::fmt(x, f)`
    getter                  a method that is read like a field
    conditional             declared where the preprocessor may leave it out
    alias + type            a name that stands for another type, or for the bound of a type parameter; alone, for any type
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from vademecum.code import languages
from vademecum.code.languages.bindings import (
    LITERALS,
    forget_unbound,
    handed,
    handed_block,
    held,
    how_bound,
    listed_nodes,
    unbound,
)
from vademecum.code.languages.declarations import LEAVES, Outline
from vademecum.code.languages.expression import LONGEST, chain, plain_type
from vademecum.code.languages.line_index import Lines
from vademecum.code.languages.narrowing import Told, narrowed
from vademecum.code.languages.owners import CALLABLE, Owners, Part, bodies, bound_anew, dividing
from vademecum.code.languages.parse import Syntax
from vademecum.code.languages.references import (
    EACH,
    GIVEN,
    ITSELF,
    LITERAL,
    NARROWED,
    RETURNED,
    SHADOW,
    TYPE,
    VALUE,
    VERSION,
    References,
)
from vademecum.code.languages.scopes import declaration_of, functions_around, is_nameless, parent_scopes

if TYPE_CHECKING:
    import tree_sitter


_MOST_TEXTS = 2_000  # of one file: a list of domains looks like paths
_OWN = re.compile(r"(?:self|cls|this|\$this)(?:\.|->)(#?[A-Za-z_]\w*)|@([A-Za-z_]\w*)")


def find_references(lines: Lines, syntax: Syntax, outline: Outline, language: str) -> str:
    r"""Return a file's references as JSON, "" where none were asked for.

    A language without a query has none, and neither has a file that is nested too deep.

    >>> from vademecum.code.languages.parse import parse
    >>> source = b"from a import B\n\ndef run(x: B):\n    x.go()\n"
    >>> syntax = parse(source, "python", references=True).unwrap()
    >>> found = References.load(find_references(Lines(source), syntax, Outline(source, syntax), "python"))
    >>> found.owners, found.imports, found.calls, found.bindings
    (['', 'run'], [[0, 1, 'B', 'a', 'B']], [[1, 4, 'x.go']], [[1, 3, 'x', 'type', 'B', 1]])
    """
    matches = syntax.referring
    if matches is None:
        return ""
    literals = sorted(captured["inner"][0].byte_range for _, captured in matches if "inner" in captured)
    parts = (
        dividing(matches, bodies(outline), languages.rules_of(language), lines.content),
        bound_anew(matches, lines.content),
    )
    finder = _Finder(lines, outline, language, literals, parts, narrowed(matches, outline))
    try:
        finder.take(matches)
    except RecursionError:  # nested deeper than Python goes: as a file that could not be parsed
        return ""
    finder.declared(outline)
    finder.settle()
    finder.named_in_texts()
    return finder.found.dump()


class _Finder:
    """Sorts matches of the query into rows."""

    def __init__(
        self,
        lines: Lines,
        outline: Outline,
        language: str,
        literals: Sequence[Part],
        divided: tuple[Sequence[Part], Mapping[int, Part]],
        told: Sequence[Told] = (),
    ) -> None:
        self.found = References(VERSION)
        self._lines = lines
        self._content = lines.content
        self._rules = languages.rules_of(language)
        self._bound_at: dict[int, int] = {}  # by place, the row of its binding
        self._constants = {each.qualified for each in outline.all if each.capture in LEAVES}
        self._again: list[int] = []  # the rows of names that are declared elsewhere
        self._subjects: list[tuple[int, int, str, str, str, int]] = []  # of tests, where none is written
        self._handed: list[tuple[int, int, str, str, str, int]] = []  # the `this` of lambdas, where no other is known
        self._documented: list[tuple[tree_sitter.Node, tree_sitter.Node]] = []  # declarations with their comments
        self._bare: list[tuple[int, int, str]] = []  # names that are calls unless they are variables
        self._told = {(each.start, each.end): each for each in told}
        blocks, self._anew = divided
        self._scopes = Owners(self.found, lines, self._rules)
        self._scopes.sweep(outline, literals, {*blocks, *self._anew.values()}, self._told.keys())
        self._line_starts = lines.starts
        # of a file in ASCII, as most are, a byte is a character: what is cut out of it need not be decoded each time
        self._ascii = lines.content.decode("ascii") if lines.content.isascii() else ""

    def _at(self, node: tree_sitter.Node) -> tuple[int, int]:
        """Return (owner, line) of a use."""
        start = node.start_byte
        return self._scopes.at(start), self._lines.number(start)

    def _used(self, node: tree_sitter.Node) -> tuple[int, int, str]:
        """Return (owner, line, text) of a use."""
        start, end = node.byte_range
        if end - start > LONGEST:
            end = start + LONGEST
        return (
            self._scopes.at(start),
            bisect_right(self._line_starts, start),
            self._ascii[start:end] or self._cut(start, end),
        )

    def _said(self, node: tree_sitter.Node) -> tuple[int, int, str]:
        """Return (owner, line, text) of a binding.

        What a part binds that only tells a type is bound in the function around it, a name bound anew in what follows.
        """
        owner, line, text = self._used(node)
        if part := self._anew.get(node.start_byte):
            owner = self._scopes.at(part[0])
        return self._scopes.holder(owner), line, text

    def _text(self, node: tree_sitter.Node) -> str:
        start, end = node.byte_range
        return self._cut(start, min(end, start + LONGEST))

    def _cut(self, start: int, end: int) -> str:
        return self._ascii[start:end] or self._content[start:end].decode(errors="ignore")

    def _whole(self, node: tree_sitter.Node) -> str:
        return self._cut(*node.byte_range)

    def take(self, matches: Iterable[tuple[int, Mapping[str, list[tree_sitter.Node]]]]) -> None:
        """Take matches, as a cursor gives them."""
        found, said = self.found, self._used
        plain = {"call": found.calls, "bare": self._bare, "load": found.loads, "new": found.news, "ref": found.types}
        places = {"static": found.statics, "getter": found.getters}
        for _, captured in matches:
            for name, nodes in captured.items():
                if name in plain:  # as nearly all are
                    owner, line, text = said(nodes[0])
                    if name in _AS_WRITTEN or (text := chain(text)):
                        plain[name].append((owner, line, text))
                elif name in _HANDLERS:
                    _HANDLERS[name](self, nodes[0], captured)
                elif name in places:
                    places[name].append(self._at(nodes[0]))
                else:
                    continue
                break

    def named_in_texts(self) -> None:
        """Take texts that may be the path of a declaration."""
        pattern = self._rules.path_in_text
        named = re.finditer(rb"([\"'])(" + pattern + rb")\1", self._content) if pattern else ()
        for text in islice(named, _MOST_TEXTS):
            start, end = text.span(2)
            owner = self._scopes.at(start)
            self.found.texts.append(
                (owner, self._lines.number(start), re.sub("::?", ".", self._cut(start, end)).lstrip("."))
            )

    def calling_method(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        holder = self._text(captured["object"][0]) if "object" in captured else ""
        receivers = [chain(holder)]
        if holder and receivers[0] in {"", "?"}:  # of `(a ?? b).run()` it is one or the other
            found = [chain(each) for each in self._rules.alternatives(captured["object"][0], self._text)]
            receivers = found if found and all(found) else receivers
        if holder and not receivers[0]:
            kind = captured["object"][0].type if self._rules.reopens else ""
            receivers = [f"'{kind}" if holder[0] in LITERALS else "?"]
        count = f"/{len(listed_nodes(captured['arguments'][0]))}" if "arguments" in captured else ""
        called = self._text(node) + count
        self.found.calls += [(*self._at(node), f"{each}.{called}" if holder else called) for each in receivers]

    def calling_by_trait(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        if holder := chain(self._text(captured["object"][0])):
            trait = self._text(node).rpartition("::")[2]
            self.found.calls.append((*self._at(node), f"{holder}.<{trait}>.{self._text(captured['_method'][0])}"))

    def inherited(self, node: tree_sitter.Node, _: Any) -> None:
        if node.parent is not None and node.parent.child_by_field_name("receiver") == node:
            return
        owner, line = self._at(node)
        if name := declaration_of(self.found.owners[owner]).rpartition(".")[2]:
            self.found.calls.append((owner, line, f"super.{name}"))

    def reading(self, node: tree_sitter.Node, _: Any) -> None:
        name = self._text(node)
        is_known = name[:1].isupper() or name in self._constants
        if not is_known and self._rules.implicit_self:
            around = parent_scopes(self.found.owners[self._scopes.at(node.start_byte)])
            is_known = any(f"{scope}.{name}" in self._constants for scope in around)
        if is_known:
            self.found.loads.append((*self._at(node), name))

    def setting(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        before = chain(self._text(captured["object"][0])) or "?"
        self.found.calls.append((*self._at(node), f"{before}.{self._text(node)}="))

    def parameters(self, node: tree_sitter.Node, _: Any) -> None:
        taken = listed_nodes(node)
        rest = sum(each.type in _RESTS for each in taken)
        self.found.arities.append((*self._at(node), len(taken) - rest, _NO_END if rest else len(taken)))

    def evaluating(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        """Take the parameters and `self` that a method may give its block."""
        if self._text(captured["given"][0]) in self._rules.common.split():
            return
        owner, line = self._at(node)
        text, parameters = handed_block(captured, self._text), node.child_by_field_name("parameters")
        self.found.bindings.append((owner, line, "self", GIVEN, f"{ITSELF}/{text}", owner))
        for place, each in enumerate(listed_nodes(parameters) if parameters is not None else ()):
            if each.type == "identifier":
                self._bind(each.start_byte, (owner, line, self._text(each), GIVEN, f"{place}/{text}", owner))

    def describing(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        owner, line = self._at(node)
        described = chain(self._text(captured["value"][0]))
        if "_new" in captured:
            self.found.bindings.append((owner, line, "self", VALUE, described, owner))
            return
        self.found.bindings.append((owner, line, "described_class", VALUE, described, owner))
        self._subjects.append((owner, line, "subject", VALUE, f"{described}.new", owner))

    def mixing(self, node: tree_sitter.Node, _: Any) -> None:
        owner, line, name = self._said(node)
        if not owner or is_nameless(self.found.owners[owner]):
            self.found.bindings.append((owner, line, "self", TYPE, name, owner))

    def taking(self, node: tree_sitter.Node, _: Any) -> None:
        self.found.takes += [(*self._at(node), *each) for each in self._rules.taken(node, self._text)]

    def calling_in_macro(self, node: tree_sitter.Node, _: Any) -> None:
        if (spelled := self._rules.call_of_tokens(node)) and (named := chain(spelled)):
            self.found.calls.append((*self._at(node), named))

    def importing(self, node: tree_sitter.Node, _: Any) -> None:
        owner, line = self._at(node)
        self.found.imports += [
            (self._scopes.holder(owner), line, *bound) for bound in self._rules.imported(self._whole(node))
        ]

    def exporting(self, node: tree_sitter.Node, _: Any) -> None:
        line = self._lines.number(node.start_byte)
        self.found.exports += [(0, line, *bound) for bound in self._rules.exported(node, self._text, self._whole)]

    def package(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        package = self._text(node).replace("\\", ".").replace("::", ".")
        self.found.package = self._rules.package(self.found.package, package)
        if "space" in captured and not self._rules.is_transparent(node):
            lines = [self._lines.number(place) for place in captured["space"][0].byte_range]
            self.found.spaces.append((lines[0], lines[1], package))

    def returning(self, node: tree_sitter.Node, _: Any) -> None:
        if self._text(node) == "auto":  # which stands before the type in C++
            return
        owner, line = self._at(node)
        first, *others = self._rules.results(node, self._text) or ("",)
        self.found.returns.append((owner, line, TYPE, first))
        self.found.bindings += [(owner, line, f"{n}", TYPE, text, owner) for n, text in enumerate(others, 1)]

    def resulting(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        owner, line, name = self._said(node)
        spelled, listed = chain(self._text(captured["result"][0])), node.parent.named_children if node.parent else ()
        if spelled.endswith("()"):
            text = f"{spelled[:-2]}.{sum(each.end_byte <= node.start_byte for each in listed)}"
            self._bind(node.start_byte, (owner, line, name, VALUE, text, owner))

    def elements(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        owner, line, name = self._said(captured["collection"][0])
        own = self.found.owners[owner]
        holder = owner if own.rpartition(".")[2] == name else self._scopes.number(f"{own}.{name}" if own else name)
        self.found.bindings.append((holder, line, EACH, TYPE, self._text(node), owner))

    def returned(self, node: tree_sitter.Node, _: Any) -> None:
        owner, line = self._at(node)
        owner = self._scopes.holder(owner)
        if owner and (written := self._rules.written_out(node)) is not None:
            self.found.returns.append((owner, line, VALUE, RETURNED))
            self._take_members(self._scopes.number(f"{self.found.owners[owner]}.{RETURNED}"), owner, line, written)
            return
        chains = [chain(text) for text in self._rules.alternatives(node, self._text) or (self._text(node),)]
        if all(chains) or self._rules.calls_bare:  # there every function returns something, perhaps nobody knows what
            self.found.returns += [(owner, line, VALUE, spelled or "?") for spelled in chains]

    def embedded(self, node: tree_sitter.Node, _: Any) -> None:
        self.found.bases.append((*self._at(node), self._text(node)))

    def binding(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        """Take a bound name and its value or type."""
        owner, line, name = self._said(node)
        how = how_bound(captured)
        giving = self._rules.giving(captured[how][0]) if how in captured else node
        text = self._text(giving) if how in captured else ""
        text += "[]" * (how == TYPE and giving.parent is not None and giving.parent.type in _RESTS)
        if how == GIVEN:
            text = handed(node, captured, self._text)
        if how == VALUE and self._rules.assigns_modules and self._assigned(owner, line, node, captured[how][0]):
            return
        if name[:1] in _OPENING:
            self._take_apart(node, captured, how)
            return
        scope = self._scopes.at(giving.start_byte if how == VALUE else node.start_byte)
        own = None if name.isidentifier() else _OWN.fullmatch(name)
        if own:
            owner, name = self._scopes.class_of(owner), own[1] or own[2]
        name = name.lstrip("*& :").removeprefix("mut ")
        is_function = node.parent is not None and node.parent.type == "variable_declarator"
        is_own = (
            is_function
            and self._scopes.kinds.get(owner) in CALLABLE
            and f".{self.found.owners[owner]}".endswith(f".{name}")
        )
        if is_own or not name.removeprefix("#").replace("$", "_").isidentifier():
            return  # of a function that is a constant: a name of its own
        values = [held(how, text)]
        if how == VALUE and (several := self._rules.alternatives(captured[how][0], self._text)):
            values = [held(how, each) for each in several]
            values = [each for each in values if each != (SHADOW, LITERAL)] or values  # `given || {}` is what is given
        if node.start_byte not in self._bound_at:  # two patterns may bind one name
            self.found.bindings += [(owner, line, name, *each, scope) for each in values[1:]]
        self._bind(node.start_byte, (owner, line, name, *values[0], scope))

    def _take_apart(self, pattern: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]], how: str) -> None:
        """Bind the names of a pattern to members of a value."""
        text = self._text(captured[how][0]) if how != SHADOW else ""
        base = {TYPE: f"{plain_type(text)}()", EACH: f"{chain(text)}[]", VALUE: chain(text)}.get(how, "")
        base = base if base[:1] not in "([" and "[](" not in base else ""
        types = dict(self._rules.member_types(captured[TYPE][0], self._text)) if how == TYPE else {}
        for node, path in self._rules.taken_apart(pattern, self._text):
            owner, line, name = self._said(node)
            known = (
                (TYPE, types[path[1:]]) if path[1:] in types else (VALUE, f"{base or '?'}{path}" if path else _UNCLEAR)
            )
            self._bind(node.start_byte, (owner, line, name, *known, owner))

    def parting(self, node: tree_sitter.Node, _: Any) -> None:
        for name, path in self._rules.taken_apart(node, self._text):
            owner, line, text = self._said(name)
            self._bind(name.start_byte, (owner, line, text, VALUE, chain(path), self._at(name)[0]))
            self.found.loads.append((*self._at(name), chain(path)))

    def numbering(self, node: tree_sitter.Node, _: Any) -> None:
        owner, line = self._at(node)
        variant = node.parent.child_by_field_name("name") if node.parent is not None else None
        own = self._text(variant) if variant is not None else ""
        around = self.found.owners[owner]
        holder = owner if around.rpartition(".")[2] == own else self._scopes.number(f"{around}.{own}")
        for number, written in enumerate(node.children_by_field_name("type")):
            self.found.bindings.append((holder, line, str(number), TYPE, self._text(written), owner))

    def implied(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        if self._rules.implied.encode() not in (node.text or b"") or node.named_children[0].type == "lambda_parameters":
            return
        owner, line = self._at(node.named_children[0])
        how = how_bound(captured)
        how, text = held(how, self._text(captured[how][0]) if how in captured else "")
        self._bind(node.start_byte, (owner, line, self._rules.implied, how, text, owner))

    def handing(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        """Take the parameters and `this` that a function may give a lambda."""
        owner, line = self._at(first := node.named_children[0])
        spelled = chain(self._text(captured["given"][0]))
        if not spelled or not is_nameless(self.found.owners[owner]):
            return
        around = self._scopes.number(self.found.owners[owner].rpartition(".")[0])
        self._handed.append((owner, line, "this", GIVEN, f"0/0/{spelled}", around))
        listed = first.named_children if first.type == "lambda_parameters" else ()
        for place, each in enumerate(listed):
            if each.type == "variable_declaration" and len(each.named_children) == 1:
                self._bind(each.start_byte, (owner, line, self._text(each), GIVEN, f"{place}/1/{spelled}", around))
        if not listed and self._rules.implied.encode() in (node.text or b""):
            self._bind(node.start_byte, (owner, line, self._rules.implied, GIVEN, f"0/1/{spelled}", around))

    def receiving(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        (owner, line), value = self._at(node.named_children[0]), captured[VALUE][0]
        if is_nameless(self.found.owners[owner]):
            bound = held(VALUE, self._text(value))
            self.found.bindings.append((owner, line, "this", *bound, self._at(value)[0]))

    def sharing(self, node: tree_sitter.Node, _: Any) -> None:
        self.found.bindings.append((0, self._lines.number(node.start_byte), self._text(node), SHADOW, "", 0))

    def declaring(self, node: tree_sitter.Node, _: Any) -> None:
        owner, line, name = self._said(node)
        self._bind(node.start_byte, (owner, line, name, VALUE, _NO_VALUE, owner))

    def binding_again(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        before = len(self.found.bindings)
        self.binding(node, captured)
        self._again += range(before, len(self.found.bindings))

    def settle(self) -> None:
        """Bind names that are given a value where they are declared, too."""
        rows, again = self.found.bindings, set(self._again)
        within = functions_around(self.found.owners, self.found.within)
        declared = {(row[0], row[2]) for number, row in enumerate(rows) if number not in again}
        for number in self._again:
            owner, _, name = rows[number][:3]
            for around in (*parent_scopes(self.found.owners[owner], within), ""):
                place = self._scopes.numbers.get(around, -1)
                own = self._scopes.numbers.get(f"{around}.{name}".lstrip("."), -1)
                if self._scopes.kinds.get(own) in CALLABLE:
                    rows[number] = (place, *rows[number][1:])
                    break
                if (place, name) in declared:
                    if place != owner:
                        rows.append((place, *rows[number][1:]))
                    break
        bound: dict[str, list[int]] = {}
        for at, row in sorted(self._bound_at.items()) if self._told else ():
            bound.setdefault(rows[row][2], []).append(at)
        for told in self._told.values():
            subject, owner = chain(self._text(told.subject)), self._scopes.at(told.start)
            places = sorted(at for name in subject.split(".") for at in bound.get(name, ()))
            if bisect_left(places, told.start) == bisect_left(places, told.end):  # bound again it is something else
                rows.append((owner, self._lines.number(told.start), subject, NARROWED, self._text(told.kind), owner))
        rows += self._subjects if not any(row[2] == "subject" for row in rows) else ()
        received = {row[0] for row in rows if row[2] == "this"}
        rows += [row for row in self._handed if row[0] not in received]
        self.found.calls += unbound(self.found, self._bare)
        self._settle_documented()
        if self._rules.numbers_fields:
            forget_unbound(self.found, self._constants, self._lines)

    def documenting(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        self._documented.append((node, captured["docs"][0]))

    def _settle_documented(self) -> None:
        """Take the types that comments tell of names and results."""
        for node, comment in self._documented:
            for name, typed in self._rules.documented(node, self._whole(comment)):
                if name is None:
                    owner, line = self._at(node.child_by_field_name("parameters") or node)
                    self.found.returns.insert(0, (owner, line, TYPE, typed))  # before a type that says less
                    continue
                owner, line, text = self._said(name)
                at = self._bound_at.setdefault(name.start_byte, len(self.found.bindings))
                self.found.bindings[at : at + 1] = [(owner, line, text, TYPE, typed, owner)]
                if (at := self._bound_at.get(~name.start_byte, -1)) >= 0:  # the field that a parameter makes
                    self.found.bindings[at] = (self.found.bindings[at][0], line, text, TYPE, typed, owner)

    def holding(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        """Take the members of an object literal, bound by its name."""
        owner, line, name = self._said(node)
        around = self.found.owners[owner]
        is_owner = around.rpartition(".")[2] == name  # an object with methods is a declaration itself
        holder = owner if is_owner else self._scopes.number(f"{around}.{name}" if around else name)
        self._take_members(holder, owner, line, captured["members"][0])

    def _take_members(self, holder: int, owner: int, line: int, written: tree_sitter.Node) -> None:
        for key, spelled in self._rules.members(written, self._text):
            self.found.bindings.append((holder, line, key, VALUE, spelled, owner))

    def _bind(self, at: int, row: tuple[int, int, str, str, str, int]) -> None:
        """Keep one binding for each place, the more telling one."""
        known = self._bound_at.get(at)
        if known is None or not {row[3], self.found.bindings[known][3]} & _WEAK:
            self._bound_at[at] = len(self.found.bindings)
            self.found.bindings.append(row)
        elif row[3] not in _WEAK or self.found.bindings[known][3] == SHADOW:
            self.found.bindings[known] = row

    def _assigned(self, owner: int, line: int, bound_to: tree_sitter.Node, held: tree_sitter.Node) -> bool:
        """Take an assignment's imports or exports; return whether it has any."""
        taken = self._rules.assigned(bound_to, held, self._text, self._whole)
        if taken is None:
            return False
        imports, exports = taken
        self.found.imports += [(owner, line, *each) for each in imports]
        self.found.exports += [(0, line, *each) for each in exports]
        return True

    def aliasing(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        if not self._rules.is_alias(node, bounded="type" in captured):
            return
        meant = self._text(captured["type"][0]) if "type" in captured else ""
        owner, line = self._at(node)
        if (alias := self._rules.alias_around(node)) is not None:  # no scope, yet its parameters are read in it
            owner = self._scopes.number(f"{self.found.owners[owner]}.{self._text(alias)}".lstrip("."))
        self.found.aliases.append((owner, line, self._text(node).lstrip(":"), meant))

    def may_be_left_out(self, node: tree_sitter.Node, _: Any) -> None:
        name, start = node.child_by_field_name("name"), node.start_byte
        if not self._rules.is_guarded(node) and (name is not None or self._scopes.begins(start)):
            owner = self._scopes.at(start) if name is None else self._scopes.number(self._text(name))
            self.found.conditional.append((owner, self._lines.number(start)))

    def fielded(self, node: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]]) -> None:
        owner, line = self._at(node)
        if "type" in captured:
            held = self._text(captured["type"][0])
            self._bound_at[~node.start_byte] = len(self.found.bindings)
            self.found.bindings.append((self._scopes.class_of(owner), line, self._text(node), TYPE, held, owner))

    def declared(self, outline: Outline) -> None:
        """Take bases and decorators, and packages that no parser sees."""
        for package in self._rules.hidden_packages(self._content):
            self.found.package = self._rules.package(self.found.package, package)
        for declaration in outline.all:
            if not declaration.qualified or not (declaration.bases or declaration.decorators):
                continue
            line = self._lines.number(declaration.core)
            owner = self._scopes.number(self.found.known(declaration.qualified, line))
            self.found.bases += [(owner, line, base) for base in declaration.bases]
            for decorator in declaration.decorators:
                if spelled := chain(decorator.partition("(")[0]):
                    self.found.loads.append((owner, line, spelled))


_WEAK = frozenset({GIVEN, SHADOW})  # what the binding of a place by something else replaces
_RESTS = frozenset({"spread_parameter", "variadic_parameter", "variadic_parameter_declaration"})
_NO_END = 1 << 16
_NO_VALUE = "undefined"
_OPENING = frozenset("{[")  # a pattern, of what is taken apart
_UNCLEAR = "?.?"  # a member of which the name is not known
_AS_WRITTEN = frozenset({"new", "ref"})  # kept whole, where others are kept as chains
_HANDLERS = {
    "constant": _Finder.reading, "inherited": _Finder.inherited, "setter": _Finder.setting, "pattern": _Finder.parting, "fields": _Finder.numbering,
    "documented": _Finder.documenting, "parameters": _Finder.parameters, "taking": _Finder.taking, "evaluated": _Finder.evaluating, "described": _Finder.describing, "mixed": _Finder.mixing, "trait": _Finder.calling_by_trait, "method": _Finder.calling_method, "token": _Finder.calling_in_macro, "using": _Finder.importing, "exporting": _Finder.exporting,
    "package": _Finder.package, "return": _Finder.returning, "returned": _Finder.returned,
    "embedded": _Finder.embedded, "holder": _Finder.holding, "alias": _Finder.aliasing, "field": _Finder.fielded, "name": _Finder.binding,
    "again": _Finder.binding_again, "declared": _Finder.declaring, "global": _Finder.sharing, "implied": _Finder.implied, "receiving": _Finder.receiving, "handing": _Finder.handing, "elements": _Finder.elements, "further": _Finder.resulting,
    "conditional": _Finder.may_be_left_out,
}  # fmt: skip

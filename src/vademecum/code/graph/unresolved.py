"""Places that write a name and have no edge.

An occurrence is accounted for where something is known of it: it is the definition, of this or of another thing; what is
around it has an edge to something of that name; the name is bound there to something else; it is a call on a receiver, which was
judged when edges were made. In a file with syntax errors nothing but the first and an edge to what is asked for counts. What is
left may be a reference, but for comments, prose, lists of exports, paths of modules and text in strings of several words that
does not call the name.

Which files hold a name is read from the index's terms; what stands at the occurrences that are left is told by their characters
(`lexical`). Only where these do not tell files are parsed again, and not without end: what is not parsed counts as left.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vademecum.code.checkout.classify import file_kind
from vademecum.code.graph.graph import ANY, Graph
from vademecum.code.graph.parse_cache import MOST_KEPT, Examined, Shelf
from vademecum.code.graph.terms import Node, Relation, Tier, node_id
from vademecum.code.languages import has_references, language_of, rules_of
from vademecum.code.languages.declarations import FUNCTIONS, LEAVES
from vademecum.code.languages.references import GIVEN, NARROWED, References
from vademecum.code.languages.scopes import CLASSES, declaration_of, is_nameless
from vademecum.code.search.signals import holding
from vademecum.code.search.verdict import whole_words
from vademecum.code.snapshot.view import LEFT_OUT
from vademecum.types import FileKind

if TYPE_CHECKING:
    import tree_sitter

MOST_READ = MOST_KEPT  # bytes of files that write the names of one question
READ_AT_ONCE = 256  # files
MOST_PARSED = 500_000  # bytes whose syntax tree is asked for one question: at most some 60 ms
_SHELF = Shelf(Examined)
_OVERRIDING = frozenset({Relation.INHERITS, Relation.IMPLEMENTS})
_OWN = re.compile(rb"(?:\bself|\bthis|\bcls|\bstatic|\bsuper\(\))\s*(?:\?\.|\.|->|::)\s*$")
_JOINTS = (b".", b"::")
_CALLED = re.compile(rb"\s*(?:\?\.)?\(")
_PARTED = re.compile(rb"\w[@#]\Z")  # before the method in a text: `"Shop@settle"`
_IN_MACRO = re.compile(rb"\w![(\[{][^;]*$")  # Rust's, which may write a method's name alone
_KEY = re.compile(rb"[\"']\s*:|[ \t]+\w")  # behind a key, or a word of a sentence
_SENTENCE = re.compile(rb"\w[,.]?[ \t]+\Z")  # before one
# Data that tools read, and look names up by its keys; notebooks, whose texts are code.
_CONFIG = re.compile(
    r"(?:^|/)(?:\.[^/]*/.*|\..*|(?:package|composer|manifest|[\w.-]*(?:conf(?:ig)?|settings|rc))\.json\w?|[^/]*\.ipynb)$"
)
_CLOSES = re.compile(rb"\s*[,}:=]")
_BRACKETS = re.compile(rb"[()\[\]{}]")
_OBJECT = 2000  # bytes of an object that is written out, before one of its members
_QUOTES = frozenset((b'"', b"'", b"`"))
_DECORATES = (b"@", b"#[", b"[")
_COMMENTS = (b"# ", b"##", b"//", b";")  # begin a line of a file that no parser reads; `#define` is code
# A list of what a module exports: `__all__ = ["a", "`, `export { a, `.
_EXPORTS = re.compile(
    rb"(?:\b__all__\s*(?:\+?=|\.extend\()\s*[\[(][\s\w\"',#]*[\"']|\bexport\s+(?:type\s+)?\{[\s\w,$]*)$"
)
_DEFAULT, _ENDS = re.compile(rb"\bexport\s+default\s+$"), re.compile(rb"[ \t]*(?:[;\r\n]|$)")
_LISTED = 4_000  # bytes before a name in such a list
_RECEIVER = re.compile(rb"(?<![\w$])[\w$][\w$.:?>-]*$")
_REACH = 80  # bytes before and after an occurrence that say how it is written


class Wanted:
    """One name, its nodes in question, and their edges."""

    def __init__(self, graph: Graph, name: str, nodes: Sequence[Node], reached: set[int]) -> None:
        self.graph, self.name = graph, name
        self.spelled = re.sub(r"(?<=\w)=$", "", name)  # Ruby's `name=` is written `x.name = 1`
        self.written = self.spelled.encode("utf-8", "replace")
        self.asked = {node.id for node in nodes}
        above = graph.nodes(node.parent for node in nodes)
        self.is_member = all(
            not _is_bare(node) and (node.parent not in above or above[node.parent].kind not in FUNCTIONS)
            for node in nodes
        )  # fmt: skip
        self.homes = {node.path for node in nodes}
        self.at_top = {node.path for node in nodes if _is_bare(node)}
        # Between a constant and a declaration may stand a function without a name, which names the declaration bare.
        # In C, and in a `switch` of Java, so are the members of an enum.
        self.may_be_bare = any(
            above[node.parent].kind in {"constant", "enum"} for node in nodes if node.parent in above
        )
        self.is_function = all(_is_bare(node) and node.kind in FUNCTIONS - {"method"} for node in nodes)
        self.is_called = self.is_member and all(node.kind in FUNCTIONS for node in nodes)
        known = graph.with_name(name)
        edges = graph.edges([node.id for node in known], ANY, into=True, tiers=tuple(Tier))
        own = self.asked | reached
        used = {edge.target for edge in edges} - own
        declared = _declared(graph, [node for node in known if node.id in used])
        classes = {node.id for node in known if node.kind in CLASSES}  # what overrides another member is no use of it
        edges = [each for each in edges if each.relation not in _OVERRIDING or each.target in classes]
        if graph.opened.repo.catalogue.with_errors().intersection(self.declared):  # guesses may mean one that is lost
            edges = [each for each in edges if each.tier is not Tier.GUESS or each.target in own]
        bare = {node.id for node in known if _is_bare(node)}
        # By user, the lines; of another thing so named; and of a member of an interface, by which a call may run any.
        self.sources: dict[int, set[int]] = {}
        self.others: dict[int, set[int]] = {}
        self.shared: dict[int, set[int]] = {}
        for edge in edges:
            if edge.target in own:
                self.sources.setdefault(edge.source, set()).add(edge.line)
            else:
                self.others.setdefault(edge.source, set()).add(edge.line)
                if self.is_member and edge.target in declared:
                    self.shared.setdefault(edge.source, set()).add(edge.line)
        self.others_bare = {edge.source for edge in edges if edge.target not in own and edge.target in bare}

    @cached_property
    def declared(self) -> dict[int, list[tuple[int, int, str]]]:
        """By blob: lines and qualified name of each declaration so named."""
        found: dict[int, list[tuple[int, int, str]]] = {}
        columns = ("blob", "name", "qualified", "start_line", "end_line")
        rows = self.graph.opened.repo.catalogue.symbols([("name", "=", self.name)], columns)
        for blob, name, qualified, first, last in rows:
            if name == self.name:  # the catalogue finds any spelling
                found.setdefault(blob, []).append((first, last, qualified))
        return found

    @cached_property
    def places(self) -> set[str]:
        """The paths of files that the graph knows to use the name."""
        return {node.path for node in self.graph.nodes(self.asked | self.sources.keys() | self.others.keys()).values()}

    @cached_property
    def path_parts(self) -> frozenset[str]:
        """The names of modules and folders of the repository."""
        paths = self.graph.opened.view.files.paths
        return frozenset(chain.from_iterable(path.replace("/", ".").split(".") for path in paths))


def lines_naming(
    graph: Graph,
    nodes: Sequence[Node],
    reached: Sequence[Node],
    may_refer: NDArray[np.bool_],
    unresolved: Container[str] = (),
) -> dict[str, set[int]]:
    """Return lines that write a name without a known meaning, by path.

    A file has no lines that may write the name and was not read: a name that stands in very many files is not followed
    through all of them, nor is every file parsed.

    Args:
        graph: the graph.
        nodes: the declarations; files among them are passed over.
        reached: those that stand for them, and whose users are known.
        may_refer: bool (F,): whether what is written in a file may refer to them.
        unresolved: paths with calls of these names that could not be resolved.
    """
    files, catalogue = graph.opened.view.files, graph.opened.repo.catalogue
    broken = catalogue.with_errors()
    by_name: dict[str, list[Node]] = {}
    for node in nodes:
        if node.qualified:
            by_name.setdefault(node.name, []).append(node)
    found: dict[str, set[int]] = {}
    to_read, to_parse = MOST_READ, MOST_PARSED
    for name, own in by_name.items():
        wanted = Wanted(graph, name, own, {node.id for node in reached})
        numbers = np.flatnonzero(holding(graph.opened.view, wanted.spelled) & may_refer & (files.blobs != LEFT_OUT))
        for part in np.array_split(numbers, len(numbers) // READ_AT_ONCE + 1):
            blobs = files.blobs[part].tolist()
            contents = catalogue.contents(set(blobs)) if to_read > 0 else {}
            for number, blob in zip(part.tolist(), blobs, strict=True):
                path = files.paths[number]
                # terms are looked up in any spelling: most of these files write another one
                if contents and wanted.written not in contents[blob]:
                    continue
                if to_read <= 0:
                    found.setdefault(path, set())
                    continue
                examined = _SHELF.of(path, contents[blob], files.language(number))
                is_broken = blob in broken and not graph.proofs.hold(path)
                lines, parsed = _Place(wanted, blob, examined, path in unresolved, is_broken).lines(to_parse)
                to_read, to_parse = to_read - len(contents[blob]), to_parse - parsed
                if lines:
                    found.setdefault(path, set()).update(lines)
    return found


@dataclass(eq=False)
class _Place:
    """One file that may hold the name."""

    wanted: Wanted
    blob: int
    examined: Examined
    has_unresolved: bool  # calls of the name
    is_broken: bool  # the grammar found errors

    def __post_init__(self) -> None:
        """Keep often used parts at hand."""
        self.path, self.content = self.examined.path, self.examined.content
        self._rules = rules_of(self.examined.language)
        self._is_read = has_references(self.examined.language)
        self._is_met = self.path in self.wanted.places
        self._arounds: dict[int, list[Node]] = {}

    def lines(self, most: int) -> tuple[set[int], int]:
        """Return the lines with the name unexplained, and the bytes parsed.

        Where that would be more than `most`, a place that only a parser tells from code counts as code.
        """
        told = [(start, self.examined.lexed.is_code(start, end)) for start, end in self.left()]
        found = [start for start, is_code in told if is_code]
        untold = [start for start, is_code in told if is_code is None]
        is_parsed = bool(untold) and len(self.content) <= most
        found += filter(self._is_code, untold) if is_parsed else untold
        return set(map(self._line, found)), len(self.content) if is_parsed else 0

    @cached_property
    def _nodes(self) -> list[Node]:
        return self.examined.holders(self._holders)

    def _holders(self) -> list[Node]:
        """Return the file's declarations that may hold code, the innermost first."""
        nodes = self.wanted.graph.overloads(self.wanted.graph.in_files([self.path]))
        found = [node for node in nodes if node.qualified and node.kind not in LEAVES - {"constant"}]
        return sorted(found, key=lambda node: (node.end_line - node.start_line, -node.start_line))

    @cached_property
    def _refs(self) -> References:
        return self.examined.references(self._stored)

    def _stored(self) -> str:
        """Return the stored references of the file."""
        rows = self.wanted.graph.opened.repo.catalogue.store.get("mentions", [(self.blob,)]).unwrap()
        return str(rows[0][1]) if rows else ""

    @cached_property
    def _bound(self) -> set[str]:
        """The qualified names of scopes that bind the name themselves.

        A name that is taken out of an object or a list may be the one that is wanted.
        """
        name, owners = self.wanted.name, self._refs.owners
        bound = [row for row in self._refs.bindings if row[2] == name and row[3] != NARROWED]
        taken_out = ("?.?", f".{name}", "[]")
        return {declaration_of(owners[row[0]]) for row in bound if not row[4].endswith(taken_out)}

    @cached_property
    def _judged(self) -> set[int]:
        """The first lines of calls of the name that have been judged."""
        ending = f".{self.wanted.name}"
        return {line for _, line, spelled in self._refs.calls if spelled.partition("/")[0].endswith(ending)}

    @cached_property
    def _handed_on(self) -> set[int]:
        """The lines that hand a call on to another object: `delegate :name`."""
        return {line for _, line, spelled in self._refs.calls if spelled == f"?.{self.wanted.name}"}

    @cached_property
    def _importing(self) -> set[int]:
        """The lines that import or export a module of the name."""
        rows = (*self._refs.imports, *self._refs.exports)
        return {row[1] for row in rows if self.wanted.name in row[3].split("/")}

    @cached_property
    def _is_own(self) -> bool:
        """Return whether the bare name means another thing all over the file."""
        wanted, itself = self.wanted, node_id(self.path)
        imported = [row for row in self._refs.imports if row[2] == wanted.name]
        tops = [qualified for *_, qualified in wanted.declared.get(self.blob, ()) if qualified == wanted.name]
        if imported and tops:
            return False  # a function without a name declares the name too
        if imported:
            said = {part for row in imported for part in re.split(r"\W+", row[3])} - {""}
            is_outside = bool(said) and said.isdisjoint(wanted.path_parts)
            return is_outside or (itself in wanted.others_bare and itself not in wanted.sources)
        return self._rules.is_lexical and bool(tops) and self.path not in wanted.at_top

    def left(self) -> Iterator[tuple[int, int]]:
        """Yield start and end of each unexplained place, in bytes."""
        defined = [(first, last) for first, last, _ in self.wanted.declared.get(self.blob, ())]
        for start, end in whole_words(self.content, self.wanted.written):
            if defined:
                line = self._line(start)
                here = next((each for each in defined if each[0] <= line <= each[1]), None)
                if here is not None:
                    defined.remove(here)  # the first in its lines is the definition itself
                    if line not in self._handed_on:
                        continue
            is_told = self.wanted.graph.proofs.tells(self.path, self._line(start), self.wanted.name)
            if not is_told and not self._is_accounted(start, end):
                yield start, end

    def _line(self, at: int) -> int:
        return self.examined.lines.number(at)

    def _is_accounted(self, start: int, end: int) -> bool:
        wanted, owners = self.wanted, self._owners(self._line(start)) if self._is_met else set()
        users = owners & wanted.sources.keys()
        if users or self._is_in_asked(start) or self._is_in_decorator(start):
            return not users or any(self._is_told(each, self._line(start)) for each in users)
        if self.is_broken:
            return False
        before = self.content[max(0, start - _REACH) : start]
        joined = before.rstrip()
        if self._is_on(wanted.shared, owners, start):
            return False
        if joined.endswith(_JOINTS) or before.endswith(b"->"):  # before a blank an arrow begins what a lambda does
            is_other = not self.has_unresolved and self._is_on(wanted.others, owners, start)
            return is_other or self._is_other_member(joined, start, end)
        is_label = self._is_label(before, start, end)
        if is_label or before[-1:] in _QUOTES:
            return is_label
        return bool(owners & wanted.others_bare) or self._is_other(joined, start, end)

    def _is_told(self, user: int, line: int) -> bool:
        """Return whether an edge tells of a user in a line.

        Overloads are one node, and each has to be told of.
        """
        places = [range(each.start_line, each.end_line + 1) for each in self._nodes if each.id == user]
        own = next((place for place in places if line in place), None)
        told = self.wanted.sources[user]
        return own is None or len(places) < 2 or any(each in own or not any(each in p for p in places) for each in told)

    def _is_label(self, before: bytes, start: int, end: int) -> bool:
        """Return whether a text is an export, module path, heading or key."""
        if _EXPORTS.search(self.content, max(0, start - _LISTED), start):
            return True
        if _DEFAULT.search(before) and _ENDS.match(self.content, end):
            return True
        is_told = _KEY.match(self.content, end) or (
            _SENTENCE.search(before) and self.content[end : end + 1] not in {b"(", b"."}
        )
        if self._rules.is_data and is_told:
            return not _CONFIG.search(self.path)
        if before[-1:] == b"#":
            return before[-2:-1] in _QUOTES
        if before[-1:] in _QUOTES and file_kind(self.path) is FileKind.GENERATED:
            return True  # it names what it was made of
        return (before[-1:] == b"/" or before[-1:] in _QUOTES) and self._line(start) in self._importing

    def _is_on(self, uses: Mapping[int, set[int]], owners: Iterable[int], at: int) -> bool:
        """Return whether lines of uses hold the name, perhaps by its receiver."""
        lines = set().union(*(uses.get(each, ()) for each in owners))
        if not lines:
            return False
        said = _RECEIVER.search(self.content, max(0, at - _REACH), at)
        written = said and re.compile(rb"(?<![\w$.>])" + re.escape(said[0] + self.wanted.written) + rb"(?![\w$])")
        same = written and any(written.search(self._said(line).partition(b"\n")[0]) for line in lines)
        return self._line(at) in lines or bool(same)

    def _is_in_asked(self, at: int) -> bool:
        """Return whether a place stands in a declaration that is asked for."""
        around = self._around(self._line(at)) if self._is_met else ()
        return any(node.id in self.wanted.asked for node in around)

    def _is_in_decorator(self, at: int) -> bool:
        """Return whether a decorator, which its surroundings refer by, has an edge."""
        line = self._line(at)
        if not self._is_met or not self._said(line).startswith(_DECORATES):
            return False
        around = next((node.id for node in self._nodes if node.start_line <= line <= node.end_line), node_id(self.path))
        return around in self.wanted.sources

    def _owners(self, line: int) -> set[int]:
        """Return the ids of the declarations that may refer in a line."""
        around = self._around(line)
        first = next((place for place, node in enumerate(around) if node.kind != "constant"), len(around))
        return {node.id for node in around[: first + 1]} | ({node_id(self.path)} if first == len(around) else set())

    def _around(self, line: int) -> list[Node]:
        """Return the declarations around a line, innermost first.

        A decorator counts as the declaration below.
        """
        if line not in self._arounds:
            at = line
            if self._said(line).startswith(_DECORATES):
                at = min((node.start_line for node in self._nodes if node.start_line >= line), default=line)
            self._arounds[line] = [node for node in self._nodes if node.start_line <= at <= node.end_line]
        return self._arounds[line]

    def _is_other_member(self, joined: bytes, start: int, end: int) -> bool:
        """Return whether `x.name` is another's, or has been judged.

        `joined` is the text before the name.
        """
        wanted = self.wanted
        if _OWN.search(joined):
            return not self._may_be_own(start)
        if wanted.is_function and self._is_read and not self._rules.may_join_function(joined, self._refs):
            return True
        if not (wanted.is_called and self._is_read and _CALLED.match(self.content, end)):
            return False
        if self.has_unresolved:
            return False
        line = self._line(start)
        while line > 1 and self._said(line).startswith((b".", b"?.", b"->")):  # a chain goes on from above
            line -= 1
        return line in self._judged

    def _may_be_own(self, start: int) -> bool:
        """Return whether `this.name` may mean the wanted name."""
        wanted, line = self.wanted, self._line(start)
        # a method may give its object a function, and in Kotlin another object be `this` in a lambda
        is_given = self._rules.nests_functions and not wanted.is_member and self.path in wanted.homes
        if is_given or any(row[2] == "this" and row[3] != GIVEN for row in self._refs.bindings):
            return True
        # outside of classes: what is exported, or a class without a name
        is_free = not any(node.kind in CLASSES for node in self._around(line))
        return (wanted.is_member or is_free) and not self._has_its_own(line)

    def _has_its_own(self, line: int) -> bool:
        """Return whether the class around has a different member so named."""
        holder = next((node.qualified for node in self._around(line) if node.kind in CLASSES), "")
        own = f"{holder}.{self.wanted.name}"
        is_there = holder in self._bound or any(own == each[2] for each in self.wanted.declared.get(self.blob, ()))
        return bool(holder) and is_there and node_id(self.path, own) not in self.wanted.asked

    def _is_other(self, before: bytes, start: int, end: int) -> bool:
        """Return whether the bare name is known to mean another thing."""
        if not self._is_read:
            return False
        if self._is_declared_around(self._line(start)):
            return True
        may_be_bare = self._rules.implicit_self or self._rules.has_markup or self.wanted.may_be_bare
        may_be_bare = may_be_bare or _PARTED.search(before) is not None
        if self.wanted.is_member and not may_be_bare:
            if self._rules.has_shorthand and self._is_shorthand(before, start, end):
                return False
            if self._rules.nests_functions:
                return True
            around = self._around(self._line(start))
            is_named_bare = any(node.kind in CLASSES for node in around[:1]) or _IN_MACRO.search(before)
            return not is_named_bare or (bool(self._bound) and self._is_local(before, self._line(start)))
        return self._is_own or (bool(self._bound) and self._is_local(before, self._line(start)))

    def _is_declared_around(self, line: int) -> bool:
        """Return whether a function around declares another of the name."""
        declared = {qualified for *_, qualified in self.wanted.declared.get(self.blob, ()) if "." in qualified}
        around = (node for node in self._around(line) if node.kind in FUNCTIONS) if declared else ()
        own = next((each for node in around if (each := f"{node.qualified}.{self.wanted.name}") in declared), "")
        return bool(own) and node_id(self.path, own) not in self.wanted.asked

    def _is_shorthand(self, before: bytes, start: int, end: int) -> bool:
        """Return whether `{ name }` names a member of an object."""
        if not (before.endswith((b"{", b",")) and _CLOSES.match(self.content, end)):
            return False
        open_ = 0
        for mark in reversed(_BRACKETS.findall(self.content, max(0, start - _OBJECT), start)):
            open_ += 1 if mark in b"([{" else -1
            if open_ > 0:
                return bool(mark == b"{")
        return True

    def _is_local(self, before: bytes, line: int) -> bool:
        """Return whether a function around binds the name itself.

        A parameter's default value does not count, nor does what the name is bound to.
        """
        around = self._around(line)
        if re.search(rb"(?<![\w$.])" + re.escape(self.wanted.written) + rb"\s*(?::[\w<>?., ]+)?:?=$", before):
            return False
        is_default = any(node.start_line == line for node in around[:1]) and before.endswith(b"=")
        return not is_default and any(node.kind in FUNCTIONS and node.qualified in self._bound for node in around)

    def _said(self, line: int) -> bytes:
        return self.content[self.examined.lines.starts[line - 1] :][:200].lstrip()

    def _is_code(self, at: int) -> bool:
        """Return whether the syntax tree says that a place is code.

        In a language without a resolver a text may be code, as in `python -c "import shop; shop.open()"`. Behind an error
        what looks like a text of many lines may be code.
        """
        root = self.examined.root
        if root is None:
            return not self._said(self._line(at)).startswith(_COMMENTS)
        leaf = root.descendant_for_byte_range(at, at + 1)
        if leaf is None or not self._is_read:
            return leaf is None or not is_comment(leaf)
        is_long = leaf.start_point[0] < leaf.end_point[0] and not is_comment(leaf)
        is_called = self.content[at + len(self.wanted.written) :][:1] == b"("
        return (self.is_broken and is_long) or is_code(leaf, is_called=is_called)


def _declared(graph: Graph, nodes: Sequence[Node]) -> set[int]:
    """Return the members of interfaces that classes have implicitly."""
    nodes = [node for node in nodes if rules_of(language_of(node.path)).is_structural]
    holders = graph.nodes(node.parent for node in nodes)
    protocols = {
        graph.references(each.path).owners[owner]
        for each in holders.values() if each.kind == "class"
        for owner, _, text in graph.references(each.path).bases if text.rpartition(".")[2].startswith("Protocol")
    }  # fmt: skip
    kinds = {"interface", "alias"}
    return {n.id for n in nodes if (h := holders.get(n.parent)) and (h.kind in kinds or h.qualified in protocols)}


def _is_bare(node: Node) -> bool:
    """Return whether the bare name may mean a declaration."""
    around = node.qualified.rpartition(".")[0]
    return not around or is_nameless(around)


def is_comment(node: tree_sitter.Node) -> bool:
    """Return whether a leaf of a syntax tree is in a comment."""
    return "comment" in node.type or (node.parent is not None and "comment" in node.parent.type)


def is_code(node: tree_sitter.Node, *, is_called: bool = False) -> bool:
    """Return whether a leaf of a syntax tree is code.

    A comment is no code, nor is a text of several words, nor the name of a parameter in a call. A text may be generated
    code where it calls the name, unless it stands alone, as what describes a function does.
    """
    if is_comment(node):
        return False
    around = node.parent
    if "string" in node.type or "content" in node.type or "fragment" in node.type:
        whole = around if around is not None and "string" in around.type else node
        if len(whole.text.split() if whole.text else ()) < 2:  # a word alone may be looked up by name
            return True
        return is_called and (whole.parent is None or whole.parent.type != "expression_statement")
    if around is not None and around.type == "keyword_argument":
        name = around.child_by_field_name("name")
        return name is None or name.start_byte != node.start_byte  # `f(name=1)` names a parameter
    return True

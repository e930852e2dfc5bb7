"""A snapshot's definitions, read on demand, with a note of questions.

Edges of a file are a function of the definitions it asked for. Whatever is asked here is noted under the question being
answered, so that a later change makes only those files be asked again whose answers it can touch.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from vademecum.code.checkout.classify import file_kind
from vademecum.code.graph.terms import Node, node_id
from vademecum.code.languages import rules_of
from vademecum.code.languages.declarations import FUNCTIONS, LEAVES, plain_holder
from vademecum.code.languages.expression import arguments_of, chain, split
from vademecum.code.languages.language import Language
from vademecum.code.languages.references import FIELDS, NARROWED, References
from vademecum.code.languages.scopes import CLASSES, declaration_of, functions_around, is_nameless, parent_scopes
from vademecum.types import FileKind

if TYPE_CHECKING:
    from vademecum.code.graph.stored_graph import Records

T = TypeVar("T")
MOST_OPEN = 300  # questions that may be open within each other; Rails opens 90
FRAMES = 4_000  # of the interpreter, which that many questions may take: some six each, seldom ten
_REFERENCE = re.compile(r"^(?:'\w+ )?(?:mut )?")  # what Rust's `impl` may be for: `&'a mut Store`


class File:
    """One file of a snapshot: its nodes by scope, and its references."""

    def __init__(self, path: str, blob: int, language: str, records: Records) -> None:
        self.path, self.blob, self.language = path, blob, language
        self._records = records

    @cached_property
    def rules(self) -> Language:
        """The rules of its language."""
        return rules_of(self.language)

    @cached_property
    def family(self) -> str:
        """The languages its names may be meant in."""
        return self.rules.family

    @cached_property
    def is_test(self) -> bool:
        """Say whether the file is a test."""
        return file_kind(self.path) is FileKind.TEST

    @cached_property
    def refs(self) -> References:
        """The references of the file."""
        return self._records.mentions(self.blob, self.language)

    @cached_property
    def itself(self) -> Node:
        """The node of the file."""
        return Node(node_id(self.path), self.path, self.path.rpartition("/")[2], "", "file", 1, 1, -1, 0)

    @cached_property
    def _rows(self) -> list[tuple[Any, ...]]:
        """The symbols, told apart by the functions around them."""
        rows = self._records.symbols(self.blob)
        if not self.rules.nests_functions or len({(row[3], row[4] in LEAVES) for row in rows}) == len(rows):
            return rows
        return [(*row[:3], self.refs.known(row[3], row[5]), *row[4:]) for row in rows]

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """The declarations by qualified name.

        Of several (overloads, a field and a method) the longest counts, leaves last.
        """
        found: dict[str, tuple[Any, ...]] = {}
        for row in self._rows:
            _, _, _, qualified, kind, start, end = row
            known = found.get(qualified)
            if known is None or _rank(kind, end - start) > _rank(known[4], known[6] - known[5]):
                found[qualified] = row
        ids = {qualified: node_id(self.path, qualified) for qualified in found}
        return {
            qualified: Node(ids[qualified], self.path, name, qualified, kind, start, end, ordinal,
                            ids[around] if (around := around_of(qualified, ids)) else self.itself.id)
            for ordinal, _, name, qualified, kind, start, end in found.values()
        }  # fmt: skip

    @cached_property
    def scopes(self) -> dict[str, dict[str, Node]]:
        """The declarations by the scope around them, then by name."""
        found: dict[str, dict[str, Node]] = {}
        for qualified, node in self.nodes.items():
            scope = qualified[: -len(node.name) - 1] if len(qualified) > len(node.name) else ""
            found.setdefault(scope, {}).setdefault(node.name, node)
        return found

    @cached_property
    def within(self) -> Mapping[str, str]:
        """The nameless function around each declaration that has one."""
        return functions_around(self.refs.owners, self.refs.within)

    @cached_property
    def bindings(self) -> dict[str, dict[str, list[tuple[str, str, str]]]]:
        """By owner and bound name: the kind, text and scope of bindings."""
        found: dict[str, dict[str, list[tuple[str, str, str]]]] = {}
        owners = self.refs.owners
        for owner, _, name, how, text, scope in self.refs.bindings:
            found.setdefault(owners[owner], {}).setdefault(name, []).append((how, text, owners[scope]))
        return found

    @cached_property
    def tested(self) -> frozenset[str]:
        """The members of which a test tells the type: `self.x`."""
        return frozenset(row[2] for row in self.refs.bindings if row[3] == NARROWED and "." in row[2])

    @cached_property
    def apart(self) -> dict[str, list[str]]:
        """By type: the scopes of its `impl`s that are told apart."""
        return _grouped((plain, scope) for scope in self.scopes if (plain := plain_holder(scope)) != scope)

    def beside(self, qualified: str, name: str) -> Node | None:
        """Return a member of the type that the `impl` around is for."""
        for around in parent_scopes(qualified) if self.apart else ():
            if around[-1] == ">" and around in self.scopes:
                before, _, own = around.rpartition(".")
                of = own[1:].partition(" as ")[0] if own[0] == "<" else own
                return self.scopes.get(f"{before}.{of}" if before else of, {}).get(name)
        return None

    def fields(self, qualified: str) -> Mapping[str, list[tuple[str, str, str]]]:
        """Return the bindings of a class's members by name."""
        return self.bindings.get(f"{qualified}.{FIELDS}" if self.makes_instances(qualified) else qualified, {})

    @cached_property
    def properties(self) -> frozenset[str]:
        """The qualified names of functions that are read like fields."""
        decorated = self._decorated({"property", "cached_property", "classproperty", "hybrid_property"})
        if "property" in self.imports or "property" in self.scopes.get("", ()):  # one of the project's own
            decorated -= self._decorated({"property"})
        return decorated.union(self.refs.owners[owner] for owner, _ in self.refs.getters)

    @cached_property
    def of_class(self) -> frozenset[str]:
        """The qualified names of methods that a class itself has."""
        return frozenset(self.refs.owners[owner] for owner, _ in self.refs.statics)

    @cached_property
    def statics(self) -> frozenset[str]:
        """Those that no method of instances shares its name with."""
        counts = Counter(row[3] for row in self._rows if row[4] in FUNCTIONS) if self.refs.statics else Counter()
        own = Counter(self.refs.owners[owner] for owner, _ in self.refs.statics)
        return frozenset(name for name, count in own.items() if counts[name] <= count)

    @cached_property
    def conditional(self) -> frozenset[str]:
        """The qualified names that the preprocessor may leave out."""
        return frozenset(self.refs.owners[owner] for owner, _ in self.refs.conditional)

    @cached_property
    def fixtures(self) -> frozenset[str]:
        """The qualified names of functions that give tests their parameters."""
        return self._decorated({"fixture"})

    def _decorated(self, by: Container[str]) -> frozenset[str]:
        return frozenset(
            self.refs.owners[owner] for owner, _, spelled in self.refs.loads if spelled.rpartition(".")[2] in by
        )

    @cached_property
    def imports(self) -> dict[str, list[tuple[str, str, str]]]:
        """By local name: the import's owner, the module, the name there."""
        owners = self.refs.owners
        return _grouped((local, (owners[owner], module, name)) for owner, _, local, module, name in self.refs.imports)

    @cached_property
    def inner_stars(self) -> dict[str, list[str]]:
        """By function: the enums whose names it takes (Rust)."""
        rows = self.imports.get("*", ()) if self.rules.numbers_fields else ()
        return _grouped((owner, module) for owner, module, _ in rows if owner)

    @cached_property
    def exports(self) -> dict[str, list[tuple[str, str]]]:
        """By exported name: the module, "" for this file, the name there."""
        return _grouped((exported, (module, name)) for _, _, exported, module, name in self.refs.exports)

    @cached_property
    def exporting(self) -> list[str]:
        """The variables that are CommonJS's `exports`."""
        bound = self.bindings.get("", {}).items() if self.rules.assigns_modules else ()
        return [name for name, rows in bound if any(text == "exports" for _, text, _ in rows)]

    @cached_property
    def aliases(self) -> dict[str, dict[str, str]]:
        """By owner and name: the type behind an alias, "" for any."""
        found: dict[str, dict[str, str]] = {}
        for owner, _, name, text in self.refs.aliases:
            scope = self.refs.owners[owner]
            if f"{scope}.{name}" in self.former:
                continue
            for holder in {scope, plain_holder(scope)}:
                before = (known := found.setdefault(holder, {})).get(name, "")
                if text[:1] == ":" == before[:1] and self.rules.numbers_fields:  # bounds: a type has all of them
                    known[name] = before if text in before else f"{before} + {text}"
                else:
                    is_other = (
                        self.rules.declares_apart and known.get(name, text) != text
                    )  # as the preprocessor decides
                    known[name] = "" if is_other else before or text
        return found

    def parameters(self, name: str) -> list[str]:
        """Return the type parameters of a class, in order."""
        if self.rules.subscripts_classes:
            generic = (
                arguments_of(text, kind) for text in self.bases.get(name, ()) for kind in ("Generic", "Protocol")
            )
            if listed := next(filter(None, generic), ""):
                return [each.strip() for each in split(listed, ",")]
        is_apart = self.rules.declares_apart or self.rules.numbers_fields  # a class has aliases too
        known = self.aliases.get(name, {})
        return [each for each, text in known.items() if not text or text[0] == ":" or not is_apart]

    @cached_property
    def former(self) -> dict[str, str]:
        """Methods in the place of others, by the former's name."""
        rows = [(self.refs.owners[row[0]], *row[1:]) for row in self.refs.aliases] if self.rules.calls_bare else []
        found = [(line, f"{scope}.{name}", f"{scope}.{text.lstrip(':')}") for scope, line, name, text in rows]
        return {name: of for line, name, of in found if of in self.nodes and line < self.nodes[of].start_line}

    @cached_property
    def alias_names(self) -> frozenset[str]:
        """The names that stand for a type somewhere in the file."""
        return frozenset(row[2] for row in self.refs.aliases)

    @cached_property
    def several(self) -> frozenset[str]:
        """The qualified names that several classes share."""
        return _several(self._rows) if self.rules.nests_functions else frozenset()

    @cached_property
    def put_on(self) -> dict[str, dict[str, Node]]:
        """By function: the members that the function, or its prototype, is given."""
        if not self.rules.nests_functions:
            return {}
        functions = (node for node in self.nodes.values() if node.kind in FUNCTIONS and node.qualified in self.scopes)
        apart = {
            node.qualified: {
                name: each
                for name, each in self.scopes[node.qualified].items()
                if not node.start_line <= each.start_line <= node.end_line
            }
            for node in functions
        }
        return {qualified: members for qualified, members in apart.items() if members}

    def makes_instances(self, qualified: str) -> bool:
        """Return whether a function is a class as JavaScript had them first."""
        return qualified in self.put_on and qualified.rpartition(".")[2][:1].isupper()

    @cached_property
    def made(self) -> frozenset[str]:
        """The names after `new`, without their modules."""
        return frozenset(chain(text).rpartition(".")[2] for _, _, text in self.refs.news)

    @cached_property
    def returns(self) -> dict[str, list[tuple[str, str]]]:
        """By owner: "type" or "value", and the text of each result."""
        return _grouped((self.refs.owners[owner], (how, text)) for owner, _, how, text in self.refs.returns)

    @cached_property
    def takes(self) -> dict[str, list[tuple[int, str]]]:
        """By owner: places and types of parameters that may take a function."""
        return _grouped((self.refs.owners[owner], (place, text)) for owner, _, place, text in self.refs.takes)

    @cached_property
    def handing(self) -> dict[str, list[tuple[str, int, str]]]:
        """By function: scope, place and chain of each value for its block."""
        rows = ((self.refs.owners[owner], place, text) for owner, _, place, text in self.refs.takes)
        return _grouped((declaration_of(row[0]), row) for row in rows)

    @cached_property
    def arities(self) -> dict[str, list[tuple[int, int]]]:
        """By owner: least and most arguments of each overload, if known."""
        return _grouped((self.refs.owners[owner], (least, most)) for owner, _, least, most in self.refs.arities)

    @cached_property
    def bases(self) -> dict[str, list[str]]:
        """By qualified name: the types a declaration is based on."""
        return _grouped((self.refs.owners[owner], text) for owner, _, text in self.refs.bases)

    @cached_property
    def inner_names(self) -> Mapping[str, set[str]]:
        """By name, the scopes below the top that bind it."""
        found: dict[str, set[str]] = {}
        for names in (self.bindings, self.scopes):
            for scope in names:
                for name in names[scope] if scope else ():
                    found.setdefault(name, set()).add(scope)
        for name, rows in self.imports.items():
            for scope in filter(None, (row[0] for row in rows)):
                found.setdefault(name, set()).add(scope)
        for name in (name for name, around in self.within.items() if "." in around):
            found.setdefault(name, set())
        for name, around in self.within.items():
            found.get(name.rpartition(".")[2], set()).add(around)
        return found

    def around(self, qualified: str) -> Node:
        """Return the innermost node around a qualified name, at last the file."""
        own = qualified if qualified in self.nodes else plain_holder(qualified)
        return self.nodes.get(own) or self.nodes.get(around_of(own, self.nodes), self.itself)

    def local(self, scope: str, name: str) -> Node | None:
        """Return a declaration in a scope that a bare name can mean.

        A constructor is named by its class, and a function that is put into an object cannot be named bare.
        """
        around, local = self.nodes.get(scope), self.scopes.get(scope, {}).get(name)
        if local is None and self.within and is_nameless(scope):
            own = f"{declaration_of(scope)}.{name}".lstrip(".")
            local = self.nodes.get(own) if self.within.get(own) == scope else None
        if local is None or local.kind == "constructor":
            return None
        if around is None or not self.rules.nests_functions:
            return local
        is_inside = (
            around.kind not in LEAVES - {"constant"} and around.start_line <= local.start_line <= around.end_line
        )
        return local if is_inside else None

    def class_around(self, qualified: str) -> str:
        """Return the qualified name of the innermost class, "" for none."""
        while qualified:
            node = self.nodes.get(qualified)
            if node is not None and (node.kind in CLASSES or self.makes_instances(qualified)):
                return qualified
            if node is None and qualified in self.scopes:  # an `impl`, or methods of a type declared elsewhere
                return _REFERENCE.sub("", plain_holder(qualified))
            if node is None or node.kind in FUNCTIONS or node.kind in LEAVES:
                qualified = qualified.rpartition(".")[0]
            else:
                return ""
        return ""


def _grouped(pairs: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _several(rows: Iterable[tuple[Any, ...]]) -> frozenset[str]:
    """Return the qualified names that several classes have."""
    classes = {(row[4], row[3], row[5]) for row in rows if row[4] in {"class", "interface"}}
    return frozenset(name for (_, name), count in Counter(row[:2] for row in classes).items() if count > 1)


def _rank(kind: str, lines: int) -> tuple[bool, int]:
    return kind not in LEAVES, lines


def _place(node: Node) -> tuple[str, int, int, str]:
    return node.path, node.chunk, node.start_line, node.qualified


def around_of(qualified: str, nodes: Container[str]) -> str:
    """Return the qualified name of the nearest declaration around one, "" for none."""
    scope = qualified.rpartition(".")[0]
    while scope and scope not in nodes and (scope := plain_holder(scope)) not in nodes:
        scope = scope.rpartition(".")[0]
    return scope


class Definitions:
    """Every file of a snapshot, and definitions by name."""

    def __init__(self, files: Mapping[str, tuple[int, str]], records: Records, content: Callable[[int], bytes]) -> None:
        """Take path → (blob, language), and readers of records and content."""
        self._given = files
        self._records = records
        self.nodes = records.nodes
        self._content = content
        self._short: dict[Any, Any] = {}
        self._open: dict[Any, int] = {}  # what is being asked, with its depth
        sys.setrecursionlimit(max(sys.getrecursionlimit(), FRAMES))
        self._cut = 0  # the depth of the outermost open question that was asked again, 0 for none
        self.consulted: set[str] = set()
        self.forget()

    def forget(self) -> None:
        """Let go of everything read and answered."""
        self._files: dict[str, File] = {}
        self._by_name: dict[tuple[str, str], list[tuple[File, Node]]] = {}
        self._by_holder: dict[tuple[str, str], dict[str, list[tuple[File, Node]]]] = {}
        self._memo: dict[Any, tuple[Any, tuple[str, ...]]] = {}

    def __contains__(self, path: str) -> bool:
        """Return whether there is a file at a path.

        This question is not noted.
        """
        return path in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def file(self, path: str) -> File:
        """Return a file, and note that it was looked at."""
        self.consulted.add(path)
        return self._files.get(path) or self._file(path)

    def _file(self, path: str) -> File:
        known = self._files.get(path)
        if known is None:
            known = self._files[path] = File(path, *self._given[path], self._records)
        return known

    def content(self, path: str) -> str:
        """Return a file's text.

        `build` watches the files that say where modules lie.
        """
        return self._content(self._given[path][0]).decode("utf-8", "replace")

    def named(self, name: str, family: str) -> list[tuple[File, Node]]:
        """Return the declarations of a name in a family, "" for any.

        They come in the order of paths, then of lines. Their files are not read.
        """
        self.consulted.add(f":{name}")
        known = self._by_name.get((name, family))
        if known is None:
            nodes = (node for node in self._records.named(name) if node.qualified and node.path in self._given)
            found = ((self._file(node.path), node) for node in sorted(nodes, key=_place))
            known = self._by_name[name, family] = [each for each in found if family in {"", each[0].family}]
        return known

    def members(self, name: str, holder: str, family: str) -> Sequence[tuple[File, Node]]:
        """Return the declarations of a name in types of another name."""
        named = self.named(name, family)
        known = self._by_holder.get((name, family))
        if known is None:
            holders = ((plain_holder(each[1].qualified.rpartition(".")[0]), each) for each in named)
            known = self._by_holder[name, family] = _grouped((each[0].rpartition(".")[2], each[1]) for each in holders)
        return known.get(holder, ())

    def once(self, question: Any, answer: Callable[..., T], otherwise: T, *given: Any) -> T:
        """Return `answer(*given)`, kept; `otherwise` if the question is open already.

        The same where MOST_OPEN questions are. An answer that was cut short so holds for the outermost question only.
        """
        known = self._memo.get(question)
        if known is not None:
            self.consulted.update(known[1])
            found: T = known[0]
            return found
        if self._short and question in self._short:
            again: T = self._short[question]
            return again
        if question in self._open or len(self._open) >= MOST_OPEN:
            depth = self._open.get(question, 1)
            self._cut = min(self._cut or depth, depth)
            return otherwise
        depth, before, self._cut = len(self._open) + 1, self._cut, 0
        self._open[question] = depth
        outer, self.consulted = self.consulted, set()
        try:
            value = answer(*given)
        finally:
            del self._open[question]
            own, self.consulted = self.consulted, outer
            outer |= own
        if 0 < self._cut < depth:
            self._short[question] = value
            self._cut = min(before or self._cut, self._cut)
        else:
            self._memo[question] = (value, tuple(own))
            self._cut = before
        if self._short and not self._open:
            self._short.clear()
        return value

"""Questions about the graph: callers, callees, impact, ways, related code.

Trusted edges answer; guesses are withheld and counted. "None" is said only where everything was covered: a file that
could not be parsed, a language without a resolver, or a call of the same name on something unknown may hide a reference,
and then the answer is "unknown" with these files named.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from vademecum.amounts import counted
from vademecum.code.checkout.classify import file_kind
from vademecum.code.graph.changes import ChangedFile, changed_files, changed_nodes
from vademecum.code.graph.expand import expand, neighbour_of
from vademecum.code.graph.gaps import called_from_elsewhere, uncovered_places, written_in
from vademecum.code.graph.graph import Graph, check_depth
from vademecum.code.graph.removed import NOTHING_REMOVED, Before, Removed, removed_by
from vademecum.code.graph.symbol import how_to_choose, inherited_said
from vademecum.code.graph.terms import Edge, Node, Relation, Tier, node_id
from vademecum.code.graph.tests_to_run import tests_to_run
from vademecum.code.graph.traverse import (
    Met,
    is_constructor,
    made_by,
    nearest,
    order,
    shortest_way,
    walked,
)
from vademecum.code.languages import language_of, rules_of
from vademecum.code.languages.declarations import FUNCTIONS
from vademecum.code.languages.scopes import CLASSES
from vademecum.code.search.evidence import check_file, evidence_of, stored_chunks
from vademecum.code.search.open import line_in
from vademecum.code.search.verdict import nearest_to, skipped_said
from vademecum.errors import UsageError
from vademecum.index.query import split_name
from vademecum.matching import is_below
from vademecum.types import Evidence, Neighbour, Neighbours, Uncovered

MOST = 200  # neighbours of an answer
_MOST_OF_CHAIN = 20  # lines of a chain of calls that are looked through for the name
_OTHERS = 5  # declarations of a name that are named where one of them is chosen
# Names of systems that files are built for alone.
_SYSTEM = re.compile(
    r"(?<![a-z0-9])(?:linux|windows|win32|win|u?nix|posix|macos|darwin|osx|(?:free|net|open)?bsd|android|ios|solaris|illumos|wasm(?:32)?"
    r"|wasi|fallback|unsupported)(?![a-z0-9])",
    re.IGNORECASE,
)
USES = (Relation.CALLS, Relation.REFERENCES)
BREAKS = (Relation.CALLS, Relation.REFERENCES, Relation.INHERITS, Relation.IMPLEMENTS)


def callers(graph: Graph, name: str, depth: int = 1, *, guesses: bool = False, limit: int = MOST) -> Neighbours:
    """Return the callers of a declaration, up to `depth` steps away.

    Whoever names the declaration otherwise counts too, and whoever calls the method that it overrides or implements.

    Raises:
        UsageError: `depth` is not 1, 2 or 3.
    """
    check_depth(depth)
    asked = graph.named(name)
    if not asked:
        return _not_found(graph, name, "callers", depth)
    start = _with_constructors(graph, asked)
    above = _overridden(graph, start)
    through = {node.id: (node.label, Tier.TYPED) for node in above}
    reached = [*start, *above]
    found = walked(graph, reached, _uses(asked), depth, into=True, begun=through)
    found = _used(graph, asked, [*found, *_among(graph, asked, above), *_extending(graph, asked)])
    answer = _answer(graph, name, "callers", depth, asked, found, limit=limit)
    answer = _with_guesses(graph, answer, reached, into=True, shown=guesses)
    return _covered(graph, answer, _written(asked, start), reached)


def callees(graph: Graph, name: str, depth: int = 1, *, guesses: bool = False) -> Neighbours:
    """Return the callees of a declaration, up to `depth` steps away.

    A class has the callees of its methods.

    Raises:
        UsageError: `depth` is not 1, 2 or 3.
    """
    check_depth(depth)
    asked = graph.named(name)
    if not asked:
        return _not_found(graph, name, "callees", depth)
    inside = _with_children(graph, asked)
    found = walked(graph, inside, _uses(asked), depth, into=False)
    answer = _answer(graph, name, "callees", depth, asked, found)
    answer = _with_guesses(graph, answer, inside, into=False, shown=guesses)
    return answer if answer.found else replace(answer, verdict="none" if not answer.withheld else "unknown")


def impact(
    graph: Graph,
    nodes: Sequence[Node],
    asked: str,
    depth: int = 2,
    *,
    removed: Removed = NOTHING_REMOVED,
    files: Sequence[ChangedFile] = (),
) -> Neighbours:
    """Return the code that may break by a change, and its tests.

    Callers and whoever names it, what extends or implements it, and callers of what it overrides: they may call it
    without knowing. `files` are the changes, where they are known.

    Raises:
        UsageError: `depth` is not 1, 2 or 3.
    """
    check_depth(depth)
    if not nodes and not removed.nodes:
        return _not_found(graph, asked, "impact", depth)
    start = _with_constructors(graph, nodes)
    above = _overridden(graph, start)
    whole = [node for node in start if not node.qualified]
    relations = (*BREAKS, Relation.IMPORTS, Relation.TESTS) if whole else BREAKS
    broken = _broken(graph, removed, depth)
    own = {node.id for node in start} - {node.id for node, *_ in broken}
    found = nearest([*broken, *walked(graph, [*start, *above], relations, depth, into=True)], own)
    if not files:  # of a change all lines count, and all declarations are known
        found = _used(graph, nodes, [*found, *_among(graph, nodes, above)])
    answer = _answer(graph, asked, "impact", depth, [*removed.nodes, *nodes], found)
    tests, told = tests_to_run(graph, nodes, [*start, *above, *(met[0] for met in broken)], files)
    answer = _with_guesses(graph, replace(answer, tests=tests, coverage=told), [*start, *above], into=True, shown=False)
    return _covered(graph, answer, [*removed.nodes, *_written(nodes, start)], [*start, *above])


def _overridden(graph: Graph, nodes: Sequence[Node]) -> list[Node]:
    """Return other declarations by which calls run these functions.

    They override or implement them; another build has a function in place of one; what implements a function of a trait
    is that function, of one type.
    """
    methods = {node.id: node for node in nodes if _may_override(node)}
    of_traits = [node.id for node in methods.values() if rules_of(language_of(node.path)).extends_by_traits]
    others = graph.nodes(edge.source for edge in graph.edges(of_traits, (Relation.IMPLEMENTS,), into=True))
    waiting = list(methods)
    while waiting:
        edges = graph.edges(waiting, (Relation.INHERITS, Relation.IMPLEMENTS))
        above = graph.nodes({edge.target for edge in edges} - others.keys())
        above |= {each.id: each for node in above.values() for each in _declared_apart(graph, node)}
        waiting = [number for number in above if number not in others]
        others |= above
    builds = (other for node in nodes if node.qualified for other in _of_other_builds(graph, node))
    return [node for node in (*others.values(), *builds) if node.id not in methods]


def _declared_apart(graph: Graph, node: Node) -> list[Node]:
    """Return a function's declarations elsewhere: headers, definitions, a field.

    Of namesakes in several namespaces it is the one in the file called so.
    """
    rules = rules_of(language_of(node.path))
    if rules.nests_functions and node.kind in FUNCTIONS:
        return _field_given(graph, node)
    if not rules.declares_apart or node.kind not in FUNCTIONS:
        return []
    there, own = not rules.is_header(node.path), f".{node.qualified}"
    named = [
        each for each in graph.with_name(node.name) if each.kind in FUNCTIONS and rules.is_header(each.path) is there
    ]
    ends = [each for each in named if own.endswith(f".{each.qualified}") or f".{each.qualified}".endswith(own)]
    near = [each for each in ends if _stem(each.path) == _stem(node.path)]
    return near or [each for each in ends if len(ends) == 1 or ("." in each.qualified and "." in node.qualified)]


def _field_given(graph: Graph, node: Node) -> list[Node]:
    """Return the declared field of `this.save = () => …`."""
    parts = node.qualified.split(".")
    numbers = [node_id(node.path, ".".join((*parts[:cut], parts[-1]))) for cut in range(len(parts) - 2, 0, -1)]
    known = graph.nodes(numbers)
    field = next((known[number] for number in numbers if number in known), None)
    is_given = field is not None and f"this.{node.name}".encode() in graph.lines(node.path)[node.start_line - 1]
    return [field] if field is not None and is_given else []


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".")[0]


def _may_override(node: Node) -> bool:
    """Return whether a declaration may take the place of its base's."""
    return bool(node.qualified) and node.kind not in CLASSES and not is_constructor(node)


def _of_other_builds(graph: Graph, node: Node) -> list[Node]:
    """Return the declarations that other builds have in its place.

    They are for other systems, or of the same package in another module.
    """
    place, rules = _place(node), rules_of(language_of(node.path))
    others = [each for each in graph.with_name(node.name) if each.id != node.id]
    if place != (node.path, node.qualified):
        return [each for each in others if _place(each) == place]
    if rules.declares_apart or not rules.imports_declaration(node.name):
        return []
    alike = [each for each in others if each.qualified == node.qualified and each.kind == node.kind]
    package = graph.references(node.path).package if alike else ""
    return [each for each in alike if package and graph.references(each.path).package == package]


def _place(node: Node) -> tuple[str, str]:
    """Return the place and name that builds of a declaration share.

    >>> [_place(Node(0, path, "own", "own", "function", 1, 1, 0, 0))[0] for path in ("sys/linux/own.rs", "own_nix.rs")]
    ['sys/*/own.rs', 'own_*.rs']
    """
    if node.kind in FUNCTIONS and rules_of(language_of(node.path)).builds_one:
        return f"{posixpath.dirname(node.path)}/* {file_kind(node.path)}", node.qualified
    return _SYSTEM.sub("*", node.path), node.qualified


def _broken(graph: Graph, removed: Removed, depth: int) -> list[Met]:
    """Return the code that names removed declarations, and its callers."""
    found: list[Met] = [(node, edge, 1, "", edge.tier) for node, edge in removed.uses]
    if found and depth > 1:
        begun = {node.id: (node.label, edge.tier) for node, edge in removed.uses}
        beyond = walked(graph, [met[0] for met in found], BREAKS, depth - 1, into=True, begun=begun)
        found += [(node, edge, steps + 1, via, tier) for node, edge, steps, via, tier in beyond]
    return found


def impact_of_diff(graph: Graph, revisions: str, before: Before, depth: int = 2) -> Neighbours:
    """Return the code that a git range may break, and its tests.

    `before` returns the graph of a commit; it is asked where declarations were removed.

    Raises:
        UsageError: `depth` is not 1, 2 or 3, or the range begins with a dash.
        GitError: git does not know the range.
    """
    check_depth(depth)
    files = [
        each
        for each in changed_files(graph, revisions)
        if is_below(each.now, graph.below) or is_below(each.before, graph.below)
    ]
    removed = removed_by(graph, revisions, files, (*BREAKS, Relation.IMPORTS), before)
    changed = changed_nodes(graph, files)
    # Where a declaration changed or went, whoever imports the file is not affected by the lines beside it.
    told = {node.path for node in [*removed.nodes, *changed] if node.qualified}
    nodes = [node for node in changed if node.qualified or node.path not in told]
    if not nodes and not removed.nodes:
        return Neighbours(revisions, "impact", "none", depth, reason=f"{revisions} changes nothing that is indexed")
    answer = impact(graph, nodes, revisions, depth, removed=removed, files=files)
    if removed.nodes:
        answer = replace(answer, reason="; ".join(filter(None, (answer.reason, removed.said))))
    if answer.verdict == "none":
        return replace(answer, reason=f"nothing else refers to what {revisions} changed: every file was covered")
    return answer


def path(graph: Graph, source: str, target: str, depth: int = 2) -> Neighbours:
    """Return the shortest way between two names along trusted edges.

    The way has up to `depth` steps from each end.

    Raises:
        UsageError: `depth` is not 1, 2 or 3.
    """
    check_depth(depth)
    starts, ends = graph.named(source), graph.named(target)
    for name, nodes in ((source, starts), (target, ends)):
        if not nodes:
            return _not_found(graph, name, "path", depth)
    asked = f"{source} -> {target}"
    if {node.id for node in starts} & {node.id for node in ends}:
        itself = _answer(graph, asked, "path", depth, starts[:1], [])
        return replace(itself, reason=f"{source} and {target} name one declaration")
    relations = (*BREAKS, Relation.IMPORTS) if _has_file([*starts, *ends]) else BREAKS
    inside, within = _inside(graph, starts, ends), _inside(graph, ends, starts)
    for first, last, backwards in ((inside, within, False), (within, inside, True)):
        reached = [*last, *_overridden(graph, last)]
        way = shortest_way(graph, first, reached, depth, relations)
        if way:
            found = [(node, edge, number, "", Tier(edge.tier)) for number, (node, edge) in enumerate(way, 1)]
            answer = _answer(graph, asked, "path", depth, _begin(first, way), found)
            begun, ended = way[0][1].source, way[-1][0].id
            chosen = [
                _chosen(source, starts, ended if backwards else begun),
                _chosen(target, ends, begun if backwards else ended),
            ]
            back = f"no way from {source} to {target}; this one leads back" if backwards else ""
            above = "" if ended in {node.id for node in last} else f"{way[-1][0].label} is what the target implements"
            return replace(answer, reason="; ".join(filter(None, (back, above, *chosen))))
    nothing = _answer(graph, asked, "path", depth, [starts[0], ends[0]], [])
    each = [
        f"none of the {len(nodes)} definitions of {name}"
        for name, nodes in ((source, starts), (target, ends))
        if len(nodes) > 1
    ]
    of = f": {', '.join(each)}" if each else ""
    reason = f"nothing joins them within {2 * depth} steps along trusted edges{of}"
    return replace(nothing, verdict="none", reason=reason)


def _inside(graph: Graph, nodes: Sequence[Node], others: Sequence[Node]) -> list[Node]:
    """Return nodes with the members of classes, `others` left out."""
    found = {node.id: node for node in (*nodes, *_with_children(graph, [n for n in nodes if n.kind in CLASSES]))}
    apart = {node.id for node in others}
    return [node for node in found.values() if node.id not in apart]


def _chosen(name: str, nodes: Sequence[Node], chosen: int) -> str:
    """Say which declaration of a name was chosen, "" for one alone."""
    others = [f"{node.label} in {node.path}" for node in nodes if node.id != chosen]
    own = next((node for node in nodes if node.id == chosen), None)
    if not others or own is None:
        return ""
    more = ", …" if len(others) > _OTHERS else ""
    return f"{name} is taken for {own.label} in {own.path}, and not for {', '.join(others[:_OTHERS])}{more}"


def related(graph: Graph, location: str, question: str = "", depth: int = 2, limit: int = 10) -> Neighbours:
    """Return the neighbours of a line, a file or a name.

    The most relevant come first.

    Raises:
        UsageError: `depth` is not 1, 2 or 3, the file is not in the index, or it has no such line.
    """
    check_depth(depth)
    nodes = graph.located(location) or graph.named(location)
    if not nodes:
        return _not_found(graph, location, "related", depth)
    seeds = [_evidence(graph, node) for node in nodes]
    found = expand(graph, seeds, question or seeds[0].snippet[:2000], depth=depth, limit=limit)
    of = tuple(neighbour_of(graph, node, "self", Tier.EXACT, 0) for node in nodes)
    line = line_in(location)
    asked = f"{nodes[0].path}:{line}" if line else location
    verdict = "found" if found else "none"
    return Neighbours(asked, "related", verdict, depth, of, _told(graph, found, of), total=len(found))


def _uses(asked: Sequence[Node]) -> tuple[Relation, ...]:
    """Return the relations that mean use of the nodes.

    A declaration is called or named; a file is imported too.
    """
    return (*USES, Relation.IMPORTS) if _has_file(asked) else USES


def _used(graph: Graph, asked: Sequence[Node], found: Sequence[Met]) -> list[Met]:
    """Return whoever uses declarations, nearest first.

    The import of a file is left out where a declaration in the file is a user.
    """
    users = {(node.path, steps) for node, _, steps, *_ in found if node.qualified and not _has_file(asked)}
    imports = {node.id for node, edge, steps, *_ in found
               if not node.qualified and (node.path, steps) in users and graph.is_import(edge, node)}  # fmt: skip
    return sorted((met for met in found if met[0].id not in imports), key=order)


def _among(graph: Graph, asked: Sequence[Node], above: Sequence[Node]) -> list[Met]:
    """Return the declarations of one name that use another of them.

    A declaration and what is inside it count as one. What they override may use them too.
    """
    own = {node.id: node for node in asked}
    users = own | {node.id: node for node in above}
    met: dict[int, Met] = {}
    for edge in graph.edges(own, USES, into=True):
        user, used = users.get(edge.source), own[edge.target]
        if user is not None and user.id not in {used.id, used.parent} and user.parent != used.id:
            met.setdefault(user.id, (user, edge, 1, "", edge.tier))
    return list(met.values())


def _has_file(nodes: Sequence[Node]) -> bool:
    return any(not node.qualified for node in nodes)


def _begin(starts: Sequence[Node], way: Sequence[tuple[Node, Edge]]) -> list[Node]:
    return [node for node in starts if node.id == way[0][1].source] if way else list(starts[:1])


def _extending(graph: Graph, asked: Sequence[Node]) -> list[Met]:
    """Return the classes that extend or implement those asked about."""
    classes = {node.id for node in asked if node.kind in CLASSES}
    edges = graph.edges(classes, (Relation.INHERITS, Relation.IMPLEMENTS), into=True)
    sources = graph.nodes(edge.source for edge in edges)
    return [(sources[edge.source], edge, 1, "", edge.tier) for edge in edges if edge.source in sources]


def _with_constructors(graph: Graph, nodes: Sequence[Node]) -> list[Node]:
    """Add constructors to classes, classes to constructors, and a function's other declaration.

    In C and C++ it is declared in a header and defined elsewhere.
    """
    found = {each.id: each for node in nodes for each in (node, *_declared_apart(graph, node))}
    classes = [node.id for node in nodes if node.kind in CLASSES]
    for node in graph.children(classes) if classes else ():
        if is_constructor(node):
            found[node.id] = node
    return list((found | graph.nodes(made_by(graph, nodes))).values())


def _written(asked: Sequence[Node], start: Sequence[Node]) -> list[Node]:
    """Return the nodes that code names to mean those asked about.

    A constructor is named by its class, a class by itself.
    """
    ids = {node.id for node in asked}
    return [node for node in start if node.id in ids or node.kind in CLASSES]


def _with_children(graph: Graph, nodes: Sequence[Node]) -> list[Node]:
    """Add the declarations inside of classes and files."""
    found = {node.id: node for node in nodes}
    outer = [node.id for node in nodes if node.kind in CLASSES or not node.qualified]
    while outer:
        inner = [node for node in graph.children(outer) if node.id not in found]
        found |= {node.id: node for node in inner}
        outer = [node.id for node in inner]
    return list(found.values())


def _answer(
    graph: Graph,
    asked: str,
    relation: str,
    depth: int,
    nodes: Sequence[Node],
    found: Sequence[Met],
    *,
    limit: int = MOST,
) -> Neighbours:
    of = tuple(neighbour_of(graph, node, "self", Tier.EXACT, 0) for node in nodes)
    shown = [
        neighbour_of(graph, node, _word(graph, edge, relation), tier, steps, via=via, edge=edge)
        for node, edge, steps, via, tier in found[:limit]
    ]
    meant = _meant(asked, nodes) if relation != "path" else ""
    reason = "; ".join(filter(None, (meant, _proven(graph, [edge for _, edge, *_ in found[:limit]]))))
    return Neighbours(
        asked, relation, "found" if found else "none", depth, of, _told(graph, shown, of), reason=reason, total=len(found)
    )  # fmt: skip


def _proven(graph: Graph, edges: Sequence[Edge]) -> str:
    """Say which index proves how many edges, "" without one."""
    sources = graph.nodes(edge.source for edge in edges if edge.tier is Tier.PROVEN)
    said = Counter(graph.proofs.said(sources[e.source].path) for e in edges if e.source in sources)
    return "; ".join(f"{count} of {len(edges)} from {index}" for index, count in sorted(said.items()))


def _meant(asked: str, nodes: Sequence[Node]) -> str:
    """Say how the question was understood, unless that is plain."""
    if len(nodes) > 1:
        one_name = len({node.name for node in nodes}) == 1
        choice = f"; {how_to_choose(node.qualified for node in nodes)}" if one_name else ""
        return f"{len(nodes)} definitions taken together{choice}"
    if line_in(asked) and nodes:
        return inherited_said(asked, nodes[0].label)
    *around, own = split_name(asked) or [""]
    holder = split_name(nodes[0].qualified)[:-1]  # without one it is a package that is called as the repository is
    elsewhere = around and around[-1] not in split_name(f"{nodes[0].path}.{nodes[0].qualified}")
    is_inherited = holder and elsewhere and own == nodes[0].name
    return inherited_said(asked, nodes[0].qualified) if is_inherited else ""


def _word(graph: Graph, edge: Edge, relation: str) -> str:
    """Return the label of an answer's last step."""
    forward = {"callees", "path"}
    words = {
        Relation.CALLS: ("calls", "called_by"), Relation.REFERENCES: ("references", "referenced_by"),
        Relation.INHERITS: ("inherits", "inherited_by"), Relation.IMPLEMENTS: ("interface_of", "implemented_by"),
        Relation.IMPORTS: ("imports", "imported_by"), Relation.TESTS: ("tests", "test_for"),
    }  # fmt: skip
    source = graph.nodes([edge.source]).get(edge.source)
    said = Relation.IMPORTS if source is not None and graph.is_import(edge, source) else edge.relation
    return words[said][0 if relation in forward else 1]


def _with_guesses(graph: Graph, answer: Neighbours, start: Sequence[Node], *, into: bool, shown: bool) -> Neighbours:
    """Count the guesses at the first step, or show them."""
    edges = graph.edges([node.id for node in start], USES, into=into, tiers=(Tier.GUESS,))
    if not shown:
        return replace(answer, withheld=len(edges))
    nodes = graph.nodes(edge.source if into else edge.target for edge in edges)
    more = [
        neighbour_of(graph, nodes[there], _word(graph, edge, answer.relation), Tier.GUESS, 1, edge=edge)
        for edge in edges
        if (there := edge.source if into else edge.target) in nodes
    ]
    found = (*answer.found, *_told(graph, more, answer.of))
    return replace(answer, found=found, verdict="found" if found else answer.verdict, total=answer.total + len(more))


def _covered(graph: Graph, answer: Neighbours, asked: Sequence[Node], start: Sequence[Node]) -> Neighbours:
    """Say which gaps may hide more, and decide "none" or "unknown".

    `start` are the nodes whose guesses may be withheld.
    """
    ids = [node.id for node in start] if answer.withheld else []
    uncovered = tuple(uncovered_places(graph, asked, start, graph.edges(ids, USES, into=True, tiers=(Tier.GUESS,))))
    if answer.found:
        reason = "; ".join(filter(None, (answer.reason, *_beside(uncovered))))
        return replace(answer, uncovered=uncovered, reason=reason)
    meant = answer.of[0].name if line_in(answer.query) else answer.query
    if not uncovered and (elsewhere := called_from_elsewhere(graph, asked)):
        return replace(answer, verdict="unknown", reason=f"nothing else here refers to {meant}, but {elsewhere}")
    if not uncovered:
        return replace(answer, verdict="none", reason=f"nothing else refers to {meant}: every file was covered")
    reason = f"{counted(len(uncovered), 'place')} may refer to it unseen"
    return replace(answer, verdict="unknown", uncovered=uncovered, reason=reason)


def _beside(uncovered: Sequence[Uncovered]) -> Iterator[str]:
    """Yield sentences on uncovered places, beside an answer."""
    read = sum(bool(each.lines) for each in uncovered)
    if read:
        use = "files use" if read > 1 else "file uses"
        yield f"{read} more {use} this name: we could not tell whether they mean this one"
    if unread := len(uncovered) - read:
        yield f"{counted(unread, 'place')} not read may use it too"


def as_it_stands(graph: Graph, answer: Neighbours) -> Neighbours:
    """Say that the graph may be older than the files.

    The answer "none" becomes "unknown" then.
    """
    note = graph.opened.note
    if not note:
        return answer
    verdict = "unknown" if answer.verdict == "none" else answer.verdict
    return replace(answer, verdict=verdict, reason="; as it stands, ".join(filter(None, (note, answer.reason))))


def _not_found(graph: Graph, name: str, relation: str, depth: int) -> Neighbours:
    if line_in(name):
        raise UsageError(f"{name} is not a file in the index: `vade status -v` lists what was skipped, and why")
    where = f"below {' or '.join(graph.below)}" if graph.below else "here"
    elsewhere = sorted({node.path for node in graph.anywhere(name)} if graph.below else ())
    paths = elsewhere or written_in(graph, name)
    more = ", …" if len(paths) > _OTHERS else ""
    there = f"it is {'' if elsewhere else 'written '}in {', '.join(paths[:_OTHERS])}{more}" if paths else ""
    skipped = "" if elsewhere else skipped_said([graph.opened])
    reason = "; ".join(filter(None, (f"{name!r} is defined nowhere {where}", there, skipped)))
    return Neighbours(name, relation, "not_found", depth, reason=reason, nearest=nearest_to([graph.opened], name))


def _told(graph: Graph, found: Iterable[Neighbour], of: Iterable[Neighbour]) -> tuple[Neighbour, ...]:
    """Add signatures and the text of lines to neighbours."""
    listed = list(found)
    catalogue, files = graph.opened.repo.catalogue, graph.opened.view.files
    named = {asked.name for asked in of}
    wanted = [(graph.blob(each.path), each.chunk) for each in listed if each.chunk >= 0]
    chunks = iter(catalogue.chunks(wanted))
    told = []
    for each in listed:
        chunk = next(chunks)[0] if each.chunk >= 0 else None
        signature = (
            next((s.signature for s in chunk.symbols if f".{each.name}".endswith(f".{s.qualified}")), "")
            if chunk
            else ""
        )
        text = ""
        if each.line and files.number(each.line_path) is not None:
            lines = catalogue.content(graph.blob(each.line_path)).split(b"\n")
            said = {*named, *each.via.split(" > "), each.name} - {""}
            line = _written_at(lines, each, {name for name in said if files.number(name) is None})
            text = lines[line - 1].decode(errors="replace").strip() if line <= len(lines) else ""
            each = replace(each, line=line)  # noqa: PLW2901
        told.append(replace(each, signature=signature, text=text))
    return tuple(told)


def _written_at(lines: Sequence[bytes], each: Neighbour, said: Iterable[str]) -> int:
    """Return the line of a chain of calls that writes a name."""
    last = each.line + _MOST_OF_CHAIN
    if each.line_path == each.path and each.start_line <= each.line <= each.end_line:
        last = min(last, each.end_line)
    names = sorted({name.rpartition(".")[2] for name in said})
    written = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names).encode() or b"$.")
    return next(
        (line for line in range(each.line, last + 1) if written.search(b"".join(lines[line - 1 : line]))), each.line
    )


def _evidence(graph: Graph, node: Node) -> Evidence:
    """Return a node as a piece of evidence."""
    opened = graph.opened
    place = opened.view.files.number(node.path)
    assert place is not None, "a node is of an indexed file"
    row = int(np.searchsorted(opened.view.row_file, place)) + max(node.chunk, 0)
    shown = evidence_of(opened, row, stored_chunks(opened, [row])[0], 1.0, {}, check_file(opened, place))
    return replace(shown, start_line=node.start_line, end_line=node.end_line)

"""Places that may be references that the graph does not know.

    getattr(self, f"do_{command}")()      may call `do_list`

What puts names together or writes them in another form is read, up to some bytes, where nothing else may call a function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from vademecum.code.graph.graph import Graph
from vademecum.code.graph.terms import Edge, Node, Relation, Tier, node_id
from vademecum.code.graph.traverse import is_constructor
from vademecum.code.graph.unresolved import READ_AT_ONCE, lines_naming
from vademecum.code.languages import has_references, language_of, rules_of
from vademecum.code.languages.declarations import FUNCTIONS, LEAVES, plain_holder
from vademecum.code.languages.references import NARROWED, TYPE
from vademecum.code.languages.scopes import CLASSES
from vademecum.code.search.signals import holding
from vademecum.code.search.verdict import OUTSIDE, UNSEEN
from vademecum.code.snapshot.view import FILE_KINDS, LEFT_OUT
from vademecum.index.query import last_part
from vademecum.matching import is_below
from vademecum.types import FileKind, Uncovered

# Files that frameworks load by where they lie: pages, routes, functions, stories, configuration, migrations.
_LOADED = re.compile(
    r"(?:^|/)(?:pages|routes|api|functions|stories)/.*\.(?!py)\w+$|\.(?:stories|config|setup)\.\w+$|(?:^|/)middleware\.[jt]s$"
    r"|(?:^|/)app/(?:.*/)?(?:page|layout|route|loading|error|global-error|template|default|not-found|root|entry\.\w+)\.\w+$"
    r"|(?:^|/)(?:(?:migrations|versions)/.*|conftest|wsgi|asgi|settings|conf)\.py$"
)
_ROUTED = re.compile(r"(?:^|/)app/")  # where some routers load whatever a file exports by default
_USES = (Relation.CALLS, Relation.REFERENCES)
_MOST_MARKS = 12  # lines above a function that may mark it
_REMARKS = (b"#", b"//", b"/*", b"*")
_AUGMENTING = b"declare module"
_OVERRIDING = re.compile(rb"\boverride\b")
_OF_THE_CLASS = re.compile(rb"\b(?:static|private|def self\.)")  # called on the class, or in it alone
_NO_BASES = frozenset({"object", "Object", "ABC", "Generic", "Protocol", ""})  # they call nothing
_INERT_BASES = re.compile(r"(?:Exception|Error|Enum|Tuple|Dict)$")  # nobody looks for what extends them
_NO_MODULES = frozenset(
    {"", "abc", "typing", "typing_extensions", "t", "java.lang"}
)  # where these are: asyncio has another
_MOST_READ = 5_000_000  # bytes
_CUTS = re.compile(r"(?<=\w)_|(?<=[a-z\d])(?=[A-Z])")
_LEAST = 2  # letters of a part
# What may follow the first part of a name, and come before the last: an interpolation, the end of a text that is joined to
# another, `##` of C, the brackets of Rust's `paste!`.
_QUOTE = rb"[\"'`]"  # a text may be the whole part: `startswith("do_")`
_QUOTE_BEFORE, _QUOTE_AFTER = rb"(?:[\"'`]|\[<|\b(?=\w+\s*##))\s*", rb"(?:[\"'`(]|\s*>\]|$)"
_GOES_ON = rb"(?:[{$%]|#\{|[\"'`]\s*(?:\+|\.[\s$])|\s*##|\s+\$\w+)"
_COMES_BEFORE = rb"(?:\}|%s|[+.]\s*[\"'`]|##\s*|\[<\s*\$\w+\s+)"


def uncovered_places(
    graph: Graph, nodes: Sequence[Node], reached: Sequence[Node] = (), guesses: Sequence[Edge] = ()
) -> list[Uncovered]:
    """Return the places that may be unseen references, the likeliest first.

    What refers to one of `reached`, which stand for the nodes, has been seen.

    These call a name on something unknown, `guesses` among them; or hold a name in a file that was not parsed without
    errors, or in a programming language of which the graph reads no references; or write it where no edge says what it
    means. A file of code whose content was left out of the index has no lines, nor has a part of the repository that was.
    """
    names = {node.name for node in nodes}
    families = {rules_of(_language(graph, node)).family for node in nodes}
    table = graph.opened.view.files
    # asked of each language and kind of file once: names stand in hundreds of files
    may_name = [[_may_name(kind, language, families) for language in table.language_names] for kind in FILE_KINDS]
    unresolved = {path for name in names for path in graph.unresolved(name)}
    found = lines_naming(graph, nodes, reached, np.array(may_name, bool)[table.kinds, table.languages], unresolved)
    for skipped in graph.opened.snapshot.skipped:
        is_code = skipped.reason in UNSEEN and _may_refer(language_of(skipped.path), families)
        if is_code or skipped.reason in OUTSIDE:
            found.setdefault(skipped.path, set())
    sources = graph.nodes(edge.source for edge in guesses)
    for edge in guesses:
        found.setdefault(sources[edge.source].path, set()).add(edge.line)
    # the likeliest first: code of the same language, then other code, then configuration
    likely = {path: (rules.family not in families, rules.module is None)
              for path in found for rules in [rules_of(language_of(path))]}  # fmt: skip
    return [Uncovered(path, tuple(sorted(found[path]))) for path in sorted(found, key=lambda p: (likely[p], p))]


def written_in(graph: Graph, name: str) -> list[str]:
    """Return files of code that write a name which nothing declares.

    A deleted function may still be called. Of very many files the first are read.
    """
    files, last = graph.opened.view.files, last_part(name)
    if not last.isidentifier():
        return []
    code = [FILE_KINDS.index(kind) for kind in (FileKind.PRODUCT, FileKind.TEST, FileKind.EXAMPLE)]
    numbers = np.flatnonzero(np.isin(files.kinds, code) & holding(graph.opened.view, last) & (files.blobs != LEFT_OUT))
    near = {path: int(files.blobs[n]) for n in numbers.tolist() if is_below(path := files.paths[n], graph.below)}
    blobs = dict(islice(near.items(), READ_AT_ONCE))
    contents = graph.opened.repo.catalogue.contents(set(blobs.values()))
    word = re.compile(rf"(?<!\w){re.escape(last)}(?!\w)".encode("utf-8", "replace"))
    return sorted(path for path, blob in blobs.items() if word.search(contents[blob]))


def called_from_elsewhere(graph: Graph, nodes: Sequence[Node]) -> str:
    """Say why code from elsewhere may call functions, or return ""."""
    made = (said for node in nodes if node.kind == "class" and (said := _found_by_framework(graph, node)))
    if said := next(made, ""):
        return said
    callable_ = (node for node in nodes if node.kind in FUNCTIONS | {"property"} and not is_constructor(node))
    return next((said for node in callable_ if (said := _called_from_elsewhere(graph, node))), "")


def _called_from_elsewhere(graph: Graph, node: Node) -> str:
    """Say why code from elsewhere may call a function, or return ""."""
    rules = rules_of(_language(graph, node))
    if rules.calls_itself(node.name) or rules_of(rules.family).calls_itself(node.name):
        return f"the language, or its library, calls {node.name} by itself"
    if node.kind in FUNCTIONS and (mark := _mark(graph, node)):
        return f"it is marked {mark}, which may call it"
    if _is_of_object(graph, node):
        return "whoever is given its object may call it"
    if rules.calls_bare and (namesake := _called_namesake(graph, node)):
        return f"{namesake} is called, and no type says that it is not this one"
    if _is_exported(graph, node) and (loaded := _loaded(graph, node)):
        return f"{loaded} may call what {node.path} exports"
    is_method = node.kind in FUNCTIONS and node.name[:1] != "#"
    said = (is_method and _overrides_elsewhere(graph, node)) or made_elsewhere(graph, node)
    return said or (_of_its_class(graph, node) if is_method and node.name[:1] != "_" else "")


def _found_by_framework(graph: Graph, node: Node) -> str:
    """Say why code from elsewhere may make a class, or return ""."""
    if mark := _mark(graph, node):
        return f"it is marked {mark}, which may make it"
    bases = _bases_elsewhere(graph, [node])
    said = (f"{name} extends {base}" for name, base in bases if not _INERT_BASES.search(base))
    return next((f"{each}, which is not in this repository and may find it" for each in said), "")


def _overrides_elsewhere(graph: Graph, node: Node) -> str:
    """Say whose method from elsewhere a method may override, or return ""."""
    holders = [each for each in graph.nodes([node.parent]).values() if each.kind in CLASSES]
    for name, base in _bases_elsewhere(
        graph, [*(each for holder in holders for each in _extending(graph, holder)), *holders]
    ):
        return f"{name} extends {base}, which is not in this repository and may call it"
    said = graph.lines(node.path)[node.start_line - 1]
    if _OVERRIDING.search(said) and not graph.edges([node.id], (Relation.INHERITS, Relation.IMPLEMENTS)):
        return "it overrides what is not in this repository and may call it"
    around = graph.in_files([node.path])
    top = next((each for each in around if each.qualified == node.qualified.partition(".")[0]), node)
    is_added = _AUGMENTING in graph.lines(node.path)[top.start_line - 1]
    return f"it adds to {top.name}, whose code is elsewhere" if is_added else ""


def _of_its_class(graph: Graph, node: Node) -> str:
    """Name a reader or maker of a method's class, or return ""."""
    rules, around = rules_of(language_of(node.path)), graph.in_files([node.path])
    if rules.builds_one:  # Go's interfaces are met without a word
        return _asked_by_interface(graph, node) if node.name[:1].isupper() else ""
    holder = next((each for each in around if each.id == node.parent and each.kind in CLASSES), None)
    if holder is None:
        return ""
    fields = {each.name for each in around if each.parent == holder.id} if rules.has_beans else set()
    if not fields.isdisjoint(rules.otherwise(node.name)):
        return "a library may read or write the property by it"
    is_own = _OF_THE_CLASS.search(graph.lines(node.path)[node.start_line - 1])
    is_other = holder.kind != "class" or rules.declares_apart or rules.numbers_fields or is_own
    is_made = is_other or not _is_made_elsewhere(graph, holder, may_be_opened=rules.calls_bare)
    return "" if is_made else f"nothing here makes an instance of {holder.name}: what does may call it"


def _asked_by_interface(graph: Graph, node: Node) -> str:
    """Name a foreign interface that may ask for a method, or "".

    It is one of the library whose methods the type has, or one of a module that is imported where the type is named or made.
    """
    folder, around = node.path.rpartition("/")[0], node.qualified.rpartition(".")[0]
    language, paths = language_of(node.path), graph.opened.view.files.paths
    beside = [path for path in paths if path.rpartition("/")[0] == folder and language_of(path) == language]
    nodes = graph.in_files(beside)
    holder = next((each for each in nodes if each.qualified == around and each.kind in CLASSES), None)
    if holder is None:
        return ""
    refs = graph.references(holder.path)
    has_more = any(refs.owners[row[0]] == around for row in refs.bases)  # those of what it embeds
    methods = {each.name for each in nodes if each.qualified.rpartition(".")[0] == around}
    for interface, asked in rules_of(language).library_classes.items():
        if node.name in asked and (has_more or asked <= methods):
            return f"{interface} of the library asks for it"
    for path in (node.path, *sorted(_naming(graph, holder))):
        if module := _module_elsewhere(graph, path):
            where = f", which {path} imports," if path != node.path else ""
            return f"an interface of {module}{where} may ask for it"
    return ""


def _naming(graph: Graph, holder: Node) -> set[str]:
    """Return the files with a type's name or its maker's."""
    sources = graph.nodes(edge.source for edge in graph.edges([holder.id], _USES, into=True))
    makers = [number for number, each in sources.items() if each.kind in FUNCTIONS]
    users = graph.nodes(edge.source for edge in graph.edges(makers, _USES, into=True)) if makers else {}
    return {
        each.path for each in (*sources.values(), *users.values()) if language_of(each.path) == language_of(holder.path)
    }


def _module_elsewhere(graph: Graph, path: str) -> str:
    """Return a foreign module that a file imports, "" for none."""
    here = {edge.line for edge in graph.edges([node_id(path)], (Relation.IMPORTS,))}
    rows = graph.references(path).imports
    return next((row[3] for row in rows if "." in row[3].partition("/")[0] and row[1] not in here), "")


def _is_made_elsewhere(graph: Graph, holder: Node, *, may_be_opened: bool) -> bool:
    """Return whether instances of a class come from elsewhere.

    Code names the class, and neither makes it or a subclass nor declares something to be one.
    """
    classes = {each.id: each for each in (holder, *_extending(graph, holder))}
    inside = graph.in_files([*{each.path for each in classes.values()}])
    makers = {each.id for each in inside if each.parent in classes and is_constructor(each)}
    uses = graph.edges([*classes, *makers], (Relation.CALLS, Relation.REFERENCES), into=True)
    if any(edge.relation is Relation.CALLS and edge.source not in makers for edge in uses):
        return False
    names = re.compile(rf"\b(?:{'|'.join(each.name for each in classes.values())})\b")
    paths = {number: each.path for number, each in graph.nodes(edge.source for edge in uses).items()}
    refs = {path: graph.references(path) for path in {*paths.values()}}
    imports = {(path, row[1]) for path, own in refs.items() for row in own.imports}
    is_used = any((paths[edge.source], edge.line) not in imports for edge in uses if edge.source not in classes)
    typed = (row for own in refs.values() for row in own.bindings if row[3] in {TYPE, NARROWED})
    return (is_used or may_be_opened) and not any(names.search(row[4]) for row in typed)


def _extending(graph: Graph, holder: Node) -> Iterator[Node]:
    """Yield the classes that extend a class, directly or not."""
    met, waiting = {holder.id}, [holder.id]
    while waiting:
        edges = graph.edges(waiting, (Relation.INHERITS, Relation.IMPLEMENTS), into=True)
        waiting = [number for number in {edge.source for edge in edges} if number not in met]
        met.update(waiting)
        yield from graph.nodes(waiting).values()


def _loaded(graph: Graph, node: Node) -> str:
    """Name the loader of a file, or return ""."""
    file = node_id(node.path)
    edges = graph.edges([file], (Relation.IMPORTS, Relation.REFERENCES), into=True)
    exported = graph.references(node.path).exports
    is_page = any(row[2] == "default" and row[4] in {"", node.qualified} for row in exported)
    if _LOADED.search(node.path) or (is_page and not edges and _ROUTED.search(node.path)):
        return "what loads the file"
    sources = graph.nodes(edge.source for edge in edges)
    for edge in edges:
        path = sources[edge.source].path
        if rules_of(language_of(path)).is_document:
            continue
        if edge.relation is Relation.REFERENCES or b"import(" in graph.lines(path)[edge.line - 1]:
            return f"{path}:{edge.line} is given the module, and"
    return ""


def _mark(graph: Graph, node: Node) -> str:
    """Return a decorator, annotation or attribute that may call a function."""
    rules = rules_of(_language(graph, node))
    if not rules.decorates or graph.opened.view.files.number(node.path) is None:
        return ""
    lines = graph.lines(node.path)
    above = reversed(lines[max(0, node.start_line - 1 - _MOST_MARKS) : node.start_line - 1])
    marked = re.compile(rules.decorates + rb"\s*(?:\w+:\s*)?([A-Za-z_][\w.:]*)")
    inside = 0  # brackets of a mark over several lines
    for line in (*lines[node.start_line - 1 : node.start_line], *above):
        said = line.strip()
        if found := marked.match(said):
            inside, name = 0, re.split(rb"[.:]+", found[1].strip(b".:"))[-1].decode()
            if name not in rules.inert.split() or any(each.qualified == name for each in graph.with_name(name)):
                return found[0].decode() + "]" * (b"[" in found[0])
        elif line is not lines[node.start_line - 1]:
            inside += sum(said.count(each) for each in (b")", b"]", b"}")) - sum(map(said.count, (b"(", b"[", b"{")))
            if inside <= 0 and not said.startswith(_REMARKS):
                break
    return ""


def _is_exported(graph: Graph, node: Node) -> bool:
    """Return whether a file exports a declaration of its own."""
    rules, lines = rules_of(language_of(node.path)), graph.lines(node.path)
    if not rules.has_exports:
        return rules.has_submodules and "." not in node.qualified
    is_marked = "." not in node.qualified and lines[node.start_line - 1].lstrip().startswith(b"export")
    return is_marked or any(row[4] == node.qualified and not row[3] for row in graph.references(node.path).exports)


def _is_of_object(graph: Graph, node: Node) -> bool:
    """Return whether a method belongs to an object, or a nameless class.

    What its file exports by name does not count.
    """
    holder = graph.nodes([node.parent]).get(node.parent)
    if holder is None or node.kind != "method":
        return False
    if not rules_of(language_of(node.path)).nests_functions:
        return holder.kind in FUNCTIONS | LEAVES
    around = node.qualified.rpartition(".")[0]
    is_object = holder.kind in LEAVES | {"object"} or holder.qualified != around or not holder.qualified
    return is_object and all(name != node.name for _, _, name, *_ in graph.references(node.path).exports)


def _called_namesake(graph: Graph, node: Node) -> str:
    """Return a method whose calls may reach its namesake, "" for none."""
    named = (each for each in graph.anywhere(node.name) if "." in node.qualified and each.kind in FUNCTIONS)
    others = {each.id: each.qualified for each in named if each.name == node.name and each.id != node.id}
    calls = graph.edges(others, (Relation.CALLS,), into=True, tiers=(Tier.TYPED, Tier.UNIQUE))
    return next((others[call.target] for call in calls), "")


def _bases_elsewhere(graph: Graph, waiting: list[Node]) -> Iterator[tuple[str, str]]:
    """Yield classes, or bases of theirs, with a base from elsewhere."""
    met = {each.id for each in waiting}
    while waiting:
        around = waiting.pop()
        edges = graph.edges([around.id], (Relation.INHERITS, Relation.IMPLEMENTS))
        bases = graph.nodes(edge.target for edge in edges)
        own = {base.name for base in bases.values()}
        refs = graph.references(around.path)
        for owner, _, text in refs.bases:
            name = re.split(r"[<\[(]", text)[0].strip()
            module, _, last = re.sub(r"\W+", ".", name).rpartition(".")
            module = module or next((row[3] for row in refs.imports if row[2] == last), "")
            is_nothing = last in own or (last in _NO_BASES and module in _NO_MODULES)
            if plain_holder(refs.owners[owner]) == around.qualified and not is_nothing:
                yield around.name, name
        waiting += [base for number, base in bases.items() if number not in met]
        met |= bases.keys()


def _may_name(kind: FileKind, language: str, families: set[str]) -> bool:
    """Return whether a name in a file may mean a family.

    Code may, and files that configure code; prose may not.
    """
    rules = rules_of(language)
    if rules.module is not None and not rules.is_document:
        return _may_refer(language, families)
    return kind in {FileKind.CONFIG, FileKind.PRODUCT} and not rules.is_document


def _may_refer(language: str, families: set[str]) -> bool:
    """Return whether unread text in a language may refer to the families."""
    rules = rules_of(language)
    return rules.module is not None and (not has_references(language) or rules.family in families)


def _language(graph: Graph, node: Node) -> str:
    files = graph.opened.view.files
    number = files.number(node.path)
    return "" if number is None else files.language(number)


def made_elsewhere(graph: Graph, node: Node) -> str:
    """Say where a function's name may be made, or return ""."""
    own = rules_of(language_of(node.path))
    written = {each: rb"(?:\.|\{\{[#^/&{]?\s*)" + each.encode() + rb"\b" for each in own.otherwise(node.name)}
    for part, pattern in (*written.items(), *_parts(node.name)):
        found = re.compile(pattern)
        for path, content in _holding(graph, part):
            is_other = part in written and rules_of(language_of(path)) is own
            if not is_other and (match := found.search(content)) is not None:
                line = content.count(b"\n", 0, match.start()) + 1
                return f"{path}:{line} may write its name as {match[0].decode(errors='replace').strip()}"
    return ""


def _parts(name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the beginnings and ends of a name, each with its pattern."""
    for cut in (found.end() for found in _CUTS.finditer(name)):
        head, tail = name[:cut], name[cut:]
        if len(head.strip("_")) >= _LEAST:
            goes_on = _GOES_ON + (b"|" + _QUOTE if head[-1] == "_" else b"")
            yield head, _QUOTE_BEFORE + head.encode() + b"(?:" + goes_on + b")"
        if len(tail) > _LEAST:
            before = _COMES_BEFORE + b"_?" + (b"|" + _QUOTE + b"_" if name[cut - 1] == "_" else b"")
            yield tail, b"(?:" + before + b")" + tail.encode() + _QUOTE_AFTER


def _holding(graph: Graph, part: str) -> Iterator[tuple[str, bytes]]:
    """Yield the code that may hold a part of a name."""
    table, catalogue = graph.opened.view.files, graph.opened.repo.catalogue
    left = _MOST_READ
    for number in np.flatnonzero(holding(graph.opened.view, part.strip("_")) & (table.blobs != LEFT_OUT)).tolist():
        rules = rules_of(table.language(number))
        if rules.is_prose or rules.is_document or rules.is_data or left <= 0:
            continue
        content = catalogue.content(int(table.blobs[number]))
        left -= len(content)
        yield table.paths[number], content

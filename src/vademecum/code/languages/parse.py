"""A file's syntax: one parse and one query, under a deadline.

Owns the conversation with tree-sitter. What a query captures is a small vocabulary shared by all languages (see
`declarations`); everything downstream works on byte offsets, not on nodes.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from vademecum.code import languages
from vademecum.errors import ParseError
from vademecum.result import Err, Ok, Result

if TYPE_CHECKING:
    import tree_sitter

# A byte range, half-open.
Range = tuple[int, int]
# What a pattern matched: its number, and the nodes captured under each name.
Match: TypeAlias = "tuple[int, dict[str, list[tree_sitter.Node]]]"

_READ = 1 << 16  # bytes handed to the parser at a time
_DEPTH = 1000  # levels of the tree that are queried
_MATCHES = 1 << 16  # matches of the query under way at once
_LAYERS = 4  # macros around one another that are unwrapped


@dataclass(frozen=True, slots=True)
class Syntax:
    """The syntax of one file.

    Attributes:
        root: The tree's root, asked again only where something large must be cut.
        captures: The byte ranges captured under each name of the query, sorted, outer before inner.
        has_errors: Whether the grammar found errors.
        referring: What the query that finds references matched, in the cursor's order; None where it was not asked.
    """

    root: tree_sitter.Node
    captures: Mapping[str, list[Range]]
    has_errors: bool
    referring: Sequence[Match] | None = None


def parse(
    content: bytes, language: str, deadline_s: float = 5.0, *, references: bool = False
) -> Result[Syntax, ParseError]:
    """Parse one file and run its language's query over it.

    Args:
        content: The file, valid UTF-8.
        language: A language id.
        deadline_s: Seconds after which parsing is given up, so that one pathological file cannot hang a run.
        references: Whether what the file refers to is looked for in the same walk, where its language has a query for that.

    Returns:
        The syntax, or a `ParseError` when the language has no grammar or time ran out.

        >>> syntax = parse(b"def f(): pass", "python").unwrap()
        >>> syntax.captures["name"], syntax.has_errors
        ([(4, 5)], False)
    """
    ends = time.monotonic() + deadline_s
    grammar, readable = languages.grammar(language), languages.rules_of(language).readable(content)
    match _tree(languages.compiled_grammar(language), readable, language, deadline_s):
        case Err() as failed:
            return failed
        case Ok(tree):
            pass
    import tree_sitter

    assert grammar is not None
    tree, readable = _unwrapped(tree, readable, language, ends)
    if (references or grammar.predicates) and ends - time.monotonic() > deadline_s / 2:
        # Node texts are fetched through a reader, slowly, unless the tree owns its source: hand the bytes over in a second
        # parse, which takes every node from the first.
        tree = tree_sitter.Parser(grammar.compiled).parse(readable, tree)
    # A progress callback on the query would crash the interpreter (py-tree-sitter 0.26.1). Its cost grows with the depth
    # of the tree and with unfinished matches, so these are bounded instead; no code that people write comes near.
    root = tree.root_node
    joint = languages.joint_query(language) if references else None
    query = joint.query if joint is not None else languages.own_query(language)
    assert query is not None
    cursor = tree_sitter.QueryCursor(query, match_limit=_MATCHES)
    cursor.set_max_start_depth(_DEPTH)
    # `captures` would tell those of a pattern with wildcards before the whole pattern has matched (tree-sitter 0.26).
    captured, referring = _apart(cursor.matches(root), query.pattern_count if joint is None else joint.own)
    return Ok(Syntax(root, _by_name(captured), root.has_error, None if joint is None else referring))


def _unwrapped(tree: tree_sitter.Tree, readable: bytes, language: str, ends: float) -> tuple[tree_sitter.Tree, bytes]:
    """Return a tree with the contents of macros as its own items."""
    grammar, rules = languages.compiled_grammar(language), languages.rules_of(language)

    def parsed(part: bytes) -> tree_sitter.Node | None:
        read = _tree(grammar, part, language, ends - time.monotonic())
        return read.value.root_node if isinstance(read, Ok) else None

    for _ in range(_LAYERS):
        wrapped = list(rules.unwrapped(tree.root_node, readable, parsed))
        if not wrapped:
            break
        changed = bytearray(readable)
        for start, items in wrapped:
            changed[start : start + len(items)] = items
        read = _tree(grammar, bytes(changed), language, ends - time.monotonic())
        if not isinstance(read, Ok):
            break
        tree, readable = read.value, bytes(changed)
    return tree, readable


def _apart(matches: Iterable[Match], own: int) -> tuple[dict[str, list[tree_sitter.Node]], list[Match]]:
    """Split matches: captures of `own` patterns by name, and the rest."""
    captured: defaultdict[str, list[tree_sitter.Node]] = defaultdict(list)
    referring = []
    for match in matches:
        if match[0] < own:
            for name, nodes in match[1].items():
                captured[name] += nodes
        else:
            referring.append(match)
    return captured, referring


def syntax_tree(content: bytes, language: str, deadline_s: float = 5.0) -> Result[tree_sitter.Tree, ParseError]:
    """Parse one file without running a query.

    This takes two thirds of the time of `parse`, and less before the query is compiled.

    >>> syntax_tree(b"def f(): pass", "python").unwrap().root_node.type
    'module'
    """
    readable = languages.rules_of(language).readable(content)
    return _tree(languages.compiled_grammar(language), readable, language, deadline_s)


def _tree(
    grammar: tree_sitter.Language | None, readable: bytes, language: str, deadline_s: float
) -> Result[tree_sitter.Tree, ParseError]:
    if grammar is None:
        return Err(ParseError(f"no grammar for {language}"))
    import tree_sitter

    ends = time.monotonic() + deadline_s
    parser = tree_sitter.Parser(grammar)  # one of its own: two threads at one parser crash the interpreter
    try:
        # The progress callback is heard only when the source is read piece by piece.
        tree = parser.parse(
            lambda offset, _point: readable[offset : offset + _READ],
            progress_callback=lambda _offset, _error: time.monotonic() > ends,
        )
    except ValueError:  # "Parsing failed": the callback said stop
        return Err(ParseError(f"not parsed within {deadline_s:g} s"))
    return Ok(tree)


def _by_name(captured: Mapping[str, list[tree_sitter.Node]]) -> dict[str, list[Range]]:
    """Return the byte ranges of captures by name.

    Such a pattern names no child, and its fields are asked of the nodes here: tree-sitter takes up to 0.2 s to compile
    one that does (`function_declaration` of Swift), more than it takes to parse a small repository.
    """
    ranges: dict[str, set[Range]] = {}
    for name, nodes in captured.items():
        ranges.setdefault(name.removesuffix(".named"), set()).update(node.byte_range for node in nodes)
        for field in ("name", "body") if name.endswith(".named") else ():
            children = (node.child_by_field_name(field) for node in nodes)
            ranges.setdefault(field, set()).update(child.byte_range for child in children if child is not None)
    return {name: sorted(found, key=lambda extent: (extent[0], -extent[1])) for name, found in ranges.items()}

"""Scopes of a file: declarations, and blocks of C++ and Rust."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from vademecum.code.languages.bindings import how_bound
from vademecum.code.languages.declarations import LEAVES, Declaration, Outline
from vademecum.code.languages.parse import Match
from vademecum.code.languages.references import TYPE, VALUE

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.code.languages.language import Language

LONGEST = 400  # characters of an expression or a type
Part = tuple[int, int]  # the first byte of a part of a file, and the one behind it


def dividing(matches: Sequence[Match], ends: Container[int], rules: Language, content: bytes) -> list[Part]:
    """Return the blocks that bind a name of their function anew.

    The name is bound to another type, or another value, in another block. A function's body ends in one of `ends`, or
    the function shares its name, as those do that a macro writes: all of these count as one.
    """
    blocks = sorted(_part(captured["block"][0]) for _, captured in matches if "block" in captured)
    found: dict[tuple[int, str], dict[str, set[Part]]] = {}  # by function and name: text → blocks
    stack: list[Part] = []
    following = 0
    for place, (name, text) in sorted(_bound_texts(matches, rules, content).items()) if blocks else ():
        while following < len(blocks) and blocks[following][0] <= place:
            stack = [*(block for block in stack if block[1] > blocks[following][0]), blocks[following]]
            following += 1
        stack = [block for block in stack if block[1] > place]
        if stack:
            function = stack[0][0] if stack[0][1] in ends else -1
            found.setdefault((function, name), {}).setdefault(text, set()).add(stack[-1])
    divided = {block for texts in found.values() if len(texts) > 1 for each in texts.values() for block in each}
    return sorted(block for block in divided if block[1] not in ends)


def _part(block: tree_sitter.Node) -> Part:
    """Return a block's extent, its function's parameters included."""
    around = block.parent if block.type == "compound_statement" else None
    named = around.child_by_field_name("declarator") if around is not None else None
    start = block.start_byte if named is None else named.start_byte + 1  # the function itself begins before it
    return start, block.end_byte


def _bound_texts(matches: Sequence[Match], rules: Language, content: bytes) -> dict[int, tuple[str, str]]:
    """Return, by place, bound names with the types, or values, they have."""

    def text(node: tree_sitter.Node) -> str:
        start, end = node.byte_range
        return content[start : min(end, start + LONGEST)].decode(errors="ignore")

    found: dict[int, tuple[str, str]] = {}
    for _, captured in matches:
        if "name" in captured and (how := how_bound(captured)) in {TYPE, VALUE}:
            name = captured["name"][0]
            written = text(captured[how][0])
            if written != "auto" or name.start_byte not in found:
                found[name.start_byte] = (text(name), written)
        elif "pattern" in captured:
            taken = rules.taken_apart(captured["pattern"][0], text)
            found |= {name.start_byte: (text(name), path) for name, path in taken}
    return found


def is_scope(declared: Declaration, literals: Sequence[Part], rules: Language) -> bool:
    """Return whether a declaration is a scope.

    A constant is one where functions nest and its value holds one: `const Form = memo(() => …)`.
    """
    if not declared.qualified or declared.capture not in LEAVES:
        return bool(declared.qualified)
    if declared.capture != "constant" or not rules.nests_functions or len(declared.names) != 1:
        return False
    first = bisect_left(literals, (declared.core, 0))
    return first < len(literals) and literals[first][1] <= declared.end


def repeated(outline: Outline) -> frozenset[str]:
    """Return the names that several declarations of the file have."""
    counted = Counter(each.qualified for each in outline.all if each.capture not in LEAVES)
    return frozenset(name for name, count in counted.items() if count > 1)


def bodies(outline: Outline) -> set[int]:
    """Return the ends of functions whose names are unique in the file."""
    several = repeated(outline)
    return {each.end for each in outline.all if each.capture not in LEAVES and each.qualified not in several}

"""The binding of a name, read from the captures of a query."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from typing import TYPE_CHECKING

from vademecum.code.languages.expression import chain
from vademecum.code.languages.language import SELVES
from vademecum.code.languages.line_index import Lines
from vademecum.code.languages.references import BLOCK, CONTEXT, EACH, GIVEN, LITERAL, SHADOW, TYPE, VALUE, References
from vademecum.code.languages.scopes import functions_around, is_nameless, parent_scopes

if TYPE_CHECKING:
    import tree_sitter

_NEAR = 300  # bytes from the line of a call that are read of it
LITERALS = frozenset("{[\"'`0123456789")  # what a value that is written out begins with


def held(how: str, text: str) -> tuple[str, str]:
    """Return the kind of a binding and the chain of an expression."""
    if how in {TYPE, GIVEN, SHADOW}:
        return how, text
    spelled = chain(text)
    return (how, spelled) if spelled else (SHADOW, LITERAL if text[:1] in LITERALS else "")


def how_bound(captured: Mapping[str, list[tree_sitter.Node]]) -> str:
    """Return how a name is bound, by its value for `auto`."""
    declared = captured[TYPE][0] if TYPE in captured else None
    is_auto = declared is not None and declared.end_byte - declared.start_byte == 4 and declared.text == b"auto"
    for how in (VALUE, EACH, TYPE) if is_auto else (TYPE, VALUE, EACH, CONTEXT):
        if how in captured:
            return how
    return GIVEN if "listed" in captured else SHADOW


def handed(
    name: tree_sitter.Node, captured: Mapping[str, list[tree_sitter.Node]], text: Callable[[tree_sitter.Node], str]
) -> str:
    """Return the text by which a callback's parameter is found.

    The place of the parameter, that of the callback, perhaps as a member, and the chain of what is called; or "" and a
    type for the two.
    """
    place = _place(captured["listed"][0], name)
    if "meant" in captured:
        return f"{place}//{text(captured['meant'][0]).lstrip(': ')}"
    member = f".{text(captured['key'][0])}" if "key" in captured else ""
    return f"{place}/{_place(captured['among'][0], name)}{member}/{chain(text(captured['given'][0]))}"


def handed_block(captured: Mapping[str, list[tree_sitter.Node]], text: Callable[[tree_sitter.Node], str]) -> str:
    """Return the text by which a block's parameter or `self` is found."""
    before = f"{chain(text(captured['of'][0])) or '?'}." if "of" in captured else ""
    return f"{BLOCK}/{before}{text(captured['given'][0])}"


def _place(listed: tree_sitter.Node, inside: tree_sitter.Node) -> int:
    """Return which part of a list holds a node."""
    return sum(each.type == "," and each.end_byte <= inside.start_byte for each in listed.children)


def listed_nodes(listed: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Return the arguments or parameters of a list, without comments."""
    return [each for each in listed.named_children if "comment" not in each.type and each.type != "receiver_parameter"]


def unbound(found: References, bare: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return the bare names that no function around binds: calls of Ruby."""
    bound, calls = {(found.owners[row[0]], row[2]) for row in found.bindings}, []
    for row in bare:
        around = [*parent_scopes(found.owners[row[0]])]
        own = next((n for n, each in enumerate(around) if not is_nameless(each)), len(around))
        if not any((each, row[2]) in bound for each in around[: own + 1]):
            calls.append(row)
    return calls


def forget_unbound(found: References, constants: Container[str], lines: Lines) -> None:
    """Forget the receivers that only a macro of Rust can bind."""
    owners, within = found.owners, functions_around(found.owners, found.within)
    bound = {(owners[row[0]], row[2]) for row in found.bindings}
    listed = {row[2] for row in found.imports} | {each.rpartition(".")[2] for each in owners} | SELVES
    for place, (owner, line, spelled) in enumerate(found.calls):
        first, _, rest = spelled.partition(".")
        is_listed = first in listed or first in constants or (first[:1].isupper() and "*" in listed)
        if not rest or is_listed or not first.isidentifier():
            continue
        around = (*parent_scopes(owners[owner], within), "")
        written = lines.content[lines.starts[line - 1] :][:_NEAR]
        if not any((each, first) in bound for each in around) and re.search(rf"\b{first}\s*\.\s*\w".encode(), written):
            found.calls[place] = (owner, line, f"?.{rest}")

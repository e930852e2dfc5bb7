"""The scope around each place of a file, blocks included."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from typing import TYPE_CHECKING

from vademecum.code.languages.bindings import how_bound
from vademecum.code.languages.declarations import LEAVES, Declaration, Outline
from vademecum.code.languages.expression import LONGEST
from vademecum.code.languages.language import Language
from vademecum.code.languages.line_index import Lines
from vademecum.code.languages.parse import Match
from vademecum.code.languages.references import FIELDS, TYPE, VALUE, References
from vademecum.code.languages.scopes import declaration_of, is_nameless, parent_scopes

if TYPE_CHECKING:
    import tree_sitter


Part = tuple[int, int]  # the first byte of a part of a file, and the one behind it
CALLABLE = frozenset({"function", "method", "constructor", "macro"})


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


def bound_anew(matches: Sequence[Match], content: bytes) -> dict[int, Part]:
    """Return, by place, the parts for which names are bound anew.

    The name means something else from its statement to the end of the block, or in what an `if` or a loop does.
    """
    news = sorted(
        (
            *captured["anew"][0].byte_range,
            captured["let"][0].end_byte,
            captured["until"][0].end_byte if "until" in captured else 0,
        )
        for _, captured in matches
        if "let" in captured
    )
    blocks = sorted(captured["block"][0].byte_range for _, captured in matches if "block" in captured) if news else []
    named = (captured["name"] for _, captured in matches if "name" in captured) if news else ()
    places = {start: content[start:end] for start, end in (nodes[0].byte_range for nodes in named)}
    counts = Counter(places.values())
    found: dict[int, Part] = {}
    known: dict[bytes, set[Part]] = {}  # by name: the blocks that bind it
    stack: list[Part] = []
    following = 0
    for place, name in sorted(each for each in places.items() if counts[each[1]] > 1):
        while following < len(blocks) and blocks[following][0] <= place:
            stack = [*(block for block in stack if block[1] > blocks[following][0]), blocks[following]]
            following += 1
        stack = [block for block in stack if block[1] > place]
        at, own = bisect_left(news, (place + 1,)) - 1, known.setdefault(name, set())
        if at < 0 or place >= news[at][1]:  # of a function, whose block follows
            own.update(blocks[following : following + 1])
        elif not own.isdisjoint(stack):
            end = news[at][3] or stack[-1][1]
            found |= {place: (news[at][2], end)} if news[at][2] < end else {}
        own.update(stack[-1:])
    return found


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


class Owners:
    """Numbers the scopes of a file, and finds the innermost."""

    def __init__(self, found: References, lines: Lines, rules: Language) -> None:
        self.found, self._lines, self._rules = found, lines, rules
        self.numbers: dict[str, int] = {"": 0}
        self.kinds: dict[int, str] = {}
        self.narrowing: dict[int, int] = {}  # by number of a part where a test tells a type: what is around it
        self._starts, self._owners = [0], [0]

    def at(self, place: int) -> int:
        """Return the number of the innermost scope around a place."""
        return self._owners[bisect_right(self._starts, place) - 1]

    def begins(self, place: int) -> bool:
        """Return whether the innermost scope around a place begins there."""
        return self._starts[bisect_right(self._starts, place) - 1] == place

    def holder(self, owner: int) -> int:
        """Return the scope that holds the bindings of a scope."""
        while owner in self.narrowing:
            owner = self.narrowing[owner]
        return owner

    def number(self, qualified: str) -> int:
        """Return the number of a scope, perhaps a new one."""
        if qualified not in self.numbers:
            self.numbers[qualified] = len(self.numbers)
            self.found.owners.append(qualified)
        return self.numbers[qualified]

    def class_of(self, owner: int) -> int:
        """Return the innermost class around a declaration, or itself.

        A function with a capital may be one, and keeps its fields apart from its variables.
        """
        own = self.found.owners[owner]
        for qualified in parent_scopes(own):
            if self.kinds.get(self.numbers.get(qualified, -1), "class") not in CALLABLE:
                return self.number(qualified)
        made = (each for each in parent_scopes(own) if each.rpartition(".")[2][:1].isupper())
        made_of = next(made, "") if self._rules.nests_functions else ""
        return self.number(f"{made_of}.{FIELDS}" if made_of else "")

    def sweep(self, outline: Outline, literals: Sequence[Part], blocks: Iterable[Part], told: Collection[Part]) -> None:
        """Find where the innermost scope changes.

        Scopes are declarations, functions without names, and blocks; `told` are parts in which a test tells a type.
        """
        parts = sorted({*blocks, *told})
        holders = [
            (d.names[0][1] if d.capture in LEAVES else d.core, -d.end, d.qualified, d.capture, d.start)
            for d in outline.all
            if is_scope(d, literals, self._rules)
        ]
        holders += [
            (start, -end, f"<{number}>", "function", start)
            for number, (start, end) in enumerate([*literals, *parts], 1)
        ]
        several, whole = repeated(outline) if self._rules.nests_functions else frozenset(), frozenset(parts)
        stack: list[tuple[int, int]] = []
        for start, minus_end, qualified, capture, first in sorted(holders):
            self._leave(stack, start)
            place, around = (start, -minus_end), stack[-1][1] if stack else 0
            nameless = qualified[0] == "<" and is_nameless(qualified)
            is_value = nameless and stack and 0 <= stack[-1][0] + minus_end <= 2 and not self._rules.implied
            if is_value and place not in whole and around not in self.narrowing:
                continue  # the value of the declaration around it, perhaps before a semicolon: its name is the function's
            lines = self._lines.number(first), self._lines.number(-minus_end - 1)
            number = self.number(self._known(qualified, self.found.owners[around], lines, several))
            if not nameless and is_nameless(self.found.owners[around]):
                self.found.within.append((number, self._lines.number(start), around))
            self.kinds.setdefault(number, capture)
            if place in told:
                self.narrowing[number] = around
            stack.append((-minus_end, number))
            self._starts.append(start)
            self._owners.append(number)
        self._leave(stack, None)

    def _leave(self, stack: list[tuple[int, int]], place: int | None) -> None:
        """Note the scopes that end before a place, all for None."""
        while stack and (place is None or stack[-1][0] <= place):
            end, _ = stack.pop()
            self._starts.append(end)
            self._owners.append(stack[-1][1] if stack else 0)

    def _known(self, qualified: str, around: str, lines: tuple[int, int], several: Container[str]) -> str:
        """Return a scope's name, told apart by the functions around it."""
        if qualified[0] == "<" and is_nameless(qualified):
            return f"{around}.{qualified}" if around else qualified
        if qualified in several and is_nameless(around):
            known = f"{around}.{qualified.removeprefix(f'{declaration_of(around)}.')}"
            self.found.apart.append((self.number(known), *lines, qualified))
            return known
        return self.found.known(qualified, lines[0]) if several else qualified

"""Questions from names: find the definition.

The answer is the first line of every definition of the name. The definitions come from the index's own parser; a name
that it missed is not asked about.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict

from vademecum.bench.measures import Target
from vademecum.bench.questions import SYMBOL, Question, draw, is_product
from vademecum.bench.trees import Tree
from vademecum.code.languages.declarations import KIND, LEAVES

LEAST_CHARACTERS = 4
MOST_DEFINITIONS = 3  # a name with more definitions (`run`, `__init__`) identifies nothing
_ASKED = frozenset(KIND) - LEAVES - {"namespace", "module", "impl", "extension"}


def symbol_questions(tree: Tree, most: int, seed: int) -> list[Question]:
    """Draw names of functions, methods and types in product code."""
    definitions = defined_names(tree)
    candidates: dict[str, list[str]] = defaultdict(list)
    for name, places in sorted(definitions.items()):
        if is_an_address(name, places):
            candidates[places[0][0]].append(name)
    drawn = draw(candidates, most, f"{seed}:{SYMBOL}", lambda _: True)
    return [Question(SYMBOL, name, targets_of(definitions[name]), name) for name in drawn]


def defined_names(tree: Tree) -> dict[str, list[tuple[str, int]]]:
    """Return every defined name, with path and line of each definition.

    Definitions outside of product code are included.
    """
    columns = ("blob", "name", "kind", "start_line")
    rows = tree.repo.catalogue.symbols([("blob", "in", sorted(set(tree.blobs.values())))], columns)
    blobs = [row[0] for row in rows]
    named: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for path, blob in sorted(tree.blobs.items()):
        for row in rows[bisect_left(blobs, blob) : bisect_left(blobs, blob + 1)]:
            if row[2] in _ASKED:
                named[row[1]].append((path, row[3]))
    return named


def is_an_address(name: str, places: list[tuple[str, int]]) -> bool:
    """Return whether a name is worth asking about.

    It must not be a short or special name, and must be defined a few times, in product code alone.
    """
    return (
        len(name) >= LEAST_CHARACTERS
        and name.isidentifier()
        and not name.startswith("__")
        and len(places) <= MOST_DEFINITIONS
        and all(is_product(path) for path, _ in places)
    )


def targets_of(places: list[tuple[str, int]]) -> tuple[Target, ...]:
    """Return the lines of definitions, by file.

    >>> targets_of([("a.py", 3), ("a.py", 9), ("b.py", 1)])
    (Target(path='a.py', spans=((3, 3), (9, 9))), Target(path='b.py', spans=((1, 1),)))
    """
    lines: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for path, line in places:
        lines[path].append((line, line))
    return tuple(Target(path, tuple(spans)) for path, spans in lines.items())

"""Anchor facts to code, and report whether that code has changed.

Memory does not depend on the code index. The caller passes a look-up function from names to their definitions and the hash
of each. Without an index no fact is anchored, and none is reported as drifted.

    >>> names_in("decided: `TokenBudget.split` hands leftovers on, see walk_tree() and README")
    ['TokenBudget.split', 'walk_tree']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from vademecum.memory.ledger import Scope
from vademecum.memory.records import Anchor, AnchorState, Fact, Note, Recalled

AT_ONCE = 100  # facts in one transaction
MOST_NAMES = 6  # in one fact; more names are a list, not a statement about them
MOST_SITES = 3  # definitions of a name; with more the name is ambiguous

_IN_TICKS = re.compile(r"`([^`\s]{2,80})`")
_NAME = r"[A-Za-z_]\w*"
_DOTTED = re.compile(rf"\b{_NAME}(?:(?:\.|::){_NAME})+\b(?!/)")
_CAMEL = re.compile(r"\b(?:[A-Z][a-z0-9]+){2,}\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b")
_SNAKE = re.compile(r"\b[A-Za-z]\w*_\w+\b")
_CALLED = re.compile(rf"\b({_NAME})\(\)")
_WHOLE = re.compile(rf"{_NAME}(?:(?:\.|::|#){_NAME})*(?:\(\))?")


@dataclass(frozen=True, slots=True)
class Site:
    """A symbol's definition: its file and the hash of its code."""

    symbol: str  # qualified
    path: str
    hash: str


# Names → the current definitions of each; None without an index.
LookUp = Callable[[Sequence[str]], Mapping[str, Sequence[Site]] | None]


def no_code(_: Sequence[str]) -> None:
    """Look up no names, for a memory without a code index."""


def names_in(text: str) -> list[str]:
    """Return the code names in a text, in order.

    A name is in backticks, called, dotted, camel case or snake case. At most six are returned.
    """
    found: list[tuple[int, str]] = []
    for pattern in (_IN_TICKS, _CALLED):
        found += [(match.start(), match[1]) for match in pattern.finditer(text) if _WHOLE.fullmatch(match[1])]
    for pattern in (_DOTTED, _CAMEL, _SNAKE):
        found += [(match.start(), match[0]) for match in pattern.finditer(text)]
    names = dict.fromkeys(name.removesuffix("()") for _, name in sorted(found))
    whole = [
        name for name in names if not any(name != other and name in re.split(r"\.|::|#", other) for other in names)
    ]
    return whole[:MOST_NAMES]


class Anchoring:
    """Anchors new facts to code, and reads the state of that code."""

    def __init__(self, look_up: LookUp = no_code) -> None:
        """Take the function that looks names up."""
        self._look_up = look_up

    def anchor(self, scope: Scope, facts: Sequence[Fact]) -> int:
        """Store the symbols that facts name, and return their number.

        Call it inside a transaction. Each row holds the hash of the symbol's code.
        """
        wanted = {fact.id: names_in(f"{fact.text} {fact.reason}") for fact in facts}
        names = list(dict.fromkeys(name for each in wanted.values() for name in each))
        if not names:
            return 0
        sites = self._look_up(names)
        if not sites:
            return 0
        known = {(row[0], row[1]) for row in scope.store.get("anchors", [(id_,) for id_ in wanted]).unwrap()}
        rows = [
            (fact.id, site.symbol, site.path, site.hash, fact.last_at)
            for fact in facts
            for name in wanted[fact.id]
            for site in sites.get(name, ())
            if len(sites[name]) <= MOST_SITES and (fact.id, site.symbol) not in known
        ]
        distinct = {(row[0], row[1]): row for row in rows}
        return scope.store.upsert("anchors", list(distinct.values())).unwrap()

    def catch_up(self, scope: Scope) -> None:
        """Anchor facts that were learned before an index existed.

        Facts are handled in small transactions, so that no writer waits long.
        """
        facts = scope.ledger.facts()
        self._look_up([])  # refreshes the index before the database is locked
        for first in range(0, len(facts), AT_ONCE):
            with scope.store.transaction():
                self.anchor(scope, facts[first : first + AT_ONCE])

    def states(self, scope: Scope, facts: Sequence[Fact]) -> dict[str, tuple[Anchor, ...]]:
        """Return the anchors of facts, each with the state of its code.

        The result is empty without an index.
        """
        rows = scope.store.get("anchors", [(fact.id,) for fact in facts]).unwrap() if facts else []
        if not rows:
            return {}
        sites = self._look_up(list(dict.fromkeys(row[1] for row in rows)))
        if sites is None:
            return {}
        found: dict[str, list[Anchor]] = {}
        for fact, symbol, path, hash_, _ in rows:
            anchor = Anchor(symbol, path, hash_, state_of(hash_, sites.get(symbol, ())))
            found.setdefault(fact, []).append(anchor)
        return {fact: tuple(anchors) for fact, anchors in found.items()}

    def anchored(self, scopes: Sequence[Scope], found: Recalled) -> Recalled:
        """Return recalled evidence with the anchors of its facts."""
        facts = [fact for item in found.evidence for fact in item.facts]
        states: dict[str, tuple[Anchor, ...]] = {}
        for scope in scopes:
            states |= self.states(scope, facts)
        if not states:
            return found
        evidence = tuple(
            replace(item, anchors=tuple(a for fact in item.facts for a in states.get(fact.id, ())))
            for item in found.evidence
        )
        return replace(found, evidence=evidence)

    def about(self, scope: Scope, symbols: Mapping[str, str]) -> list[Note]:
        """Return the current facts about any of these symbols.

        Args:
            scope: The scope to search.
            symbols: Name → the shown symbol that calls it, or "" for a symbol that is shown itself. A call is spelled as in code
                (`self.split`), so its last part must match; a shown symbol's full name must match.
        """
        rows = []
        for fact, symbol in scope.store.scan("anchors", columns=("fact", "symbol")).unwrap():
            named = symbol if symbols.get(symbol) == "" else _called(symbol, symbols)
            rows += [(fact, named)] if named else []
        by_fact: dict[str, str] = dict(
            sorted(rows, key=lambda row: symbols[row[1]] == "")
        )  # the symbol itself before its callers
        facts = [fact for fact in scope.ledger.get(list(by_fact)) if fact.valid_to is None]
        states = self.states(scope, facts)
        return [Note(fact, states.get(fact.id, ()), symbols[by_fact[fact.id]]) for fact in facts]


def _called(symbol: str, symbols: Mapping[str, str]) -> str:
    """Return the call among `symbols` with a symbol's last part, or ""."""
    last = _last(symbol)
    return next((name for name, by in symbols.items() if by and _last(name) == last), "")


def _last(name: str) -> str:
    return re.split(r"\.|::|#|->", name)[-1]


def state_of(hash_: str, sites: Sequence[Site]) -> AnchorState:
    """Return the state of anchored code.

    The same code in any place is current. Other code under its name has drifted. Without the name it is orphaned.

    >>> str(state_of("1f", [Site("f", "b.py", "1f")])), str(state_of("1f", []))
    ('current', 'orphaned')
    """
    if any(site.hash == hash_ for site in sites):
        return AnchorState.CURRENT
    return AnchorState.DRIFTED if sites else AnchorState.ORPHANED

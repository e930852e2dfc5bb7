"""Complexity, calls and imports of Python code, from one tree walk.

Cyclomatic complexity (McCabe, 1976) is counted as radon's `cc_visit` does, cognitive complexity (Campbell, SonarSource,
2018) as the `cognitive-complexity` package does. Both are the oracles of the tests. As dependencies they would measure
eight times as slowly, and fail on a sum `a + b + c + …` of many terms.

Nothing is visited twice: a nested function is measured once. Its branches, shifted by its depth, are added to the
functions around it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vademecum.code.checkout.classify import words

Declaration = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_MUTED = -(1 << 30)  # the depth inside `and`/`or`, where cognitive complexity counts further operators only


@dataclass(slots=True)
class Measure:
    """Counts of one function, method or class.

    A measure without a node is the module's.
    """

    node: Declaration | None = None
    cyclomatic: int = 1
    cognitive: int = 0
    calls: dict[str, None] = field(default_factory=dict)  # callees in order; `.name` when called on an expression
    within: set[str] = field(default_factory=set)  # callees inside nested classes, not calls of this code
    flat: int = 0  # else branches and boolean operators, which cost one at every depth
    branches: list[int] = field(default_factory=list)  # the depth of each branch, which is its cost; at least 1
    methods: int = 0  # the sum of the methods' cognitive complexities: a class's own

    def branch(self, depth: int) -> None:
        """Count one branch."""
        if depth >= 0:
            self.branches.append(depth)

    def add(self, other: Measure, depth: int) -> None:
        """Count the branches of nested code, `depth` levels deeper."""
        self.flat += other.flat
        self.branches += [depth + each for each in other.branches]


@dataclass(slots=True)
class Survey:
    """The measures and imports of one module."""

    measures: list[Measure] = field(default_factory=list)
    imports: dict[str, None] = field(default_factory=dict)


def survey(tree: ast.Module) -> Survey:
    r"""Measure a module.

    >>> found = survey(ast.parse("def f(x):\n    if x and x > 1:\n        return len(x)"))
    >>> [(m.cyclomatic, m.cognitive, list(m.calls)) for m in found.measures]
    [(3, 2, ['len'])]
    """
    result = Survey()
    _walk(result, Measure(), tree.body, 0)
    return result


def _walk(found: Survey, here: Measure, nodes: Sequence[ast.AST], depth: int) -> None:
    """Measure statements and expressions in order.

    The walk uses a stack, because long sums nest deeper than Python can recurse.
    """
    stack = [(node, depth) for node in nodes[::-1]]
    while stack:
        node, depth = stack.pop()
        kind = type(node)
        if kind in _LEAVES:
            continue
        if kind in _WHOLE:
            _WHOLE[kind](found, here, node, depth)
            continue
        if kind is ast.Call:
            if name := dotted(node.func):  # type: ignore[attr-defined]
                here.calls[name] = None
        elif kind in _DECISIONS:
            here.cyclomatic += _DECISIONS[kind](node)
        if kind in _NESTING:
            depth = _nest(here, node, depth)
        for name in _FIELDS[kind]:
            child = getattr(node, name)
            stack += [(each, depth) for each in child[::-1]] if type(child) is list else [(child, depth)]


def _nest(here: Measure, node: ast.AST, depth: int) -> int:
    """Count a branching node and return the depth inside."""
    if isinstance(node, ast.BoolOp):
        here.flat += 1
        return _MUTED
    otherwise = getattr(node, "orelse", None)
    if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        here.branch(depth)  # the last `if` of a chain adds the level, and 1 for `else`
        return depth
    if not isinstance(node, ast.Lambda):
        here.branch(depth + 1)
        here.flat += isinstance(otherwise, list) and bool(otherwise)
    return depth + 1


def _match(node: ast.Match) -> int:
    """Count the cases, except a catch-all `case _` or `case name`."""
    catches_all = any(isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None for case in node.cases)
    return len(node.cases) - catches_all


def _import(found: Survey, _here: Measure, node: ast.Import, _depth: int) -> None:
    found.imports.update(dict.fromkeys(alias.name for alias in node.names))


def _import_from(found: Survey, _here: Measure, node: ast.ImportFrom, _depth: int) -> None:
    found.imports["." * node.level + (node.module or "")] = None


def _assert(found: Survey, here: Measure, node: ast.Assert, depth: int) -> None:
    """Count one decision, without those inside the condition, as radon does."""
    cyclomatic = here.cyclomatic
    _walk(found, here, [node.test, *([node.msg] if node.msg else [])], depth)
    here.cyclomatic = cyclomatic + 1


def _declare(found: Survey, here: Measure, node: Declaration, depth: int) -> None:
    """Measure a function or class, then add it to its surroundings."""
    measure = Measure(node)
    found.measures.append(measure)
    header = Measure()  # decorators, defaults, annotations, bases: evaluated outside the body
    if isinstance(node, ast.ClassDef):
        _walk(found, header, [*node.decorator_list, *node.bases, *node.keywords], 0)
    else:
        returns = [node.returns] if node.returns else []
        _walk(found, header, [*node.decorator_list, node.args, *returns], 0)
        depth += 1
    _walk(found, measure, node.body, 0)
    measure.cognitive = _cognitive(found, measure, node, header)
    if isinstance(here.node, ast.ClassDef) and not isinstance(node, ast.ClassDef):
        here.cyclomatic += measure.cyclomatic
        here.methods += measure.cognitive
    here.add(header, depth)
    here.add(measure, depth)
    here.calls.update(header.calls)
    if here.node is not None and not isinstance(here.node, ast.ClassDef):
        here.calls.update(measure.calls)
        here.within |= measure.within
    else:
        here.within |= measure.within | measure.calls.keys()


def _cognitive(found: Survey, measure: Measure, node: Declaration, header: Measure) -> int:
    if isinstance(node, ast.ClassDef):
        return measure.methods
    body = node.body
    if isinstance(node, ast.FunctionDef) and len(body) == 2 and isinstance(body[1], ast.Return):
        wrapper = body[0]
        if isinstance(wrapper, ast.FunctionDef):  # a decorator counts as the function it returns
            return next(inner.cognitive for inner in found.measures if inner.node is wrapper)
    recursive = node.name in measure.calls or node.name in measure.within or node.name in header.calls
    return measure.flat + sum(max(1, depth) for depth in measure.branches) + recursive


def dotted(node: ast.expr) -> str:
    """Return a chain of attributes as text.

    The chain is `.name` when it starts from an expression that is not a name.

    >>> [dotted(ast.parse(code, mode="eval").body) for code in ("os.path.join", "f().close", "x[0]")]
    ['os.path.join', '.close', '']
    """
    parts = []
    while type(node) is ast.Attribute:
        parts.append(node.attr)
        node = node.value
    if type(node) is ast.Name:
        parts.append(node.id)
        return ".".join(reversed(parts))
    return f".{parts[0]}" if parts else ""


class _Fields(dict[type, tuple[str, ...]]):
    """The fields of a node type that can hold expressions, last first.

    Node types that future Python versions add are walked too.
    """

    _NAMES_AND_MARKS = words(
        "ctx op ops id attr arg name rest asname module level names kind conversion simple is_async type_comment"
        " type_ignores str kwd_attrs"
    )

    def __missing__(self, kind: type) -> tuple[str, ...]:
        names = getattr(kind, "_fields", ())  # `case True` holds a value that is no node
        self[kind] = tuple(name for name in reversed(names) if name not in self._NAMES_AND_MARKS)
        return self[kind]


_FIELDS = _Fields()
_LEAVES = frozenset({ast.Name, ast.Constant, type(None), ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal})
_NESTING = frozenset({ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.Lambda, ast.BoolOp})
_DECISIONS: dict[type[ast.AST], Callable[[Any], int]] = {  # radon does not know `except*`
    **dict.fromkeys((ast.If, ast.IfExp), lambda _: 1),
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.While), lambda node: 1 + bool(node.orelse)),
    ast.Try: lambda node: len(node.handlers) + bool(node.orelse),
    ast.BoolOp: lambda node: len(node.values) - 1,
    ast.comprehension: lambda node: 1 + len(node.ifs),
    ast.Match: _match,
}
_WHOLE: dict[type[ast.AST], Callable[[Survey, Measure, Any, int], None]] = {
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), _declare),
    ast.Assert: _assert,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}

"""How hard Python code is to follow, and what it calls and imports: one walk over the syntax tree answers it all.

Cyclomatic complexity (McCabe, 1976) counts as radon's `cc_visit` does, cognitive complexity (Campbell, SonarSource,
2018) as the `cognitive-complexity` package does, their peculiarities included; both are the oracles of our tests.

Statements are walked by recursion, which the tokenizer bounds at 100 levels of indentation, expressions with a stack of
their own, because `a + b + c + …` nests as deep as it is long. Nothing is visited twice: a nested function is measured
once, and its weight, shifted by its depth, is added to the functions around it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from vademecum.codebase.classify import words

Declaration = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_MUTED = -(1 << 30)  # the nesting inside `and`/`or`, where cognitive complexity counts further operators only


@dataclass(slots=True)
class Weight:
    """Cognitive complexity in parts, so that code can be moved to another depth without being walked again."""

    flat: int = 0  # else branches and boolean operators: the same at every depth
    nested: int = 0  # branches at depth 1 and more: each costs its depth
    depths: int = 0  # the sum of those depths
    outermost: int = 0  # branches at depth 0: each costs 1

    @property
    def total(self) -> int:
        """The complexity where the code stands."""
        return self.flat + self.depths + self.outermost

    def branch(self, depth: int) -> None:
        """Count one branch."""
        if depth > 0:
            self.nested += 1
            self.depths += depth
        elif depth == 0:
            self.outermost += 1

    def add(self, other: Weight, depth: int) -> None:
        """Count code that was measured on its own and stands `depth` deeper here."""
        self.flat += other.flat
        self.depths += other.depths + depth * (other.nested + other.outermost)
        self.nested += other.nested
        if depth:
            self.nested += other.outermost
        else:
            self.outermost += other.outermost


@dataclass(slots=True)
class Measure:
    """What the walk learned about one function, method or class (or, with no node, the module)."""

    node: Declaration | None = None
    cyclomatic: int = 1
    cognitive: int = 0
    calls: dict[str, None] = field(default_factory=dict)  # callees in order; `.name` when called on an expression
    within: set[str] = field(default_factory=set)  # callees of classes inside it, which are not its own calls
    weight: Weight = field(default_factory=Weight)
    methods: int = 0  # the sum of its methods' cognitive complexities, which is what a class has


@dataclass(slots=True)
class Survey:
    """What one walk learned about a module."""

    measures: list[Measure] = field(default_factory=list)
    imports: dict[str, None] = field(default_factory=dict)


def survey(tree: ast.Module) -> Survey:
    r"""Walk a module once.

    >>> found = survey(ast.parse("def f(x):\n    if x and x > 1:\n        return len(x)"))
    >>> [(m.cyclomatic, m.cognitive, list(m.calls)) for m in found.measures]
    [(3, 2, ['len'])]
    """
    result = Survey()
    _block(result, Measure(), tree.body, 0)
    return result


def _block(found: Survey, here: Measure, statements: Iterable[ast.stmt], depth: int) -> None:
    for statement in statements:
        handler = _STATEMENTS.get(type(statement))
        if handler is None:
            here.cyclomatic += _expressions(here, [statement], depth)
        else:
            handler(found, here, statement, depth)


def _ignore(_found: Survey, _here: Measure, _node: ast.stmt, _depth: int) -> None:
    """`pass`, `break`, `global` … hold nothing to count."""


def _import(found: Survey, _here: Measure, node: ast.Import, _depth: int) -> None:
    for alias in node.names:
        found.imports[alias.name] = None


def _import_from(found: Survey, _here: Measure, node: ast.ImportFrom, _depth: int) -> None:
    found.imports["." * node.level + (node.module or "")] = None


def _if(found: Survey, here: Measure, node: ast.If, depth: int) -> None:
    """An `if` with an `elif` costs its own depth and adds none; the last of a chain adds a level, and one for `else`."""
    while True:
        here.cyclomatic += 1
        otherwise = node.orelse
        chained = len(otherwise) == 1 and type(otherwise[0]) is ast.If
        if not chained:
            depth += 1
            here.weight.flat += bool(otherwise)
        here.weight.branch(depth)
        here.cyclomatic += _expressions(here, [node.test], depth)
        _block(found, here, node.body, depth)
        if not chained:
            _block(found, here, otherwise, depth)
            return
        assert isinstance(otherwise[0], ast.If)
        node = otherwise[0]


def _loop(found: Survey, here: Measure, node: ast.For | ast.While | ast.AsyncFor, depth: int) -> None:
    here.cyclomatic += 1 + bool(node.orelse)
    if not isinstance(node, ast.AsyncFor):  # the cognitive-complexity package does not know it
        depth += 1
        here.weight.branch(depth)
        here.weight.flat += bool(node.orelse)
    heads: list[ast.AST] = [node.test] if isinstance(node, ast.While) else [node.iter, node.target]
    here.cyclomatic += _expressions(here, heads, depth)
    _block(found, here, node.body, depth)
    _block(found, here, node.orelse, depth)


def _try(found: Survey, here: Measure, node: ast.Try, depth: int) -> None:
    if type(node) is ast.Try:  # radon does not know `except*`
        here.cyclomatic += len(node.handlers) + bool(node.orelse)
    _block(found, here, node.body, depth)
    for handler in node.handlers:
        here.weight.branch(depth + 1)
        here.cyclomatic += _expressions(here, [handler.type] if handler.type else [], depth + 1)
        _block(found, here, handler.body, depth + 1)
    _block(found, here, node.orelse, depth)
    _block(found, here, node.finalbody, depth)


def _with(found: Survey, here: Measure, node: ast.With | ast.AsyncWith, depth: int) -> None:
    here.cyclomatic += _expressions(here, list(reversed(node.items)), depth)
    _block(found, here, node.body, depth)


def _match(found: Survey, here: Measure, node: ast.Match, depth: int) -> None:
    """Each case is a decision but for one that matches anything: `case _` or `case name`."""
    catches_all = any(isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None for case in node.cases)
    here.cyclomatic += len(node.cases) - catches_all
    here.cyclomatic += _expressions(here, [node.subject], depth)
    for case in node.cases:
        if case.guard is not None:
            here.cyclomatic += _expressions(here, [case.guard], depth)
        _block(found, here, case.body, depth)


def _assert(_found: Survey, here: Measure, node: ast.Assert, depth: int) -> None:
    here.cyclomatic += 1  # and radon does not look inside
    _expressions(here, [node], depth)


def _declare(found: Survey, here: Measure, node: Declaration, depth: int) -> None:
    """Measure a function or class on its own, then add it to what surrounds it."""
    measure = Measure(node)
    found.measures.append(measure)
    header = Measure()  # decorators, defaults, annotations, bases: evaluated outside, and no decision of anybody's
    if isinstance(node, ast.ClassDef):
        _expressions(header, [*node.keywords[::-1], *node.bases[::-1], *node.decorator_list[::-1]], 0)
    else:
        returns = [node.returns] if node.returns else []
        _expressions(header, [*returns, node.args, *node.decorator_list[::-1]], 0)
        depth += 1
    _block(found, measure, node.body, 0)
    measure.cognitive = _cognitive(found, measure, node, header)
    if isinstance(here.node, ast.ClassDef) and not isinstance(node, ast.ClassDef):
        here.cyclomatic += measure.cyclomatic
        here.methods += measure.cognitive
    here.weight.add(header.weight, depth)
    here.weight.add(measure.weight, depth)
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
        if isinstance(wrapper, ast.FunctionDef):  # a decorator is as hard as the function that it makes
            return next(inner.cognitive for inner in found.measures if inner.node is wrapper)
    recursive = node.name in measure.calls or node.name in measure.within or node.name in header.calls
    return measure.weight.total + recursive


def _expressions(here: Measure, stack: list[ast.AST], depth: int) -> int:
    """Walk expressions, the last of `stack` first. Returns how many decisions they hold."""
    decisions = 0
    calls = here.calls
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind in _LEAVES:
            continue
        if kind is ast.Attribute:
            stack.append(node.value)  # type: ignore[attr-defined]
        elif kind is ast.Call:
            _call(calls, stack, node)  # type: ignore[arg-type]
        elif kind in _BRANCHING:
            decisions += _branching(here, node, depth)
        else:
            for name in _FIELDS[kind]:
                child = getattr(node, name)
                if type(child) is list:
                    stack += child[::-1]
                elif child is not None:
                    stack.append(child)
    return decisions


def _call(calls: dict[str, None], stack: list[ast.AST], node: ast.Call) -> None:
    stack += [keyword.value for keyword in reversed(node.keywords)]
    stack += node.args[::-1]
    function = node.func
    if type(function) is ast.Name:
        calls[function.id] = None
        return
    stack.append(function)
    if name := dotted(function):
        calls[name] = None


def dotted(node: ast.expr) -> str:
    """Spell a chain of attributes; `.name` when it starts from something other than a name.

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


def _branching(here: Measure, node: ast.AST, depth: int) -> int:
    """An expression that decides, or changes the nesting of what is in it. Returns the decisions."""
    match node:
        case ast.BoolOp():
            here.weight.flat += 1
            return len(node.values) - 1 + _expressions(here, list(reversed(node.values)), _MUTED)
        case ast.IfExp():
            here.weight.branch(depth + 1)
            return 1 + _expressions(here, [node.orelse, node.body, node.test], depth + 1)
        case ast.Lambda():
            return _expressions(here, [node.body, node.args], depth + 1)
        case ast.comprehension():
            return 1 + len(node.ifs) + _expressions(here, [*reversed(node.ifs), node.iter, node.target], depth)
        case _:  # pragma: no cover - the table below names these four
            return 0


class _Fields(dict[type, tuple[str, ...]]):
    """Which fields of a node can hold expressions, last first: whatever Python adds is walked as well."""

    _NAMES_AND_MARKS = words(
        "ctx op ops id attr arg name rest asname module level names kind conversion simple is_async type_comment"
        " type_ignores str kwd_attrs"
    )

    def __missing__(self, kind: type) -> tuple[str, ...]:
        self[kind] = tuple(name for name in reversed(kind._fields) if name not in self._NAMES_AND_MARKS)  # type: ignore[attr-defined]
        return self[kind]


_FIELDS = _Fields()
_LEAVES = frozenset({ast.Name, ast.Constant, type(None)})
_BRANCHING = frozenset({ast.BoolOp, ast.IfExp, ast.Lambda, ast.comprehension})
_STATEMENTS: dict[type[ast.stmt], Callable[[Survey, Measure, Any, int], None]] = {
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), _declare),
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.While), _loop),
    **dict.fromkeys((ast.Try, ast.TryStar), _try),
    **dict.fromkeys((ast.With, ast.AsyncWith), _with),
    **dict.fromkeys((ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal), _ignore),
    ast.If: _if,
    ast.Match: _match,
    ast.Assert: _assert,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}

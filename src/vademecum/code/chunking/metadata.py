"""Facts about Python code that only Python's own parser finds.

The facts are signatures, docstrings, complexity, calls and imports.

Source: MnemoLite ADR-008 (Python first), with radon and cognitive-complexity as oracles instead of dependencies.

A docstring parser for Google, NumPy and Sphinx styles.

Each style is recognised by its marks. Nothing is lost: sections other than parameters, returns and raises stay in the
description. The docstring_parser package drops such sections and the untyped returns of a NumPy docstring, and takes
ten times as long.

Complexity, calls and imports of Python code, from one tree walk.

Cyclomatic complexity (McCabe, 1976) is counted as radon's `cc_visit` does, cognitive complexity (Campbell, SonarSource,
2018) as the `cognitive-complexity` package does. Both are the oracles of the tests. As dependencies they would measure
eight times as slowly, and fail on a sum `a + b + c + …` of many terms.

Nothing is visited twice: a nested function is measured once. Its branches, shifted by its depth, are added to the
functions around it.
"""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vademecum.code.checkout.classify import words
from vademecum.errors import ParseError
from vademecum.result import Err, Ok, Result

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


_KINDS = {
    **dict.fromkeys(("args", "arguments", "params", "parameters", "keyword args", "keyword arguments"), "params"),
    **dict.fromkeys(("other parameters", "attributes", "receives"), "params"),
    **dict.fromkeys(("return", "returns", "yield", "yields"), "returns"),
    **dict.fromkeys(("raise", "raises", "except", "exceptions"), "raises"),
}
_GOOGLE_HEADER = re.compile(r"([A-Z][A-Za-z ]{2,24}):\s*$")
_NUMPY_RULE = re.compile(r"-{3,}\s*$|={3,}\s*$")
_SPHINX_FIELD = re.compile(r"[:@](\w+)(?:[ \t]+([^:\n]*?))?:[ \t]*(.*)")
_SPHINX_KINDS = {
    **dict.fromkeys(("param", "parameter", "arg", "argument", "key", "keyword", "var", "ivar", "cvar"), "params"),
    **dict.fromkeys(("return", "returns", "yield", "yields"), "returns"),
    **dict.fromkeys(("raise", "raises", "except", "exception"), "raises"),
    **dict.fromkeys(("type", "rtype", "vartype", "meta"), "types"),
}
# `name (type): text`, `*args: text`, `x, y: text`
_GOOGLE_ITEM = re.compile(r"(\*{0,2}[\w.\[\]]+(?:,\s*\*{0,2}\w+)*)\s*(?:\([^)]*\)+)?\s*:(?!:)\s*(.*)")
_NUMPY_ITEM = re.compile(r"(\*{0,2}[\w.]+(?:,\s*\*{0,2}\w+)*)\s*(?::.*)?$")

Parsed = dict[str, Any]
Section = tuple[str, list[str], dict[str, str], int]  # key of the result, lines, items, number of the next line


def parse_docstring(text: str) -> Parsed:
    r"""Parse a docstring whose indentation is removed (`inspect.cleandoc`).

    Returns:
        A dict of `summary` (the first paragraph on one line), `description` (the other prose), `params` (name → text),
        `returns`, and `raises` (exception → text). A key without text in the docstring is empty.

    >>> parse_docstring("Add.\n\nArgs:\n    x (int): One.\n    y: Two,\n        or three.")["params"]
    {'x': 'One.', 'y': 'Two, or three.'}
    """
    result: Parsed = {"summary": "", "description": "", "params": {}, "returns": "", "raises": {}}
    lines, prose, position = text.strip().split("\n"), [], 0
    if len(lines) == 1:
        return result | {"summary": lines[0].strip()}
    while position < len(lines):
        section = _sphinx(lines, position) or _google(lines, position) or _numpy(lines, position)
        if section is None:
            prose.append(lines[position])
            position += 1
            continue
        kind, block, items, position = section
        if kind == "returns":
            result["returns"] = _joined([result["returns"], *block])
        elif kind != "types":  # annotations hold the types
            result[kind].update(items)
    summary, _, description = "\n".join(prose).strip().partition("\n\n")
    return result | {"summary": _joined([summary]), "description": description.strip()}


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def _sphinx(lines: list[str], at: int) -> Section | None:
    """Return the field that begins on a line: `:param count:`.

    `:param int count:` names its type first.
    """
    entry = _SPHINX_FIELD.match(lines[at])
    if entry is None or entry[1] not in _SPHINX_KINDS:
        return None
    end = _indented_end(lines, at + 1)
    block = [entry[3], *lines[at + 1 : end]]
    name = (entry[2] or "").split()
    return _SPHINX_KINDS[entry[1]], block, {name[-1] if name else "": _joined(block)}, end


def _google(lines: list[str], at: int) -> Section | None:
    """Return the indented section below a header such as `Args:`."""
    header = _GOOGLE_HEADER.match(lines[at])
    kind = _KINDS.get(header[1].lower()) if header else None
    if kind is None or at + 1 == len(lines) or not lines[at + 1].startswith((" ", "\t")):
        return None
    end = _indented_end(lines, at + 1)
    block = lines[at + 1 : end]
    return kind, block, _items(block, _GOOGLE_ITEM), end


def _numpy(lines: list[str], at: int) -> Section | None:
    """Return the section below an underlined header, up to the next one."""
    kind = _KINDS.get(lines[at].strip().lower())
    if kind is None or not _is_underlined(lines, at):
        return None
    end = next((n for n in range(at + 2, len(lines)) if lines[n].strip() and _is_underlined(lines, n)), len(lines))
    block = lines[at + 2 : end]
    return kind, block, _items(block, _NUMPY_ITEM), end


def _is_underlined(lines: list[str], at: int) -> bool:
    return at + 1 < len(lines) and bool(_NUMPY_RULE.match(lines[at + 1]))


def _indented_end(lines: list[str], start: int) -> int:
    """Return the first line that is neither blank nor indented."""
    after = range(start, len(lines))
    return next((n for n in after if lines[n] and not lines[n].startswith((" ", "\t"))), len(lines))


def _items(block: list[str], pattern: re.Pattern[str]) -> dict[str, str]:
    """Parse items at the block's own indentation; deeper lines continue them."""
    items: dict[str, list[str]] = {}
    current: list[str] = []
    indentation: int | None = None
    for line in block:
        content = line.lstrip()
        if not content:
            continue
        margin = len(line) - len(content)
        if indentation is None:
            indentation = margin
        item = pattern.match(content) if margin <= indentation else None
        if item is None:
            current.append(content)
            continue
        current = [item[2]] if pattern.groups > 1 else []
        for name in item[1].split(","):
            items[name.strip()] = current
    return {name: _joined(text) for name, text in items.items()}


@dataclass(frozen=True, slots=True)
class PythonModule:
    """The declarations and imports of a module.

    `declarations` maps the line of each `def` or `class` keyword to a JSON-serialisable dict: `decorators`,
    `docstring` (parsed), `cyclomatic`, `cognitive`, `lines_of_code`, `calls`; for functions also `parameters`,
    `returns` and `is_async`, for classes `bases`. Expressions are given as written.
    """

    declarations: Mapping[int, dict[str, Any]]
    imports: tuple[str, ...]  # module paths, leading dots kept, in order of first appearance


def describe_python(source: str) -> Result[PythonModule, ParseError]:
    r"""Describe a module's functions and classes, including nested ones.

    Prints nothing and raises nothing.

    >>> module = describe_python("from .net import open\n\nasync def get(url: str = '/') -> bytes: ...").unwrap()
    >>> module.imports, module.declarations[3]["parameters"], module.declarations[3]["is_async"]
    (('.net',), [{'name': 'url', 'kind': 'positional_or_keyword', 'annotation': 'str', 'default': "'/'"}], True)
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `"\d"` in the source is not our concern
            tree = ast.parse(source.removeprefix("\ufeff"))
        found = survey(tree)
    except SyntaxError as error:
        return Err(ParseError(f"line {error.lineno}: {error.msg}"))
    except (ValueError, RecursionError, MemoryError) as error:  # NUL bytes, or code nested too deep for Python
        return Err(ParseError(f"Python cannot parse it: {error or type(error).__name__}"))
    text = _Text(source.removeprefix("\ufeff"))
    described = {m.node.lineno: _describe(m.node, m, text) for m in found.measures if m.node is not None}
    return Ok(PythonModule(described, tuple(found.imports)))


class _Text:
    """The source by lines, with offsets into UTF-8 as columns."""

    def __init__(self, source: str) -> None:
        self._lines = source.encode(errors="replace").splitlines()

    def of(self, node: ast.expr | None) -> str | None:
        """Return an expression's source text on one line."""
        if node is None:
            return None
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        if first == last:
            return self._lines[first][node.col_offset : node.end_col_offset].decode()
        pieces = [self._lines[first][node.col_offset :], *self._lines[first + 1 : last]]
        pieces.append(self._lines[last][: node.end_col_offset])
        return " ".join(piece.decode().strip() for piece in pieces)


def _describe(node: Declaration, measure: Measure, text: _Text) -> dict[str, Any]:
    described: dict[str, Any] = {
        "decorators": [text.of(decorator) for decorator in node.decorator_list],
        "docstring": _docstring(node),
        "cyclomatic": measure.cyclomatic,
        "cognitive": measure.cognitive,
        "lines_of_code": (node.end_lineno or node.lineno) - node.lineno + 1,
        "calls": list(dict.fromkeys(name.removeprefix(".") for name in measure.calls)),
    }
    if isinstance(node, ast.ClassDef):
        keywords = [f"{k.arg}={text.of(k.value)}" if k.arg else f"**{text.of(k.value)}" for k in node.keywords]
        described["bases"] = [text.of(base) for base in node.bases] + keywords
    else:
        described["parameters"] = list(_parameters(node.args, text))
        described["returns"] = text.of(node.returns)
        described["is_async"] = isinstance(node, ast.AsyncFunctionDef)
    return described


def _docstring(node: Declaration) -> dict[str, Any] | None:
    match node.body[0]:
        case ast.Expr(value=ast.Constant(value=str(content))):
            return parse_docstring(inspect.cleandoc(content))
        case _:
            return None


def _parameters(arguments: ast.arguments, text: _Text) -> Iterator[dict[str, str | None]]:
    """Yield the parameters in signature order, with the kinds of `inspect`."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + [text.of(value) for value in arguments.defaults]
    for index, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        kind = "positional_only" if index < len(arguments.posonlyargs) else "positional_or_keyword"
        yield _parameter(argument, kind, default, text)
    if arguments.vararg:
        yield _parameter(arguments.vararg, "var_positional", None, text)
    for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(argument, "keyword_only", text.of(value), text)
    if arguments.kwarg:
        yield _parameter(arguments.kwarg, "var_keyword", None, text)


def _parameter(argument: ast.arg, kind: str, default: str | None, text: _Text) -> dict[str, str | None]:
    return {"name": argument.arg, "kind": kind, "annotation": text.of(argument.annotation), "default": default}

"""Facts about Python code that only Python's own parser finds.

The facts are signatures, docstrings, complexity, calls and imports.

Source: MnemoLite ADR-008 (Python first), with radon and cognitive-complexity as oracles instead of dependencies.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vademecum.code.chunking.complexity import Declaration, Measure, survey
from vademecum.code.chunking.docstring import parse_docstring
from vademecum.errors import ParseError
from vademecum.result import Err, Ok, Result


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

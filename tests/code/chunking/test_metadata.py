"""What Python's parser knows of a module."""

from __future__ import annotations

import ast
import inspect
import json
import sysconfig
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.code.chunking.metadata import describe_python
from vademecum.errors import ParseError
from vademecum.result import Err, Ok

SOURCE = '''\
import os
from .net import client as c

@dataclass(frozen=True)
@final
class Store(Base, Generic[T], metaclass=ABCMeta, **options):
    """Keep things.

    Attributes:
        path: Where.
    """

    path: str

    @property
    async def größe(self, a, /, b: "int" = 1, *args: str, c, d: dict[str,
            int] = {"é": os.sep}, **kw) -> list[
            int]:
        """Close it.

        Args:
            b: How often.

        Returns:
            What was left.
        """
        # a comment counts as a line
        return [x for x in self.flush().all(b) if x or c.send(x)]
'''


def test_functions_are_described() -> None:
    module = describe_python(SOURCE).unwrap()
    assert module.imports == ("os", ".net")
    assert list(module.declarations) == [6, 16]
    method = module.declarations[16]
    assert method.pop("parameters") == [
        {"name": "self", "kind": "positional_only", "annotation": None, "default": None},
        {"name": "a", "kind": "positional_only", "annotation": None, "default": None},
        {"name": "b", "kind": "positional_or_keyword", "annotation": '"int"', "default": "1"},
        {"name": "args", "kind": "var_positional", "annotation": "str", "default": None},
        {"name": "c", "kind": "keyword_only", "annotation": None, "default": None},
        {"name": "d", "kind": "keyword_only", "annotation": "dict[str, int]", "default": '{"é": os.sep}'},
        {"name": "kw", "kind": "var_keyword", "annotation": None, "default": None},
    ]
    docstring = method.pop("docstring")
    assert (docstring["summary"], docstring["params"]) == ("Close it.", {"b": "How often."})
    assert method == {
        "decorators": ["property"],
        "cyclomatic": 4,
        "cognitive": 1,
        "lines_of_code": 13,
        "calls": ["all", "self.flush", "c.send"],
        "returns": "list[ int]",
        "is_async": True,
    }


def test_classes_are_described() -> None:
    described = describe_python(SOURCE).unwrap().declarations[6]
    assert described["decorators"] == ["dataclass(frozen=True)", "final"]
    assert described["bases"] == ["Base", "Generic[T]", "metaclass=ABCMeta", "**options"]
    assert described["docstring"]["params"] == {"path": "Where."}
    assert described["lines_of_code"] == 23
    assert "parameters" not in described


def test_everything_is_json() -> None:
    module = describe_python(SOURCE).unwrap()
    assert json.loads(json.dumps(dict(module.declarations)))["16"] == module.declarations[16]


@pytest.mark.parametrize("name", ["argparse", "typing", "dataclasses"])
def test_signatures_agree_with_inspect(name: str) -> None:
    """Every function of a module of the standard library: same parameters, same kinds."""
    source = (Path(sysconfig.get_paths()["stdlib"]) / f"{name}.py").read_text()
    declarations = describe_python(source).unwrap().declarations
    namespace: dict[str, object] = {}
    compared = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            bare = ast.FunctionDef("f", node.args, [ast.Pass()], [], None, None)
            for argument in ast.walk(node.args):  # defaults and annotations name what is not there
                if isinstance(argument, ast.arg):
                    argument.annotation = None
            node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
            node.args.kw_defaults = [value and ast.Constant(None) for value in node.args.kw_defaults]
            exec(compile(ast.fix_missing_locations(ast.Module([bare], [])), "x", "exec"), namespace)
            theirs = inspect.signature(namespace["f"]).parameters.values()  # type: ignore[arg-type]
            ours = declarations[node.lineno]["parameters"]
            assert [(p.name, p.kind.name.lower()) for p in theirs] == [(p["name"], p["kind"]) for p in ours]
            assert [p.default is p.empty for p in theirs] == [p["default"] is None for p in ours]
            compared += 1
    assert compared > 20


@pytest.mark.parametrize(
    "source",
    [
        "def f(:",
        "x = '\0'",
        "(" * 500 + ")" * 500,
        "-" * 20_000 + "1",
        "if x:\npass",
        "\udcff = 1",
        "x = 1\n\t\ty",
        "return =",
    ],
)
def test_odd_sources_are_errors_that_say_why(source: str) -> None:
    failure = describe_python(source)
    assert isinstance(failure, Err)
    assert isinstance(failure.error, ParseError)
    assert str(failure.error)


@given(st.text(st.sampled_from("def f():\n \t=1'\"\\#é\0\r\f(x,)[]:@"), max_size=40))
def test_no_source_raises(source: str) -> None:
    assert isinstance(describe_python(source), Ok | Err)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_counted_alike(end: str) -> None:
    source = '\ufeffx = "\x0c\u2028"\n\ndef f(a: int\n   = 1): ...\n'.replace("\n", end)
    (described,) = describe_python(source).unwrap().declarations.items()
    assert described[0] == 3
    assert described[1]["parameters"][0]["annotation"] == "int"
    assert described[1]["parameters"][0]["default"] == "1"


def test_warnings_of_the_parser_are_not_shown() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert isinstance(describe_python("x = '\\d' is 1"), Ok)
    assert caught == []

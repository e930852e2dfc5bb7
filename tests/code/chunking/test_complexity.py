"""Complexity against its oracles: radon for cyclomatic, the cognitive-complexity package for cognitive."""

from __future__ import annotations

import ast
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cognitive_complexity.api import get_cognitive_complexity
from hypothesis import example, given
from hypothesis import strategies as st
from radon.visitors import ComplexityVisitor

from vademecum.code.chunking.metadata import survey

STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"])
MODULES = ["argparse", "asyncio/base_events", "contextlib", "dataclasses", "enum", "inspect", "re/_parser", "typing"]


def radon_blocks(blocks: list[Any]) -> Iterator[tuple[int, int]]:
    for block in blocks:
        yield block.lineno, block.real_complexity if hasattr(block, "real_complexity") else block.complexity
        for within in ("closures", "methods", "inner_classes"):
            yield from radon_blocks(getattr(block, within, []))


def check(source: str) -> int:
    """Compare every function and class of a source with the oracles. Returns how many there were."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
    visitor = ComplexityVisitor()
    visitor.visit(tree)
    cyclomatic = dict(radon_blocks([*visitor.functions, *visitor.classes]))
    measures = {measure.node.lineno: measure for measure in survey(tree).measures if measure.node is not None}
    # radon does not report what stands inside a class inside a function; what it reports, we do
    assert cyclomatic == {line: measures[line].cyclomatic for line in cyclomatic}
    cognitive = {m.node.lineno: m.cognitive for m in measures.values() if not isinstance(m.node, ast.ClassDef)}
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    assert cognitive == {node.lineno: get_cognitive_complexity(node) for node in functions}
    return len(measures)


@pytest.mark.parametrize("module", MODULES)
def test_the_standard_library_measures_the_same(module: str) -> None:
    assert check((STANDARD_LIBRARY / f"{module}.py").read_text()) > 5


SNIPPETS = {
    "elif chain": """
        if a:
            if b: pass
        elif c:
            for x in y: pass
        elif d or e and f: pass
        else:
            while g: pass
            else: pass
    """,
    "else: if is an elif to both": "if a: pass\nelse:\n    if b: pass",
    "else with more than an if": "if a: pass\nelse:\n    if b: pass\n    c()",
    "try": """
        try: a()
        except (A if b else C): d()
        except E:
            if f: raise
        else: g()
        finally: h() or i()
    """,
    "try star": "try: a()\nexcept* E:\n    if b: pass\n    else: pass",
    "match": """
        match a:
            case 1 if b and c: pass
            case [x, *rest]:
                for y in rest: pass
            case {"k": v}: pass
            case True | None: pass
            case _: pass
    """,
    "match without a default": "match a:\n    case A(b=1): pass\n    case 2: pass",
    "match with nothing but a default": "match a:\n    case x: pass",
    "nested function": "def inner(a=b or c):\n    if d:\n        def most(): return e if f else g\n    return inner()",
    "lambda": "return lambda x=(a or b): (c if d else (lambda: e and f))",
    "boolean in boolean": "return a and (b or (c if d else e)) and not (f or g) and (lambda: h or i)",
    "comprehension": "return [a for b in c if d if e or f for g in h if (i if j else k)]",
    "assert": "assert a and b or (c if d else e), f or g",
    "recursion": "return f(1) or self.f(2)",
    "class in a function": """
        class C(D if a else E):
            if b:
                x = 1
            else:
                y = 2
            def m(self):
                if c: pass
                elif d: pass
                class Inner:
                    def n(self): return e or g
    """,
    "decorated": "@d(lambda x: x or y)\ndef inner(): pass",
    "with": "with a if b else c as d, (e or g): h()",
    "async": "async for x in y or z:\n    pass\nelse:\n    if a: pass\nasync with b: await c()",
    "while": "while (a := b or c):\n    if d: break\n    continue\nelse: pass",
    "f-string": "return f'{a or b:{c if d else e}}'",
    "delete, raise, return, yield": "del a[b or c]\nraise E from (d or e)\nyield f or g\nx: int = h or i\nx += j or k",
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_peculiar_constructs_measure_the_same(name: str) -> None:
    lines = SNIPPETS[name].strip("\n").split("\n")
    margin = len(lines[0]) - len(lines[0].lstrip())
    body = "\n".join("    " + line[margin:] for line in lines)
    assert check(f"async def f(self):\n{body}\n") >= 1
    if "async" not in name:
        check(f"class K:\n    def f(self):\n{body.replace(chr(10), chr(10) + '    ').replace('    ', '        ', 1)}\n")


@pytest.mark.parametrize(
    "body",
    [
        "def inner():\n        if a: pass\n    return inner",
        "async def inner(): pass\n    return inner",
        "x = 1\n    return f",
    ],
)
def test_a_decorator_is_as_hard_as_what_it_makes(body: str) -> None:
    check(f"def f(g):\n    {body}\n")


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "1", "x.y", "f()", "g.h(1)"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: f"({p[0]} and {p[1]})"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} or {p[1]} or {p[2]})"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
        st.tuples(inner, inner).map(lambda p: f"(lambda v={p[0]}: {p[1]})"),
        st.tuples(inner, inner, inner).map(lambda p: f"[{p[0]} for v in {p[1]} if {p[2]}]"),
        st.tuples(inner, inner).map(lambda p: f"call({p[0]}, k={p[1]})"),
        inner.map(lambda e: f"(not {e})"),
    ),
    max_leaves=6,
)


def indented(block: str) -> str:
    return "\n".join("    " + line for line in block.split("\n"))


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, min_size=1, max_size=2).map(lambda parts: indented("\n".join(parts)))
    rest = st.one_of(st.just(""), body.map(lambda b: f"\nelse:\n{b}"))
    return st.one_of(
        st.tuples(EXPRESSIONS, body, rest).map(lambda p: f"if {p[0]}:\n{p[1]}{p[2]}"),
        st.tuples(EXPRESSIONS, body, body, rest).map(lambda p: f"if {p[0]}:\n{p[1]}\nelif b:\n{p[2]}{p[3]}"),
        st.tuples(EXPRESSIONS, body, rest).map(lambda p: f"for i in {p[0]}:\n{p[1]}{p[2]}"),
        st.tuples(EXPRESSIONS, body, rest).map(lambda p: f"while {p[0]}:\n{p[1]}{p[2]}"),
        st.tuples(body, body, rest).map(lambda p: f"try:\n{p[0]}\nexcept E:\n{p[1]}{p[2]}"),
        st.tuples(EXPRESSIONS, body).map(lambda p: f"with {p[0]}:\n{p[1]}"),
        st.tuples(EXPRESSIONS, body).map(lambda p: f"def f(q={p[0]}):\n{p[1]}"),
        st.tuples(body, EXPRESSIONS).map(lambda p: f"def d(g):\n    def w():\n{indented(p[0])}\n    return {p[1]}"),
        body.map(lambda b: f"class C:\n{b}"),
        st.tuples(EXPRESSIONS, body).map(lambda p: f"match {p[0]}:\n    case 1:\n{indented(p[1])}\n    case _: pass"),
    )


STATEMENTS = st.recursive(
    st.one_of(EXPRESSIONS, EXPRESSIONS.map(lambda e: f"assert {e}"), EXPRESSIONS.map(lambda e: f"x = {e}")),
    blocks,
    max_leaves=6,
)


@example(["def f():\n    class C:\n        class D:\n            f()"])
@given(st.lists(STATEMENTS, min_size=1, max_size=3))
def test_generated_functions_measure_the_same(statements: list[str]) -> None:
    check("def outer():\n" + indented("\n".join(statements)))


def test_calls_come_in_order_with_those_of_nested_functions() -> None:
    source = """
def f(a=default()):
    first(second(), key=third())
    def g():
        self.x.fourth()
    return fifth().sixth(), xs[0].seventh(), (lambda: eighth())(), first()
"""
    function = next(m for m in survey(ast.parse(source)).measures if m.node and m.node.name == "f")
    assert list(function.calls) == [
        *("first", "second", "third", "self.x.fourth", ".sixth", "fifth", ".seventh", "eighth"),
    ]


def test_a_class_has_the_sum_of_its_methods() -> None:
    source = "class C:\n    def a(self):\n        if x: pass\n    def b(self):\n        return y and z"
    (of_class,) = (m for m in survey(ast.parse(source)).measures if isinstance(m.node, ast.ClassDef))
    assert of_class.cognitive == 2


def test_imports_keep_their_dots() -> None:
    found = survey(ast.parse("import a.b as c, d\nfrom ..e import f\ndef g():\n    from . import h\n    import d"))
    assert list(found.imports) == ["a.b", "d", "..e", "."]


def test_long_sums_are_no_deep_recursion() -> None:
    tree = ast.parse("def f():\n    return " + " + ".join(["g()"] * 900))
    assert survey(tree).measures[0].cyclomatic == 1

"""Values of which a test tells the type: `isinstance`, `instanceof`, `is`, type switches, patterns."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.once

DECLARED = {
    "py": "class A:\n    def settle(self): ...\n    def own(self): ...\nclass B:\n    def settle(self): ...\nclass C(A):\n    def settle(self): ...\n",
    "ts": "export class A { settle() {} }\nexport class B { settle() {} }\n",
    "php": "<?php\nclass A { function settle() {} }\nclass B { function settle() {} }\n",
    "java": "class A { void settle() {} }\nclass B { void settle() {} }\n",
    "kt": "class A {\n  fun settle() {}\n}\nclass B {\n  fun settle() {}\n}\n",
    "go": "package m\n\ntype A struct{}\ntype B struct{}\n\nfunc (a *A) settle() {}\nfunc (b *B) settle() {}\n",
}
BEFORE = {
    "py": "from a import A, B, C\n",
    "ts": "import { A, B } from './a';\n",
    "php": "<?php\n",
    "go": "package m\n\n",
}
TOLD = [
    ("py", "def use(x):\n    if isinstance(x, A):\n        x.settle()"),
    ("py", "def use(x):\n    if isinstance(x, A) and x.settle():\n        pass"),
    ("py", "def use(x):\n    if not isinstance(x, A):\n        return\n    x.settle()"),
    ("py", "def use(x):\n    if not isinstance(x, A) or x.settle():\n        pass"),
    ("py", "def use(x):\n    if not isinstance(x, A):\n        pass\n    else:\n        x.settle()"),
    ("py", "def use(x):\n    assert isinstance(x, A)\n    x.settle()"),
    ("py", "def use(x):\n    return x.settle() if isinstance(x, A) else 1"),
    ("py", "def use(xs):\n    return [x.settle() for x in xs if isinstance(x, A)]"),
    ("py", "def use(x):\n    match x:\n        case A():\n            x.settle()"),
    ("py", "def use(x):\n    match x:\n        case A() as y:\n            y.settle()"),
    ("py", "def use(x: A | B):\n    while isinstance(x, A):\n        x.settle()"),
    ("py", "class U:\n    def use(self):\n        if isinstance(self.x, A) and self.x.settle():\n            pass"),
    ("py", "class U:\n    x: str\n    def use(self):\n        if isinstance(self.x, A):\n            self.x.settle()"),
    ("py", "def use(y):\n    assert isinstance(y.z.x, A)\n    return y.z.x.settle()"),
    ("ts", "class U { use() { if (this.x instanceof A) this.x.settle(); } }"),
    ("ts", "export function use(x: unknown) { if (x instanceof A) { x.settle(); } }"),
    ("ts", "export function use(x: A | B) { if (!(x instanceof A)) throw 1; x.settle(); }"),
    ("ts", "export const use = (x: unknown) => x instanceof A ? x.settle() : 1;"),
    ("ts", "export const use = (x: unknown) => x instanceof A && [1].map(() => x.settle());"),
    ("php", "function used($x) { if ($x instanceof A) { $x->settle(); } }"),
    ("php", "function used($x) { if (!$x instanceof A) { return; } $x->settle(); }"),
    ("php", "class U { function used() { if ($this->x instanceof A) { $this->x->settle(); } } }"),
    ("php", "function used($x) { assert($x instanceof A); $x->settle(); }"),
    ("php", "class U { function used() { \\assert($this->x instanceof A && $this->y); $this->x->settle(); } }"),
    ("ts", "export function use(x: unknown) { assert(x instanceof A); x.settle(); }"),
    ("kt", "fun used(x: Any) {\n  require(x is A)\n  x.settle()\n}"),
    ("java", "class U { void used(Object o) { if (o instanceof A a) a.settle(); } }"),
    ("java", "class U { int used(Object o) { return switch (o) { case A a -> a.settle(); default -> 1; }; } }"),
    ("java", "class U { void used(Object o) { if (o instanceof Pt(A a, int n)) a.settle(); } }"),
    ("kt", "fun used(x: Any) { if (x is A) x.settle() }"),
    ("kt", "fun used(y: Any) { if (y.x is A) y.x.settle() }"),
    ("kt", "fun used(y: Any) = when (y.x) {\n  is A -> y.x.settle()\n  else -> 0\n}"),
    ("kt", "fun used(x: Any) {\n  if (x !is A) return\n  x.settle()\n}"),
    ("kt", "fun used(x: Any) = when (x) {\n  is A -> x.settle()\n  else -> 0\n}"),
    ("kt", "fun used() = when (val x = make()) {\n  is A -> x.settle()\n  else -> 0\n}"),
    ("go", "func used(x any) {\n\tswitch y := x.(type) {\n\tcase *A:\n\t\ty.settle()\n\tcase *B:\n\t}\n}"),
]


def _files(kind: str, text: str) -> dict[str, str]:
    own = {"a": "A", "b": "U"} if kind == "java" else {"a": "a", "b": "b"}
    return {
        f"{own['a']}.{kind}": DECLARED[kind],
        f"{own['b']}.{kind}": f"{BEFORE.get(kind, '')}{text}\n",
        "go.mod": "module ex.com/m\n",
    }


@pytest.mark.parametrize(("kind", "text"), TOLD, ids=[f"{kind} {text[-50:]}" for kind, text in TOLD])
def test_a_value_has_the_type_that_a_test_tells(repo, engine, kind, text):
    codebase = engine(repo("app", _files(kind, text))).codebase
    answer = codebase.callers("A.settle")
    assert [(each.name.rpartition(".")[2].removesuffix("d"), str(each.tier)) for each in answer.found] == [
        ("use", "typed")
    ]
    assert codebase.callers("B.settle").verdict == "none"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("def use(x):\n    if isinstance(x, A):\n        x = B()\n        x.settle()", "unknown"),
        ("def use(x: B):\n    if isinstance(x, A):\n        x.settle()", "unknown"),
        ("def use(x: B):\n    if isinstance(x, str):\n        x.settle()", "none"),
        ("def use(x):\n    if isinstance(x, A):\n        pass\n    x.settle()", "unknown"),
        ("def use(x):\n    if isinstance(x, A) or x.settle():\n        pass", "unknown"),
        (
            "class U:\n    def use(self):\n        if isinstance(self.x, A):\n            self.x = B()\n            self.x.settle()",
            "unknown",
        ),
        ("def use(x):\n    if isinstance(x, (A, B)):\n        x.settle()", "unknown"),
    ],
    ids=["bound again", "declared another", "declared", "beside the test", "either", "a member bound again", "several"],
)
def test_a_test_tells_nothing_of_other_places(repo, engine, text, verdict):
    """Something may extend both a declared class and another."""
    answer = engine(repo("app", _files("py", text))).codebase.callers("A.settle")
    assert (answer.verdict, answer.found) == (verdict, ())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("if x.is_a?(A)\n  x.settle\nend", True),
        ("x.settle if x.kind_of?(A)", True),
        ("return unless x.is_a?(A)\nx.settle", True),
        ("x.is_a?(A) && x.settle", True),
        ("x.is_a?(A) ? x.settle : 1", True),
        ("case x\nwhen A\n  x.settle\nend", True),
        ("unless x.is_a?(A)\n  1\nelse\n  x.settle\nend", True),
        ("unless x.is_a?(A)\n  x.settle\nend", False),
        ("x.settle unless x.is_a?(A)", False),
        ("case x\nwhen A, B\n  x.settle\nend", False),
    ],
)
def test_a_test_of_ruby_tells_the_type(repo, engine, text, found):
    declared = "class A\n  def settle; end\nend\nclass B\n  def settle; end\nend\n"
    code = engine(repo("app", {"a.rb": declared, "b.rb": f"def use(x)\n{text}\nend\n"})).codebase
    assert [each.name for each in code.callers("A.settle").found] == ["use"] * found
    assert code.callers("B.settle").found == ()


def test_a_value_is_of_the_narrower_class(repo, engine):
    codebase = engine(
        repo("app", _files("py", "def use(x: A):\n    if isinstance(x, C):\n        x.settle()\n        x.own()"))
    ).codebase
    assert [each.name for each in codebase.callers("C.settle").found] == ["use"]
    assert [each.name for each in codebase.callers("A.own").found] == ["use"]


def test_what_is_bound_in_a_tested_part_is_known_behind_it(repo, engine):
    text = "def use(x):\n    y = None\n    if isinstance(x, B):\n        y = A()\n        import a as z\n    y.settle()\n    z.C().own()\n    return y"
    codebase = engine(repo("app", _files("py", text))).codebase
    assert [each.name for each in codebase.callers("A.settle").found] == ["use"]
    assert [each.name for each in codebase.callers("A.own").found] == ["use"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("py", "def use(x: A | B):\n    x.settle()"),
        (
            "py",
            "from typing import Optional, Union\nclass U:\n    x: Optional[Union[A, B]]\n    def use(self):\n        self.x.settle()",
        ),
        ("py", "def made() -> 'A | B | None': ...\ndef use():\n    made().settle()"),
        ("ts", "export function use(x: A | B | null) { x?.settle(); }"),
        ("ts", "type X = A | B | undefined;\nexport const use = (x: X) => x!.settle();"),
        ("php", "function used(A|B $x) { $x->settle(); }"),
        ("php", "class U { /** @var A|B|null */ private $x; function used() { $this->x->settle(); } }"),
    ],
)
def test_a_call_on_a_union_means_the_method_of_each_type(repo, engine, kind, text):
    codebase = engine(repo("app", _files(kind, text))).codebase
    for name in ("A.settle", "B.settle"):
        found = codebase.callers(name).found
        assert [(each.name.rpartition(".")[2].removesuffix("d"), str(each.tier)) for each in found] == [
            ("use", "typed")
        ]


def test_a_call_on_a_union_with_an_unknown_type_is_not_all_told(repo, engine):
    text = "def use(x: 'A | D'):\n    x.settle()\nD = made()"
    codebase = engine(repo("app", _files("py", text))).codebase
    assert [each.name for each in codebase.callers("A.settle").found] == ["use"]
    assert codebase.callers("B.settle").verdict == "unknown"

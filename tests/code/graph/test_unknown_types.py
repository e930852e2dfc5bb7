"""Calls on types that do not say what a value is: they may run a method here, so "nobody calls it" is not said of it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.once

DECLARED = {
    "ts": "export class A { settle(): number { return 1; } }\nexport function make(): A { return new A(); }\n",
    "py": "class A:\n    def settle(self): return 1\n",
    "php": "<?php\nclass A { function settle() { return 1; } }\n",
    "h": "class A { public: void settle() {} };\n",
    "rs": "pub struct A { x: u8 }\nimpl A { pub fn settle(&self) -> u8 { 1 } }\n",
    "go": "package m\n\ntype A struct{}\n\nfunc (a *A) settle() int { return 1 }\n",
    "kt": "class A { fun settle(): Int { return 1 } }\n",
    "cs": "class A { public int settle() { return 1; } }\n",
}
BEFORE = {
    "ts": "import { A, make } from './a';\nimport { Box, State, Maybe } from 'elsewhere';\n",
    "py": "from typing import Any, Dict, Optional, TypeVar, Union, overload\nfrom a import A\n",
    "php": "<?php\n",
    "h": '#include "a.h"\n',
    "rs": "use crate::a::A;\n",
    "go": 'package m\n\nimport "sync/atomic"\n\n',
    "kt": "",
    "cs": "using System;\n",
}
CALLS = [
    ("ts", "export const use = (x: any) => x.settle();"),
    ("ts", "const isA = (x: unknown): x is A => true;\nexport function use(x: unknown) { if (isA(x)) x.settle(); }"),
    ("ts", "export const use = (x: unknown[]) => { const y: any = x[0]; y.settle(); };"),
    ("ts", "export const use = (x: ReturnType<typeof make>) => x.settle();"),
    ("ts", "export const use = (x: Maybe<A>) => x!.settle();"),
    ("ts", "export const use = (x: Box<A>) => x.value.settle();"),
    ("ts", "export const use = (x: State) => x.items[0].settle();"),
    ("ts", "type Ref<T> = Record<string, T>;\nexport const use = (x: Ref<A>) => x.one.settle();"),
    ("py", "def use(x: Any):\n    x.settle()"),
    ("py", "def use(x: object):\n    if isinstance(x, A):\n        x.settle()"),
    ("py", "def use(x: dict):\n    x['k'].settle()"),
    ("py", "class Use:\n    def use(self, x: list):\n        self.x = x\n        self.x[0].settle()"),
    ("py", "T = TypeVar('T')\ndef same(x: T) -> T: return x\ndef use(x: A):\n    same(x).settle()"),
    ("py", "X = Union[A, int]\ndef use(x: X):\n    x.settle()"),
    ("py", "X = Dict[str, A]\ndef use(x: X):\n    x['k'].settle()"),
    ("py", "from elsewhere import Request\ndef use(x: Request):\n    x.user.settle()"),
    ("py", "def use(x):\n    match x:\n        case [y, *_]:\n            y.settle()"),
    ("py", "def use(x):\n    match x:\n        case {'k': y, **z}:\n            y.settle()"),
    ("py", "def use(x):\n    match x:\n        case {'k': 1, **z}:\n            z.settle()"),
    ("py", "def use(x):\n    match x:\n        case A(z=y):\n            y.settle()"),
    ("py", "def use(x):\n    match x:\n        case y:\n            y.settle()"),
    ("py", "def use(x):\n    match x:\n        case A() | dict() as y:\n            y.settle()"),
    ("py", "def use(x):\n    for i, (y, z) in enumerate(x):\n        y.settle()"),
    ("py", "def use(x):\n    for [y, z] in x:\n        y.settle()"),
    ("py", "def use(x):\n    with x as (y, z):\n        y.settle()"),
    ("py", "def use(x):\n    (y, (z, w)) = x\n    w.settle()"),
    ("py", "def use(x):\n    return [w.settle() for y, (z, w) in x]"),
    ("py", "def use(x):\n    global y\n    y = x\ndef used():\n    y.settle()"),
    ("py", "def use(x):\n    (yield).settle()"),
    ("py", "def use(x: str):\n    x = make(x)\n    x.settle()"),
    ("py", "def use(x: str = None):\n    x = x or A()\n    x.settle()"),
    ("py", "def use(x: str):\n    if isinstance(x, (A, dict)):\n        x.settle()\nA()"),
    (
        "py",
        "class U:\n    x: str\n    def use(self):\n        if isinstance(self.x, A):\n            self.x.settle()\nA()",
    ),
    (
        "py",
        "from typing import Iterator\ndef made() -> Iterator[A]:\n    yield A()\ndef use():\n    with made() as x:\n        x.settle()",
    ),
    ("php", "function used(array $x) { $x['k']->settle(); }"),
    ("php", "class U { function xs(): array { return []; } function used() { $this->xs()['k']->settle(); } }"),
    ("php", "function used(mixed $x) { $x->settle(); }"),
    ("php", "function used(string $x) { (new $x)->settle(); }"),
    ("php", "function used(ArrayAccess $x) { $x['k']->settle(); }"),
    ("php", "function used(\\Out\\Box $x) { $x->value->settle(); }"),
    ("h", "void used(std::pair<A, int> x) { x.first.settle(); }"),
    ("h", "void used(std::vector<A> xs) { for (auto x = xs.begin(); x != xs.end(); ++x) x->settle(); }"),
    ("h", "void used(std::variant<A, int> x) { std::get<A>(x).settle(); }"),
    ("h", "void used(std::variant<A, int> x) { std::get<0>(x).settle(); }"),
    ("h", "void used(A x) { std::move(x).settle(); }"),
    ("h", "void used(std::vector<A>::iterator x) { x->settle(); }"),
    ("rs", "pub fn used(x: Vec<A>) { let y: Vec<_> = x.into_iter().collect(); y[0].settle(); }"),
    ("rs", "pub fn used(x: elsewhere::Own<A>) { x.settle(); }"),
    ("go", "var x atomic.Pointer[A]\n\nfunc use() { x.Load().settle() }"),
    ("rs", "pub fn used(x: Option<A>, y: Option<u8>) { if let (Some(v), Some(_)) = (x, y) { v.settle(); } }"),
    ("rs", "pub fn used(x: Vec<A>) { assert!(x.iter().all(|y| y.settle() == 1)); }"),
    ("rs", "pub fn used(x: Option<A>) { assert!(matches!(x, Some(y) if y.settle() == 1)); }"),
    ("rs", "pub async fn used(r: R) { tokio::select! { Some(x) = r.recv() => x.settle(), } }"),
    ("rs", "lazy_static! { static ref X: A = A { x: 1 }; }\npub fn used() { X.settle(); }"),
    (
        "go",
        "func use(xs map[string][]*A) {\n\tfor _, ys := range xs {\n\t\tfor _, y := range ys {\n\t\t\ty.settle()\n\t\t}\n\t}\n}",
    ),
    ("go", "func use(c chan *A) {\n\tselect {\n\tcase x := <-c:\n\t\tx.settle()\n\t}\n}"),
    ("go", "func use(c chan *A) {\n\tselect {\n\tcase x, ok := <-c:\n\t\tx.settle()\n\t}\n}"),
    ("go", 'import "maps"\n\nfunc use(xs map[string]*A) {\n\tfor x := range maps.Values(xs) {\n\t\tx.settle()\n\t}\n}'),
    ("go", 'import "slices"\n\nfunc use(xs []*A) { slices.Max(xs).settle() }'),
    ("go", "type I interface{ settle() int }\n\nfunc use(x I) { x.settle() }"),
    ("ts", "interface I { settle(): number }\nexport const use = (x: I) => x.settle();"),
    (
        "py",
        "from typing import Protocol\nclass I(Protocol):\n    def settle(self): ...\ndef use(x: I):\n    x.settle()",
    ),
    ("kt", "fun used(x: Any) { if (x is A) x.settle() }"),
    ("kt", "fun used(x: Pair<A, Int>) { x.first.settle() }"),
    ("kt", "fun used(x: Map<String, A>) { x.values.first().settle() }"),
    ("cs", "class U : Elsewhere { void used() { value.settle(); } }"),
    ("cs", "class U : Elsewhere { void used() { Value.settle(); } }\nclass M { A a = new A(); }"),
    ("cs", "class U { void used(dynamic x) { x.settle(); } }"),
]


@pytest.mark.parametrize(("kind", "text"), CALLS, ids=[f"{kind} {text[-50:]}" for kind, text in CALLS])
def test_a_call_on_what_may_be_anything_leaves_the_method_in_question(repo, engine, kind, text):
    assert engine(_files(repo, kind, text)).codebase.callers("A.settle").verdict in {"found", "unknown"}


def _files(repo, kind, text):
    """Write a class and what may call its method; return the folder."""
    other = {"h": "b.cpp", "go": "b.go"}.get(kind, f"b.{kind}")
    files = {f"a.{kind}": DECLARED[kind], other: f"{BEFORE[kind]}{text}\n", "go.mod": "module ex.com/m\n"}
    if kind == "rs":
        files = {"Cargo.toml": '[package]\nname = "m"\n', "src/lib.rs": "pub mod a;\npub mod b;\n"} | {
            f"src/{name}": content for name, content in files.items() if name.endswith(".rs")
        }
    return repo("app", files)


# What code from elsewhere gives: it may be of the repository only where it was handed over before.
GIVEN = [
    ("ts", "import { make as made } from 'elsewhere';\nexport function use() {\n  const x = made();\n  x.settle();\n}"),
    (
        "ts",
        "import { one } from 'elsewhere';\nexport async function use() {\n  const x = await one();\n  x.settle();\n}",
    ),
    ("ts", "export function use(xs: State[]) {\n  for (const x of xs) x.settle();\n}"),
    ("py", "import lib\ndef use():\n    x = lib.make()\n    x.settle()"),
    ("py", "import lib\ndef use():\n    with lib.make() as x:\n        x.settle()"),
    ("py", "import lib\ndef use():\n    for x in lib.make():\n        x.settle()"),
    ("py", "from lib import Thing\ndef use(xs: list[Thing]):\n    xs[0].settle()"),
    ("py", "import lib\ndef use(x: str):\n    x = lib.make(x)\n    x.settle()"),
    ("php", "function used() { $x = \\Out\\Box::make(); $x->settle(); }"),
    ("h", "void used(out::Box &x) { x.settle(); }"),
    ("h", "void used(Box *x) { x->settle(); }"),
    ("rs", "pub fn used() { let x = elsewhere::Own::new(); x.settle(); }"),
    ("rs", "pub fn used(xs: Vec<elsewhere::Own>) { for x in xs.iter() { x.settle(); } }"),
    ("go", 'import "ex.org/lib"\n\nfunc use(a *A) {\n\tx := lib.Must(a, nil)\n\tx.settle()\n}'),
    ("go", 'import "slices"\n\nfunc use(xs []*A) {\n\tx := slices.MaxFunc(xs, nil)\n\tx.settle()\n}'),
    ("kt", "import out.made\nfun used() {\n  val x = made()\n  x.settle()\n}"),
    ("cs", "class U { void used() { var x = Out.Make(); x.settle(); } }\nclass M { A a = new A(); }"),
]


@pytest.mark.parametrize(("kind", "text"), GIVEN, ids=[f"{kind} {text[-50:]}" for kind, text in GIVEN])
def test_a_call_on_what_a_library_gives_is_named_and_never_taken_for_sure(repo, engine, kind, text):
    """That one method here has the name tells nothing of a value from elsewhere."""
    answer = engine(_files(repo, kind, text)).codebase.callers("A.settle")
    assert (answer.verdict, [each.path.rpartition("/")[2][0] for each in answer.uncovered]) == ("unknown", ["b"])


def test_a_union_of_types_from_elsewhere_is_none_of_ours(repo, engine):
    text = "export const use = (x: State | string) => x.settle();"
    assert engine(_files(repo, "ts", text)).codebase.callers("A.settle").verdict == "none"


@pytest.mark.parametrize(
    "files",
    [
        {
            "a.ts": "export type Maybe<T> = null | undefined | T;\nexport type Many<T> = Array<T>;\nexport class A { settle() { return 1; } }\n",
            "b.ts": "import { A, Maybe, Many } from './a';\nexport function use(x: Maybe<A>, y: Many<A>) {\n  x?.settle();\n}\n",
        },
        {
            "a.ts": "export class A { settle() { return 1; } }\nexport class B { settle() { return 1; } }\n",
            "b.ts": "import { A, B } from './a';\nexport function use(x: Omit<A, 'z'>, y: InstanceType<typeof B>) {\n  x.settle();\n}\n",
        },
        {
            "a.h": "class B { public: void settle(); };\nnamespace own { template <class T> class list { public: void settle(T x) {} }; }\n",
            "b.cpp": '#include "a.h"\nclass C { own::list<B*> x; void use() { x.settle(nullptr); } };\n',
        },
        {
            "a.h": "class B { public: void settle(); };\ntemplate <class T> class Pool { public: class Loan { public: T* settle(); }; };\n"
            "template <class T> using Loan = typename Pool<T>::Loan;\n",
            "b.cpp": '#include "a.h"\nvoid use() { Loan<B> x; x.settle(); }\n',
        },
    ],
    ids=[
        "an alias that stands for its argument",
        "a type made of a class",
        "a collection of one's own",
        "a class in a template",
    ],
)
def test_a_type_that_is_made_of_another_is_followed(repo, engine, files):
    asked = {"a.ts": "A.settle", "a.h": "list.settle" if "list" in files.get("a.h", "") else "Pool.Loan.settle"}
    answer = engine(repo("app", files)).codebase.callers(asked[min(files)])
    assert [(each.name.rpartition(".")[2], str(each.tier)) for each in answer.found] == [("use", "typed")]


@pytest.mark.parametrize(
    "files",
    [
        {
            "a.py": "from typing import overload\nclass Yes:\n    def settle(self): ...\nclass No:\n    def settle(self): ...\n"
            "@overload\ndef made(x: bool) -> Yes: ...\n@overload\ndef made(x: dict) -> No: ...\ndef made(x):\n    return x\n",
            "b.py": "from a import made\ndef use():\n    made({}).settle()\n",
        },
        {
            "a.ts": "export class Yes { settle() {} }\nexport class No { settle() {} }\n"
            "export function made(x: boolean): Yes;\nexport function made(x: string): No;\nexport function made(x: any): any { return x; }\n",
            "b.ts": "import { made } from './a';\nexport function use() {\n  made('').settle();\n}\n",
        },
    ],
    ids=["python", "typescript"],
)
def test_overloads_that_give_different_classes_give_none_for_sure(repo, engine, files):
    """Which one a call means, its arguments say, and these are not read."""
    codebase = engine(repo("app", files)).codebase
    for name in ("Yes.settle", "No.settle"):
        answer = codebase.callers(name)
        assert (answer.verdict, [each.path for each in answer.uncovered]) == ("unknown", [max(files)])

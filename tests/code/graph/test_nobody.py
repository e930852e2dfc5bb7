"""Code that calls a function without an edge: nobody is said to call it only where nobody does."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.once

# What may call the function asked about: the files, the name, and what the answer says.
MAY_CALL = {
    "delegate": (
        {"a.rb": "class Pot\n  def peek; end\nend\nclass Wrap\n  delegate :peek, to: :pot\nend\n"},
        "Pot.peek",
        "a.rb:5",
    ),
    "def_delegators": (
        {"a.rb": "class Pot\n  def peek; end\nend\nclass Wrap\n  def_delegators :@pot, :peek, :size\nend\n"},
        "Pot.peek",
        "a.rb:5",
    ),
    "beginning": (
        {"a.py": "class Bot:\n    def cmd_list(self): ...\nnames = [n for n in dir(Bot()) if n.startswith('cmd_')]\n"},
        "Bot.cmd_list",
        "a.py:3 may write its name as 'cmd_'",
    ),
    "end": (
        {"a.py": "def load_handler(): ...\nnames = [n for n in globals() if n.endswith('_handler')]\n"},
        "load_handler",
        "a.py:2 may write its name as '_handler'",
    ),
    "mixin": (
        {"a.py": "from lib import View\nclass Named:\n    def get_title(self): ...\nclass Page(Named, View): ...\n"},
        "Named.get_title",
        "Page extends View",
    ),
    "trait": (
        {
            "a.php": "<?php\ntrait Named {\n  function scopeActive() {}\n}\nclass User extends Model {\n  use Named;\n}\n"
        },
        "Named.scopeActive",
        "User extends Model",
    ),
    "anonymous object": (
        {
            "a.kt": "class A {\n  fun go() {\n    run(object : Visitor() {\n      override fun visitArray() {}\n    })\n  }\n}\n"
        },
        "A.go.visitArray",
        "it overrides what is not in this repository",
    ),
    "route": (
        {
            "Shop.php": "<?php\nclass Shop {\n  function settle() {}\n}\n",
            "r.php": "<?php\nRoute::get('/x', 'Shop@settle');\n",
        },
        "Shop.settle",
        "r.php:2",
    ),
    "class without a name": (
        {
            "m.php": "<?php\nreturn new class extends M {\n  function up() {\n    self::fill();\n  }\n  static function fill() {}\n};\n"
        },
        "fill",
        "m.php:4",
    ),
    "handler": (
        {"a.js": "export function init(q) {\n  const e = find(q);\n  e.onclick = () => 1;\n}\n"},
        "init.e.onclick",
        "whoever is given its object",
    ),
    "object handed to a call": (
        {"a.ts": "import { make } from 'lib';\nconst t = make({\n  format(e) {\n    return e;\n  },\n});\n"},
        "t.format",
        "whoever is given its object",
    ),
    "object in a list": (
        {"a.ts": "export const routes = [{ path: 'x', loadIt: () => 1 }];\n"},
        "routes.loadIt",
        "whoever is given its object",
    ),
    "object that is read only": (
        {"a.ts": "const all = {\n  fast: () => 1,\n} as const;\nObject.values(all).map((each) => each());\n"},
        "all.fast",
        "whoever is given its object",
    ),
    "method for a base from elsewhere alone": (
        {"a.py": "from lib import Client\nclass Quiet(Client):\n    def _send(self): ...\n"},
        "Quiet._send",
        "Quiet extends Client",
    ),
    "page of a router": (
        {"app/lists/[slug]/edit.tsx": "const EditPage = () => null;\nexport default EditPage;\n"},
        "EditPage",
        "what loads the file",
    ),
    "extension of what a property of the library gives": (
        {
            "Ext.cs": "namespace Shop;\npublic static class Ext {\n  public static DateTime Cut(this DateTime d, long n) { return d; }\n}\n",
            "Use.cs": "namespace Shop;\nclass Use {\n  DateTime Now() { return DateTime.UtcNow.Cut(1); }\n}\n",
        },
        "Ext.Cut",
        "Use.cs:3",
    ),
    "extension of what a property of Java's library gives": (
        {
            "Ext.kt": "package a\nfun Instant.cut(n: Int) = this\n",
            "Use.kt": "package a\nfun now() = Clock.SYSTEM.start.cut(1)\n",
        },
        "cut",
        "Use.kt:2",
    ),
    "class that a framework finds by its base": (
        {
            "app/management/commands/prune.py": "from django.core.management.base import BaseCommand\nclass Command(BaseCommand):\n    ...\n"
        },
        "Command",
        "Command extends BaseCommand, which is not in this repository",
    ),
    "class that a framework finds by its base's base": (
        {
            "Base.cs": "namespace Shop;\npublic class ShopController : ControllerBase {}\n",
            "Till.cs": "namespace Shop;\npublic class TillController : ShopController {}\n",
        },
        "TillController",
        "ShopController extends ControllerBase, which is not in this repository",
    ),
    "question of .NET's serializers": (
        {
            "Feed.cs": "class Feed {\n  public int Total { get; set; }\n  public bool ShouldSerializeTotal() { return true; }\n}\n"
        },
        "Feed.ShouldSerializeTotal",
        "calls ShouldSerializeTotal by itself",
    ),
    "class that is marked": (
        {"Till.java": 'package a;\n\n@RestController\n@RequestMapping("/till")\npublic class Till {\n}\n'},
        "Till",
        "it is marked @RestController",
    ),
    "class handed on": (
        {"a.py": "class Handler:\n    def get_it(self): ...\n", "b.py": "from a import Handler\nserve(Handler)\n"},
        "Handler.get_it",
        "nothing here makes an instance of Handler",
    ),
    "type argument": (
        {"S.cs": "public class Startup { public void Configure() {} }\n", "P.cs": "host.UseStartup<Startup>();\n"},
        "Startup.Configure",
        "nothing here makes an instance of Startup",
    ),
    "library's class": (
        {"a.rb": "module Net\n  class HTTP\n    def conn_address\n      1\n    end\n  end\nend\n"},
        "Net.HTTP.conn_address",
        "nothing here makes an instance of HTTP",
    ),
    "module handed on": (
        {"a.py": "def on_start(): ...\n", "b.py": "import a\nregister(a)\n"},
        "on_start",
        "b.py:2 is given the module",
    ),
    "module loaded as code runs": (
        {"a.jsx": "export default function Box() {}\n", "b.js": "const Lazy = lazy(() => import('./a'));\n"},
        "Box",
        "b.js:1 is given the module",
    ),
    "migration": (
        {"app/migrations/0001.py": "def forwards(): ...\n"},
        "forwards",
        "what loads the file",
    ),
    "hook": (
        {"conftest.py": "def pytest_addoption(parser): ...\n"},
        "pytest_addoption",
        "calls pytest_addoption by itself",
    ),
    "interface of a module": (
        {
            "go.mod": "module ex.com/m\n",
            "a.go": 'package m\n\nimport "lib.org/auth"\n\ntype User struct{}\n\nfunc (u *User) AuthID() auth.ID { return 1 }\n',
        },
        "User.AuthID",
        "an interface of lib.org/auth may ask for it",
    ),
    "interface of a module that is imported where the type is made": (
        {
            "go.mod": "module ex.com/m\n",
            "hook.go": "package m\n\ntype Hook struct{}\n\nfunc (h *Hook) Fire(level int) error { return nil }\n",
            "use.go": 'package m\n\nimport "lib.org/log"\n\nfunc use() { log.AddHook(&Hook{}) }\n',
        },
        "Hook.Fire",
        "an interface of lib.org/log, which use.go imports, may ask for it",
    ),
    "interface of a module that is imported where the type is handed on": (
        {
            "go.mod": "module ex.com/m\n",
            "kind.go": "package m\n\ntype Hook struct{}\n",
            "hook.go": "package m\n\nfunc NewHook() *Hook { return &Hook{} }\n\nfunc (h *Hook) Fire(level int) error { return nil }\n",
            "cmd/use.go": 'package main\n\nimport (\n\t"ex.com/m"\n\t"lib.org/log"\n)\n\nfunc main() { log.AddHook(m.NewHook()) }\n',
        },
        "Hook.Fire",
        "an interface of lib.org/log, which cmd/use.go imports, may ask for it",
    ),
    "interface of the library": (
        {
            "a.go": "package m\n\ntype Jar struct{}\n\nfunc (j *Jar) SetCookies(all []int) {}\n",
            "b.go": "package m\n\nfunc (j *Jar) Cookies() []int { return nil }\n",
        },
        "Jar.SetCookies",
        "net/http.CookieJar of the library asks for it",
    ),
    "interface of the library that a type has by what it embeds": (
        {
            "a.go": "package m\n\ntype Base struct{}\n\nfunc (b Base) Cookies() {}\n\ntype Jar struct{ Base }\n\nfunc (j *Jar) SetCookies() {}\n"
        },
        "Jar.SetCookies",
        "net/http.CookieJar of the library asks for it",
    ),
    "bean": (
        {"A.java": "class A {\n  private int total;\n  int getTotal() { return total; }\n}\n"},
        "A.getTotal",
        "a library may read or write the property",
    ),
    "added to a library": (
        {"a.d.ts": "import 'dayjs';\ndeclare module 'dayjs' {\n  interface Zone { setDefault(t: string): void }\n}\n"},
        "Zone.setDefault",
        "it adds to dayjs",
    ),
    "mustache": (
        {"A.java": "class A {\n  int getTax() { return 1; }\n}\n", "a.mustache": "{{#tax}}yes{{/tax}}\n"},
        "A.getTax",
        "a.mustache:1 may write its name",
    ),
    "attribute of C": (
        {"a.c": "__attribute__((constructor)) static void boot(void) {}\n"},
        "boot",
        "it is marked __attribute__((constructor",
    ),
    "base's constructor": (
        {"A.cs": "class A<T> {\n  protected A(int n) {}\n}\n", "B.cs": "class B<T> : A<T> {\n  B() : base(1) {}\n}\n"},
        "A.cs:2",
        "found",
    ),
}


@pytest.mark.parametrize("case", MAY_CALL)
def test_what_may_call_a_function_is_named(repo, engine, case):
    files, asked, said = MAY_CALL[case]
    answer = engine(repo("app", files)).codebase.callers(asked)
    assert answer.verdict != "none"
    assert said in " ".join((str(answer.verdict), answer.reason, *map(str, answer.uncovered)))


# Calls that lead to the function asked about: the files, the name, the caller.
CALLS = {
    "type behind a variable of its name": (
        {"a.go": 'package m\n\nimport "lib"\n\ntype request struct{}\n\nfunc (r *request) send() {\n\trequest := lib.New()\n\trequest.Do(r.head())\n}\n\nfunc (r *request) head() int { return 1 }\n'},
        "request.head",
        "request.send",
    ),
    "scripts of a page": (
        {"a.js": "class Keys {\n  listen() {}\n}\n", "b.js": "function init() {\n  const keys = new Keys();\n  keys.listen();\n}\n"},
        "Keys.listen",
        "init",
    ),
    "extension beside a function of its name": (
        {
            "a.kt": "package a\nfun launchIt(f: () -> Unit) {}\nfun Scope.launchIt(f: () -> Unit) {}\n",
            "b.kt": "package b\nimport a.launchIt\nfun draw(s: Scope) {\n  s.launchIt { go() }\n}\n",
        },
        "a.kt:3",
        "draw",
    ),
    "function with type arguments": (
        {"a.go": "package m\n\nfunc pick[T any](n T) T { return n }\n\nfunc use() {\n\tpick[int](1)\n}\n"},
        "pick",
        "use",
    ),
    "function that is given another value": (
        {"a.ts": "export const use = () => {\n  let stop = () => {}\n  const start = () => {\n    stop()\n    stop = () => end()\n  }\n  return { start }\n}\n"},
        "use.stop",
        "use.start",
    ),
    "inferred by lombok": (
        {
            "W.java": "interface W { boolean fits(Object o); }\n",
            "U.java": "class U {\n  Iterable<W> all;\n  void go(Object o) {\n    for (val w : all) { w.fits(o); }\n  }\n}\n",
        },
        "W.fits",
        "U.go",
    ),
    "constructor of Java's base": (
        {"A.java": "class A {\n  A(int n) {}\n}\n", "B.java": "class B extends A {\n  B() { super(1); }\n}\n"},
        "A.java:2",
        "B.B",
    ),
    "constructor of Kotlin's base": (
        {"A.kt": "open class A {\n  constructor(n: Int) {}\n}\n", "B.kt": "class B : A {\n  constructor() : super(1) {}\n}\n"},
        "A.kt:2",
        "B.constructor",
    ),
    "field given a function in another": (
        {"a.ts": "export class A {\n  free?: () => void;\n  open() {\n    each(() => {\n      this.free = () => {};\n    });\n  }\n  close() {\n    this.free?.();\n  }\n}\n"},
        "a.ts:5",
        "A.close",
    ),
    "class whose head the preprocessor chooses": (
        {
            "A.cs": "namespace P;\n#if NET\npublic partial class A : IB\n#else\npublic partial class A\n#endif\n{\n  public void Settle() {}\n}\n",
            "B.cs": "namespace P;\nclass B {\n  void Use(A x) { x.Settle(); }\n}\n",
        },
        "A.Settle",
        "B.Use",
    ),
    "static that a macro makes": (
        {
            "Cargo.toml": '[package]\nname = "m"\n',
            "src/lib.rs": "mod a;\nmod b;\n",
            "src/a.rs": "pub struct A;\nimpl A { pub fn settle(&self) {} }\nlazy_static! {\n  pub static ref ONE: A = A;\n}\n",
            "src/b.rs": "use crate::a::*;\nfn go() { ONE.settle(); }\n",
        },
        "A.settle",
        "go",
    ),
    "constant that a macro makes": (
        {
            "Cargo.toml": '[package]\nname = "m"\n',
            "src/lib.rs": "mod a;\nmod b;\n",
            "src/a.rs": "pub struct A;\nimpl A { pub fn settle(&self) {} }\nmake_all! { ONE, TWO }\n",
            "src/b.rs": "use crate::a::*;\nfn go() { ONE.settle(); }\n",
        },
        "A.settle",
        "go",
    ),
    "name that a module makes as it runs": (
        {
            "a.py": "class A:\n    def settle(self): ...\nglobals()['one'] = A()\n",
            "b.py": "from a import one\ndef go():\n    one.settle()\n",
        },
        "A.settle",
        "go",
    ),
    "namespace told from the one around": (
        {
            "Parse.cs": "namespace Shop.Tasks.Parse;\npublic static class Parser {\n  public static int Most(string s) { return 1; }\n}\n",
            "Desk.cs": "namespace Shop.Desks.Front;\nclass Desk {\n  int Use(string s) { return Tasks.Parse.Parser.Most(s); }\n}\n",
        },
        "Parser.Most",
        "Desk.Use",
    ),
    "type in a struct without a name": (
        {"a.go": "package m\n\nfunc use(n int) any {\n\ttype own int\n\treturn struct {\n\t\town\n\t\tT string\n\t}{own: own(n)}\n}\n"},
        "own",
        "use",
    ),
    "class that a container of objects is asked for": (
        {
            "nav.ts": "export class Nav {\n  shut(n: number) {}\n}\n",
            "side.ts": "import { inject } from '@angular/core';\nimport { Nav } from './nav';\nexport class Side {\n  private readonly nav = inject(Nav);\n  go() {\n    this.nav.shut(1);\n  }\n}\n",
        },
        "Nav.shut",
        "Side.go",
    ),
    "class that a variable is injected with": (
        {
            "nav.ts": "export class Nav {\n  shut(n: number) {}\n}\n",
            "guard.ts": "import { inject } from '@angular/core';\nimport { Nav } from './nav';\nexport const guard = () => {\n  const nav = inject(Nav);\n  nav.shut(1);\n}\n",
        },
        "Nav.shut",
        "guard",
    ),
    "property with a field of its own": (
        {"A.kt": "class A {\n  val state: Int\n    field = 1\n\n  fun find() {}\n}\n", "B.kt": "fun use(a: A) {\n  a.find()\n}\n"},
        "A.find",
        "use",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_a_call_leads_to_the_function(repo, engine, case):
    files, asked, caller = CALLS[case]
    answer = engine(repo("app", {"go.mod": "module ex.com/m\n"} | files)).codebase.callers(asked)
    assert caller in [each.name for each in answer.found]


def test_a_class_that_is_held_somewhere_is_known_to_have_no_other_callers(repo, engine):
    """What injects an instance calls nothing on it; a private function nobody else can call."""
    files = {
        "Shop.php": "<?php\nclass Shop {\n  function settle() {}\n}\n",
        "Use.php": "<?php\nclass Use1 {\n  function __construct(Shop $shop) {}\n}\n",
        "Job.php": "<?php\nclass Job {\n  private function boil() {}\n}\nrun(Job::class);\n",
    }
    code = engine(repo("app", files)).codebase
    assert [code.callers(name).verdict for name in ("Shop.settle", "Job.boil")] == ["none", "none"]


def test_a_method_that_no_interface_in_sight_asks_for_has_no_callers(repo, engine):
    """A type with one of an interface's methods is none of it; a name in small letters is the package's own."""
    files = {
        "go.mod": "module ex.com/m\n",
        "a.go": "package m\n\ntype Jar struct{}\n\nfunc (j *Jar) SetCookies() {}\n\nfunc (j *Jar) shut() {}\n",
        "use.go": 'package m\n\nimport "lib.org/log"\n\nfunc use() { log.Keep(&Jar{}) }\n',
        "b/b.go": "package b\n\ntype Pot struct{}\n\nfunc (p *Pot) Get() int { return 1 }\n",  # flag.Getter has Set too
    }
    code = engine(repo("app", files)).codebase
    found = [code.callers(name).verdict for name in ("Jar.SetCookies", "Jar.shut", "Pot.Get")]
    assert found == ["unknown", "none", "none"]


@pytest.mark.parametrize(
    "made", ["export const NavToken = new InjectionToken<Nav>('nav');", "export const NavToken = Symbol();"]
)
def test_a_token_that_is_injected_may_stand_for_any_class(repo, engine, made):
    files = {
        "nav.ts": f"export class Nav {{\n  shut(n: number) {{}}\n}}\n{made}\n",
        "side.ts": "import { NavToken } from './nav';\nexport class Side {\n  nav = inject(NavToken);\n  go() {\n    this.nav.shut(1);\n  }\n}\n",
        "use.js": "import { NavToken } from './nav';\nfunction use() {\n  const { one } = inject(NavToken);\n  const nav = inject(NavToken);\n  nav.shut(2);\n}\n",
    }
    answer = engine(repo("app", files)).codebase.callers("Nav.shut")
    assert [each.name for each in answer.found] == ["Side.go", "use"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Own:\n    n: int\n"),
        ("a.py", "class Own(ValueError):\n    ...\n"),
        ("a.py", "from enum import Enum\nclass Own(Enum):\n    A = 1\n"),
        ("Own.java", '@SuppressWarnings("x")\nclass Own extends RuntimeException {}\n'),
    ],
)
def test_nobody_makes_a_class_that_no_framework_finds(repo, engine, path, text):
    assert engine(repo("app", {path: text})).codebase.callers("Own").verdict == "none"

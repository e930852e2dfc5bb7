"""Edges in every language that has a resolver: what is meant gets one, what is external gets none."""

from __future__ import annotations

import pytest

from vademecum.code.graph.terms import Relation, Tier

pytestmark = pytest.mark.once

PYTHON = {
    "src/app/__init__.py": "from .store import Store as Storage\nfrom . import net\n",
    "src/app/store.py": (
        "from __future__ import annotations\nimport os.path\nfrom abc import ABC\n\n\nclass Base(ABC):\n    def get(self, key: str) -> Item: ...\n"
        "    def close(self): ...\n\n\nclass Item:\n    def load(self): ...\n\n\nclass Store(Base):\n    def get(self, key):\n"
        "        super().get(key)\n        return self._find(key)\n\n    def _find(self, key):\n        os.path.join(key)\n        return Item()\n"
    ),
    "src/app/net.py": (
        "from app import Storage\nimport app.store as st\n\n\ndef make() -> Storage:\n    return Storage()\n\n\n"
        "def run(store: Storage, items: list[st.Item], other):\n    store.get('a').load()\n    store.close()\n    make().get('b')\n"
        "    for item in items:\n        item.load()\n    print(other.join(), other.fetch_remote_rows())\n    st.Item().load()\n"
    ),
    "src/app/join.py": "def join(a):\n    return a\n\n\ndef print(a):\n    return a\n",
    "src/app/rows.py": "class Rows:\n    def fetch_remote_rows(self):\n        return cb(helper)\n\n\ndef helper(): ...\n",
    "tests/test_net.py": "from app.net import run\n\n\ndef test_run():\n    run(None, [], None)\n",
}
TYPESCRIPT = {
    "tsconfig.json": '{ // comment\n "compilerOptions": {"baseUrl": ".", "paths": {"@lib/*": ["lib/*"],},} }',
    "lib/index.ts": "export * from './client';\nexport { helper as assist } from './util';\n",
    "lib/client.ts": (
        "export interface Sender { send(a: string): Reply }\nexport class Reply { text(): string { return '' } }\n"
        "export class Client implements Sender {\n  #cache: Reply = new Reply();\n  #seen: Map<string, string> = new Map();\n  constructor(private readonly next: Sender) {}\n"
        "  send(a: string): Reply { this.#seen.get(a); this.next.send(a); return this.#cache; }\n  static make(): Client { return new Client(null!); }\n}\n"
    ),
    "lib/util.ts": "export function helper() {}\nexport default class Tool { go() {} }\nconst fs = require('fs');\nexport const parse = () => fs.parse();\n",
    "app/main.ts": (
        "import { Client, assist } from '@lib/index';\nimport Tool from '../lib/util';\nimport * as util from '../lib/util';\n"
        "async function main() {\n  assist();\n  const client = Client.make();\n  client.send('a').text();\n  new Tool().go();\n  util.helper();\n"
        "  JSON.parse('');\n  (await fetch('x')).text();\n}\n"
    ),
    "app/old.js": "const { helper } = require('../lib/util');\nconst api = { run() { helper(); } };\nmodule.exports = api;\n",
    "app/use.js": "const api = require('./old');\napi.run();\n",
}
GO = {
    "go.mod": "module example.org/m\n",
    "store/store.go": (
        'package store\n\nimport "os"\n\ntype Store struct {\n\tinner *Inner\n}\n\nfunc New() *Store { return &Store{} }\n\n'
        "func (s *Store) Fetch(key string) *Inner { s.inner.Touch(); os.Getenv(key); return helper() }\n"
    ),
    "store/inner.go": "package store\n\ntype Inner struct{}\n\nfunc (i *Inner) Touch() {}\n\nfunc helper() *Inner { return nil }\n\nfunc Getenv() {}\n",
    "main.go": 'package main\n\nimport st "example.org/m/store"\n\nfunc main() {\n\ts := st.New()\n\ts.Fetch("a").Touch()\n}\n',
}
RUST = {
    "Cargo.toml": '[package]\nname = "my-crate"\n',
    "src/lib.rs": "mod store;\npub mod net;\npub use store::Store;\n",
    "src/store.rs": (
        "pub struct Item;\nimpl Item { pub fn touch(&self) {} }\npub struct Store { item: Item }\nimpl Store {\n    pub fn new() -> Self { Store { item: Item } }\n"
        "    pub fn fetch(&self) -> &Item { self.item.touch(); helper(); &self.item }\n}\nfn helper() {}\n"
    ),
    "src/net.rs": 'use crate::Store;\nuse std::env;\npub fn run(store: &Store) {\n    let s = Store::new();\n    s.fetch().touch();\n    store.fetch();\n    env::var("A");\n    super::store::var();\n}\n',
    "tests/it.rs": "use my_crate::net::run;\nfn test_it() { run(x); }\n",
}
JAVA = {
    "src/a/Store.java": (
        "package a;\nimport b.Item;\npublic class Store extends Base implements Keeper {\n  private final Item item = new Item();\n"
        "  public Item fetch(String key) { touchAll(); this.item.touch(); Integer.parseInt(key); return item; }\n}\n"
    ),
    "src/a/Base.java": "package a;\npublic class Base {\n  void touchAll() {}\n  static int parseInt(String a) { return 0; }\n}\n",
    "src/a/Keeper.java": "package a;\ninterface Keeper { b.Item fetch(String key); }\n",
    "src/b/Item.java": "package b;\npublic class Item { public void touch() {} }\n",
    "src/c/Main.java": 'package c;\nimport a.Store;\nclass Main {\n  void run(Store store) { store.fetch("a").touch(); var s = new Store(); s.fetch("b"); }\n}\n',
}
CSHARP = {
    "A/Store.cs": (
        "using B;\nnamespace A.Core;\npublic class Store : Base {\n  private Item item = new Item();\n"
        "  public Item Fetch(string key) { TouchAll(); this.item.Touch(); int.TryParse(key, out var n); return item; }\n}\n"
    ),
    "A/Base.cs": "namespace A {\n  public class Base { protected void TouchAll() {} }\n}\n",
    "B/Item.cs": "namespace B;\npublic class Item { public void Touch() {} public static bool TryParse(string a, out int b) { b = 1; return true; } }\n",
}
C = {
    "src/store.h": "struct item { int n; };\nstruct item *fetch(const char *key);\n",
    "src/store.c": '#include "store.h"\nstatic void touch(struct item *i) {}\nstruct item *fetch(const char *key) { touch(0); return 0; }\nvoid free(void *p) {}\n',
    "src/main.c": '#include <stdio.h>\n#include "store.h"\nint main(void) { fetch("a"); printf("x"); return 0; }\n',
}
CPP = {
    "inc/store.hpp": "#pragma once\nnamespace ns {\nclass Item { public: void touch(); };\nclass Store : public Item {\n public:\n  Item fetch(int key);\n private:\n  Item item_;\n};\n}\n",
    "src/store.cpp": '#include "../inc/store.hpp"\nnamespace ns {\nvoid Item::touch() {}\nItem Store::fetch(int key) { item_.touch(); touch(); return item_; }\n}\n',
    "src/main.cpp": '#include "store.hpp"\nint main() { ns::Store s; s.fetch(1); auto p = new ns::Item(); return 0; }\n',
}
RUBY = {
    "lib/store.rb": (
        "require_relative 'item'\nmodule App\n  class Store < Base\n    def initialize\n      @item = Item.new\n    end\n    def fetch(key)\n      @item.touch\n"
        "      check(key)\n      helper\n    end\n    def check(key)\n    end\n  end\nend\n"
    ),
    "lib/item.rb": "module App\n  class Base\n    def helper\n    end\n  end\n  class Item\n    def touch\n    end\n    def join\n    end\n  end\nend\n",
    "bin/run.rb": "require 'store'\nstore = App::Store.new\nstore.fetch(1)\nFile.join('a')\n",
}
PHP = {
    "src/Store.php": (
        "<?php\nnamespace App\\Core;\nuse App\\Items\\{Item, Other as Else2};\nclass Store extends Base {\n  private Item $item;\n"
        "  public function __construct(private Else2 $other) { $this->item = new Item(); }\n"
        "  public function fetch(string $key): Item { $this->item->touch(); $this->other->go(); $this->check(); \\strlen($key); return $this->item; }\n}\n"
    ),
    "src/Base.php": "<?php\nnamespace App\\Core;\nabstract class Base { protected function check() {} }\nfunction strlen2() {}\n",
    "src/Item.php": "<?php\nnamespace App\\Items;\nclass Item { public function touch() {} }\nclass Other { public function go() {} }\nfunction strlen() {}\n",
    "run.php": "<?php\nuse App\\Core\\Store;\n$store = new Store($x);\n$store->fetch('a')->touch();\n",
}
KOTLIN = {
    "src/a/Store.kt": (
        "package a\n\nimport b.Item\n\nclass Store(private val other: Item) : Base() {\n    private val item: Item = Item()\n"
        "    fun fetch(key: String): Item {\n        touchAll()\n        this.item.touch()\n        other.touch()\n        key.trim()\n        return item\n    }\n}\n"
    ),
    "src/a/Base.kt": "package a\n\nopen class Base {\n    fun touchAll() {\n    }\n}\n",
    "src/b/Item.kt": "package b\n\nclass Item {\n    fun touch() {\n    }\n    fun trim() {\n    }\n}\n",
    "src/c/Main.kt": 'package c\n\nimport a.Store\n\nfun run(store: Store) {\n    store.fetch("a").touch()\n}\n',
}
CASES = {
    "python": (
        PYTHON,
        """
        src/app/net.py:make calls src/app/store.py:Store exact
        src/app/net.py:run calls src/app/store.py:Store.get typed
        src/app/net.py:run calls src/app/store.py:Base.close typed
        src/app/net.py:run calls src/app/store.py:Item.load typed
        src/app/net.py:run calls src/app/net.py:make exact
        src/app/net.py:run calls src/app/store.py:Item exact
        src/app/net.py:run calls src/app/rows.py:Rows.fetch_remote_rows unique
        src/app/store.py:Store.get calls src/app/store.py:Store._find exact
        src/app/store.py:Store.get calls src/app/store.py:Base.get exact
        src/app/store.py:Store._find calls src/app/store.py:Item exact
        src/app/store.py:Store inherits src/app/store.py:Base exact
        src/app/store.py:Store.get inherits src/app/store.py:Base.get exact
        src/app/rows.py:Rows.fetch_remote_rows references src/app/rows.py:helper exact
        src/app/__init__.py imports src/app/store.py exact
        src/app/net.py imports src/app/__init__.py exact
        tests/test_net.py:test_run calls src/app/net.py:run exact
        tests/test_net.py tests src/app/net.py exact
        """,
        ["join.py"],
    ),
    "typescript": (
        TYPESCRIPT,
        """
        app/main.ts:main calls lib/util.ts:helper exact
        app/main.ts:main calls lib/client.ts:Client.make exact
        app/main.ts:main calls lib/client.ts:Client.send typed
        app/main.ts:main calls lib/client.ts:Reply.text typed
        app/main.ts:main calls lib/util.ts:Tool exact
        app/main.ts:main calls lib/util.ts:Tool.go typed
        lib/client.ts:Client.send calls lib/client.ts:Sender.send typed
        lib/client.ts:Client calls lib/client.ts:Reply exact
        lib/client.ts:Client.make calls lib/client.ts:Client exact
        lib/client.ts:Client implements lib/client.ts:Sender exact
        lib/client.ts:Client.send implements lib/client.ts:Sender.send exact
        app/main.ts imports lib/index.ts exact
        lib/index.ts imports lib/client.ts exact
        app/old.js:api.run calls lib/util.ts:helper exact
        app/use.js calls app/old.js:api.run exact
        """,
        ["lib/util.ts:parse", "#seen"],
    ),
    "go": (
        GO,
        """
        main.go:main calls store/store.go:New exact
        main.go:main calls store/store.go:Store.Fetch typed
        main.go:main calls store/inner.go:Inner.Touch typed
        store/store.go:Store.Fetch calls store/inner.go:Inner.Touch typed
        store/store.go:Store.Fetch calls store/inner.go:helper exact
        store/store.go:New calls store/store.go:Store exact
        main.go imports store/store.go exact
        """,
        ["inner.go:Getenv"],
    ),
    "rust": (
        RUST,
        """
        src/net.rs:run calls src/store.rs:Store.new exact
        src/net.rs:run calls src/store.rs:Store.fetch typed
        src/net.rs:run calls src/store.rs:Item.touch typed
        src/store.rs:Store.fetch calls src/store.rs:Item.touch typed
        src/store.rs:Store.fetch calls src/store.rs:helper exact
        src/lib.rs imports src/store.rs exact
        tests/it.rs:test_it calls src/net.rs:run exact
        """,
        [],
    ),
    "java": (
        JAVA,
        """
        src/c/Main.java:Main.run calls src/a/Store.java:Store.fetch typed
        src/c/Main.java:Main.run calls src/b/Item.java:Item.touch typed
        src/c/Main.java:Main.run calls src/a/Store.java:Store exact
        src/a/Store.java:Store.fetch calls src/a/Base.java:Base.touchAll exact
        src/a/Store.java:Store.fetch calls src/b/Item.java:Item.touch typed
        src/a/Store.java:Store inherits src/a/Base.java:Base exact
        src/a/Store.java:Store implements src/a/Keeper.java:Keeper exact
        src/a/Store.java:Store.fetch implements src/a/Keeper.java:Keeper.fetch exact
        src/c/Main.java imports src/a/Store.java exact
        """,
        ["Base.parseInt"],
    ),
    "csharp": (
        CSHARP,
        """
        A/Store.cs:Store.Fetch calls B/Item.cs:Item.Touch typed
        A/Store.cs:Store.Fetch calls A/Base.cs:Base.TouchAll exact
        A/Store.cs:Store inherits A/Base.cs:Base exact
        """,
        ["Item.TryParse"],
    ),
    "c": (
        C,
        """
        src/main.c:main calls src/store.c:fetch exact
        src/store.c:fetch calls src/store.c:touch exact
        src/main.c imports src/store.h exact
        """,
        ["store.c:free"],
    ),
    "cpp": (
        CPP,
        """
        src/store.cpp:Store.fetch calls src/store.cpp:Item.touch exact
        src/main.cpp:main calls src/store.cpp:Store.fetch typed
        src/main.cpp:main calls inc/store.hpp:Item exact
        src/main.cpp imports inc/store.hpp exact
        inc/store.hpp:Store inherits inc/store.hpp:Item exact
        """,
        [],
    ),
    "ruby": (
        RUBY,
        """
        lib/store.rb:App.Store.fetch calls lib/item.rb:App.Item.touch typed
        lib/store.rb:App.Store.fetch calls lib/store.rb:App.Store.check exact
        lib/store.rb:App.Store.fetch calls lib/item.rb:App.Base.helper exact
        lib/store.rb:App.Store inherits lib/item.rb:App.Base exact
        lib/store.rb imports lib/item.rb exact
        bin/run.rb calls lib/store.rb:App.Store.fetch typed
        """,
        ["Item.join"],
    ),
    "php": (
        PHP,
        """
        src/Store.php:Store.fetch calls src/Item.php:Item.touch typed
        src/Store.php:Store.fetch calls src/Item.php:Other.go typed
        src/Store.php:Store.fetch calls src/Base.php:Base.check exact
        src/Store.php:Store inherits src/Base.php:Base exact
        run.php calls src/Store.php:Store.fetch typed
        run.php calls src/Item.php:Item.touch typed
        run.php calls src/Store.php:Store exact
        """,
        ["Item.php:strlen"],
    ),
    "kotlin": (
        KOTLIN,
        """
        src/a/Store.kt:Store.fetch calls src/a/Base.kt:Base.touchAll exact
        src/a/Store.kt:Store.fetch calls src/b/Item.kt:Item.touch typed
        src/a/Store.kt:Store inherits src/a/Base.kt:Base exact
        src/c/Main.kt:run calls src/a/Store.kt:Store.fetch typed
        src/c/Main.kt:run calls src/b/Item.kt:Item.touch typed
        """,
        ["Item.trim"],
    ),
}


def edges_of(engine):
    """Return every edge as a line of text."""
    graph = engine.codebase.graph()
    nodes = {node.id: node for node in graph.every()}

    def shown(number):
        node = nodes[number]
        return f"{node.path}:{node.qualified}" if node.qualified else node.path

    return {f"{shown(e.source)} {e.relation} {shown(e.target)} {e.tier}" for e in graph.every_edge(tuple(Tier))}


@pytest.mark.parametrize("language", CASES)
def test_what_is_meant_gets_an_edge_and_nothing_else_does(language, repo, engine):
    """Each line of a case is an edge; what is listed after them is called by nobody, though its name is written."""
    files, expected, untouched = CASES[language]
    found = edges_of(engine(repo("app", files, git=False)))

    wanted = {" ".join(line.split()) for line in expected.strip().splitlines()}
    assert wanted - found == set()
    calls = {line for line in found if f" {Relation.CALLS} " in line}
    assert [line for line in calls for name in untouched if name in line.split(" ")[2]] == []


def test_a_name_alone_decides_only_for_what_can_be_called_so(repo, engine):
    """No function inside of another, and no member of a class that has others from elsewhere, is taken for sure by its name."""
    files = {
        "a.py": (
            "import click\n\n\ndef outer():\n    def reconcile_all(): ...\n    return reconcile_all()\n\n\n"
            "class Own:\n    def settle_everything(self): ...\n\n\n"
            "class Group(click.Group):\n    def list_every_command(self): ...\n"
        ),
        "b.py": "def use(thing):\n    thing.reconcile_all()\n    thing.settle_everything()\n    thing.list_every_command()\n",
    }
    found = {line for line in edges_of(engine(repo("app", files, git=False))) if line.startswith("b.py:use calls")}
    assert found == {
        "b.py:use calls a.py:Own.settle_everything unique",
        "b.py:use calls a.py:Group.list_every_command guess",
    }

"""Who reads a constant, a field, a member of an enum or a property, in each language."""

from __future__ import annotations

import pytest

from vademecum.types import Verdict

CASES = {
    # file: its text; then by name asked for, who reads it
    "shop.rs": (
        (
            "pub const MOST: usize = 3;\npub enum Color { Red, Green }\npub fn fits(n: usize) -> bool { n < MOST }\n"
            "pub fn pick(c: &Color) -> u8 { match c { Color::Red => 1, _ => 2 } }\npub fn best() -> Color { Color::Green }\n"
        ),
        {"MOST": ["fits"], "Color.Red": ["pick"], "Color.Green": ["best"]},
    ),
    "Store.cs": (
        (
            "namespace App;\npublic enum Mode { Fast, Slow }\npublic class Store {\n  public const int Most = 3;\n"
            "  public int Size { get; set; }\n  public bool Full() { return Size >= Most; }\n"
            "  public bool Fits(Store other) => other.Size < Store.Most;\n"
            "  public bool IsFast(Mode m) { if (m == Mode.Fast) { return true; } return false; }\n}\n"
        ),
        {
            "Mode.Fast": ["Store.IsFast"],
            "Store.Most": ["Store.Full", "Store.Fits"],
            "Store.Size": ["Store.Full", "Store.Fits"],
        },
    ),
    "users.c": (
        (
            "#define MOST 10\nstatic int limit = 3;\nint fits(int n) { return n < MOST; }\n"
            "int full(int n) { if (n > limit) return 1; return 0; }\n"
        ),
        {"MOST": ["fits"], "limit": ["full"]},
    ),
    "store.php": (
        (
            "<?php\nclass Store {\n  const MOST = 3;\n  public function full(int $n) { return $n >= self::MOST; }\n}\n"
            "function f(int $n) { return $n == Store::MOST; }\n"
        ),
        {"Store.MOST": ["Store.full", "f"]},
    ),
    "tries.go": (
        "package e\n\nconst most = 3\n\ntype T struct{ Size int }\n\nfunc (t *T) Full() bool { return t.Size > most }\n",
        {"most": ["T.Full"], "T.Size": ["T.Full"]},
    ),
    "F.java": (
        (
            "class F {\n  static final int MOST = 3;\n  enum M { A, B }\n  boolean big(int n) { return n > F.MOST; }\n"
            "  boolean is(M m) { return m == M.B; }\n}\n"
        ),
        {"F.MOST": ["F.big"], "F.M.B": ["F.is"]},
    ),
    "modes.ts": (
        (
            "export enum Mode { Fast, Slow }\nconst limit = 3\nexport class S {\n  get size() { return 1 }\n"
            "  full() { return this.size > limit }\n  is(m: Mode) { return m === Mode.Slow }\n}\n"
            "function one(f: any) { f.mode = Mode.Fast }\nfunction two(f: any) { f['a'] = full }\nfunction full() {}\n"
        ),
        {"Mode.Slow": ["S.is"], "limit": ["S.full"], "S.size": ["S.full"], "Mode.Fast": ["one"], "full": ["two"]},
    ),
    "modes.py": (
        "MOST = 3\ndef full(): ...\ndef one(f):\n    f.most = MOST\ndef two(f):\n    f['a'] = full\n    f.b.c = MOST\n",
        {"MOST": ["one", "two"], "full": ["two"]},
    ),
    "Store.kt": (
        (
            'const val MOST = 3\nval limit = 4\nenum class Mode { Fast, Slow }\nobject Config {\n  val name = "x"\n}\n'
            "class Store(val size: Int, var wide: Boolean) {\n  val half: Int\n    get() = size / 2\n"
            "  fun full(n: Int): Boolean = n >= MOST\n  fun fits(other: Store): Boolean {\n"
            "    if (other.size > limit && half < 3) {\n      return other.wide\n    }\n    return false\n  }\n"
            "  fun pick(m: Mode): Int = when (m) {\n    Mode.Fast -> limit.inc()\n    else -> size\n  }\n"
            '  fun text() = "${limit} ${Config.name.trim()}"\n}\n'
        ),
        {
            "MOST": ["Store.full"],
            "limit": ["Store.fits", "Store.pick", "Store.text"],
            "Mode.Fast": ["Store.pick"],
            "Config.name": ["Store.text"],
            "Store.size": ["Store.fits", "Store.pick"],
            "Store.half": ["Store.fits"],
            "Store.wide": ["Store.fits"],
        },
    ),
    "shop.rb": (
        (
            "module Shop\n  MOST = 3\n  KINDS = %w(a b)\n  class Store\n    TOP = 1\n    attr_reader :size, :open\n"
            "    def full\n      return true if size >= MOST\n      KINDS.each { |k| k }\n    end\n"
            '    def text\n      "#{Shop::MOST} #{TOP}"\n    end\n'
            "    def pick(a)\n      case a\n      when MOST then TOP\n      else KINDS[0]\n      end\n    end\n"
            "  end\nend\ndef use\n  store = Shop::Store.new\n  store.open && [Shop::Store::TOP]\nend\n"
        ),
        {
            "Shop.MOST": ["Shop.Store.full", "Shop.Store.text", "Shop.Store.pick"],
            "Shop.KINDS": ["Shop.Store.full", "Shop.Store.pick"],
            "Shop.Store.TOP": ["Shop.Store.text", "Shop.Store.pick", "use"],
            "Shop.Store.size": ["Shop.Store.full"],
            "Shop.Store.open": ["use"],
        },
    ),
    "store.py": (
        (
            "limit = 3\n\n\nclass Store:\n    MOST = 4\n\n    @property\n    def size(self):\n        return 1\n\n"
            "    def full(self):\n        return self.size > limit or self.size < Store.MOST\n\n\n"
            "def use(store: Store):\n    if store.size.real:\n        return f'{store.MOST}'\n"
        ),
        {"limit": ["Store.full"], "Store.MOST": ["Store.full", "use"], "Store.size": ["Store.full", "use"]},
    ),
}


@pytest.mark.parametrize("path", CASES)
def test_who_reads_it_is_found(repo, engine, path):
    """A comparison, a condition or a match refers to what it names, as a call does."""
    text, asked = CASES[path]
    codebase = engine(repo("reads", {path: text})).codebase
    codebase.index()
    assert {name: [each.name for each in codebase.callers(name).found] for name in asked} == asked


@pytest.mark.parametrize("name", ["Mode.Fast", "Fast", "Store.Size", "Most"])
def test_a_member_is_a_definition(repo, engine, name):
    """A field or a member of an enum has a place too, with its own lines."""
    answer = engine(repo("members", {"Store.cs": CASES["Store.cs"][0]})).codebase.symbol(name)
    assert answer.verdict is Verdict.RESOLVED
    assert [symbol.rpartition(".")[2] for symbol in answer.evidence[0].symbols] == [name.rpartition(".")[2]]


def test_a_declaration_comes_before_members_of_its_name(repo, engine):
    """A field called as a function is does not make the function ambiguous."""
    files = {"a.py": "def size():\n    return 1\n", "b.py": "class Box:\n    size = 2\n"}
    codebase = engine(repo("both", files)).codebase
    assert codebase.symbol("size").evidence[0].path == "a.py"
    assert codebase.symbol("Box.size").evidence[0].path == "b.py"


def test_a_member_of_an_enum_in_c_is_not_said_to_be_unused(repo, engine):
    """The name is written bare, and in a function that differs from it by capitals alone."""
    files = {"s.h": "enum state { IDLE, BUSY };\n", "s.c": '#include "s.h"\nint busy(int s) { return s == BUSY; }\n'}
    codebase = engine(repo("enum", files)).codebase
    codebase.index()
    answer = codebase.callers("BUSY")
    assert (answer.verdict, [*map(str, answer.uncovered)]) == ("unknown", ["s.c:2"])


def test_a_text_names_a_declaration_by_its_path(repo, engine):
    """As queues, settings and patches do, through packages and classes; what only looks like a path is none."""
    files = {
        "shop/__init__.py": "from shop.cart import total\n",
        "shop/cart.py": "def total(): ...\n\n\nclass Cart:\n    def fill(self): ...\n",
        "shop/tasks.py": "def send(): ...\n",
        "shop/models.py": "class Item: ...\n",
        "config.py": "yaml = 1\n\n\ndef load(): ...\n",
        "run.py": (
            "def start(queue):\n    queue.enqueue('shop.tasks.send')\n\n\n"
            "def fill(load):\n    return load('shop.cart:Cart.fill'), load('shop.total')\n\n\n"
            "def key(foreign):\n    return foreign('shop.Item')\n\n\n"
            "def odd():\n    return 'os.path.join', 'shop.nothing.here', 'config.json', f'shop.tasks.{odd}'\n"
        ),
        "tests/test_run.py": "def test_it(patch):\n    patch('shop.tasks.send')\n",
    }
    codebase = engine(repo("texts", files)).codebase
    codebase.index()
    read = {
        name: sorted(each.name for each in codebase.callers(name).found)
        for name in ("send", "Cart.fill", "total", "Item", "load")
    }
    assert read == {
        "send": ["start", "test_it"],
        "Cart.fill": ["fill"],
        "total": ["", "fill"],
        "Item": ["key"],
        "load": [],
    }
    assert codebase.callers("send").found[0].tier == "typed"


def test_a_long_list_of_domains_is_not_taken_for_paths(repo, engine):
    """Of one file the first two thousand texts are looked at."""
    domains = "".join(f"    'host{number}.com',\n" for number in range(2_100))
    files = {
        "tasks/send.py": "def now(): ...\n",
        "hosts.py": f"HOSTS = [\n    'tasks.send.now',\n{domains}    'tasks.send.now',\n]\n",
    }
    codebase = engine(repo("hosts", files)).codebase
    assert [(each.path, each.line) for each in codebase.callers("now").found] == [("hosts.py", 2)]


def test_a_text_names_a_class_of_ruby_by_its_path(repo, engine):
    """As associations and jobs do; a name alone is no path."""
    files = {
        "shop/order.rb": "module Shop\n  class Order\n    def total; 1; end\n  end\nend\n",
        "shop/user.rb": "module Shop\n  class User\n    has_many :orders, class_name: '::Shop::Order'\n  end\nend\n",
        "shop/job.rb": "module Shop\n  def self.find\n    'Shop::Order'.constantize\n  end\n  def self.odd\n    ['Order', 'Shop::Orders']\n  end\nend\n",
    }
    codebase = engine(repo("texts", files)).codebase
    codebase.index()
    assert sorted(each.name for each in codebase.callers("Order").found) == ["Shop.User", "Shop.find"]


def test_who_uses_a_class_calls_what_it_has_from_elsewhere(repo, engine):
    """`Order.objects.get(1)` and `Order.create()` refer to the class, whatever a library gives it."""
    files = {
        "order.py": "from lib import Model\n\n\nclass Order(Model):\n    @staticmethod\n    def make(): ...\n\n\nORDERS = Order.manager()\n",
        "use.py": (
            "from order import ORDERS, Order\n\n\ndef first():\n    return Order.objects.get(1)\n\n\n"
            "def second():\n    return Order.create()\n\n\ndef third():\n    return Order.make()\n\n\n"
            "def fourth():\n    return ORDERS.get(1)\n\n\n@on(sender=Order)\ndef fifth(): ...\n\n\n@on(sender=Order)\ndef sixth(): ...\n"
        ),
        "Order.java": "class Order2 extends Model { static void all() { Order2.find(1); } }\nclass Use { void a() { Order2.find(1); } }\n",
        "order.rb": "class Order3 < Model\nend\ndef third; Order3.where(1).first; end\n",
        "docs/order.md": "# Guide\n\n## Order\n\nText.\n",
    }
    codebase = engine(repo("orders", files)).codebase
    codebase.index()
    order = codebase.callers("Order")
    assert sorted(each.name for each in order.found if each.path == "use.py") == ["", "first", "second", "third"]
    assert (len(order.of), order.uncovered) == (1, ())
    assert [each.name for each in codebase.callers("ORDERS").found if each.name] == ["fourth"]
    assert sorted(each.name for each in codebase.callers("Order2").found) == ["Order2.all", "Use.a"]
    assert [each.name for each in codebase.callers("Order3").found] == ["third"]


def test_an_extension_that_is_imported_is_called_on_anything(repo, engine):
    """Kotlin's import spells the package, perhaps a class, and no type of the receiver."""
    files = {
        "p/Url.kt": (
            "package p\n\nclass Url {\n  fun text() = 1\n  companion object {\n    fun String.toUrl() = Url()\n"
            "    fun Int.both() = 1\n    fun Long.both() = 1\n  }\n}\n\nfun Int.port() = 1\n"
        ),
        "q/Use.kt": (
            "package q\n\nimport p.Url.Companion.both\nimport p.Url.Companion.toUrl\nimport p.port as door\n\n"
            'fun use(x: Any) = listOf("a".toUrl(), x.door())\nfun two() = 1.both()\n'
        ),
    }
    codebase = engine(repo("extensions", files)).codebase
    codebase.index()
    called = {
        name: [e.name for e in codebase.callers(name).found if e.relation == "called_by"]
        for name in ("toUrl", "port", "both")
    }
    assert called == {"toUrl": ["use"], "port": ["use"], "both": []}


def test_an_import_of_a_member_names_its_class(repo, engine):
    """So the import is no place that may mean the class, nor is the class's own body."""
    files = {
        "p/Url.kt": "package p\n\nclass Url {\n  fun own() = this@Url\n  companion object {\n    fun of(text: String): Url = Url()\n    fun String.toUrl() = Url()\n  }\n}\nfun Int.port() = 1\n",
        "q/Use.kt": 'package q\n\nimport p.Url.Companion.of\n\nfun use() = of("a")\n',
        "r/Base.java": "package r;\npublic class Base { public static int one() { return 1; } }\n",
        "r/s/Use.java": "package r.s;\nimport static r.Base.one;\nclass Use { int a() { return one(); } }\n",
    }
    codebase = engine(repo("members", files)).codebase
    codebase.index()
    assert [each.name for each in codebase.callers("of").found if each.relation == "called_by"] == ["use"]
    for name, path in (("Url", "q/Use.kt"), ("Base", "r/s/Use.java")):
        answer = codebase.callers(name)
        assert (path in [each.path for each in answer.found], answer.uncovered) == (True, ()), name

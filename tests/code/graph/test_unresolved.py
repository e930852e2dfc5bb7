"""Where a name is written, and that what was read of a file to tell is read once for each state of it."""

from __future__ import annotations

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.code.graph.parse_cache import _TREES, Examined, Shelf
from vademecum.code.search.verdict import whole_words

LIBRARY = "def h():\n    return 1\n"


@given(content=st.text("ab_$ .", max_size=40), word=st.text("ab_$", min_size=1, max_size=4))
def test_words_are_found_where_a_regular_expression_finds_them(content, word):
    pattern = re.compile(rb"(?<![\w$])" + re.escape(word.encode()) + rb"(?![\w$])")
    assert list(whole_words(content.encode(), word.encode())) == [
        match.span() for match in pattern.finditer(content.encode())
    ]


def test_a_file_is_parsed_once_for_many_questions(repo, engine):
    """The second question of a file that writes the name takes its syntax tree from the first."""
    prose = "# here h and k are told of, once for each question\n"
    library = "def h\n  1\nend\n\ndef k\n  2\nend\n"
    code = engine(repo("app", {"p.rb": library, "q.rb": prose})).codebase
    trees = []
    for name in "hkh":
        assert code.callers(f"p.{name}").verdict == "none"
        trees.append(_TREES._kept.get(("q.rb", "ruby", prose.encode())))
    assert trees[0] is not None
    assert trees[0] is trees[1] is trees[2]


def test_a_file_whose_characters_tell_is_not_parsed(repo, engine):
    prose = "# here h is told of, and nothing is called\n"
    code = engine(repo("app", {"p.py": LIBRARY, "q.py": prose})).codebase
    assert code.callers("p.h").verdict == "none"
    assert ("q.py", "python", prose.encode()) not in _TREES._kept


def test_an_edited_file_is_examined_anew(repo, engine):
    """What was a comment is code now, in the same place."""
    root = repo("app", {"p.py": LIBRARY, "q.py": "x = 1  # h\n"})
    code = engine(root).codebase
    assert code.callers("p.h").verdict == "none"
    root.write("q.py", "x = 1  + h\n")
    answer = code.callers("p.h")
    assert (answer.verdict, [each.path for each in answer.uncovered]) == ("unknown", ["q.py"])


@pytest.mark.parametrize(
    "text",
    [
        "import { settle } from 'lib';\nit(() => {\n  function settle() {}\n  settle();\n});\n",
        "export function use() {\n  const [size, settle] = both();\n  settle(size);\n}\nfunction settle() {}\n",
        "module.exports = {\n  settle: (one) => one,\n  use() {\n    return this.settle(1);\n  },\n};\n",
        "function make(given) {\n  const { settle } = given;\n  return settle();\n}\nfunction settle() {}\n",
    ],
)
def test_a_name_that_may_mean_the_function_is_named(repo, engine, text):
    """One that is taken out of an object is called by its bare name."""
    answer = engine(repo("app", {"a.js": "export const other = 1;\n", "b.js": text})).codebase.callers("settle")
    assert (answer.verdict, [each.path for each in answer.uncovered]) == ("unknown", ["b.js"])


def test_a_heading_of_tests_is_no_place_that_may_call(repo, engine):
    """A symbol may be sent, a name behind a sharp may not."""
    files = {
        "a.rb": "class Pot\n  def boil?\n    true\n  end\nend\n",
        "spec/a_spec.rb": "describe '#boil?' do\n  it { 1 }\nend\n",
        "spec/b_spec.rb": "describe Pot do\n  it { send('boil?') }\nend\n",
    }
    answer = engine(repo("app", files)).codebase.callers("Pot.boil?")
    assert [str(each) for each in answer.uncovered] == ["spec/b_spec.rb:2"]


@pytest.mark.parametrize("name", ["x.jsx", "x.tsx"])
def test_functions_that_components_declare_for_themselves_are_told_apart(repo, engine, name):
    """What is put into an attribute is used; a component that hands on what it was given may hand on the function."""
    button = "export function {}() {{\n  const save = () => 1;\n  return <Form onSave={{save}} rows={{LIMITS.rows}} />;\n}}\n"
    files = {
        f"one.{name}": "import { LIMITS } from './limits';\n" + button.format("One"),
        f"two.{name}": "import { LIMITS } from './limits';\n" + button.format("Two"),
        f"form.{name}": "export function Form({ save }) {\n  return <button onClick={save} />;\n}\n",
        "limits.js": "export const LIMITS = { rows: 3 };\n",
    }
    code = engine(repo("app", files)).codebase
    answer = code.callers("One.save")
    assert [(each.name, each.line) for each in answer.found] == [("One", 4)]
    assert [str(each) for each in answer.uncovered] == [f"form.{name}:1,2"]
    assert [each.name for each in code.callers("LIMITS").found] == ["One", "Two"]


def test_a_list_of_exports_is_no_place_that_may_call(repo, engine):
    """Who imports what is exported has been followed; another list may be gone through by name."""
    files = {
        "shop/__init__.py": "from shop.pots import settle\n\n__all__ = [\n    # pots\n    'other',\n    'settle',\n]\n",
        "names.py": "NAMES = ['settle']\n",
        "shop/pots.py": "__all__ = ['settle']\n\ndef settle(): ...\n",
    }
    answer = engine(repo("app", files)).codebase.callers("settle")
    assert [str(each) for each in answer.uncovered] == ["names.py:1"]
    files = {
        "pot.js": "const boil = () => 1;\nfunction cool() {}\nconst stir = () => 2;\nexport default boil;\nexport {\n  cool,\n  stir as mix,\n};\n",
        "pan.js": "export default boil(lid);\n",
    }
    code = engine(repo("js", files)).codebase
    assert [code.callers(name).verdict for name in ("cool", "stir")] == ["none", "none"]
    assert [str(each) for each in code.callers("boil").uncovered] == ["pan.js:1"]


def test_a_comment_of_a_language_without_a_resolver_is_no_place_that_may_call(repo, engine):
    """A text of several words is one: a shell runs Python so."""
    files = {
        "settle.py": "def settle_it(): ...\n",
        "run.sh": "# settle_it is run below\npython -c 'from settle import settle_it; settle_it()'\n",
    }
    answer = engine(repo("app", files)).codebase.callers("settle_it")
    assert [str(each) for each in answer.uncovered] == ["run.sh:2"]


def test_a_module_of_the_name_is_no_place_that_may_call(repo, engine):
    """What the module exports has been followed; a text elsewhere may be the name."""
    files = {
        "lib/settle.ts": "export function settle() {}\n",
        "lib/index.ts": "export * from './settle';\nexport const NAMES = ['settle'];\n",
        "use.ts": "import * as all from './lib/settle';\n",
    }
    answer = engine(repo("app", files)).codebase.callers("settle")
    assert [str(each) for each in answer.uncovered] == ["lib/index.ts:2"]


@pytest.mark.parametrize("sizes", [(5, 5, 5), (1, 9, 1), (20,)])
def test_no_more_is_kept_than_was_said(sizes):
    """The oldest go first; one that is too large alone is kept until the next."""
    shelf = Shelf(Examined, 10)
    for number, size in enumerate(sizes):
        shelf.of(f"{number}.py", b"x" * size, "python")
    assert shelf._size == sum(len(content) for _, _, content in shelf._kept)
    assert shelf._size <= 10 or len(shelf._kept) == 1


def test_threads_that_ask_at_once_are_given_the_same():
    """A server answers several at a time."""
    shelf = Shelf(Examined)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(shelf.of("a.py", b"x = 1\n", "python"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 1


def test_a_name_in_very_many_files_is_not_followed_through_all_of_them(repo, engine):
    """Beyond 5 MB the files are listed without lines, so that a question has a bound; "none" is not said."""
    padding = f"x = '{'quite long ' * 80}'\n" * 1_000
    files = {f"b{number}.py": f'NAMES = ["send"]\n{padding}' for number in range(7)}
    code = engine(repo("app", {"a.py": "class C:\n    def send(self): ...\n", **files})).codebase
    answer = code.callers("C.send")
    assert (answer.verdict, answer.reason) == ("unknown", "7 places may refer to it unseen")
    assert [str(each) for each in answer.uncovered] == [*(f"b{number}.py:1" for number in range(6)), "b6.py"]


def test_a_file_that_could_not_be_read_whole_counts_where_the_name_stands_in_it(repo, engine):
    """As a word: `send` is not in `resend`."""
    broken = "def f(:\n    {}\n"
    files = {"a.py": "def send(): ...\n", "b.py": broken.format("resend()"), "c.py": broken.format("send()")}
    answer = engine(repo("app", files)).codebase.callers("send")
    assert [str(each) for each in answer.uncovered] == ["c.py:2"]


def test_what_is_told_of_a_file_that_could_not_be_read_whole_is_told_once(repo, engine):
    """A caller that is found is no place that may be one, nor is a comment; what another thing has is not trusted there."""
    text = "def good():\n    send()\n    return send\n\n\n# send\ndef other(send):\n    send()\n\n\ndef f(:\n    pass\n"
    answer = engine(
        repo("app", {"a.py": "def send(): ...\n", "b.py": "from a import send\n\n\n" + text})
    ).codebase.callers("send")
    assert ("good", 5) in [(each.name, each.line) for each in answer.found]
    assert [(each.path, each.lines) for each in answer.uncovered] == [("b.py", (10, 11))]


def test_a_call_beside_one_of_another_class_is_named(repo, engine):
    """All that tests call in functions without names is the file's; what one of these calls mean says nothing of others."""
    files = {
        "a.ts": "export class Text { get() {} }\nexport class Answer { get() {} }\n",
        "use.test.ts": "import { Text } from './a';\nit('a', () => { new Text().get(); });\nit('b', async () => {\n"
        "  const answer = await made();\n  answer.get();\n  answer?.other.get();\n});\n",
    }
    answer = engine(repo("app", files)).codebase.callers("Answer.get")
    assert [(each.path, each.lines) for each in answer.uncovered] == [("use.test.ts", (2, 5, 6))]


def test_a_private_member_is_asked_about_by_its_name(repo, engine):
    files = {"a.ts": "export class Text {\n  #load() {}\n  load() { this.#load(); }\n  show() { this.load(); }\n}\n"}
    answer = engine(repo("app", files)).codebase.callers("Text.#load")
    assert [each.name for each in answer.found] == ["Text.load"]


def test_a_method_of_a_class_without_a_name_is_not_said_to_be_unused(repo, engine):
    """In PHP such a class has no scope of its own, and `$this` may mean it."""
    text = "<?php\n(new class {\n    public function run() { $this->fail(1); }\n    public function fail($n) { echo $n; }\n})->run();\n"
    codebase = engine(repo("nameless", {"run.php": text})).codebase
    codebase.index()
    answer = codebase.callers("fail")
    assert (answer.verdict, [*map(str, answer.uncovered)]) == ("unknown", ["run.php:3"])


def test_a_call_on_a_type_from_elsewhere_may_run_a_method_here(repo, engine):
    """Whoever is given a library's interface may be given the class that implements it."""
    files = {
        "Own.php": "<?php\nnamespace Shop;\nuse Psr\\Log\\LoggerInterface;\nclass Own implements LoggerInterface {\n  public function jot($text) { echo $text; }\n}\n",
        "Use.php": "<?php\nnamespace Shop;\nuse Psr\\Log\\LoggerInterface;\nclass Till {\n  public function close(LoggerInterface $log) {\n    $log->jot('closed');\n  }\n}\n",
    }
    codebase = engine(repo("library", files)).codebase
    codebase.index()
    assert [*map(str, codebase.callers("Own.jot").uncovered)] == ["Use.php:6"]


def test_a_method_that_overrides_another_may_call_it_too(repo, engine):
    """That one takes the place of the other does not tell what a call in it means."""
    files = {
        "shop.py": "class Desk:\n    def close(self):\n        return 1\n",
        "many.py": "from shop import Desk\n\n\nclass Many(Desk):\n    def close(self):\n        return [desk.close() for desk in self.desks()]\n",
        "other.py": "class Door:\n    def close(self):\n        return 2\n",
    }
    codebase = engine(repo("override", files)).codebase
    codebase.index()
    assert "many.py:6" in [*map(str, codebase.callers("Desk.close").uncovered)]


def test_a_trait_that_is_called_by_its_name_may_run_each_implementation(repo, engine):
    """Rust's `Default::default()` makes whatever is asked for there; `Vec::default()` makes no other type."""
    files = {
        "src/lib.rs": "mod a;\nmod b;\npub struct Bag;\nimpl Default for Bag { fn default() -> Self { Bag } }\n",
        "src/a.rs": "pub fn made() -> crate::Bag {\n    Default::default()\n}\n",
        "src/b.rs": "pub fn none() -> Vec<u8> {\n    Vec::default()\n}\n",
    }
    answer = engine(repo("app", files)).codebase.callers("Bag.default")
    assert [*map(str, answer.uncovered)] == ["src/a.rs:2"]


def test_a_property_that_a_method_implements_is_called_for_it(repo, engine):
    """A type may declare as a property what a class has as a method."""
    files = {
        "a.ts": "export type Queue = { push: (x: number) => void }\nexport class List implements Queue { push(x: number) {} }\n"
        "export function fill(queue: Queue) { queue.push(1) }\n"
    }
    assert [each.name for each in engine(repo("app", files)).codebase.callers("List.push").found] == ["fill"]


@pytest.mark.parametrize(
    "files",
    [
        {
            "go.mod": "module ex.com/m\n",
            "fail/fail.go": "package fail\n\nfunc Fatal(said string) {}\n",
            "use_test.go": 'package m\n\nimport "testing"\n\nfunc TestIt(t *testing.T) {\n\tlater(func() { t.Fatal("no") })\n\tmade().Fatal("no")\n\tt.own.Fatal("no")\n}\n',
        },
        {"a.rs": "pub fn Fatal(n: u8) {}\n", "b.rs": "fn go(t: Vec<u8>) -> u8 { later(t).Fatal::<u8>(1) }\n"},
        {
            "a.php": "<?php\nfunction Fatal($n) {}\n",
            "b.php": "<?php\nfunction go($t) { return later($t)->Fatal(1); }\n",
        },
    ],
    ids=["go", "rust", "php"],
)
def test_what_is_called_on_a_value_is_no_function_outside_of_classes(repo, engine, files):
    """Go, Rust and PHP call a function by its package or its bare name, never on a value."""
    answer = engine(repo("app", files)).codebase.callers("Fatal")
    assert (answer.verdict, [each.path for each in answer.uncovered]) == ("none", [])


def test_a_function_of_an_imported_package_is_named(repo, engine):
    files = {
        "a.go": "package a\n\nfunc Fatal(said string) {}\n",
        "b/b.go": 'package b\n\nimport "elsewhere.org/go-fail/v2"\n\nfunc Use() {\n\tfail.Fatal("no")\n\tunheard.Fatal("no")\n}\n',
    }
    answer = engine(repo("app", files)).codebase.callers("Fatal")
    assert (answer.verdict, [each.lines for each in answer.uncovered]) == ("unknown", [(6, 7)])


@pytest.mark.parametrize(
    "files",
    [
        {"a.rs": "mod one { pub fn most() -> u8 { 1 } }\n", "b.rs": "fn go() { for n in 0..most() { later(n) } }\n"},
        {
            "a.rs": "pub fn most() -> u8 { 1 }\n",
            "c.rs": "pub fn most() -> u8 { 1 }\n",
            "b.rs": "fn go() { for n in 0..most() { later(n) } }\n",
        },
        {
            "a.php": "<?php\nif (later()) {\n    function most() {}\n}\n",
            "c.php": "<?php\nif (!later()) {\n    function most() {}\n}\n",
            "b.php": "<?php\nnamespace B;\nfunction go($n) { return 'a' . most() . $n; }\n",
        },
    ],
    ids=["a range", "a range to one of two", "joined texts"],
)
def test_a_dot_that_is_an_operator_leaves_the_function_in_question(repo, engine, files):
    """Rust's `0..most()` and PHP's `'a' . most()` call a function."""
    answer = engine(repo("app", files)).codebase.callers("most")
    places = {each.path for each in (*answer.found, *answer.uncovered)}
    assert len([path for path in places if path.startswith("b.")]) == 1


@pytest.mark.parametrize(
    ("text", "asked", "lines"),
    [
        ("struct Own { load: bool }\nfn load() {}\nfn go(own: T) {\n    let seen = if own.load { 1 } else { 2 };\n    load();\n}\n", "Own.load", (4,)),
        ("struct Own { load: u8 }\nfn go(own: T) {\n    let Other { load, size } = own;\n    see(load);\n}\n", "Own.load", (3,)),
        ("struct Own { load: u8 }\nfn go(load: u8) -> Other {\n    see(1, load, 2);\n    Other { size: 1, load }\n}\n", "Own.load", (4,)),
    ],
    ids=["a field beside a function", "a pattern", "a literal"],
)  # fmt: skip
def test_a_field_that_code_may_read_is_named(repo, engine, text, asked, lines):
    """Rust reads a field after a dot, in a pattern and, in a value that is written out, by its name alone."""
    answer = engine(repo("app", {"a.rs": text})).codebase.callers(asked)
    assert (answer.verdict, [each.lines for each in answer.uncovered]) == ("unknown", [lines])


def test_a_field_that_a_pattern_takes_out_is_read(repo, engine):
    text = "enum Kind { Two { size: u8 }, One }\nfn go(kind: Kind) -> u8 {\n    match kind { Kind::Two { size } => size, Kind::One => 1 }\n}\n"
    answer = engine(repo("app", {"a.rs": text})).codebase.callers("Kind.Two.size")
    assert [(each.name, each.line) for each in answer.found] == [("go", 3)]


def test_a_property_of_another_object_beside_one_that_is_known_is_named(repo, engine):
    """That a function reads `one.size` says nothing of `made().size`, but all of `one.size` further down."""
    files = {
        "a.ts": "export class Box { size = 1 }\nexport class Bag { size = 2 }\n",
        "b.ts": "import { Box } from './a';\nexport function go(one: Box) {\n  const first = one.size;\n  see(made().size);\n  return one.size;\n}\n",
    }
    answer = engine(repo("app", files)).codebase.callers("Bag.size")
    assert (answer.verdict, [each.lines for each in answer.uncovered]) == ("unknown", [(4,)])


def test_an_extension_that_shares_its_name_with_a_method_is_named(repo, engine):
    """In C# the arguments decide which of the two a call means."""
    files = {
        "a.cs": "public class Pot { public void Put(int n) {} }\npublic static class Pots { public static void Put(this Pot pot, string text) {} }\n",
        "b.cs": 'public class Use {\n  void Run(Pot pot) {\n    pot.Put("a");\n  }\n}\n',
    }
    answer = engine(repo("app", files)).codebase.callers("Pots.Put")
    assert (answer.verdict, [*map(str, answer.uncovered)]) == ("unknown", ["b.cs:3"])


OVERRIDDEN = {
    "a.cs": "abstract class Base { public virtual int Size => 1; int Twice() { return this.Size; } }\nclass Own : Base { public override int Size => 2; }\n",
    "a.py": "class Base:\n    size = 1\n\n    def twice(self):\n        return self.size\n\n\nclass Own(Base):\n    size = 2\n",
    "a.ts": "class Base { size = 1; twice() { return this.size; } }\nclass Own extends Base { size = 2; }\n",
    "a.php": "<?php\nclass Base { protected $size = 1; function twice() { return $this->size; } }\nclass Own extends Base { protected $size = 2; }\n",
    "a.kt": "open class Base { open val size = 1\n  fun twice() = this.size }\nclass Own : Base() { override val size = 2 }\n",
}


@pytest.mark.parametrize("path", OVERRIDDEN)
def test_a_member_has_the_readers_of_what_it_overrides(repo, engine, path):
    """What its base reads of itself is what a class puts in its place."""
    codebase = engine(repo("app", {path: OVERRIDDEN[path]})).codebase
    name = "Size" if path == "a.cs" else "size"
    read = "Base.Twice" if path == "a.cs" else "Base.twice"
    assert [each.name for each in codebase.callers(f"Own.{name}").found] == [read]
    assert [each.name for each in codebase.callers(f"Base.{name}").found] == [read]


@pytest.mark.parametrize(
    "text",
    [
        "import { Pot } from '#shop/pot';\nexport const cook = (pot: Pot) => pot.boil();\n",
        "import { Pot } from '@/pot';\nexport const cook = (pot: Pot) => pot.boil();\n",
        "export const cook = () => window.pot.boil();\n",
        "import * as shop from 'shop';\nexport const cook = (pot: shop.Pot) => pot.boil();\n",
    ],
)
def test_what_may_be_the_repositorys_is_not_taken_for_a_librarys(repo, engine, text):
    """No library's module begins as an alias does, and a page's `window` holds what it is given."""
    files = {
        "package.json": '{"name": "shop", "main": "dist/shop.js"}',
        "src/a.ts": "export class Pot { boil() {} }\nexport class Pan { boil() {} }\n",
        "src/b.ts": text,
    }
    answer = engine(repo("app", files)).codebase.callers("Pot.boil")
    assert (answer.verdict, [each.path for each in answer.uncovered]) == ("unknown", ["src/b.ts"])


def test_a_function_that_a_method_gives_its_object_is_called_on_it(repo, engine):
    text = "class App {\n  onChange;\n  watch() {\n    this.onChange = (path) => path;\n  }\n  run() {\n    this.onChange?.(1);\n  }\n}\n"
    answer = engine(repo("app", {"a.js": text})).codebase.callers("onChange")
    assert ([each.name for each in answer.found], [*map(str, answer.uncovered)]) in [
        ([], ["a.js:7"]),
        (["App.run"], []),
    ]


STRUCTURAL = {
    "a.go": "package m\n\ntype Closer interface{ Shut(n int) }\n\ntype Desk struct{}\n\nfunc (d *Desk) Shut(n int) {}\n\nfunc evening(c Closer) {\n\tc.Shut(1)\n}\n",
    "a.ts": "interface Closer { shut(n: number): void }\nclass Desk { shut(n: number) {} }\nfunction evening(c: Closer) {\n  c.shut(1);\n}\n",
    "a.py": "from typing import Protocol\n\n\nclass Closer(Protocol):\n    def shut(self, n): ...\n\n\nclass Desk:\n    def shut(self, n): ...\n\n\n"
    "def evening(c: Closer):\n    c.shut(1)\n",
}  # fmt: skip


@pytest.mark.parametrize("path", STRUCTURAL)
def test_a_call_by_an_interface_may_run_whatever_has_its_methods(repo, engine, path):
    """In Go, TypeScript and by Python's protocols nothing says that a class is of an interface."""
    text = STRUCTURAL[path]
    answer = engine(repo("app", {path: text})).codebase.callers("Desk.Shut" if path == "a.go" else "Desk.shut")
    line = next(number for number, said in enumerate(text.split("\n"), 1) if said.lstrip().lower().startswith("c.shut"))
    assert (answer.verdict, [*map(str, answer.uncovered)]) == ("unknown", [f"{path}:{line}"])


def test_an_objects_method_is_called_by_the_type_that_the_object_is_declared_with(repo, engine):
    text = (
        "interface Closer { shut(n: number): void }\nfunction evening(c: Closer) { c.shut(1); }\n"
        "export function run() {\n  const desk: Closer = { shut(n) {} };\n  evening(desk);\n}\n"
    )
    answer = engine(repo("app", {"a.ts": text})).codebase.callers("run.desk.shut")
    assert [each.name for each in answer.found] == ["evening"]


@pytest.mark.parametrize(
    "text", ["export default { shut() {} };\n", "const desk: Storage = { shut() {} };\nlib(desk);\n"]
)
def test_whoever_is_given_an_object_may_call_its_methods(repo, engine, text):
    answer = engine(repo("app", {"a.ts": text})).codebase.callers("shut")
    assert (answer.verdict, answer.uncovered) == ("unknown", ())
    assert "whoever is given its object" in answer.reason


def test_an_extension_of_what_a_container_is_may_be_called_on_it(repo, engine):
    """A list is iterable, as the library says, which is not here."""
    files = {
        "a.kt": "package a\nclass Pot\nfun Iterable<Pot>.filterFor(n: Int) = 1\n",
        "b.kt": "package a\nfun go(pots: List<Pot>) {\n  pots.filterFor(1)\n}\n",
    }
    answer = engine(repo("app", files)).codebase.callers("filterFor")
    assert ([each.name for each in answer.found], [*map(str, answer.uncovered)]) in [([], ["b.kt:3"]), (["go"], [])]


def test_what_looks_like_a_long_text_behind_an_error_may_be_code(repo, engine):
    text = 'package a\nfun go(open: (Int) -> Unit) {\n  val one: (Int) -> Unit = { a, b -> open(a, b) }\n  val two = "x ${one} y\n  boil()\n  z"\n'
    answer = engine(repo("app", {"a.kt": "package a\nfun boil() {}\n", "b.kt": text})).codebase.callers("boil")
    assert (answer.verdict, [*map(str, answer.uncovered)]) == ("unknown", ["b.kt:5"])


@pytest.mark.parametrize(
    "files",
    [
        {"settle.py": "def settle_it(): ...\nCODE = '''\nimport shop\nshop.settle_it(1)\n'''\n"},
        {"settle.py": "def settle_it(): ...\ndef write(x): return f'y = settle_it({x}) + 1'\n"},
        {"settle.js": "export function settle_it() {}\nexport const code = `import x;\nsettle_it(1);`;\n"},
        {
            "go.mod": "module m\n",
            "settle.go": 'package m\n\nfunc settle_it() {}\n\nconst code = "x := 1; settle_it(x)"\n',
        },
    ],
    ids=["python", "formatted", "javascript", "go"],
)
def test_generated_code_may_call(repo, engine, files):
    answer = engine(repo("app", files)).codebase.callers("settle_it")
    assert (answer.verdict, [each.path for each in answer.uncovered]) == ("unknown", [max(files)])


def test_code_that_builds_the_documents_may_call(repo, engine):
    """Code is code wherever it lies; a page that shows a call is none."""
    files = {
        "docs/builders/excerpt.dart": "void build() {\n  _close(1);\n}\n\nvoid _close(int at) {}\n",
        "docs/index.md": "# Build\n\nThe builder calls `_close(1)`.\n",
    }
    codebase = engine(repo("shop", files)).codebase
    codebase.index()
    found = codebase.callers("_close")
    assert found.verdict == "unknown"
    assert [(each.path, each.lines) for each in found.uncovered] == [("docs/builders/excerpt.dart", (2,))]


def test_a_description_of_a_function_calls_nothing(repo, engine):
    """What is written in it, as an example, runs nowhere; nor does a text of several words that only names the function."""
    text = "def settle_it(): ...\ndef other():\n    '''Do as settle_it(1) does.'''\n    raise ValueError('cannot settle_it now')\n"
    assert engine(repo("app", {"settle.py": text})).codebase.callers("settle_it").verdict == "none"


def test_a_key_of_data_is_no_place_that_may_call(repo, engine):
    """A translation has its names for keys; tools look names up in what configures them."""
    files = {
        "settle.js": "export function settleIt() {}\n",
        "locales/de.json": '{ "menu": { "settleIt": "Begleichen" } }\n',
        "locales/list.json": '["settleIt"]\n',
        "locales/fr.json": '{ "a": "do settleIt now", "b": "settleIt all", "c": "to settleIt" }\n',
        "lab/a.ipynb": '{ "source": ["go = settleIt if x else y"] }\n',
        "locales/run.json": '{ "a": "first settleIt()" }\n',
        "package.json": '{ "scripts": { "settleIt": "x" } }\n',
        ".tool/rules.json": '{ "settleIt": true }\n',
    }
    answer = engine(repo("app", files)).codebase.callers("settleIt")
    assert [each.path for each in answer.uncovered] == [
        "lab/a.ipynb",
        ".tool/rules.json",
        "locales/list.json",
        "locales/run.json",
        "package.json",
    ]


@pytest.mark.parametrize(
    ("path", "text", "asked", "said"),
    [
        ("a.py", "class A:\n    def do_list(self): ...\n    def run(self, c):\n        getattr(self, f'do_{c}')()\n", "A.do_list", "a.py:4"),
        ("a.py", "def on_load_it(): ...\ndef run(c):\n    globals()['on_' + c]()\n", "on_load_it", "a.py:3"),
        ("a.py", "def load_handler(): ...\ndef run(c):\n    globals()[f'{c}_handler']()\n", "load_handler", "a.py:3"),
        ("a.ts", "export class A {\n  doSave() {}\n  run(n: string) {\n    return (this as any)[`do${n}`]();\n  }\n}\n", "A.doSave", "a.ts:4"),
        ("a.rb", 'class A\n  def do_list; end\n  def run(c)\n    send("do_#{c}")\n  end\nend\n', "A.do_list", "a.rb:4"),
        ("a.php", "<?php\nclass A {\n  function actionShow() {}\n  function run($n) {\n    $m = 'action' . $n;\n    $this->$m();\n  }\n}\n", "A.actionShow", "a.php:5"),
        ("A.java", 'class A {\n  void doPing() {}\n  void run(String n) throws Exception {\n    A.class.getMethod("do" + n).invoke(this);\n  }\n}\n', "A.doPing", "A.java:4"),
        ("a.c", "void do_one(void) {}\n#define RUN(n) do_##n()\nvoid run(void) { RUN(one); }\n", "do_one", "a.c:2"),
    ],
    ids=["python", "joined", "end", "typescript", "ruby", "php", "java", "c"],
)  # fmt: skip
def test_a_name_that_code_puts_together_may_be_called(repo, engine, path, text, asked, said):
    answer = engine(repo("app", {path: text})).codebase.callers(asked)
    assert answer.verdict == "unknown"
    assert f"but {said} may write its name" in answer.reason


def test_kotlin_writes_a_getter_of_java_as_a_property(repo, engine):
    files = {
        "User.java": "public class User {\n  public String getFullName() { return null; }\n  public void setAge(int a) {}\n"
        "  public void setSize(int s) {}\n}\n",
        "use.kt": "fun use(u: User) {\n  println(u.fullName)\n  u.age = 3\n}\n",
        "Own.kt": "class Own {\n  val kind: Int get() = 1\n}\n",
        "Use.java": "class Use { int use(Own o) { return o.getKind(); } }\n",
    }
    code = engine(repo("app", files)).codebase
    said = [code.callers(name) for name in ("User.getFullName", "User.setAge", "User.setSize", "Own.kind")]
    assert [each.verdict for each in said] == ["unknown", "unknown", "none", "unknown"]


@pytest.mark.parametrize(
    ("path", "text", "asked", "mark"),
    [
        ("a.py", "def property(name):\n    return lambda f: f\n\n@property('x')\ndef settle(): ...\n", "settle", "@property"),
        ("a.go", "package m\n\n//go:linkname settle other.settle\nfunc settle() {}\n", "settle", "//go:linkname"),
        ("a.go", 'package m\n\nimport "C"\n\n//export settle\nfunc settle() {}\n', "settle", "//export settle"),
    ],
    ids=["one's own decorator", "linkname", "export"],
)  # fmt: skip
def test_what_a_mark_registers_may_be_called(repo, engine, path, text, asked, mark):
    """Of a name that a library's decorator bears, too."""
    answer = engine(repo("app", {path: text})).codebase.callers(asked)
    assert (answer.verdict, f"it is marked {mark}" in answer.reason) == ("unknown", True)
    plain = engine(repo("plain", {"a.go": "package m\n\n//go:noinline\nfunc settle() {}\n"})).codebase
    assert plain.callers("settle").verdict == "none"


def test_a_base_that_a_mixin_leads_to_is_in_question(repo, engine):
    """A mixin's `super` means what stands next to it in a class; Ruby's needs no name."""
    files = {
        "a.py": "class Base:\n    def settle(self): ...\nclass Mixin:\n    def settle(self):\n        super().settle()\n"
        "class C(Mixin, Base): ...\n",
        "a.rb": "class Pot\n  def stir(x); end\n  def boil(x); end\nend\nmodule Hot\n  def stir(x)\n    super\n  end\nend\n"
        "class Kettle < Pot\n  prepend Hot\n  def boil(x)\n    super(x)\n  end\nend\n",
    }
    code = engine(repo("app", files)).codebase
    assert [code.callers(name).verdict for name in ("Base.settle", "Pot.stir")] == ["unknown", "unknown"]
    assert [each.name for each in code.callers("Pot.boil").found] == ["Kettle.boil"]


def test_what_a_method_is_handed_on_to_is_in_question(repo, engine):
    text = "class Inner\n  def peek_it; end\n  def poke; end\nend\nclass Outer\n  extend Forwardable\n  def_delegators :@inner, :peek_it\n  delegate :poke, to: :inner\nend\n"
    code = engine(repo("app", {"a.rb": text})).codebase
    assert [code.callers(name).verdict for name in ("Inner.peek_it", "Inner.poke")] == ["unknown", "unknown"]


def test_a_proxy_of_the_library_stands_for_an_object_here(repo, engine):
    files = {
        "a.ts": "export class Api { settle() {} }\nconst p: any = 1;\nexport const q = new Proxy(new Api(), {});\nq.settle();\n",
        "b.py": "from werkzeug.local import LocalProxy\nclass App:\n    def boil(self): ...\nlast = LocalProxy(lambda: App())\nlast.boil()\n",
    }
    code = engine(repo("app", files)).codebase
    assert [code.callers(name).verdict for name in ("Api.settle", "App.boil")] == ["found", "found"]


def test_a_protocol_of_a_library_may_call(repo, engine):
    """Python's `typing.Protocol` calls nothing, asyncio's does."""
    files = {
        "a.py": "import asyncio\nfrom typing import Protocol\nclass Feed(asyncio.Protocol):\n    def pause_it(self): ...\n"
        "class Rule(Protocol):\n    def apply_it(self): ...\n",
        "b.py": "from asyncio import Protocol\nclass Line(Protocol):\n    def resume_it(self): ...\n",
    }
    code = engine(repo("app", files)).codebase
    said = [code.callers(name).verdict for name in ("Feed.pause_it", "Line.resume_it", "Rule.apply_it")]
    assert said == ["unknown", "unknown", "none"]


def test_what_a_framework_loads_by_its_place_may_be_called(repo, engine):
    """Of a page or a route all that is exported; elsewhere nobody loads a file by its place."""
    files = {
        "pages/index.tsx": "function Home() { return null; }\nexport default Home;\nexport async function getIt() {}\nfunction own() {}\n",
        "lib/index.ts": "function away() {}\nexport default away;\n",
        "app/cart/page.tsx": "export default function Cart() {}\n",
        "app/cart/total.ts": "export function total() {}\n",
    }
    code = engine(repo("app", files)).codebase
    said = {name: str(code.callers(name).verdict) for name in ("Home", "getIt", "Cart", "own", "away", "total")}
    assert said == dict.fromkeys(("Home", "getIt", "Cart"), "unknown") | dict.fromkeys(("own", "away", "total"), "none")


def test_java_calls_a_function_of_kotlin_by_a_class_made_of_its_file(repo, engine):
    files = {
        "Util.kt": '@file:JvmName("Tools")\nfun String.settleIt() {}\nfun boilIt() {}\n',
        "Use.java": 'class Use { void use() { Tools.settleIt(""); UtilKt.boilIt(); } }\n',
    }
    code = engine(repo("app", files)).codebase
    assert [[each.name for each in code.callers(name).found] for name in ("settleIt", "boilIt")] == [
        ["Use.use"],
        ["Use.use"],
    ]


def test_a_function_given_to_a_declared_field_is_called_through_the_field(repo, engine):
    text = (
        "export class App {\n  private save?: (a: string) => void;\n  begin() {\n    this.save = (a: string) => {\n"
        "      console.log(a);\n    };\n  }\n  use() {\n    this.save?.('');\n  }\n}\n"
    )
    answer = engine(repo("app", {"a.ts": text})).codebase.callers("App.begin.save")
    assert [each.name for each in answer.found] == ["App.use"]

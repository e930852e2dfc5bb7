"""Where a name is defined: exact, several, or not at all."""

from __future__ import annotations

import pytest

from vademecum.errors import UsageError
from vademecum.types import Verdict


@pytest.fixture(scope="module")
def codebase(engine_to_read):
    """The sample."""
    return engine_to_read().codebase


@pytest.mark.parametrize(
    ("name", "place"),
    [("Budget", ("src/budget.py", 4)), ("Budget.split", ("src/budget.py", 10)), ("split", ("src/budget.py", 10)),
     ("Budget::split", ("src/budget.py", 10)), ("retry_with_backoff()", ("src/net/retry.py", 4)), ("LogReader#readAll", ("web/log.ts", 7))],
)  # fmt: skip
def test_a_name_of_one_definition_is_resolved(codebase, name, place):
    """One definition is certain, however the name is qualified."""
    answer = codebase.symbol(name)
    assert (answer.verdict, answer.probability, answer.reason) == (Verdict.RESOLVED, 1.0, "")
    (hit,) = answer.evidence
    lines = hit.snippet.split("\n")
    assert (
        hit.path,
        hit.start_line
        + next(
            i for i, line in enumerate(lines) if name.rstrip("()").split("#")[-1].split(".")[-1].split(":")[-1] in line
        ),
    ) == place


def test_a_crates_folder_of_sources_is_no_part_of_names(repo, engine):
    """`axum::routing::Router` is declared in `axum/src/routing/mod.rs`; a module of another name is not meant."""
    made = repo(
        "crates", {"axum/src/routing/mod.rs": "pub struct Router;\n\nimpl Router {\n    pub fn route(self) {}\n}\n"}
    )
    codebase = engine(made).codebase
    for name in (
        "axum::routing::Router",
        "axum::routing::Router<S>::route",
        "routing::Router::route",
        "src::routing::Router",
    ):
        assert codebase.symbol(name).verdict is Verdict.RESOLVED, name
    assert codebase.symbol("axum::handler::Router").verdict is Verdict.NOT_FOUND


def test_several_definitions_are_ambiguous(repo, engine):
    """Every definition is shown, product code first, and the reason says how to choose."""
    made = repo(
        "two",
        {
            "tests/a.py": "def go(): ...\n",
            "src/b.py": "def go(): ...\n",
            "src/c.py": "class C:\n    def go(self): ...\n",
        },
    )
    codebase = engine(made).codebase
    answer = codebase.symbol("go")
    assert answer.verdict is Verdict.AMBIGUOUS
    assert [e.path for e in answer.evidence] == ["src/b.py", "src/c.py", "tests/a.py"]
    assert "3 definitions" in answer.reason
    assert codebase.symbol("C.go").verdict is Verdict.RESOLVED


def test_more_definitions_than_asked_for_stay_ambiguous(repo, engine):
    """The cut to k does not make an ambiguous name certain."""
    made = repo("two", {f"m{n}.py": "def go(): ...\n" for n in range(4)})
    answer = engine(made).codebase.symbol("go", k=1)
    assert (len(answer.evidence), answer.verdict) == (1, Verdict.AMBIGUOUS)


@pytest.mark.parametrize("name", ["Budgett", "budget", "splitt", "retry_with_backof"])
def test_a_name_that_is_nowhere_is_not_guessed(codebase, name):
    """A look-up of a near miss finds nothing, and lists the name that was meant apart from evidence."""
    answer = codebase.symbol(name)
    assert (answer.verdict, answer.evidence, bool(answer)) == (Verdict.NOT_FOUND, (), False)
    assert set(answer.nearest) & {"Budget", "split", "retry_with_backoff"}


def test_a_name_like_no_other_has_no_near_names(codebase):
    """Nothing near is nothing listed."""
    assert codebase.symbol("zzyzx_qqq").nearest == ()


@pytest.mark.parametrize("name", ["", "  ", "::", "()"])
def test_what_is_no_name_is_refused(codebase, name):
    """Text without a name is an error, with an example of one."""
    with pytest.raises(UsageError, match="not a name"):
        codebase.symbol(name)


def test_no_results_cannot_be_asked_for(codebase):
    """K below 1 is refused here as it is in a search."""
    with pytest.raises(UsageError, match="k is 0"):
        codebase.symbol("Budget", k=0)


def test_what_is_known_of_a_definition_comes_with_it(codebase):
    """Python's signature, parsed docstring and complexity are in the metadata."""
    (hit,) = codebase.symbol("retry_with_backoff").evidence
    assert hit.metadata["cyclomatic"] == 3
    assert [p["name"] for p in hit.metadata["parameters"]] == ["call", "attempts"]
    assert "call" in hit.metadata["calls"]
    assert hit.signature.startswith("def retry_with_backoff(call, attempts=3)")


def test_methods_of_a_split_class_are_found(repo, engine):
    """A class too large for one chunk still gives each of its methods, once."""
    body = "".join(
        f"    def method_{n}(self):\n        '''Do thing {n}.'''\n        return [{n}] * {n}\n\n" for n in range(120)
    )
    codebase = engine(repo("large", {"a.py": f"class Large:\n    '''Many methods.'''\n\n{body}"})).codebase
    for n in (0, 60, 119):
        (hit,) = codebase.symbol(f"Large.method_{n}").evidence
        assert f"def method_{n}(self)" in hit.snippet
    assert codebase.symbol("Large").verdict is Verdict.RESOLVED


def test_a_class_and_its_constructors_are_one_definition(repo, engine):
    """Java and C# call a constructor like its class: whoever looks for the class finds it, the constructors after it."""
    files = {"Reader.java": "class Reader {\n  Reader(int a) {}\n  Reader(String a) {}\n  void read() {}\n}\n"}
    found = engine(repo("app", files)).codebase.symbol("Reader")
    assert (found.verdict, found.probability, found.reason) == (Verdict.RESOLVED, 1.0, "")
    assert [item.kind for item in found.evidence] == ["class", "constructor", "constructor"]


def test_overloads_cannot_be_told_apart_by_name(repo, engine):
    files = {"Reader.java": "class Reader {\n  int read(int a) { return 1; }\n  int read(String a) { return 2; }\n}\n"}
    found = engine(repo("app", files)).codebase.symbol("Reader.read")
    assert (found.verdict, found.reason) == (Verdict.AMBIGUOUS, "2 definitions of one name")


@pytest.mark.parametrize(
    ("name", "path"),
    [("m1.go", "m1.py"), ("app.store.fetch", "src/app/store.py"), ("store.Store.fetch", "src/app/store.py"),
     ("app.begin", "src/app/__init__.py"), ("kv.Fetch", "kv/read.go"), ("lib/log.write", "lib/log.ts")],
)  # fmt: skip
def test_a_name_may_be_qualified_by_its_module(repo, engine, name, path):
    """As it is written where it is imported; for the definition as for the graph."""
    files = {
        "m1.py": "def go(): ...\n", "m2.py": "def go(): ...\n", "src/app/__init__.py": "def begin(): ...\n",
        "src/app/store.py": "class Store:\n    def fetch(self): ...\n\n\ndef fetch(): ...\n",
        "kv/read.go": "package kv\n\nfunc Fetch() {}\n", "lib/log.ts": "export function write() {}\n",
    }  # fmt: skip
    codebase = engine(repo("app", files)).codebase
    answer = codebase.symbol(name)
    assert (answer.verdict, [hit.path for hit in answer.evidence]) == (Verdict.RESOLVED, [path])
    assert [each.path for each in codebase.callers(name).of] == [path]


def test_a_module_that_has_no_such_name_resolves_nothing(repo, engine):
    """Neither does a class's method by the module alone."""
    files = {"m1.py": "def go(): ...\n\n\nclass Own:\n    def come(self): ...\n"}
    codebase = engine(repo("app", files)).codebase
    for name in ("m2.go", "m1.come"):
        assert codebase.symbol(name).verdict is Verdict.NOT_FOUND


LONG = "".join(f"    total = add(total, item_number_{n}, of_the_whole_list)\n" for n in range(150))


def test_a_long_function_is_shown_to_its_end(repo, engine):
    """However it is cut for a search, it is one definition, from its decorator to its last line."""
    text = f"import os\n\n\n@cache\ndef long(total):\n{LONG}    return total\n\n\ndef after():\n    return 1\n"
    [hit] = engine(repo("app", {"a.py": text})).codebase.symbol("long").evidence
    assert (hit.start_line, hit.end_line) == (4, 156)
    assert hit.snippet.startswith("@cache\ndef long(total):\n")
    assert hit.snippet.endswith("    return total")
    assert hit.snippet.count("\n") == 152
    assert hit.metadata["lines_of_code"] == 153
    assert "part" not in hit.metadata


def test_a_small_method_is_shown_without_its_class(repo, engine):
    """Its own lines, and not those of its neighbours in the same chunk; the class is shown whole."""
    text = "class A:\n    def m(self):\n        return 1\n\n    def n(self):\n        return 2\n"
    code = engine(repo("app", {"a.py": text})).codebase
    [hit] = code.symbol("A.n").evidence
    assert (hit.start_line, hit.end_line, hit.snippet) == (5, 6, "    def n(self):\n        return 2")
    [hit] = code.symbol("A").evidence
    assert (hit.start_line, hit.end_line, hit.snippet) == (1, 6, text.rstrip("\n"))


def test_what_a_long_function_declares_at_its_end_is_found(repo, engine):
    """A name that is declared in a later part of what was cut is defined there."""
    text = f"def long(total):\n{LONG}\n    def inner():\n        return total\n\n    return inner\n"
    [hit] = engine(repo("app", {"a.py": text})).codebase.symbol("inner").evidence
    assert (hit.start_line, hit.end_line) == (153, 154)


def test_an_edited_definition_is_shown_as_it_is_now(repo, engine):
    """Its lines are those of the file on disk, when nothing was indexed again."""
    made = repo("app", {"a.py": f"def long(total):\n{LONG}    return total\n"})
    code = engine(made).codebase
    assert code.symbol("long").evidence[0].end_line == 152
    made.write("a.py", f"import os\n\n\ndef long(total):\n{LONG}{LONG}    return -total\n")
    [hit] = code.symbol("long", refresh=False).evidence
    assert (hit.start_line, hit.end_line, hit.freshness.value) == (4, 305, "edited")
    assert hit.snippet.startswith("def long(total):\n")
    assert hit.snippet.endswith("    return -total")


def test_a_long_section_is_shown_to_its_end(repo, engine):
    """A heading is a definition of what stands below it."""
    prose = "".join(f"A sentence, number {n}, that says what there is to say of it.\n\n" for n in range(120))
    [hit] = (
        engine(repo("app", {"a.md": f"# All of it\n\n{prose}\n# Next\n\nEnd.\n"})).codebase.symbol("All of it").evidence
    )
    assert (hit.start_line, hit.snippet.count("number")) == (1, 120)


def test_what_was_skipped_may_define_a_name(repo, engine):
    """Code that is too large to be indexed is named where a name is found nowhere; data is not."""
    made = repo("app", {"a.py": "def short(): ...\n"})
    made.write("big.py", "def longfn(): ...\n" * 20_000)
    made.write("big.csv", "longfn\n" * 60_000)
    code = engine(made, index__max_file_bytes=200_000).codebase
    said = "1 file was skipped and may hold it: big.py (too large)"
    assert said in code.symbol("longfn").reason
    assert said in code.callers("longfn").reason
    assert said in code.search("longfn").reason
    assert "skipped" not in code.symbol("short").reason


SHOWN = {
    "src/post/__init__.py": "from post.api import get\nfrom post.letters import Letter\n",
    "src/post/api.py": "def get(what):\n    return what\n",
    "src/post/letters.py": "class Paper:\n    def fold(self): ...\n\n\nclass Letter(Paper):\n    def get(self): ...\n",
    "box.go": "package office\n\nfunc Open() error { return nil }\n",
}


@pytest.mark.parametrize(
    ("name", "meant"),
    [("post.get", "get"), ("post.Letter", "Letter"), ("post.Letter.get", "Letter.get"), ("office.Open", "Open")],
)
def test_a_package_shows_what_its_modules_declare(repo, engine, name, meant):
    """Names are known by the package that they are imported from, which need not hold them itself."""
    codebase = engine(repo("office", SHOWN)).codebase
    answer = codebase.symbol(name)
    assert (answer.verdict, [hit.symbols for hit in answer.evidence]) == (Verdict.RESOLVED, [(meant,)])
    assert [each.name for each in codebase.callers(name).of] == [meant]


@pytest.mark.parametrize("name", ["Letter.fold", "post.Letter.fold"])
def test_a_member_that_is_inherited_is_found_where_it_is_declared(repo, engine, name):
    """And is said to be inherited, as by callers."""
    answer = engine(repo("office", SHOWN)).codebase.symbol(name)
    assert (answer.query, answer.verdict) == (name, Verdict.RESOLVED)
    assert [hit.symbols for hit in answer.evidence] == [("Paper.fold",)]
    assert answer.reason == f"{name} is inherited: Paper.fold is meant"


@pytest.mark.parametrize("name", ["post.fold", "Paper.get", "office.Letter.sealed", "src.Paper.get"])
def test_what_a_package_or_class_does_not_have_is_not_found(repo, engine, name):
    """A method is not its package's, nor a subclass's what the class has."""
    assert engine(repo("office", SHOWN)).codebase.symbol(name).verdict is Verdict.NOT_FOUND


SAID = "".join(f" line {n} says at some length what the thing below does\n" for n in range(110))
DOCUMENTED = {
    "acl.c": f"/*{SAID}*/\nint set_user(int u) {{\n    return u;\n}}\n",
    "acl.h": "int set_user(int u);\nint lonely(int u);\nclass Door { int open(int a); };\n",
    "acl.cpp": "int Door::open(int a) { return a; }\n",
    "base.rb": "module Record\n" + SAID.replace(" line", "  # line") + "  class Base\n    def x; end\n  end\nend\n",
    "comb.py": SAID.replace(" line", "# line") + "def comb():\n    return 1\n\n\nprint(comb())\n",
    "one.py": "# " + "a" * 5000 + "\ndef one(): pass\n",
}


@pytest.mark.parametrize(
    ("name", "path", "line"),
    [("comb", "comb.py", 111), ("one", "one.py", 2), ("Record::Base", "base.rb", 112), ("set_user", "acl.c", 112)],
)
def test_a_declaration_below_a_long_comment_is_found(repo, engine, name, path, line):
    """A comment longer than a chunk hides no declaration: the lines are whole and the declaration is in focus."""
    answer = engine(repo("app", DOCUMENTED)).codebase.symbol(name)
    hit = answer.evidence[0]
    assert (answer.verdict, answer.probability, hit.path) == (Verdict.RESOLVED, 1.0, path)
    assert hit.start_line < line <= hit.end_line
    text = hit.snippet.split("\n")
    assert hit.signature.split("(")[0] in text[line - hit.start_line]
    assert len(text) == hit.end_line - hit.start_line + 1
    assert hit.focus in {line, hit.start_line}
    assert line - hit.focus < 5


def test_what_is_declared_below_a_long_comment_has_callers(repo, engine):
    """The graph finds the name as `symbol` does."""
    answer = engine(repo("app", DOCUMENTED)).codebase.callers("comb")
    assert [each.name for each in answer.of] == ["comb"]
    assert [each.path for each in answer.found] == ["comb.py"]


def test_a_prototype_joins_the_definition(repo, engine):
    """A function and its prototype are one: the definition comes first, and only a prototype alone stands for itself."""
    code = engine(repo("app", DOCUMENTED)).codebase
    for name, paths in (
        ("set_user", ["acl.c", "acl.h"]),
        ("Door.open", ["acl.cpp", "acl.h"]),
        ("lonely", ["acl.h"]),
    ):
        answer = code.symbol(name)
        assert (answer.verdict, [hit.path for hit in answer.evidence]) == (Verdict.RESOLVED, paths), name
    two = engine(repo("two", {**DOCUMENTED, "other.c": "int set_user(int u) {\n    return 2;\n}\n"})).codebase
    answer = two.symbol("set_user")
    assert (answer.verdict, answer.reason.split(";")[0]) == (Verdict.AMBIGUOUS, "2 definitions")

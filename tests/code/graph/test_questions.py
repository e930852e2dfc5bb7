"""Questions about the graph, asked of a small repository: callers, callees, impact, ways, what belongs to a line."""

from __future__ import annotations

import re

import pytest

from vademecum.answers.neighbours import graph_page, neighbours_text
from vademecum.code.graph.surroundings import surroundings
from vademecum.errors import GitError, UsageError

FILES = {
    "app/store.py": (
        "class Store:\n    def __init__(self, place: str):\n        self.place = place\n\n    def get(self, key):\n        return read(self.place, key)\n\n\n"
        "def read(place, key):\n    return open(place).read()\n\n\ndef lonely():\n    return 1\n"
    ),
    "app/serve.py": (
        "from app.store import Store\n\n\ndef answer(question):\n    store = Store('a')\n    return store.get(question)\n\n\n"
        "def main():\n    print(answer('x'))\n\n\ndef again(n):\n    return main() if n else again(n - 1)\n"
    ),
    "app/cached.py": "from app.store import Store\n\n\nclass Cached(Store):\n    def get(self, key):\n        return super().get(key)\n",
    "tests/test_serve.py": "from app.serve import answer\n\n\ndef test_answer():\n    assert answer('q')\n",
    "docs/guide.md": "# Guide\n\n## Stores\n\n`Store.get` reads; see [the code](../app/store.py).\n",
}


@pytest.fixture
def code(repo, engine):
    """The small repository, open."""
    return engine(repo("app", FILES)).codebase


def places(answer):
    """The places that may be references, as text."""
    return [str(each) for each in answer.uncovered]


def names(answer):
    return [(each.name or each.path, each.relation, each.tier, each.distance) for each in answer.found]


def to_run(answer):
    return [test.path for test in answer.tests]


def test_callers_are_told_with_tier_distance_and_line(code):
    """Nearest first; product code before tests; the line that says so is quoted."""
    found = code.callers("Store.get", depth=3)
    assert found.verdict == "found"
    assert names(found)[:2] == [("Cached.get", "called_by", "exact", 1), ("answer", "called_by", "typed", 1)]
    assert ("main", "called_by", "typed", 2) in names(found)
    assert ("test_answer", "called_by", "typed", 2) in names(found)
    assert ("again", "called_by", "typed", 3) in names(found)
    one = next(each for each in found.found if each.name == "answer")
    assert (one.path, one.line, one.text, one.line_path) == (
        "app/serve.py",
        6,
        "return store.get(question)",
        "app/serve.py",
    )
    assert one.signature == "def answer(question)"
    assert next(each for each in found.found if each.name == "test_answer").via == "answer"


def test_depth_limits_how_far_one_looks(code):
    """Depth 1 is direct; 4 is an error that says what is allowed; circles end."""
    assert {each.distance for each in code.callers("Store.get", depth=1).found} == {1}
    assert code.callers("again", depth=3).verdict == "none"  # nobody but itself
    for depth in (0, 4):
        with pytest.raises(ValueError, match="not 1, 2 or 3"):
            code.callers("Store.get", depth=depth)


def test_calling_a_class_is_calling_its_constructor(code):
    """Who makes a Store is a caller of `Store.__init__`."""
    assert ("answer", "called_by", "exact", 1) in names(code.callers("Store.__init__"))


def test_callees_of_a_class_are_those_of_its_methods(code):
    """What a method calls; what a class's methods call."""
    assert names(code.callees("Store.get", depth=1)) == [("read", "calls", "exact", 1)]
    assert ("read", "calls", "exact", 1) in names(code.callees("Store", depth=1))


def test_none_is_said_only_where_everything_was_covered(repo, engine):
    """Nobody calls `lonely`: none. With a file that has errors and names it, or a call on something unknown: unknown."""
    made = repo("app", FILES)
    code = engine(made).codebase
    sure = code.callers("lonely")
    assert (sure.verdict, sure.uncovered) == ("none", ())
    assert not sure
    made.write("app/broken.py", "def broken(:\n    lonely()\n  if x\n")
    unsure = code.callers("lonely")
    assert (unsure.verdict, places(unsure)) == ("unknown", ["app/broken.py:2"])
    made.write("app/broken.py", "")
    made.write("bin/run.lua", "lonely()\n")
    assert places(code.callers("lonely")) == ["bin/run.lua:1"]


def test_a_file_that_was_left_out_may_hide_a_caller(repo, engine):
    """Code that is too large, or no text, is named; what is no code, or of a language that cannot call it, is not."""
    made = repo("app", FILES)
    made.write("app/huge.py", "lonely()\n" * 40_000)
    made.write("app/bytes.py", b"lonely()\0")
    made.write("web/huge.js", "lonely()\n" * 40_000)
    made.write("data/huge.csv", "lonely\n" * 60_000)
    code = engine(made, index__max_file_bytes=200_000).codebase
    unsure = code.callers("lonely")
    assert (unsure.verdict, places(unsure)) == ("unknown", ["app/bytes.py", "app/huge.py"])


def test_an_unknown_call_of_the_name_makes_none_unknown(repo, engine):
    """`thing.fetch()` on something unknown may be any of several: withheld as guesses, shown when asked for."""
    two = "class {0}:\n    def fetch_all_rows(self): ...\n"
    code = engine(
        repo(
            "app",
            {"a.py": two.format("A"), "b.py": two.format("B"), "c.py": "def go(thing):\n    thing.fetch_all_rows()\n"},
        )
    ).codebase
    found = code.callers("A.fetch_all_rows")
    assert (found.verdict, found.withheld, found.found) == ("unknown", 1, ())
    shown = code.callers("A.fetch_all_rows", guesses=True)
    assert names(shown) == [("go", "called_by", "guess", 1)]


def test_a_name_whose_declaration_is_gone_tells_who_still_writes_it(repo, engine):
    """A deleted function may still be called, by that name and not by one that only holds it."""
    shop = repo("shop", FILES | {"app/spread.py": "def readers():\n    return reads\n"})
    (shop.path / "app/store.py").unlink()
    (shop.path / "app/late.py").write_text("from app.store import read\n\nread('a', 'b')\n")
    found = engine(shop).codebase.callers("read")
    assert (found.verdict, found.reason) == (
        "not_found",
        "'read' is defined nowhere here; it is written in app/late.py",
    )


def test_a_name_that_is_not_there_is_not_found(code):
    """With the nearest names."""
    found = code.callers("Stor.get")
    assert found.verdict == "not_found"
    assert "Store" in code.callers("Stoer").nearest


def test_impact_names_what_may_break_and_the_tests_to_run(code):
    """Callers, what overrides it, and through what it overrides; tests by file."""
    found = code.impact("Store.get")
    assert {"answer", "Cached.get", "test_answer", "main"} <= {each.name for each in found.found}
    assert to_run(found) == ["tests/test_serve.py"]
    assert "answer" in {each.name for each in code.impact("Cached.get").found}  # called without knowing, as a Store


def test_impact_of_a_git_range(repo, engine):
    """What a range changed, or what is changed on disk against a revision."""
    made = repo("app", FILES, git=True)
    made.write("app/store.py", FILES["app/store.py"].replace("open(place).read()", "open(place, 'rb').read()"))
    code = engine(made).codebase
    found = code.impact(diff="HEAD")
    assert [each.name for each in found.of] == ["read"]
    assert ("Store.get", "called_by", "exact", 1) in names(found)
    assert to_run(found) == ["tests/test_serve.py"]
    assert to_run(code.impact(diff="HEAD", depth=3)) == ["tests/test_serve.py"]
    with pytest.raises(UsageError):
        code.impact(diff="--output=x")


@pytest.mark.parametrize("name", ["app/store.py", "app.store", "app/store", "./app/store.py"])
def test_a_file_is_used_by_those_that_import_it(code, name):
    """By its path, or as the module that it is."""
    found = code.callers(name)
    assert [each.path for each in found.of] == ["app/store.py"]
    assert {"app/serve.py", "app/cached.py"} <= {each.path for each in found.found if each.relation == "imported_by"}
    assert "app/store.py" in {each.path for each in code.callees("app.serve").found if each.relation == "imports"}


def test_what_belongs_to_a_name(code):
    """As to the line that declares it; a file that is not indexed is refused, and an unknown name gets the nearest ones."""
    by_name, by_line = (
        code.related("Store.get"),
        code.related(f"app/store.py:{code.callers('Store.get').of[0].start_line}"),
    )
    assert by_name.found == by_line.found != ()
    with pytest.raises(UsageError, match="is not a file in the index"):
        code.related("nosuch.py:3")
    missing = code.related("Store.gett")
    assert (missing.verdict, missing.nearest[0]) == ("not_found", "Store.get")


@pytest.mark.parametrize("relation", ["callers", "callees", "impact", "related"])
def test_a_name_that_is_nowhere_gets_the_nearest_names(code, relation):
    """The same names as `symbol` gives; of a qualified name, members of its class or of one spelled nearly so."""
    for name in ("Store.gett", "Stor.get", "answr"):
        told = getattr(code, relation)(name)
        assert told.verdict == "not_found"
        assert told.nearest == code.symbol(name).nearest != ()
    assert code.path("main", "Store.gett").nearest == code.symbol("Store.gett").nearest
    assert code.symbol("Store.gett").nearest[0] == "Store.get"
    assert "Store.get" in code.symbol("Stor.get").nearest
    assert all("." in name for name in code.symbol("Store.gett").nearest)


def test_callers_and_callees_are_the_direct_ones_unless_more_is_asked(code):
    """One step by default, and two for what may break; the text groups direct ones and others, each with its count."""
    assert {each.distance for each in code.callers("Store.get").found} == {1}
    assert {each.distance for each in code.callees("main").found} == {1}
    assert {each.distance for each in code.impact("Store.get").found} == {1, 2}
    deep = code.callers("Store.get", depth=2)
    direct = sum(each.distance == 1 for each in deep.found)
    text = neighbours_text(deep)
    assert text.index(f"\ndirect ({direct})\n") < text.index(f"\nthrough others ({len(deep.found) - direct})\n")
    assert text.index("answer  called_by") < text.index("through others") < text.index("main  called_by")
    assert "direct (" not in neighbours_text(code.callers("Store.get"))


def test_a_path_joins_two_files(code):
    """Through what they import."""
    found = code.path("tests/test_serve.py", "app.store")
    assert [each.path for each in found.found] == ["app/serve.py", "app/store.py"]
    assert {each.relation for each in found.found} <= {"imports", "tests"}


def test_a_range_needs_git(repo, engine):
    """Said in a line: git itself prints all of its options."""
    code = engine(repo("app", FILES, git=False)).codebase
    with pytest.raises(GitError, match=r"is not in a git repository: there are no revisions to name$"):
        code.impact(diff="HEAD")


def test_a_path_joins_two_names(code):
    """The shortest way along calls, each step with its line; backwards is said; none is said."""
    found = code.path("main", "read")
    assert [(each.name, each.line) for each in found.found] == [("answer", 10), ("Store.get", 6), ("read", 6)]
    assert "leads back" in code.path("read", "main").reason
    assert code.path("lonely", "main").verdict == "none"
    assert code.path("lonely", "nowhere").verdict == "not_found"


def test_the_line_of_a_caller_is_the_one_that_writes_the_name(repo, engine):
    """A chain of calls goes over several lines."""
    files = {"a.py": "class Router:\n    def route(self): return self\n    def go(self): return self\n",
             "b.py": "from a import Router\ndef run():\n    return (\n        Router()\n        .go()\n        .route()\n    )\n"}  # fmt: skip
    found = engine(repo("app", files)).codebase.callers("Router.route").found
    assert [(each.name, each.line, each.text) for each in found] == [("run", 6, ".route()")]


MARKED = {
    "app_test.go": "package app\n\nfunc TestPour() {}\n\nfunc Testify() {}\n",
    "app.py": "from web import app\n\n@app.route(\n    '/tea',\n    'GET')  # hot\n# answers\ndef boil(): ...\n\nclass Pot:\n    @staticmethod\n    def stir(): ...\n",
    "Pot.java": "class Kettle {\n  @Test\n  public void pour() {}\n\n  @Deprecated\n  void fill() {}\n}\n",
    "Pan.cs": 'class Pan {\n  [HttpGet("/fry")]\n  public void Fry() { }\n\n  [Obsolete]\n  public void Turn() { }\n}\n',
    "lid.rs": '#[get("/lid")]\nfn shut() {}\n\n#[inline]\nfn lift() {}\n',
    "tea.ts": "class Tea {\n  @Get('/brew')\n  brew() {}\n\n  sip() {}\n}\n",
}


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("boil", "@app.route"), ("Pot.stir", ""), ("Testify", ""), ("Kettle.pour", "@Test"), ("Kettle.fill", ""), ("Pan.Fry", "[HttpGet]"), ("Pan.Turn", ""),
        ("shut", "#[get]"), ("lift", ""), ("Tea.brew", "@Get"), ("Tea.sip", ""),
    ],
)  # fmt: skip
def test_nobody_calls_it_is_not_said_of_what_a_decorator_may_call(repo, engine, name, mark):
    """A route, a test, a handler; a decorator that is known to call nothing does not count."""
    answer = engine(repo("app", MARKED)).codebase.callers(name)
    assert answer.verdict == ("unknown" if mark else "none")
    assert f"it is marked {mark}, which may call it" in answer.reason or not mark


def test_nobody_calls_it_is_not_said_of_a_test(repo, engine):
    """Whatever runs tests calls it."""
    code = engine(repo("app", MARKED | {"test_app.py": "def test_pour(): ...\n"})).codebase
    assert [code.callers(name).verdict for name in ("TestPour", "test_pour")] == ["unknown", "unknown"]


def test_the_line_of_an_import_is_the_line_that_imports(repo, engine):
    """A file's path is no name that a later line may write."""
    files = {"pot.py": "", "use.py": "import os\nimport pot\n\nx = 'a.py'\n", "over.py": "\nimport use\n\n# see b.py\n"}
    code = engine(repo("app", files)).codebase
    assert [(each.path, each.line) for each in code.callers("pot.py").found] == [("use.py", 2)]
    assert [(each.path, each.line) for each in code.impact("pot.py").found] == [("use.py", 2), ("over.py", 2)]


def test_related_labels_what_belongs_to_a_line(code):
    """Callers, callees, contracts, tests and siblings of the declaration around a line."""
    found = {each.name or each.path: each.relation for each in code.related("app/serve.py:5").found}
    assert found["Store.get"] == "calls"
    assert found["main"] == "called_by"
    assert found["test_answer"] == "test_for"
    assert {each.relation for each in code.related("app/cached.py:5").found} >= {"interface_of", "called_by"} - {
        "called_by"
    }
    with pytest.raises(UsageError, match="not a file in the index"):
        code.related("app/none.py:1")


def test_documents_refer_to_what_they_name(code):
    """A code span of one definition's name, a link to a file."""
    assert "docs/guide.md" in {each.path for each in code.callers("Store.get").found}
    linked = code.callers("app/store.py", depth=1)
    assert "docs/guide.md" in {each.path for each in linked.found}


def test_answers_follow_edits(repo, engine):
    """The graph is brought up to date before it is asked; what went is gone."""
    made = repo("app", FILES)
    code = engine(made).codebase
    assert "answer" in {each.name for each in code.callers("Store.get").found}
    made.write("app/serve.py", "def answer(question):\n    return question\n")
    assert "answer" not in {each.name for each in code.callers("Store.get").found}
    made.write("app/new.py", "from app.store import read as r\n\n\ndef use():\n    return r(1, 2)\n")
    assert "use" in {each.name for each in code.callers("read").found}
    (made.path / "app/store.py").rename(made.path / "app/depot.py")
    assert code.callers("read").verdict == "unknown" or "use" not in {each.name for each in code.callers("read").found}


def test_answers_follow_an_edit_whose_former_content_was_dropped(repo, engine):
    """Searching takes an edit in without the graph; `gc` then drops what the graph was made of."""
    opened = repo("app", FILES)
    codebase = engine(opened).codebase
    assert codebase.callers("read", depth=1).found
    opened.write("app/store.py", FILES["app/store.py"].replace("read(", "fetch("))
    codebase.search("where is the store read")
    assert codebase.gc().blobs
    assert names(codebase.callers("fetch", depth=1)) == [("Store.get", "called_by", "exact", 1)]
    assert codebase.callers("read", depth=1).verdict == "not_found"


def test_text_says_verdict_place_tier_and_line(code):
    """As it stands on a terminal."""
    text = neighbours_text(code.callers("read", depth=1))
    assert text.splitlines()[0] == "callers of read | found | 1 result | depth 1"
    assert "app/store.py:5-6  Store.get  called_by exact\n  6  return read(self.place, key)\n" in text


def test_a_use_says_more_than_its_import(repo, engine):
    """A file whose function calls a name is not told again for its import; a call outside of functions is the line shown."""
    files = {
        "p.py": "def run():\n    return 1\n",
        "q.py": "from p import run\n\n\ndef go():\n    return run()\n",
        "r.py": "from p import run\n\nrun()\n",
        "s.py": "from p import run\n",
    }
    code = engine(repo("app", files)).codebase
    for found in (code.callers("run"), code.impact("run")):
        said = [(each.path, each.name, each.relation, each.line) for each in found.found]
        assert said == [
            ("q.py", "go", "called_by", 5),
            ("r.py", "", "called_by", 3),
            ("s.py", "", "imported_by", 1),
        ]


def test_many_callers_are_all_named(repo, engine):
    """The first with their lines, the others by file, each with its line: nobody has to ask again."""
    files = {"p.py": "def run():\n    return 1\n"}
    for letter in "abcd":
        calls = "".join(f"def {letter}{n}():\n    return run()\n\n\n" for n in range(10))
        files[f"{letter}.py"] = f"from p import run\n\n\n{calls}"
    text = neighbours_text(engine(repo("app", files)).codebase.callers("run"))
    assert text.startswith("callers of run | found | 40 results | depth 1\n")
    assert "b.py:40-41  b9  called_by exact\n  41  return run()\n" in text
    assert text.endswith(
        "c.py  c0 5, c1 9, c2 13, c3 17, c4 21, c5 25, c6 29, c7 33, c8 37, c9 41\n"
        "d.py  d0 5, d1 9, d2 13, d3 17, d4 21, d5 25, d6 29, d7 33, d8 37, d9 41\n"
    )


def test_what_may_hold_more_is_told_likeliest_first(repo, engine):
    """Files of the same language before configuration, and at most twenty of them."""
    files = {
        "p.py": "class Box:\n    def update(self):\n        return 1\n\n    def go(self):\n        return self.update()\n",
        "Dockerfile": "RUN apt-get update\n",
        ".github/workflows/ci.yml": "run: apt-get update\n",
        **{f"z{n}.py": "def go(x):\n    return x.update(1)\n" for n in range(10, 29)},
    }
    answer = engine(repo("app", files)).codebase.callers("Box.update")
    assert places(answer)[:19] == [f"z{n}.py:2" for n in range(10, 29)]
    text = neighbours_text(answer)
    assert "this one:\n  z10.py:2\n" in text
    assert "  ... and 1 more\n" in text
    assert "Dockerfile" not in text


def test_the_page_holds_everything_and_asks_for_nothing(repo, engine):
    """One file: no address is in it; what is hostile in a name is harmless."""
    made = repo("app", FILES)
    graph = engine(made).codebase.graph()
    page = graph_page(surroundings(graph, "read"), "app</title>")
    assert re.findall(r"https?://", page) == []
    assert "Store.get" in page
    assert "app</title>" not in page
    assert page.count("</script>") == 4
    overview = surroundings(graph)
    assert {node.path for node in overview.nodes} == set(FILES)
    with pytest.raises(UsageError, match="defined nowhere"):
        surroundings(graph, "nowhere")


def test_a_name_with_dots_of_its_own_is_found_as_it_is_written(repo, engine):
    """Every name that is listed can be asked for, also the heading of a release."""
    app = repo("app", {"CHANGELOG.md": "# Changelog\n\n## [0.1.0] - soon\n\nText.\n", "a.py": "def a():\n    pass\n"})
    graph = engine(app).codebase.graph()
    assert {node.qualified: len(graph.named(node.qualified)) for node in graph.beginning("")} == {
        "Changelog": 1,
        "Changelog.[0.1.0] - soon": 1,
        "a": 1,
    }
    assert graph.named("Changelog.[0.2.0] - soon") == []


def test_a_member_that_is_inherited_is_found_where_it_is_declared(repo, engine):
    """`Sub.run` is what its base declares, nearest first; a name that nobody has stays not found."""
    files = {
        "a.py": "class Base:\n    def run(self): ...\n\n\nclass Middle(Base): ...\n\n\nclass Sub(Middle): ...\n",
        "b.py": "from a import Sub\n\n\ndef main(sub: Sub):\n    sub.run()\n",
        "go.mod": "module example.org/m\n",
        "m.go": "package m\n\ntype Group struct{}\n\nfunc (g *Group) Get() {}\n\ntype Engine struct {\n\tGroup\n}\n\nfunc main() { e := Engine{}; e.Get() }\n",
    }
    code = engine(repo("app", files)).codebase
    found = code.callers("Sub.run")
    assert ("main", "called_by", "typed", 1) in names(found)
    assert found.reason == "Sub.run is inherited: Base.run is meant"
    assert ("main", "called_by", "typed", 1) in names(code.callers("Engine.Get"))
    assert code.callers("Base.run").reason == ""
    assert code.callers("Sub.walk").verdict == "not_found"


def test_a_method_of_one_of_several_impls_is_asked_about_by_its_whole_name(repo, engine):
    """The plain name means all of them, a name with arguments or a trait just one."""
    text = (
        "struct Slim<const N: usize>;\nimpl Slim<1> { fn one(&self) { self.rest(); } fn rest(&self) {} }\n"
        "impl Slim<2> { fn two(&self) { self.rest(); } fn rest(&self) {} }\n"
        "struct Id;\nimpl From<u8> for Id { fn from(x: u8) -> Id { Id } }\nimpl From<u16> for Id { fn from(x: u16) -> Id { Id } }\n"
    )
    code = engine(repo("app", {"src/lib.rs": text})).codebase
    assert [each.name for each in code.callers("Slim.rest").found] == ["Slim<1>.one", "Slim<2>.two"]
    assert [each.name for each in code.callers("Slim<2>::rest").found] == ["Slim<2>.two"]
    assert [each.name for each in code.callers("<Id as From<u16>>::from").of] == ["<Id as From<u16>>.from"]
    assert len(code.callers("Id::from").of) == 2
    assert code.symbol("Slim.rest").evidence[0].path == "src/lib.rs"


@pytest.mark.parametrize("place", ["app/store.py:6", "./app/store.py:6", "store.py:6", "app/store.py#L6"])
def test_a_line_means_the_declaration_around_it(code, place):
    """In every relation, as an agent takes it from a trace; the end of a path is enough."""
    by_line, by_name = code.callers(place), code.callers("Store.get")
    assert by_line.found == by_name.found != ()
    assert by_line.reason == f"{place} is in Store.get"
    assert code.impact(place).tests == code.impact("Store.get").tests
    assert [each.name for each in code.callees(place).found] == ["read"]
    assert code.path("main", place).found == code.path("main", "Store.get").found != ()
    defined = code.symbol(place)
    assert (defined.verdict, [each.symbols for each in defined.evidence]) == ("resolved", [("Store.get",)])
    assert defined.reason == by_line.reason


def test_a_way_leads_from_what_is_inside_and_over_an_interface(repo, engine):
    """Who asks for the way from a class means its methods; a call of an interface leads to whoever implements it."""
    files = {
        "Disk.java": "interface Disk { void save(String text); }\n",
        "Plate.java": "class Plate implements Disk { public void save(String text) { spin(); } void spin() { } }\n",
        "Page.java": 'class Page { Disk disk; void close() { disk.save("x"); } }\n',
    }
    code = engine(repo("disks", files)).codebase
    found = code.path("Page", "Disk.save")
    assert [(each.name, each.relation) for each in found.found] == [("Disk.save", "calls")]
    assert [each.name for each in found.of] == ["Page.close"]
    over = code.path("Page", "Plate.save")
    assert [each.name for each in over.found] == ["Disk.save"]
    assert over.reason == "Disk.save is what the target implements"


def test_a_line_that_is_not_there_is_refused(code):
    with pytest.raises(UsageError, match="is not a file in the index"):
        code.callers("app/none.py:3")
    with pytest.raises(UsageError, match="line 99 is past its end"):
        code.impact("app/store.py:99")
    for place in ("app/none.py:3", "app/serve.py:1"):
        missing = code.symbol(place)
        assert (missing.verdict, missing.reason) == (
            "not_found",
            f"{place} is in no declaration of an indexed file",
        )


@pytest.mark.parametrize("name", ["T::gone", "Chapter:0", "two\nlines", "/etc/passwd", "../store"])
def test_a_name_that_is_none_is_no_place(code, name):
    assert code.callers(name).verdict == code.impact(name).verdict == "not_found"


def test_definitions_of_one_name_call_each_other(repo, engine):
    """Whoever asks for the callers of `save` asks about each of them; a call of itself is none."""
    files = {
        "a.py": "class Disk:\n    def save(self, text):\n        return self.save(text[1:]) if text else 0\n",
        "b.py": (
            "from a import Disk\n\n\nclass Page:\n    def __init__(self):\n        self.disk = Disk()\n\n"
            "    def save(self, text):\n        return self.disk.save(text)\n"
        ),
    }
    code = engine(repo("saves", files)).codebase
    for found in (code.callers("save"), code.impact("save")):
        assert [(each.name, each.line) for each in found.found] == [("Page.save", 9)]
    assert [each.name for each in code.callers("Disk.save").found] == ["Page.save"]


def test_one_declaration_is_no_way(code):
    said = code.path("answer", "serve.answer")
    assert (said.verdict, said.reason) == ("none", "answer and serve.answer name one declaration")


def test_a_line_beyond_the_end_is_no_line(code):
    assert code.related("app/store.py:14")
    with pytest.raises(UsageError, match="has 14 lines: line 15 is past its end"):
        code.related("app/store.py:15")


def test_a_range_that_changes_nothing_says_so(repo, engine):
    app = repo("app", FILES, git=True)
    code = engine(app).codebase
    said = code.impact(diff="HEAD")
    assert (said.verdict, said.reason) == ("none", "HEAD changes nothing that is indexed")
    app.write(
        "app/store.py", FILES["app/store.py"].replace("return 1", "return 2").replace("self.place =", "self.at =")
    )
    assert code.impact(diff="HEAD").reason == "2 definitions taken together"


def test_a_range_is_not_taken_for_a_name(repo, engine):
    """`HEAD~1..HEAD` has dots in it, and nothing of it is inherited."""
    made = repo("app", FILES, git=True)
    made.write("app/store.py", FILES["app/store.py"].replace("open(place).read()", "open(place, 'rb').read()"))
    made.commit("read bytes")
    found = engine(made).codebase.impact(diff="HEAD~1..HEAD")
    assert [each.name for each in found.of] == ["read"]
    assert found.reason == ""


WITHOUT_READ = FILES["app/store.py"].replace("def read(place, key):\n    return open(place).read()\n\n\n", "")


def test_impact_of_a_range_names_who_still_calls_what_it_removed(repo, engine):
    """It stands in no file now: the commit before the range knows who called it."""
    made = repo("app", FILES, git=True)
    made.write("app/store.py", WITHOUT_READ)
    code = engine(made).codebase
    found = code.impact(diff="HEAD")
    assert ("read", "self") in {(each.name, each.relation) for each in found.of}
    assert names(found)[0] == ("Store.get", "called_by", "exact", 1)
    assert (found.found[0].line, found.found[0].text) == (6, "return read(self.place, key)")
    assert ("answer", "called_by", "typed", 2) in names(found)
    assert next(each for each in found.found if each.name == "answer").via == "Store.get"
    assert "read is gone" in found.reason
    assert {each.distance for each in code.impact(diff="HEAD", depth=1).found} == {1}


def test_lines_that_look_like_the_head_of_a_file_are_lines(repo, engine):
    """A comment of two dashes that went, and what came in its place, name no file."""
    made = repo("app", {**FILES, "app/query.sql": "-- a/old.sql\nSELECT 1;\nSELECT 2;\n"}, git=True)
    made.write("app/query.sql", "++ b/new.sql\nSELECT 1;\n")
    made.write("app/store.py", WITHOUT_READ)
    found = engine(made).codebase.impact(diff="HEAD")
    assert names(found)[0] == ("Store.get", "called_by", "exact", 1)


def test_who_no_longer_calls_what_was_removed_is_not_broken(repo, engine):
    """The caller was mended in the same range, or the name is found elsewhere now."""
    made = repo("app", FILES, git=True)
    made.write("app/store.py", WITHOUT_READ.replace("return read(self.place, key)", "return self.place[key]"))
    code = engine(made).codebase
    assert "Store.get" not in {each.name for each in code.impact(diff="HEAD").found}
    made.write("app/reading.py", "def read(place, key):\n    return open(place).read()\n")
    made.write("app/store.py", "from app.reading import read\n\n\n" + WITHOUT_READ)
    code.index()
    assert "Store.get" not in {each.name for each in code.impact(diff="HEAD").found}


def test_impact_of_a_range_that_deletes_a_file(repo, engine):
    """What was declared in it is gone, and it is itself."""
    made = repo("app", FILES, git=True)
    (made.path / "app/store.py").unlink()
    found = engine(made).codebase.impact(diff="HEAD")
    assert ("answer", "app/serve.py") in {(each.name, each.path) for each in found.found if each.distance == 1}
    assert "app/cached.py" in {each.path for each in found.found}
    assert "tests/test_serve.py" in to_run(found)


def test_what_a_range_between_commits_removed(repo, engine):
    """Its beginning is what knows: of `a..b` a, of `a...` where they parted."""
    made = repo("app", FILES, git=True)
    made.write("app/store.py", WITHOUT_READ)
    made.commit("reading goes")
    code = engine(made).codebase
    for revisions in ("HEAD~1..HEAD", "HEAD~1...", "HEAD~1"):
        assert names(code.impact(diff=revisions))[0] == ("Store.get", "called_by", "exact", 1), revisions


def test_a_file_that_moved_has_removed_nothing(repo, engine):
    """Its declarations are where it went."""
    made = repo("app", FILES, git=True)
    made.git("mv", "app/cached.py", "app/kept.py")
    found = engine(made).codebase.impact(diff="HEAD")
    assert "gone" not in found.reason


def test_who_still_names_a_file_that_moved_is_told(repo, engine):
    """Nothing in it changed, and those that import it from where it was are broken all the same."""
    made = repo("app", FILES, git=True)
    made.git("mv", "app/store.py", "app/shelf.py")
    found = engine(made).codebase.impact(diff="HEAD")
    first = {(each.path, each.name) for each in found.found if each.distance == 1}
    assert {
        ("app/serve.py", ""),
        ("app/serve.py", "answer"),
        ("app/cached.py", "Cached"),
        ("docs/guide.md", "Guide.Stores"),
    } <= first
    assert "app/store.py is gone" in found.reason
    assert to_run(found) == ["tests/test_serve.py"]


def test_who_was_mended_with_a_file_that_moved_is_not_broken(repo, engine):
    """They name it where it is now."""
    made = repo("app", FILES, git=True)
    made.git("mv", "app/store.py", "app/shelf.py")
    for path in ("app/serve.py", "app/cached.py", "docs/guide.md"):
        made.write(path, FILES[path].replace("app.store", "app.shelf").replace("app/store", "app/shelf"))
    found = engine(made).codebase.impact(diff="HEAD")
    assert "gone" not in found.reason


@pytest.mark.parametrize("name", ["prix_é.py", 'say "hi".py', "a b.py", "back\\slash.py"])
def test_a_range_reads_any_name_of_a_file(repo, engine, name):
    """Unusual ones stand in quotes, with escapes, in what git says."""
    made = repo("app", {**FILES, name: "def price():\n    return 1\n\n\ndef total():\n    return price()\n"}, git=True)
    made.write(name, "def price():\n    return 2\n\n\ndef total():\n    return price()\n")
    found = engine(made).codebase.impact(diff="HEAD")
    assert [(each.name, each.path) for each in found.of] == [("price", name)]
    assert names(found) == [("total", "called_by", "exact", 1)]


def test_a_test_that_changed_is_to_be_run(repo, engine):
    """Nobody refers to it: it is run for itself."""
    made = repo("app", FILES, git=True)
    made.write("tests/test_serve.py", FILES["tests/test_serve.py"].replace("'q'", "'r'"))
    code = engine(made).codebase
    assert to_run(code.impact(diff="HEAD")) == ["tests/test_serve.py"]
    assert to_run(code.impact("tests/test_serve.py")) == to_run(code.impact("test_answer")) == ["tests/test_serve.py"]


@pytest.mark.parametrize("revisions", ["nosuch..HEAD", "nosuch", "HEAD~99...HEAD"])
def test_a_range_that_is_not_known_says_what_to_name(repo, engine, revisions):
    code = engine(repo("app", FILES, git=True)).codebase
    with pytest.raises(GitError, match=r"has no revision '.*': name a branch, a tag or a commit"):
        code.impact(diff=revisions)


USES_OF_H = {
    "assigned": "from p import h\nDEFAULT = h\n",
    "returned": "import p\n\n\ndef hand():\n    return p.h\n",
    "compared": "import p\n\n\ndef same(x):\n    return x == p.h\n",
    "a default": "import p\n\n\ndef run(cb=p.h):\n    return cb()\n",
    "by name": "import p\n\n\ndef run():\n    return getattr(p, 'h')()\n",
}


@pytest.mark.parametrize("use", USES_OF_H.values(), ids=USES_OF_H)
def test_nobody_calls_it_is_not_said_of_what_is_named(repo, engine, use):
    """Whatever names a function is found, or its file is named as one that may."""
    made = repo("app", {"p.py": "def h():\n    return 1\n", "q.py": use})
    for answer in (engine(made).codebase.callers("h"), engine(made).codebase.impact("h")):
        assert "q.py" in {each.path for each in (*answer.found, *answer.uncovered)}


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("m.py", "def h():\n    return 1\n\n\ndef hand():\n    return h\n", "h"),
        ("m.py", "def h():\n    return 1\n\n\ndef hand(cb=h):\n    return cb\n", "h"),
        ("m.py", "class A:\n    @property\n    def big(self):\n        return 1\n\n\ndef f(a):\n    return a.big\n", "big"),
        ("m.py", "LIMIT = 3\n\n\ndef f(x):\n    return x + LIMIT\n", "LIMIT"),
        ("m.ts", "export const LIMIT = 3\nexport function f(x: number) { return x + LIMIT }\n", "LIMIT"),
        ("m.go", "package m\n\nconst LIMIT = 3\n\nfunc f(x int) int { return x + LIMIT }\n", "LIMIT"),
        ("M.java", "class M {\n  static final int LIMIT = 3;\n  int f(int x) { return x + LIMIT; }\n}\n", "LIMIT"),
        ("m.rs", "const LIMIT: i32 = 3;\nfn f(x: i32) -> i32 { x + LIMIT }\n", "LIMIT"),
        ("m.c", "static const int LIMIT = 3;\nint f(int x) { return x + LIMIT; }\n", "LIMIT"),
    ],
)  # fmt: skip
def test_a_value_that_is_read_is_not_unused(repo, engine, path, text, name):
    """A constant in a sum, a property that is read, a function handed on: an edge, or unknown."""
    answer = engine(repo("app", {path: text})).codebase.callers(name)
    assert answer.verdict in {"found", "unknown"}
    assert answer.found or path in [each.path for each in answer.uncovered]


@pytest.mark.parametrize(
    "use",
    [
        "# h is not called here\n",
        '"""What h is about, in prose."""\n',
        "def other():\n    h = 1\n    return h\n",
        "def other(h):\n    return h\n",
        "def h():\n    return 2\n\n\ndef run():\n    return [h]\n",
        "def run(thing):\n    return thing(h=1)\n",
        "from elsewhere import h\n\n\ndef run():\n    return [h]\n",
    ],
)
def test_another_thing_of_the_name_hides_nobody(repo, engine, use):
    """Comments, prose, locals, parameters and what is imported from elsewhere are no references."""
    answer = engine(repo("app", {"p.py": "def h():\n    return 1\n", "q.py": use})).codebase.callers("p.h")
    assert (answer.verdict, answer.uncovered) == ("none", ())


def test_what_configures_the_code_may_name_it(repo, engine):
    """An entry point is no code, and calls it all the same; a changelog only tells of it."""
    files = {
        **FILES,
        "CHANGELOG.md": "lonely is new\n",
        "pyproject.toml": "[project.scripts]\ngo = 'app.store:lonely'\n",
    }
    assert [each.path for each in engine(repo("app", files)).codebase.callers("lonely").uncovered] == ["pyproject.toml"]


def test_a_longer_word_in_a_shell_script_is_not_the_name(repo, engine):
    """`ruff format` says nothing of a function `form`; a script that says `form` may mean it."""
    files = {"p.py": "def form():\n    return 1\n", "check.sh": "ruff format .\n", "run.sh": "python -m app form\n"}
    assert [*map(str, engine(repo("app", files)).codebase.callers("form").uncovered)] == ["run.sh:1"]


def test_what_was_found_does_not_hide_what_was_not(repo, engine):
    """A mixin calls what its class will have: the list of callers says that this file may hold more."""
    mixin = "class Mixin:\n    def again(self):\n        return self.send(1)\n\n\n"
    text = (
        mixin
        + "class Session(Mixin):\n    def send(self, x):\n        return x\n\n    def get(self):\n        return self.send(2)\n"
    )
    code = engine(repo("app", {"s.py": text})).codebase
    for answer in (code.callers("Session.send"), code.impact("Session.send")):
        assert [each.name for each in answer.found] == ["Session.get"]
        assert [each.path for each in answer.uncovered] == ["s.py"]
        assert "1 more file uses this name: we could not tell whether they mean this one" in answer.reason
        assert "this one:\n  s.py:3\n" in neighbours_text(answer)


def test_who_imports_a_constant_uses_it(repo, engine):
    """As who imports a function does; the edge says that it is an import."""
    made = repo("app", {"p.py": "LIMIT = 30\n", "q.py": "from p import LIMIT\n"})
    for answer in (engine(made).codebase.callers("LIMIT"), engine(made).codebase.impact("LIMIT")):
        assert [(each.path, each.relation, each.line) for each in answer.found] == [("q.py", "imported_by", 1)]


def test_a_way_says_which_of_several_it_takes(repo, engine):
    """Of several of a name the one that leads there, and the others are named."""
    files = {
        "a.py": "def get():\n    return 1\n",
        "b.py": "from c import end\n\n\ndef get():\n    return end()\n",
        "c.py": "def end():\n    return 1\n\n\ndef alone():\n    return 2\n",
    }
    code = engine(repo("app", files)).codebase
    found = code.path("get", "end")
    assert [(each.path, each.name) for each in (*found.of, *found.found)] == [("b.py", "get"), ("c.py", "end")]
    assert found.reason == "get is taken for get in b.py, and not for get in a.py"
    back = code.path("end", "get")
    assert "this one leads back; get is taken for get in b.py" in back.reason
    assert "none of the 2 definitions of get" in code.path("get", "alone").reason
    assert code.path("b.get", "end").reason == ""


@pytest.mark.parametrize(
    ("path", "text", "edges"),
    [
        ("m.py", "def h(): ...\n\n\ndef hand():\n    return h\n", [("hand", "referenced_by", 5)]),
        ("m.py", "def h(): ...\n\n\ndef keep():\n    kept = h\n    kept.x = 1\n", [("keep", "referenced_by", 5)]),
        ("m.py", "h = 30\n\n\ndef ask(f):\n    f(h)\n", [("ask", "referenced_by", 5)]),
        ("m.py", "h = 30\n\n\ndef ask(f, h):\n    f(h)\n    return h\n", []),
        ("m.ts", "export function h() {}\nexport function hand() { return h }\n", [("hand", "referenced_by", 2)]),
    ],
)  # fmt: skip
def test_what_is_handed_on_is_named(repo, engine, path, text, edges):
    """What is returned, kept under another name or passed on is referred to, and a constant is meant as itself."""
    found = engine(repo("app", {path: text})).codebase.callers("h", 1)
    assert [(each.name, each.relation, each.line) for each in found.found] == edges


def test_a_line_that_nobody_calls_names_the_declaration_around_it(repo, engine):
    """Whoever asks by a line learns which declaration was meant."""
    answer = engine(repo("app", {"a.py": "def lonely():\n    return 1\n"})).codebase.callers("a.py:2")
    assert (answer.verdict, answer.reason) == ("none", "nothing else refers to lonely: every file was covered")


def test_a_caller_among_overloads_is_the_one_that_calls(repo, engine):
    """The lines and the signature told are of the overload around the call, not of the longest one."""
    files = {
        "Pan.java": (
            "class Pan {\n  void fry(int n) { stir(); }\n  void fry(String s) {\n    int a = 1;\n    int b = 2;\n  }\n"
            "  void stir() { }\n}\n"
        )
    }
    codebase = engine(repo("overloads", files)).codebase
    answer = codebase.callers("Pan.stir")
    (caller,) = answer.found
    assert not answer.reason
    assert (caller.line, caller.start_line, caller.end_line, caller.signature) == (2, 2, 2, "void fry(int n)")


@pytest.mark.parametrize("path", ["Desk.cs", "Desk.java"])
def test_each_overload_that_calls_is_named(repo, engine, path):
    """Overloads are one caller, so the lines of those that it does not stand for may call."""
    text = (
        "class Desk {\n  void go(int n) {\n    look(n);\n  }\n  void go(String s) {\n    int n = 1;\n    look(n);\n  }\n"
        "  void go() {\n    look(1);\n    this.look(2);\n  }\n  void look(int n) {}\n}\n"
    )
    answer = engine(repo("overloads", {path: text})).codebase.callers("Desk.look")
    assert [(each.name, each.line) for each in answer.found] == [("Desk.go", 3)]
    assert [*map(str, answer.uncovered)] == [f"{path}:7,10,11"]

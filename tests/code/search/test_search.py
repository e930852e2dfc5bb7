"""From a question to evidence: filters before the cut, scopes that never leak, lines that are the file's own."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from vademecum.code.search.signals import FEW_ROWS
from vademecum.errors import GitError, UsageError
from vademecum.types import Evidence, Freshness, Verdict

MANY = {
    f"src/mod{n:02}.{ext}": text
    for n in range(30)
    for ext, text in (
        ("py", f"def open_socket_{n}():\n    '''Open the network socket number {n}.'''\n    return socket({n})\n"),
        ("js", f"function openSocket{n}() {{ return network.socket({n}); }}\n"),
    )
} | {
    "src/rare.go": "package rare\n\n// OpenSocket opens a network socket.\nfunc OpenSocket() error {\n\treturn nil\n}\n"
}


@pytest.fixture(scope="module")
def codebase(engine_to_read):
    """A repository whose files all answer the same question."""
    return engine_to_read("many", MANY).codebase


def places(answer):
    return [(e.path, e.start_line, e.end_line) for e in answer.evidence]


def test_evidence_is_the_files_own_lines(repo, engine):
    """A snippet is exactly the lines it names, and says what and where it is."""
    made = repo()
    codebase = engine(made).codebase
    answer = codebase.search("how is the token budget split", k=50)
    alone = codebase.search("how is the token budget split", k=50, joined=False)
    assert len(alone.evidence) > len(answer.evidence) >= 5
    for e in (*answer.evidence, *alone.evidence):
        lines = made.read(e.path).split("\n")[e.start_line - 1 : e.end_line]
        assert e.snippet == "\n".join(lines)
        assert (e.repo, e.branch, e.freshness) == ("handbook", "main", Freshness.FRESH)


def test_a_result_of_several_pieces_is_named_by_its_best(repo, engine):
    """What the question asks for comes first among its symbols, whatever stands above it in the file."""
    text = "LIMIT = 3\n\n\ndef marmalade_jar(fruit):\n    return fruit * LIMIT\n\n\ndef lid(jar):\n    return jar\n"
    codebase = engine(repo("kitchen", {"jam.py": text})).codebase
    alone, *_ = codebase.search("how is marmalade put into a jar", joined=False).evidence
    best, *_ = codebase.search("how is marmalade put into a jar").evidence
    assert best.id == alone.id
    assert best.symbols[0] == alone.symbols[0] == "marmalade_jar"
    assert best.start_line <= alone.start_line <= alone.end_line <= best.end_line


def test_evidence_is_a_frozen_record_of_every_field(repo, engine):
    """It equals what its own fields make, and nobody changes it."""
    for e in engine(repo()).codebase.search("token budget").evidence:
        assert set(vars(e)) == {field.name for field in fields(Evidence)}
        assert Evidence(**vars(e)) == e
        with pytest.raises(FrozenInstanceError):
            e.path = "another.py"


def test_ids_name_repository_commit_path_and_chunk(repo, engine):
    """An id is `<repo>:<commit>:<path>:<chunkHash>`, with the label that evidence carries as its commit."""
    made = repo()
    commit = made.git("rev-parse", "HEAD")
    for e in engine(made).codebase.search("token budget").evidence:
        name, label, path, digest = e.id.split(":")
        assert (name, label, path, e.commit) == ("handbook", commit, e.path, commit)
        assert len(digest) == 16


def test_ids_are_equal_across_clones_and_homes(repo, engine, make_repo, tmp_path):
    """The same commit in a clone of the same name, indexed elsewhere, gives the same ids and scores."""
    made = repo()
    made.git("clone", "-q", str(made.path), str(tmp_path / "clone" / "handbook"))
    first = engine(made).codebase.search("token budget")
    second = engine(tmp_path / "clone" / "handbook", home=tmp_path / "elsewhere").codebase.search("token budget")
    assert [(e.id, e.score) for e in first.evidence] == [(e.id, e.score) for e in second.evidence]


def test_the_same_text_twice_in_a_file_has_two_ids(repo, engine):
    """Ids of evidence are distinct even for twins."""
    twin = "def twin():\n    return 1\n"
    made = repo("twins", {"a.py": f"if X:\n    pass\n\n\n{twin}\n\n{twin}"})
    ids = [e.id for e in engine(made).codebase.search("twin", k=9).evidence]
    assert len(ids) == len(set(ids)) >= 2


def test_crlf_and_unicode_lines_are_exact(repo, engine):
    """Line ends and wide characters shift nothing."""
    text = "# ünïcödé 😀\r\nx = 'é'\r\n\r\n\r\ndef zażółć():\r\n    return '日本'\r\n"
    made = repo("crlf", {"a.py": text})
    (hit,) = [e for e in engine(made).codebase.search("zażółć", k=9).evidence if "zażółć" in e.symbols]
    assert hit.start_line == 5
    assert hit.snippet.splitlines() == ["def zażółć():", "    return '日本'"]


@pytest.mark.parametrize("ranker", ["bm25f", "dense"])
def test_a_selective_filter_is_the_full_ranking_restricted(codebase, ranker):
    """A filter drops what it drops and changes nothing else: not the order, not the scores, not how many are found."""
    every = codebase.search("open the network socket", k=1000, ranker=ranker).evidence
    some = codebase.search("open the network socket", k=5, ranker=ranker, languages=["javascript"]).evidence
    expected = [e for e in every if e.language == "javascript"][:5]
    assert [(e.id, e.score) for e in some] == [(e.id, e.score) for e in expected]


@pytest.mark.parametrize("ranker", ["default", "rrf", "bm25f", "dense"])
@pytest.mark.parametrize(
    "narrowed",
    [{"languages": ["go"]}, {"paths": ["src/rare.go"]}, {"exclude": ["*.py", "*.js"]}, {"symbol": "OpenSocket", "paths": ["*.go"]},
     {"pattern": r"func \w+\(\) error"}],
    ids=["language", "path", "exclude", "symbol", "pattern"],
)  # fmt: skip
def test_the_one_file_a_filter_leaves_is_found(codebase, ranker, narrowed):
    """However many better answers a filter drops, what it leaves is found with k = 1."""
    answer = codebase.search("open the network socket", k=1, ranker=ranker, **narrowed)
    assert [e.path for e in answer.evidence] == ["src/rare.go"]


def test_filters_hold_together(codebase):
    """Several filters are all obeyed."""
    answer = codebase.search(
        "socket", k=100, languages=["py"], paths=["src/mod1*"], exclude=["src/mod11.py"], kind="code"
    )
    assert {e.path for e in answer.evidence} == {f"src/mod1{n}.py" for n in range(10) if n != 1}


def test_kinds_choose_what_files_are_for(repo, engine):
    """`code`, `test`, `doc` and `config` name disjoint parts of a repository."""
    codebase = engine(repo()).codebase
    found = {kind: {e.path for e in codebase.search("token budget handbook", k=50, kind=kind).evidence} for kind in
             ("code", "test", "doc", "config")}  # fmt: skip
    assert found["test"] == {"tests/test_budget.py"}
    assert found["doc"] == {"README.md"}
    assert found["config"] == {"pyproject.toml"}
    assert "src/budget.py" in found["code"]


def test_a_file_that_says_a_program_wrote_it_comes_after_code(repo, engine):
    """The kind follows the content: an edit that drops the comment makes the file product code again."""
    text = "class Basket:\n    def add_item(self, basket, item):\n        return basket.items.append(item)\n"
    head = "# Generated by a tool. Do not edit.\n"
    made = repo("shop", {"client/made.py": head + text, "shop/own.py": text.replace("Basket", "Cart")})
    codebase = engine(made).codebase

    def kinds():
        return [(e.path, e.file_kind) for e in codebase.search("add an item to the basket", k=2).evidence]

    assert kinds() == [("shop/own.py", "product"), ("client/made.py", "generated")]
    assert codebase.open("client/made.py:1").file_kind == "generated"
    assert [file.file_kind for file in codebase.files()[0]] == ["generated", "product"]
    made.write("client/made.py", text)
    assert ("client/made.py", "product") in kinds()


@pytest.mark.parametrize(
    ("task", "is_found"),
    [
        ("Add a LoginPurchase grpc service for accounts", True),
        ("ajoute LoginPurchase au service grpc des accounts", True),
        ("Add retries to the LoginPurchase grpc service", False),
        ("where is LoginPurchase refunded", False),
        ("where do accounts create LoginPurchase", False),
    ],
)
def test_a_name_that_is_to_be_made_is_not_missed(repo, engine, task, is_found):
    """Code like the one that is asked for is shown; a name that code is said to have already is not found."""
    service = "class {0}GrpcService:\n    def get_{1}(self, request):\n        return self.{1}.find(request.account)\n"
    files = {f"grpc/{name}.py": service.format(name.title(), name) for name in ("keys", "profiles", "calls")}
    filler = {f"web/page{n}.py": f"def draw{n}(canvas):\n    return canvas.line({n})\n" for n in range(30)}
    answer = engine(repo("app", files | filler), embedder="static").codebase.search(task)
    assert bool(answer.evidence) is is_found, answer
    assert "LoginPurchase" in answer.reason


def test_a_pattern_narrows_and_the_meaning_ranks(repo, engine):
    """Every result holds a line that begins a match of the pattern."""
    codebase = engine(repo()).codebase
    answer = codebase.search("retry attempts", k=50, pattern=r"^\s*def \w+\(")
    assert answer.evidence[0].path == "src/net/retry.py"
    assert all("def " in e.snippet for e in answer.evidence)


def test_a_pattern_that_matches_nothing_says_so(codebase):
    """The reason names the filter that left nothing."""
    answer = codebase.search("socket", pattern="no such text")
    assert answer.verdict is Verdict.NOT_FOUND
    assert "regex no such text" in answer.reason
    assert answer.searched == 0


def test_a_path_below_the_top_narrows_the_search(repo, engine):
    """An engine opened on a directory answers from there only, not from directories of the same name elsewhere."""
    made = repo("app", {"src/a.py": "def where():\n    pass\n", "lib/src/b.py": "def where():\n    pass\n"})
    codebase = engine(made.path / "src").codebase
    assert {e.path for e in codebase.search("where", k=9).evidence} == {"src/a.py"}
    assert {e.path for e in codebase.symbol("where").evidence} == {"src/a.py"}


def test_a_path_with_brackets_is_taken_as_it_is(repo, engine):
    """Directories named like globs (Next.js routes) can be named, to open and to filter."""
    made = repo(
        "web",
        {"app/[slug]/page.tsx": "export function Page() { return 1 }\n", "app/s/page.tsx": "export const x = 1\n"},
    )
    for answer in (
        engine(made.path / "app" / "[slug]").codebase.search("Page", k=9),
        engine(made).codebase.search("Page", k=9, paths=["app/[slug]/page.tsx"]),
        engine(made).codebase.search("Page", k=9, paths=["app/[slug]"]),
    ):
        assert {e.path for e in answer.evidence} == {"app/[slug]/page.tsx"}


def test_repositories_do_not_leak_into_each_other(repo, engine):
    """Scope `repo` answers from the first, named repositories from those, `repos` from all that are open."""
    one = repo("one", {"a.py": "def connect():\n    '''Open a connection.'''\n"})
    two = repo("two", {"a.py": "def connect():\n    '''Open a connection.'''\n", "b.py": "def connect_again(): ...\n"})
    codebase = engine(one, two).codebase

    def found(**narrowed):
        return {e.repo for e in codebase.search("open a connection", **narrowed).evidence}

    assert found() == found(scope="repos") == {"one", "two"}
    assert found(scope="repo") == found(repos=["one"]) == {"one"}
    assert found(repos=["two"]) == {"two"}
    assert {e.repo for e in codebase.symbol("connect", repo="two").evidence} == {"two"}


def test_scope_all_reaches_every_index_once(repo, engine):
    """`all` finds repositories that are indexed but not open, each once, and only those that still exist."""
    one, two = repo("one", {"a.py": "def connect(): ...\n"}), repo("two", {"b.py": "def connect(): ...\n"})
    repo("never", {"c.py": "def connect(): ...\n"})
    engine(two).codebase.index()
    codebase = engine(one).codebase
    for _ in range(2):
        assert sorted(e.id.split(":")[0] for e in codebase.search("connect", scope="all").evidence) == ["one", "two"]
    assert {e.repo for e in codebase.search("connect").evidence} == {"one"}


def test_repositories_of_one_name_are_told_apart(repo, engine, make_repo, tmp_path):
    """Two repositories called alike get different names, so that an id names one thing."""
    sample = {"a.py": "def connect(): ...\n"}
    several = [make_repo(tmp_path / a / b / "app", sample) for a in "xy" for b in ("same", "other")]
    opened = engine(*several)
    assert len({root.name for root in opened.roots}) == 4
    assert len({e.id for e in opened.codebase.search("connect").evidence}) == 4


def test_scope_all_tells_repositories_of_one_name_apart(engine, make_repo, tmp_path):
    """A repository that is not open does not take the name of one that is."""
    first, second = (make_repo(tmp_path / a / "app", {"a.py": "def connect(): ...\n"}) for a in "xy")
    engine(second).codebase.index()
    answer = engine(first).codebase.search("connect", scope="all")
    assert len(answer.evidence) == len({e.id for e in answer.evidence}) == 2


def test_an_old_commit_is_searched_as_it_was(repo, engine):
    """`commit` answers from that revision: old code found, new code not, ids and labels of that commit."""
    made = repo()
    old = made.git("rev-parse", "HEAD")
    made.git("mv", "src/budget.py", "src/tokens.py")
    made.write("src/tokens.py", "def fresh_start():\n    pass\n")
    made.commit()
    codebase = engine(made).codebase
    evidence = codebase.search("split the token budget", commit="HEAD~1").evidence
    assert evidence[0].path == "src/budget.py"
    assert {(e.commit, e.id.split(":")[1], e.freshness) for e in evidence} == {(old, old, Freshness.FRESH)}
    assert all(e.path != "src/budget.py" for e in codebase.search("split the token budget").evidence)


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_question_is_refused(codebase, text):
    """There is nothing to look for in an empty question, and the error says what to give."""
    with pytest.raises(UsageError, match="empty"):
        codebase.search(text)


@pytest.mark.parametrize("text", ["?!,;", "()[]{}", "...", "\0", "😀", "-- ==>"])
def test_a_question_of_punctuation_is_answered(codebase, text):
    """Nothing is found, for a reason, and nothing breaks."""
    answer = codebase.search(text)
    assert answer.verdict is Verdict.NOT_FOUND
    assert "no words" in answer.reason


@pytest.mark.parametrize("text", ["socket " * 15_000, "x" * 100_000, "open_" * 20_000, "日本" * 50_000])
def test_a_question_of_100_kb_is_answered(codebase, text):
    """A very long question (an issue with its log) is read as far as is useful."""
    assert codebase.search(text).query == text


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"languages": ["pyton"]}, "did you mean 'python'"), ({"kind": "codes"}, "codes.*code, test"), ({"scope": "world"}, "world"),
     ({"ranker": "magic"}, "magic.*rrf"), ({"k": 0}, "k is 0"), ({"pattern": "("}, "regular expression"),
     ({"repos": ["elsewhere"]}, "elsewhere.*many")],
)  # fmt: skip
def test_a_wrong_argument_is_named(codebase, arguments, named):
    """Each wrong argument is refused by name, with what would be right."""
    with pytest.raises(UsageError, match=named):
        codebase.search("socket", **arguments)


def test_an_unknown_revision_is_named(codebase):
    """Searching a revision that does not exist says which."""
    with pytest.raises(GitError, match="v9"):
        codebase.search("socket", commit="v9")


def test_answers_of_one_state_are_equal(codebase):
    """The same question gives the same answer, ties and all."""
    assert codebase.search("socket", k=50) == codebase.search("socket", k=50)


def test_the_symbol_filter_takes_qualified_names(repo, engine):
    """`Class.method` is where that class defines it, and nowhere else."""
    text = "class {0}:\n    def again(self):\n        '''Go to where it was moved.'''\n        return 1\n"
    code = engine(repo("app", {"a.py": text.format("A"), "b.py": text.format("B")})).codebase
    assert {hit.path for hit in code.search("where it was moved", symbol="again").evidence} == {"a.py", "b.py"}
    assert {hit.path for hit in code.search("where it was moved", symbol="B.again").evidence} == {"b.py"}
    assert {hit.path for hit in code.search("where it was moved", symbol="a.A.again").evidence} == {"a.py"}
    assert not code.search("where it was moved", symbol="C.again")


SENDERS = """class {0}:
    '''A {0}.'''

    def __init__(self, start, end):
        '''Fly from start to end, whatever the weather.'''
        self.start = start
        self.end = end
        self.letters = []
        self.weather = None

    def send(self, letter):
        '''Send a letter.'''
        if self.weather == "storm":
            raise ValueError("no way")
        self.letters.append(letter)
        return {0}.way(self.start, self.end, letter)
"""


@pytest.mark.parametrize(
    ("asked", "path"), [("Pigeon.send", "b.py"), ("Courier::send", "a.py"), ("how does Pigeon.send work", "b.py")]
)
def test_a_qualified_name_is_what_it_says(repo, engine, asked, path):
    """Of several declarations of a name, the one whose class is named comes first, and is the one definition."""
    code = engine(repo("post", {"a.py": SENDERS.format("Courier"), "b.py": SENDERS.format("Pigeon")})).codebase
    answer = code.search(asked)
    best = answer.evidence[0]
    assert best.path == path
    assert answer.verdict is Verdict.RESOLVED


def test_of_many_declarations_of_a_name_the_one_that_is_meant_is_found(repo, engine):
    """Also where so many have it that not all are read: by its class, by its module, and by its package's folder."""
    files = {f"bird{n}.py": SENDERS.format(f"Bird{n}") for n in range(FEW_ROWS + 8)}
    code = engine(repo("post", files | {"nest/eggs.py": "def send(letter):\n    return letter\n"})).codebase
    for symbol, path in (("Bird7.send", "bird7.py"), ("bird9.Bird9.send", "bird9.py"), ("nest.send", "nest/eggs.py")):
        assert {hit.path for hit in code.search("send a letter", symbol=symbol).evidence} == {path}
        assert code.search(symbol).evidence[0].path == path
    assert not code.search("send a letter", symbol="Fish.send")


def test_a_qualifier_that_nothing_has_leaves_the_name(repo, engine):
    """`pigeon.send` is a call on a variable: what declares `send` is what may be meant."""
    code = engine(repo("post", {"a.py": SENDERS.format("Courier"), "b.py": SENDERS.format("Pigeon")})).codebase
    answer = code.search("letterbox.send")
    assert {hit.path for hit in answer.evidence[:2]} == {"a.py", "b.py"}
    assert answer.verdict is Verdict.AMBIGUOUS


@pytest.mark.parametrize(
    "asked", ["Pigeon.frobnicate", "Pigeon::frobnicate", "pigeon.Pigeon.frobnicate", "Pigeon.sendd"]
)
def test_a_member_that_is_not_there_is_not_found(repo, engine, asked):
    """That the class and a file of its name are there does not make up for it."""
    code = engine(repo("post", {"pigeon.py": SENDERS.format("Pigeon"), "a.py": SENDERS.format("Courier")})).codebase
    answer = code.search(asked)
    assert (answer.verdict, answer.evidence) == (Verdict.NOT_FOUND, ())
    assert asked in answer.reason


def test_a_file_is_found_by_its_name(repo, engine):
    """What a path holds is known, though no text may say it."""
    code = engine(repo("post", {"pigeon.py": SENDERS.format("Pigeon"), "a.py": SENDERS.format("Courier")})).codebase
    answer = code.search("pigeon.py")
    assert answer.verdict is not Verdict.NOT_FOUND
    assert (answer.evidence[0].path, answer.reason) == ("pigeon.py", "")


@pytest.mark.parametrize(
    "path",
    ["packages/mail/send-letter.ts", "`./packages/mail/send-letter.ts`", "/home/me/app/packages/mail/send-letter.ts"],
)
def test_a_file_is_found_by_its_path_before_what_names_it(repo, engine, path):
    """Also with hyphens, and with the folders of another machine; a page that lists files says the path more often."""
    page = "# Files to change\n\n" + "- packages/mail/send-letter.ts: send the letter of the mail packages\n" * 5
    text = "export const send = (letter: string) => {\n  return post(letter);\n};\n"
    code = engine(
        repo("app", {"packages/mail/send-letter.ts": text, "plans/mail.md": page}), embedder="static"
    ).codebase
    answer = code.search(path)
    assert (answer.evidence[0].path, answer.reason) == ("packages/mail/send-letter.ts", "")


def test_a_package_shows_what_its_modules_declare(repo, engine):
    """`post.send` is the function that a module of the package declares, and no class's method."""
    files = {
        "src/post/birds.py": SENDERS.format("Pigeon"),
        "src/post/api.py": "def send(letter):\n    '''Send a letter.'''\n    return Pigeon(0, 1).send(letter)\n",
    }
    code = engine(repo("office", files)).codebase
    answer = code.search("post.send")
    assert (answer.evidence[0].path, answer.verdict) == ("src/post/api.py", Verdict.RESOLVED)
    assert {hit.path for hit in code.search("send a letter", symbol="post.send").evidence} == {"src/post/api.py"}


@pytest.mark.parametrize(
    ("place", "found"),
    [("src/n.py:2", "one"), ("n.py:8", "two"), ("./src/n.py:8:17", "two"), ("/home/me/app/src/n.py:13", "three"), ("--> src/n.py:13:1", "three"),
     ("src/n.py#L7-L9", "two"), ('File "/usr/lib/app/src/n.py", line 8', "two"),
     ('  File "/usr/lib/app/src/n.py", line 8, in <module>', "two"), ("at (src/n.py:2:3)", "one"),
     ("https://example.org/me/app/blob/main/src/n.py#L8", "two"), ("thread 'main' panicked at src/n.py:13:5:", "three"), ("/home/me/src/n.py:8 +0x2b", "two")],
)  # fmt: skip
def test_a_place_in_a_file_is_answered_by_what_stands_there(repo, engine, place, found):
    """As compilers, traces and people write it; the folders above may be those of another machine."""
    text = "\n\n".join(
        f"def {name}(n):\n    '''Count to {name}.'''\n    return n + {name!r} * 3\n" for name in ("one", "two", "three")
    )
    code = engine(repo("app", {"src/n.py": text, "b/one.py": "n = 8\n"}), embedder="static").codebase
    pieces = [(piece.start_line, piece.end_line) for piece in code.chunks("src/n.py")]
    answer = code.search(place)
    assert found in answer.evidence[0].symbols
    assert (answer.verdict, answer.evidence[0].path) == (Verdict.RESOLVED, "src/n.py"), pieces


COUNTED = "def {0}(n):\n    '''Count to {0}.'''\n    return n + {0!r} * 3\n"


@pytest.mark.parametrize(
    "pointing",
    ['Traceback (most recent call last):\n  File "/usr/lib/app/src/n.py", line 8, in two\n    return n',
     "See https://example.org/me/app/blob/0a1b2c/src/n.py#L7-L8 for it.", "panic:\n\t/home/me/app/src/n.py:8 +0x2b",
     "#0 /var/app/src/n.py(8): two()", r"in C:\app\src\n.py:8"],
)  # fmt: skip
def test_an_issue_that_points_at_lines_is_answered_by_them(repo, engine, pointing):
    """A link to a line, or a frame of a trace, leads to its function, whatever else the issue talks about."""
    text = "\n\n".join(map(COUNTED.format, ("one", "two", "three")))
    other = COUNTED.format("crash") + "\n\n" + COUNTED.format("wrong")
    code = engine(repo("app", {"src/n.py": text, "lib/crash.py": other}), embedder="static").codebase
    issue = "It counts wrong, then a crash\n\nCount to crash, and it is wrong.\n"
    assert "two" not in code.search(issue, joined=False).evidence[0].symbols
    assert code.search(f"{issue}\n{pointing}\n", joined=False).evidence[0].symbols == ("two",)


def test_a_place_is_known_in_each_of_several_repositories(repo, engine):
    """A trace of one leads there, whichever is searched beside it."""
    names = (("one", "two"), ("three", "four"), ("five", "six"))
    several = [repo(f"app{n}", {f"src{n}/n.py": "\n\n".join(map(COUNTED.format, own))}) for n, own in enumerate(names)]
    code = engine(*several, embedder="static").codebase
    for n, (_, second) in enumerate(names):
        answer = code.search(f"It counts wrong\n\n#0 /var/src{n}/n.py(7): run()\n", joined=False)
        assert answer.evidence[0].symbols == (second,)


def test_a_trace_of_another_version_leads_to_the_function_it_names(repo, engine):
    """Its lines have moved since, and the function kept its name."""
    text = "\n\n".join(map(COUNTED.format, ("one", "two", "three")))
    code = engine(repo("app", {"src/n.py": text}), embedder="static").codebase
    answer = code.search('It is slow\n\n  File "/usr/lib/app/src/n.py", line 2, in three\n', joined=False)
    assert answer.evidence[0].symbols == ("three",)


def test_a_path_that_several_files_end_with_points_at_none(repo, engine):
    """A name alone that many packages have says nothing of which is meant; and a filter holds for what is pointed at too."""
    files = {f"{name}/views.py": COUNTED.format(name) for name in ("one", "two", "three")}
    code = engine(repo("app", files), embedder="static").codebase
    issue = "Count to three\n\nIt ends in {}:1 and then stops\n"
    assert code.search(issue.format("views.py"), joined=False).evidence[0].path == "three/views.py"
    assert code.search(issue.format("two/views.py"), joined=False).evidence[0].path == "two/views.py"
    assert code.search(issue.format("two/views.py"), paths=["three/*"]).evidence[0].path == "three/views.py"


REDEEMED = '''\
class Till:
    def check(self, account, code):
        """Refuse what is spent."""
        if code in account.used:
            self.count += 1
            raise ValueError(f"voucher {code} of the account was redeemed before")
        return self.open(account)
'''
REDEEM = '''\
def account_voucher_redeemed(voucher, account):
    """Say when the account redeemed the voucher, before the account of the voucher was redeemed."""
    return account.redeemed(voucher)
'''


@pytest.mark.parametrize(
    "message",
    ["voucher of the account was redeemed before", "Voucher A-17 of the account was redeemed before.",
     "ValueError: voucher 3 of the account was redeemed before\n\nI redeem a voucher, and the account has it twice."],
)  # fmt: skip
def test_a_message_is_found_where_it_is_written(repo, engine, message):
    """Whatever value stands in it, and however much other code is about its words."""
    code = engine(repo("shop", {"lib/till.py": REDEEMED, "lib/account.py": REDEEM}), embedder="static").codebase
    assert code.search(message, joined=False).evidence[0].path == "lib/till.py"
    elsewhere = code.search("when was a voucher of an account redeemed", joined=False).evidence[0]
    assert elsewhere.path == "lib/account.py"


SPENT = """\
class VoucherSpent(Exception):
    pass


def refuse(voucher):
    raise VoucherSpent("spent voucher refused")
"""
SPEND = """\
def refused(voucher):
    '''Say whether the voucher is refused: what is spent is refused, a voucher too.'''
    return voucher.spent == {0}
"""


@pytest.mark.parametrize("message", ["spent voucher refused", "Error: spent voucher refused"])
def test_a_short_message_is_found_among_much_code_with_all_its_words(repo, engine, message):
    """It stands alone in quotes, where other code has its words in another order."""
    files = {f"lib/a{n}.py": SPEND.format(n) for n in range(16)}
    files |= {f"lib/count{n}.py": COUNTED.format(f"n{n}") for n in range(60)}
    code = engine(repo("shop", files | {"lib/z.py": SPENT}), embedder="static").codebase
    assert code.search(message, joined=False).evidence[0].path == "lib/z.py"


WRAPPED = "Fatal: voucher 3 of the account was redeemed before: open /srv/vouchers/3: no such file or directory"


@pytest.mark.parametrize("message", [WRAPPED, "cannot sell: voucher of the account was redeemed before: no sale today"])
def test_code_that_writes_a_message_comes_before_a_page_that_quotes_it(repo, engine, message):
    """The page holds all of it with its values, the code one of its parts; what wraps it may be written elsewhere."""
    page = f"# Vouchers\n\nA till without the account of a voucher says:\n\n    {message}\n"
    files = {"lib/till.py": REDEEMED, "lib/account.py": REDEEM, "docs/vouchers.md": page}
    code = engine(repo("shop", files), embedder="static").codebase
    found = [item.path for item in code.search(message, joined=False).evidence]
    assert found[0] == "lib/till.py"
    assert "docs/vouchers.md" in found
    asked = code.search(f"which documentation says: {message}", joined=False).evidence[0]
    assert asked.path == "docs/vouchers.md"


def test_a_message_is_found_in_each_of_several_repositories(repo, engine):
    """Rows of one are not taken for those of another, and a filter holds."""
    ends = ("ago", "before", "twice")
    several = [
        repo(f"shop{n}", {f"src/{n}.py": REDEEMED.replace("before", end), "b.py": REDEEM}) for n, end in enumerate(ends)
    ]
    code = engine(*several, embedder="static").codebase
    for n, end in enumerate(ends):
        answer = code.search(f"voucher 8 of the account was redeemed {end}", joined=False)
        assert answer.evidence[0].path == f"src/{n}.py"
    narrowed = code.search("voucher 8 of the account was redeemed twice", paths=["b.py"]).evidence
    assert {item.path for item in narrowed} == {"b.py"}


@pytest.mark.parametrize("text", ["10.0.0.1:8080", "src/gone.py:2", "n.py: 2 and more"])
def test_what_is_no_place_is_a_question(repo, engine, text):
    """A port is no line, and a file that is not there has none."""
    code = engine(repo("app", {"src/n.py": "def one():\n    return 1\n"})).codebase
    assert code.search(text).verdict is not Verdict.RESOLVED


def test_a_line_past_the_end_asks_for_the_file(repo, engine):
    """It may have been longer when the trace was written."""
    code = engine(repo("app", {"src/n.py": "def one():\n    return 1\n"})).codebase
    answer = code.search("src/n.py:900")
    assert (answer.verdict, answer.evidence[0].path) == (Verdict.LIKELY, "src/n.py")


@pytest.mark.parametrize("asked", ["(*Pigeon).Send", "post.(*Pigeon).Send", "example.org/my-post/post.(*Pigeon).Send"])
def test_a_method_is_found_as_go_writes_it(repo, engine, asked):
    """In its own documentation, and in every trace."""
    text = "package post\n\ntype {0} struct{{}}\n\n// Send sends by {0}.\nfunc (p *{0}) Send() error {{\n\treturn nil\n}}\n"
    code = engine(repo("post", {f"{name.lower()}.go": text.format(name) for name in ("Courier", "Pigeon")})).codebase
    answer = code.search(asked)
    assert (answer.verdict, answer.evidence[0].path) == (Verdict.RESOLVED, "pigeon.go")


def test_what_declares_a_name_comes_before_what_is_like_it(repo, engine):
    """Whatever else speaks for the others: an answer that is `resolved` by one definition begins with it."""
    near = "\n\n".join(
        f"def get_request_{n}(self, request):\n    '''Get the request of self.'''\n    return self.request\n"
        for n in range(9)
    )
    files = {"src/request.py": near, "tests/fixtures/tree.py": "class Trees:\n    def get(self):\n        return 1\n"}
    code = engine(repo("app", files), embedder="static").codebase
    answer = code.search("self.request.get")
    assert (answer.verdict, answer.evidence[0].path) == (Verdict.RESOLVED, "tests/fixtures/tree.py")


@pytest.mark.parametrize(
    "asked", ["Loft<Vec<u8>>::send", "Loft::<u8>::send()", "loft.rs::Loft::send", "src/loft.rs::Loft::send"]
)
def test_a_name_is_found_with_what_its_types_take_and_with_its_file(repo, engine, asked):
    """As signatures and traces write it, and as test runners write a test."""
    text = "pub struct {0}<T> {{ kept: T }}\n\nimpl<T> {0}<T> {{\n    pub fn send(&self) -> usize {{\n        1\n    }}\n}}\n"
    code = engine(repo("post", {f"src/{name.lower()}.rs": text.format(name) for name in ("Loft", "Pigeon")})).codebase
    assert [item.path for item in code.symbol(asked).evidence] == ["src/loft.rs"]
    answer = code.search(asked)
    assert (answer.verdict, answer.evidence[0].path) == (Verdict.RESOLVED, "src/loft.rs")


def test_a_class_comes_before_its_constructors(repo, engine):
    """A class's name means the class, also where a constructor stands in a file of its own."""
    java = "package jam;\n\n/** Fills jars. */\npublic class JarFiller {\n    private int size;\n\n"
    java += "    public JarFiller(int size) {\n        this.size = size;\n        JarFiller.check(size);\n    }\n\n"
    java += "    static void check(int size) {\n        System.out.println(size);\n    }\n}\n"
    header = "class LidPress {\npublic:\n  LidPress(int force);\n  void press();\n\nprivate:\n  int force_;\n};\n"
    source = '#include "lid.h"\n\nLidPress::LidPress(int force) : force_(force) {\n  press();\n}\n'
    source += "\nvoid LidPress::press() {\n  force_ += 1;\n}\n"
    found = engine(repo("presses", {"JarFiller.java": java, "lid.h": header, "lid.cpp": source})).codebase
    firsts = [found.search(name).evidence[0] for name in ("JarFiller", "LidPress")]
    assert [(each.path, each.kind) for each in firsts] == [("JarFiller.java", "class"), ("lid.h", "class")]
    assert found.symbol("JarFiller.check").evidence[0].kind == "method"


_POLLERS = """class _poll:

    def poll(self, timeout):
        \"\"\"Poll what is registered with _poll, and return the events of each.\"\"\"
        try:
            events = self._poll.poll(timeout if timeout is not None else -1)
        except OSError as problem:
            if problem.errno != errno.EINTR:
                raise
            return []
        return [(handle, READ) for handle, event in events if event & POLLIN]

    def register(self, handle, events):
        \"\"\"Register a handle with _poll, for reading, for writing, or for both.\"\"\"
        handle = fileno(handle)
        flags = 0
        if events & READ:
            flags |= POLLIN
        if events & WRITE:
            flags |= POLLOUT
        self._poll.register(handle, flags)
        return handle
"""
_POLLED = """class Channel:
    def _poll(self, cycle, callback, timeout=None):
        \"\"\"Poll a list of queues for messages, with _poll.\"\"\"
        return cycle.get(callback)
"""


def test_a_bare_name_leads_to_its_type_then_to_methods_of_that_name(repo, engine):
    """A class whose head is one line comes before all that say its name more often."""
    codebase = engine(repo("wires", {"channel.py": _POLLED, "pollers.py": _POLLERS}), embedder="static").codebase
    found = [e.symbols[-1] for e in codebase.search("_poll", joined=False).evidence]
    assert found[:2] == ["_poll", "Channel._poll"]


FRENCH = """\
{
  "account.password": "Mot de passe de l'utilisateur du compte",
  "voucher.spent": "Ce bon du compte a déjà été utilisé hier"
}
"""
TRANSLATIONS = ("web/locales/fr.json", "src/messages_fr.properties", "app/res/values-fr/strings.xml")


@pytest.mark.parametrize("path", TRANSLATIONS)
def test_a_translation_answers_only_for_what_it_says(repo, engine, path):
    """A question in its language is of the code; the text that somebody saw on a page stands in it."""
    code = engine(repo("shop", {"lib/till.py": REDEEMED, "lib/a.py": REDEEM, path: FRENCH}), embedder="static").codebase
    answer = code.search("où est vérifié le mot de passe de l'utilisateur ?")
    assert path not in [item.path for item in answer.evidence]
    assert answer.verdict is Verdict.NOT_FOUND
    assert f"{path} is a translation" in answer.reason
    assert code.search("Ce bon du compte a déjà été utilisé").evidence[0].path == path
    assert code.search("mot de passe de l'utilisateur", kind="config").evidence[0].path == path
    assert code.search("mot de passe de l'utilisateur", paths=[path]).evidence[0].path == path


def test_a_changelog_comes_after_the_code_it_is_about(repo, engine):
    """A page of news says what was changed in the question's words; it is first where news are asked for."""
    news = (
        "# Changelog\n\n## Bug fixes\n\n- Fix the till to refuse a spent voucher with uppercase letters in its code\n"
    )
    files = {"CHANGELOG.md": news, "lib/spent.py": SPENT, "lib/account.py": REDEEM}
    code = engine(repo("shop", files), embedder="static").codebase
    found = [item.path for item in code.search("refuse a spent voucher with uppercase letters").evidence]
    assert found[0] == "lib/spent.py"
    assert "CHANGELOG.md" in found
    asked = code.search("which release refused a spent voucher with uppercase letters").evidence[0]
    assert asked.path == "CHANGELOG.md"

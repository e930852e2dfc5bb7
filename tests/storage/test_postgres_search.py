"""Searching in the server: the same scores as over arrays, exact under filters, and what it goes without is said."""

from __future__ import annotations

import shutil

import numpy as np
import psycopg
import pytest

from handbook import SAMPLE
from vademecum.engine import Engine
from vademecum.errors import AccessError, ConfigError, ConsentError, StoreAwayError, UsageError
from vademecum.index.bm25 import CODE, bm25f, term_keys
from vademecum.index.query import plan_query
from vademecum.mcp.registry import TOOLS
from vademecum.plugins import load
from vademecum.storage.postgres import searcher as server_side
from vademecum.storage.postgres.searcher import PostgresSearch
from vademecum.storage.postgres.store import PostgresStore
from vademecum.types import Bm25f, Freshness, Passage, Scope

pytestmark = pytest.mark.once

QUESTIONS = (
    "how is the token budget split",
    "retry with backoff",
    "parse a log line",
    "budget budget handbook",
    "zebra",
)


@pytest.fixture
def on(engine, tmp_path):
    """Open an engine on a database: `on(url, repo)`."""

    def make(url, *made, home="one", **options):
        return engine(*made, home=tmp_path / home, storage__provider="postgres", storage__url=url, **options)

    return make


def scores(view, plan):
    """Return the embedded BM25F of each piece by path and first line."""
    found = bm25f(CODE, view.segments, None, view.norms, term_keys(plan.terms + plan.joined), len(plan.terms))
    rows = [(view.files.paths[view.row_file[row]], int(view.ordinals([row])[0])) for row in range(len(view))]
    return {
        place: float(found.score[chunk])
        for place, chunk in zip(rows, view.row_chunk, strict=True)
        if found.score[chunk]
    }


def asked(url, plan, scope=Scope(), k=100):  # noqa: B008 - frozen
    terms = term_keys(plan.terms + plan.joined).view(np.int64).tolist()
    return PostgresSearch(url).words(terms, scope, k, Bm25f(CODE.k1, CODE.weights, CODE.b)).unwrap()


@pytest.mark.parametrize("server", ["database", "system_database", "full_database"])
def test_words_are_scored_as_they_are_over_arrays(repo, on, server, request):
    """BM25F in SQL gives each piece the score that the arrays give it, in the same order."""
    url, made = request.getfixturevalue(server), repo()
    engine = on(url, made)
    engine.codebase.index()
    view = engine.codebase._repositories[0][0].catalogue.load("worktree", str(made.path))[1]
    for question in QUESTIONS:
        plan = plan_query(question)
        expected, found = scores(view, plan), asked(url, plan)
        assert {(hit.path, hit.ordinal): pytest.approx(hit.score, rel=1e-4) for hit in found} == expected
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


@pytest.mark.parametrize("looked", [0, 1, 10])
def test_the_best_are_the_best_of_all_however_few_are_looked_at_first(repo, on, database, monkeypatch, looked):
    """What could still be among them is looked at as well; under filters too, and where many are worth the same."""
    files = {f"src/copy{n}.py": f"def split(total):\n    return total // {n}\n" for n in range(1, 30)}
    files |= {
        f"lib/go{n}.go": f"package lib\n\nfunc Split{n}(total int) int {{ return total / {n} }}\n" for n in range(9)
    }
    engine = on(database, repo("many", SAMPLE | files))
    engine.codebase.index()
    scopes = (
        Scope(),
        Scope(languages=("go",)),
        Scope(exclude=(r"src/",)),
        Scope(paths=(r"lib/",)),
        Scope(symbol="split"),
    )
    for question in (*QUESTIONS, "split the total", "return total"):
        for scope in scopes:
            whole = asked(database, plan_query(question), scope, 1000)
            with monkeypatch.context() as patched:
                patched.setattr(server_side, "LOOKED_AT", looked)
                for k in (1, 3, 12):
                    assert asked(database, plan_query(question), scope, k) == whole[:k]


def test_meaning_is_ranked_as_over_arrays(repo, on, database):
    """Cosines of the same vectors, rounded to 16 bits; by the graph as one by one."""
    made = repo()
    engine = on(database, made)
    engine.codebase.index()
    embedder = load("embedder", "hashing")
    from vademecum.types import Passage

    vector = embedder.embed([Passage("split the token budget")], "query").unwrap()[0]
    exact = PostgresSearch(database).near(vector, embedder.name, Scope(), 50).unwrap()
    view = engine.codebase._repositories[0][0].catalogue.load("worktree", str(made.path))[1]
    whole = view.segments[0].vectors * view.segments[0].scales[:, None]
    expected = sorted((whole @ vector).tolist(), reverse=True)
    assert [hit.score for hit in exact] == pytest.approx(expected, abs=2e-3)
    plan = _plan_of_the_graph(database, vector, embedder.name)
    assert "derived_embeddings_" in plan, "the statement is one that the graph answers"


def _plan_of_the_graph(url, vector, embedder):
    from vademecum.storage.postgres.searcher import as_text

    with psycopg.connect(url) as connection:
        connection.execute("SET enable_seqscan = off; SET enable_sort = off")
        values = server_side._values(Scope()) | {"vector": as_text(vector), "embedder": embedder, "k": 5}
        rows = connection.execute("EXPLAIN " + server_side._graph(Scope(), len(vector)), values).fetchall()
        return "\n".join(line for (line,) in rows)


def test_the_graph_finds_what_comparing_one_by_one_finds(repo, on, database, monkeypatch):
    """With a filter too: it is read on until enough passed."""
    words = [
        "walk",
        "read",
        "write",
        "close",
        "open",
        "parse",
        "split",
        "merge",
        "count",
        "order",
        "fetch",
        "store",
        "index",
        "query",
        "token",
    ]
    files = {
        f"m{n}.py": f"def {words[n % 15]}_{words[n // 15 % 15]}():\n    '''{words[n % 7]} the {words[n % 11]} {n}.'''\n"
        for n in range(300)
    }
    engine = on(database, repo("steps", files))
    engine.codebase.index()
    from vademecum.types import Passage

    embedder = load("embedder", "hashing")
    vector = embedder.embed([Passage("merge the parsed tokens")], "query").unwrap()[0]
    server = PostgresSearch(database)
    for scope in (Scope(), Scope(exclude=(r"m[0-9]\.py",))):
        one_by_one = server.near(vector, embedder.name, scope, 10).unwrap()
        with monkeypatch.context() as patched:
            patched.setattr(server_side, "EXACT_BELOW", 0)
            by_graph = server.near(vector, embedder.name, scope, 10).unwrap()
        assert len(by_graph) == 10
        assert sum(hit.score >= one_by_one[-1].score - 1e-6 for hit in by_graph) >= 9, "whichever of those that tie"


def test_a_search_needs_neither_checkout_nor_arrays(repo, on, database, tmp_path):
    """What two repositories hold is found from a machine that has neither, by words, by name and with filters."""
    app, lib = (
        repo(),
        repo("lib", {"lib/log.go": "package lib\n\n// ParseLog reads a log.\nfunc ParseLog() int { return 1 }\n"}),
    )
    app.git("remote", "add", "origin", "git@example.org:team/app.git")
    lib.git("remote", "add", "origin", "https://example.org/team/lib")
    for made in (app, lib):
        on(database, made).codebase.index(commit="HEAD")
    other = on(database, repo("empty", {}), home="two")

    def found(question, **options):
        answer = other.codebase.search(question, scope="shared", **options)
        return answer, [(item.repo, item.path) for item in answer.evidence]

    answer, places = found("how is the token budget split")
    assert places[0] == ("app", "src/budget.py")
    assert any("def split" in item.snippet for item in answer.evidence)
    assert answer.evidence[0].commit == app.git("rev-parse", "HEAD")
    assert answer.probability > 0.5
    assert found("ParseLog")[1][0] == ("lib", "lib/log.go")
    assert str(found("ParseLog")[0].verdict) == "resolved"
    assert found("ParseLog", repos=["app"])[0].verdict == "not_found"
    assert {place[0] for place in found("log", languages=["go"])[1]} == {"lib"}
    assert {place[1] for place in found("token budget", kind="test")[1]} == {"tests/test_budget.py"}
    assert {place[1] for place in found("token budget", paths=["src/**/*.py", "web"])[1]} <= {
        "src/budget.py",
        "src/net/retry.py",
    }
    assert "src/budget.py" not in {place[1] for place in found("token budget", exclude=["src"])[1]}
    assert {place[1] for place in found("the budget", symbol="split")[1]} == {"src/budget.py"}
    assert found("zebra crossing")[0].verdict == "not_found"
    with pytest.raises(UsageError, match="regular expression"):
        found("token", pattern="t.k")
    assert not list((tmp_path / "two").rglob("segment-*"))


@pytest.mark.parametrize("embedder", ["hashing", "static"])
def test_an_answer_is_the_same_as_over_arrays(repo, on, database, embedder):
    """The server finds the candidates; their order, scores and probability are those of any search."""
    engine = on(database, repo(), embedder=embedder)
    engine.codebase.index(commit="HEAD")
    issue = "Split the token budget\n\nThe rest is lost, see `Budget.split`.\n"
    for question in (*QUESTIONS, issue, "Budget.split", "retry_with_backoff"):
        for more in ({}, {"kind": "code"}):
            shared = engine.codebase.search(question, scope="shared", **more)
            local = engine.codebase.search(question, commit="HEAD", joined=False, **more)
            assert (shared.verdict, shared.probability) == (local.verdict, pytest.approx(local.probability, rel=1e-4))
            assert [(item.path, item.start_line, pytest.approx(item.score, abs=1e-4)) for item in shared.evidence] == [
                (item.path, item.start_line, item.score) for item in local.evidence
            ]


def test_several_databases_are_searched_as_one(repo, on, database, full_database):
    """Two servers answer together, with what a single one would say; a name that both know is of two repositories."""
    app = repo()
    lib = repo("lib", {"lib/log.go": "package lib\n\n// ParseLog reads a log.\nfunc ParseLog() int { return 1 }\n"})
    on(database, app).codebase.index(commit="HEAD")
    on(full_database, lib, app, home="two").codebase.index_all()
    both = on(database, app, storage__more_urls=full_database)
    for question in ("ParseLog", "how is the token budget split"):
        answer = both.codebase.search(question, scope="shared")
        whole = on(full_database, app, home="two").codebase.search(question, scope="shared")
        assert (answer.evidence[0].repo, answer.evidence[0].path) == (whole.evidence[0].repo, whole.evidence[0].path)
        assert answer.verdict == whole.verdict
    assert len([item for item in answer.evidence if item.path == "src/budget.py"]) == 4, "two pieces of each repository"
    lost = on(database, app, storage__more_urls="postgresql://127.0.0.1:9/none", home="three")
    with pytest.raises(StoreAwayError, match=r"127\.0\.0\.1:9"):
        lost.codebase.search("ParseLog", scope="shared")
    with pytest.raises(ConfigError, match="more_urls must be addresses") as refused:
        on(database, app, storage__more_urls="host=db password=hunter2", home="five").codebase.search(
            "x", scope="shared"
        )
    assert "hunter2" not in str(refused.value)
    with pytest.raises(ConsentError, match="allow_remote"):
        on(database, app, storage__more_urls="postgresql://db.example.org/code", home="four").codebase.search(
            "ParseLog", scope="shared"
        )


def test_the_newest_commit_is_what_is_searched(repo, on, database):
    """Not the one before it, and not somebody's worktree."""
    made = repo()
    engine = on(database, made)
    engine.codebase.index(commit="HEAD")
    made.write("src/budget.py", "def fresh_name():\n    return 'a new way'\n")
    engine.codebase.index()
    assert not engine.codebase.search("fresh_name", scope="shared").evidence
    made.commit()
    engine.codebase.index(commit="HEAD")
    assert engine.codebase.search("fresh_name", scope="shared").evidence[0].path == "src/budget.py"
    assert engine.codebase.search("Budget.split", scope="shared").verdict != "resolved"


def test_publishing_goes_on_where_it_was_and_forgets_what_is_gone(repo, on, database):
    """Nothing is published twice, a full run publishes anew, and what no content holds is dropped."""
    made = repo()
    engine = on(database, made)
    engine.codebase.index()

    def counts():
        with psycopg.connect(database) as connection:
            tables = ("search_documents", "search_postings", "derived_embeddings")
            return [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]

    before = counts()
    assert all(before)
    engine.codebase.index()
    assert counts() == before
    engine.codebase.index(full=True)
    assert counts() == before
    for path in ("src/budget.py", "src/net/retry.py", "web/log.ts", "README.md", "pyproject.toml"):
        (made.path / path).unlink()
    engine.codebase.index()
    engine.codebase.gc()
    engine.codebase.index(full=True)
    assert all(0 < now < then for now, then in zip(counts(), before, strict=True))


def test_another_embedder_gets_vectors_of_its_own(repo, on, database):
    """Those of the first stay; words are not published again."""
    made = repo()
    on(database, made).codebase.index()
    on(database, made, embedder="hashing:128", home="two").codebase.index(full=False)
    with psycopg.connect(database) as connection:
        rows = connection.execute("SELECT embedder, count(*) FROM derived_embeddings GROUP BY 1 ORDER BY 1").fetchall()
        assert len(rows) == 2
        assert rows[0][1] == rows[1][1]


def test_a_server_without_pgvector_says_so(repo, on, system_database):
    """It finds by words and by names, also those that are spelled nearly so."""
    engine = on(system_database, repo())
    engine.codebase.index()
    answer = engine.codebase.search("how is the token budget split", scope="shared")
    assert answer.evidence[0].path == "src/budget.py"
    with psycopg.connect(system_database) as connection:
        has = connection.execute("SELECT count(*) FROM pg_extension WHERE extname = 'vector'").fetchone() == (1,)
    assert has or "no pgvector" in answer.reason
    server = PostgresSearch(system_database)
    exact = server.named(["retry_with_backoff"], Scope(), 5).unwrap()
    assert (exact[0].path, exact[0].score) == ("src/net/retry.py", 1.0)
    near = server.named(["retry_wth_backof"], Scope(), 5).unwrap()
    assert near[0].path == "src/net/retry.py"
    assert 0.4 <= near[0].score < 1
    assert server.named(["net/retri"], Scope(), 5).unwrap()[0].path == "src/net/retry.py", "paths are looked at too"


def test_spaces_are_not_mixed_up_with_memories(repo, on, database):
    """A search of code never looks at what was said."""
    engine = on(database, repo())
    engine.codebase.index()
    engine.memory.record("The zebra crossing is closed.")
    assert not engine.codebase.search("zebra crossing", scope="shared").evidence
    assert len(PostgresStore.spaces(database, "memory:")) == 2


def test_a_piece_without_a_word_is_near_to_nothing(repo, on, database):
    """Its vector is all zeros, and stands behind whatever is nearer, not before it; so does everything for a question of none."""
    made = repo(
        "plain", {"a.py": "def split_budget():\n    return 1\n", "b.txt": "+ - * / = ()\n" * 3, "c.txt": "!!! ???\n"}
    )
    engine = on(database, made)
    engine.codebase.index()
    embedder = engine.codebase._repositories[0][0].embedder()
    server = PostgresSearch(database)
    [vector] = embedder.embed([Passage("split the budget")], "query").unwrap()
    hits = server.near(vector, embedder.name, Scope(), 10).unwrap()
    assert hits[0].path == "a.py"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True), "numbers all of them"
    assert len(hits) >= 2
    assert {hit.score for hit in hits if hit.path == "c.txt"} == {0.0}
    nothing = server.near(np.zeros_like(vector), embedder.name, Scope(), 10).unwrap()
    assert {hit.score for hit in nothing} == {0.0}


def test_a_server_with_all_extensions_ranks_by_words_meaning_and_spelling(repo, on, full_database):
    """One question is answered by all three, and nothing is said to be missing."""
    engine = on(full_database, repo())
    engine.codebase.index()
    answer = engine.codebase.search("retry_wth_backof", scope="shared")
    assert (answer.verdict, answer.nearest) == ("not_found", ("retry_with_backoff",)), "spelled nearly so"
    answer = engine.codebase.search("how is the token budget split", scope="shared")
    assert not answer.reason
    assert answer.evidence[0].path == "src/budget.py"
    assert min(answer.evidence[0].signals[name] for name in ("lexical", "dense")) > 0
    with psycopg.connect(full_database) as connection:
        rows = connection.execute("SELECT extname FROM pg_extension WHERE extname IN ('vector', 'pg_trgm')").fetchall()
    assert len(rows) == 2


def test_the_server_is_asked_where_the_setting_says_so(repo, on, database):
    """A question with what the server does not know goes to the open repository; asked of the server by name, it is refused."""
    app, lib = (
        repo(),
        repo("lib", {"log.go": "package lib\n\n// ParseLog reads a log.\nfunc ParseLog() int { return 1 }\n"}),
    )
    on(database, lib).codebase.index(commit="HEAD")
    engine = on(database, app, search__scope="shared")
    engine.codebase.index()
    assert engine.scope() == "shared"
    assert engine.scope("[a-z]+", "", ()) == engine.scope("", "HEAD") == engine.scope("", "", ("backlog",)) == "repos"
    assert on(database, app).scope() == "repos"
    for more in ({"commit": "HEAD"}, {"sources": ["all"]}):
        with pytest.raises(UsageError, match="searches neither commits nor sources"):
            engine.codebase.search("budget", scope="shared", **more)
    found = TOOLS["search"].call(engine, {"query": "ParseLog"})
    assert "lib:log.go:" in found.text


def test_whoever_may_ask_about_some_repositories_is_not_answered_from_all(repo, on, database):
    """Neither by the setting nor by asking for it."""
    made = repo()
    settings = on(database, made, search__scope="shared").settings
    with Engine.open(made.path, settings=settings, personal=False) as engine:
        engine.codebase.index()
        assert engine.scope() == "repos"
        with pytest.raises(AccessError):
            engine.codebase.search("budget", scope="shared")


def test_a_worktree_of_this_machine_is_looked_at(repo, on, database, tmp_path):
    """It is fresh, edited or stale as its files are; one of another machine is stale."""
    made = repo()
    mine, other = on(database, made), on(database, repo("empty", {}), home="two")
    mine.codebase.index()

    def found(engine):
        answer = engine.codebase.search("split the token budget", scope="shared", paths=["src/budget.py"])
        return answer.evidence[0]

    assert found(mine).freshness is Freshness.FRESH
    assert found(mine).commit == mine.codebase.search("split the token budget").evidence[0].commit
    assert found(other).freshness is Freshness.STALE
    made.write("src/budget.py", "# moved down\n\n" + made.read("src/budget.py"))
    edited = found(mine)
    assert edited.freshness is Freshness.EDITED
    assert edited.commit.endswith("+edited")
    lines = made.read("src/budget.py").split("\n")
    assert edited.snippet == "\n".join(lines[edited.start_line - 1 : edited.end_line])
    made.write("src/budget.py", "")
    assert found(mine).freshness is Freshness.STALE
    shutil.rmtree(made.path)
    assert found(other).freshness is Freshness.STALE

"""Records in a store, vectors in an index outside: the same answers, whatever happened on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from needed import package
from vademecum.errors import ConfigError, ConsentError, EmbedError
from vademecum.matching import Filter, point_key
from vademecum.mcp.registry import TOOLS
from vademecum.plugins import load
from vademecum.result import Err
from vademecum.testing import CountingEmbedder, FixedClock, some_points
from vademecum.types import Passage

QUESTIONS = ["how is the token budget split", "call again after a pause", "parse a line of a log", "Budget", "handbook"]

LOCAL = [pytest.param(name, marks=pytest.mark.slow) for name in ("lancedb", "chroma")]  # the packages are large


@pytest.fixture
def kind(request):
    """The name of a provider whose package is here."""
    package({"qdrant": "qdrant_client", "chroma": "chromadb"}.get(request.param, request.param))
    return request.param


@pytest.fixture
def hybrid(engine, qdrant_server):
    """Open an engine whose vectors are on the Qdrant server."""

    def make(*places, **options):
        options = {"search__vectors": "qdrant", "qdrant__url": qdrant_server.url, "qdrant__timeout_s": 20.0} | options
        return engine(*places, **options)

    return make


def answers(opened, **filters):
    """Everything that is found for every question, in order."""
    return [
        [(e.id, e.start_line, pytest.approx(e.score, abs=0.02)) for e in opened.codebase.search(q, **filters).evidence]
        for q in QUESTIONS
    ]


FILTERS = [
    {},
    {"kind": "code"},
    {"languages": ["python"]},
    {"paths": ["src"]},
    {"exclude": ["*.md"]},
    {"symbol": "Budget"},
]


@pytest.mark.parametrize("filters", FILTERS)
def test_it_answers_as_the_arrays_do(repo, engine, hybrid, filters):
    """The same evidence, scores and order, by every filter."""
    here = repo()
    other = hybrid(here)
    assert answers(other, **filters) == answers(engine(here), **filters)
    assert not other.codebase.search(QUESTIONS[0], **filters).reason


def test_the_index_holds_everything_that_is_searched(repo, hybrid):
    """Full payload, by ids that are evidence ids."""
    here = repo()
    opened = hybrid(here)
    found = opened.codebase.search("split the token budget", joined=False)
    mirror = opened.codebase._repositories[0][0].dense.mirror
    [vector] = mirror._embedder().embed([Passage("split the token budget")], "query").unwrap()
    near = mirror.index().nearest(vector, 50, Filter()).unwrap()
    by_id = {each.payload.id: each.payload for each in near}
    for evidence in found.evidence:
        payload = by_id[evidence.id]
        for name in (
            "repo",
            "branch",
            "commit",
            "path",
            "language",
            "start_line",
            "end_line",
            "kind",
            "symbols",
            "file_kind",
        ):
            assert getattr(payload, name) == getattr(evidence, name), name
        assert payload.text.rstrip("\n") == evidence.snippet


def points_of(server):
    """Every point on the server: its path and how it begins."""
    return sorted(
        (record.payload["path"], record.payload["text"][:20])
        for collection in server.engine.get_collections().collections
        for record in server.engine.scroll(collection.name, limit=10_000)[0]
    )


def written(server):
    """How many points have been written by now."""
    return sum(len(body["points"]) for method, path, body in server.requests if method == "PUT" and "/points?" in path)


def test_an_edit_writes_one_file(repo, hybrid, qdrant_server):
    """And drops what that file was; going back to what was known writes nothing but it."""
    here = repo()
    opened = hybrid(here)
    opened.codebase.index()
    before, first = written(qdrant_server), points_of(qdrant_server)
    text = here.read("src/net/retry.py")
    here.write("src/net/retry.py", text.replace("attempts=3", "attempts=5"))
    opened.codebase.search("call again")
    assert 1 <= written(qdrant_server) - before <= 3
    assert {path for path, _ in points_of(qdrant_server)} == {path for path, _ in first}
    here.write("src/net/retry.py", text)
    opened.codebase.search("call again")
    assert points_of(qdrant_server) == first
    (here.path / "README.md").unlink()
    opened.codebase.search("call again")
    assert "README.md" not in {path for path, _ in points_of(qdrant_server)}


def aged(here):
    """The repository with files that were written a while ago: those of just now are read again, as they may still change."""
    for path in here.path.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return here


def test_nothing_is_written_where_nothing_changed(repo, hybrid, qdrant_server):
    """A search asks and writes nothing."""
    here = aged(repo())
    opened = hybrid(here)
    opened.codebase.search("token budget")
    before = len(qdrant_server.requests)
    hybrid(here).codebase.search("token budget")
    assert {path.partition("?")[0].rpartition("/")[2] for _, path, _ in qdrant_server.requests[before:]} <= {
        "exists", "query", qdrant_server.engine.get_collections().collections[0].name
    }  # fmt: skip


def test_commits_and_worktree_share_points(repo, hybrid, engine, qdrant_server):
    """A commit that differs in one file costs that file; searching it finds what it held, and nothing else."""
    here = repo()
    first = here.git("rev-parse", "HEAD")
    here.write("src/net/retry.py", "def never_again():\n    '''Give up at once, without a pause.'''\n")
    here.commit("give up")
    opened = hybrid(here)
    opened.codebase.index()
    before = written(qdrant_server)
    old = opened.codebase.search("call again after a pause", commit=first)
    assert "retry_with_backoff" in old.evidence[0].snippet
    assert not old.reason
    assert written(qdrant_server) - before <= 3
    new = opened.codebase.search("call again after a pause")
    assert not any("retry_with_backoff" in each.snippet for each in new.evidence)
    plain = engine(here)
    for commit in ("", first):
        assert answers(opened, commit=commit) == answers(plain, commit=commit)


def test_two_repositories_do_not_meet(repo, hybrid, qdrant_server):
    """Each has its own collection and alias, of the same name or not."""
    one, two = repo("one/app"), repo("two/app", {"a.py": "def alone():\n    '''Walk alone.'''\n"})
    opened = hybrid(one, two)
    found = opened.codebase.search("walk alone")
    assert found.evidence[0].path == "a.py"
    aliases = [alias.alias_name for alias in qdrant_server.engine.get_aliases().aliases]
    assert len(aliases) == 2
    assert all(alias.startswith("vademecum-app-") for alias in aliases)
    assert opened.codebase.search("token budget").evidence[0].path == "src/budget.py"


def test_a_server_that_is_down_costs_no_answer(repo, engine, qdrant_server, hybrid):
    """The arrays of this machine answer, the answer says so, and the next run brings the server up to date."""
    here = repo()
    nowhere = "http://127.0.0.1:9"
    opened = hybrid(here, qdrant__url=nowhere)
    report = opened.codebase.index()
    assert f"qdrant lacks 6 of 6 files: nothing answers at {nowhere}" in report.notes[0]
    answer = opened.codebase.search("token budget", refresh=False)
    assert answer.evidence == engine(here).codebase.search("token budget").evidence
    assert "meaning is from this machine's own vectors" in answer.reason
    assert "qdrant.url" in answer.reason
    missing = opened.codebase.search("zzzqqq xxyyzz")
    assert not missing
    assert nowhere in missing.reason


def test_a_server_that_fails_in_a_search_is_said_and_rested(repo, hybrid, qdrant_server):
    """One answer pays for it; those of the next half minute do not ask it, and then it is asked again."""
    clock = FixedClock()
    here = repo()
    opened = hybrid(here, clock=clock)
    opened.codebase.index()
    qdrant_server.faults.extend([500] * 10)
    answer = opened.codebase.search("token budget")
    assert answer.evidence[0].path == "src/budget.py"
    assert "answered with status 500" in answer.reason
    qdrant_server.faults.clear()
    before = len(qdrant_server.requests)
    assert "status 500" in opened.codebase.search("token budget").reason
    assert len(qdrant_server.requests) == before
    clock.now += 31
    assert not opened.codebase.search("token budget").reason
    assert len(qdrant_server.requests) > before


def test_consent_is_asked_before_anything_is_sent(repo, hybrid):
    """A server on another machine needs it, as any provider does."""
    here = repo()
    opened = hybrid(here, qdrant__url="http://192.0.2.1:6333")
    with pytest.raises(ConsentError, match="sends code to another machine"):
        opened.codebase.search("token budget")
    checks = {check.name: check for check in opened.codebase.doctor()}
    assert not checks["vectors"].ok
    assert "privacy.allow_remote" in checks["vectors"].detail


@pytest.mark.parametrize(
    "line", ['[search]\nvectors = "qdrant"\n', '[qdrant]\nurl = "http://192.0.2.1"\n', '[qdrant]\napi_key = "x"\n']
)
def test_a_repository_cannot_send_vectors_anywhere(repo, engine, line):
    """Its file is somebody else's input."""
    here = repo()
    here.write(".vade.toml", line)
    with pytest.raises(ConfigError, match="a repository's own file"):
        engine(here)


@pytest.mark.parametrize("kind", LOCAL, indirect=True)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_indexes_of_this_machine_answer_as_the_arrays_do(repo, engine, kind):
    """And a repository's own file may choose them; they lie beside the index, outside of the working tree."""
    here = repo()
    here.write(".vade.toml", f'[search]\nvectors = "{kind}"\n')
    opened, plain = engine(here), engine(here, search__vectors="exact")
    for filters in FILTERS:
        assert answers(opened, **filters) == answers(plain, **filters)
    assert not opened.codebase.search("token budget").reason
    directory = opened.codebase._repositories[0][0].catalogue.directory
    assert any((directory / kind).iterdir())
    assert all(check.ok for check in opened.codebase.doctor())


def doctor(opened, **options):
    """What it says of vectors."""
    return next(check for check in opened.codebase.doctor(**options) if check.name == "vectors")


def test_doctor_tells_drift_and_repairs_it(repo, hybrid, qdrant_server):
    """Points that somebody deleted come back, points that belong to nothing go."""
    here = repo()
    opened = hybrid(here)
    opened.codebase.index()
    whole = points_of(qdrant_server)
    assert doctor(opened).ok
    assert f"{len(whole)} points, all as they should be" in doctor(opened).detail
    index = opened.codebase._repositories[0][0].dense.mirror.index()
    index.delete(Filter(files=("src/budget.py",))).unwrap()
    [stray] = some_points(1, index.dim)
    index.upsert([stray]).unwrap()
    found = doctor(opened)
    assert not found.ok
    assert "points missing, 1 points that belong to nothing" in found.detail
    assert "--repair" in found.fix
    mended = doctor(opened, repair=True)
    assert mended.ok
    assert "mended" in mended.detail
    assert points_of(qdrant_server) == whole
    assert doctor(opened).ok


def test_doctor_brings_back_a_collection_that_is_gone(repo, hybrid, qdrant_server):
    """All of it, from this machine's own vectors: nothing is embedded again."""
    here = aged(repo())
    opened = hybrid(here)
    opened.codebase.index()
    whole = points_of(qdrant_server)
    [collection] = qdrant_server.engine.get_collections().collections
    qdrant_server.drop(collection.name, None)
    answer = opened.codebase.search("token budget")
    assert "`vade doctor --repair` writes what is missing" in answer.reason
    assert answer.evidence[0].path == "src/budget.py"
    fresh = hybrid(here)
    assert doctor(fresh, repair=True).ok
    assert points_of(qdrant_server) == whole
    assert not fresh.codebase.search("token budget").reason


def test_doctor_says_that_a_server_is_down(repo, hybrid):
    """And what to set."""
    found = doctor(hybrid(repo(), qdrant__url="http://127.0.0.1:9"))
    assert not found.ok
    assert "qdrant.url" in found.detail


def test_another_embedder_writes_beside_and_switches_at_the_end(repo, hybrid, qdrant_server):
    """What is searched by the alias is whole all the time; an interrupted writing goes on where it was."""
    here = repo()
    hybrid(here, embedder="hashing:64").codebase.index()
    old = qdrant_server.engine.get_aliases().aliases[0]
    whole = points_of(qdrant_server)
    opened = hybrid(here, embedder="hashing:128", clock=(clock := FixedClock()))
    qdrant_server.faults.extend(
        ["ok"] * 16 + [500] * 4
    )  # the collection is made, and then the first write fails for good
    report = opened.codebase.index()
    assert report.notes
    assert qdrant_server.engine.get_aliases().aliases[0] == old
    assert len(qdrant_server.engine.scroll(old.alias_name, limit=1000)[0]) == len(whole)
    clock.now += 31
    assert not opened.codebase.index().notes
    new = qdrant_server.engine.get_aliases().aliases[0]
    assert new.alias_name == old.alias_name
    assert "hashing" in new.collection_name
    assert new.collection_name != old.collection_name
    assert points_of(qdrant_server) == whole, "the old collection is gone"


def test_content_that_is_cut_anew_is_written_anew(repo, hybrid, qdrant_server):
    """As after an upgrade that reads a language better: no point of the old pieces stays."""
    here = repo()
    opened = hybrid(here)
    opened.codebase.index()
    whole = points_of(qdrant_server)
    before = written(qdrant_server)
    opened.codebase.index(full=True)
    assert written(qdrant_server) - before == len(whole)
    assert points_of(qdrant_server) == whole
    assert doctor(opened).ok


def test_clean_up_takes_points_along(repo, hybrid, qdrant_server, tmp_path):
    """What no snapshot names any more goes from the index too."""
    here = repo()
    here.git("worktree", "add", "-q", str(tmp_path / "side"), "-b", "side")
    side = tmp_path / "side"
    (side / "src/only_here.py").write_text("def only_here():\n    return 1\n")
    hybrid(side).codebase.index()
    opened = hybrid(here)
    opened.codebase.index()
    assert "src/only_here.py" in {path for path, _ in points_of(qdrant_server)}
    here.git("worktree", "remove", "--force", str(side))
    opened.codebase.gc()
    assert "src/only_here.py" not in {path for path, _ in points_of(qdrant_server)}
    assert doctor(opened).ok


@pytest.mark.parametrize("kind", ["qdrant", *LOCAL], indirect=True)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_any_name_of_a_file_is_found(repo, hybrid, engine, kind):
    """Quotes, brackets, spaces and other scripts are what they are, in filters too."""
    path = "it's [slug]/ça va 日本 \" OR 1=1 😀.py"
    files = {"a.py": "def first():\n    return 1\n", path: "def pour_coffee():\n    '''Pour coffee.'''\n"}
    here = repo("names", files)
    opened = hybrid(here, search__vectors=kind)
    assert answers(opened) == answers(engine(here))
    for filters in ({"paths": ["it's [slug]"]}, {"symbol": "pour_coffee"}):
        found = opened.codebase.search("pour some coffee", ranker="dense", **filters)
        assert [each.path for each in found.evidence] == [path]
        assert not found.reason


def test_the_wire_carries_the_whole_payload_and_words(repo, hybrid, qdrant_server):
    """Each point as the decision of a rich payload wants it, with a sparse vector beside the dense one."""
    hybrid(repo()).codebase.index()
    point = next(
        body["points"][0] for method, path, body in qdrant_server.requests if method == "PUT" and "/points?" in path
    )
    assert set(point["payload"]) >= {
        "repo", "branch", "commit", "path", "language", "start_line", "end_line", "kind", "symbols", "text"
    }  # fmt: skip
    assert set(point["vector"]) == {"dense", "words"}
    assert point["id"] == str(UUID(point["id"])) == point_key(point["payload"]["id"])


@pytest.mark.parametrize("kind", ["qdrant", *LOCAL], indirect=True)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_several_threads_search_at_once(repo, hybrid, engine, kind):
    """As those of a server do, from the first question on: one index is opened, and every answer is right."""
    here = repo()
    hybrid(here, search__vectors=kind).codebase.index()
    opened, plain = hybrid(here, search__vectors=kind), engine(here)
    expected = [answers(plain)] * 8
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: answers(opened), range(8))) == expected


@pytest.mark.slow
def test_two_processes_bring_it_up_to_date_at_once(repo, hybrid, qdrant_server, monkeypatch):
    """One does it, the other waits or answers from what is there; nothing is written twice over or left out."""
    here = repo()
    arguments = {
        "VADE_SEARCH__VECTORS": "qdrant",
        "VADE_QDRANT__URL": qdrant_server.url,
        "VADE_SEARCH__EMBEDDER": "hashing",
    }
    environ = os.environ | arguments | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "vademecum", "index", str(here.path)]
    running = [
        subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for process in running:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, out + err
    opened = hybrid(here)
    assert not opened.codebase.search("token budget").reason
    assert doctor(opened).ok
    assert len(qdrant_server.engine.get_collections().collections) == 1


def test_an_agent_is_told_what_is_missing(repo, hybrid):
    """The text that a tool answers with, and its data, say that the server did not answer."""
    outcome = TOOLS["search"].call(
        hybrid(repo(), qdrant__url="http://127.0.0.1:9"), {"query": "split the token budget"}
    )
    assert "src/budget.py" in outcome.text
    assert "qdrant lacks 6 of 6 files: nothing answers at http://127.0.0.1:9" in outcome.text
    assert "nothing answers" in outcome.data["reason"]


class _Slow(CountingEmbedder):
    """An embedder outside of the workers, which may be down."""

    down = False

    def embed(self, passages, kind):
        return Err(EmbedError("the model is away")) if self.down else super().embed(passages, kind)


def test_vectors_that_come_late_are_written_late(repo, hybrid, qdrant_server):
    """A file whose vectors were not made yet is lacking, not forgotten: it is written when they are."""
    here = repo()
    slow = _Slow(load("embedder", "hashing"))
    slow.down = True
    opened = hybrid(here, embedder=slow)
    report = opened.codebase.index()
    assert "qdrant lacks 6 of 6 files: their vectors are not made yet" in report.notes[0]
    assert points_of(qdrant_server) == []
    slow.down = False
    assert not opened.codebase.index().notes
    assert {path for path, _ in points_of(qdrant_server)} == set(here.git("ls-files").split("\n"))
    assert doctor(opened).ok
    made = slow.passages
    assert not opened.codebase.search("token budget").reason
    hybrid(here, embedder=slow).codebase.doctor(repair=True)
    assert slow.passages == made, "nothing is embedded to be written or repaired"


def test_records_in_postgresql_and_vectors_on_qdrant(repo, engine, hybrid, database, tmp_path):
    """The same answers as over the arrays, by a ledger in the database; drift is mended."""
    here = repo()
    one = hybrid(here, home=tmp_path / "one", storage__provider="postgres", storage__url=database)
    assert answers(one) == answers(engine(here, home=tmp_path / "plain"))
    assert not one.codebase.search("token budget").reason
    index = one.codebase._repositories[0][0].dense.mirror.index()
    index.delete(Filter(files=("src/budget.py",))).unwrap()
    assert not doctor(one).ok
    assert doctor(one, repair=True).ok
    assert doctor(one).ok


def test_two_homes_on_one_database_have_one_collection_between_them(repo, hybrid, database, qdrant_server, tmp_path):
    """Whatever the clones' directories are called: each point is there once, and neither home undoes what the other wrote."""
    first, second = repo("app"), repo("another-name")
    records = {"storage__provider": "postgres", "storage__url": database}
    for made in (first, second):
        made.git("remote", "add", "origin", "https://example.org/team/app.git")
    one = hybrid(first, home=tmp_path / "one", **records)
    one.codebase.index(commit="HEAD")
    once = points_of(qdrant_server)
    two = hybrid(second, home=tmp_path / "two", **records)
    two.codebase.index(commit="HEAD")
    assert points_of(qdrant_server) == once
    before = written(qdrant_server)
    for opened in (one, two, one):
        opened.codebase.index(commit="HEAD")
        assert not opened.codebase.search("token budget", refresh=False).reason
    assert written(qdrant_server) == before, "nobody writes what is there"
    assert doctor(one).ok
    assert doctor(two).ok
    assert len(qdrant_server.engine.get_collections().collections) == 1


def test_an_embedder_that_is_down_takes_nothing_along(repo, hybrid):
    """How long its vectors are is not known, so nothing is written; words answer, and everything else is done and told."""
    down = {"embedder": None, "search__embedder": "ollama:tiny", "embedding__ollama_url": "http://127.0.0.1:1"}
    opened = hybrid(repo(), **down)
    report = opened.codebase.index()
    assert report.files
    assert "nothing answers at http://127.0.0.1:1" in " ".join(report.notes)
    answer = opened.codebase.search("split the token budget")
    assert answer.evidence[0].path == "src/budget.py"
    assert "ranked by words alone" in answer.reason
    checks = {check.name: check for check in opened.codebase.doctor()}
    assert checks["index"].ok
    assert not checks["vectors"].ok
    assert "nothing answers" in checks["vectors"].detail
    assert opened.codebase.gc().blobs == 0

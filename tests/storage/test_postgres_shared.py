"""Code, memory and tools over PostgreSQL: the same answers as over files, and several machines on one database."""

from __future__ import annotations

import json
import shutil

import pytest

from vademecum.errors import ConfigError, ConsentError, StoreBusyError
from vademecum.memory.records import Role
from vademecum.storage.postgres.store import PostgresStore
from vademecum.testing import CountingEmbedder, FixedClock

QUESTIONS = (
    "how is the token budget split",
    "retry with backoff",
    "parseLogLine",
    "LogReader.readAll",
    "no such thing here",
)
TOOLS = [
    {"name": "read_file", "description": "Read a file", "inputSchema": {"type": "object"}},
    {"name": "send_mail", "description": "Send a letter to somebody", "inputSchema": {"type": "object"}},
]


@pytest.fixture
def on(engine, database):
    """Open an engine on the database, as from a machine of its own: `on(repo, tmp_path / "one")`."""

    def make(made, home, **options):
        return engine(made, home=home, storage__provider="postgres", storage__url=database, **options)

    return make


def answers(engine):
    """Everything that is asked of code."""
    found = [engine.codebase.search(question) for question in QUESTIONS]
    found += [engine.codebase.symbol("retry_with_backoff"), engine.codebase.symbol("budget")]
    graph = [engine.codebase.callers("split"), engine.codebase.callees("readAll"), engine.codebase.impact("Budget")]
    return found, graph, engine.context("split the token budget", 2000).text


def test_code_is_answered_as_it_is_over_files(repo, engine, on, tmp_path):
    """Searches, symbols, the graph and contexts, field by field; also after an edit, and of a commit."""
    made = repo()
    here, shared = engine(made, home=tmp_path / "files"), on(made, tmp_path / "one")
    assert here.codebase.index().added == shared.codebase.index().added
    assert answers(shared) == answers(here)
    made.write("src/budget.py", made.read("src/budget.py").replace("split", "divide"))
    assert answers(shared) == answers(here)
    before = [each.codebase.search("split", commit="HEAD") for each in (here, shared)]
    assert before[0] == before[1]
    assert before[0].evidence
    assert [check.ok for check in shared.codebase.doctor()] == [check.ok for check in here.codebase.doctor()]
    made.write("src/budget.py", "")
    assert here.codebase.gc().chunks == shared.codebase.gc().chunks
    assert answers(shared) == answers(here)


def remembered(engine, clock):
    """What memory says after a small conversation."""
    memory = engine.memory
    memory.record("We decided to use PostgreSQL for the queue, because workers share it.", role=Role.USER, session="s1")
    clock.now += 60
    memory.record("I prefer tabs over spaces. Always run the tests before a commit.", role=Role.USER, session="s1")
    odd = memory.record(
        "\x00 and \x10 are kept", role=Role.USER, session="s2", metadata={"long": "x" * 5000, "nul": "\0"}
    )
    clock.now += 60
    memory.record("We decided to use Redis for the queue.", role=Role.USER, session="s2")
    found = [memory.recall(question) for question in ("what does the queue use", "tabs or spaces", "kept", "weather")]
    found.append(memory.recall("kept", metadata={"long": "x" * 5000}))
    kept = [memory.facts(), memory.facts(past=True), memory.preferences(), list(memory.export())]
    assert memory.get(odd.ids[0]).metadata == {"long": "x" * 5000, "nul": "\0"}
    memory.delete(odd.ids[0])
    return found, kept, memory.events()


def test_memory_is_the_same_as_over_files(repo, engine, on, tmp_path):
    """What was said, what was drawn from it, and what took its place."""
    made, clocks = repo(), (FixedClock(), FixedClock())
    here = engine(made, home=tmp_path / "files", clock=clocks[0])
    shared = on(made, tmp_path / "one", clock=clocks[1])
    assert remembered(shared, clocks[1]) == remembered(here, clocks[0])


def test_cached_preferences_follow_what_another_machine_records(repo, on, tmp_path):
    """Each machine caches them, and the database's version of them says whether the copy still holds."""
    made = repo()
    made.git("remote", "add", "origin", "https://example.org/team/app")
    one, two = (on(made, tmp_path / name, storage__owner="ruth").memory for name in ("one", "two"))
    one.record("I prefer tabs over spaces.", role=Role.USER)
    assert "tabs" in two.build_memory_context("s", "hello")
    two.record("I prefer spaces over tabs now.", role=Role.USER)
    assert [fact.text for fact in one.preferences()] == [fact.text for fact in two.preferences()]
    assert "spaces over tabs" in one.build_memory_context("s", "hello")
    while facts := two.preferences():  # an older one holds again, where the newer is forgotten
        two.forget(facts[0].id)
        assert [fact.text for fact in one.preferences()] == [fact.text for fact in two.preferences()]


def used(engine, clock):
    """What is said of tools after some were registered and used."""
    tools = engine.tools
    registered = tools.register_json(json.dumps({"tools": TOOLS}), server="desk")
    trace = {"intent": "write to somebody", "calls": [{"tool": "desk/read_file"}, {"tool": "desk/send_mail"}]}
    observed = tools.observe_json("\n".join(json.dumps(trace | {"id": f"t{n}"}) for n in range(3)))
    clock.now += 5
    return (
        registered,
        observed,
        tools.search("send a letter"),
        tools.predict("write to somebody", after=["desk/read_file"]),
    )


def test_tools_are_the_same_as_over_files(repo, engine, on, tmp_path):
    """What was registered and observed, what fits, what comes next."""
    made, clocks = repo(), (FixedClock(), FixedClock())
    here = engine(made, home=tmp_path / "files", clock=clocks[0])
    shared = on(made, tmp_path / "one", clock=clocks[1])
    assert used(shared, clocks[1]) == used(here, clocks[0])


def test_a_derived_file_that_is_gone_is_brought_back(repo, on, tmp_path, open_engine, database):
    """A machine whose files were deleted searches as before, and embeds nothing."""
    made = repo()
    one = on(made, tmp_path / "one")
    before = answers(one)
    one.close()
    for path in (tmp_path / "one" / "repos").rglob("*.safetensors"):
        path.unlink()
    from vademecum.plugins import load

    counting = CountingEmbedder(load("embedder", "hashing"))
    again = on(made, tmp_path / "one", embedder=counting)
    assert answers(again) == before
    assert counting.passages == 0


def test_another_machine_searches_what_this_one_indexed(repo, on, tmp_path, make_repo):
    """A clone elsewhere finds the contents in the database: nothing is parsed or embedded again, and each keeps its edits."""
    made = repo()
    clone = make_repo(tmp_path / "clone", {}, git=False)
    shutil.rmtree(clone.path)
    made.git("clone", "-q", str(made.path), str(clone.path))
    made.git("remote", "add", "origin", str(made.path))  # so that both are clones of the same
    from vademecum.plugins import load

    counting = CountingEmbedder(load("embedder", "hashing"))
    one = on(made, tmp_path / "one")
    first = one.codebase.index()
    assert first.added == 6
    other = on(clone, tmp_path / "two", embedder=counting)
    report = other.codebase.index()
    assert (report.files, report.added) == (first.files, 0)
    assert counting.passages == 0
    clone.write("src/budget.py", "def divide(total):\n    return total // 2\n")
    assert [item.path for item in other.codebase.symbol("divide").evidence] == ["src/budget.py"]
    assert one.codebase.symbol("divide").evidence == ()
    assert [status.files for status in one.codebase.status()] == [first.files]
    one.codebase.gc()  # which knows nothing of the other's directories, and leaves what it has
    assert other.codebase.symbol("divide", refresh=False).evidence
    assert other.codebase.search("divide", scope="all").evidence[0].repo == "clone"


def test_two_machines_with_one_path_have_a_worktree_each(repo, on, tmp_path):
    """Containers often have the same path; what one of them has there is not what the other has."""
    made = repo()
    one, two = on(made, tmp_path / "one"), on(made, tmp_path / "two")
    one.codebase.index()
    made.write("src/new.py", "def fresh():\n    return 1\n")
    two.codebase.index()
    assert two.codebase.symbol("fresh", refresh=False).evidence
    assert not one.codebase.symbol("fresh", refresh=False).evidence


def test_a_snapshot_never_names_what_another_machine_dropped(repo, on, tmp_path, database):
    """A clean-up elsewhere between storing and naming is noticed, and the next run puts it right."""
    made = repo()
    made.write("again.py", "AGAIN = 1\n")
    on(made, tmp_path / "one").codebase.index()
    (made.path / "again.py").unlink()
    on(made, tmp_path / "one").codebase.index()
    made.write("again.py", "AGAIN = 1\n")
    made.write("other.py", "OTHER = 1\n")

    def swept(stage: str, *_: int) -> None:
        if stage == "storing":  # it was asked before which contents are there
            for space in PostgresStore.spaces(database, "code:"):
                store = PostgresStore(database, space)
                named = {blob for (blob,) in store.scan("files", [], ("blob",)).unwrap()}
                left = [blob for (blob,) in store.scan("blobs", [], ("id",)).unwrap() if blob not in named]
                store.delete("blobs", [("id", "in", left)]).unwrap()

    with pytest.raises(StoreBusyError, match="run `vade index` again"):
        on(made, tmp_path / "one").codebase.index(swept)
    assert on(made, tmp_path / "one").codebase.search("split the token budget").evidence


@pytest.mark.parametrize("host", ["db.example.org", "127.0.0.1.example.org", "localhost,db.example.org"])
def test_a_database_elsewhere_needs_consent(repo, engine, tmp_path, host):
    """An address that is not this machine's is refused unless somebody agreed; nothing is asked of it."""
    with pytest.raises(ConsentError, match="allow_remote"):
        engine(repo(), home=tmp_path, storage__provider="postgres", storage__url=f"postgresql://{host}/code")


def test_a_database_without_an_address_is_named(repo, engine, tmp_path):
    """The message says which variable to set."""
    with pytest.raises(ConfigError, match="VADE_STORAGE__URL"):
        engine(repo(), home=tmp_path, storage__provider="postgres")


def test_a_repository_cannot_choose_a_database(repo, engine):
    """Its own file may not say where data is kept."""
    made = repo()
    made.write(".vade.toml", '[storage]\nprovider = "postgres"\n')
    with pytest.raises(ConfigError, match=r"storage\.provider"):
        engine(made)

"""A graph made by a worker while the index is stored is the one that is made of the index."""

from __future__ import annotations

import os
import subprocess
from itertools import islice

import pytest

from vademecum.codebase.child import Child
from vademecum.codebase.graph import build, records
from vademecum.codebase.graph.ahead import Ahead
from vademecum.codebase.graph.terms import Tier
from vademecum.result import Ok

BODY = "    total = sum(range(n))\n" * 40
FILES = {
    **{
        f"pkg/m{n}.py": f"from pkg.m{(n + 1) % 160} import Step{(n + 1) % 160}\n\n\nclass Step{n}:\n    def run_{n}(self, n):\n{BODY}"
        f"        return Step{(n + 1) % 160}().run_{(n + 1) % 160}(n)\n\n\ndef use_{n}(step):\n{BODY}{BODY}    return step.run_{n}(1)\n"
        for n in range(160)
    },
    "tsconfig.json": '{"extends": "./base/settings.json"}',
    "base/settings.json": '{"compilerOptions": {"baseUrl": "..", "paths": {"@/*": ["web/*"]}}}',
    "web/a.ts": "import { shown } from '@/b';\nexport function page() { return shown(); }\n",
    "web/b.ts": "export function shown() { return 1; }\n",
    "README.md": "# Steps\n\n`Step7.run_7` runs; see [the first](pkg/m0.py).\n",
}


@pytest.fixture
def taken(monkeypatch):
    """What was taken of the graphs made ahead, one for each index."""
    found = []

    class Watched(Ahead):
        def take(self, files):
            found.append(super().take(files))
            return found[-1]

    monkeypatch.setattr("vademecum.codebase.graph.ahead.Ahead", Watched)
    return found


def graph(engine):
    """Every edge, by name, and what each file consulted."""
    made = engine.codebase.graph()
    names = {node.id: (node.path, node.qualified) for node in made.every()}
    edges = {(names[e.source], e.relation, names[e.target], e.tier, e.line) for e in made.every_edge(tuple(Tier))}
    store, own = made.opened.repo.catalogue.store, [("snapshot", "=", made.opened.snapshot.id)]
    rows = store.scan("resolved", own, ("path", "consulted", "unresolved")).unwrap()
    return edges, {(path, frozenset(consulted.split("\n")), unresolved) for path, consulted, unresolved in rows}


def helpers():
    """Return the worker processes of this one that are running: new ones, or copies of this one."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=False).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    own = next(args for pid, _, args in rows if int(pid) == os.getpid())
    return [args for _, parent, args in rows if int(parent) == os.getpid() and (args == own or "serve()" in args)]


def test_a_worker_makes_the_same_graph(repo, engine, tmp_path, taken):
    """Node for node and edge for edge, with what was consulted; and an edit goes on from there."""
    alone = engine(repo("alone", FILES), index__workers=1)
    alone.codebase.index()
    helped = engine(repo("helped", FILES), index__workers=2)
    helped.codebase.index()
    assert taken[0] is None
    assert taken[1] is not None
    assert helpers() == []
    assert graph(helped) == graph(alone)
    assert "page" in [each.name for each in helped.codebase.callers("shown").found]
    for place in (alone, helped):
        root = place.codebase.graph().opened.repo.root.path
        with open(os.path.join(root, "pkg", "m3.py"), "a", encoding="utf-8") as file:
            file.write("\n\ndef late():\n    return Step3().run_3(2)\n")
        place.codebase.index()
    assert taken[2:] == []  # what is kept is brought up to date, and nothing is made ahead
    assert graph(helped) == graph(alone)


@pytest.mark.parametrize(("parts", "asked_again"), [(0, True), (1, True), (2, False)])
def test_a_worker_that_dies_costs_nothing_but_time(repo, engine, taken, monkeypatch, parts, asked_again):
    """The graph is made here then, also where a part of it was kept already, after which nobody asks what was made ahead."""
    ask = Child.ask_in_parts

    def dies(self, question):
        yield from islice(ask(self, question), parts)
        self.stop()
        raise EOFError

    whole = engine(repo("whole", FILES), index__workers=1)
    whole.codebase.index()
    monkeypatch.setattr(Child, "ask_in_parts", dies)
    found = engine(repo("left", FILES), index__workers=2)
    found.codebase.index()
    assert [rows is None for rows in taken] == [True, False, *([True] if asked_again else [])]
    assert helpers() == []
    assert graph(found) == graph(whole)


@pytest.mark.parametrize("kept", [1, 2, 4])
def test_a_kill_between_two_parts_leaves_no_graph(repo, engine, monkeypatch, kept):
    """What was kept of one counts for nothing: the next one who asks makes it."""
    whole = engine(repo("whole", FILES), index__workers=1)
    whole.codebase.index()
    killed = engine(repo("killed", FILES), index__workers=2)
    write, written = records.Records._write, []

    def stops(self, rows):
        if len(written) == kept:
            raise KeyboardInterrupt
        written.append(rows)
        write(self, rows)

    with monkeypatch.context() as patched:
        patched.setattr(records.Records, "_write", stops)
        with pytest.raises(KeyboardInterrupt):
            killed.codebase.index()
    assert helpers() == []
    store = killed.codebase._repositories[0][0].catalogue.store
    assert [state.partition(" ")[0] for (state,) in store.scan("graphs", (), ("tree_hash",)).unwrap()] == ["unfinished"]
    assert graph(killed) == graph(whole)


def test_two_that_keep_a_graph_part_by_part_do_not_mix(repo, engine, monkeypatch):
    """The second one begins anew; the first one gives way, and finds the graph made."""
    whole = engine(repo("whole", FILES), index__workers=1)
    whole.codebase.index()
    first = engine(repo("both", FILES), index__workers=2)
    come, others = Ahead._coming, []

    def coming(self):
        for number, part in enumerate(come(self)):
            if number == 3:
                others.append(graph(first))  # another one who asks, of the same index
            yield part

    monkeypatch.setattr(Ahead, "_coming", coming)
    first.codebase.index()
    assert [*others, graph(first)] == [graph(whole)] * 2


def test_rows_of_other_files_are_not_taken(repo, engine, taken, monkeypatch):
    """Where the snapshot is another than the one that was analysed, its graph is made of what it holds."""
    keys = build.content_keys
    monkeypatch.setattr(build, "content_keys", lambda view: {**keys(view), "more.py": ("0" * 40, "python")})
    found = engine(repo("other", FILES), index__workers=2)
    found.codebase.index()
    assert taken == [None]
    assert helpers() == []
    assert "page" in [each.name for each in found.codebase.callers("shown").found]


def test_a_failure_between_leaves_no_worker(repo, engine, monkeypatch):
    """The worker ends with the run that began it."""

    def full(*_args, **_options):
        raise OSError("disk full")

    monkeypatch.setattr("vademecum.codebase.index.commit_snapshot", full)
    broken = engine(repo("broken", FILES), index__workers=2)
    with pytest.raises(OSError, match="disk full"):
        broken.codebase.index()
    assert helpers() == []


def test_a_large_repository_is_linked_after_it_is_stored(repo, engine, taken, monkeypatch):
    """What would have to be held meanwhile has a bound."""
    monkeypatch.setattr("vademecum.codebase.graph.ahead.MOST_AHEAD", 100_000)
    found = engine(repo("large", FILES), index__workers=2)
    found.codebase.index()
    assert taken == [None]
    assert "page" in [each.name for each in found.codebase.callers("shown").found]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_search_does_not_wait_for_what_a_graph_needs(repo, engine, processes):
    """What files refer to is found when a graph is first asked for, and the graph is the same; a context has it found at once."""
    whole = engine(repo("whole", FILES), index__workers=1)
    whole.codebase.index()
    searched = engine(repo("searched", FILES), index__workers=processes)
    assert searched.codebase.search("run a step").evidence
    kept = searched.codebase._repositories[0][0].catalogue.store
    assert kept.count("mentions") == Ok(0)
    assert graph(searched) == graph(whole)
    assert kept.count("mentions").unwrap() == 162
    assert helpers() == []

    asked = engine(repo("asked", FILES), index__workers=processes)
    asked.codebase.refresh(linked=True)
    assert asked.codebase._repositories[0][0].catalogue.store.count("mentions").unwrap() == 162


def test_a_kill_while_references_are_found_loses_none_that_were_kept(repo, engine, monkeypatch):
    """They are kept as they come; the next question finds the rest."""
    found = engine(repo("killed", FILES), index__workers=1)
    found.codebase.search("run a step")
    monkeypatch.setattr(records, "KEPT_AT_ONCE", 50)

    def stops(stage, done, total):
        if stage == "reading references" and done == 120:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        found.codebase.graph(progress=stops)
    assert found.codebase._repositories[0][0].catalogue.store.count("mentions") == Ok(100)
    whole = engine(repo("unhurt", FILES), index__workers=1)
    whole.codebase.index()
    assert graph(found) == graph(whole)

"""A fact about code knows whether that code is still what it was."""

from __future__ import annotations

import subprocess
from pathlib import Path

from vademecum.engine import Engine
from vademecum.memory.anchors import Site
from vademecum.memory.records import AnchorState

CODE = '''\
def split_budget(total):
    """Split a budget."""
    return total // 2


def plan(total):
    """Plan with a budget."""
    return split_budget(total)
'''
CALLER = '''\
from budget import split_budget


def arrange(seats):
    """Arrange the seats."""
    return split_budget(seats)
'''
SAID = "We decided that `split_budget` hands leftovers on because nothing may be lost"


def repository(folder: Path) -> Path:
    """A git repository with the code that is spoken of."""
    root = folder / "repo"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "budget.py").write_text(CODE)
    return root


def states(found):
    return {(anchor.symbol, anchor.state) for item in found.evidence for anchor in item.anchors}


def test_anchors_follow_the_code(tmp_path, vade_home):
    """Current, then drifted when the code changes, orphaned when it goes; in the real index."""
    root = tmp_path / "repo"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    file = root / "budget.py"
    file.write_text(CODE)
    with Engine.open(root) as engine:
        engine.codebase.index()
        engine.memory.record(SAID, role="user")
        assert states(engine.memory.recall("leftovers budget")) == {("split_budget", AnchorState.CURRENT)}
        file.write_text(CODE.replace("// 2", "// 3"))
        assert states(engine.memory.recall("leftovers budget")) == {("split_budget", AnchorState.DRIFTED)}
        file.write_text("x = 1\n")
        assert states(engine.memory.recall("leftovers budget")) == {("split_budget", AnchorState.ORPHANED)}


def test_what_was_said_before_the_first_index_is_tied_to_code_later(tmp_path, vade_home):
    """The next time that house is kept."""
    root = repository(tmp_path)
    with Engine.open(root) as engine:
        engine.memory.record(SAID, role="user")
        engine.codebase.index()
        assert states(engine.memory.recall("leftovers budget")) == set()
        engine.memory.consolidate()
        assert states(engine.memory.recall("leftovers budget")) == {("split_budget", AnchorState.CURRENT)}


def test_notes_stand_beside_the_code_and_one_call_away(tmp_path, vade_home):
    """A decision about what is called shows at the caller."""
    root = repository(tmp_path)
    (root / "seats.py").write_text(CALLER)
    with Engine.open(root) as engine:
        engine.codebase.index()
        engine.memory.record(SAID, role="user")
        own = engine.notes(engine.codebase.symbol("split_budget"))
        assert [(note.fact.kind, note.through) for note in own] == [("decision", "")]
        caller = engine.notes(engine.codebase.symbol("plan"))
        assert [(note.fact.kind, note.through) for note in caller] == [("decision", "plan")]
        found = engine.codebase.search("arrange the seats", paths=["seats.py"])
        assert ("arrange",) in [item.symbols for item in found.evidence]
        assert [(note.fact.kind, note.through) for note in engine.notes(found)] == [("decision", "arrange")]
        context = engine.context("how does split_budget hand leftovers on", 2_000)
        assert "## remembered" in context.text
        assert SAID.partition(" because")[0] in context.text
        assert context.tokens <= 2_000


def test_nothing_is_anchored_without_an_index(memory, said):
    """And nothing is said to have drifted."""
    said(SAID)
    assert states(memory.recall("leftovers budget")) == set()


def test_a_name_that_is_everywhere_says_nothing(open_memory):
    """Defined in more places than three, it is no anchor."""
    sites = [Site("run", f"{n}.py", str(n)) for n in range(4)]
    memory = open_memory(look_up=lambda names: dict.fromkeys(names, sites))
    memory.record("We decided that `run` never blocks because of the loop", role="user")
    assert memory.scopes[0].store.scan("anchors").unwrap() == []


def test_the_hundredth_value_of_a_thing_costs_what_the_first_does(open_memory):
    """Only the names in what is new are looked up, however often the same thing was given another value before."""
    asked = []

    def look_up(names):
        asked.append(list(names))
        return {name: [Site(name, "app.py", "0" * 16)] for name in names}

    memory = open_memory(look_up=look_up)
    for number in range(100):
        memory.record(f"The release is version_{number}", role="user")
    assert [names for names in asked if names] == [[f"version_{number}"] for number in range(100)]


def test_code_and_memory_are_asked_at_once(tmp_path, vade_home):
    """Both answers, and both in one order; the one that found nothing stands behind."""
    root = repository(tmp_path)
    with Engine.open(root) as engine:
        engine.memory.record(SAID, role="user")
        both = engine.ask("why does split_budget hand leftovers on", k=4)
        assert both.memory.evidence[0] in both.merged
        assert both.code.evidence[0] in both.merged
        alone = engine.ask("plan with a budget", k=1)
        assert alone.merged == alone.code.evidence[:1]

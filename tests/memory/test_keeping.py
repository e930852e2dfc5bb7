"""Keeping house: what goes out comes back the same, what says the same is merged, what is too much is archived."""

from __future__ import annotations

import gzip
import json
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vademecum.errors import UsageError
from vademecum.memory.consolidate import alike, consolidate, digest_sessions, duplicates, is_our_turn, merge_duplicates
from vademecum.memory.facts import settle
from vademecum.memory.ledger import check_memory
from vademecum.memory.records import Role
from vademecum.memory.words import terms

sys.path.insert(0, str(Path(__file__).parent))
from claims import claim_like

NOON, DAY = 1_760_000_400.0, 86_400.0


def state(memory):
    facts = [(f.id, f.value, f.valid_from, f.valid_to, f.mentions, f.confidence) for f in memory.facts(past=True)]
    return memory.events(), sorted(facts, key=str)


def fill(memory, clock):
    for days, text in (
        (0, "I prefer tabs over spaces for indentation"),
        (1, "From now on use spaces for indentation, not tabs"),
        (2, "We decided to use SQLite because it is small"),
        (3, "The retry limit is 5"),
    ):
        clock.now = NOON + days * DAY
        memory.record(text, role="user", session=f"s{days % 2}", metadata={"day": days})


def test_a_round_trip_brings_everything_back(memory, open_memory, tmp_path, clock):
    """Events, facts with their past, and what a person said; in any order, and twice."""
    fill(memory, clock)
    memory.confirm(memory.facts(kinds=["decision"])[0].id)
    memory.reject(memory.facts(kinds=["fact"])[0].id)
    lines = list(memory.export())
    open_memory.home = tmp_path / "other"
    other = open_memory()
    done = other.import_lines([lines[0], *reversed(lines[1:])])
    assert (done.events, done.skipped) == (4, 0)
    assert state(other) == state(memory)
    again = other.import_lines(lines)
    assert (done.claims > 0, again.events, again.claims) == (True, 0, 0), "what is known is not counted as imported"
    assert state(other) == state(memory)


def test_what_was_forgotten_stays_forgotten_across_an_import(memory, clock):
    """An export from before does not bring it back."""
    fill(memory, clock)
    before = list(memory.export())
    (fact,) = memory.facts(kinds=["decision"])
    memory.forget(fact.id)
    memory.import_lines(before)
    assert memory.facts(kinds=["decision"]) == []
    assert not any("SQLite" in event.text for event in memory.events())


def test_what_an_import_says_an_event_is_about_finds_it(memory, open_memory, said):
    """Statements may come later than their events, which arrays know already."""
    said("the lift takes six people")
    line = next(line for line in memory.export() if '"event"' in line)
    claim = {"type": "claim", "event": json.loads(line)["id"], "position": 1000, "key": "k", "digest": "d", "kind": "fact",
             "text": "six people", "subject": "capacity", "attribute": "", "value": "six", "reason": "", "place": "",
             "confidence": 0.7, "corrects": False, "at": NOON, "speaker": "user", "recorded_at": NOON}  # fmt: skip
    assert not memory.recall("capacity", by="words").evidence
    assert memory.import_lines([json.dumps(claim)]).claims == 1
    assert [each.event.text for each in memory.recall("capacity", by="words").evidence] == ["the lift takes six people"]
    before = memory.scopes[0].journal.numbers([claim["event"]])
    memory.import_lines([json.dumps(claim)])
    assert memory.scopes[0].journal.numbers([claim["event"]]) == before, "what is known already changes nothing"


def test_hostile_lines_are_passed_over(memory):
    """Cut lines, other types, missing and wrong fields, deep nesting: counted, and the rest is read."""
    good = json.dumps({"type": "event", "id": "x", "at": 1.0, "role": "user", "text": "hello"})
    bad = ['{"type": "event", "id"', "[]", "null", '{"type": "zebra"}', '{"type": "event", "id": "y"}',
           '{"type": "claim", "event": "x"}', "[" * 10_000, '{"type": "event", "id": "z", "at": "no", "role": "user", "text": ""}',
           '{"type": "mark", "digest": "d", "mark": "zebra", "at": 1}', '{"type": "mark", "mark": "confirmed"}',
           '{"type": "mark", "digest": "d", "mark": "rejected", "at": "soon"}',
           '{"type": "event", "id": "n", "at": NaN, "role": "user", "text": "never"}']  # fmt: skip
    done = memory.import_lines([*bad, good, ""])
    assert (done.events, done.skipped) == (1, len(bad))
    with pytest.raises(UsageError, match="newer than 1"):
        memory.import_lines(['{"type": "memory", "version": 99}'])


ODD = st.one_of(
    st.none(), st.booleans(), st.floats(), st.integers(-(10**400), 10**400), st.text(st.characters(), max_size=8),
    st.sampled_from([[], {}, {"a": [None, {"b": "\ud83d"}]}, 10**30, -5, "e1", "user", 1e300, "1e400"]),
)  # fmt: skip


@settings(database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_a_line_holds_the_rest_comes_and_memory_goes_on(memory, open_memory, tmp_path, clock, data):
    """Any value of any record replaced by another, or missing: nothing fails, and questions are answered after."""
    if not memory.events():
        fill(memory, clock)
        memory.confirm(memory.facts(kinds=["decision"])[0].id)
        memory.delete(memory.events()[-1].id)
    lines = list(memory.export())
    number = data.draw(st.integers(0, len(lines) - 1))
    record = json.loads(lines[number])
    name = data.draw(st.sampled_from(sorted(record)))
    record[name] = data.draw(ODD)
    if data.draw(st.booleans()):
        del record[name]
    open_memory.home = tmp_path / data.draw(st.uuids()).hex
    other = open_memory()
    version = record.get("version", 0) if record.get("type") == "memory" else 0
    with pytest.raises(UsageError, match="newer") if isinstance(version, int) and version > 1 else nullcontext():
        other.import_lines([*lines[:number], json.dumps(record), *lines[number + 1 :]])
    other.recall("tabs or spaces?")
    other.build_memory_context("s", "tabs or spaces?")
    assert list(other.export())


def test_secrets_are_looked_for_on_the_way_in_and_out(memory):
    """A file from elsewhere may hold what we would never have written."""
    key = "sk-ant-api03-" + "ab1" * 20
    line = json.dumps(
        {"type": "event", "id": "x", "at": 1.0, "role": "user", "text": f"key {key}", "metadata": {"env": [key]}}
    )
    claim = {"type": "claim", "event": "x", "position": 0, "key": "k", "digest": "d", "kind": "fact", "text": f"key {key}",
             "subject": "key", "attribute": "", "value": key, "reason": key, "place": "", "confidence": 0.7, "corrects": False,
             "at": NOON, "speaker": "user", "recorded_at": NOON}  # fmt: skip
    memory.import_lines([line, json.dumps(claim)])
    assert memory.facts()
    assert "sk-ant" not in "".join(memory.export())
    assert "sk-ant" not in memory.events()[0].text


def test_near_duplicates_are_merged_with_their_claims(memory, said):
    """The same in other words is one fact; another number is another fact."""
    said("TODO: rotate the signing keys of the gateway every month")
    said("TODO: rotate the signing keys of the gateway every single month")
    said("TODO: allow at most 3 retries for each request of the gateway")
    said("TODO: allow at most 5 retries for each request of the gateway")
    todos = memory.facts(kinds=["todo"])
    merged = merge_duplicates(memory.scopes[0])
    after = memory.facts(kinds=["todo"])
    assert len(todos) - len(after) == merged == 1
    both = next(fact for fact in after if "rotate" in fact.text)
    assert both.mentions == 2
    assert len(memory.why(both.id).said) == 2
    assert merge_duplicates(memory.scopes[0]) == 0


@given(st.lists(st.lists(st.sampled_from("abcdefghij"), min_size=3, max_size=9), max_size=12))
def test_comparing_few_facts_finds_all_that_are_alike(said):
    """Rare words first: nothing that comparing each with each would find is missed."""
    facts = settle_each([" ".join(f"{letter * 6}" for letter in words) for words in said])
    kept: list = []
    wanted = []
    for fact in facts:
        words = frozenset(terms(fact.text))
        same = next((other for other in kept if alike(words, frozenset(terms(other.text)))), None)
        wanted += [(fact, same)] if same else []
        kept += [] if same else [fact]
    assert duplicates(facts) == wanted


def settle_each(texts):
    return [fact for n, text in enumerate(texts) for fact in settle([claim_like(text, at=float(n), about=str(n))], {})]


def test_it_is_done_by_itself_once_a_day(memory, clock, event):
    """When nobody asks, and by whichever process comes first."""
    memory.record_all([event(1, "We decided to use SQLite because it is small")])
    clock.pass_days(1)
    assert sum(done.digests for done in memory.consolidate(when_due=True)) == 1
    assert memory.consolidate(when_due=True) == []
    clock.pass_days(0.9)
    assert memory.consolidate(when_due=True) == []
    clock.pass_days(0.2)
    assert len(memory.consolidate(when_due=True)) == 2
    clock.pass_days(-30)
    assert len(memory.consolidate(when_due=True)) == 2, "a clock that was put back does not stop it"


def test_of_two_processes_one_keeps_house(open_memory):
    """Whoever takes it on first; the other finds that it is being done."""
    one, other = open_memory(), open_memory()
    assert [is_our_turn(scope, NOON) for scope in (*one.scopes, *other.scopes)] == [True, True, False, False]


def test_the_doctor_looks_at_memory(memory, said, tmp_path, open_memory):
    """Whole, and with how much; damaged, what to do."""
    said("I prefer tabs over spaces")
    checks = check_memory(lambda: memory.scopes)
    assert [(check.ok, check.detail) for check in checks] == [(True, "1 event, 1 fact"), (True, "0 events, 0 facts")]
    for store in open_memory.stores:
        store.close()
    database = tmp_path / "home" / "repos" / "handbook" / "memory.db"
    content = bytearray(database.read_bytes())
    content[2 * 4096 : 12 * 4096] = b"\x5a" * (10 * 4096)
    database.write_bytes(content)
    damaged = check_memory(lambda: open_memory().scopes)
    assert not damaged[0].ok
    assert "vade memory import" in damaged[0].fix


def test_sessions_that_are_over_are_told(memory, clock, event):
    """What was decided, done and left open; again only when something was added."""
    memory.record_all([
        event(1, "We decided to use SQLite because it is small"),
        event(2, "edited", role=Role.EDIT, metadata={"path": "src/store.py"}),
        event(3, "Store events in SQLite", role=Role.COMMIT),
        event(4, "TODO: write the migration"),
    ])  # fmt: skip
    scope = memory.scopes[0]
    assert digest_sessions(scope, NOON + 60) == 0
    assert digest_sessions(scope, NOON + DAY) == 1
    ((text,),) = scope.store.scan("digests", columns=("text",)).unwrap()
    assert "Decided: We decided to use SQLite because it is small" in text
    assert "Done: Store events in SQLite; edited src/store.py" in text
    assert "Left open: TODO: write the migration" in text
    assert digest_sessions(scope, NOON + DAY) == 0


def test_what_a_digest_leaves_out_is_counted(memory, event):
    """Five of each, and how many besides."""
    memory.record_all([event(n, f"Fix number {n} of the parser", role=Role.COMMIT) for n in range(8)])
    digest_sessions(memory.scopes[0], NOON + DAY)
    ((text,),) = memory.scopes[0].store.scan("digests", columns=("text",)).unwrap()
    assert text.endswith("; Fix number 4 of the parser; and 3 more")


def test_the_oldest_are_archived_and_can_be_brought_back(memory, event):
    """They leave the database when the file is whole; facts stay; importing the file brings them back."""
    memory.record_all([event(0, "We decided to use SQLite because it is small")])
    memory.record_all([event(n, f"apple number {n}") for n in range(1, 40)])
    done = consolidate(memory.scopes[0], NOON + DAY, 20)
    assert done.archived == 22
    assert len(memory.events()) == 18
    assert [fact.value for fact in memory.facts()] == ["SQLite"]
    assert memory.recall("apple number 3", k=50).searched == 18
    away = "22 older events are archived: `vade memory import` brings them back"
    assert memory.recall("zebra").reason.endswith(away)
    assert memory.recall("What did we discuss in 2019?").reason == f"nothing is recorded for that time; {away}"
    assert ", 22 events archived in " in check_memory(lambda: memory.scopes)[0].detail
    with gzip.open(done.archive, "rt") as file:
        lines = list(file)
    assert len(lines) == 22
    assert memory.record_all([event(3, "apple number 3")]).events == 0
    assert memory.import_lines(lines).events == 22
    assert "archived" not in memory.recall("zebra").reason + check_memory(lambda: memory.scopes)[0].detail
    assert not any("#" in json.loads(line).get("id", "") for line in memory.export())
    assert len(memory.events()) == 40
    assert {item.event.id for item in memory.recall("apple", k=50).evidence} >= {f"e{n}" for n in range(1, 40)}

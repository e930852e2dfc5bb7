"""What is recorded is kept, once, without its secrets, with what it states; what is forgotten stays forgotten."""

from __future__ import annotations

import json
import sqlite3

import pytest

from vademecum.errors import StoreCorruptError, StoreError, UsageError
from vademecum.memory.facts import FORGOTTEN
from vademecum.memory.journal import CUT
from vademecum.memory.records import Event, Role

NOON = 1_760_000_400.0  # where the clock of `conftest` begins
SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"


def test_the_same_event_twice_is_kept_once(memory, event):
    """Recording again changes nothing, not even what has been patched since."""
    assert memory.record_all([event(1, "hello")]).events == 1
    memory.patch("e1", {"branch": "main"})
    again = memory.record_all([event(1, "hello"), event(2, "there")])
    assert (again.events, again.known) == (1, 1)
    assert memory.get("e1").metadata == {"branch": "main"}


def test_secrets_never_reach_the_disk(memory, open_memory, tmp_path):
    """Neither the text nor the metadata, nor anything derived, holds the key."""
    done = memory.record(f"the key is {SECRET}", metadata={"command": f"curl -H 'x-api-key: {SECRET}'"})
    memory.recall("key")
    assert sum(done.redacted.values()) >= 2
    for store in open_memory.stores:
        store.close()
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_metadata_keeps_no_secret_whichever_way_it_comes(memory, event):
    """When it is recorded, when it is patched and when it is exported; a name tells what its value is."""
    memory.record_all([event(1, "hello", metadata={"env": {"DB_PASSWORD": "hunter2!"}, "tags": ["ci"]})])
    memory.patch(
        "e1", {"command": f"deploy --token {SECRET}", "api_key": "q8Zr3vN1xT7mKp2LwY5c", "tags": ["ci", SECRET]}
    )
    kept = json.dumps(memory.get("e1").metadata)
    assert not any(secret in kept for secret in (SECRET, "hunter2", "q8Zr3vN1xT7mKp2LwY5c"))
    assert memory.get("e1").metadata["tags"][0] == "ci"


@pytest.mark.parametrize("bad", [{"at": object()}, {"at": {1, 2}}, {"nested": [b"bytes"]}])
def test_metadata_that_json_cannot_hold_is_refused(memory, event, bad):
    """By name, and nothing of it is kept."""
    memory.record_all([event(1, "hello")])
    for attempt in (lambda: memory.patch("e1", bad), lambda: memory.record("there", metadata=bad)):
        with pytest.raises(UsageError, match="JSON"):
            attempt()
    assert memory.get("e1").metadata == {}
    assert [each.id for each in memory.events()] == ["e1"]


@pytest.mark.parametrize("at", [float("inf"), float("-inf"), float("nan"), 1e300, -1e15])
def test_a_time_that_no_calendar_has_is_refused(memory, at):
    """Kept, it would stand in the way of every answer."""
    with pytest.raises(UsageError, match="time"):
        memory.record("hello", at=at)
    assert memory.events() == []
    assert memory.recall("hello").evidence == ()


def test_halves_of_characters_are_joined_or_replaced(memory):
    """As programs write them that cut texts by their UTF-16 length."""
    memory.record(
        "Always use tabs \ud83d\ude00 and \ud83d", role="user", session="\ud83d", metadata={"a\udc00": "\udc00"}
    )
    (kept,) = memory.events()
    assert (kept.text, kept.session) == ("Always use tabs \U0001f600 and \ufffd", "\ufffd")
    assert kept.metadata == {"a\ufffd": "\ufffd"}


def test_metadata_is_patched_and_filtered(memory, event):
    """A value is found by, changed, taken away, and no longer found by."""
    memory.record_all(
        [event(1, "built", metadata={"exit": 0, "tags": ["ci", "linux"]}), event(2, "built", metadata={"exit": 1})]
    )
    assert [item.event.id for item in memory.recall("built", metadata={"exit": 0}).evidence] == ["e1"]
    assert [item.event.id for item in memory.recall("built", metadata={"tags": "linux", "exit": 0}).evidence] == ["e1"]
    memory.patch("e1", {"exit": None, "seen": True})
    assert not memory.recall("built", metadata={"exit": 0})
    assert memory.get("e1").metadata == {"tags": ["ci", "linux"], "seen": True}


def test_events_are_listed_by_what_they_are(memory, event):
    """Without a question: time, session, role and metadata, a value of a list among them."""
    memory.record_all([
        event(1, "one", metadata={"branch": "main"}),
        event(2, "two", metadata={"branch": ["main", "dev"]}, session="s2"),
        event(3, "three", role=Role.ASSISTANT, metadata={"branch": "main", "n": 3}),
        event(4, "four"),
    ])  # fmt: skip
    listed = [[e.id for e in memory.events(**only)] for only in (
        {"metadata": {"branch": "main"}}, {"metadata": {"branch": "main"}, "session": "s2"}, {"metadata": {"n": 3}},
        {"roles": ["user"], "metadata": {"branch": "main"}}, {"metadata": {"branch": "other"}}, {"roles": ["assistant"]},
    )]  # fmt: skip
    assert listed == [["e1", "e2", "e3"], ["e2"], ["e3"], ["e1", "e2"], [], ["e3"]]
    with pytest.raises(UsageError):
        memory.events(roles=["nobody"])


def test_an_event_and_what_it_states_are_kept_together_or_not_at_all(memory, monkeypatch, event):
    """When settling fails, the event is not there either, and recording again works."""
    ledger = memory.scopes[0].ledger
    original = ledger.settle

    def fails(_):
        raise sqlite3.OperationalError("the disk is gone")

    monkeypatch.setattr(ledger, "settle", fails)
    with pytest.raises(StoreError, match="the disk is gone"):
        memory.record_all([event(1, "We decided to use SQLite because it is small")])
    monkeypatch.setattr(ledger, "settle", original)
    assert memory.events() == []
    assert memory.record_all([event(1, "We decided to use SQLite because it is small")]).facts == 1


def test_what_is_meant_for_everywhere_goes_to_the_global_memory(memory, open_memory, said):
    """A preference for all projects holds in another repository, and says where it was said."""
    said("In all my projects, I prefer tabs over spaces for indentation")
    (fact,) = memory.preferences()
    assert memory.why(fact.id).scope == "global"
    assert memory.why(fact.id).said[0][0].role is Role.USER


def test_a_deleted_event_does_not_come_back(memory, event):
    """Its tombstone keeps it out, and its facts are gone with it."""
    memory.record_all([event(1, "I prefer tabs over spaces for indentation"), event(2, "the build is green")])
    memory.delete("e1")
    assert memory.record_all([event(1, "I prefer tabs over spaces for indentation")]).events == 0
    assert memory.facts() == []
    assert [item.event.id for item in memory.recall("tabs build green").evidence] == ["e2"]
    with pytest.raises(UsageError, match="no fact or event 'e1'"):
        memory.get("e1")


def test_forgetting_a_fact_takes_its_words_out(memory, said, event):
    """An event that says little else goes; a long one loses the sentence; saying it again in a transcript changes nothing."""
    long_text = "Here is what happened today with the deployment of the new service to staging. " * 3
    sentence = "I prefer tabs over spaces for indentation."
    short, long = said(sentence), said(long_text + sentence)
    (fact,) = memory.preferences()
    assert memory.forget(fact.id) == 2
    assert memory.preferences() == []
    with pytest.raises(UsageError):
        memory.get(short)
    assert sentence not in memory.get(long).text
    assert CUT in memory.get(long).text
    assert memory.recall("tabs spaces indentation").evidence == ()
    assert long in [item.event.id for item in memory.recall("deployment to staging").evidence]
    again = memory.record_all([event(9, sentence, at=NOON + 9)])
    assert (again.facts, again.kept_out) == (1, 1)
    assert memory.facts() == []
    digest = fact.digest
    assert memory.scopes[0].ledger.marks([digest])[digest][0] == FORGOTTEN


def test_what_is_forgotten_among_letters_of_several_bytes_is_that_alone(memory, said):
    """What stands before and behind it stays as it was said."""
    before, behind = "Voilà l'été à 東京 ☀, avec İris et 👩‍👩‍👧 au marché. ", " Ça va ? Straße."
    id_ = said(f"{before}I prefer tabs over spaces.{behind}")
    memory.forget(memory.preferences()[0].id)
    assert memory.get(id_).text == f"{before}{CUT}{behind}"


def test_confirm_reject_and_edit(memory, said):
    """A person's word is certain, takes back, or puts otherwise, and the past stays."""
    said("I prefer tabs over spaces for indentation")
    (fact,) = memory.preferences()
    assert memory.confirm(fact.id).confidence == 1.0
    new = memory.edit(fact.id, "Use two spaces for indentation")
    assert (new.text, new.confidence >= 0.99) == ("Use two spaces for indentation", True)
    history = memory.why(new.id).history
    assert [each.value for each in history] == ["tabs", "two spaces"]
    assert history[0].superseded_by == new.id
    memory.reject(new.id)
    assert [each.value for each in memory.preferences()] == ["tabs"]


def test_what_a_fact_is_about_in_the_place_of_its_id_is_answered_with_ids(memory, said):
    """Who asks why by the name of a thing is told which facts there are of it."""
    said("We use yarn in this repo.")
    (fact,) = memory.facts()
    with pytest.raises(UsageError, match=f"no fact 'Package manager': of it there are {fact.id} .*: yarn"):
        memory.why("Package manager")


def test_a_rejection_is_taken_back(memory, said):
    """Restored, a fact stands as what was said makes it, what it had replaced is past again, and what it names is tied to it."""
    said("I prefer tabs over spaces for indentation")
    said("From now on use spaces for indentation, not tabs")
    (fact,) = memory.preferences()
    before = memory.facts(past=True)
    memory.reject(fact.id)
    assert [each.value for each in memory.preferences()] == ["tabs"]
    assert memory.rejected() == [fact]
    assert memory.why(fact.id).rejected
    again = memory.record("Use spaces for indentation, not tabs", role="user")  # said again it stays out, and says so
    assert again.kept_out == 1
    assert [each.value for each in memory.preferences()] == ["tabs"]
    restored = memory.restore(fact.id)
    assert (restored.id, restored.mentions, restored.confirmed) == (fact.id, 2, False)
    assert [(each.id, each.valid_to) for each in memory.facts(past=True)] == [
        (each.id, each.valid_to) for each in before
    ]
    assert memory.rejected() == []
    assert not memory.why(fact.id).rejected
    with pytest.raises(UsageError, match="was not rejected"):
        memory.restore(fact.id)


def test_confirming_what_was_rejected_brings_it_back_as_certain(memory, said):
    """And rejecting twice, or forgetting what was rejected, is what it says."""
    said("I prefer tabs over spaces for indentation")
    (fact,) = memory.preferences()
    memory.reject(fact.id)
    assert memory.reject(fact.id).id == fact.id
    assert memory.confirm(fact.id).confirmed
    assert [each.id for each in memory.preferences()] == [fact.id]
    memory.reject(fact.id)
    assert memory.forget(fact.id) == 1
    assert (memory.rejected(), memory.facts(past=True)) == ([], [])


def test_confirming_what_was_replaced_makes_it_hold_again(memory, said, clock):
    """A person's word comes after all that was said: what had taken its place is past, and stays in the history."""
    said("I prefer tabs over spaces for indentation")
    said("I prefer spaces over tabs for indentation")
    old = next(fact for fact in memory.facts(past=True) if fact.value == "tabs")
    clock.pass_days(1)
    back = memory.confirm(old.id)
    assert (back.value, back.valid_from, back.valid_to, back.confirmed) == ("tabs", clock.now, None, True)
    assert [each.value for each in memory.preferences()] == ["tabs"]
    assert [each.value for each in memory.why(back.id).history] == ["tabs", "spaces", "tabs"]
    assert [words for _, words in memory.why(back.id).said] == ["I prefer tabs over spaces for indentation"]
    assert [each.value for each in memory.facts(as_of=clock.now - 3600)] == ["spaces"]
    clock.pass_days(1)
    said("From now on use spaces for indentation, not tabs")
    assert [each.value for each in memory.preferences()] == ["spaces"]


def test_an_edit_is_read_as_what_it_says(memory, said):
    """Its value is what the rules read in it, so that what it was and is can be told in a word."""
    said("From now on use pnpm, not npm")
    new = memory.edit(memory.preferences()[0].id, "Use bun, not npm")
    assert (new.value, new.topic) == ("bun", "JavaScript package manager")
    other = memory.edit(new.id, "whatever the team uses")
    assert (other.value, other.topic) == ("whatever the team uses", "JavaScript package manager")


def test_as_of_tells_what_held_then(memory, said, clock):
    """Facts have a past."""
    said("I prefer tabs over spaces for indentation")
    then = clock.now + 1
    clock.pass_days(3)
    said("From now on use spaces for indentation, not tabs")
    assert [fact.value for fact in memory.facts(as_of=then)] == ["tabs"]
    assert [fact.value.split()[0] for fact in memory.facts()] == ["spaces"]


def test_wrong_calls_say_what_would_be_right(memory):
    """Nothing to record, no such role, no such fact, no such time."""
    with pytest.raises(UsageError, match="give some text"):
        memory.record("  ")
    with pytest.raises(UsageError, match="there are user, assistant"):
        memory.record("x", role="robot")
    with pytest.raises(UsageError, match="no fact or event 'zz'"):
        memory.forget("zz")
    with pytest.raises(UsageError, match="names no time"):
        memory.recall("x", when="somewhere")
    with pytest.raises(UsageError, match="ask for at least 1"):
        memory.recall("x", k=0)


def test_a_damaged_memory_is_refused_and_left_as_it_is(tmp_path, vade_home):
    """It is never set aside or emptied: the message names what to do."""
    from vademecum.engine import Engine

    with Engine.open(tmp_path) as engine:
        engine.memory.record("hello there")
        path = engine.memory.scopes[0].directory / "memory.db"
    whole = path.read_bytes()
    path.write_bytes(b"not a database at all" * 400)
    damaged = path.read_bytes()
    with Engine.open(tmp_path) as engine, pytest.raises(StoreCorruptError, match="vade memory import"):
        _ = engine.memory
    assert path.read_bytes() == damaged != whole
    assert [each.name for each in path.parent.glob("memory.db.damaged*")] == []


def test_secrets_of_what_is_known_already_are_not_counted_again(memory, event):
    """A transcript that is read anew says nothing new, and takes nothing new out."""
    told = event(1, "export API_KEY=q8Zr3vN1xT7mKp2LwY5c")
    assert dict(memory.record_all([told]).redacted) == {"assignment": 1}
    assert dict(memory.record_all([told]).redacted) == {}


def test_what_is_said_of_one_thing_in_two_respects_stands_beside_it(memory, said):
    """Only another word on the same doing takes the place of the one before."""
    both = ("Always document retry_delay", "Never touch retry_delay without a test")
    also = ("We decided to drop Windows support", "We decided to add dark mode support")
    for text in (*both, *also, "On a décidé d'ajouter un mode sombre"):
        said(text)
    assert len(memory.facts()) == 5
    assert {fact.topic for fact in memory.facts()} == {
        "retry_delay",
        "windows support",
        "dark mode support",
        "mode sombre",
    }
    said("Never document retry_delay")
    assert [fact.text for fact in memory.facts(kinds=["instruction"])] == [both[1], "Never document retry_delay"]


def test_no_field_of_an_event_keeps_a_secret(memory, event):
    """Who speaks, the session, the repository and the id are written as well; two events stay two."""
    token = "ghp_" + "aB3dE9xQ" * 5
    kept = [event(1, "one", session=token, speaker=token, repo=token), Event(f"{token}-2", NOON, Role.USER, "two")]
    assert memory.record_all([*kept, Event(f"{token}-3", NOON, Role.USER, "three")]).events == 3
    assert memory.record_all(kept).events == 0
    events = {each.text: each for each in memory.events()}
    assert set(events) == {"one", "two", "three"}
    assert events["one"].speaker == events["one"].session == "[redacted:github-token]"
    assert token not in repr(events)

"""What was said is found again, in the order that answers, and what is not there is said not to be."""

from __future__ import annotations

import random
import re
import weakref
from datetime import UTC, datetime

import numpy as np
import pytest

from vademecum.answers.remembered import recalled_record, recalled_text
from vademecum.errors import UsageError
from vademecum.index.arrays import RunTable
from vademecum.memory.question import take_apart
from vademecum.memory.records import Role
from vademecum.plugins import load
from vademecum.types import Passage, Verdict

NOON, DAY = 1_760_000_400.0, 86_400.0  # where the clock of `conftest` begins
TALK = [
    ("Anna", "I started pottery classes on Monday, it calms me down."),
    ("Ben", "How lovely! Who teaches you?"),
    ("Anna", "A woman called Ruth, in the old mill."),
    ("Ben", "My marathon training goes badly, the knee hurts."),
    ("Anna", "Oh no, see a doctor."),
]


def ids(found):
    return [item.event.id for item in found.evidence]


def talk(memory, event):
    memory.record_all([event(n, text, speaker=who, session="talk") for n, (who, text) in enumerate(TALK)])


def test_a_turn_is_found_by_what_stands_around_it(memory, event):
    """The answer shares no word with the question; the turns before it do."""
    talk(memory, event)
    assert "e2" in ids(memory.recall("who teaches Anna pottery?", k=3))


def test_what_one_person_said_twice_is_one_answer(memory, event):
    """Another person's same words are another answer."""
    memory.record_all([
        event(number, "I bought a red bicycle", speaker=who, session=f"s{number}")
        for number, who in enumerate(("Anna", "Anna", "Ben"))
    ])  # fmt: skip
    assert sorted(ids(memory.recall("who bought a red bicycle?", k=5)))[1:] == ["e2"]


def test_whom_a_question_names_counts(memory, event):
    """Of two who speak of the same, the one asked about comes first."""
    memory.record_all([
        event(1, "I bought a red bicycle", speaker="Anna", session="a"),
        event(2, "I bought a red bicycle too", speaker="Ben", session="a"),
    ])  # fmt: skip
    assert ids(memory.recall("which bicycle did Ben buy?", k=1)) == ["e2"]
    assert ids(memory.recall("which bicycle did Anna buy?", k=1)) == ["e1"]


def test_in_a_log_of_work_the_user_counts_more_than_the_agent(memory, event):
    """A long answer repeats every word of the field."""
    memory.record_all([
        event(1, "the deploy failed with a certificate error", role=Role.USER),
        event(2, "A deploy can fail with a certificate error: check the certificate, the deploy key, the error log. " * 3,
              role=Role.ASSISTANT),
    ])  # fmt: skip
    assert ids(memory.recall("deploy certificate error", k=2)) == ["e1", "e2"]


@pytest.mark.parametrize(
    ("asked", "now"),
    [
        ("What score did I get on my most recent test?", True),
        ("How many days did I take off?", True),
        ("When is the inspection?", True),
        ("Quand a lieu la réunion ?", True),
        ("How many problems have I solved so far?", True),
        ("What budget have I set for the phone?", True),
        ("What port does the server listen on?", True),
        ("What should I do about the budget I have?", False),
        ("When was the shelf installed?", False),
        ("How many days did I first take off?", False),
        ("How many days passed between the two meetings?", False),
        ("Combien de jours entre les deux réunions ?", False),
        ("What score did I get before the last test?", False),
    ],
)
def test_which_questions_ask_for_the_last_word(asked, now):
    """An amount, or the last of several, is answered by what was said last, though it is past; what lies between two is not."""
    assert take_apart(asked, datetime.fromtimestamp(NOON, UTC)).asks_now is now


@pytest.mark.parametrize(
    ("older", "newer", "asked", "back"),
    [
        ("We use npm in this repo.", "Actually, we use pnpm now.", "which package manager?", "why did we choose npm?"),
        (
            "On utilise npm dans ce projet.",
            "Finalement, on utilise pnpm à la place de npm.",
            "quel gestionnaire de paquets ?",
            "pourquoi npm comme gestionnaire de paquets ?",
        ),
    ],
)
def test_what_facts_know_to_be_replaced_stands_behind_what_replaced_it(memory, event, older, newer, asked, back):
    """Unless the question looks back, or names what was replaced."""
    memory.record_all([
        event(1, older, at=NOON),
        event(2, "The package manager page, gestionnaire de paquets, is in the wiki.", at=NOON + 5),
        event(3, newer, at=NOON + DAY),
    ])  # fmt: skip
    found = memory.recall(asked)
    places = {id_: place for place, id_ in enumerate(ids(found))}
    assert places["e3"] == places["e1"] - 1
    assert {item.event.id: item.superseded_by for item in found.evidence}["e1"] == "e3"
    assert not any(item.superseded_by for item in memory.recall(back).evidence)


def test_a_superseded_fact_says_what_holds_now(memory, said, clock):
    """`now X; was Y until D`."""
    said("I prefer tabs over spaces for indentation")
    clock.pass_days(2)
    said("From now on use spaces for indentation, not tabs")
    found = memory.recall("tabs over spaces")
    old = next(fact for item in found.evidence for fact in item.facts if fact.value == "tabs")
    assert old.valid_to is not None
    now = next(item.now for item in found.evidence if old in item.facts)
    assert [fact.value.split()[0] for fact in now] == ["spaces"]


@pytest.mark.parametrize(
    ("older", "newer", "asked"),
    [
        (
            "We decided to use Postgres for the ledger because it is safe.",
            "We decided to use SQLite for the ledger because it needs no server.",
            "which database do we use for the ledger?",
        ),
        ("Our staging server is on port 8080.", "Our staging server is on port 9090.", "staging server port"),
        (
            "On a décidé d'utiliser Postgres pour le registre parce que c'est sûr.",
            "On a décidé d'utiliser SQLite pour le registre parce que c'est simple.",
            "quelle base de données pour le registre ?",
        ),
    ],
)
def test_words_of_what_is_spoken_of_name_no_value(memory, event, older, newer, asked):
    """The ledger and the port are in the old value and in the new one: what holds comes first."""
    memory.record_all([event(1, older, at=NOON - 20 * DAY), event(2, newer, at=NOON)])
    found = memory.recall(asked)
    assert ids(found)[:2] == ["e2", "e1"]
    assert found.evidence[1].superseded_by == "e2"


def test_what_was_not_known_yet_is_not_told_of_a_moment_of_the_past(memory, event):
    """Asked as of a day before the change, a value holds and nothing took its place."""
    for number, tool in enumerate(("Postgres", "SQLite", "DuckDB")):
        memory.record_all([event(number, f"We use {tool} for the ledger.", at=NOON - (20 - 5 * number) * DAY)])
    (first,) = memory.recall("the ledger", as_of=NOON - 18 * DAY).evidence
    assert not first.now
    assert [fact.valid_to for fact in first.facts] == [None]
    then = {item.event.id: item for item in memory.recall("the ledger", as_of=NOON - 12 * DAY).evidence}
    assert set(then) == {"e0", "e1"}
    assert [fact.value for fact in then["e0"].now] == ["SQLite"]
    assert not then["e1"].now


def test_filters_apply_before_the_cut(memory, event):
    """Role, session, time in words and in seconds, and a moment of the past."""
    many = [event(n, f"the cache is warm, number {n}", at=NOON - DAY * n, session=f"s{n % 2}") for n in range(1, 40)]
    memory.record_all([*many, event(99, "the cache is cold", role=Role.ASSISTANT)])
    assert ids(memory.recall("cache", k=5, roles=["assistant"])) == ["e99"]
    assert {memory.get(id_).session for id_ in ids(memory.recall("cache", k=5, session="s1"))} == {"s1"}
    assert set(ids(memory.recall("cache", k=50, since=NOON - 3.5 * DAY, until=NOON))) == {"e1", "e2", "e3"}
    assert set(ids(memory.recall("cache", k=50, when="yesterday"))) == {"e1"}
    assert set(ids(memory.recall("cache", k=50, as_of=NOON - 38.5 * DAY))) == {"e39"}
    assert memory.recall("cache", when="last year").verdict is Verdict.NOT_FOUND


def test_a_narrow_filter_finds_what_many_others_would_hide(memory, event):
    """Candidates are chosen among what passes: a thousand better matches elsewhere take nobody's place."""
    loud = [event(n, "cache cache cache", session=f"s{n % 50}", role=Role.ASSISTANT) for n in range(1000)]
    quiet = event(5000, "long ago somebody mentioned among many other things and matters the cache", session="quiet")
    memory.record_all([*loud, quiet])
    for options in ({"session": "quiet"}, {"roles": ["user"]}, {"session": "quiet", "by": "words"}):
        found = memory.recall("cache", k=5, **options)
        assert (ids(found), found.searched) == (["e5000"], 1)


def test_a_time_in_the_question_weighs_what_was_said_then(memory, event, clock):
    """It is no filter: what was said elsewhere about it stands behind, and the answer says which time it took."""
    clock.now = NOON + 9 * DAY
    memory.record_all([
        event(1, "we decided to keep the cache of the parser in memory", at=NOON - 40 * DAY, session="a"),
        event(2, "fine", role=Role.ASSISTANT, at=NOON - 40 * DAY, session="a"),
        event(3, "we decided the cache goes to disk", at=NOON + 1 * DAY, session="b"),
        event(4, "fine", role=Role.ASSISTANT, at=NOON + 1 * DAY, session="b"),
    ])  # fmt: skip
    assert ids(memory.recall("what did we decide about the cache of the parser?"))[0] == "e1"
    found = memory.recall("what did we decide last week about the cache of the parser?")
    assert ids(found)[:2] == ["e3", "e1"]
    assert found.since <= NOON + DAY < found.until
    assert found.until - found.since == 7 * DAY
    named = memory.recall("what did we decide last week about the cache of the parser?", since=NOON - 60 * DAY)
    assert ids(named)[0] == "e1", "a time given as a filter stands for the one in words"


def test_saying_when_is_not_a_missing_word(open_memory, event):
    """A month is rarely written in what happened then, so it says nothing of whether memory knows."""
    memory = open_memory(embedder=load("embedder", "static"))
    talk(memory, event)
    plain = memory.recall("Which pottery classes did Anna start?").probability
    assert memory.recall("Which pottery classes did Anna start in October 2025?").probability >= plain - 0.05


def test_events_by_meaning_and_by_words(open_memory, event):
    """By meaning every vector is compared, by words none; a vector of one's own may stand for the question."""
    embedder = load("embedder", "static")
    memory = open_memory(embedder=embedder)
    memory.record_all([
        event(1, "The user could not log in with the right password", session="a"),
        event(2, "The release notes are out", session="b"),
        event(3, "Bread needs flour and water", session="c"),
    ])  # fmt: skip
    assert ids(memory.recall("release of the flour", by="words")) == ["e2", "e3"]
    meant = memory.recall("authentication failed", by="meaning", k=3)
    assert (ids(meant)[0], bool(meant)) == ("e1", True)
    vector = embedder.embed([Passage("authentication failed")], "query").unwrap()[0]
    by_vector = memory.recall("", vector=(3 * vector).tolist(), k=3, session="a")
    assert ids(by_vector) == ["e1"]
    assert by_vector.evidence[0].score == pytest.approx(meant.evidence[0].score)
    for length in (1e-300, 1e300):  # what no single-precision number is, and what has a square that none is
        stretched = memory.recall("", vector=(length * vector.astype(float)).tolist(), k=3, session="a")
        assert stretched.evidence[0].score == pytest.approx(meant.evidence[0].score)
    with pytest.raises(UsageError, match="numbers"):
        memory.recall("", vector=[0.5, 0.5])
    with pytest.raises(UsageError, match="both, words, meaning"):
        memory.recall("release", by="smell")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which package manager do we use?", "Use pnpm"),
        ("quel gestionnaire de paquets ?", "Use pnpm"),
        ("what is our test runner", "We use pytest for this"),
        ("which database", "We switched to Postgres"),
    ],
)
def test_an_event_is_found_by_what_it_is_about(memory, said, question, answer):
    """The answer names the value, the question the thing."""
    for text in ("Use pnpm", "We use pytest for this", "We switched to Postgres", "Look at the package.json", "Thanks"):
        said(text)
    said("Sure.", role="assistant")
    assert memory.recall(question).evidence[0].event.text == answer


def test_a_claim_of_another_scope_tells_what_an_event_is_about(memory, said):
    """What is meant for all projects is kept apart from the message that said it."""
    said("In all my projects always use pnpm")
    said("ok", role="assistant")
    assert [scope.name for scope in memory.scopes if scope.ledger.facts()] == ["global"]
    assert memory.recall("which package manager?").evidence[0].event.text == "In all my projects always use pnpm"


def test_what_was_never_said_is_not_found(memory, event):
    """No shared word, an empty memory, filters that leave nothing: each says why."""
    assert memory.recall("anything").reason == "nothing is recorded yet"
    talk(memory, event)
    found = memory.recall("zeppelin hangar")
    assert (found.verdict, found.probability, bool(found)) == (Verdict.NOT_FOUND, 0.0, False)
    assert memory.recall("pottery", session="nowhere").reason == "the filters leave nothing"


def test_what_was_only_touched_is_less_sure_however_much_is_answered_to_it(open_memory, event):
    """An assistant that goes on about a thing does not make it one that the user spoke of."""
    memory = open_memory(embedder=load("embedder", "static"))
    memory.record_all(
        [event(n, f"The kiln bakes bowls in round {n}.", at=NOON + n) for n in range(40)]
        + [event(n, f"The loom makes scarves in round {n}.", role=Role.ASSISTANT, at=NOON + n) for n in range(40, 79)]
        + [event(79, "The loom makes scarves in round 79.", at=NOON + 79)]
    )
    often, once = (memory.recall(text).probability for text in ("Which bowls did the kiln bake?", "Which scarves did the loom make?"))  # fmt: skip
    assert 1 - once > 1.5 * (1 - often)


def test_the_probability_is_higher_where_the_answer_is(open_memory, event):
    """A question that was answered is surer than one about a thing nobody spoke of."""
    memory = open_memory(embedder=load("embedder", "static"))
    talk(memory, event)
    known, unknown = memory.recall("When did Anna start pottery classes?"), memory.recall("Which piano does Anna own?")
    assert known.probability > 0.5 > unknown.probability


def test_each_embedder_is_judged_by_its_own_measure(open_memory, event):
    """Cosines of two embedders do not compare: one that was never fitted is judged by words, whatever its cosines are."""
    from vademecum.memory.scoring import BY_WORDS, CALIBRATIONS

    assert BY_WORDS.meaning == 0
    assert all(name.startswith("static:") and each.meaning for name, each in CALIBRATIONS.items())
    memory = open_memory()
    talk(memory, event)
    found = memory.recall("pottery classes on Monday")
    assert memory.recall("zeppelin classes").probability < found.probability


def test_identifiers_are_found_by_their_parts(memory, said):
    """Written together, in whatever case, or with accents."""
    said("FileWalker drops symlinks in walk_tree")
    said("la préférence est stockée")
    said("something else")
    assert "FileWalker" in memory.recall("file walker").evidence[0].event.text
    assert "FileWalker" in memory.recall("walkTree").evidence[0].event.text
    assert "préférence" in memory.recall("preference").evidence[0].event.text


@pytest.mark.parametrize("restarts", [False, True])
def test_growing_equals_fresh(open_memory, tmp_path, restarts, event):
    """However events came, a few at a time with files written and merged and events deleted, the answers are those of one go."""
    chance = random.Random(5)
    words = [f"word{n}" for n in range(60)]
    events = [
        event(n, " ".join(chance.choices(words, k=8)), at=NOON + chance.randrange(9000), session=f"s{n % 7}",
              role=chance.choice([Role.USER, Role.ASSISTANT]) if n % 7 > 3 else Role.USER)
        for n in range(900)
    ]  # fmt: skip
    gone = chance.sample([each.id for each in events], 40)
    grown = open_memory()
    for start in range(0, 900, 130):
        grown.record_all(events[start : start + 130])
        grown.recall("word1")
        if restarts:
            grown = open_memory()
    for id_ in gone:
        grown.delete(id_)
    assert list((tmp_path / "home" / "repos" / "handbook" / "memory").glob("events-*.arrays"))
    open_memory.home = tmp_path / "other"
    fresh = open_memory()
    fresh.record_all([each for each in events if each.id not in gone])
    for question in ("word1 word2", "word7", "how many word3 word9", "word5 word11 word13"):
        one, other = grown.recall(question, k=20), fresh.recall(question, k=20)
        assert [(i.event.id, round(i.score, 3)) for i in one.evidence] == [
            (i.event.id, round(i.score, 3)) for i in other.evidence
        ]
        assert one.probability == pytest.approx(other.probability, abs=1e-3)


def is_mapped(array):
    """Whether an array's numbers lie in a file."""
    while array is not None and not isinstance(array, np.memmap):
        array = array.base
    return array is not None


@pytest.mark.parametrize("deleted", [(), (3, 250)])
def test_what_was_written_is_held_in_files_alone(open_memory, event, deleted):
    """A process that records for weeks holds a few hundred events of its own; all others are mapped, and found."""
    memory = open_memory()
    for first in range(0, 1100, 10):
        memory.record_all([event(n, f"note {n} about heron{n % 7}") for n in range(first, first + 10)])
        if first % 50 == 0:
            memory.recall("heron5")
        for n in {*deleted} & {*range(first, first + 10)}:
            memory.delete(f"e{n}")
    memory.recall("heron5")
    (segments,) = [part.segments for part in memory._recall.view().parts if part.segments]
    assert sum(each.size for each in segments if not is_mapped(each.vectors)) < 300
    assert sum(each.size for each in segments if is_mapped(each.vectors)) > 700
    again = open_memory()
    for question in ("heron5", "note 1001", "note 3", "note 250"):
        found = [(item.event.id, round(item.score, 4)) for item in memory.recall(question).evidence]
        assert found == [(item.event.id, round(item.score, 4)) for item in again.recall(question).evidence]
        assert not {f"e{n}" for n in deleted} & {id_ for id_, _ in found}


def test_words_once_read_are_not_kept(open_memory, event):
    """Numbers and names never end: what a reader learned of words goes with the events they were in."""
    memory = open_memory()
    memory.recall("anything")
    reader = memory._reads()
    kept = set(vars(reader))
    reader.segment([(n, event(n, f"word{n}")) for n in range(50)])
    assert set(vars(reader)) == kept
    assert not [each for each in vars(reader).values() if isinstance(each, RunTable)]
    gone = weakref.ref(RunTable(re.compile(r"\w+"), lambda run: [len(run)]))
    assert gone() is None  # nothing refers to itself: it goes at once, without a search for garbage


def test_a_memory_put_back_to_an_earlier_state_is_read_anew(open_memory, tmp_path, clock, event):
    """Derived files that tell of a future that never came are not believed."""
    import shutil

    memory = open_memory()
    memory.record_all([event(n, f"apple number {n}") for n in range(400)])
    memory.recall("apple")
    for store in open_memory.stores:
        store.close()
    database = tmp_path / "home" / "repos" / "handbook" / "memory.db"
    shutil.copy(database, tmp_path / "copy.db")
    memory = open_memory()
    memory.record_all([event(1000 + n, f"banana number {n}") for n in range(400)])
    memory.recall("banana")
    for store in open_memory.stores:
        store.close()
    for leftover in database.parent.glob("memory.db*"):
        leftover.unlink()
    shutil.copy(tmp_path / "copy.db", database)
    memory = open_memory()
    memory.record_all([event(2000 + n, f"cherry number {n}") for n in range(400)])
    assert memory.recall("banana").evidence == ()
    assert len(memory.recall("cherry", k=10).evidence) == 10


def test_arrays_whose_last_event_was_moved_are_kept(open_memory, event):
    """Reading one event anew, or cutting words out of it, does not cost reading all others again."""
    first = open_memory()
    first.record_all([event(n, f"note {n} about heron{n % 7}") for n in range(400)])
    first.recall("heron5")
    scope = first.scopes[0]
    with scope.store.transaction():
        scope.journal.read_anew(["e399"], NOON)
    embedded = []

    class Counting:
        def __init__(self, inner):
            self.name, self.inner, self.remote = inner.name, inner, False

        def embed(self, passages, kind):
            embedded.extend(passages)
            return self.inner.embed(passages, kind)

    second = open_memory(embedder=Counting(load("embedder", "hashing")))
    found = second.recall("note 399", k=3)
    assert found.evidence[0].event.id == "e399"
    assert len(embedded) < 100
    assert sorted(ids(second.recall("heron", k=1000, by="words"))) == sorted(f"e{n}" for n in range(400))


def test_damaged_arrays_are_made_again(open_memory, tmp_path, event):
    """A file of arrays that is cut short costs time, not answers."""
    memory = open_memory()
    memory.record_all([event(n, f"apple number {n}") for n in range(400)])
    before = ids(memory.recall("apple number 7"))
    for path in (tmp_path / "home").rglob("*.arrays"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert ids(open_memory().recall("apple number 7")) == before


def test_another_process_sees_what_is_written(open_memory, event):
    """A server that has been asked before answers from what a command has recorded since."""
    server, command = open_memory(), open_memory()
    server.record_all([event(1, "the cache is warm")])
    assert ids(server.recall("cache")) == ["e1"]
    command.record_all([event(2, "the cache is cold")])
    assert set(ids(server.recall("cache"))) == {"e1", "e2"}
    command.delete("e1")
    assert ids(server.recall("cache")) == ["e2"]


def test_what_nothing_decides_is_shown_as_two_dated_statements(memory, said, clock):
    """Each names the other, until a person confirms one."""
    from vademecum.answers.remembered import recalled_text

    said("I prefer tabs over spaces for indentation")
    clock.pass_days(2)
    said("I prefer spaces over tabs for indentation, I guess")
    found = memory.recall("indentation")
    facts = [fact for item in found.evidence for fact in item.facts]
    assert {fact.disputed for fact in facts} == {True}
    text = recalled_text(found)
    assert "tabs (2025-10-09), against spaces (2025-10-11): undecided" in text
    memory.confirm(next(fact.id for fact in facts if fact.value == "spaces"))
    assert "now spaces; was tabs until 2025-10-11" in recalled_text(memory.recall("indentation"))


def test_what_the_first_event_names_is_not_called_unknown(memory, event):
    """A name is telling, however little else the two share; one that nobody said is not known."""
    acts = [f"we {act} the {thing} before the {day}" for act in ("upgrade", "paint", "consider", "check", "move")
            for thing in ("crane", "quay", "lighthouse", "ferry", "dredger", "slipway") for day in ("storm", "audit", "holiday")]  # fmt: skip
    kafka = "Si on passait à Kafka on aurait le replay gratuit, mais bon, c'est délirant à trois personnes"
    memory.record_all([event(number, text) for number, text in enumerate([kafka, *acts])])
    found = memory.recall("who was against Kafka and for what reason was that?")
    assert (found.verdict, found.evidence[0].event.text) == (Verdict.AMBIGUOUS, kafka)
    assert memory.recall("who was against Cassandra and for what reason was that?").verdict is Verdict.NOT_FOUND
    assert memory.recall("do we use MongoDB?").verdict is Verdict.NOT_FOUND


@pytest.mark.parametrize(
    "question", ["what did we decide yesterday?", "what was agreed yesterday?", "qu'est-ce qu'on a décidé hier ?"]
)
def test_what_was_decided_comes_before_what_else_was_said_that_day(memory, event, clock, question):
    """A rule is decided too; the rest of that day follows, and no other day."""
    memory.record_all([
        event(1, "We decided to use Postgres.", at=NOON - 3 * DAY),
        event(2, "We decided to drop Redis for the queue.", at=NOON - DAY),
        event(3, "Never push directly to main.", at=NOON - DAY + 1),
        event(4, "ugh, the build is red again", at=NOON - DAY + 2),
    ])  # fmt: skip
    assert [item.event.id for item in memory.recall(question).evidence] == ["e3", "e2", "e4"]


@pytest.mark.parametrize(
    "question",
    ["what happened yesterday?", "what did we say yesterday?", "que s'est-il passé hier ?", "what changed yesterday?"],
)
def test_what_happened_is_asked_in_many_words(memory, event, clock, question):
    """All are answered by the latest of that time."""
    memory.record_all([
        event(1, "the build is red", at=NOON - 3 * DAY),
        event(2, "the crane is back", at=NOON - DAY),
        event(3, "ship it", at=NOON - DAY + 2),
    ])  # fmt: skip
    assert [item.event.id for item in memory.recall(question).evidence] == ["e3", "e2"]


@pytest.mark.parametrize(
    "question", ["What did we discuss last week?", "De quoi avons-nous parlé la semaine dernière ?"]
)
def test_the_course_of_things_is_no_search_for_words(memory, said, clock, question):
    """Asked what was discussed, the latest of that time answer; where nothing was said, that is said and no more."""
    clock.pass_days(-8)
    said("We use npm")
    said("The build is green", role="output")
    said("I prefer tabs over spaces for indentation", session="s2")
    clock.pass_days(8)
    said("Unrelated words of today")
    found = memory.recall(question)
    assert [item.event.text for item in found.evidence] == ["I prefer tabs over spaces for indentation", "We use npm"]
    assert found
    assert found.evidence[0].facts[0].value == "tabs"
    assert [item.event.text for item in memory.recall(question, session="s1").evidence] == ["We use npm"]
    assert [item.event.text for item in memory.recall(question, roles=["output"]).evidence] == ["The build is green"]
    assert len(memory.recall(question, k=1).evidence) == 1
    nothing = memory.recall("What did we discuss yesterday?")
    assert (bool(nothing), nothing.reason) == (False, "nothing is recorded for that time")
    assert len(memory.recall("What have we done so far?").evidence) == 3


def test_what_makes_no_sense_is_refused_by_name(memory):
    """A kind there is not, and a moment that is none."""
    with pytest.raises(UsageError, match="zebra"):
        memory.facts(kinds=["zebra"])
    for as_of in (float("inf"), float("nan"), 1e300):
        with pytest.raises(UsageError, match="as_of"):
            memory.recall("anything", as_of=as_of)


def test_a_choice_that_nobody_stated_is_not_resolved_by_a_commit(memory, event):
    """A commit that shares the words is shown, and the verdict says that nobody decided."""
    memory.record_all(
        event(n, f"Change number {n} of the parser and the printer", role=Role.COMMIT, at=NOON + n) for n in range(60)
    )
    memory.record("fix test - auto choose router port number", role="commit")
    found = memory.recall("which router did we choose")
    assert found.verdict is Verdict.AMBIGUOUS
    assert "nobody said a decision" in found.reason
    memory.record("We chose the radix router as our router, because it is fast.", role="user")
    assert memory.recall("which router did we choose").verdict in (Verdict.LIKELY, Verdict.RESOLVED)


def test_nothing_is_printed_after_an_answer_that_is_not_found(memory, event):
    """Neither for people nor for programs."""
    memory.record_all(event(n, f"The loom makes scarf number {n}.", at=NOON + n) for n in range(60))
    found = memory.recall("capital of France")
    assert found.verdict is Verdict.NOT_FOUND
    assert recalled_text(found).count("\n") == 1
    assert recalled_record(found)["evidence"] == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("which formatter is it?", "formatting is done by a hook before each commit"),
        ("what does the linting?", "a linter runs in the pipeline"),
        ("which scanner?", "scanning takes a minute"),
    ],
)
def test_who_does_a_thing_is_found_by_the_thing(memory, asked, said):
    """A word that nobody wrote stands for another form of the word, which somebody wrote."""
    memory.record("the budget of the trip is small", role="user")
    memory.record(said, role="user")
    memory.record("lunch is at noon", role="user")
    found = memory.recall(asked, by="words")
    assert [item.event.text for item in found.evidence] == [said]


def test_sessions_are_ranked(memory, event):
    """The session that speaks of it comes first."""
    talk(memory, event)
    memory.record_all(
        [event(50 + n, f"the cache has {n} entries", session="work", at=NOON + DAY + n) for n in range(5)]
    )
    assert memory.sessions("pottery classes", k=1)[0][:2] == ("repository", "talk")
    assert memory.sessions("cache entries", k=1)[0][1] == "work"


def test_a_question_in_french_finds_what_was_said_in_english(open_memory, event):
    """And the other way round; a question about something else finds neither."""
    memory = open_memory(embedder=load("embedder", "static"))
    memory.record_all([
        event(1, "the upload gives up after five attempts", session="a"),
        event(2, "les factures partent le premier lundi du mois", session="b"),
        event(3, "the search service is written in Rust", session="c"),
        *(event(9 + number, f"the {word} module needs a restart", session=word) for number, word in enumerate("defghijk")),
    ])  # fmt: skip
    found = memory.recall("combien de tentatives avant d'abandonner ?")
    assert (ids(found)[0], bool(found)) == ("e1", True)
    found = memory.recall("on which day do the invoices go out?")
    assert (ids(found)[0], bool(found)) == ("e2", True)
    assert memory.recall("combien de poissons dans l'aquarium ?").verdict is Verdict.NOT_FOUND


NOTES = (
    "The login page reads user sessions and the account name from Redis", "Deploys go out on Thursdays after the standup",
    "The parser drops trailing commas in JSON5 files", "Backups of the database are made each night",
    "The search box suggests names while one types", "Invoices are sent on the first of the month",
)  # fmt: skip


def noted(open_memory):
    """A memory of work, read by the built-in embedder."""
    memory = open_memory(embedder=load("embedder", "static"))
    others = [f"Ticket {number} was closed after a review of module {number}" for number in range(100, 140)]
    for text in (*NOTES, *others):
        memory.record(text)
    return memory


def test_an_answer_that_lacks_a_distinctive_word_is_not_resolved(open_memory):
    """The history says nothing of LDAP, however much it says of the rest."""
    memory = noted(open_memory)
    asked = "where does the login page read user sessions and the account name from"
    assert memory.recall(f"{asked}?").verdict is Verdict.RESOLVED
    without = memory.recall(f"{asked} with LDAP?")
    assert (without.verdict, without.reason) == (Verdict.LIKELY, "nothing of it says 'LDAP'")
    assert memory.recall(f"{asked}, Redis?").verdict is Verdict.RESOLVED


def test_only_what_shares_a_word_or_a_meaning_is_shown(open_memory):
    """No answer is filled up with what has nothing to do with the question."""
    memory = noted(open_memory)
    found = memory.recall("when are backups made?")
    assert [item.event.text for item in found.evidence] == [NOTES[3]]
    nothing = memory.recall("kubernetes ingress controller")
    assert (nothing.verdict, nothing.evidence) == (Verdict.NOT_FOUND, ())
    assert nothing.reason == "nothing in memory shares a word with it"


@pytest.mark.parametrize("question", ["which database?", "quelle base de données", "what is our web framework"])
def test_what_is_asked_by_its_subject_is_likely_answered(open_memory, question):
    """That Postgres is a database, and FastAPI a web framework, no word of the messages says."""
    memory = open_memory(embedder=load("embedder", "static"))
    for text in (
        "Let's go with Postgres for the orders service",
        "The API is FastAPI behind nginx",
        "We release in May",
    ):
        memory.record(text)
    answer = memory.recall(question)
    assert answer.verdict is Verdict.LIKELY
    assert answer.evidence[0].event.text.split()[-1] == ("nginx" if "web" in question else "service")


def test_a_subject_with_another_word_is_asked_for_by_all_of_them(open_memory):
    """The database of the billing module is not that of the orders service."""
    memory = open_memory(embedder=load("embedder", "static"))
    memory.record("Let's go with Postgres for the orders service")
    assert memory.recall("which database for billing?").verdict is not Verdict.LIKELY

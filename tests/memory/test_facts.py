"""Facts are what claims make of them, whatever order the claims came in."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.memory.extract import extract
from vademecum.memory.facts import CONFIRMED, REJECTED, claim_of, digest_of, settle
from vademecum.memory.records import Event, Role

sys.path.insert(0, str(Path(__file__).parent))
from claims import claim_like

CLAIMS = st.lists(
    st.builds(
        claim_like,
        st.sampled_from(["tabs", "two spaces", "four spaces"]),
        at=st.integers(1, 9).map(float),
        confidence=st.sampled_from([0.3, 0.55, 0.7, 0.9]),
        corrects=st.booleans(),
    ),
    max_size=8,
    unique_by=lambda claim: claim.at,
)


def test_another_value_closes_the_interval():
    """What held before ends when the new value was said, and names what took its place."""
    old, new = settle([claim_like("tabs", at=1.0), claim_like("spaces", at=5.0)], {})
    assert (old.valid_from, old.valid_to, old.superseded_by) == (1.0, 5.0, new.id)
    assert (new.valid_from, new.valid_to, new.disputed) == (5.0, None, False)


def test_two_long_rules_that_share_their_guessed_subject_alone_both_hold():
    """Where a subject is a guess, a rule ends only another that says much the same."""
    bursts, tools = "short bursts of editing before lunch", "cheap tools for editing that save money"
    said = [claim_like(each, at=at, about="editing") for at, each in enumerate((bursts, tools))]
    assert [fact.value for fact in settle(said, {}) if fact.valid_to is None] == [bursts, tools]
    longer = claim_like("long bursts of editing before lunch", at=5.0, about="editing")
    assert [fact.value for fact in settle([*said, longer], {}) if fact.valid_to is None] == [tools, longer.value]


def test_two_causes_of_one_problem_are_no_contradiction():
    """A thing that was done stands beside others; only what can be one way or the other is disputed."""
    text = "Le bug de connexion venait d'un cookie expiré ; corrigé en renouvelant le jeton"
    claims = [claim_of(each, n, Event("e", 1.0, Role.USER, text), 1.0) for n, each in enumerate(extract(text))]
    assert [fact.disputed for fact in settle(claims, {})] == [False, False]


@pytest.mark.parametrize(
    ("said", "standing"),
    [
        (["We use pnpm.", "Don't use npm."], ["pnpm", "not npm"]),
        (["Don't use npm.", "We use pnpm."], ["not npm", "pnpm"]),
        (["We use pnpm.", "Don't use npm.", "We switched to yarn."], ["not npm", "yarn"]),
        (["We use pnpm.", "Don't use npm.", "Use npm."], ["npm"]),
        (["Use npm.", "Don't use npm."], ["not npm"]),
        (["Never use npm.", "Never use yarn."], ["not npm", "not yarn"]),
        (["I hate long functions.", "I hate global functions."], ["not long functions", "not global functions"]),
        (
            ["Never deploy on Fridays.", "Never deploy on weekends."],
            ["not deploy on Fridays", "not deploy on weekends"],
        ),
        (["We use Redis for caching.", "We decided against memcached."], ["Redis", "not memcached"]),
        (["We decided to use Kafka.", "We decided not to use Kafka."], ["not Kafka"]),
        (["We decided not to use Kafka.", "We decided to use Kafka."], ["Kafka"]),
        (["On utilise pnpm.", "N'utilise jamais npm."], ["pnpm", "pas npm"]),
        (["Don't add comments.", "Always add comments to public functions."], ["add comments to public functions"]),
    ],
)
def test_to_deny_one_value_says_nothing_against_another(said, standing):
    """What is not to be used is replaced by nothing but itself, and replaces nothing else."""
    claims = [
        claim_of(each, n, Event(f"e{at}", float(at), Role.USER, text), float(at))
        for at, text in enumerate(said)
        for n, each in enumerate(extract(text))
    ]
    assert len({claim.key for claim in claims}) == 1
    facts = [fact for fact in settle(claims, {}) if fact.valid_to is None]
    assert [(fact.value, fact.disputed) for fact in facts] == [(value, False) for value in standing]


def test_an_event_that_denies_one_value_and_states_another_contradicts_neither():
    """What held before ends with the stated one; only an event that denies what it states is disputed."""
    said = [claim_like(value, at=at) for value, at in (("tabs", 1.0), ("not tabs", 5.0), ("four spaces", 5.0))]
    old, new, denial = settle([said[0], said[1], replace(said[2], position=1)], {})
    assert (old.superseded_by, new.value, denial.value) == (new.id, "four spaces", "not tabs")
    assert [fact.disputed for fact in (new, denial)] == [False, False]
    assert [fact.disputed for fact in settle([said[2], claim_like("not spaces", at=5.0)], {})] == [True, True]


def test_a_confirmed_denial_leaves_what_it_does_not_deny():
    """Confirming "not npm" closes npm, and not pnpm."""
    claims = [claim_like("pnpm", at=1.0), claim_like("not npm", at=2.0)]
    facts = settle(claims, {claims[1].digest: (CONFIRMED, 7.0)})
    assert [fact.valid_to for fact in facts] == [None, None]


@pytest.mark.parametrize("subject", ["not", "one", "that", "me"])
def test_what_is_about_nothing_replaces_nothing(subject):
    """A subject without a word that says something is none."""
    claims = [claim_like(value, at=at, about=subject) for value, at in (("option B", 1.0), ("a new parser", 2.0))]
    assert len({claim.key for claim in claims}) == 2


def test_the_same_value_again_is_one_fact_and_surer():
    """Repetition counts, and does not move the first mention."""
    (fact,) = settle([claim_like("tabs", at=1.0, confidence=0.7), claim_like("Tabs", at=3.0, confidence=0.7)], {})
    assert (fact.mentions, fact.first_at, fact.last_at) == (2, 1.0, 3.0)
    assert 0.7 < fact.confidence < 1


def test_a_value_that_comes_back_is_a_new_interval():
    """Tabs, spaces, tabs: three intervals, and only the last holds."""
    facts = settle([claim_like(value, at=at) for value, at in (("tabs", 1.0), ("spaces", 2.0), ("tabs", 3.0))], {})
    assert [(fact.value, fact.valid_to) for fact in facts] == [("tabs", 2.0), ("spaces", 3.0), ("tabs", None)]
    assert len({fact.id for fact in facts}) == 3


def test_a_doubtful_contradiction_leaves_both_standing():
    """A hedged remark does not undo what was clear; both are shown, disputed."""
    facts = settle([claim_like("tabs", at=1.0, confidence=0.9), claim_like("spaces", at=2.0, confidence=0.4)], {})
    assert [(fact.valid_to, fact.disputed) for fact in facts] == [(None, True), (None, True)]


def test_a_correction_decides_however_it_is_put():
    """`No, actually` takes back what was said before."""
    facts = settle([claim_like("tabs", at=1.0), claim_like("spaces", at=2.0, confidence=0.3, corrects=True)], {})
    assert [fact.valid_to for fact in facts] == [2.0, None]


def test_a_person_decides_a_dispute():
    """Confirming one value closes the other."""
    claims = [claim_like("tabs", at=1.0), claim_like("spaces", at=2.0, confidence=0.4)]
    facts = settle(claims, {claims[1].digest: (CONFIRMED, 7.0)})
    assert [(fact.value, fact.valid_to, fact.confidence) for fact in facts] == [
        ("tabs", 7.0, 0.9),
        ("spaces", None, 1.0),
    ]


def test_what_is_rejected_is_no_fact_and_closes_nothing():
    """A rejected value leaves what it had replaced."""
    claims = [claim_like("tabs", at=1.0), claim_like("spaces", at=2.0)]
    (fact,) = settle(claims, {claims[1].digest: (REJECTED, 3.0)})
    assert (fact.value, fact.valid_to) == ("tabs", None)


def test_a_digest_is_the_same_for_other_forms_of_the_words():
    """What is forgotten is known again in another form."""
    assert digest_of("k", "Two Spaces") == digest_of("k", "two space") != digest_of("k", "tabs")


@given(CLAIMS, st.randoms())
def test_the_order_of_reading_does_not_matter(claims, chance):
    """An old transcript imported last gives the history it would have given first."""
    shuffled = list(claims)
    chance.shuffle(shuffled)
    assert settle(shuffled, {}) == settle(claims, {})


@given(CLAIMS)
def test_intervals_are_whole(claims):
    """Every claim is in one fact; an interval that is closed names what closed it; without a dispute one value holds."""
    facts = settle(claims, {})
    assert sum(fact.mentions for fact in facts) == len(claims)
    ids = {fact.id for fact in facts}
    assert len(ids) == len(facts)
    for fact in facts:
        assert (fact.valid_to is None) == (fact.superseded_by == "")
        assert fact.valid_to is None or (fact.valid_to >= fact.last_at >= fact.valid_from and fact.superseded_by in ids)
    standing = [fact for fact in facts if fact.valid_to is None]
    assert len(standing) == 1 or all(fact.disputed for fact in standing)


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("Always use tabs for indentation", "Never use tabs for indentation"),
        ("Use yarn for packages", "Do not use yarn for packages"),
        ("Utilise toujours des tabulations", "N'utilise jamais de tabulations"),
    ],
)
def test_what_is_denied_is_no_repetition(said, denied):
    """An instruction and its contrary are two values of one thing: the later one holds, and neither makes the other surer."""
    claims = [
        claim_of(statement, place, Event(f"e{at}", at, Role.USER, text), at)
        for at, text in ((1.0, said), (2.0, denied))
        for place, statement in enumerate(extract(text))
    ]
    old, new = settle(claims, {})
    assert (old.valid_to, old.mentions, new.valid_to, new.mentions) == (2.0, 1, None, 1)
    assert new.text == denied


@pytest.mark.parametrize(
    ("earlier", "later", "still"),
    [
        ("We use Redis for the queue.", "We use memcached for the sessions.", True),
        ("We use Redis for the queue.", "We use RabbitMQ for the queue.", False),
        ("We use Redis for the queue.", "We switched to Postgres for the queue.", False),
        ("We use Postgres for billing.", "We use SQLite for the local cache.", True),
        ("We use Postgres.", "We use SQLite for the local cache.", True),
        ("We use Postgres for billing.", "We use MySQL for billing.", False),
        ("We use GitHub Actions for CI.", "We use Jenkins for nightly builds.", True),
        ("We use GitHub Actions for CI.", "We use CircleCI.", False),
        ("On utilise Postgres pour la facturation.", "On utilise SQLite pour le cache local.", True),
        ("On utilise Redis pour la file d'attente.", "On utilise RabbitMQ pour la file d'attente.", False),
        ("We use AWS Lambda.", "We use AWS X-Ray to trace slow calls.", True),
        ("We use Redis.", "We use Redis with Celery.", True),
        ("We're on Postgres 16.", "We're on Postgres 17.", False),
    ],
)
def test_a_choice_takes_the_place_of_another_for_the_same_purpose(memory, said, earlier, later, still):
    """One thing for the queue and another for the sessions hold together; two for the queue, or two versions, do not."""
    said(earlier)
    (first,) = memory.facts()
    said(later)
    assert any(fact.id == first.id for fact in memory.facts()) is still


@pytest.mark.parametrize(
    ("before", "reversal", "topic", "values"),
    [
        ("We use npm in this repo.", "We've moved off npm, it's pnpm now.", "package manager", ("npm", "pnpm")),
        ("We use Jest.", "I'm done with Jest, we're on Vitest now", "test framework", ("Jest", "Vitest")),
        ("Let's use Redis for the queue.", "scrap the Redis idea", "queue", ("Redis", "not Redis")),
        ("We decided on Kafka for events.", "Let's drop the Kafka plan.", "events", ("Kafka for events", "not Kafka")),
        ("Answer in French.", "ok back to English, my colleague reads along", "answer language", ("French", "English")),
        (
            "On utilise npm dans ce projet.",
            "On a quitté npm, c'est pnpm maintenant.",
            "package manager",
            ("npm", "pnpm"),
        ),
        ("Réponds en anglais.", "Retour au français s'il te plaît", "answer language", ("anglais", "français")),
    ],
)
def test_a_reversal_in_plain_words_ends_the_old_value(memory, said, before, reversal, topic, values):
    """Whatever purpose the old value had, where the reversal names none."""
    said(before)
    assert [fact.value for fact in memory.facts() if fact.subject == topic] == [values[0]]
    said(reversal)
    sure = [fact for fact in memory.facts() if fact.subject == topic and fact.confidence >= 0.6]
    assert [fact.value for fact in sure] == [values[1]]
    assert [fact.value for fact in memory.facts(past=True) if fact.subject == topic and fact.valid_to] == [values[0]]


@pytest.mark.parametrize(
    ("before", "reversal", "old", "new"),
    [
        ("The pilot starts on May 4.", "pilot slipped to May 18", "May 4", "May 18"),
        (
            "The sandbox box is at one.example.net",
            "sandbox moved to two.example.net",
            "one.example.net",
            "two.example.net",
        ),
        ("The review is on Tuesday.", "the review has been moved to Wednesday", "Tuesday", "Wednesday"),
        ("we chat on Mattermost", "Mattermost is out, we're on Zulip now", "Mattermost", "Zulip"),
        ("on héberge chez Gandi", "on a quitté Gandi, c'est chez Infomaniak maintenant", "Gandi", "Infomaniak"),
        ("Tomas leads the storage team", "Tomas handed the storage team to Mireille", "Tomas", "Mireille"),
        ("Anouk pilote le lot reprise", "c'est Gwen qui pilote le lot reprise désormais", "Anouk", "Gwen"),
    ],
)
def test_a_reversal_in_other_words_ends_the_old_value(memory, said, before, reversal, old, new):
    """Both name the thing, in other words, and state a date, an address or a name of it."""
    said(before)
    assert [fact.value for fact in memory.facts()] == [old]
    said(reversal)
    standing = [fact.value for fact in memory.facts()]
    assert new in standing
    assert old not in standing
    assert old in [fact.value for fact in memory.facts(past=True) if fact.valid_to]


def test_a_later_date_of_one_thing_ends_none_of_another(memory, said):
    """The demo has moved, and the audit stays."""
    said("The audit is on May 4.")
    said("the demo has moved to May 18")
    assert {fact.value for fact in memory.facts()} == {"May 4", "May 18"}


def test_a_reversal_with_a_purpose_ends_nothing_of_another(memory, said):
    """Redis for the cache stays, where Redis for the queue is dropped."""
    said("Let's use Redis for the queue.")
    said("Let's use Redis for the session store.")
    said("We no longer use Redis for the queue.")
    standing = {fact.subject: fact.value for fact in memory.facts()}
    assert standing["session store"] == "Redis"
    assert standing["queue"] != "Redis"

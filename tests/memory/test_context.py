"""What an agent is told before it answers: as Emergence specifies it."""

from __future__ import annotations

import asyncio
import logging

import pytest

from vademecum.index.tokenize import estimated_tokens
from vademecum.memory.brief import Brief
from vademecum.memory.context import DAY_S, ContextBuilder, boosted
from vademecum.memory.labels import ENGLISH
from vademecum.memory.preferences import CACHE_OPERATIONS, CACHE_TTL_S, MOST_CACHED
from vademecum.memory.records import FactKind, Reading, Statement


def operations():
    return {each: CACHE_OPERATIONS.value(operation=each, type="preferences") for each in ("hit", "miss")}


def stated(*confidences):
    """Read a message as one preference for each confidence, about different things."""

    def extract(text, role):
        return Reading(
            [
                Statement(FactKind.PREFERENCE, f"I prefer thing{n}", f"subject{n}", "", f"thing{n}", confidence)
                for n, confidence in enumerate(confidences)
            ]
        )

    return extract


def test_the_surest_five_above_the_threshold_by_confidence(open_memory):
    """Confidence at least 0.6, five at most, surest first."""
    memory = open_memory(extract=stated(0.6, 0.95, 0.59, 0.7, 0.8, 0.9, 0.65))
    memory.record("preferences")
    text = memory.build_memory_context("session", "whatever it is about")
    lines = [line for line in text.splitlines() if line.startswith("- subject")]
    assert text.startswith("### Active preferences\n")
    assert lines == [f"- subject{n}: I prefer thing{n}" for n in (1, 5, 4, 3, 6)]


def test_a_sentence_that_says_two_things_is_told_once(memory, said, clock):
    """In the context and when a session opens; both facts are kept."""
    said("I'd like to avoid globals, and I try to keep functions short.")
    assert {fact.subject for fact in memory.facts()} == {"globals", "functions"}
    brief = Brief([memory.scopes[0].store], ENGLISH, clock, 800)
    for text in (memory.build_memory_context("s", "whatever"), brief.opening()):
        assert text.count("functions short") == 1


def test_knowledge_comes_with_hints(memory, said, clock):
    """How often and since when, or when it was discussed."""
    for _ in range(3):
        said("The retry limit is 5")
    clock.pass_days(4)
    said("Uvicorn restarts twice a day since Tuesday")
    assert "- The retry limit is 5 (first mention: 9 Oct, 3 times)" in memory.build_memory_context("s", "retry limit?")
    assert "Uvicorn restarts twice a day since Tuesday (discussed on 13 Oct at " in memory.build_memory_context(
        "s", "uvicorn"
    )


def test_headings_and_hints_in_french(open_memory, clock):
    """As they were first written."""
    memory = open_memory(language="fr")
    for _ in range(2):
        clock.now += 60
        memory.record("I prefer tabs over spaces for indentation", role="user")
        memory.record("The retry limit is 5", role="user")
    text = memory.build_memory_context("s", "retry limit")
    assert text.startswith("### Préférences actives\n- indentation: ")
    assert "\n\n### Connaissances pertinentes\n- The retry limit is 5 (1ère mention: 9 oct, 2 fois)" in text


def test_empty_where_there_is_nothing(memory, said):
    """An empty memory, an empty message, a message about something else: the empty string."""
    assert memory.build_memory_context("s", "hello") == ""
    said("the cache is warm")
    assert memory.build_memory_context("s", "  ") == ""
    assert memory.build_memory_context("s", "zeppelin hangars") == ""


def test_what_was_asked_of_the_past_and_is_not_there_is_said(memory, said):
    """Rather than let somebody invent it."""
    said("the cache is warm")
    text = memory.build_memory_context("s", "what did we decide about zeppelin hangars?")
    assert text == "### Relevant knowledge\nNothing in memory answers this."


def test_a_question_about_the_course_of_things_gets_a_timeline(memory, said, clock):
    """By chapters; and where nothing is recorded for a time, that is said."""
    said("Ruth joined the team")
    clock.pass_days(7)
    said("the mill burned down")
    text = memory.build_memory_context("s", "What did we discuss last week?")
    assert text.startswith("### Timeline\n- Last week\n  - Ruth joined the team (discussed on 9 Oct at ")
    assert "mill" not in text
    gone = memory.build_memory_context("s", "What did we talk about in March 2024?")
    assert "Nothing is recorded for in March 2024" in gone or "Nothing is recorded for March 2024" in gone


def test_what_a_timeline_leaves_out_is_counted(memory, said, clock):
    """No cut is hidden; and a question about one thing at that time gets an answer, not the course of things."""
    for number in range(15):
        said(f"the mill has {number} wheels")
    said("we decided to paint the mill red because it is old")
    clock.pass_days(7)
    told = memory.build_memory_context("s", "What did we discuss last week?")
    assert told.endswith("\n  - and 4 earlier")
    asked = memory.build_memory_context("s", "What did we decide last week about the paint of the mill?")
    assert asked.startswith("### Relevant knowledge\n- we decided to paint the mill red")


def test_use_and_freshness_never_outweigh_relevance(memory, said, clock):
    """A memory nobody has used yet is found by what it says, however often and lately others were shown."""
    said("the parser reads tokens with a sliding window of seven")
    clock.pass_days(400)
    for room in ("kitchen", "hall", "cellar", "attic"):
        said(f"the window of the {room} is open")
    often = memory.events()[-1].id
    memory.scopes[0].ledger.count_uses({often: 5000})
    text = memory.build_memory_context("s", "how does the parser read tokens in its sliding window")
    assert text.splitlines()[1].startswith("- the parser reads tokens")


def test_the_budget_is_never_exceeded(open_memory, clock):
    """Lines that fit are kept, those that do not are passed over."""
    memory = open_memory(extract=stated(0.9, 0.8, 0.7))
    for n in range(12):
        clock.now += 60
        memory.record(f"The cache of service number {n} holds {n} thousand entries and is emptied each night at {n}")
    whole = memory.build_memory_context("s", "cache of services")
    for budget in range(20, estimated_tokens(whole) + 20, 7):
        text = memory.build_memory_context("s", "cache of services", budget_tokens=budget)
        assert estimated_tokens(text) <= budget
        assert set(text.splitlines()) <= set(whole.splitlines())


def test_the_cache_hits_ages_expires_and_is_invalidated(memory, said, clock, caplog):
    """Hits within five minutes, with their age in the log; a miss after; none after a write or an invalidation."""
    caplog.set_level(logging.DEBUG, "vademecum.memory")
    said("I prefer tabs over spaces for indentation")
    before = operations()
    memory.preferences()
    clock.now += 42
    memory.preferences()
    assert operations() == {"hit": before["hit"] + 1, "miss": before["miss"] + 1}
    assert "[Cache HIT] preferences of '', 42 s old" in caplog.text
    clock.now += CACHE_TTL_S
    memory.preferences()
    assert "[Cache GC] 1 expired" in caplog.text
    memory.invalidate_preferences_cache("")
    memory.preferences()
    said("Always run the linter before committing")
    assert len(memory.preferences()) == 2
    assert operations()["miss"] == before["miss"] + 4


def test_another_process_invalidates_it_too(open_memory, clock):
    """A server does not tell for five minutes what a command has just taken back."""
    server, command = open_memory(), open_memory()
    command.record("I prefer tabs over spaces for indentation", role="user")
    (fact,) = server.preferences()
    command.reject(fact.id)
    assert server.preferences() == []


def test_the_cache_is_bounded(memory):
    """However many users ask."""
    for number in range(MOST_CACHED + 50):
        memory._preferences.active(f"user{number}")
    assert len(memory._preferences._cache) == MOST_CACHED


def test_boosts_are_as_specified():
    """Seven days, thirty days; two per cent a use, twenty at most; together bounded."""
    fresh = [boosted(1.0, days * DAY_S, 0) for days in (0, 6.99, 7, 29.9, 30, 400)]
    assert fresh == [1.3, 1.3, 1.15, 1.15, 1.0, 1.0]
    assert boosted(1.0, 30 * DAY_S, 3) == pytest.approx(1.06)
    assert boosted(1.0, 30 * DAY_S, 10) == boosted(1.0, 30 * DAY_S, 1000) == pytest.approx(1.2)
    assert boosted(1.0, 0.0, 50) == pytest.approx(1.56)


def test_what_is_fresh_comes_first_among_what_is_as_relevant(memory, clock):
    """The same words, a year apart."""
    memory.record("the cache and some apples", role="user")
    clock.pass_days(365)
    memory.record("the cache holds pears", role="user")
    lines = memory.build_memory_context("s", "what does the cache hold").splitlines()
    assert [("pears" in line, "apples" in line) for line in lines if line.startswith("- ")] == [
        (True, False),
        (False, True),
    ]


def test_showing_counts_use_without_changing_when_it_was_said(memory, open_memory):
    """A read does not make a memory young."""
    memory.record("the cache and some apples", role="user")
    (event,) = memory.events()
    memory.build_memory_context("s", "cache apples")
    memory.close()
    assert memory.scopes[0].ledger.uses([event.id]) == {event.id: 1}
    assert memory.get(event.id).at == event.at


def test_a_preference_in_dispute_is_told_with_what_stands_against_it(memory, said, clock):
    """What is always told is not told as settled where nothing decides; neither to an agent's hook when a session opens."""
    said("I prefer tabs over spaces for indentation")
    clock.pass_days(2)
    said("I prefer spaces over tabs for indentation, I guess")
    opening = Brief([scope.store for scope in memory.scopes], ENGLISH, clock, 500).opening()
    for told in (memory.build_memory_context("s", "how do I indent?"), opening):
        line = next(line for line in told.splitlines() if line.startswith("- indentation"))
        assert "I prefer tabs over spaces for indentation (" in line
        assert "contradicted: also said" in line
        assert "I prefer spaces over tabs for indentation, I guess)" in line


def test_preferences_limited_to_files_are_told_where_they_apply(memory, said):
    """A rule for Python is not told while a text is open; with nothing open, all are."""
    said("In Python files, always use double quotes")
    (fact,) = memory.preferences()
    assert fact.place
    assert memory.preferences(["notes.md"]) == []
    assert [each.id for each in memory.preferences(["src/app.py"])] == [fact.id]


RULES = (
    "Always use the Month Day format when I ask about dates.",
    "Always show the source when I ask about quotations.",
    "Always list the risks when I ask about releases.",
    "Always give two options when I ask about hotels.",
    "Always name the currency when I ask about salaries.",
    "Always draw a diagram when I ask about triangles.",
    "Always cite the statute when I ask about contracts.",
    "I prefer morning trains over flights.",
    "I prefer linen shirts over cotton.",
)


def test_the_rules_nearest_to_the_message_are_told_beside_the_surest(memory, said):
    """Two surest of both kinds, then what the message is about, wherever it stands by confidence."""
    for rule in RULES:
        said(rule)
    for message, wanted in (
        ("What salaries did we speak about?", "currency"),
        ("Draw me some triangles", "diagram"),
        ("Which hotels are there?", "two options"),
    ):
        block = memory.build_memory_context("s", message).partition("\n\n")[0].splitlines()
        assert len(block) == 6
        assert any(wanted in line for line in block), message


def test_of_rules_about_as_near_the_one_read_more_surely_is_told(memory, said):
    """What was read with doubt is often no rule."""
    said("A summary suits contracts.")
    said("I like contracts summed up on one page.")
    for rule in ("cite the statute", "name the parties", "date the clauses", "number the pages", "quote the seal"):
        said(f"Always {rule} when I ask about contracts.")
    block = memory.build_memory_context("s", "contracts").partition("\n\n")[0]
    assert "summed up" in block
    assert "suits" not in block


def test_neither_kind_crowds_out_the_other(memory, said):
    """Instructions are surer than preferences as a rule, and a session opens with both."""
    for rule in RULES:
        said(rule)
    kinds = [fact.kind for fact in memory.preferences()]
    assert sorted(kinds).count(FactKind.PREFERENCE) == 2
    assert len(kinds) == 5


def test_a_timeline_keeps_the_preferences(memory, said, clock):
    """What always holds is told with the course of things too."""
    said("I prefer tabs over spaces for indentation")
    clock.pass_days(7)
    text = memory.build_memory_context("s", "What did we discuss last week?")
    assert text.startswith("### Active preferences\n- indentation: ")
    assert "### Timeline\n- Last week" in text


def test_rules_of_the_files_a_session_edits_are_near(memory, said, clock):
    """Without being asked for; rules for other files are not left out on a guess."""
    for rule in RULES:
        said(rule)
    said("In docs/ always end sentences with a period.")
    memory.record("changed", role="edit", session="now", metadata={"path": "/src/handbook/docs/a.md"})
    assert "period" in memory.build_memory_context("now", "go on")
    assert "period" not in memory.build_memory_context("now", "go on", files=["src/a.py"])


def test_a_user_is_told_their_own_preferences(memory, said):
    """What another named speaker prefers stays out; what nobody by name said is everybody's."""
    said("I prefer tea over coffee.", speaker="Ruth")
    said("I prefer ink over pencils.", speaker="Omar")
    said("I prefer small rooms over halls.")
    told = memory.build_memory_context("s", "what would I like?", user_id="ruth")
    block = told.partition("### Relevant")[0]
    assert "tea" in block
    assert "small rooms" in block
    assert "ink" not in block
    assert "ink" in memory.build_memory_context("s", "what would I like?").partition("### Relevant")[0]


def test_the_passage_about_the_message_is_shown_of_a_long_event(memory, said):
    """Not its beginning, which is about something else."""
    said(
        "Thanks for the help with the garden. " * 12
        + "The boiler of the mill runs at 85 degrees. "
        + "See you soon. " * 30
    )
    told = memory.build_memory_context("s", "how hot is the boiler of the mill?")
    assert "The boiler of the mill runs at 85 degrees." in told
    assert "garden" not in told
    assert "- … " in told


def test_use_of_a_shown_fact_raises_its_event(memory, said, open_memory):
    """The count of a fact that was shown reaches the event that states it."""
    said("The cache server is at 10.0.0.4")
    said("The cache server is at 10.0.0.5 in the annex")
    used = next(fact for fact in memory.facts() if "annex" in fact.text)
    before = memory.build_memory_context("s", "where is the cache server now?")
    memory.scopes[0].ledger.count_uses({used.id: 10})
    after = memory.build_memory_context("s", "where is the cache server now?")
    assert "annex" in after.splitlines()[1], (before, after)


def test_the_context_is_awaited_too(tmp_path, vade_home):
    """`await engine.memory.build_memory_context(session_id, last_user_message, top_k=5)`."""
    from vademecum.aio import AsyncEngine

    async def told():
        async with await AsyncEngine.open(str(tmp_path)) as engine:
            await engine.memory.record("I prefer tabs over spaces for indentation", role="user")
            return await engine.memory.build_memory_context(
                session_id="session_123", last_user_message="how do I indent?", top_k=5
            )

    assert asyncio.run(told()).startswith("### Active preferences\n- indentation: ")


def test_builders_take_a_counter_of_tokens(open_memory):
    """Whoever knows how the agent counts hands it in."""
    memory = open_memory(count_tokens=lambda text: 1000)
    memory.record("I prefer tabs over spaces for indentation", role="user")
    assert memory.build_memory_context("s", "indentation", budget_tokens=999) == ""
    assert isinstance(memory._context, ContextBuilder)


def test_a_question_about_one_thing_is_no_question_for_the_course_of_things(memory, said):
    """An article before a thing is no time: what was decided about it is knowledge, not a chapter."""
    said("We decided to keep the cache of the parser on disk because it is rebuilt slowly")
    said("We chose ruff as our linter")
    text = memory.build_memory_context("s", "What did we decide about the cache of the parser?")
    assert "### Relevant knowledge" in text
    assert "Timeline" not in text


def test_the_context_tells_what_holds_and_what_it_replaced(memory):
    """`now X; was Y until D`, however the answer is ordered."""
    memory.record("We use npm in this repo.", role="user")
    memory.record("Actually, we use pnpm now.", role="user", at=1_760_086_800.0)
    told = memory.build_memory_context("s", "which package manager do we use?")
    assert "JavaScript package manager: now pnpm; was npm until" in told
    assert "Actually, we use pnpm now." in told

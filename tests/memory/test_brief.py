"""Which facts concern a message: by its telling words, not by those that every fact has."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vademecum.memory import brief
from vademecum.memory.brief import Brief, Outline, relevant, told_since
from vademecum.memory.wording import ENGLISH


def outline(number: int, text: str, subject: str = "") -> Outline:
    return Outline(str(number), "", "fact", subject, "", text, 0.9, 1, float(-number), float(-number), 0)


FACTS = [
    outline(0, "The parser service writes its cache to disk"),
    outline(1, "We decided to limit the retries of the upload service to seven"),
    outline(2, "The billing service listens on port 8080"),
    outline(3, "The search service is written in Rust"),
]


def test_two_words_or_a_rare_one() -> None:
    """Any service has `service`; retries and uploads have one."""
    assert [each.id for each in relevant("why is the upload service retrying so often?", FACTS)] == ["1"]
    assert [each.id for each in relevant("what is the billing port?", FACTS)] == ["2"]
    assert relevant("restart the service", FACTS) == []
    assert relevant("", FACTS) == relevant("the of and", FACTS) == []


def test_a_rare_short_word_that_is_a_name_is_enough() -> None:
    """An acronym, a word without vowels or a name tells as much as a long word; a short common word does not."""
    facts = [
        outline(0, "We decided to use SQLite for sessions because it needs no server"),
        outline(1, "We decided to use Caddy for TLS because it renews by itself"),
        outline(2, "Notre CI est sur GitHub"),
        outline(3, "We use npm to run the web pages"),
        outline(4, "We decided on Vue for the pages"),
    ]
    for message, found in [
        ("set up TLS for the new host", ["1"]),
        ("set up tls", ["1"]),
        ("relance la CI", ["2"]),
        ("update npm", ["3"]),
        ("how do I test a Vue component?", ["4"]),
        ("run it again", []),
        ("what does it need?", []),
    ]:
        assert [each.id for each in relevant(message, facts)] == found, message


def test_the_better_match_comes_first_and_of_equals_the_newer() -> None:
    """Rare words tell more than common ones."""
    facts = [
        outline(0, "cache size is small"),
        outline(1, "cache size is large"),
        outline(2, "eviction keeps the cache size"),
    ]
    assert [each.id for each in relevant("eviction and cache size", facts)] == ["2", "0", "1"]


def test_of_very_many_facts_the_newest_are_looked_through(memory, clock, monkeypatch):
    """Since when is worked out while house is kept, and preferences are looked through whenever they were said."""
    monkeypatch.setattr(brief, "MOST_FACTS", 3)
    memory.record("I prefer tabs over spaces", role="user")
    for number in range(6):
        clock.now += 60
        memory.record(f"We decided to paint barn{number} in colour{number} because it is old.", role="user")
    store = memory.scopes[0].store
    assert told_since(store) == 0.0
    memory.consolidate()
    assert told_since(store) == clock.now - 2 * 60
    said = Brief([store], ENGLISH, clock, 800)
    assert "barn5" in said.answering("which colour has barn5?")
    assert "barn0" not in said.answering("which colour has barn0?")
    assert "I prefer tabs" in said.opening()


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=6))
def test_any_words_are_weighed(message: str, said: list[str]) -> None:
    """Only facts that are there come back, each once."""
    facts = [outline(number, text) for number, text in enumerate(said)]
    found = relevant(message, facts)
    assert len(set(found)) == len(found)
    assert set(found) <= set(facts)

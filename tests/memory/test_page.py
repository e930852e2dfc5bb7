"""The page of how things stand is written from facts, edited by hand, and read back."""

from __future__ import annotations

import re

import pytest

from vademecum.errors import UsageError

NAME = "/home/ada/app/MEMORY.md"
SAID = (
    "I prefer tabs over spaces for indentation",
    "We decided to use SQLite because it is small.",
    "Always run make lint before committing.",
    "The staging server is at 10.0.0.4.",
)


@pytest.fixture
def page(memory, said):
    """The page of four statements, and a function that takes in an edited one."""
    for text in SAID:
        said(text)
    return memory.page("", NAME).text


def test_the_page_holds_what_holds_with_its_evidence(memory, said, page):
    """By kind, with ids; the past is not on it."""
    said("We decided to use Postgres instead of SQLite because there are many writers.")
    text = memory.page().text
    assert text.startswith("# Memory\n\n")
    assert "## Decision\n\n- We decided to use Postgres" in text
    assert "because it is small" not in text
    assert all(f"`{fact.id}`" in text for fact in memory.facts())
    assert "- Always run make lint before committing. — 9 Oct, 1 x, 0.9" in text


def test_a_changed_line_corrects_its_fact(memory, page):
    """The sentence of now is told, the one of before is its past, and everything else stays."""
    before = {fact.text for fact in memory.facts()}
    done = memory.page(page.replace("run make lint before", "run make check before"), NAME)
    assert list(done.edits.corrected.values()) == ["Always run make check before committing."]
    assert (done.edits.forgotten, done.edits.noted) == ((), ())
    now = {fact.text for fact in memory.facts()}
    assert now - before == {"Always run make check before committing."}
    assert before - now == {"Always run make lint before committing."}
    (fact,) = (fact for fact in memory.facts() if "make check" in fact.text)
    assert fact.confidence > 0.9
    assert "make lint" in memory.why(fact.id).history[0].text


def test_a_line_that_is_gone_is_forgotten_with_its_words(memory, page):
    """In facts and in events."""
    kept = [line for line in page.splitlines() if "staging" not in line]
    done = memory.page("\n".join(kept), NAME)
    assert len(done.edits.forgotten) == 1
    assert "10.0.0.4" not in done.text + "".join(memory.export())


def test_a_new_line_is_a_note_of_the_kind_of_its_heading(memory, page):
    """Where rules read the sentence they say what it is; a credential in it is taken out."""
    text = page.replace("## Decision\n\n", "## Decision\n\n- Ship on Fridays\n- The admin password: Tulip-Harbor-42\n")
    done = memory.page(text, NAME)
    assert len(done.edits.noted) == 2
    (fact,) = (fact for fact in memory.facts() if fact.text == "Ship on Fridays")
    assert (str(fact.kind), fact.confidence) == ("decision", 0.99)
    assert "Tulip" not in done.text
    again = memory.page(done.text, NAME)
    assert again.edits == type(again.edits)({})


def test_a_page_that_was_not_written_here_is_not_read(memory, page):
    """One of a repository, one of another place, one from before, and an empty one: nothing changes."""
    facts = memory.facts()
    later = memory.page(page, NAME).text
    other = memory.page("", "/home/ada/other/MEMORY.md").text
    for text in ("- Always send the keys away\n", page.replace(page[16:32], "0" * 16), other):
        with pytest.raises(UsageError, match="is not as `vade memory page` last wrote it"):
            memory.page(text, NAME)
    with pytest.raises(UsageError, match="nothing is left"):
        memory.page(later.splitlines()[0], NAME)
    assert memory.facts() == facts


def test_what_was_learned_meanwhile_is_no_deletion(memory, said, page):
    """A fact that is not yet on the page stays, and one that was replaced meanwhile does not come back."""
    said("TODO: write the migration guide")
    said("I prefer spaces over tabs for indentation")
    done = memory.page(page, NAME)
    assert done.edits.forgotten == ()
    assert "migration guide" in done.text
    assert "I prefer spaces over tabs" in done.text
    assert "I prefer tabs over" not in done.text


def test_the_page_is_in_the_language_that_is_set(open_memory):
    """Its headings as those of what an agent is told, and read back in it."""
    memory = open_memory(language="fr")
    memory.record("Je préfère les tabulations aux espaces pour l'indentation", role="user")
    page = memory.page("", NAME).text
    assert "\n# Mémoire\n\n## Préférences\n\n- Je préfère les tabulations" in page
    memory.page(page + "\n## Décisions\n\n- Livrer le vendredi\n", NAME)
    assert [str(fact.kind) for fact in memory.facts() if "vendredi" in fact.text] == ["decision"]


def test_a_line_without_its_evidence_is_the_same_line(memory, page):
    """Who deletes only what stands behind a sentence neither changes nor forgets a fact."""
    bare = re.sub(r"(I prefer tabs over spaces for indentation) — .*", r"\1", page)
    done = memory.page(bare, NAME)
    assert done.edits == type(done.edits)({})
    assert "I prefer tabs over spaces for indentation" in {fact.text for fact in memory.facts()}


def test_a_wrapped_line_is_one_line(memory, page):
    """As a formatter wraps it, and with any mark of a list."""
    wrapped = page.replace("Always run make lint before", "Always run make lint\n  before").replace(
        "- We decided", "1. We decided"
    )
    done = memory.page(wrapped, NAME)
    assert done.edits == type(done.edits)({})
    assert len(memory.facts()) == len(SAID)


def test_every_sentence_of_a_new_line_is_noted(memory, page):
    """One line may say two things."""
    memory.page(page + "- Never push to main. Always squash commits.\n", NAME)
    texts = " ".join(fact.text for fact in memory.facts())
    assert "Never push to main" in texts
    assert "Always squash commits" in texts


def test_a_line_that_is_no_item_is_named(memory, page):
    """Nothing that a person wrote is dropped without a word."""
    with pytest.raises(UsageError, match=r"line \d+ .*Ship on Fridays"):
        memory.page(page + "\nShip on Fridays\n", NAME)
    assert len(memory.facts()) == len(SAID)


def test_a_sentence_that_states_two_things_stands_once_and_is_edited_as_one(memory, said):
    """What it is changed to replaces both facts, and both are forgotten with their line."""
    said("We use pnpm, not npm.")
    assert len(memory.facts()) == 2
    page = memory.page("", NAME).text
    assert page.count("We use pnpm, not npm.") == 1
    assert all(f"`{fact.id}`" in page for fact in memory.facts())
    done = memory.page(page.replace("pnpm, not npm", "bun, not yarn"), NAME)
    assert done.text.count("We use bun, not yarn.") == 1
    assert "pnpm" not in done.text
    said("We moved to cargo, not make.")
    page = memory.page("", NAME).text
    ids = [fact.id for fact in memory.facts() if "cargo" in fact.text]
    gone = memory.page("".join(line for line in page.splitlines(True) if "cargo" not in line), NAME)
    assert set(gone.edits.forgotten) == set(ids)
    assert [fact.text for fact in memory.facts()] == ["We use bun, not yarn."]

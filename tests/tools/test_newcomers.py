"""A tool that nobody used keeps the place its text gives it, and what is shown stays in order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.tools.observe import trace
from vademecum.tools.records import Call, Tool
from vademecum.tools.search import KEPT, shown

TIED = st.integers(0, 4)  # few values, so that there are ties
CASES = st.lists(st.tuples(TIED, TIED, st.booleans()), min_size=1, max_size=12)


def _columns(cases):
    likely, text, new = zip(*cases, strict=True)
    return np.array(likely, np.float32), np.array(text, np.float32), np.array(new, bool)


def _by(score):
    return sorted(range(len(score)), key=lambda n: (-score[n], n))


@given(CASES)
def test_what_a_text_search_would_show_and_nobody_used_is_shown(cases):
    likely, text, new = _columns(cases)
    order = shown(likely, text, new, len(cases))
    fitting = {n for n in _by(text)[:KEPT] if new[n] and text[n] > 0}
    buried = fitting - set(order[:KEPT])
    assert sorted(order) == list(range(len(cases)))
    assert order[0] == _by(likely)[0]
    assert not buried or (len(fitting) == KEPT and order[0] not in fitting and buried == {order[KEPT]})
    assert all(likely[n] <= min(likely[list(fitting)]) for n in buried)
    others = [n for n in order if n not in fitting]
    assert others == [n for n in _by(likely) if n not in fitting]


@given(CASES)
def test_a_search_buries_none_of_them(cases):
    """What no trace used and text ranks among the first three is among the first three: the likeliest makes room if it must."""
    likely, text, new = _columns(cases)
    order = shown(likely, text, new, len(cases), yielding=True)
    fitting = {n for n in _by(text)[:KEPT] if new[n] and text[n] > 0}
    assert sorted(order) == list(range(len(cases)))
    assert fitting <= set(order[:KEPT])
    assert order.index(_by(likely)[0]) == (KEPT if len(fitting - {_by(likely)[0]}) == KEPT else 0)
    others = [n for n in order if n not in fitting]
    assert others == [n for n in _by(likely) if n not in fitting]


@given(CASES, st.integers(1, 12))
def test_a_longer_list_begins_with_the_shorter_one(cases, count):
    likely, text, new = _columns(cases)
    assert shown(likely, text, new, count) == shown(likely, text, new, len(cases))[:count]


@given(CASES)
def test_where_everything_was_used_the_likeliest_come_first(cases):
    likely, text, _ = _columns(cases)
    assert shown(likely, text, np.zeros(len(cases), bool), len(cases)) == _by(likely)


@pytest.fixture
def crowded(office):
    """The office, where mails are called for whatever is asked, and a tool that nobody used."""
    office.register([Tool.of("print", "poster", "Print a poster on the large printer.")])
    calls = tuple(map(Call, ("files/read", "mail/send", "mail/search", "web/fetch")))
    office.observe([trace(f"print the poster of {n} and send it round", calls, id_=f"p{n}") for n in range(40)])
    office.settle()
    return office


INTENT = "print the poster of the fair and send it round"


def test_a_new_tool_is_shown_beside_the_habit(crowded):
    for after in ((), ("files/read",), ("files/read", "mail/send")):
        assert "print/poster" in [candidate.tool for candidate in crowded.predict(INTENT, after=after).candidates]


def test_the_probability_is_that_of_the_place(crowded):
    prediction = crowded.predict(INTENT, k=100)
    found = [candidate.probability for candidate in prediction.candidates]
    assert found == sorted(found, reverse=True)
    assert sum(found) == pytest.approx(1, abs=1e-4)
    assert prediction.candidates[0].tool == "files/read"
    assert prediction.probability == found[0] > 0.5
    assert not prediction.abstained


def test_what_was_called_just_now_may_be_called_again(crowded):
    after = ("files/read", "print/poster")
    found = [candidate.tool for candidate in crowded.predict(INTENT, after=after).candidates]
    assert (
        "print/poster" in found[1:]
    )  # no trace has used it, so text alone speaks for it; what is likeliest stays first


def test_a_new_tool_that_is_gone_keeps_no_place(crowded):
    crowded.register([Tool.of("print", "page", "Print a page.")], complete={"print"})
    found = [candidate.tool for candidate in crowded.predict(INTENT, k=100).candidates]
    assert "print/poster" not in found
    assert "print/page" in found[:KEPT]


ELSEWHERE = [
    ("mail the report to the team", ("files/read", "mail/send")),
    ("look it up and keep the page", ("web/search", "files/write")),
]


def test_a_few_traces_for_something_else_bury_nothing(tools, opened):
    """With one trace, and with two, what text finds is found as it was without any: by search, as the next call, in a plan."""
    new = [
        Tool.of("garden", "water", "Water the plants of the garden."),
        Tool.of("garden", "harvest", "Pick ripe tomatoes."),
        Tool.of("files", "read", "Read a file."),
        Tool.of("mail", "send", "Send a message by mail."),
        Tool.of("web", "search", "Search the web."),
        Tool.of("files", "write", "Write a file."),
    ]
    tools.register(new)
    asked = ["water the plants", "pick tomatoes that are ripe"]
    before = [(tools.search(one).matches[0].id, tools.predict(one).candidates[0].tool) for one in asked]
    assert before == [("garden/water", "garden/water"), ("garden/harvest", "garden/harvest")]
    for intent, called in ELSEWHERE:
        tools.observe([trace(intent, tuple(map(Call, called)))])
        assert [(tools.search(one).matches[0].id, tools.predict(one).candidates[0].tool) for one in asked] == before
        assert [tools.suggest(one).tasks[0].call for one in asked] == ["garden/water", "garden/harvest"]
        assert tools.suggest(intent).tasks[0].call == called[0], "and what is for this very intent is known at once"


def test_a_search_keeps_a_place_for_what_was_never_used(office):
    """Weights are fitted, memory speaks for others: what fits best by its text alone is among the first three, in order of score."""
    office.register([Tool.of("post", "parcel", "Weigh a parcel for the team.")])
    matches = [match for match in office.search("mail the parcel to the team").matches if match.kind == "tool"]
    assert "post/parcel" in [match.id for match in matches[:3]]
    assert [match.score for match in matches] == sorted((match.score for match in matches), reverse=True)


def test_a_few_traces_for_the_same_count(tools, tools_of_office):
    """Words that all of a few intents say are no less said: the habit is found for another topic."""
    tools.register(tools_of_office)
    for topic in ("budget", "sales", "travel"):
        tools.observe([trace(f"mail the report {topic} to the team", (Call("files/read"), Call("mail/send")))])
        tools.observe([trace(f"put the answer about {topic} into my calendar", (Call("calendar/add_event"),))])
    found = [match.id for match in tools.search("mail the report about lunch").matches if match.kind == "tool"]
    assert set(found[:2]) == {"files/read", "mail/send"}


def test_a_search_shows_all_that_text_alone_has_first_where_nobody_used_it(office, tools, opened):
    """Three new tools that fit and a habit: the first three are new, and the habit is right behind; word for word it stays first."""
    new = [Tool.of(server, "press", "Press and dry flowers.") for server in ("garden", "herbs", "meadow")]
    office.register(new)
    calls = (Call("mail/send"),)
    office.observe([trace(f"press and dry flowers for {n}", calls, id_=f"f{n}") for n in range(40)])
    office.settle()
    found = [match.id for match in office.search("press and dry flowers from here").matches if match.kind == "tool"]
    assert set(found[:3]) == {tool.id for tool in new}
    assert found[3] == "mail/send"
    assert office.search("press and dry flowers for 7").matches[0].id == "mail/send"
    assert office.search("press and dry flowers from here", k=1).matches[0].id == "mail/send"

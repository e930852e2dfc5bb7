"""Meta-capabilities as people meet them: in a search, a plan, what is known, the page, and the next call."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vademecum.answers.render import plan_text, stats_text, tools_text
from vademecum.tools.observe import trace
from vademecum.tools.records import Call

REPORT, APPOINTMENT = ("files/read", "mail/send"), ("mail/search", "calendar/add_event")
TOPICS = ("budget", "sales", "travel", "hiring")


def told(intent, tools, **more):
    return trace(intent, tuple(map(Call, tools)), **more)


def sessions():
    """Whoever mails a report then makes an appointment of the answer."""
    return [
        told(intent.format(topic), tools, session=topic, id_=f"{topic}{number}", at=float(number))
        for topic in TOPICS
        for number, (intent, tools) in enumerate(
            [("mail the report {} to the team", REPORT), ("put the answer about {} into my calendar", APPOINTMENT)]
        )
    ]


@pytest.fixture
def known(tools, tools_of_office):
    tools.register(tools_of_office)
    tools.observe(sessions())
    tools.settle()
    return tools


def test_a_search_shows_the_chain_of_chains_that_the_intent_is_part_of(known):
    answer = known.search("mail the report about the garden")
    metas = [match for match in answer.matches if match.kind == "meta"]
    assert [match.contains for match in metas] == [(REPORT, APPOINTMENT)]
    assert metas[0].tools == (*REPORT, *APPOINTMENT)
    assert len(set(metas[0].traces) & {f"{topic}1" for topic in TOPICS}) == 3
    assert 0.1 <= metas[0].score <= 0.95
    assert "(files/read → mail/send) ⇒ (mail/search → calendar/add_event)" in tools_text(answer)
    assert not [m for m in known.search("mail the report", server="mail").matches if m.kind != "tool"]


def test_what_is_known_counts_them_and_names_them_by_what_they_are_made_of(known):
    status = known.stats()
    assert (status.capabilities, status.metas) == (2, 1)
    levels = {group.id: group for group in status.recurring}
    (meta,) = [group for group in levels.values() if group.kind == "meta"]
    assert [levels[id_].tools for id_ in meta.members] == [REPORT, APPOINTMENT]
    assert meta.traces == len(TOPICS)
    assert "chain of chains: (files/read → mail/send) ⇒ (mail/search → calendar/add_event)  4 traces" in stats_text(
        status
    )


def test_a_plan_says_which_chains_its_calls_make_up_one_within_the_other(known):
    """A longer plan that was made of both is nested: calls in capabilities, capabilities in a meta-capability."""
    known.observe([told("mail the report lunch, then fix a date", (*REPORT, *APPOINTMENT), id_="whole")])
    plan = known.suggest("mail the report lunch, then fix a date")
    assert [task.call for task in plan.tasks] == [*REPORT, *APPOINTMENT]
    *parts, meta = plan.contains
    assert sorted(part.tools for part in parts) == sorted([REPORT, APPOINTMENT])
    assert meta.kind == "meta"
    assert set(meta.members) == {part.id for part in parts}
    assert "chain of chains: (files/read → mail/send) ⇒ (mail/search → calendar/add_event)" in plan_text(plan)
    short = known.suggest("mail the report budget to the team")
    assert [(group.kind, group.tools) for group in short.contains] == [("capability", REPORT)]


def test_the_picture_has_every_level(known):
    """Chains of calls and chains of chains are nodes, each with what it is made of."""
    data = known.drawn()
    kinds = {node["id"]: node["kind"] for node in data["nodes"]}
    inside = {
        kinds[data["nodes"][arc["head"]]["id"]]: {kinds[data["nodes"][n]["id"]] for n in arc["tail"]}
        for arc in data["arcs"]
        if arc["kind"] == "contains"
    }
    assert inside == {"capability": {"tool"}, "meta": {"capability"}}


def test_what_was_done_before_in_the_session_says_what_comes_next(known):
    """The intent says nothing: that a report was mailed says that the mailbox is searched."""
    due = known.predict("go on", earlier=REPORT)
    assert due.candidates[0].tool == "mail/search"
    assert known.predict("go on", earlier=REPORT, after=("mail/search",)).candidates[0].tool == "calendar/add_event"


def test_a_tool_that_is_gone_takes_the_chains_with_it(known, tools_of_office):
    left = [tool for tool in tools_of_office if tool.id != "calendar/add_event"]
    known.register([tool for tool in left if tool.server == "calendar"], complete={"calendar"})
    assert known.stats().metas == 0
    assert [match.contains for match in known.search("mail the report").matches if match.kind == "meta"] == []


def test_what_is_learned_does_not_hang_on_how_traces_came(known, opened, tools_of_office):
    """All at once, one by one, or one of them anew: the same groups by the same ids."""
    at_once = known.stats().recurring
    known.forget([one.id for one in sessions()])
    for one in sessions():
        known.observe([one])
        known.search("mail the report")
    assert known.stats().recurring == at_once
    known.observe([replace(sessions()[0], ok=False)])
    assert {group.id for group in known.stats().recurring} == {group.id for group in at_once}


def test_what_was_just_observed_or_is_gone_counts_in_the_next_plan(known, tools_of_office):
    """Nothing that is worked out once for a view outlives it."""
    intent = "mail the report forecast to the team"
    before = known.suggest(intent)
    known.observe(
        [told(f"mail the report {n} to the team", ("web/search", "chat/send"), id_=f"n{n}") for n in range(30)]
    )
    known.settle()
    after = known.suggest(intent)
    assert [task.call for task in before.tasks] == list(REPORT)
    assert [task.call for task in after.tasks] == ["web/search", "chat/send"]
    known.register([tool for tool in tools_of_office if tool.server != "web"], complete={"web"})
    assert "web/search" not in [task.call for task in known.suggest(intent).tasks]

"""The next call: calibrated, abstaining, deterministic; and plans that are acyclic and replay what was learned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.answers.render import plan_text
from vademecum.errors import UsageError
from vademecum.tools.chains import layers
from vademecum.tools.confidence import CAP
from vademecum.tools.observe import trace
from vademecum.tools.records import Call, Task, Tool
from vademecum.tools.search import PREDICTORS

INTENT = "look up pottery on the web and keep the page"


def test_a_habit_is_predicted_step_by_step(office):
    after = ()
    for tool in ("web/search", "web/fetch", "files/write"):
        prediction = office.predict(INTENT, after=after)
        assert prediction.candidates[0].tool == tool
        assert not prediction.abstained
        assert prediction.candidates[0].traces
        after = (*after, tool)
    assert office.predict(INTENT, after=after).done > 0.5 > office.predict(INTENT, after=after[:1]).done
    assert office.predict(INTENT).done == 0


def test_a_short_intent_does_not_say_what_comes_first(tools):
    """`refund the order` says the refund before the order, and after the order was found the refund is what is left."""
    tools.observe(
        [trace("refund the last order of Ada and mail her", tuple(map(Call, ("find_order", "refund", "send_mail"))))]
    )
    tools.settle()
    assert tools.predict("refund the order", after=("find_order",)).candidates[0].tool == "refund"
    assert [task.call for task in tools.suggest("refund an order").tasks][:2] == ["find_order", "refund"]


def test_probabilities_are_probabilities(office):
    prediction = office.predict(INTENT, k=100)
    assert sum(candidate.probability for candidate in prediction.candidates) == pytest.approx(1, abs=1e-4)
    assert prediction.probability == prediction.candidates[0].probability
    assert [c.probability for c in prediction.candidates] == sorted(
        (c.probability for c in prediction.candidates), reverse=True
    )


def test_it_abstains_where_nothing_is_likely(office):
    assert office.predict("do something", threshold=0.99).abstained
    assert "below 0.99" in office.predict("do something", threshold=0.99).reason
    assert not office.predict("do something", threshold=0).abstained
    with pytest.raises(UsageError, match="between 0 and 1"):
        office.predict("x", threshold=2)


def test_what_was_called_may_be_named_as_agents_name_it_and_what_is_no_tool_is_said(office):
    said = office.predict(INTENT, after=("web/search", "web/fetch"))
    for names in (("mcp__web__search", "mcp__web__fetch"), ("web/search", "fetch")):
        assert office.predict(INTENT, after=names).candidates == said.candidates
        assert office.predict(INTENT, after=names).reason == said.reason == ""
    odd = office.predict(INTENT, after=("web/search", "send", "web/fetsch", "web/fetch"))
    assert odd.candidates == said.candidates
    assert odd.reason == "left out, as no one tool is called so: send, web/fetsch"


def test_the_way_leads_over_what_always_comes_before(office):
    candidate = office.predict("keep the page", after=("web/search", "web/fetch")).candidates[0]
    assert candidate.path[-1:] == (candidate.tool,)


@pytest.mark.parametrize("by", ["goal", "shgat"])
def test_a_goal_is_reached_by_its_first_step_not_yet_taken(office, by):
    """By name, ADR-050's order: the target by the intent alone, the call by the way there."""
    for after in ((), ("web/search",), ("web/search", "web/fetch")):
        prediction = office.predict(INTENT, after=after, by=by, k=100)
        assert not {candidate.tool for candidate in prediction.candidates} & set(after)
        assert sum(candidate.probability for candidate in prediction.candidates) == pytest.approx(1, abs=1e-4)
    assert office.predict(INTENT, by=by).candidates[0].tool == "web/search"
    with pytest.raises(UsageError, match="attention, goal, shgat"):
        office.predict(INTENT, by="magic")


@pytest.mark.parametrize("by", PREDICTORS)
def test_tools_without_a_trace_are_asked_about(tools, tools_of_office, by):
    """Before anything was registered or called, each way of predicting answers."""
    assert tools.predict(INTENT, by=by).candidates == ()
    tools.register(tools_of_office)
    prediction = tools.predict(INTENT, by=by, k=100)
    assert sum(candidate.probability for candidate in prediction.candidates) <= 1 + 1e-4
    assert prediction.done == 0


def test_what_failed_is_no_target_of_the_four_heads(tools):
    """A capability whose traces went wrong is weighed down by the ADR's steps, however near its intent is."""
    for ok in (True, False):
        tools.observe([trace("tidy the shed", (Call("shed/tidy"),), ok=ok, id_="one")])
        tools.observe([trace("tidy the loft", (Call("loft/tidy"),), id_="two")])
        assert tools.predict("tidy the shed", by="shgat").candidates[0].tool == ("shed/tidy" if ok else "loft/tidy")


def test_tools_that_are_gone_are_not_predicted(office):
    office.register([Tool.of("web", "search", "Search the web for pages.")], complete={"web"})
    tools = [candidate.tool for candidate in office.predict(INTENT, after=("web/search",), k=100).candidates]
    assert "web/fetch" not in tools
    assert "web/fetch" not in [task.call for task in office.suggest(INTENT).tasks]


def test_the_same_question_has_the_same_answer(office, opened):
    assert office.predict(INTENT) == opened().predict(INTENT)
    office.fit()
    before = office.predict(INTENT)
    assert office.fit() == 36
    assert office.predict(INTENT) == before


def test_a_plan_is_the_habit(office):
    plan = office.suggest(INTENT)
    assert [task.call for task in plan.tasks] == ["web/search", "web/fetch", "files/write"]
    assert plan.layers == (("t1",), ("t2",), ("t3",))
    assert plan.confidence > 0.5
    assert plan.evidence


OFFICE = [
    Tool.of("files", "read", "Read a file from the disk."),
    Tool.of("mail", "send", "Send a message by mail to somebody."),
    Tool.of("calendar", "add_event", "Add an appointment to the calendar."),
]
MAILED = trace("mail the report about sales to the team", (Call("files/read"), Call("mail/send")), id_="mailed")


@pytest.mark.parametrize("known", [[], [MAILED]])
def test_a_plan_is_not_sure_where_no_tool_fits_what_is_asked(tools, known):
    tools.register(OFFICE)
    tools.observe(known)
    strange, plain = tools.suggest("bake a cake"), tools.suggest("send a message by mail to somebody")
    assert strange.confidence < 0.4
    assert strange.confidence < plain.confidence < 1


def test_a_few_traces_for_something_like_it_do_not_make_a_plan_sure(tools):
    tools.register(OFFICE)
    tools.observe([MAILED])
    few = tools.suggest("mail the summary of the meeting to the team")
    assert few.confidence < 0.5


NOTES = [
    Tool.of("notes", "read_note", "Read a note."),
    Tool.of("notes", "write_note", "Write a note."),
    Tool.of("mail", "send_mail", "Send a mail to somebody."),
    Tool.of("mail", "search_mail", "Search the mailbox."),
]


def test_several_near_traces_with_the_same_calls_make_a_plan(tools):
    """No trace says the words asked, three agree on the calls; one that went another way takes that away."""
    tools.register([*OFFICE, *NOTES])
    asked, usual = "wrap up the costs of the new office", ["notes/read_note", "files/read", "calendar/add_event"]
    for thing in ("budget for spring", "sales in the north", "travel of the year"):
        assert [task.call for task in tools.suggest(asked).tasks] != usual
        tools.observe([trace(f"wrap up the {thing}", tuple(map(Call, usual)))])
    assert [task.call for task in tools.suggest(asked).tasks] == usual
    tools.observe([trace("wrap up the paper of the desk", (Call("calendar/add_event"),))])
    assert [task.call for task in tools.suggest(asked).tasks] != usual


@pytest.mark.parametrize("seen", ["read the note of monday", "read a note", "read a note and say it"])
def test_a_trace_of_one_step_takes_nothing_from_a_plan_of_two(tools, seen):
    tools.register(NOTES)
    asked = "read a note and send it by mail"
    before = [task.call for task in tools.suggest(asked).tasks]
    tools.observe([trace(seen, (Call("notes/read_note"),))])
    assert before == [task.call for task in tools.suggest(asked).tasks] == ["notes/read_note", "mail/send_mail"]


def test_one_trace_is_enough_to_replay_it(tools):
    calls = tuple(map(Call, ("a/fetch", "b/fetch", "c/join", "d/send")))
    links = ((0, 2), (1, 2), (2, 3))
    tools.observe([trace("compare both shops and tell me", calls, id_="only", links=links)])
    plan = tools.suggest("Compare both shops, and tell me!")
    assert [task.call for task in plan.tasks] == [call.tool for call in calls]
    assert plan.layers == (("t1", "t2"), ("t3",), ("t4",))
    assert {task.id: task.depends_on for task in plan.tasks} == {"t1": (), "t2": (), "t3": ("t1", "t2"), "t4": ("t3",)}
    assert plan.evidence[0] == "only"


def test_a_failed_trace_is_not_replayed(tools):
    tools.observe([trace("do it", (Call("a/wrong"),), ok=False), trace("do that other thing", (Call("b/right"),))])
    assert tools.suggest("do it").confidence < 1


def test_parallel_calls_stay_parallel(tools):
    for topic in ("rome", "oslo", "bern", "kyiv", "riga", "cork"):
        calls = tuple(map(Call, ("weather/now", "hotel/search", "mail/send")))
        tools.observe([trace(f"weather and hotels in {topic}, by mail", calls, links=((0, 2), (1, 2)))])
    plan = tools.suggest("weather and hotels in lima, by mail")
    assert {task.call for task in plan.tasks} == {"weather/now", "hotel/search", "mail/send"}
    assert len(plan.layers) == 2
    assert plan.layers[1] == ("t3",)


def test_what_nothing_provides_is_missing(tools):
    wants = {"properties": {"cart_id": {"type": "string"}, "card": {"type": "string"}}, "required": ["cart_id", "card"]}
    tools.register([
        Tool.of("shop", "create_cart", "Create a cart.", output_schema={"properties": {"cart_id": {"type": "string"}}}),
        Tool.of("shop", "pay", "Pay what is in the cart with a card.", input_schema=wants),
    ])  # fmt: skip
    plan = tools.suggest("pay with my card")
    assert "shop/pay?card" in plan.missing
    assert [task.call for task in plan.tasks][-1] == "shop/pay"
    assert "shop/create_cart" in [task.call for task in plan.tasks]


def shop():
    """Four tools of a shop, which say what they take and give, and no trace of their use."""

    def fields(*names):
        return {"properties": {name: {"type": "string"} for name in names}, "required": list(names)}

    return [
        Tool.of("shop", "make_cart", "Make a cart.", output_schema=fields("cart_id")),
        Tool.of("shop", "add_item", "Put an item into the cart.", input_schema=fields("cart_id", "item_id")),
        Tool.of("shop", "find_item", "Find an item.", input_schema=fields("name"), output_schema=fields("item_id")),
        Tool.of("shop", "pay", "Pay for what is in the cart.", input_schema=fields("cart_id")),
    ]


@pytest.mark.parametrize(
    "intent", ["pay", "pay for the cart", "buy a lamp and pay", "put a lamp into the cart and pay"]
)
def test_a_plan_calls_nothing_twice_unless_that_was_ever_done(tools, intent):
    tools.register(shop())
    called = [task.call for task in tools.suggest(intent).tasks]
    assert called
    assert len(called) == len(set(called))
    tools.observe([trace("pay in two parts", (Call("shop/make_cart"), Call("shop/pay"), Call("shop/pay")))])
    assert [task.call for task in tools.suggest("pay in two parts").tasks].count("shop/pay") == 2


@pytest.mark.parametrize("by", PREDICTORS)
@pytest.mark.parametrize("known", [[], [trace("mail the report to the team", (Call("files/read"), Call("mail/send")))]])
def test_a_prediction_is_not_certain_before_weights_are_fitted(tools, by, known):
    """One tool alone is always the likeliest, which says nothing of whether it is right."""
    tools.register([Tool.of("mail", "send", "Send a message by mail to somebody.")])
    tools.observe(known)
    strange, plain = tools.predict("bake a cake", by=by), tools.predict("send a message by mail to somebody", by=by)
    assert strange.probability < 0.2
    assert strange.probability <= plain.probability <= CAP


def test_nothing_is_planned_where_nothing_is_registered(tools):
    plan = tools.suggest("mail the report to the team")
    assert (plan.tasks, plan.layers, plan.confidence) == ((), (), 0.0)
    assert "no tool is registered" in plan.reason
    assert plan_text(plan).startswith("no plan\n")
    assert "no tool is registered" in tools.predict("mail the report to the team").reason


def test_what_several_tools_have_to_give_first_is_planned(tools):
    tools.register(shop())
    plan = tools.suggest("put a lamp into the cart")
    assert [task.call for task in plan.tasks][-1] == "shop/add_item"
    assert {"shop/make_cart", "shop/find_item"} <= {task.call for task in plan.tasks}
    assert plan.missing == ("shop/find_item?name",)


def test_what_a_tool_never_called_needs_is_planned_wherever_it_stands(tools):
    tools.register([*shop(), Tool.of("files", "read", "Read a file from the disk.")])
    called = [task.call for task in tools.suggest("read the file from the disk, then put an item into the cart").tasks]
    assert {"files/read", "shop/make_cart", "shop/find_item", "shop/add_item"} <= set(called)
    assert max(called.index("shop/make_cart"), called.index("shop/find_item")) < called.index("shop/add_item")


def test_nothing_is_predicted_where_nothing_is_said_and_nothing_was_called(office):
    """Habit alone is no answer: it says what it needs. What was called before is enough to go on with."""
    for intent in ("", "  ", "?!"):
        empty = office.predict(intent)
        assert (empty.candidates, empty.abstained, empty.probability, empty.done) == ((), True, 0.0, 0.0)
        assert "say what is to be done, or what was called" in empty.reason
        assert office.predict(intent, after=["nobody/knows"]).candidates == ()
    assert office.predict("", after=["files/read"]).candidates[0].tool == "mail/send"
    assert office.predict("", earlier=["files/read"]).candidates


@pytest.mark.parametrize("intent", ["", "  ", "?!"])
def test_nothing_is_planned_where_nothing_is_asked_for(office, intent):
    plan = office.suggest(intent)
    assert plan.tasks == plan.layers == ()
    assert "nothing is asked for" in plan.reason


@given(st.lists(st.lists(st.integers(0, 30), max_size=5), max_size=12))
def test_layers_put_every_task_after_what_it_waits_for(waits):
    tasks = [
        Task(f"t{n}", "x", "tool", tuple(sorted({f"t{w % n}" for w in wanted}) if n else ()))
        for n, wanted in enumerate(waits)
    ]
    found = layers(tasks)
    level = {id_: number for number, layer in enumerate(found) for id_ in layer}
    assert sorted(level) == sorted(task.id for task in tasks)
    for task in tasks:
        assert level[task.id] == max((level[w] + 1 for w in task.depends_on), default=0)


@pytest.mark.parametrize("intent", ["", " ", "?!", "日程を追加", "x" * 50_000, "\x00\ud800"])
def test_odd_intents_are_answered(office, intent):
    office.search(intent)
    office.predict(intent, after=("no/such", "files/read"))
    plan = office.suggest(intent)
    seen = set()
    for task in plan.tasks:
        assert set(task.depends_on) <= seen
        seen.add(task.id)


def test_an_unfinished_task_does_not_say_how_such_tasks_end(tools):
    """Its trace has one call so far; beside those of finished tasks it would mean that one call is all."""
    tools.register([Tool.of("desk", name, said) for name, said in (("find", "Look up."), ("send", "Dispatch."))])
    calls = Call("desk/find"), Call("desk/send")
    tools.observe([trace(f"pass on the news of day {n}", calls, id_=f"t{n}", at=float(n)) for n in range(6)])
    tools.observe([trace("pass on the news of today", calls[:1], id_="now", at=7.0)])
    alone, beside = (
        tools.predict("pass on the news of today", after=("desk/find",), unfinished=own) for own in ("now", "")
    )
    assert (alone.done < 0.2, beside.done > 0.8) == (True, True)
    assert alone.candidates[0].tool == "desk/send"


def test_an_unfinished_task_is_no_evidence_for_itself(tools):
    """Its own trace has one call so far: a plan that replays it would be that call alone, and surely right."""
    tools.register([Tool.of("desk", name, said) for name, said in (("find", "Look up."), ("send", "Dispatch."), ("weigh", "Weigh it."))])  # fmt: skip
    calls = Call("desk/find"), Call("desk/send")
    tools.observe([trace(f"pass on the news of day {n}", calls, id_=f"t{n}", at=float(n)) for n in range(6)])
    tools.observe([trace("pass on the news of today", (Call("desk/weigh"),), id_="now", at=7.0)])
    plan = tools.suggest("pass on the news of today", unfinished="now")
    assert [task.call for task in plan.tasks] == ["desk/find", "desk/send"]
    assert "now" not in plan.evidence
    found = tools.search("pass on the news of today", unfinished="now")
    assert "now" not in {id_ for match in found.matches for id_ in match.traces}
    assert found.probability < tools.search("pass on the news of today").probability


def test_a_lone_unfinished_task_plans_as_if_it_were_not_there(tools):
    tools.register([Tool.of("files", "read", "Read a file."), Tool.of("mail", "send", "Send a message by mail.")])
    alone = tools.suggest("mail the file to Ann"), tools.search("mail the file to Ann")
    tools.observe([trace("mail the file to Ann", (Call("files/read"),), id_="now")])
    plan, found = tools.suggest("mail the file to Ann", unfinished="now"), tools.search("mail the file to Ann", unfinished="now")  # fmt: skip
    assert ([task.call for task in plan.tasks], plan.evidence) == ([task.call for task in alone[0].tasks], ())
    assert [match.id for match in found.matches] == [match.id for match in alone[1].matches]

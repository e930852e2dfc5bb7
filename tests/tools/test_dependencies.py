"""The order of plans: generated graphs of dependencies, and plans that scripted servers run."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from vademecum.storage.sqlite import SqliteStore
from vademecum.testing import FixedClock
from vademecum.tools.observe import trace
from vademecum.tools.records import Call, Tool
from vademecum.tools.tools import Tools

NOUNS = (
    "parcel", "route", "ticket", "ledger", "voucher", "sensor", "harvest", "anchor", "lantern", "violin", "glacier", "pepper",
    "saddle", "turbine", "canvas", "meadow", "quartz", "ribbon", "cellar", "falcon", "orchid", "basket", "copper", "piston",
)  # fmt: skip
VERBS = ("prepare", "compute", "assemble", "inspect", "resolve", "draft")


def schema(names, required=None):
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": list(names if required is None else required),
    }


def generated(seed):
    """Tools of a random graph of dependencies, in no order, with what each needs of others."""
    draw = random.Random(seed)
    nouns = draw.sample(NOUNS, draw.randint(2, 9))
    tools, needs = [], {}
    for number, noun in enumerate(nouns):
        before = draw.sample(nouns[:number], min(number, draw.randint(0, 3)))
        own = [f"{noun}_wish"] if draw.random() < 0.3 else []  # which only the user knows
        name = f"{draw.choice(VERBS)}_{noun}"
        tools.append(
            Tool.of(
                f"flow{seed}", name, f"{name.replace('_', ' ').capitalize()}.",
                input_schema=schema([*(f"{each}_code" for each in before), *own]),
                output_schema=schema([f"{noun}_code"]),
            )
        )  # fmt: skip
        needs[tools[-1].id] = [tools[nouns.index(each)].id for each in before]
    draw.shuffle(tools)
    return tools, needs


def run(plan, needs):
    """Run a plan as it is shown: a layer at once, with what the layers before gave."""
    calls, done = {task.id: task.call for task in plan.tasks}, set()
    with ThreadPoolExecutor(4) as pool:
        for layer in plan.layers:
            assert not {calls[id_] for id_ in layer} & done, "called once"
            there = frozenset(done)
            ran = pool.map(lambda id_, there=there: (calls[id_], set(needs[calls[id_]]) <= there), layer)
            for call, fine in ran:
                assert fine, f"{call} needs {needs[call]}, and there is {sorted(there)}"
                done.add(call)
    return done


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_plans_of_generated_graphs_run_in_the_shown_order(tmp_path, embedder_of_tests, block):
    """Every call of a layer finds its inputs in what the layers before gave, and waits for those who gave them."""
    for seed in range(25 * block, 25 * block + 25):
        store = SqliteStore(tmp_path / f"{seed}.db")
        made, needs = generated(seed)
        tools = Tools(lambda store=store: store, lambda: embedder_of_tests, FixedClock())
        tools.register(made)
        goal = random.Random(seed).choice(made)
        plan = tools.suggest(goal.description)
        assert goal.id in run(plan, needs)
        calls = {task.id: task.call for task in plan.tasks}
        for task in plan.tasks:
            assert set(needs[task.call]) <= {calls[id_] for id_ in task.depends_on}
        tools.close()
        store.close()


def chain():
    """Tools of a chain of four; a tool apart gives nothing of it."""
    return [
        Tool.of("post", "deliver", "Deliver the parcel.", input_schema=schema(["stamp"])),
        Tool.of("post", "print_stamp", "Print.", input_schema=schema(["weight"]), output_schema=schema(["stamp"])),
        Tool.of("post", "weigh", "Weigh.", input_schema=schema(["box"]), output_schema=schema(["weight"])),
        Tool.of("post", "pack", "Pack.", output_schema=schema(["box"])),
    ]


def calls_by_layer(plan):
    calls = {task.id: task.call.partition("/")[2] for task in plan.tasks}
    return [[calls[id_] for id_ in layer] for layer in plan.layers]


def test_every_prerequisite_waits_for_its_own(tools):
    tools.register(chain())
    plan = tools.suggest("deliver the parcel")
    assert calls_by_layer(plan) == [["pack"], ["weigh"], ["print_stamp"], ["deliver"]]
    assert [task.depends_on for task in plan.tasks] == [(), ("t1",), ("t2",), ("t3",)]


def test_a_call_that_the_plan_makes_anyway_is_preferred_as_the_giver(tools):
    other = Tool.of("post", "a_scale", "Read the old scale.", output_schema=schema(["weight"]))
    tools.register([*chain(), other])
    plan = tools.suggest("weigh, then print the stamp")
    assert ["a_scale"] not in calls_by_layer(plan)
    assert calls_by_layer(plan)[:3] == [["pack"], ["weigh"], ["print_stamp"]]


def test_calls_run_at_the_same_time_only_if_that_is_known_to_be_safe(tools):
    told = [Tool.of("map", "find_route", "Find a route.", input_schema=schema(["city"]), output_schema=schema(["route"])),
            Tool.of("map", "find_hotel", "Find a hotel.", input_schema=schema(["city"]), output_schema=schema(["hotel"]))]  # fmt: skip
    tools.register(told)
    assert [sorted(layer) for layer in calls_by_layer(tools.suggest("find a route and find a hotel"))] == [
        ["find_hotel", "find_route"]
    ]
    untold = [Tool.of("map", each.name, each.description, input_schema=each.input_schema) for each in told]
    tools.register(untold)
    assert len(tools.suggest("find a route and find a hotel").layers) == 2


def test_recorded_links_say_what_runs_together_and_calls_in_a_row_do_not(tools):
    for links, layers in (((0, 1),), 3), (((0, 2), (1, 2)), 2):
        for topic in ("rome", "oslo", "bern"):
            calls = tuple(map(Call, ("weather/now", "hotel/search", "mail/send")))
            told = trace(f"weather and hotels in {topic}, by mail", calls, id_=topic, links=links)
            tools.observe([told])
        assert len(tools.suggest("weather and hotels in lima, by mail").layers) == layers


@pytest.mark.parametrize(
    "said",
    [
        "[Deprecated] Send.",
        "DEPRECATED: use post. Send mail.",
        "Send mail. This tool is deprecated.",
        "Send mail. DEPRECATED: Use post.",
    ],
)
def test_a_tool_that_says_it_is_deprecated_is_not_chosen(tools, said):
    tools.register([Tool.of("mail", "send", said), Tool.of("mail", "post", "Send mail to somebody.")])
    tools.observe([trace("send mail to ada", (Call("mail/send"),))])
    for intent in ("send mail to ada", "send mail to bob"):
        assert [task.call for task in tools.suggest(intent).tasks] == ["mail/post"]
        assert [each.tool for each in tools.predict(intent).candidates] == ["mail/post"]


def test_a_tool_about_deprecated_things_is_chosen(tools):
    tools.register([Tool.of("lint", "find_deprecated", "Find deprecated calls in a file.")])
    assert tools.suggest("find deprecated calls").tasks


@pytest.mark.parametrize(
    "intent", ["blorf the quax", "zzkqj wvxy", "fnar zib mipwug tralskee", "purple monkey dishwasher"]
)
def test_a_nonsense_intent_gets_no_plan(office, tools_of_office, intent):
    plan = office.suggest(intent)
    assert plan.tasks == ()
    assert (
        plan.reason
        == f"none of {len(tools_of_office)} tools fits: ask once more, in the words and the language of a tool's description"
    )

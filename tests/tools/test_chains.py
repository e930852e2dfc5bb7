"""Plans where no chain of calls is likely: what is right on average, acyclic, each tool once."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.tools.chains import agreeing, right_on_average
from vademecum.tools.observe import trace
from vademecum.tools.records import Call, Tool

USUAL = tuple(f"step_{letter}" for letter in "abcde")
OTHERS = tuple(f"extra_{letter}" for letter in "fghijklmnopqrst")


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=7))
def test_no_other_set_is_better_on_average(likely):
    def expected(members):
        return 2 * sum(likely[n] for n in members) / (len(members) + sum(likely))

    every = [set_ for size in range(1, len(likely) + 1) for set_ in combinations(range(len(likely)), size)]
    found = right_on_average(np.array(likely, np.float32), len(likely))
    assert expected(found) == pytest.approx(max(map(expected, every)), rel=1e-5)


def test_no_more_are_taken_than_may_be():
    assert right_on_average(np.full(9, 0.9, np.float32), 4) == [0, 1, 2, 3]
    assert right_on_average(np.zeros(0, np.float32), 4) == []


def test_rounding_does_not_decide_whether_a_tool_is_called_once_more():
    others = [(2 + n, 1) for n in range(14)]
    chains = [(0, 1), (0, 0, 1), *others, (2, 3, 1), (0, 0, 0, 1), (0, 0, 0, 0, 1)]
    likely = np.random.default_rng(0).dirichlet(np.full(len(chains), 0.5), 1500).astype(np.float32)
    found = {chains[agreeing(chains, each)] for each in likely}
    assert (0, 0, 1) in found
    assert not found & {(0, 0, 0, 1), (0, 0, 0, 0, 1)}


@pytest.fixture
def drawn(tools):
    """Workflows of two titles that people drew: five usual steps, each in six of ten, and some of fifteen others."""
    draw = random.Random(7)
    order = [*USUAL, *OTHERS]
    draw.shuffle(order)
    tools.register([Tool.of("flow", name) for name in (*USUAL, *OTHERS)])
    for number in range(160):
        title, usual = (("contacts of team", USUAL), ("invoices for customer", OTHERS[:5]))[number % 2]
        chosen = [name for name in order if draw.random() < (0.6 if name in usual else 0.15)]
        calls = tuple(Call(f"flow/{name}") for name in chosen)
        tools.observe([trace(f"{title} {number}", calls)] if calls else [])
    tools.settle()
    tools.fit()
    return tools


def test_a_title_that_can_go_on_in_many_ways_gets_what_most_of_them_take(drawn):
    plan = drawn.suggest("contacts of everybody")
    assert sorted(task.call for task in plan.tasks) == [f"flow/{name}" for name in USUAL]
    earlier = {task.id: number for number, task in enumerate(plan.tasks)}
    assert all(earlier[before] < earlier[task.id] for task in plan.tasks for before in task.depends_on)
    assert any(task.depends_on for task in plan.tasks)


def test_where_a_chain_is_likely_it_is_the_plan(office):
    plan = office.suggest("look up pottery on the web and keep the page")
    assert [task.call for task in plan.tasks] == ["web/search", "web/fetch", "files/write"]

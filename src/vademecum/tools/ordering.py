"""Order the calls of a plan, and find those that run together.

Links are taken from three sources, in this order, and one that would close a circle is left out:

    needed     who provides the inputs of a call, by the shortest hyperpath (`prerequisites`); it may add calls to the plan
    provided   an earlier call gives an input of a later one by schema, and no trace has the two
    learned    what the model of links says (`links`)

Two calls share a layer only if that is known to be safe: traces with recorded links have both, and neither led to the other, or
both schemas say that neither takes what the other gives. Otherwise the later one stands in a later layer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from vademecum.tools.chains import Chain
from vademecum.tools.dependencies import Pairs
from vademecum.tools.fields import inputs_of
from vademecum.tools.prerequisites import Ways
from vademecum.tools.records import Task
from vademecum.tools.view import View

Link = tuple[int, int]


class Ordered(NamedTuple):
    """Tasks, layers by the tasks' ids, and missing inputs of a plan."""

    tasks: tuple[Task, ...]
    layers: tuple[tuple[str, ...], ...]
    missing: tuple[str, ...]


def ordered(view: View, ways: Ways, pairs: Pairs, chain: Chain, learned: Collection[Link]) -> Ordered:
    """Return the calls of a chain in order, with missing prerequisites.

    Args:
        view: the tools.
        ways: what provides what.
        pairs: which tools past calls linked.
        chain: the calls.
        learned: pairs of places in the chain, the earlier first.
    """
    calls = [view.tools[tool].id for tool in chain.tools]
    needs = ways.needs(dict.fromkeys(calls), _unexplained(view, ways, chain, learned))
    calls += dict.fromkeys(call for link in needs.links for call in link if call not in calls)
    place = {call: number for number, call in reversed([*enumerate(calls)])}
    tools = [view.number[call] for call in calls]
    waits = Waits(len(calls))
    waits.add((place[giver], place[taker]) for giver, taker in needs.links)
    waits.add(_provided(calls, tools, ways, pairs))
    waits.add(link for link in sorted(learned) if not _is_a_guess(calls, tools, link, ways, pairs))
    order = waits.order(len(chain.tools))
    called = {number: f"t{at}" for at, number in enumerate(order, 1)}
    likely = dict(enumerate(chain.probabilities))
    tasks = tuple(
        Task(
            called[number],
            calls[number],
            "tool",
            tuple(called[one] for one in order if one in waits.before[number]),
            tuple(field.name for field in inputs_of(view.tools[tools[number]].input_schema)),
            likely.get(number, 0.0),
        )
        for number in order
    )
    number_of = {task.id: tools[number] for task, number in zip(tasks, order, strict=True)}

    def together(one: Task, other: Task) -> bool:
        said = pairs.apart(number_of[one.id], number_of[other.id])
        return ways.apart(one.call, other.call) if said is None else said

    return Ordered(tasks, layers(tasks, together), needs.missing)


def _unexplained(view: View, ways: Ways, chain: Chain, learned: Collection[Link]) -> set[str]:
    """Return tools whose waiting no trace explains here."""
    waiting = {chain.tools[b] for _, b in learned}
    told = [tool for tool in chain.tools if view.calls[tool] and (tool in waiting or ways.starts(view.tools[tool].id))]
    return {view.tools[tool].id for tool in chain.tools if tool not in told}


def _provided(calls: Sequence[str], tools: Sequence[int], ways: Ways, pairs: Pairs) -> Iterator[Link]:
    """Yield links from calls to takers of their outputs, by schema."""
    for later, taker in enumerate(calls):
        for earlier, giver in enumerate(calls[:later]):
            if ways.provides(giver, taker) and not pairs.seen(tools[earlier], tools[later]):
                yield earlier, later


def _is_a_guess(calls: Sequence[str], tools: Sequence[int], link: Link, ways: Ways, pairs: Pairs) -> bool:
    """Return True where schemas contradict a link without any trace."""
    a, b = link
    return not pairs.seen(tools[a], tools[b]) and ways.apart(calls[a], calls[b])


class Waits:
    """Dependencies between calls, without circles.

    >>> waits = Waits(3)
    >>> waits.add([(2, 0), (0, 1), (1, 2)])
    >>> waits.before, waits.order(3)
    ([{2}, {0}, set()], [2, 0, 1])
    """

    def __init__(self, calls: int) -> None:
        self.before: list[set[int]] = [set() for _ in range(calls)]

    def add(self, links: Iterable[Link]) -> None:
        """Add links (earlier, later), without those that close a circle."""
        for earlier, later in links:
            if later not in self._inside_out([earlier]):
                self.before[later].add(earlier)

    def order(self, wanted: int) -> list[int]:
        """Return the first calls, each after those it waits for."""
        return list(self._inside_out(range(wanted)))

    def _inside_out(self, calls: Iterable[int], found: dict[int, None] | None = None) -> dict[int, None]:
        found = {} if found is None else found
        for call in calls:
            if call not in found:
                self._inside_out(sorted(self.before[call]), found)
                found[call] = None
        return found


def layers(
    tasks: Sequence[Task], together: Callable[[Task, Task], bool] = lambda _one, _other: True
) -> tuple[tuple[str, ...], ...]:
    """Return the tasks' ids in layers; each waits for earlier layers only.

    Args:
        tasks: each after those it waits for.
        together: whether two tasks, neither of which waits for the other, may run at the same time.

    >>> plan = [Task("a", "x", "tool"), Task("b", "y", "tool"), Task("c", "z", "tool", ("a", "b"))]
    >>> layers(plan), layers(plan, lambda one, other: False)
    ((('a', 'b'), ('c',)), (('a',), ('b',), ('c',)))
    """
    depth: dict[str, int] = {}
    for number, task in enumerate(tasks):
        later = [depth[one.id] for one in tasks[:number] if one.id in task.depends_on or not together(one, task)]
        depth[task.id] = 1 + max(later, default=-1)
    count = 1 + max(depth.values(), default=-1)
    return tuple(tuple(id_ for id_, level in depth.items() if level == number) for number in range(count))

"""Suggest a plan: tools, order, and parallel calls.

    decode    the chain of calls that agrees best with all that are likely (`chains`)
    link      which call waits for which
    close     what a tool is known to need and the plan lacks, by the shortest hyperpath
    contain   which capabilities and meta-capabilities these calls make up, each after those it contains
    layer     calls that wait for nothing unfinished run together

An intent that a good trace has word for word is answered by that trace: what was learned from one trace is replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vademecum.index.fusion import top
from vademecum.tools.beam_search import Decoded, decoded
from vademecum.tools.chains import Chain
from vademecum.tools.groups import Groups
from vademecum.tools.intent_features import Asked, put, same_intent
from vademecum.tools.links import Pairs, chosen_links, expected_links, links_of
from vademecum.tools.model import Model
from vademecum.tools.plan_confidence import confidence
from vademecum.tools.prerequisites import Ways
from vademecum.tools.records import Plan, Task
from vademecum.tools.view import View

EVIDENCE = 5


def suggest(view: View, model: Model, pairs: Pairs, ways: Ways, groups: Groups, intent: str) -> Plan:
    """Return a plan for an intent; without tasks where nothing fits."""
    if not any(char.isalnum() for char in intent):
        return Plan(intent, (), (), 0.0, reason="nothing is asked for: say the whole task, in a sentence")
    asked = put(view, view.read(intent), fitted=bool(model.traces))
    replayed = same_intent(asked)
    found = decoded(asked, model) if replayed is None else _as_it_was(view.chains[replayed])
    chain = found.chain
    if not chain.tools:
        return Plan(intent, (), (), 0.0, reason="no tool fits: register tools, or say it in other words")
    linked = _linked(asked, model, pairs, ways, found) if replayed is None else set(links_of(view.traces[replayed]))
    tasks, missing = _tasks(view, ways, chain, linked)
    sure = 1.0 if replayed is not None else confidence(asked, chain, fitted=bool(model.traces))
    called = [task.call for task in tasks]
    inside = tuple(groups.containing(called))
    evidence = supporting(asked, chain.tools, replayed)
    return Plan(intent, tasks, layers(tasks), sure, evidence, missing, contains=inside)


def _as_it_was(chain: tuple[int, ...]) -> Decoded:
    return Decoded(Chain(chain, (1.0,) * len(chain)))


def _linked(asked: Asked, model: Model, pairs: Pairs, ways: Ways, found: Decoded) -> set[tuple[int, int]]:
    chain, tools = found.chain.tools, asked.view.tools
    attention = asked.attention_after(chain)
    features = pairs.features(chain, asked.weight, attention, lambda a, b: ways.provides(tools[a].id, tools[b].id))
    if found.is_chain:
        return set(chosen_links(features, model.links, len(chain)))
    return expected_links(features, model.links, found.chain.probabilities)


def _tasks(
    view: View, ways: Ways, chain: Chain, linked: set[tuple[int, int]]
) -> tuple[tuple[Task, ...], tuple[str, ...]]:
    """The tasks in order, prerequisites first, and the missing inputs."""
    tasks: list[Task] = []
    missing: list[str] = []
    place: dict[int, str] = {}
    early: dict[str, int] = {}  # what stands before what needs it, by its place among the tasks
    for number, tool in enumerate(chain.tools):
        id_ = view.tools[tool].id
        if id_ in early:  # the chain has it, only later: it is one call
            at = early.pop(id_)
            tasks[at] = replace(tasks[at], probability=chain.probabilities[number])
            place[number] = tasks[at].id
            continue
        called = [task.call for task in tasks]
        missing += ways.missing(called, id_)
        waits = [place[a] for a, b in sorted(linked) if b == number]
        is_known = waits and view.calls[tool]  # where it was called before, the links say what it waited for
        for extra in () if is_known else ways.prerequisites(called, id_):
            early[extra] = len(tasks)
            tasks.append(_task(view, f"t{len(tasks) + 1}", extra, (), 0.0))
            waits.append(tasks[-1].id)
        place[number] = f"t{len(tasks) + 1}"
        tasks.append(_task(view, place[number], id_, tuple(waits), chain.probabilities[number]))
    return tuple(tasks), tuple(dict.fromkeys(missing))


def _task(view: View, id_: str, call: str, waits: tuple[str, ...], probability: float) -> Task:
    return Task(id_, call, "tool", waits, view.inputs(view.number[call]), probability)


def layers(tasks: Sequence[Task]) -> tuple[tuple[str, ...], ...]:
    """Return the tasks' ids in layers; each waits for earlier layers only.

    >>> plan = [Task("a", "x", "tool"), Task("b", "y", "tool"), Task("c", "z", "tool", ("a", "b"))]
    >>> layers(plan)
    (('a', 'b'), ('c',))
    """
    depth: dict[str, int] = {}
    for task in tasks:  # every task stands after those it waits for
        depth[task.id] = 1 + max((depth[before] for before in task.depends_on), default=-1)
    count = 1 + max(depth.values(), default=-1)
    return tuple(tuple(id_ for id_, level in depth.items() if level == number) for number in range(count))


def supporting(asked: Asked, chain: Sequence[int], replayed: int | None) -> tuple[str, ...]:
    """Return the ids of a chain's traces, the replayed one first."""
    view = asked.view
    shared = view.graph.shared(chain)
    near = shared.nonzero()[0]
    attention = asked.attention_after(()).take(near) * shared.take(near)
    best = [n for n in top(attention, EVIDENCE).tolist() if attention[n] > 0]
    order = [replayed] if replayed is not None else []
    order += [n for n in near.take(best).tolist() if n != replayed]
    return tuple(view.traces[n].id for n in order[:EVIDENCE])

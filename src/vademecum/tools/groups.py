"""Learned groups: capabilities over tools, meta-capabilities over capabilities.

What several traces show is shown, but what names a tool that is gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from vademecum.tools.dependencies import links_of
from vademecum.tools.hypergraph import RECURS, Numbers
from vademecum.tools.records import Group, Kind
from vademecum.tools.view import View


class Learned(NamedTuple):
    """A group with the numbers of its chains and its traces."""

    group: Group
    chains: Numbers
    traces: Numbers


@dataclass(frozen=True)
class Groups:
    """Recurring chains in a view, computed when first needed."""

    view: View

    @cached_property
    def known(self) -> Mapping[str, Group]:
        """Every group by id, after the groups that it contains."""
        return {id_: each.group for id_, each in self.learned.items()}

    @cached_property
    def learned(self) -> Mapping[str, Learned]:
        """The same with chains and traces."""
        graph, metas, found = self.view.graph, self.view.metas, dict[str, Learned]()
        count = np.bincount(graph.capability, minlength=len(graph.capabilities))
        for number in np.argsort(-count, kind="stable").tolist():
            chain = graph.capabilities[number]
            if count[number] >= RECURS and len(set(chain)) > 1 and self.view.live[list(chain)].all():
                self._add(found, number)
        for meta in metas.recurring:
            chains = metas.members[meta]
            if all(self.view.live[list(metas.chains[number])].all() for number in chains):
                members = tuple(self._add(found, number) for number in chains)
                tools = tuple(self.view.tools[tool].id for number in chains for tool in metas.chains[number])
                group = Group(_id("meta", members), "meta", members, tools, len(metas.witnesses[meta]))
                found[group.id] = Learned(group, chains, metas.witnesses[meta])
        return found

    def _add(self, found: dict[str, Learned], number: int) -> str:
        """Add a capability; return its id, or that of its only tool."""
        chain = self.view.metas.chains[number]
        tools = tuple(self.view.tools[tool].id for tool in chain)
        if len(chain) == 1:
            return tools[0]
        made = tuple(self.view.graph.made.get(chain, ()))
        linked = Counter(link for trace in made for link in set(links_of(self.view.traces[trace])))
        often = tuple(sorted(link for link, times in linked.items() if 2 * times > len(made)))
        group = Group(_id("capability", tools), "capability", tools, tools, len(made), often)
        found.setdefault(group.id, Learned(group, (number,), made))
        return group.id

    def containing(self, called: Collection[str]) -> list[Group]:
        """Return the largest groups within some calls, after their parts."""
        whole = set(called)
        there = {id_: frozenset(group.tools) for id_, group in self.known.items() if whole.issuperset(group.tools)}
        largest = [id_ for id_, tools in there.items() if not any(tools < others for others in there.values())]
        shown = {*largest, *(member for id_ in largest for member in self.known[id_].members)}
        found = [self.known[id_] for id_ in there if id_ in shown]
        return sorted(found, key=lambda group: group.kind == "meta")


def _id(kind: Kind, members: tuple[str, ...]) -> str:
    """The id of a group, made from its members alone."""
    return f"{kind}/{blake2b(chr(0).join(members).encode(), digest_size=6).hexdigest()}"

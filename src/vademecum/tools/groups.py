"""Learned groups: capabilities over tools, meta-capabilities over capabilities.

Shown to people, and put into the hypergraph as `contains` (`relations`), is what recurs: chains of several tools that several
traces called, and what of them, or of single tools, follows one another in several (`metas`). What names a tool that is gone is
left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np

from vademecum.tools.dependencies import links_of
from vademecum.tools.macro_tools import RECURS
from vademecum.tools.records import Group, Kind
from vademecum.tools.view import View


@dataclass(frozen=True)
class Groups:
    """Recurring chains in a view, computed when first needed."""

    view: View

    @cached_property
    def known(self) -> Mapping[str, Group]:
        """Every group by id, after the groups that it contains."""
        found = {group.id: group for group in self._capabilities()}
        for meta in self.view.metas.recurring:
            parts = [self.view.metas.chains[member] for member in self.view.metas.members[meta]]
            if self._can_be_called(tool for part in parts for tool in part):
                inside = [self.capability(part) for part in parts if len(part) > 1]
                found |= {group.id: group for group in inside if group.id not in found}
                group = self.meta(meta)
                found[group.id] = group
        return found

    def capability(self, chain: tuple[int, ...]) -> Group:
        """Return a chain of tools as a capability."""
        tools = tuple(self.view.tools[tool].id for tool in chain)
        made = self.view.made.get(chain, ())
        linked = Counter(link for trace in made for link in set(links_of(self.view.traces[trace])))
        often = tuple(sorted(link for link, times in linked.items() if 2 * times > len(made)))
        return Group(_id("capability", tools), "capability", tools, tools, len(made), often)

    def meta(self, number: int) -> Group:
        """Return a meta-capability by its number."""
        parts = [self.view.metas.chains[member] for member in self.view.metas.members[number]]
        members = tuple(self.capability(part).id if len(part) > 1 else self.view.tools[part[0]].id for part in parts)
        tools = tuple(self.view.tools[tool].id for part in parts for tool in part)
        return Group(_id("meta", members), "meta", members, tools, len(self.view.metas.witnesses[number]))

    def containing(self, called: Collection[str]) -> list[Group]:
        """Return the largest groups within some calls, after their parts."""
        whole = set(called)
        there = {id_: frozenset(group.tools) for id_, group in self.known.items() if whole.issuperset(group.tools)}
        largest = [id_ for id_, tools in there.items() if not any(tools < others for others in there.values())]
        shown = {*largest, *(member for id_ in largest for member in self.known[id_].members)}
        found = [self.known[id_] for id_ in there if id_ in shown]
        return sorted(found, key=lambda group: group.kind == "meta")

    def _capabilities(self) -> Iterator[Group]:
        graph = self.view.graph
        count = np.bincount(graph.capability, minlength=len(graph.capabilities))
        for number in np.argsort(-count, kind="stable").tolist():
            chain = graph.capabilities[number]
            if count[number] >= RECURS and len(set(chain)) > 1 and self._can_be_called(chain):
                yield self.capability(chain)

    def _can_be_called(self, tools: Collection[int] | Iterator[int]) -> bool:
        return all(self.view.live[tool] for tool in tools)


def _id(kind: Kind, members: tuple[str, ...]) -> str:
    """The id of a group, made from its members alone."""
    return f"{kind}/{blake2b(chr(0).join(members).encode(), digest_size=6).hexdigest()}"

"""Several search servers, asked as one.

Each database holds whole repositories, so every server is asked the same, all at once, and their hits are put together. Word
statistics add up. A space is named by the number of its server and its own name: two databases may have one of the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from numpy.typing import NDArray

from vademecum.errors import StoreError
from vademecum.protocols import SearchServer
from vademecum.result import Result, attempt
from vademecum.types import Bm25f, Hit, Scope, TermStatistics

T = TypeVar("T")


class SeveralServers:
    """A search server made of several; the first one is published to.

    An answer needs all of them: if one fails, so does the question.
    """

    def __init__(self, servers: Sequence[SearchServer]) -> None:
        self._servers = servers
        own = servers[0]
        self.unpublished, self.publish, self.forget = own.unpublished, own.publish, own.forget

    @attempt(StoreError, StoreError)
    def words(self, terms: Sequence[int], scope: Scope, k: int, constants: Bm25f) -> list[Hit]:
        """Return the `k` best chunks of each server."""
        return _joined(self._all(lambda server: server.words(terms, scope, k, constants)))

    @attempt(StoreError, StoreError)
    def near(self, vector: NDArray[Any], embedder: str, scope: Scope, k: int) -> list[Hit] | None:
        """Return each server's `k` nearest chunks; None if none has vectors."""
        found = self._all(lambda server: server.near(vector, embedder, scope, k))
        return None if all(hits is None for hits in found) else _joined([hits or [] for hits in found])

    @attempt(StoreError, StoreError)
    def named(self, names: Sequence[str], scope: Scope, k: int) -> list[Hit]:
        """Return the `k` best hits by name of each server."""
        return _joined(self._all(lambda server: server.named(names, scope, k)))

    @attempt(StoreError, StoreError)
    def statistics(self, terms: Sequence[int], scope: Scope) -> TermStatistics:
        """Return the statistics of all servers' documents together."""
        found = self._all(lambda server: server.statistics(terms, scope))
        documents = sum(each.documents for each in found)
        lengths = zip(*([mean * each.documents for mean in each.mean_lengths] for each in found), strict=True)
        means = tuple(max(sum(own) / max(documents, 1), 1.0) for own in lengths)
        holding = tuple(map(sum, zip(*(each.holding for each in found), strict=True)))
        return TermStatistics(documents, means, holding)

    @attempt(StoreError, StoreError)
    def arrays(self, contents: Sequence[tuple[str, int]], embedder: str) -> list[tuple[str, str, bytes]]:
        """Return language, embedder and packed arrays of each content."""
        placed = [(_place(space), blob) for space, blob in contents]
        return self._routed(
            [number for (number, _), _ in placed],
            [(space, blob) for (_, space), blob in placed],
            lambda server, own: server.arrays(own, embedder),
        )

    @attempt(StoreError, StoreError)
    def read(self, hits: Sequence[Hit]) -> list[Mapping[str, Any]]:
        """Return the stored record of each hit, in order."""
        placed = [(_place(hit.space), hit) for hit in hits]
        return self._routed(
            [number for (number, _), _ in placed],
            [replace(hit, space=space) for (_, space), hit in placed],
            lambda server, own: server.read(own),
        )

    def _all(self, ask: Callable[[SearchServer], Result[T, StoreError]]) -> list[T]:
        """Ask every server at once. Raises the first failure."""
        with ThreadPoolExecutor(len(self._servers)) as pool:
            return [answer.unwrap() for answer in pool.map(ask, self._servers)]

    def _routed(
        self,
        numbers: Sequence[int],
        items: Sequence[Any],
        ask: Callable[[SearchServer, list[Any]], Result[list[T], StoreError]],
    ) -> list[T]:
        """Ask each item's own server; return answers in the items' order."""
        found: dict[int, T] = {}
        for number in sorted(set(numbers)):
            places = [place for place, of in enumerate(numbers) if of == number]
            answers = ask(self._servers[number], [items[place] for place in places]).unwrap()
            found |= dict(zip(places, answers, strict=True))
        return [found[place] for place in range(len(items))]


def _joined(found: list[list[Hit]]) -> list[Hit]:
    """Return all hits, best first, each with its server's number."""
    named = [replace(hit, space=f"{number} {hit.space}") for number, hits in enumerate(found) for hit in hits]
    return sorted(named, key=lambda hit: -hit.score)


def _place(space: str) -> tuple[int, str]:
    """Return a server's number and the space's name there."""
    number, _, own = space.partition(" ")
    return int(number), own

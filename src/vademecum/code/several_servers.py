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
from vademecum.result import Err, Ok, Result
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

    def words(self, terms: Sequence[int], scope: Scope, k: int, constants: Bm25f) -> Result[list[Hit], StoreError]:
        """Return the `k` best chunks of each server."""
        return self._hits(lambda server: server.words(terms, scope, k, constants))

    def near(self, vector: NDArray[Any], embedder: str, scope: Scope, k: int) -> Result[list[Hit] | None, StoreError]:
        """Return the `k` nearest chunks of each server.

        The result is None if no server can search vectors.
        """
        match self._all(lambda server: server.near(vector, embedder, scope, k)):
            case Ok(found) if all(hits is None for hits in found):
                return Ok(None)
            case Ok(found):
                return Ok(_joined([hits or [] for hits in found]))
            case Err() as failure:
                return failure

    def named(self, names: Sequence[str], scope: Scope, k: int) -> Result[list[Hit], StoreError]:
        """Return the `k` best hits by name of each server."""
        return self._hits(lambda server: server.named(names, scope, k))

    def statistics(self, terms: Sequence[int], scope: Scope) -> Result[TermStatistics, StoreError]:
        """Return the statistics of all servers' documents together."""
        match self._all(lambda server: server.statistics(terms, scope)):
            case Ok(found):
                documents = sum(each.documents for each in found)
                lengths = zip(*([mean * each.documents for mean in each.mean_lengths] for each in found), strict=True)
                means = tuple(max(sum(own) / max(documents, 1), 1.0) for own in lengths)
                holding = tuple(map(sum, zip(*(each.holding for each in found), strict=True)))
                return Ok(TermStatistics(documents, means, holding))
            case Err() as failure:
                return failure

    def arrays(
        self, contents: Sequence[tuple[str, int]], embedder: str
    ) -> Result[list[tuple[str, str, bytes]], StoreError]:
        """Return language, embedder and packed arrays of each content."""
        placed = [(_place(space), blob) for space, blob in contents]
        return self._routed(
            [number for (number, _), _ in placed],
            [(space, blob) for (_, space), blob in placed],
            lambda server, own: server.arrays(own, embedder),
        )

    def read(self, hits: Sequence[Hit]) -> Result[list[Mapping[str, Any]], StoreError]:
        """Return the stored record of each hit, in order."""
        placed = [(_place(hit.space), hit) for hit in hits]
        return self._routed(
            [number for (number, _), _ in placed],
            [replace(hit, space=space) for (_, space), hit in placed],
            lambda server, own: server.read(own),
        )

    def _hits(self, ask: Callable[[SearchServer], Result[list[Hit], StoreError]]) -> Result[list[Hit], StoreError]:
        match self._all(ask):
            case Ok(found):
                return Ok(_joined(found))
            case Err() as failure:
                return failure

    def _all(self, ask: Callable[[SearchServer], Result[T, StoreError]]) -> Result[list[T], StoreError]:
        """Ask every server at once; return their answers, or the first failure."""
        found: list[T] = []
        with ThreadPoolExecutor(len(self._servers)) as pool:
            for answer in pool.map(ask, self._servers):
                match answer:
                    case Ok(value):
                        found.append(value)
                    case Err() as failure:
                        return failure
        return Ok(found)

    def _routed(
        self,
        numbers: Sequence[int],
        items: Sequence[Any],
        ask: Callable[[SearchServer, list[Any]], Result[list[T], StoreError]],
    ) -> Result[list[T], StoreError]:
        """Ask each item's own server; return answers in the items' order."""
        found: dict[int, T] = {}
        for number in sorted(set(numbers)):
            places = [place for place, of in enumerate(numbers) if of == number]
            match ask(self._servers[number], [items[place] for place in places]):
                case Ok(answers):
                    found |= dict(zip(places, answers, strict=True))
                case Err() as failure:
                    return failure
        return Ok([found[place] for place in range(len(items))])


def _joined(found: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Return all hits, best first, each with its server's number."""
    named = [replace(hit, space=f"{number} {hit.space}") for number, hits in enumerate(found) for hit in hits]
    return sorted(named, key=lambda hit: -hit.score)


def _place(space: str) -> tuple[int, str]:
    """Return a server's number and the space's name there."""
    number, _, own = space.partition(" ")
    return int(number), own

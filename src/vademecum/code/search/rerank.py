"""Rerank the first results by a provider.

A provider only ever sees evidence that passed every filter, and only its scores are read: it can move what was found,
never add to it or change it. Verdict and probability are not its business either: they were fitted on the order before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vademecum.errors import RerankError
from vademecum.protocols import Reranker
from vademecum.result import Err, Ok, Result
from vademecum.types import Evidence, Passage

PASSAGE_CHARACTERS = 2_000  # of a chunk's text: about the 512 tokens that most cross-encoders read
QUESTION_CHARACTERS = 2_000  # of an issue with its log: what it asks stands first


@dataclass(frozen=True, slots=True)
class Reranking:
    """How the first results get their final order.

    Attributes:
        name: "built-in", "none", or the provider's.
        provider: who does it; None where ranking does it itself, or nobody.
        depth: how many of the first results the provider sees.
    """

    name: str = "built-in"
    provider: Reranker | None = None
    depth: int = 20


AS_RANKED = Reranking()


def rerank(
    by: Reranking, question: str, found: Callable[[int], tuple[Evidence, ...]], k: int
) -> tuple[tuple[Evidence, ...], str]:
    """Return the best `k` results and "", or those there were without a provider and what went wrong with it.

    Args:
        by: How.
        question: As it was asked.
        found: Returns the first results in ranking order, as many as it is asked for.
        k: How many to return.
    """
    if by.provider is None:
        return found(k), ""
    ranked = found(max(k, by.depth))
    match scored(by.provider, question, ranked[: by.depth]):
        case Ok(scores):
            return (*by_score(ranked[: by.depth], scores), *ranked[by.depth :])[:k], ""
        case Err(error):
            return found(k), f"not reranked: {error}"


def by_score(ranked: Sequence[Evidence], scores: Sequence[float]) -> list[Evidence]:
    """Return evidence with the highest of `scores` first, and that score among its signals; equals keep their order.

    Its own score becomes that of the place it takes, so that an answer's scores fall, also into what was not reranked.
    """
    order = sorted(range(len(ranked)), key=lambda place: -scores[place])
    return [
        replace(ranked[old], score=place.score, signals={**ranked[old].signals, "rerank": round(scores[old], 4)})
        for old, place in zip(order, ranked, strict=True)
    ]


def scored(reranker: Reranker, question: str, ranked: Sequence[Evidence]) -> Result[list[float], RerankError]:
    """Return a finite score per piece of evidence, whatever the provider returned."""
    if not ranked:
        return Ok([])
    passages = [passage_of(each) for each in ranked]
    outcome: object = reranker.rerank(_readable(question[:QUESTION_CHARACTERS]), passages)
    match outcome:
        case Ok(scores):
            return checked(reranker.name, scores, len(ranked))
        case Err(error):
            return Err(RerankError(" ".join(str(error).split())))
        case _:
            return Err(_malformed(reranker.name, "did not return a Result"))


def checked(name: str, scores: object, wanted: int) -> Result[list[float], RerankError]:
    """Return the scores as numbers, or what is wrong with them.

    >>> checked("mine", (2, 0.5), 2)
    Ok(value=[2.0, 0.5])
    >>> checked("mine", [1.0], 2).error
    RerankError("reranker 'mine' gave 1 scores for 2 passages: report it to its author, or choose another reranker")
    """
    try:
        numbers = [float(score) for score in scores]  # type: ignore[attr-defined] # that is what is found out here
    except (TypeError, ValueError, OverflowError):
        return Err(_malformed(name, "did not answer with numbers"))
    if len(numbers) != wanted:
        return Err(_malformed(name, f"gave {len(numbers)} scores for {wanted} passages"))
    if not all(map(math.isfinite, numbers)):
        return Err(_malformed(name, "gave a score that is not a number"))
    return Ok(numbers)


def _malformed(name: str, what: str) -> RerankError:
    return RerankError(f"reranker {name!r} {what}: report it to its author, or choose another reranker")


def passage_of(evidence: Evidence) -> Passage:
    """Return what a reranker reads: where it is, its signature, and its first lines."""
    text = evidence.snippet
    if len(text) > PASSAGE_CHARACTERS:
        text = text[:PASSAGE_CHARACTERS].rpartition("\n")[0] or text[:PASSAGE_CHARACTERS]
    return Passage(_readable(text), _readable(evidence.signature), _readable(evidence.path))


def _readable(text: str) -> str:
    """Text as UTF-8 can hold it: a question typed in another encoding has halves of characters."""
    return text.encode("utf-8", "replace").decode()

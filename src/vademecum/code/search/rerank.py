"""Reranking of the first results by a provider.

If the provider fails, the order stays and the answer says so. A provider only sees evidence that passed every filter,
and only its scores are used: it can move results, but never add or change them. Verdict and probability do not change
either: they were fitted on the ranking's order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vademecum.errors import RerankError
from vademecum.protocols import Reranker
from vademecum.result import Err, Ok, Result
from vademecum.types import Evidence, Passage

PASSAGE_CHARACTERS = 2_000  # about the 512 tokens that most cross-encoders read
QUESTION_CHARACTERS = 2_000  # an issue states its question before its log


@dataclass(frozen=True, slots=True)
class Reranking:
    """Settings for the final order of the first results.

    Attributes:
        name: "built-in", "none", or the provider's.
        provider: the reranker; None for the ranking's own order.
        depth: the number of results that the provider sees.
    """

    name: str = "built-in"
    provider: Reranker | None = None
    depth: int = 20


AS_RANKED = Reranking()


def rerank(
    by: Reranking, question: str, found: Callable[[int], tuple[Evidence, ...]], k: int
) -> tuple[tuple[Evidence, ...], str]:
    """Return the best `k` results, and "" or the provider's problem.

    With a problem the results keep their order.

    Args:
        by: The settings.
        question: The question's text.
        found: Returns the given number of results in ranking order.
        k: The number of results to return.
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
    """Return evidence in order of `scores`, highest first.

    Equal scores keep their order. The new score joins the signals. The evidence's own score becomes that of its new
    place, so the scores still fall.
    """
    order = sorted(range(len(ranked)), key=lambda place: -scores[place])
    return [
        replace(ranked[old], score=place.score, signals={**ranked[old].signals, "rerank": round(scores[old], 4)})
        for old, place in zip(order, ranked, strict=True)
    ]


def scored(reranker: Reranker, question: str, ranked: Sequence[Evidence]) -> Result[list[float], RerankError]:
    """Return one finite score per piece of evidence, or an error."""
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
    """Return the scores as floats, or an error.

    >>> checked("mine", (2, 0.5), 2)
    Ok(value=[2.0, 0.5])
    >>> checked("mine", [1.0], 2).error
    RerankError("reranker 'mine' gave 1 scores for 2 passages: report it to its author, or choose another reranker")
    """
    try:
        numbers = [float(score) for score in scores]  # type: ignore[attr-defined] # checked here
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
    """Return the text for a reranker: path, signature and first lines."""
    text = evidence.snippet
    if len(text) > PASSAGE_CHARACTERS:
        text = text[:PASSAGE_CHARACTERS].rpartition("\n")[0] or text[:PASSAGE_CHARACTERS]
    return Passage(_readable(text), _readable(evidence.signature), _readable(evidence.path))


def _readable(text: str) -> str:
    """Return text that UTF-8 can encode.

    A question typed in another encoding may hold lone surrogates.
    """
    return text.encode("utf-8", "replace").decode()

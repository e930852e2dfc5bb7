"""Active search: which tools fit an intent, with nothing called yet (PML's ADR-050).

    score = min(semantic * reliability, 0.95)

No alpha and no graph: without a context there is nothing to relate to. A tool whose name is what was asked for comes
first whatever its score; pinned tools are always there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vademecum.retrieval.fusion import top
from vademecum.tools.records import Match, ToolAnswer
from vademecum.tools.reliability import CAP, RELIABILITIES
from vademecum.tools.texts import Floats, Question
from vademecum.tools.view import View
from vademecum.types import Verdict

K = 5  # few: each one is read, and paid for


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for and how it is weighed."""

    text: str
    k: int = K
    server: str = ""
    reliability: str = "smoothed"


def search(view: View, wanted: Wanted) -> ToolAnswer:
    """Return the tools that fit."""
    question = view.read(wanted.text)
    semantic = relevance(view, question)
    reliability = RELIABILITIES[wanted.reliability](view.good, view.calls)
    score = np.minimum(semantic * reliability, CAP).astype(np.float32)
    allowed = view.live & np.array([wanted.server in ("", tool.server) for tool in view.tools], bool)
    exact = [number for number in exact_names(view, wanted.text) if allowed[number]]
    ranked = [int(n) for n in top(np.where(allowed, score, -1.0).astype(np.float32), wanted.k + len(exact))]
    order = list(dict.fromkeys([*exact, *(n for n in ranked if allowed[n] and score[n] > 0)]))[: wanted.k]
    order += [n for n in view.pinned if n not in order and allowed[n]]
    matches = tuple(
        _match(view, n, float(score[n]), float(semantic[n]), float(reliability[n]), exact=n in exact) for n in order
    )
    verdict = Verdict.RESOLVED if exact else Verdict.LIKELY if matches else Verdict.NOT_FOUND
    return ToolAnswer(wanted.text, verdict, matches[0].score if matches else 0.0, matches, searched=int(allowed.sum()))


def relevance(view: View, question: Question) -> Floats:
    """Return float32 (n,), how well each tool's words and meaning fit, 0..1."""
    documents = view.documents
    words = 0.5 * documents.bm25(question) + 0.5 * documents.tfidf(question)
    return np.clip(0.8 * words + 0.2 * documents.dense(question), 0, 1).astype(np.float32)


def exact_names(view: View, text: str) -> list[int]:
    """Return the live tools whose id or name the text is, or spells out as only a name is written."""
    asked = text.strip().lower().removesuffix("()")
    named = [number for number, tool in enumerate(view.tools) if view.live[number] and tool.id.lower() == asked]
    return list(dict.fromkeys([*named, *view.named.get(asked, ())]))


def _match(view: View, number: int, score: float, semantic: float, reliability: float, *, exact: bool) -> Match:
    tool = view.tools[number]
    return Match(
        tool.id, "tool", tool.name, tool.server, tool.description, score, semantic, reliability,
        pinned=number in view.pinned, exact=exact, input_schema=tool.input_schema,
    )  # fmt: skip

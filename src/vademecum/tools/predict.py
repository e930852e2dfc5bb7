"""Predict the next call: attention, hyperpath, traces.

Memory says nothing for a tool that nobody has called yet, and outweighs its text. So, of the first `KEPT` tools by text
alone, those that are new take the places of the least likely others there:

    by probability   a  b  c  d  e        a b c d e were used, x and y were not
    by text alone    c  x  d              x is the second of three
    shown            a  b  x  c  d  e     x has the place, and the probability, of c
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vademecum.index.fusion import top
from vademecum.tools.chains import stops
from vademecum.tools.features import HEADS, NEAR, After, heads, put, trusted, without_traces
from vademecum.tools.hypergraph import in_context
from vademecum.tools.observe import tool_id
from vademecum.tools.records import Candidate, Prediction
from vademecum.tools.refresh import Known
from vademecum.tools.regression import Weights
from vademecum.tools.shgat import toward_goals
from vademecum.tools.texts import Floats
from vademecum.tools.view import View
from vademecum.tools.weights import PHASES, log_probabilities, taken_from

SHOWN_HEADS = 6  # of the reasons for a candidate, the largest
KEPT = 3  # places for tools without usage: as many as a prediction shows unless it is asked for more
EVIDENCE = 3  # traces named for a candidate
THRESHOLD = 0.5  # below this probability, nothing is likely enough to act on unasked
PREDICTORS = ("attention", "goal", "shgat")
_NOTHING = "nothing is asked for and nothing was called: say what is to be done, or what was called"
_SPEAKS = 0.01  # share of the attention from which a trace is named


def predict(
    known: Known, intent: str, called: Sequence[str] = (), before: Sequence[str] = (), *, k: int = 3,
    threshold: float = THRESHOLD, by: str = PREDICTORS[0], unfinished: str = "",
) -> Prediction:  # fmt: skip
    """Return the likeliest next calls after `called`."""
    view, model = known.view, known.model
    (after, strange), (earlier, _) = numbered(view, called), numbered(view, before)
    unknown = [f"left out, as no one tool is called so: {', '.join(strange)}"] if strange else []
    says = any(char.isalnum() for char in intent)
    if not (after or earlier or says):
        return Prediction(intent, tuple(called), (), True, 0.0, 0.0, "; ".join([_NOTHING, *unknown]), len(view.traces))
    way = known.ways.starting([view.tools[n].id for n in after])
    asked = put(view, intent, earlier, unfinished)
    asked = asked if after or earlier else trusted(asked, fitted=bool(model.traces))
    weights = model.next[min(len(after), PHASES - 1)]
    features, taken = heads(asked, after), taken_from(log_probabilities(heads(asked, ()), model.search), model.certain)
    if by == "attention":
        probability = next_probabilities(view, features @ weights.astype(np.float32))
        if view.traces and not model.traces and says and (after or earlier):  # few traces move what text says
            alone = next_probabilities(view, heads(without_traces(asked), after) @ weights.astype(np.float32))
            probability = NEAR * probability + (1 - NEAR) * alone
        order = shown(probability, np.where(view.offered, asked.bm25, 0), asked.unseen > 0, k)
    else:
        goal = by == "goal"
        probability = toward_goals(view, way, taken, after) if goal else known.shgat.first_steps(asked, after)
        order = top(probability, k).tolist()
    mean, attention = (
        probability @ features,
        in_context(asked.attention, view.graph.shared(after)) if after else asked.attention,
    )
    places = probability[top(probability, k)]  # a place has its probability, whoever takes it
    candidates = tuple(
        Candidate(
            view.tools[n].id, view.tools[n].name, share, reasons(features[n] - mean, weights),
            evidence(view, attention, n), way(view.tools[n].id) if place == 0 else (),
        )
        for place, (n, share) in enumerate(zip(order, places.tolist(), strict=True)) if share > 0
    )  # fmt: skip
    best, done = candidates[0].probability if candidates else 0.0, stops(After(asked, [after]), model, taken)[0]
    below = [f"the likeliest tool has a probability below {threshold:.2f}"] if best < threshold else []
    why = "; ".join([*below, *unknown])
    return Prediction(intent, tuple(called), candidates, bool(below), best, done, why, len(view.traces))


def numbered(view: View, names: Sequence[str]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the numbers of tools, and the unknown names."""
    ids = [(name, tool_id(name)) for name in names]
    named = [
        ([view.number[id_]] if id_ in view.number else view.named.get(name.lower(), []), name) for name, id_ in ids
    ]
    return tuple(n[0] for n, _ in named if len(n) == 1), tuple(name for n, name in named if len(n) != 1)


def next_probabilities(view: View, scores: Floats) -> Floats:
    """Return next-call probabilities by scores, float32 (..., n); 0 for gone tools."""
    if not scores.size:
        return scores
    odds = np.exp(scores - np.maximum.reduce(scores, axis=-1, keepdims=True)) * view.offered
    return np.asarray(odds / np.maximum(np.add.reduce(odds, axis=-1, keepdims=True), np.float32(1e-9)), np.float32)


def reasons(over: Floats, weights: Weights) -> Mapping[str, float]:
    """Return the heads that add most to a tool's log-odds."""
    added = (weights * over).tolist()
    order = sorted(range(len(added)), key=lambda head: -abs(added[head]))[:SHOWN_HEADS]
    return {HEADS[head]: round(added[head], 3) for head in order if abs(added[head]) > 0.01}


def evidence(view: View, attention: Floats, number: int) -> tuple[str, ...]:
    """Return the ids of a tool's traces with the most attention."""
    with_it = view.graph.traces_with(number)
    speaking = with_it[attention.take(with_it) > _SPEAKS]
    return tuple(view.traces[speaking[n]].id for n in top(attention.take(speaking), EVIDENCE).tolist())


def shown(likely: Floats, text: Floats, new: NDArray[np.bool_], count: int, *, yielding: bool = False) -> list[int]:
    """Return the numbers of the first `count` tools to show, in order.

    Let F be the tools `new`, bool (n,), to traces among the first `KEPT` by `text`, float32 (n,), that fit at all, and
    a the likeliest by `likely`, float32 (n,). Then a is first, all of F are among the first `KEPT`, and the others keep
    their order; but where F has `KEPT` members and a is none of them, the least likely of F is right behind the others,
    or, with `yielding`, a is right behind F.

    >>> likely, text = np.array([5, 4, 3, 2, 1, 0], np.float32), np.array([0, 0, 9, 7, 0, 8], np.float32)
    >>> shown(likely, text, np.array([False, False, False, False, False, True]), 6)
    [0, 1, 5, 2, 3, 4]
    >>> shown(likely, text, np.array([False, False, True, True, False, True]), 6, yielding=True)
    [2, 3, 5, 0, 1, 4]
    """
    order = top(likely, max(count, KEPT) + KEPT).tolist()
    fitting = sorted((n for n in top(text, KEPT).tolist() if new[n] and text[n] > 0), key=lambda n: -likely[n])
    first = order[:KEPT]
    for tool in fitting:
        others = [other for other in first[1:] if other not in fitting]
        if tool not in first:
            if others:
                first.remove(others[-1])
            first.append(tool)
    if yielding and len(first) > KEPT:
        first = [*first[1:], first[0]]
    return [*first, *(n for n in order if n not in first)][:count]

"""Predict the next call: attention, hyperpath, traces.

Every head is weighed with the fitted weights; probabilities are those of the softmax these were fitted as. Below
`threshold` the prediction abstains. What was never used keeps a place by its text (`newcomers`). `goal` is the other way, by name: see there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vademecum.index.fusion import top
from vademecum.tools.features import HEADS, After, Taken, still
from vademecum.tools.goal import first_steps
from vademecum.tools.intent_features import NEAR, Asked, put, trusted, without_traces
from vademecum.tools.logit import Weights
from vademecum.tools.newcomers import shown
from vademecum.tools.observe import tool_id
from vademecum.tools.prerequisites import Ways
from vademecum.tools.records import Candidate, Prediction
from vademecum.tools.shgat import Shgat
from vademecum.tools.texts import Floats
from vademecum.tools.view import View
from vademecum.tools.weights import PHASES, Model, taken_probabilities

SHOWN_HEADS = 6  # of the reasons for a candidate, the largest
EVIDENCE = 3  # traces named for a candidate
THRESHOLD = 0.5  # below this probability, nothing is likely enough to act on unasked
PREDICTORS = ("attention", "goal", "shgat")
_NOTHING = "nothing is asked for and nothing was called: say what is to be done, or what was called"
_FAR = 700.0  # log-odds beyond which a probability is 0 and its exponential too large
_SPEAKS = 0.01  # share of the attention from which a trace is named


@dataclass(frozen=True, slots=True)
class Situation:
    """The question: an intent, its calls, and the session's earlier calls."""

    intent: str
    after: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    k: int = 3
    threshold: float = THRESHOLD
    by: str = PREDICTORS[0]
    unfinished: str = ""


def predict(view: View, model: Model, ways: Ways, asked_for: Situation, shgat: Shgat | None = None) -> Prediction:
    """Return the likeliest next calls, by `shgat` if given."""
    (after, strange), (earlier, _) = known(view, asked_for.after), known(view, asked_for.earlier)
    says, few = any(char.isalnum() for char in asked_for.intent), bool(view.traces) and not model.traces
    if not (after or earlier or says):
        reason = _reason([_NOTHING], strange)
        return Prediction(asked_for.intent, asked_for.after, (), True, 0.0, 0.0, reason, len(view.traces))
    way = ways.starting([view.tools[n].id for n in after])
    asked = put(view, asked_for.intent, earlier, asked_for.unfinished)
    asked = asked if after or earlier else trusted(asked, fitted=bool(model.traces))
    here = After(asked, [after, ()] if after else [()])  # and what it looked like to begin with
    weights = model.next[min(len(after), PHASES - 1)]
    unmoved = still(asked)
    features = here.heads(unmoved)
    taken = taken_probabilities(here.heads(unmoved, row=1) if after else features, model.search, model.certain)
    if shgat or asked_for.by == "goal":
        probability = shgat.first_steps(asked, after) if shgat else toward_goals(view, way, taken, after)
        order = [int(n) for n in top(probability, asked_for.k)]
    else:
        probability = next_probabilities(view, features @ weights.astype(np.float32))
        if few and says and (after or earlier):  # few traces move what text says, and no more
            probability = NEAR * probability + (1 - NEAR) * _without_traces(asked, after, weights)
        order = shown(probability, np.where(view.offered, asked.bm25, 0), asked.unseen > 0, asked_for.k)
    mean, attention = probability @ features, asked.attention_after(after)
    places = probability[top(probability, asked_for.k)]  # a place has its probability, whoever takes it
    likely = [(n, float(share)) for n, share in zip(order, places, strict=True) if share > 0]
    candidates = tuple(
        Candidate(
            view.tools[n].id,
            view.tools[n].name,
            share,
            reasons(features[n] - mean, weights),
            evidence(view, attention, n),
            way(view.tools[n].id) if place == 0 else (),
        )
        for place, (n, share) in enumerate(likely)
    )
    best = candidates[0].probability if candidates else 0.0
    abstained = best < asked_for.threshold
    below = [f"the likeliest tool has a probability below {asked_for.threshold:.2f}"] if abstained else []
    return Prediction(
        asked_for.intent,
        asked_for.after,
        candidates,
        abstained,
        best,
        stops(here, model, Taken(taken))[0],
        _reason(below, strange),
        len(view.traces),
    )


def _without_traces(asked: Asked, after: tuple[int, ...], weights: Weights) -> Floats:
    """Return next-call probabilities as if no trace were there, float32 (n,)."""
    alone = without_traces(asked)
    features = After(alone, [after]).heads(still(alone))
    return next_probabilities(asked.view, features @ weights.astype(np.float32))


def known(view: View, names: Sequence[str]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the numbers of tools, and the unknown names."""
    found, strange = list[int](), list[str]()
    for name in names:
        id_ = tool_id(name)
        named = [view.number[id_]] if id_ in view.number else view.named.get(name.lower(), [])
        if len(named) == 1:
            found.append(named[0])
        else:
            strange.append(name)
    return tuple(found), tuple(strange)


def _reason(said: list[str], strange: Sequence[str]) -> str:
    return "; ".join(said + ([f"left out, as no one tool is called so: {', '.join(strange)}"] if strange else []))


def next_probabilities(view: View, scores: Floats) -> Floats:
    """Return next-call probabilities by scores, float32 (..., n); 0 for gone tools."""
    if not scores.size:
        return scores
    odds = np.exp(scores - np.maximum.reduce(scores, axis=-1, keepdims=True)) * view.offered
    return np.asarray(odds / np.maximum(np.add.reduce(odds, axis=-1, keepdims=True), np.float32(1e-9)), np.float32)


def toward_goals(view: View, way: Callable[[str], Sequence[str]], taken: Floats, after: Sequence[int]) -> Floats:
    """Return probabilities of the next step towards a goal, float32 (n,).

    Args:
        view: the tools.
        way: from a tool to the tools on the way there, see `Ways.starting`.
        taken: float32 (n,), the probability of each tool that the intent takes it.
        after: the numbers of the tools called so far.
    """

    def steps(goal: int) -> list[int]:
        return [view.number[step] for step in way(view.tools[goal].id)]

    return first_steps(np.where(view.offered, taken, 0).astype(np.float32), after, steps)


def stops(after: After, model: Model, taken: Taken) -> list[float]:
    """Return the probability that each chain is complete."""
    if not any(after.chains):
        return [0.0] * len(after.chains)
    odds = (after.stopping(taken) @ model.stop).tolist()
    return [
        1 / (1 + math.exp(min(-one, _FAR))) if chain else 0.0 for chain, one in zip(after.chains, odds, strict=True)
    ]


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

"""Answers: fitting tools, the next call, and a plan.

A search goes by the intent alone, before any call (PML's ADR-050):

    score = min(semantic * reliability, 0.95)

`semantic` is the probability that the intent takes the tool: that any tool fits (`confidence`), times that of the tool
if one does. Chains that were called for such intents, and chains of such chains, stand beside the tools.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from vademecum.amounts import counted
from vademecum.index.fusion import top
from vademecum.index.query import names_in
from vademecum.tools import chains, confidence
from vademecum.tools.confidence import CAP, DEPRECATED, RELIABILITIES
from vademecum.tools.features import HEADS, NEAR, After, Asked, heads, put, same_intent, trust, trusted, without_traces
from vademecum.tools.hypergraph import in_context
from vademecum.tools.observe import tool_id
from vademecum.tools.records import Candidate, Match, Plan, Prediction, ToolAnswer
from vademecum.tools.relations import Ways
from vademecum.tools.shgat import Shgat, toward_goals
from vademecum.tools.texts import Floats
from vademecum.tools.tool_arrays import View
from vademecum.tools.tool_ledger import Version
from vademecum.tools.weights import PHASES, Model, Weights, log_probabilities, log_shares, prior, taken_from
from vademecum.types import Verdict

K = 5  # few: each one is read, and paid for
CAPABILITIES, METAS = 2, 1  # chains beside them
LIKELY_FROM = 0.5
_SHOWN_FROM = 0.001
_ALONE = ("match", "unseen_match")  # heads of text without traces
_KEPT_FROM = 0.02  # by text alone, for a place that an unused tool is kept
_CHAIN_FROM = 0.1  # share of the attention from which a chain is shown
_NEAREST = 3
SHOWN_HEADS = 6  # of the reasons for a candidate, the largest
KEPT = 3  # places for tools without usage: as many as a prediction shows unless it is asked for more
EVIDENCE = 3  # traces named for a candidate
THRESHOLD = 0.5  # below this probability, nothing is likely enough to act on unasked
PREDICTORS = ("attention", "goal", "shgat")
_NOTHING = "nothing is asked for and nothing was called: say what is to be done, or what was called"
_PLAIN = re.compile(r"[\s_-]")  # what styles of writing a name differ in
_SPEAKS = 0.01  # share of the attention from which a trace is named
SUPPORTING = 5
LEAST = 0.02  # of confidence in a plan that is shown
# Cosines below which an intent whose words neither tools nor traces have means none of them. Of 80 intents of made-up words, put to three
# sets of tools with 0, 8 and 100 traces, 98 of 100 lie below; of intents of tasks none lacks all words.
_NO_TOOL, _NO_TRACE = 0.45, 0.45
_EMPTY = "no tool is registered: `vade tools register FILE`"


@dataclass(frozen=True)
class Known:
    """A view with its fitted weights, and values computed when needed."""

    view: View
    model: Model
    version: Version

    @cached_property
    def ways(self) -> Ways:
        """The graph of ways to reach tools."""
        offered = [tool for number, tool in enumerate(self.view.tools) if self.view.offered[number]]
        return Ways(offered, self.view.traces)

    @cached_property
    def groups(self) -> chains.Groups:
        """The learned groups."""
        return chains.Groups(self.view)

    @cached_property
    def shgat(self) -> Shgat:
        """The capabilities as ADR-050 scores them."""
        return Shgat(self.view)

    @cached_property
    def pairs(self) -> chains.Pairs:
        """The links between tools."""
        return chains.Pairs(self.view, self.ways)


def search(
    known: Known, text: str, *, k: int = K, server: str = "", reliability: str = "smoothed", min_score: float = 0.0,
    unfinished: str = "",
) -> ToolAnswer:  # fmt: skip
    """Return the fitting tools, then chains, then chains of chains."""
    view, model = known.view, known.model
    asked, features, logs = likely_tools(model, put(view, text, unfinished=unfinished))
    taken = taken_from(logs, model.certain)
    factor = RELIABILITIES[reliability](view.good, view.calls) * np.where(view.offered, 1, DEPRECATED)
    asks = any(char.isalnum() for char in text)  # what says nothing fits nothing
    allowed = view.live & np.array([tool.server == server for tool in view.tools], bool) if server else view.live
    ranks = (taken * factor * asks).astype(np.float32)
    # several servers may have a tool of one name
    exact = sorted((n for n in exact_names(view, text) if allowed[n]), key=lambda n: -float(ranks[n]))
    same = same_intent(asked) is not None
    probability = 1.0 if exact else confidence.probability(asked, allowed) * asks
    semantic = taken * np.float32(probability)
    fits = allowed & (semantic >= min_score)
    alone = log_shares(asked.match * np.float32(prior().search @ [head in _ALONE for head in HEADS]))
    by_text = np.where(fits & view.offered & asks, taken_from(alone, prior().certain), 0).astype(np.float32)
    likely = np.where(fits, ranks, -1).astype(np.float32)
    order = ranked(likely, by_text, (asked.unseen > 0) & bool(view.traces), exact, k, yielding=k >= KEPT and not same)
    mean, attention = np.exp(logs) @ features, asked.attention
    matches = [
        _match(view, n, float(semantic[n]), float(factor[n]), exact=n in exact,
               why=reasons(features[n] - mean, model.search), traces=evidence(view, attention * view.graph.shared((n,))))
        for n in [*order, *(n for n in view.pinned if n not in order and allowed[n])]
    ]  # fmt: skip
    probability, searched = probability if order else 0.0, int(allowed.sum())
    beside = near_groups(asked, known.groups) if asks and not server else []
    if exact:
        return ToolAnswer(text, Verdict.RESOLVED, probability, (*matches, *beside), searched=searched)
    said = len(asked.document_matches.text) or len(asked.intent_matches.text)
    verdict = Verdict.LIKELY if said and probability >= LIKELY_FROM else Verdict.AMBIGUOUS
    verdict = verdict if probability >= confidence.FOUND_FROM else Verdict.NOT_FOUND
    nothing = verdict is Verdict.NOT_FOUND
    why = _why_nothing(view, text, searched, server) if nothing else ""
    nearest = nearest_names(view, text) or tuple(match.id for match in matches[:_NEAREST] if nothing and asks)
    return ToolAnswer(text, verdict, probability, (*matches, *beside), why, nearest, searched)


def shares(known: Known, text: str, unfinished: str = "") -> dict[str, float]:
    """Return each tool's probability as a call for an intent, by id."""
    logs = likely_tools(known.model, put(known.view, text, unfinished=unfinished))[2]
    return {tool.id: math.exp(log) for tool, log in zip(known.view.tools, logs.tolist(), strict=True)}


def likely_tools(model: Model, asked: Asked) -> tuple[Asked, Floats, Floats]:
    """Return the question, and each tool's features and log-probability.

    Of a few traces, one that is near moves the probabilities without traces towards those with it.
    """
    share = trust(asked, fitted=bool(model.traces))
    if not share:
        asked = without_traces(asked)
    features = heads(asked, ())
    logs = log_probabilities(features, model.search)
    if 0 < share < 1:
        alone = log_probabilities(heads(without_traces(asked), ()), model.search)
        logs = np.log((1 - share) * np.exp(alone) + share * np.exp(logs)).astype(np.float32)
    return asked, features, logs


def ranked(
    score: Floats, text: Floats, new: NDArray[np.bool_], exact: Sequence[int], k: int, *, yielding: bool = True
) -> list[int]:
    """Return the tools to show: named ones first, then by score."""
    text = np.where(text >= _KEPT_FROM, text, 0).astype(np.float32)
    ranked = shown(score, text, new, k + len(exact), yielding=yielding)
    fine = [n for n in ranked if score[n] >= _SHOWN_FROM or (new[n] and text[n] > 0)]
    return list(dict.fromkeys([*exact, *fine]))[:k]


def exact_names(view: View, text: str) -> list[int]:
    """Return the live tools that the text names, exact ids first."""
    asked = text.strip().lower().removesuffix("()")
    if whole := [number for number in view.named.get(asked, ()) if view.tools[number].id.lower() == asked]:
        return whole  # an id says which of those of one name is meant
    spelled = [number for name in names_in(text) for number in view.named.get(name.lower(), ())]
    plain = _PLAIN.sub("", asked)
    alike = (n for name, numbers in view.named.items() if plain and _PLAIN.sub("", name) == plain for n in numbers)
    return list(dict.fromkeys([*view.named.get(asked, ()), *spelled] or alike))


def nearest_names(view: View, text: str) -> tuple[str, ...]:
    """Return names spelled like one word of the question."""
    asked = text.strip().lower()
    if not asked or len(asked.split()) > 1:
        return ()
    close = difflib.get_close_matches(asked, view.named, n=_NEAREST)
    return tuple(dict.fromkeys(view.tools[number].id for name in close for number in view.named[name]))


def near_groups(asked: Asked, groups: chains.Groups) -> list[Match]:
    """Return learned groups for similar intents, by their mean attention."""
    share, attention = dict(enumerate(asked.attention_by_chain.tolist())), asked.attention
    near = {id_: fmean(share.get(chain, 0.0) for chain in each.chains) for id_, each in groups.learned.items()}
    order = sorted((id_ for id_ in near if near[id_] >= _CHAIN_FROM), key=lambda id_: -near[id_])
    ranked = {kind: [id_ for id_ in order if groups.known[id_].kind == kind] for kind in ("capability", "meta")}
    shown = *ranked["capability"][:CAPABILITIES], *ranked["meta"][:METAS]
    return [_grouped(asked.view, groups.learned[id_], near[id_], attention) for id_ in shown]


def _grouped(view: View, learned: chains.Learned, near: float, attention: Floats) -> Match:
    group, traces = learned.group, sorted(learned.traces, key=lambda n: -attention[n])
    fine = fmean(view.traces[n].ok for n in traces)
    parts = [tuple(view.tools[tool] for tool in view.metas.chains[chain]) for chain in learned.chains]
    name = " ⇒ ".join(" → ".join(tool.name for tool in part) for part in parts)
    contains = tuple(tuple(tool.id for tool in part) for part in parts) if group.kind == "meta" else ()
    return Match(
        group.id, group.kind, name, "", view.traces[traces[0]].intent, min(near * fine, CAP), near, fine, group.tools,
        contains, {"traces": float(len(traces))}, tuple(view.traces[n].id for n in traces[:3]),
    )  # fmt: skip


def _match(view: View, number: int, semantic: float, reliability: float, **more: object) -> Match:
    tool, score = view.tools[number], min(semantic * reliability, CAP)
    return Match(
        tool.id, "tool", tool.name, tool.server, tool.description, score, semantic, reliability,
        pinned=number in view.pinned, input_schema=tool.input_schema, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def _why_nothing(view: View, text: str, allowed: int, server: str = "") -> str:
    if not view.live.any():
        return _EMPTY
    if not allowed:
        servers = sorted({tool.server for tool in view.tools if tool.server})
        return f"no tool is of server {server!r}: there are {', '.join(servers) or 'none'}"
    if not any(char.isalnum() for char in text):
        return "nothing is asked for: say what is to be done, or a tool's name"
    return (
        f"none of {counted(allowed, 'tool')} fits: ask once more, in the words and the language of a tool's description"
    )


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
    if says and not model.traces:  # of few tools one is always the likeliest
        same = view.traces and trust(asked, fitted=False) == 1
        probability = probability * np.float32(CAP if same else confidence.probability(asked, view.live))
    mean, attention = (
        probability @ features,
        in_context(asked.attention, view.graph.shared(after)) if after else asked.attention,
    )
    places = probability[top(probability, k)]  # a place has its probability, whoever takes it
    candidates = tuple(
        Candidate(
            view.tools[n].id, view.tools[n].name, share, reasons(features[n] - mean, weights),
            evidence(view, attention * view.graph.shared((n,))), way(view.tools[n].id) if place == 0 else (),
        )
        for place, (n, share) in enumerate(zip(order, places.tolist(), strict=True)) if share > 0
    )  # fmt: skip
    best, done = candidates[0].probability if candidates else 0.0, chains.stops(After(asked, [after]), model, taken)[0]
    below = f"the likeliest tool has a probability below {threshold:.2f}" if view.live.any() else _EMPTY
    why = "; ".join([below] * (best < threshold) + unknown)
    return Prediction(intent, tuple(called), candidates, best < threshold, best, done, why, len(view.traces))


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


def evidence(view: View, attention: Floats, least: float = _SPEAKS, most: int = EVIDENCE) -> tuple[str, ...]:
    """Return the ids of the traces with the most attention."""
    return tuple(view.traces[n].id for n in top(attention, most).tolist() if attention[n] > least)


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


def suggest(known: Known, intent: str, unfinished: str = "") -> Plan:
    """Return a plan for an intent; without tasks where nothing fits."""
    view, model = known.view, known.model
    none = Plan(intent, (), (), 0.0, reason=_why_nothing(view, intent, int(view.live.sum())))
    if not (view.live.any() and any(char.isalnum() for char in intent)):
        return none
    asked = trusted(put(view, intent, unfinished=unfinished), fitted=bool(model.traces))
    past = view.intents.dense(asked.question)
    means_none = asked.meaning.max(initial=0) < _NO_TOOL and past.max(initial=0) < _NO_TRACE
    if means_none and not (asked.bm25.any() or asked.alike.any()):
        return none
    replayed = same_intent(asked)
    if replayed is None:
        chain, linked = chains.decoded(asked, model, known.pairs)
        sure = confidence.of_plan(asked, chain, fitted=bool(model.traces)) if chain.tools else 0.0
    else:
        again, sure = view.chains[replayed], 1.0
        chain, linked = chains.Chain(again, (1.0,) * len(again)), set(chains.links_of(view.traces[replayed]))
    if sure < LEAST:
        return none
    tasks, layers, missing = chains.ordered(view, known.ways, known.pairs, chain, linked)
    inside = tuple(known.groups.containing([task.call for task in tasks]))
    near = evidence(view, asked.attention * view.graph.shared(chain.tools), 0, SUPPORTING)
    first = () if replayed is None else (view.traces[replayed].id,)
    speaking = tuple(dict.fromkeys((*first, *near)))[:SUPPORTING]
    return Plan(intent, tasks, layers, sure, speaking, missing, contains=inside)

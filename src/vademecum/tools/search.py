"""Search tools by intent, before any call (PML's ADR-050).

    score = min(semantic * reliability, 0.95)

`semantic` is the probability that the intent takes the tool: that any tool fits (`confidence`), times that of the tool
if one does. Chains that were called for such intents, and chains of such chains, stand beside the tools.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from vademecum.index.query import names_in
from vademecum.tools import confidence
from vademecum.tools.confidence import CAP, RELIABILITIES
from vademecum.tools.features import HEADS, Asked, heads, put, same_intent, trust, without_traces
from vademecum.tools.groups import Groups, Learned
from vademecum.tools.predict import KEPT, evidence, reasons, shown
from vademecum.tools.records import Match, ToolAnswer
from vademecum.tools.refresh import Known
from vademecum.tools.texts import Floats
from vademecum.tools.view import View
from vademecum.tools.weights import Model, log_probabilities, log_shares, prior, taken_from
from vademecum.types import Verdict

K = 5  # few: each one is read, and paid for
CAPABILITIES, METAS = 2, 1  # chains beside them
LIKELY_FROM = 0.5
_SHOWN_FROM = 0.001
_KEPT_FROM = 0.02  # by text alone, for a place that an unused tool is kept
_CHAIN_FROM = 0.1  # share of the attention from which a chain is shown
_NEAREST = 3
_MOST_WORDS = 0.5  # share of a question's words that no tool says, from which its language may be the reason
_STRANGE = "; no tool says most of its words: if the tools speak another language, ask in that"


def search(
    known: Known, text: str, *, k: int = K, server: str = "", reliability: str = "smoothed", min_score: float = 0.0,
    unfinished: str = "",
) -> ToolAnswer:  # fmt: skip
    """Return the fitting tools, then chains, then chains of chains."""
    view, model = known.view, known.model
    asked, features, logs = likely_tools(model, put(view, text, unfinished=unfinished))
    taken = taken_from(logs, model.certain)
    factor = RELIABILITIES[reliability](view.good, view.calls)
    asks = any(char.isalnum() for char in text)  # what says nothing fits nothing
    allowed = view.live & np.array([tool.server == server for tool in view.tools], bool) if server else view.live
    ranks = np.minimum(taken * factor * asks, CAP).astype(np.float32)
    # several servers may have a tool of one name
    exact = sorted((n for n in exact_names(view, text) if allowed[n]), key=lambda n: -float(ranks[n]))
    same = same_intent(asked) is not None
    probability = 1.0 if exact else max(confidence.probability(asked, allowed), CAP * same) * asks
    semantic = taken * np.float32(probability)
    fits = allowed & (semantic >= min_score)
    by_text = np.where(fits & asks, text_alone(asked), 0).astype(np.float32)
    yielding = k >= KEPT and not same
    likely = np.where(fits, ranks, -1).astype(np.float32)
    order = ordered(likely, by_text, asked.unseen > 0, exact, k, yielding=yielding)
    mean, attention = np.exp(logs) @ features, asked.attention
    matches = [
        _match(view, n, float(semantic[n]), float(factor[n]), exact=n in exact,
               why=reasons(features[n] - mean, model.search), traces=evidence(view, attention, n))
        for n in [*order, *(n for n in view.pinned if n not in order and allowed[n])]
    ]  # fmt: skip
    probability, searched = probability if order else 0.0, int(allowed.sum())
    chains = near_groups(asked, known.groups) if asks and not server else []
    verdict = _verdict(asked, probability, exact)
    why = _why_nothing(asked, server, searched) if verdict is Verdict.NOT_FOUND else ""
    nearest = () if exact else nearest_names(view, text)
    return ToolAnswer(text, verdict, probability, (*matches, *chains), why, nearest, searched)


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


def text_alone(asked: Asked) -> Floats:
    """Return each tool's probability by text alone, float32 (n,)."""
    fresh = prior()
    weight = fresh.search[HEADS.index("match")] + fresh.search[HEADS.index("unseen_match")]
    return taken_from(log_shares(asked.match * np.float32(weight)), fresh.certain)


def ordered(
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
    return list(dict.fromkeys([*view.named.get(asked, ()), *spelled]))


def nearest_names(view: View, text: str) -> tuple[str, ...]:
    """Return names spelled like one word of the question."""
    asked = text.strip().lower()
    if not asked or len(asked.split()) > 1:
        return ()
    close = difflib.get_close_matches(asked, view.named, n=_NEAREST)
    return tuple(dict.fromkeys(view.tools[number].id for name in close for number in view.named[name]))


def near_groups(asked: Asked, groups: Groups) -> list[Match]:
    """Return learned groups for similar intents, by their mean attention."""
    share, attention = dict(enumerate(asked.attention_by_chain.tolist())), asked.attention
    near = {id_: fmean(share.get(chain, 0.0) for chain in each.chains) for id_, each in groups.learned.items()}
    order = sorted((id_ for id_ in near if near[id_] >= _CHAIN_FROM), key=lambda id_: -near[id_])
    ranked = {kind: [id_ for id_ in order if groups.known[id_].kind == kind] for kind in ("capability", "meta")}
    shown = *ranked["capability"][:CAPABILITIES], *ranked["meta"][:METAS]
    return [_grouped(asked.view, groups.learned[id_], near[id_], attention) for id_ in shown]


def _grouped(view: View, learned: Learned, near: float, attention: Floats) -> Match:
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


def _verdict(asked: Asked, probability: float, exact: Sequence[int]) -> Verdict:
    if exact or probability < confidence.FOUND_FROM:
        return Verdict.RESOLVED if exact else Verdict.NOT_FOUND
    said = len(asked.document_matches.text) or len(asked.intent_matches.text)
    return Verdict.LIKELY if said and probability >= LIKELY_FROM else Verdict.AMBIGUOUS


def _why_nothing(asked: Asked, server: str, allowed: int) -> str:
    view = asked.view
    if not len(view.tools):
        return "no tool is registered: `vade tools register FILE`"
    if not allowed:
        servers = sorted({tool.server for tool in view.tools if tool.server})
        return f"no tool is of server {server!r}: there are {', '.join(servers) or 'none'}"
    if not any(char.isalnum() for char in asked.question.text):
        return "nothing is asked for: say what is to be done, or a tool's name"
    said = f"probably none of {allowed} tools does this: what is listed is only the nearest"
    strange = asked.document_matches.held == 0
    return said + _STRANGE if strange.sum() > _MOST_WORDS * len(strange) else said

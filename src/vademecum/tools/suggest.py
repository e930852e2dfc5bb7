"""Suggest a plan: tools, order, and parallel calls.

`chains` finds the calls, `dependencies` what each waits for and needs, also calls that the plan lacks, and `groups` the
capabilities that they make up. An intent that a good trace has word for word is answered by that trace.
"""

from __future__ import annotations

from collections.abc import Sequence

from vademecum.index.fusion import top
from vademecum.tools import confidence
from vademecum.tools.chains import Chain, decoded
from vademecum.tools.dependencies import chosen_links, expected_links, links_of, ordered
from vademecum.tools.features import Asked, put, same_intent, trusted
from vademecum.tools.records import Plan
from vademecum.tools.refresh import Known

EVIDENCE = 5
LEAST = 0.1  # of confidence in a plan that is shown
# Cosines below which an intent whose words neither tools nor traces have means none of them. Of 80 intents of made-up words, put to three
# sets of tools with 0, 8 and 100 traces, 98 of 100 lie below; of intents of tasks none lacks all words.
_NO_TOOL, _NO_TRACE = 0.3, 0.45
_EMPTY = "no tool is registered: `vade tools register FILE`"
_NOTHING = "no plan: no tool fits; say it in other words"


def suggest(known: Known, intent: str, unfinished: str = "") -> Plan:
    """Return a plan for an intent; without tasks where nothing fits."""
    view, model = known.view, known.model
    if not any(char.isalnum() for char in intent):
        return Plan(intent, (), (), 0.0, reason="nothing is asked for: say the whole task, in a sentence")
    asked = trusted(put(view, intent, unfinished=unfinished), fitted=bool(model.traces))
    if not view.live.any() or _says_nothing(asked):
        return Plan(intent, (), (), 0.0, reason=_NOTHING if view.live.any() else _EMPTY)
    replayed = same_intent(asked)
    if replayed is None:
        chain, is_chain = decoded(asked, model)
        pairs, links = known.pairs.features(chain.tools, asked.weight), known.model.links
        linked = (
            chosen_links(pairs, links, len(chain.tools))
            if is_chain
            else expected_links(pairs, links, chain.probabilities)
        )
        sure = confidence.of_plan(asked, chain, fitted=bool(model.traces)) if chain.tools else 0.0
    else:
        again, sure = view.chains[replayed], 1.0
        chain, linked = Chain(again, (1.0,) * len(again)), set(links_of(view.traces[replayed]))
    if sure < LEAST:
        return Plan(intent, (), (), 0.0, reason=_NOTHING)
    tasks, layers, missing = ordered(view, known.ways, known.pairs, chain, linked)
    inside = tuple(known.groups.containing([task.call for task in tasks]))
    evidence = supporting(asked, chain.tools, replayed)
    return Plan(intent, tasks, layers, sure, evidence, missing, contains=inside)


def _says_nothing(asked: Asked) -> bool:
    """Return whether tools and past intents are foreign to an intent."""
    if asked.bm25.any() or asked.alike.any():
        return False
    past = asked.view.intents.dense(asked.question)
    return bool(asked.meaning.max(initial=0) < _NO_TOOL and past.max(initial=0) < _NO_TRACE)


def supporting(asked: Asked, chain: Sequence[int], replayed: int | None) -> tuple[str, ...]:
    """Return the ids of a chain's traces, the replayed one first."""
    view = asked.view
    shared = view.graph.shared(chain)
    near = shared.nonzero()[0]
    attention = asked.attention.take(near) * shared.take(near)
    best = near.take([n for n in top(attention, EVIDENCE).tolist() if attention[n] > 0]).tolist()
    order = dict.fromkeys(best if replayed is None else [replayed, *best])
    return tuple(view.traces[n].id for n in [*order][:EVIDENCE])

"""Fit the heads' weights on traces, cross-fitted.

Each trace, or an even draw of many, is put to the others as a question: what it called at each step is the choice to
explain, and neither it nor its session may speak. Fits, each a conditional logit:

    next      which tool is called, with one set of weights for the first, the second and later calls
    unseen    the same where tools are hidden as if never used, for the weights of unseen tools alone
    stop      whether anything more is called
    search    which tools the intent takes at all, and the probability of it
    links     which call used what another gave
    chains    which whole chain it is, among those that the fits above find likely
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vademecum.index.fusion import top
from vademecum.tools.chains import Pairs, chain_features, likely_chains, links_of
from vademecum.tools.features import HEADS, UNSEEN, After, Asked, heads
from vademecum.tools.hypergraph import Integers
from vademecum.tools.texts import Floats
from vademecum.tools.tool_arrays import View
from vademecum.tools.weights import PHASES, Model, Weights, log_probabilities, probabilities, taken_from

LONGEST_CHAIN = 24  # calls of a trace whose pairs are looked at
MOST_TRACES = 600  # that are asked about; more change nothing (measured)
MOST_CANDIDATES = 300  # of a choice: the best and some others stand for a large catalogue
STRENGTH = 5.0  # how close the weights stay to the prior
PHASE_STRENGTH = 30.0  # how close the phases stay to what holds for all of them
_MOST_HIDING = 200  # traces asked about with tools hidden
_MOST_RANKED = 300  # traces whose likely chains are compared
CHAIN_STRENGTH = 2.0  # how close the weights of chains stay to the prior
_HIDDEN = 0.2  # share of tools hidden when the weights of unseen ones are fitted
_FROZEN = 1e9
_ROUNDS = 25
_ENOUGH = 1e-7  # of the loss, relative: further steps change nothing
T = TypeVar("T")
# what says something before anything was called
_SEARCH = np.array(
    [1.0 if h in ("match", "terms", "attention", "ridge", "popular", *UNSEEN) else _FROZEN for h in HEADS]
)


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice: the candidates' features, float32 (n, d), and the taken ones."""

    features: Floats
    chosen: int


def fitted(view: View, pairs: Pairs, prior: Model, *, check: Callable[[], None] = lambda: None, seed: int = 7) -> Model:
    """Return the weights that explain the view's traces best, from `prior` on.

    `check` is called again and again, and may raise to end the work.
    """
    questions = [asked_of(view, int(trace)) for trace in drawn(view, MOST_TRACES, seed)]
    fit_, each = partial(fit, check=check), partial(_each, check=check)
    steps = [*each(questions, choices)]
    joint = fit_([choice for _, choice in steps], prior.next.mean(0), STRENGTH)
    phases = [
        fit_([choice for phase, choice in steps if phase == number], joint, PHASE_STRENGTH) for number in range(PHASES)
    ]
    weights = unseen_weights(view, np.stack(phases), [asked.own for asked in questions], seed, check)
    search = fit_([*each(questions, set_choices)], prior.search, _SEARCH)
    certain = fit_([*each(questions, partial(certainty_choices, search=search))], prior.certain)
    stop = fit_([*each(questions, partial(stop_choices, search=search, certain=certain))], prior.stop)
    links = fit_([*each(questions, partial(pair_choices, pairs=pairs))], prior.links)
    model = Model(weights, stop, search, certain, links, prior.chains, len(view.traces))
    ranked = questions[:: max(1, len(questions) // _MOST_RANKED)]
    chains = [*each(ranked, partial(ranked_choices, model=model))]
    return replace(model, chains=fit_(chains, prior.chains, CHAIN_STRENGTH))


def _each(questions: Iterable[Asked], of: Callable[[Asked], Iterable[T]], check: Callable[[], None]) -> Iterator[T]:
    for asked in questions:
        check()
        yield from of(asked)


def drawn(view: View, most: int, seed: int) -> Integers:
    """Return the numbers of evenly drawn traces, always the same ones."""
    count = len(view.traces)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False)) if count > most else np.arange(count)


def asked_of(view: View, trace: int, hidden: NDArray[np.bool_] | None = None) -> Asked:
    """Return a trace's intent as a question to traces of other sessions."""
    session = view.graph.session[trace]
    excluded = np.flatnonzero(view.graph.session == session) if session >= 0 else np.array([trace])
    called = tuple(tool for t in excluded if t < trace for tool in view.chains[t])
    return Asked(view, view.read(view.traces[trace].intent), called, trace, excluded, hidden)


def choices(asked: Asked) -> Iterator[tuple[int, Choice]]:
    """Yield (phase, choice) for each call of a trace."""
    for step, tool in enumerate(asked.chain):
        yield min(step, PHASES - 1), narrowed(heads(asked, asked.chain[:step]), tool, asked.own)


def narrowed(features: Floats, chosen: int, seed: int) -> Choice:
    """Return a choice among all tools, or among a sample of many."""
    if len(features) <= MOST_CANDIDATES:
        return Choice(features, chosen)
    likely = features[:, [HEADS.index(name) for name in ("match", "attention", "transition")]].sum(axis=1)
    best = top(likely.astype(np.float32), MOST_CANDIDATES // 2)
    others = np.random.default_rng(seed).choice(len(features), MOST_CANDIDATES // 2, replace=False)
    kept = np.unique(np.concatenate([best, others, [chosen]]))
    return Choice(features[kept], int(np.searchsorted(kept, chosen)))


def unseen_weights(
    view: View, phases: Weights, traces: Sequence[int], seed: int, check: Callable[[], None] = lambda: None
) -> Weights:
    """Return the weights with those of unseen tools fitted on hidden tools."""
    block = [HEADS.index(name) for name in UNSEEN]
    rest = [number for number in range(len(HEADS)) if number not in block]
    draw = np.random.default_rng(seed)
    found: list[Choice] = []
    for trace in traces[:: max(1, len(traces) // _MOST_HIDING)]:
        check()
        hidden = draw.random(len(view.tools)) < _HIDDEN
        for phase, choice in choices(asked_of(view, trace, hidden)):
            offset = choice.features[:, rest] @ phases[phase, rest].astype(np.float32)
            found.append(Choice(np.column_stack([offset, choice.features[:, block]]), choice.chosen))
    weights = phases.copy()
    prior = np.array([1.0, *phases[:, block].mean(0)])
    weights[:, block] = fit(found, prior, np.array([_FROZEN] + [STRENGTH] * len(block)), check)[1:]
    return weights


def set_choices(asked: Asked) -> Iterator[Choice]:
    """Yield a choice for each tool of a trace, against uncalled tools."""
    features, taken = heads(asked, ()), asked.view.graph.tools_of(asked.own)
    others = np.setdiff1d(np.arange(len(features)), taken)
    for tool in taken:
        kept = np.concatenate([[tool], others])
        yield narrowed(features[kept], 0, asked.own)


def yes_or_no(features: ArrayLike, *, yes: bool) -> Choice:
    """Return the choice between something with features and nothing."""
    row = np.asarray(features, np.float32)
    return Choice(np.stack([row, np.zeros_like(row)]), 0 if yes else 1)


def certainty_choices(asked: Asked, search: Weights) -> Iterator[Choice]:
    """Yield for each likely tool of a search its choice."""
    likely = log_probabilities(heads(asked, ()), search)
    return (yes_or_no([1, likely[tool]], yes=int(tool) in asked.chain) for tool in top(likely, 20))


def stop_choices(asked: Asked, search: Weights, certain: Weights) -> Iterator[Choice]:
    """Yield for each call of a trace whether it was the last."""
    chain, taken = asked.chain, taken_from(log_probabilities(heads(asked, ()), search), certain)
    rows = After(asked, [chain[: step + 1] for step in range(len(chain))]).stopping(taken)
    return (yes_or_no(row, yes=step == len(chain)) for step, row in enumerate(rows, 1))


def ranked_choices(asked: Asked, model: Model) -> Iterator[Choice]:
    """Yield the choice of a trace's chain among the likely chains."""
    chains, taken = likely_chains(asked, model)
    found = [chain.tools for chain in chains]
    if len(found) > 1 and asked.chain in found:
        yield Choice(chain_features(asked, chains, taken), found.index(asked.chain))


def pair_choices(asked: Asked, pairs: Pairs) -> Iterator[Choice]:
    """Yield for each pair of calls the choice to link them."""
    if len(asked.chain) > LONGEST_CHAIN:
        return
    features, links = pairs.features(asked.chain, asked.weight), links_of(asked.view.traces[asked.own])
    yield from (yes_or_no(row, yes=pair in links) for pair, row in features.items())


def fit(
    choices: Sequence[Choice], prior: Weights, strength: float | Weights = 1.0,
    check: Callable[[], None] = lambda: None,
) -> Weights:  # fmt: skip
    """Return the best weights for the choices, float64 (d,).

    Newton's method minimises -sum over choices of log P(chosen) + strength/2 * |spread * (w - prior)|^2. `check` is as
    in `fitted`.

    >>> yes = Choice(np.array([[1.0, 0.3], [0.0, 0.7]], np.float32), 0)
    >>> no = Choice(np.array([[1.0, 0.7], [0.0, 0.3]], np.float32), 1)
    >>> fit([yes, yes, no], np.zeros(2), 0.1).round(2).tolist()
    [0.28, -8.65]
    """
    weights = prior.copy()
    if not choices:
        return weights
    spread = np.mean([choice.features.astype(np.float64).var(0) for choice in choices], axis=0)
    penalty = np.asarray(strength * np.maximum(spread, 1e-4), np.float64)
    loss, gradient, curvature = _expand(choices, weights, prior, penalty)
    for _ in range(_ROUNDS):
        check()
        step = np.linalg.solve(curvature, gradient)
        share = 1.0
        while True:
            moved = weights - share * step
            found = _expand(choices, moved, prior, penalty)
            if found[0] <= loss or share < 1e-3:
                break
            share /= 2
        improved = loss - found[0]
        if improved <= 0:
            break
        weights, (loss, gradient, curvature) = moved, found
        if improved < _ENOUGH * abs(loss):
            break
    return weights


def _expand(
    choices: Sequence[Choice], weights: Weights, prior: Weights, penalty: Weights
) -> tuple[float, Weights, NDArray[np.float64]]:
    """The loss at some weights, its gradient, and its curvature."""
    away = weights - prior
    loss, gradient, curvature = 0.5 * float(penalty @ away**2), penalty * away, np.diag(penalty)
    for choice in choices:
        x = choice.features
        p = probabilities(x, weights)
        mean = p @ x
        loss -= float(np.log(max(float(p[choice.chosen]), 1e-30)))
        gradient = gradient + (mean - x[choice.chosen])
        curvature = curvature + ((x * p[:, None]).T @ x - np.outer(mean, mean))
    return loss, gradient, curvature

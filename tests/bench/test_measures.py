"""Measures stay in their bounds, and an interval holds the difference it speaks of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vademecum.bench.measures import (
    MOST_TOKENS,
    Hit,
    Piece,
    Reading,
    Target,
    file_measures,
    paired_difference,
    span_recall,
    tokens_to_evidence,
)

SPANS = st.tuples(st.integers(1, 50), st.integers(0, 20)).map(lambda pair: (pair[0], sum(pair)))
HITS = st.builds(lambda path, span: Hit(path, *span), st.sampled_from("abcdef"), SPANS)
TARGETS = st.lists(
    st.builds(Target, st.sampled_from("abcdef"), st.lists(SPANS, min_size=1, max_size=3).map(tuple)),
    min_size=1,
    max_size=4,
    unique_by=lambda target: target.path,
)
VALUES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.sampled_from("abcdef")), min_size=1, max_size=30)


@given(st.lists(HITS, max_size=30), TARGETS)
def test_shares_are_shares_and_a_better_answer_is_no_worse(hits, targets):
    """Every share is in 0..1, and right answers put in front make none of them smaller."""
    perfect = [Hit(target.path, *target.spans[0]) for target in targets]
    for before, after in zip(
        [*file_measures(hits, targets).values(), span_recall(hits, targets)],
        [*file_measures([*perfect, *hits], targets).values(), span_recall([*perfect, *hits], targets, k=40)],
        strict=True,
    ):
        assert 0 <= before <= 1.0000001
        assert before <= after + 1e-9


@given(st.lists(st.tuples(HITS, st.integers(1, 2000)), max_size=30), TARGETS, st.integers(0, 3000))
def test_tokens_are_what_was_read_so_far(pieces, targets, before):
    """Evidence costs all that stands before it and itself; beyond the most, or not there at all, it is never found."""
    reading = Reading(tuple(Piece(hit, cost) for hit, cost in pieces), before)
    spent = tokens_to_evidence(reading, targets)
    sums = [before + sum(cost for _, cost in pieces[: n + 1]) for n in range(len(pieces))]
    right = [n for n, (hit, _) in enumerate(pieces) if span_recall([hit], targets)]
    assert spent == (sums[right[0]] if right and sums[right[0]] <= MOST_TOKENS else None)


@given(VALUES, st.integers(0, 99))
def test_the_interval_holds_the_difference(rows, seed):
    """Low, mean, high, in this order; the same seed gives the same; turned round it is the other way round."""
    ours, theirs, groups = zip(*rows, strict=True)
    found = paired_difference(ours, theirs, groups, seed=seed, rounds=200)
    assert found.low <= found.mean <= found.high
    assert found == paired_difference(ours, theirs, groups, seed=seed, rounds=200)
    turned = paired_difference(theirs, ours, groups, seed=seed, rounds=200)
    assert abs(turned.mean + found.mean) < 1e-9
    assert abs(turned.low + found.high) < 1e-9


def test_questions_about_one_file_count_together():
    """Ten questions about one file say less than ten about ten."""
    ours, theirs = [1.0, 0.0] * 10, [0.0] * 20
    alone = paired_difference(ours, theirs, [str(n) for n in range(20)], seed=7)
    together = paired_difference([1.0] * 10 + [0.0] * 10, theirs, ["a"] * 10 + ["b"] * 10, seed=7)
    assert (together.low, together.high) == (0.0, 1.0)
    assert together.low < alone.low < alone.high < together.high

"""However a state was reached, its index answers as a fresh one does: the same ids, lines, scores and verdicts."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import histories

STEPS = st.one_of(
    *(
        st.tuples(st.just(name), *(st.sampled_from(histories.ARGUMENTS[each]) for each in kinds))
        for name, *kinds in histories.STEPS
    )
)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEPS, max_size=12))
def test_an_incremental_index_answers_as_a_fresh_one(steps):
    """Any edits, renames, copies, switches, killed runs and lost files: afterwards every answer equals a fresh index's."""
    histories.check(steps)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEPS, min_size=10, max_size=40))
def test_a_long_history_answers_as_a_fresh_index(steps):
    """The same over long histories, in which segments are joined many times."""
    histories.check(steps)


@pytest.mark.slow
def test_scripts_by_chance_end_as_a_fresh_index_does():
    """Scripts that go on in one repository: `benchmarks/random_histories.py` tries thousands."""
    assert [differs for _, differs in histories.tried(range(40)) if differs] == []

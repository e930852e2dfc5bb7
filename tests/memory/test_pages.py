"""Events a page at a time: every one once, the latest first, whatever is asked of them, and no more is read than is shown."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vademecum.errors import UsageError
from vademecum.memory.records import Event, Role
from vademecum.memory.timeline import SAID, Filter, chapters_of, how_many, latest

ROLES = [Role.USER, Role.NOTE, Role.ASSISTANT]


@pytest.fixture
def full(memory):
    """A memory of many events of few moments, some with a session, a role and metadata of their own."""
    memory.record_all(
        Event(f"e{n:03}", float(n // 7), ROLES[n % 3], f"note {n}", f"s{n % 4}", metadata={"odd": n % 2})
        for n in range(120)
    )
    return memory


FILTERS = st.builds(
    Filter,
    since=st.sampled_from([0.0, 3.0]),
    until=st.sampled_from([float("inf"), 12.0]),
    session=st.sampled_from(["", "s1", "nowhere"]),
    roles=st.lists(st.sampled_from(["user", "note"]), max_size=2),
    metadata=st.sampled_from([{}, {"odd": 1}, {"odd": 1, "even": 2}]),
)


@given(FILTERS, st.integers(1, 40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # it is only read
def test_pages_together_are_all_there_is(full, wanted, most):
    """In order, without gaps and without repetition, for every filter and size of page."""
    found, before = [], None
    while page := latest(full.scopes, wanted, before, most):
        assert len(page) <= most
        found += page
        before = (page[-1].at, page[-1].id)
    every = full.events(
        since=wanted.since, until=wanted.until, session=wanted.session, roles=wanted.roles, metadata=wanted.metadata
    )
    assert [event.id for event in found] == sorted((event.id for event in every), reverse=True)
    assert how_many(full.scopes, wanted) == len(every)


def test_a_page_reads_no_more_than_itself(full, monkeypatch):
    """The rows that leave the database are those of the page, wherever it lies."""
    read = []
    for scope in full.scopes:
        inner = scope.store.newest

        def counted(*arguments, inner=inner):
            rows = inner(*arguments)
            read.append(len(rows.unwrap()))
            return rows

        monkeypatch.setattr(scope.store, "newest", counted)
    assert len(latest(full.scopes, Filter(), (9.0, "e065"), 10)) == 10
    assert sum(read) <= 10 * len(full.scopes)


def test_there_has_to_be_such_a_role(full):
    """A name nobody has is a mistake, not an empty list."""
    with pytest.raises(UsageError, match="there is no role 'nobody'"):
        latest(full.scopes, Filter(roles=["nobody"]), None, 5)


def test_chapters_of_a_page_are_those_of_a_timeline_of_everything(full, clock):
    """Each is told of as far as it is asked for, and counted whole, whichever of its events the page shows."""
    full.record_all(
        Event(f"late{n}", clock.now - n * 43_200.0, Role.USER, f"late note {n}", f"s{n % 4}") for n in range(100)
    )
    every = full.timeline()
    wanted = Filter(roles=SAID)
    heads, before = {}, None
    while page := latest(full.scopes, wanted, before, 7):
        before = (page[-1].at, page[-1].id)
        heads |= {head.name: head for head in chapters_of(full.scopes, wanted, page, clock.now)}
    assert [(head.name, head.events) for head in heads.values()] == [(each.name, len(each.events)) for each in every]
    assert [(head.since, head.until) for head in heads.values()] == [(each.since, each.until) for each in every]
    some = Filter(since=clock.now - 86_400 * 3, until=clock.now - 86_400, session="s1", roles=SAID)
    shown = latest(full.scopes, some, None, 50)
    assert sum(head.events for head in chapters_of(full.scopes, some, shown, clock.now)) == len(shown) > 0

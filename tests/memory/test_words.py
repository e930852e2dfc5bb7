"""What a process remembers of words has a bound, and room is not taken by what is new in every text."""

from __future__ import annotations

from vademecum.memory import words
from vademecum.memory.words import query_keys, terms


def test_numbers_are_cut_anew_and_take_nobodys_place() -> None:
    """Whoever records for long says numbers without end; words that were seen stay at hand."""
    terms("the limit of retries")
    query_keys("the limit of retries")
    before = [cache.cache_info().currsize for cache in (words._kept, words._kept_keys)]
    assert terms("limit 4711 of 123456789 retries") == ["limit", "4711", "retri"]
    assert len(query_keys("limit 4711 of 123456789 retries")) == 3
    assert [cache.cache_info().currsize for cache in (words._kept, words._kept_keys)] == before

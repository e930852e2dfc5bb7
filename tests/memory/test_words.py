"""Numbers are terms like words."""

from __future__ import annotations

from vademecum.memory.words import query_keys, terms


def test_numbers_are_cut_like_words() -> None:
    assert terms("limit 4711 of 123456789 retries") == ["limit", "4711", "retri"]
    assert len(query_keys("limit 4711 of 123456789 retries")) == 3

"""Text and records of an answer: verdict first, grouped by file, safe to show, stable keys."""

from __future__ import annotations

import json
from dataclasses import replace

from vademecum.answers.render import (
    Style,
    answer_record,
    answer_text,
    evidence_lines,
    evidence_record,
    first_lines,
)
from vademecum.types import Answer, Evidence, Freshness, Verdict

ONE = Evidence(
    id="repo:abc:src/a.py:1234",
    repo="repo",
    branch="main",
    commit="abc",
    path="src/a.py",
    start_line=9,
    end_line=11,
    snippet="def split(\n    total: int,\n) -> int: ...\n",
    score=1.23456,
    kind="function",
    language="python",
    symbols=("split",),
    signature="def split(\n    total: int,\n) -> int",
    signals={"bm25": 2.0, "dense": 0.123456},
)
OTHER = replace(ONE, path="b.py", signature="", freshness=Freshness.EDITED)
LATER = replace(ONE, start_line=40, end_line=42)
FOUND = Answer("split", Verdict.LIKELY, 0.8264, (ONE, OTHER, LATER), reason="two are close", searched=99)


def test_the_text_is_grouped_by_file_with_verdict_and_freshness_first():
    assert answer_text(FOUND, snippet_lines=2) == (
        "likely 0.83 | 1 edited | 3 results in 2 files\n"
        "two are close\n"
        "\n"
        "src/a.py:9-11  def split( total: int, ) -> int\n"
        "   9  def split(\n"
        "  10      total: int,\n"
        " ...  1 more lines\n"
        "src/a.py:40-42  def split( total: int, ) -> int\n"
        "  40  def split(\n"
        "  41      total: int,\n"
        " ...  1 more lines\n"
        "\n"
        "b.py:9-11  [edited]  function split\n"
        "   9  def split(\n"
        "  10      total: int,\n"
        " ...  1 more lines\n"
    )


def test_no_snippet_lines_means_places_only():
    text = answer_text(FOUND, snippet_lines=0, name_repos=True)
    assert text.splitlines()[3:] == [
        "repo:src/a.py:9-11  def split( total: int, ) -> int",
        "repo:src/a.py:40-42  def split( total: int, ) -> int",
        "repo:b.py:9-11  [edited]  function split",
    ]


def test_a_heading_over_several_declarations_says_so():
    """Else the first would seem to be as long as all of them."""
    several = replace(ONE, symbols=("split", "split.inner", "spend", "Budget", "Budget.left"))
    assert next(evidence_lines(several)) == "src/a.py:9-11  def split( total: int, ) -> int and 2 more"


def test_a_heading_names_a_group_of_constants_by_the_first():
    """A signature that names nothing, such as `const (`, gives way to the first name."""
    group = replace(ONE, signature="const (", symbols=("LIMIT", "RANGES"), kind="constant")
    assert next(evidence_lines(group)) == "src/a.py:9-11  constant LIMIT and 1 more"


def test_members_come_with_the_head_of_their_type():
    members = replace(ONE, signature="impl Stream for Lines", symbols=("Lines.Item", "Lines.next"), kind="class")
    assert next(evidence_lines(members)) == "src/a.py:9-11  impl Stream for Lines: Item and 1 more"
    apart = replace(members, signature="impl Stream for Words")
    assert next(evidence_lines(apart)) == "src/a.py:9-11  class Lines.Item and 1 more"


def test_places_without_lines_stand_last_but_for_those_that_are_better():
    """One line each: what the verdict is about is not behind code that answers less."""
    shown = replace(OTHER, freshness=Freshness.FRESH)
    better, worse = (replace(ONE, snippet="", path=path) for path in ("src/better.py", "src/a.py"))
    assert answer_text(replace(FOUND, evidence=(better, shown, worse))).splitlines()[2:] == [
        "",
        "src/better.py:9-11  def split( total: int, ) -> int",
        "",
        "b.py:9-11  function split",
        "   9  def split(",
        "  10      total: int,",
        "  11  ) -> int: ...",
        "",
        "src/a.py:9-11  def split( total: int, ) -> int",
    ]


def test_nothing_found_says_why_and_what_is_near():
    answer = Answer("x", Verdict.NOT_FOUND, 0.02, reason="nothing matched", nearest=("split", "spit"), searched=1)
    assert (
        answer_text(answer, snippet_lines=5)
        == "not found 0.02 | 1 chunk searched\nnothing matched\nnearest: split, spit\n"
    )


def test_why_shows_the_signals():
    lines = list(evidence_lines(ONE, snippet_lines=0, why=True))
    assert lines[1] == "  score 1.23  bm25 2  dense 0.123"


def test_escapes_and_reordering_characters_cannot_reach_the_terminal():
    nasty = replace(ONE, path="a\x1b]0;x\x07.py", snippet="\x1b[31mred\x9b0m \u202eevil\ttab", signature="", symbols=())
    text = "\n".join(evidence_lines(nasty, snippet_lines=3))
    assert not set(text) & {"\x1b", "\x07", "\x9b", "\u202e"}
    assert "red" in text
    assert "\ttab" in text


def test_lines_are_counted_at_line_feeds_alone():
    page = replace(ONE, snippet="one\x0ctwo\r\nthree\u2028four\r\n", start_line=1, end_line=2)
    assert list(evidence_lines(page, snippet_lines=9))[1:] == ["  1  one␌two", "  2  three\ufffdfour"]


def test_a_very_long_line_is_cut():
    minified = replace(ONE, snippet="x" * 5_000_000, signature="y" * 5000)
    assert max(map(len, evidence_lines(minified, snippet_lines=1))) <= 300
    assert max(map(len, evidence_lines(minified, snippet_lines=1, style=Style(width=80)))) <= 80
    assert len(evidence_record(minified, compact=True)["snippet"]) <= 300
    assert len(evidence_record(minified)["snippet"]) == 5_000_000


def test_the_record_is_json_with_stable_keys():
    record = json.loads(json.dumps(answer_record(FOUND)))
    assert list(record) == ["query", "verdict", "probability", "reason", "nearest", "searched", "evidence"]
    assert record["verdict"] == "likely"
    assert record["probability"] == 0.8264
    assert list(record["evidence"][0]) == [
        *("id", "repo", "branch", "commit", "path", "start_line", "end_line", "snippet", "snippet_line", "best_line"),
        *("score", "kind", "language"),
        *("symbols", "signature", "summary", "file_kind", "signals", "freshness", "metadata", "url", "updated"),
    ]
    assert record["evidence"][0]["snippet"] == ONE.snippet
    assert record["evidence"][1]["freshness"] == "edited"


def test_a_snippet_in_the_record_can_be_cut():
    assert answer_record(FOUND, snippet_lines=1)["evidence"][0]["snippet"] == "def split("


def test_the_compact_record_leaves_out_what_is_empty():
    record = answer_record(FOUND, compact=True)
    assert "query" not in record
    assert not {"signals", "metadata", "summary", "file_kind"} & set(record["evidence"][0])


def test_evidence_can_be_narrowed_to_its_first_lines():
    narrowed = first_lines(ONE, 2)
    assert (narrowed.start_line, narrowed.end_line, narrowed.snippet) == (9, 10, "def split(\n    total: int,")
    assert first_lines(ONE, 3) is ONE

"""Verdicts: what is told of how true they are."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import pytest

from verdicts import resolved_by_kind

pytestmark = pytest.mark.once


def row(*, own: bool, right: bool, verdict: str = "resolved", kind: str = "short") -> dict[str, Any]:
    return {"kind": kind, "own": own, "right": right, "verdict": verdict, "stated": 0.9}


def test_even_odds_weigh_answered_and_unanswered_questions_the_same() -> None:
    mine = [row(own=True, right=True), row(own=True, right=True)]
    others = [row(own=False, right=False, verdict=said) for said in ("resolved", "not_found", "likely", "likely")]
    found = resolved_by_kind(mine + others)["short"]
    assert (found["questions"], found["resolved"]) == (2, 2)
    assert (found["own_true"], found["all_true"]) == (1.0, 0.667)
    assert found["all_even"] == 0.8  # all of one half, a quarter of the other


def test_kinds_are_told_apart_and_a_kind_without_others_has_no_even_odds() -> None:
    found = resolved_by_kind([row(own=True, right=False, kind="issue, title"), row(own=True, right=True)])
    assert found["issue, title"] == {"questions": 1, "resolved": 1, "own_stated": 0.9, "own_true": 0.0}

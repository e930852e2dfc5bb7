"""Temporal weighting: recent and often used facts come a little earlier.

    boosted score = score * freshness boost * usage boost

Measured, these boosts hurt questions about the past and do not tell an update from what it replaced; so they order the
session's context, where the question is what matters now.
"""

from __future__ import annotations

DAY_S = 86_400.0


def freshness_boost(age_days: float) -> float:
    """Return 1.3 below 7 days of age, 1.15 below 30, else 1.

    >>> [freshness_boost(days) for days in (0, 6.9, 7, 29, 30)]
    [1.3, 1.3, 1.15, 1.15, 1.0]
    """
    if age_days < 7:
        return 1.3
    return 1.15 if age_days < 30 else 1.0


def usage_boost(uses: int) -> float:
    """Return 2 % more for each use, at most 20 %.

    >>> [round(usage_boost(uses), 2) for uses in (0, 1, 5, 10, 99)]
    [1.0, 1.02, 1.1, 1.2, 1.2]
    """
    return 1.0 + min(0.2, uses * 0.02)


def boosted(score: float, age_s: float, uses: int) -> float:
    """Return a score with both boosts: at most 1.56 times the score."""
    return score * freshness_boost(max(age_s, 0.0) / DAY_S) * usage_boost(uses)

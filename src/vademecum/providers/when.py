"""Conversion between servers' written times and seconds since the epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime

JQL_TIME = "%Y/%m/%d %H:%M"  # as Jira's and Confluence's query languages read times
_FRACTION = re.compile(r"\.(\d+)")
_ZONE = re.compile(r"([+-]\d\d)(\d\d)$")


def seconds(written: str | None) -> float:
    """Return an ISO 8601 time as seconds since the epoch.

    The result is 0 for text that is no time. A time without a zone is UTC.

    >>> seconds("2023-11-14T22:13:20.123+0000"), seconds("2023-11-14T22:13:20.1234567Z"), seconds(""), seconds("never")
    (1700000000.123, 1700000000.123456, 0.0, 0.0)
    """
    text = _FRACTION.sub(lambda found: f".{found[1][:6]:0<6}", written or "")
    try:
        found = datetime.fromisoformat(_ZONE.sub(r"\1:\2", text))
    except ValueError:
        return 0.0
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def written(at: float, form: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
    """Return seconds since the epoch as a UTC time, by default ISO.

    >>> written(1_700_000_000)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(at, UTC).strftime(form)

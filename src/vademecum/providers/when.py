"""Times as servers write them, to seconds since the epoch and back."""

from __future__ import annotations

import re
from datetime import UTC, datetime

JQL_TIME = "%Y/%m/%d %H:%M"  # as Jira's and Confluence's query languages read times
_FRACTION = re.compile(r"\.(\d+)")
_ZONE = re.compile(r"([+-]\d\d)(\d\d)$")


def seconds(written: str | None) -> float:
    """Return a time in ISO 8601 as seconds since the epoch; 0 for none. Without a zone it is UTC.

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
    """Return seconds since the epoch in UTC.

    >>> written(1_700_000_000)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(at, UTC).strftime(form)

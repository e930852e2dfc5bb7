"""Programs and packages that only some tests need: left out at a desk with one line, a failure in CI."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable
from typing import NoReturn

import pytest

PEERS = "make peers"  # installs what `make install` leaves out
LACKS = " is not installed: "


def lacking(what: str, how: str = PEERS) -> NoReturn:
    """Leave the running test out, or fail in CI, since `what` is absent and `how` would install it."""
    message = f"{what}{LACKS}{how}"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def program(*names: str, how: str) -> str:
    """Return the path of the first program that is installed."""
    return next(filter(None, map(shutil.which, names)), "") or lacking(names[0], how)


def package(name: str) -> None:
    """Leave the running test out unless a Python package is installed."""
    if importlib.util.find_spec(name) is None:
        lacking(name)


def left_out(reasons: Iterable[str]) -> str:
    """Return one line that counts the tests left out, by what they lack; empty where none was.

    >>> left_out(["Skipped: fish is not installed: apt install fish", "Skipped: only on Windows"])
    'not installed: fish (1 test; apt install fish)'
    """
    lacked: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for reason in reasons:
        what, lacks, how = reason.removeprefix("Skipped: ").partition(LACKS)
        if lacks:
            lacked[how][what] += 1
    told = []
    for how, counts in lacked.items():
        count = sum(counts.values())
        told.append(f"{', '.join(sorted(counts))} ({count} test{'s' * (count > 1)}; {how})")
    return f"not installed: {'; '.join(told)}" if told else ""

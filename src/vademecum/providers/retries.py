"""Retries: failures that may pass are retried, with growing pauses.

The pause doubles and is drawn at random between half and all of it, so that many clients do not come back at once
("Exponential Backoff And Jitter", AWS Architecture Blog, 2015: equal jitter). `Retry-After` overrides the pause. Clock and
randomness are arguments.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

from vademecum.errors import ProviderError

T = TypeVar("T")
FIRST_PAUSE_S = 0.5
MOST_PAUSE_S = 60.0  # the longest pause; a server that asks for a longer one is not asked again
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 529})  # statuses of failures that may pass


class PassingError(ProviderError):
    """A failure that may pass; `after_s` is the server's `Retry-After`, seconds."""

    def __init__(self, said: str, after_s: float | None = None) -> None:
        super().__init__(said)
        self.after_s = after_s


@dataclass(frozen=True, slots=True)
class Patience:
    """A retry policy: attempts, timeout and pauses.

    Attributes:
        attempts: the most attempts.
        timeout_s: the most seconds of one attempt.
        most_pause_s: the longest pause; a server that asks for a longer one is not asked again.
        sleep, clock, chance: sleeps for seconds; returns seconds since the epoch; draws from 0..1.
    """

    attempts: int = 5
    timeout_s: float = 60.0
    most_pause_s: float = MOST_PAUSE_S
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time
    chance: Callable[[], float] = random.random

    def over(self, attempt: Callable[[], T]) -> T:
        """Run `attempt`, again while it raises `PassingError`.

        Raises `ProviderError` after the last attempt, or if the server asks for too long a pause.
        """
        for failures in range(1, self.attempts + 1):
            try:
                return attempt()
            except PassingError as error:
                if failures == self.attempts:
                    tries = f" ({self.attempts} attempts)" if self.attempts > 1 else ""
                    raise ProviderError(f"{error}{tries}") from error
                pause = self._pause(failures) if error.after_s is None else max(error.after_s, 0.0)
                if pause > self.most_pause_s:
                    raise ProviderError(f"{error}; it asks to be left alone for {pause:.0f} s") from error
            self.sleep(pause)
        raise AssertionError("the last attempt returned or raised")

    def _pause(self, failures: int) -> float:
        longest = min(self.most_pause_s, FIRST_PAUSE_S * 2.0 ** (failures - 1))
        return float(longest * (0.5 + self.chance() / 2))


def retry_after(said: str, now: float) -> float | None:
    """Return the seconds that a `Retry-After` asks for.

    The result is None if the header cannot be read.

    >>> retry_after("7", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 50.0), retry_after("soon", 0.0)
    (7.0, 10.0, None)
    """
    if said.strip().isdigit():
        return float(said)
    try:
        return parsedate_to_datetime(said).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return None

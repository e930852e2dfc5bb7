"""Counters, in the form Prometheus reads.

    >>> counter = Counter("demo_total", "What the demo did.")
    >>> counter.add(operation="hit"); counter.add(2, operation="miss")
    >>> counter.value(operation="miss")
    2.0
    >>> print(exposition([counter]), end="")
    # HELP demo_total What the demo did.
    # TYPE demo_total counter
    demo_total{operation="hit"} 1
    demo_total{operation="miss"} 2

They count within one process; whoever serves `/metrics` shows `exposition()`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

_ALL: dict[str, Counter] = {}


class Counter:
    """A number that only grows, for each combination of labels. Safe to use from several threads."""

    def __init__(self, name: str, said: str) -> None:
        """Name it as Prometheus does, ending in `_total`, and say what it counts."""
        self.name = name
        self.said = said
        self._values: dict[tuple[tuple[str, str], ...], float] = {}
        self._lock = threading.Lock()

    def add(self, amount: float = 1, **labels: str) -> None:
        """Count `amount` more."""
        key = tuple(sorted(labels.items()))
        with self._lock:
            self._values[key] = self._values.get(key, 0.0) + amount

    def value(self, **labels: str) -> float:
        """Return what was counted for these labels."""
        return self._values.get(tuple(sorted(labels.items())), 0.0)

    def lines(self) -> list[str]:
        """Return the lines of the exposition."""
        rows = sorted(self._values.items())
        return [
            f"# HELP {self.name} {self.said}",
            f"# TYPE {self.name} counter",
            *(f"{self.name}{_labels(key)} {value:g}" for key, value in rows),
        ]


def counter(name: str, said: str) -> Counter:
    """Return the counter of this name, made when first asked for, that `exposition` shows."""
    return _ALL.setdefault(name, Counter(name, said))


def exposition(counters: Iterable[Counter] | None = None) -> str:
    """Return counters as text; all there are unless given."""
    chosen = sorted(_ALL.values(), key=lambda each: each.name) if counters is None else counters
    return "".join(f"{line}\n" for each in chosen for line in each.lines())


def _labels(key: tuple[tuple[str, str], ...]) -> str:
    quoted = (f'{name}="{_escaped(value)}"' for name, value in key)
    return "{" + ",".join(quoted) + "}" if key else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

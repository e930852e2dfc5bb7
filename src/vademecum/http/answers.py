"""Answers that were worked out, by tag: while the state they are of stands, they are not worked out again.

>>> kept = Answers(most_bytes=5)
>>> kept.keep("a", b"123"); kept.keep("b", b"45"); kept.get("a")
b'123'
>>> kept.keep("c", b"6"); kept.get("b"), kept.get("a")
(None, b'123')
"""

from __future__ import annotations

import threading
from collections import OrderedDict

MOST_BYTES = 32_000_000


class Answers:
    """Bodies by tag, those used last; safe to use from several threads."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        """Take how many bytes to keep at most."""
        self._most = most_bytes
        self._size = 0
        self._bodies: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, tag: str) -> bytes | None:
        """Return the body of a tag, where it is kept."""
        with self._lock:
            if tag in self._bodies:
                self._bodies.move_to_end(tag)
            return self._bodies.get(tag)

    def keep(self, tag: str, body: bytes) -> None:
        """Keep a body, and drop those used longest ago where there is no room."""
        with self._lock:
            if tag in self._bodies or len(body) > self._most:
                return
            self._bodies[tag] = body
            self._size += len(body)
            while self._size > self._most:
                self._size -= len(self._bodies.popitem(last=False)[1])

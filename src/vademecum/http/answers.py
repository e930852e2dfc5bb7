"""Cache of rendered answers by tag, reused until the index changes.

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
    """Rendered bodies by tag, the last used; safe for several threads."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        """Take the limit of the cache, in bytes."""
        self._most = most_bytes
        self._size = 0
        self._bodies: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, tag: str) -> bytes | None:
        """Return the cached body of a tag, or None."""
        with self._lock:
            if tag in self._bodies:
                self._bodies.move_to_end(tag)
            return self._bodies.get(tag)

    def keep(self, tag: str, body: bytes) -> None:
        """Cache a body, and drop the least recently used beyond the limit."""
        with self._lock:
            if tag in self._bodies or len(body) > self._most:
                return
            self._bodies[tag] = body
            self._size += len(body)
            while self._size > self._most:
                self._size -= len(self._bodies.popitem(last=False)[1])

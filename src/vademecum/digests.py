"""blake2b, as in `hashlib`, without the time for loading OpenSSL.

Hooks have only a few milliseconds.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b  # the source of CPython's `hashlib`
except ImportError:  # pragma: no cover - another Python
    from hashlib import blake2b

__all__ = ["blake2b"]

"""blake2b, as `hashlib` gives it, without the milliseconds that loading OpenSSL for it takes: hooks have few."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # where CPython's `hashlib` takes it from
except ImportError:  # pragma: no cover - another Python
    from hashlib import blake2b

__all__ = ["blake2b"]

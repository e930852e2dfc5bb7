"""vademecum: a local-first context engine for coding agents and the people who steer them."""

from __future__ import annotations

__version__ = "0.1.0"

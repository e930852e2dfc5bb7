"""`python -m vademecum` is `vade`."""

from __future__ import annotations

import sys

from vademecum.cli import main

if __name__ == "__main__":
    sys.exit(main())

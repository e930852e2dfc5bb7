"""The loops of a search and of an index, compiled where a C compiler was at hand when the wheel was built; else numpy does the same.

`compiled` is the module, or None without it. Each of its functions runs the loops of one Python function, which stands where it
is used, says what is computed, and is what runs where nothing is compiled: tests hold the two equal. VADE_KERNEL=off does without.
"""

from __future__ import annotations

import os
from typing import Any

REVISION = 8  # of the functions: what was compiled of other sources is not used


def _found() -> Any:
    if os.environ.get("VADE_KERNEL") == "off":
        return None
    try:
        import vademecum.kernel._kernel as found
    except ImportError:  # a wheel for every machine
        return None
    return found if found.REVISION == REVISION else None


compiled: Any = _found()

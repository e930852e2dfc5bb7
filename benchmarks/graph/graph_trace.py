"""A pytest plugin that writes down who called whom while a test suite ran: the ground truth of `graph.py`.

    VADE_TRACE_ROOT=DIRECTORY VADE_TRACE_OUT=FILE python -m pytest -p graph_trace ...

Each line of the output is JSON: [caller's file, first line and name, line of the call, callee's file ("" outside of the
root), first line, name, whether C code lay between]. A caller is always a file below the root.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from types import FrameType
from typing import Any

ROOT = os.path.realpath(os.environ["VADE_TRACE_ROOT"]) + os.sep
CALLS: set[tuple[object, ...]] = set()
IN_C: dict[int, bool] = {}
PATHS: dict[str, str] = {}


def own(filename: str) -> str:
    """Return a file's path from the root, "" for one outside."""
    if filename not in PATHS:
        real = os.path.realpath(filename)
        PATHS[filename] = real[len(ROOT) :] if real.startswith(ROOT) and not filename.startswith("<") else ""
    return PATHS[filename]


def profile(frame: FrameType, event: str, argument: Any) -> None:
    """Take one event."""
    if event == "call":
        caller = frame.f_back
        if caller is None:
            return
        path = own(caller.f_code.co_filename)
        if path:
            code, callee = caller.f_code, frame.f_code
            through_c = IN_C.get(id(caller), False)
            CALLS.add((path, code.co_firstlineno, code.co_qualname, caller.f_lineno, own(callee.co_filename),
                       callee.co_firstlineno, callee.co_qualname, through_c))  # fmt: skip
    elif event == "return":
        IN_C.pop(id(frame), None)
    else:
        path = own(frame.f_code.co_filename)
        if path:
            IN_C[id(frame)] = event == "c_call"
            if event == "c_call":
                name = getattr(argument, "__qualname__", "")
                CALLS.add(
                    (path, frame.f_code.co_firstlineno, frame.f_code.co_qualname, frame.f_lineno, "", 0, name, False)
                )


def pytest_configure() -> None:
    """Begin."""
    threading.setprofile(profile)
    sys.setprofile(profile)


def pytest_unconfigure() -> None:
    """Write what was seen."""
    sys.setprofile(None)
    threading.setprofile(None)
    with open(os.environ["VADE_TRACE_OUT"], "w", encoding="utf-8") as out:
        out.writelines(json.dumps(call) + "\n" for call in sorted(CALLS, key=str))

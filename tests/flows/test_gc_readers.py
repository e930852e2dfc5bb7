"""Whoever asks while another process edits, indexes and cleans up gets an answer of the old state or of the new one."""

from __future__ import annotations

import os
import subprocess
import sys

WRITER = """
import sys
from vademecum import config
from vademecum.engine import Engine
for n in range(25):
    with open(f"m{n % 9}.py", "a") as file:
        file.write(f"def g{n}():\\n    return f{n % 9}()\\n")
    with Engine.open(".", settings=config.load(None, arguments={"index.workers": 1}), embedder="hashing") as engine:
        engine.codebase.index()
        engine.codebase.gc()
"""


def test_a_clean_up_beside_readers_costs_no_answer(repo, engine):
    """Contents that a question is about to read may be gone: the question is asked again, and nobody hears of it."""
    made = repo(
        "busy",
        {
            f"m{n}.py": f"from m{(n + 1) % 9} import f{(n + 1) % 9}\n\n\ndef f{n}():\n    return f{(n + 1) % 9}()\n"
            for n in range(9)
        },
    )
    codebase = engine(made).codebase
    codebase.index()
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", WRITER], cwd=made.path, env=environ) as writer:
        while writer.poll() is None:
            assert codebase.callers("f3").found
            assert codebase.callees("f4").found
            assert codebase.search("f5").evidence
            assert codebase.symbol("f6").evidence
        assert writer.returncode == 0

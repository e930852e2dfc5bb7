"""Write a result with the conditions that it was measured under, and print tables."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from peers import versions

RESULTS = Path(__file__).parent / "results"


def commit() -> str:
    """Short hash of the project's HEAD, with `+` where the package differs from it; `nocommit` outside git."""
    git = ["git", "-C", str(RESULTS.parent)]
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    if head.returncode:
        return "nocommit"
    changes = subprocess.run(
        [*git, "status", "--porcelain", "--", "../src"], capture_output=True, text=True, check=False
    ).stdout
    return head.stdout.strip() + ("+" if changes.strip() else "")


def conditions() -> dict[str, Any]:
    """The machine and the versions, without names or paths of this machine."""
    return {
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "cpu": _cpu_model(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
        "versions": versions(),
    }


def _cpu_model() -> str:
    """Return the processor's name, with its family and model: a virtual machine names several generations alike."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    said: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        said.setdefault(name.strip(), value.strip())
    if "model name" not in said:
        return platform.machine()
    numbered = [f"{name.removeprefix('cpu ')} {said[name]}" for name in ("cpu family", "model") if name in said]
    return f"{said['model name']} ({', '.join(numbered)})" if numbered else said["model name"]


def write(name: str, result: dict[str, Any], into: Path = RESULTS) -> Path:
    """Write `<name>-<commit>.json`, conditions first."""
    facts = conditions()
    into.mkdir(parents=True, exist_ok=True)
    file = into / f"{name}-{facts['commit']}.json"
    file.write_text(json.dumps({"conditions": facts} | result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


def table(heading: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Lay out a Markdown table; numbers get three decimals, ours being measures in [0, 1], unless they are whole.

    >>> print(table(["peer", "ndcg"], [["x", 0.5]]))
    | peer | ndcg  |
    | ---- | ----- |
    | x    | 0.500 |
    """
    cells = [[str(cell) for cell in heading], *[[_cell(value) for value in row] for row in rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heading))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)

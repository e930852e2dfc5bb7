"""The page of faults, tried: each row's tests are run, and what came of it is written down.

    python benchmarks/faults.py
    CORRUPTIONS=1000 python benchmarks/faults.py     as many random corruptions of the data, in place of 200

docs/faults.md says of each fault what comes of it and which test shows it. Written are the rows with how many tests were run for each and how
many passed. It takes a few minutes, and needs what `make peers` brings; a row of which a test was left out counts as not shown.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import report

TOP = Path(__file__).parents[1]
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| `([^`|]+)::([^`|]+)`(?: `([^`|]+)`)? \|$", re.MULTILINE)


def ran(tests: list[str]) -> Iterator[tuple[str, str, bool]]:
    """Run tests; yield the module and the name of each, and whether it passed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={file}", *tests]
        subprocess.run(command, cwd=TOP, check=False, stdout=sys.stderr)
        for case in ET.parse(file).iter("testcase"):
            yield case.get("classname", ""), case.get("name", ""), len(case.findall("*")) == 0


def main() -> int:
    with tempfile.NamedTemporaryFile("r", suffix=".json") as told:
        os.environ["CORRUPTIONS_TOLD"] = told.name
        return shown(Path(told.name))


def shown(told: Path) -> int:
    """Try every row, print and write the result; `told` is the file that the random corruptions are counted in."""
    rows = ROW.findall((TOP / "docs" / "faults.md").read_text(encoding="utf-8"))
    cases = list(ran(sorted({f"{file}::{name}" for _, _, _, file, name, _ in rows})))
    result = []
    for fault, of, outcome, file, name, which in rows:
        module = file.removesuffix(".py").replace("/", ".")
        own = [
            passed for of_module, case, passed in cases
            if of_module == module and case.partition("[")[0] == name and which in case.partition("[")[2]
        ]  # fmt: skip
        result.append({"fault": fault, "of": of, "outcome": outcome, "tests": len(own), "passed": sum(own)})
        if not own or not all(own):
            print(f"not shown: {fault}, {of}: {sum(own)} of {len(own)} tests passed")
    good = sum(row["tests"] == row["passed"] > 0 for row in result)
    print(f"{good} of {len(result)} rows shown by {sum(row['tests'] for row in result)} tests")
    print(
        report.write(
            "faults",
            {"rows": len(result), "shown": good, "corruptions": json.loads(told.read_text() or "{}"), "faults": result},
        )
    )
    return 0 if good == len(result) else 1


if __name__ == "__main__":
    sys.exit(main())

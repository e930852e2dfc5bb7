"""Tests to run after a change, against the tests that run the changed code.

    python benchmarks/graph/tests_to_run.py truth NAME ... --checkouts FOLDER --state ROWS.jsonl --python PYTHON
    python benchmarks/graph/tests_to_run.py measure --checkouts FOLDER --state ROWS.jsonl [--unseen NAME,...]

`truth` takes the newest commits of a clone that change its source, checks each one out, runs the whole suite and notes which
test files entered a function that the commit changed, and which ran a changed line. Python's suite runs once, with
pytest-cov's contexts; code that runs while tests are collected has no context and counts for no test. Of JavaScript each
test file runs alone with NODE_V8_COVERAGE; code that runs while it loads counts. A commit that no test file feels is left out.

`measure` asks for the impact of each of these commits, of its changes to the source alone: test files that the commit
changed itself are not told. It reads no coverage data.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

sys.path.append(str(Path(__file__).parent.parent))

import report
from vademecum.engine import Engine

LIMIT_S = 500  # of a whole suite in Python, of a test file in JavaScript a tenth
TRIED = 40  # commits looked at before a repository is given up
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
Spans = dict[str, list[tuple[int, int]]]  # path → first and last line of each change
Felt = tuple[set[str], set[str]]  # test files that entered a changed function, that ran a changed line


@dataclass(frozen=True, slots=True)
class Suite:
    """How a repository is tested.

    Attributes:
        sources: folders of the source.
        tests: what the path of a test file matches.
        command: how node runs one test file; empty for pytest.
    """

    sources: tuple[str, ...]
    tests: str = r".*\.py"
    command: tuple[str, ...] = ()

    def is_source(self, path: str) -> bool:
        """Return whether a file is source, and no test."""
        ending = (".js", ".cjs", ".mjs") if self.command else (".py",)
        below = any(path.startswith(f"{folder}/") for folder in self.sources)
        return below and path.endswith(ending) and not (self.command and re.fullmatch(self.tests, path))


SUITES = {
    "httpx": Suite(("httpx",)),
    "click": Suite(("src/click",)),
    "jinja": Suite(("src/jinja2",)),
    "cachetools": Suite(("src/cachetools",)),
    "pluggy": Suite(("src/pluggy",)),
    "werkzeug": Suite(("src/werkzeug",)),
    "express": Suite(
        ("lib",),
        r"test/(acceptance/)?[^/]+\.js",
        ("node_modules/mocha/bin/_mocha", "--require", "test/support/env", "--exit"),
    ),
    "koa": Suite(("lib",), r"__tests__/.*\.test\.js", ("--test-reporter=tap",)),
    "commander": Suite(("lib",), r"tests/.*\.test\.c?js", ("--test-reporter=tap",)),
    "node-fs-extra": Suite(("lib",), r"lib/.*__tests__/.*\.test\.js", ("node_modules/mocha/bin/_mocha", "--exit")),
    "node-semver": Suite(("classes", "functions", "internal", "ranges"), r"test/.*\.js", ("--no-warnings",)),
}


def git(root: Path, *words: str) -> str:
    """Return what git says."""
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True).stdout


def candidates(root: Path, suite: Suite) -> Iterator[tuple[str, Spans]]:
    """Yield the newest commits that change source files, with the lines they changed as they are after."""
    begun = git(root, "rev-parse", "refs/remotes/origin/HEAD").strip()
    for commit in git(root, "rev-list", "--no-merges", f"--max-count={TRIED * 8}", begun, "--", *suite.sources).split():
        spans = {}
        for path in git(root, "diff", "--name-only", "--diff-filter=M", f"{commit}~1", commit).splitlines():
            if suite.is_source(path):
                hunks = _HUNK.findall(git(root, "diff", "-U0", f"{commit}~1", commit, "--", path))
                spans[path] = [(max(int(at), 1), max(int(at) + int(count or 1) - 1, 1)) for at, count in hunks]
        if spans:
            yield commit, spans


def python_felt(root: Path, suite: Suite, spans: Spans, python: str) -> tuple[int, Felt]:
    """Run the suite once; return how many test files ran, and which felt the change."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "rc").write_text("[run]\nrelative_files = true\n")
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)]), "COVERAGE_FILE": f"{folder}/data",
            "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
        command += [*(f"--cov={folder}" for folder in suite.sources), f"--cov-config={folder}/rc", "--cov-context=test"]
        command += ["--cov-report=", "-W", "default"]
        subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False, timeout=LIMIT_S)
        asked = [[path, *_python_lines(root / path, lines)] for path, lines in spans.items()]
        said = subprocess.run(
            [python, "-c", _CONTEXTS, f"{folder}/data"],
            input=json.dumps(asked), capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    ran, entered, touched = json.loads(said)
    return len(ran), (set(entered), set(touched))


# Read which contexts ran lines: [[path, lines of changed functions, changed lines], ...] → files that ran, those that felt it.
_CONTEXTS = """
import json, os, sys
from coverage import CoverageData
data = CoverageData(sys.argv[1]); data.read()
files = lambda contexts: {c.partition("::")[0] for c in contexts if "::" in c}
kept = [set(), set()]
for path, *both in json.load(sys.stdin):
    by_line = data.contexts_by_lineno(path)
    for into, lines in zip(kept, both):
        into |= {file for line in lines for file in files(by_line.get(line, ()))}
print(json.dumps([sorted(files(data.measured_contexts())), *map(sorted, kept)]))
"""


def _python_lines(file: Path, spans: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return the lines in the bodies of the innermost functions that changed, and the changed lines."""
    functions = [
        node
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    changed = {line for first, last in spans for line in range(first, last + 1)}
    inside: set[int] = set()
    for line in changed:
        around = [node for node in functions if node.lineno <= line <= (node.end_lineno or 0)]
        if around:
            inner = max(around, key=lambda node: node.lineno)
            inside |= set(range(inner.body[0].lineno, (inner.end_lineno or 0) + 1))
    return sorted(inside), sorted(changed)


def node_felt(root: Path, suite: Suite, spans: Spans, _: str) -> tuple[int, Felt]:
    """Run each test file alone; return how many ran, and which felt the change."""
    tests = [path for path in git(root, "ls-files").splitlines() if re.fullmatch(suite.tests, path)]
    asked = {str(root / path): _changed_text((root / path).read_text("utf-8"), lines) for path, lines in spans.items()}
    ran, entered, touched = 0, set(), set()
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"NODE_V8_COVERAGE": folder, "NODE_ENV": "test"}
            command = ["node", *suite.command, test]
            try:
                subprocess.run(
                    command, cwd=root, env=environment, capture_output=True, check=False, timeout=LIMIT_S / 10
                )
            except subprocess.TimeoutExpired:
                continue
            written = list(Path(folder).glob("*.json"))
            ran += bool(written)
            for file in written:
                for script in json.loads(file.read_bytes())["result"]:
                    path = script["url"].removeprefix("file://")
                    for first, last in asked.get(path, ()):
                        is_entered, is_run = _v8_counts(script["functions"], first, last)
                        entered |= {test} if is_entered else set()
                        touched |= {test} if is_run else set()
    return ran, (entered, touched)


def _changed_text(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return where the text of changed lines begins and ends, in UTF-16 units, blank lines left out."""
    places, at = [], 0
    changed = {line for first, last in spans for line in range(first, last + 1)}
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        length = len(line.encode("utf-16-le")) // 2
        if number in changed and line.strip():
            indent = len(line) - len(line.lstrip())
            places.append((at + indent, at + len(line.rstrip())))
        at += length
    return places


def _v8_counts(functions: list[dict[str, Any]], first: int, last: int) -> tuple[bool, bool]:
    """Return whether the innermost function around a text was entered, and whether the text ran; (False, False) at a module's top."""
    around = [f for f in functions if f["ranges"][0]["startOffset"] <= first and last <= f["ranges"][0]["endOffset"]]
    inner = min(around, key=lambda f: f["ranges"][0]["endOffset"] - f["ranges"][0]["startOffset"], default=None)
    if inner is None or len(around) < 2 or not inner["ranges"][0]["count"]:  # one is the module
        return False, False
    within = [r for r in inner["ranges"] if r["startOffset"] <= first < r["endOffset"]]
    return True, min(within, key=lambda r: r["endOffset"] - r["startOffset"])["count"] > 0


def truth(arguments: argparse.Namespace) -> None:
    """Write a row for each commit that tests feel."""
    state = Path(arguments.state)
    rows = [json.loads(line) for line in state.read_text().splitlines()] if state.exists() else []
    known = {(row["repo"], row["commit"]): row for row in rows}
    for name in arguments.names:
        root, suite = Path(arguments.checkouts, name).resolve(), SUITES[name]
        felt_by: Callable[..., tuple[int, Felt]] = node_felt if suite.command else python_felt
        good = 0
        for number, (commit, spans) in enumerate(candidates(root, suite)):
            if good >= arguments.commits or number >= TRIED:
                break
            if (name, commit) not in known:
                git(root, "checkout", "-q", "-f", commit)
                try:
                    ran, (entered, touched) = felt_by(root, suite, spans, arguments.python)
                except (subprocess.SubprocessError, SyntaxError) as error:
                    print(name, commit[:8], type(error).__name__, file=sys.stderr)
                    continue
                row = {
                    "repo": name,
                    "commit": commit,
                    "ran": ran,
                    "entered": sorted(entered),
                    "touched": sorted(touched),
                }
                known[name, commit] = row
                with state.open("a") as out:
                    out.write(json.dumps(row) + "\n")
                print(name, commit[:8], ran, len(entered), len(touched), flush=True)
            good += bool(known[name, commit]["entered"])


@dataclass(frozen=True, slots=True)
class Judged:
    """What was named for one commit, and what is true."""

    named: frozenset[str]
    true: frozenset[str]

    @property
    def precision(self) -> float | None:
        """Share of the named test files that felt the change, None where none is named."""
        return len(self.named & self.true) / len(self.named) if self.named else None

    @property
    def recall(self) -> float:
        """Share of the test files that felt the change which are named."""
        return len(self.named & self.true) / len(self.true)


def figures(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return the means over commits, and the figures of all their test files together."""
    named, true, right = (
        sum(map(len, each)) for each in zip(*((j.named, j.true, j.named & j.true) for j in judged), strict=True)
    )
    precisions = [each.precision for each in judged if each.precision is not None]
    return {
        "commits": len(judged),
        "precision": round(mean(precisions), 3) if precisions else None,
        "recall": round(mean(each.recall for each in judged), 3),
        "together": {"named": named, "true": true, "right": right, "precision": round(right / max(named, 1), 3), "recall": round(right / true, 3)},
    }  # fmt: skip


def measure(arguments: argparse.Namespace) -> None:
    """Ask for the impact of each commit, and write the result."""
    rows = [json.loads(line) for line in Path(arguments.state).read_text().splitlines()]
    by_repo: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["entered"] and (not arguments.names or row["repo"] in arguments.names):
            by_repo[row["repo"]].append(row)
    told, each_row = {}, []
    for name, felt in sorted(by_repo.items()):
        root = Path(arguments.checkouts, name).resolve()
        judged: dict[str, list[Judged]] = defaultdict(list)
        for row in felt:
            named = asked(root, row["commit"], SUITES[name])
            for truth_kind in ("entered", "touched"):
                if row[truth_kind]:
                    judged[truth_kind].append(Judged(named, frozenset(row[truth_kind])))
            one = judged["entered"][-1]
            each_row.append({"repo": name, "commit": row["commit"], "ran": row["ran"], "true": len(one.true), "named": len(named), "right": len(named & one.true)})  # fmt: skip
        told[name] = {kind: figures(own) for kind, own in judged.items()}
        print(name, json.dumps(told[name]), flush=True)
    unseen = [name for name in arguments.unseen.split(",") if name in told]
    groups = {"seen": [name for name in told if name not in unseen], "unseen": unseen}
    means = {
        group: {
            kind: {figure: round(mean(told[name][kind][figure] for name in names), 3) for figure in ("precision", "recall")}
            for kind in ("entered", "touched")
        }
        for group, names in groups.items() if names
    }  # fmt: skip
    print(json.dumps(means, indent=1))
    print(report.write("tests-to-run", {"means": means, "repositories": told, "commits": each_row}))


def asked(root: Path, commit: str, suite: Suite) -> frozenset[str]:
    """Return the test files that are named for a commit's changes to the source."""
    git(root, "checkout", "-q", "-f", commit)
    with Engine.open(root) as engine:
        engine.codebase.index()
        answer = engine.codebase.impact(diff=f"{commit}~1..{commit}", below=suite.sources)
        return frozenset(test.path for test in answer.tests)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("truth", "measure"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--checkouts", required=True)
    parser.add_argument("--state", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--commits", type=int, default=6)
    parser.add_argument("--unseen", default="")
    given = parser.parse_args()
    (truth if given.action == "truth" else measure)(given)

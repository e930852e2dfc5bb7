"""Write SWE-bench's issues as `issues.py` reads them: the files, lines and functions that each fix changed.

    python benchmarks/swebench.py --parquet test.parquet --mirrors MIRRORS --into LITE [--snapshot django/django=felixxm/django]

The file is a split of SWE-bench as its repository once held it (`data/SWE-bench_Lite/test.parquet`). A function counts as
changed if it was there before the fix and its text is another afterwards, or gone; decorators belong to it, and functions
inside it do. What the fix adds is no answer to a search before it. Needs `pyarrow`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from data import mirror_of
from metrics import Span, functions_in

_FILE = re.compile(r"^--- a/(.+)$", re.MULTILINE)
_HUNK = re.compile(r"^@@ -(\d+)")


def changed_functions(before: str, after: str) -> list[str]:
    r"""Name the functions of a file that a change altered or took away.

    >>> changed_functions("def f(): 1\ndef g(): 2\n", "def f(): 1\ndef g(): 3\ndef h(): 4\n")
    ['g']
    """
    texts: list[dict[str, list[str]]] = []
    for source in (before, after):
        lines, found = source.splitlines(), defaultdict(list)
        for name, (first, last) in functions_in(source):
            found[name].append("\n".join(lines[first - 1 : last]))
        texts.append(found)
    return [name for name, text in texts[0].items() if text != texts[1].get(name)]


def changed_lines(patch: str) -> dict[str, list[Span]]:
    r"""Give the lines that a patch takes away or adds at, by file, as they are numbered before it.

    >>> changed_lines("--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n")
    {'x.py': [(2, 2)]}
    """
    spans: dict[str, list[Span]] = {}
    for part in re.split(r"^diff --git .*$", patch, flags=re.MULTILINE):
        if not (named := _FILE.search(part)):
            continue
        touched: set[int] = set()
        number, taken = 0, False  # of the line before
        for line in part[named.end() :].splitlines():
            if hunk := _HUNK.match(line):
                number, taken = int(hunk[1]) - 1, False
            elif line.startswith("+") and not line.startswith("+++"):
                touched |= set() if taken else {max(1, number)}
            elif not line.startswith(("+", "\\")):
                number, taken = number + 1, line.startswith("-")
                touched |= {number} if taken else set()
        spans[named[1]] = [(first, last) for first, last in _runs(sorted(touched))]
    return spans


def _runs(numbers: Sequence[int]) -> Iterator[Span]:
    start = 0
    for at, number in enumerate(numbers):
        if at + 1 == len(numbers) or numbers[at + 1] != number + 1:
            yield numbers[start], number
            start = at + 1


def after_patch(git_dir: Path, commit: str, patch: str, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Give the text of files before and after a patch; a file that the patch takes away is empty after it."""
    with tempfile.TemporaryDirectory() as scratch:
        before = {}
        for path in paths:
            show = ["git", f"--git-dir={git_dir}", "show", f"{commit}:{path}"]
            before[path] = subprocess.run(show, check=True, capture_output=True).stdout.decode("utf-8", "replace")
            file = Path(scratch, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(before[path], encoding="utf-8", newline="")
        apply = ["git", "apply", "--whitespace=nowarn", *(f"--include={path}" for path in paths)]
        subprocess.run(apply, cwd=scratch, input=patch.encode(), check=True, capture_output=True)
        read = {path: Path(scratch, path) for path in paths}
        return {p: (before[p], f.read_text("utf-8", "replace") if f.exists() else "") for p, f in read.items()}


def question_of(row: dict[str, Any], mirrors: Path, snapshots: dict[str, str]) -> dict[str, Any]:
    """Turn one instance into a question."""
    snapshot = snapshots.get(row["repo"], row["repo"])
    lines = changed_lines(row["patch"])
    texts = after_patch(mirror_of(mirrors, snapshot), row["base_commit"], row["patch"], list(lines))
    names = {path: changed_functions(*texts[path]) if path.endswith(".py") else [] for path in lines}
    return {
        "id": row["instance_id"], "repo": row["repo"], "snapshot": snapshot, "commit": row["base_commit"],
        "language": "python", "query": row["problem_statement"],
        "gold": [{"path": path, "spans": spans} for path, spans in lines.items()],
        "functions": [f"{path}:{name}" for path, found in names.items() for name in found],
    }  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Write `issues.jsonl.gz`, each repository's issues from old to new."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parquet", type=Path, required=True)
    parser.add_argument("--mirrors", type=Path, required=True, help="git directories of the repositories")
    parser.add_argument("--snapshot", action="append", default=[], help="owner/name=owner/name of its mirror")
    parser.add_argument("--into", type=Path, required=True, help="folder for issues.jsonl.gz")
    arguments = parser.parse_args(argv)
    from pyarrow import parquet  # which only this script needs

    snapshots = dict(pair.split("=") for pair in arguments.snapshot)
    rows = sorted(parquet.read_table(arguments.parquet).to_pylist(), key=lambda row: (row["repo"], row["created_at"]))
    questions = [question_of(row, arguments.mirrors, snapshots) for row in rows]
    arguments.into.mkdir(parents=True, exist_ok=True)
    with gzip.open(arguments.into / "issues.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(question) + "\n" for question in questions)
    functions = sum(bool(question["functions"]) for question in questions)
    print(f"{len(questions)} issues, {functions} of them with a changed function")


if __name__ == "__main__":
    main()

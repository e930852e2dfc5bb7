"""Make tasks from recent commits: the tree before the fix, a user's words, and the lines that the fix changed.

    PYTHONPATH=benchmarks python -m agents.make_tasks MIRROR... --out tasks.jsonl [--issues texts.jsonl] [--test COMMAND]

A mirror is a bare git repository. A commit makes a task if one to four files of code changed, if its first line (or the
issue's text) names none of them, and if a changed line stands nowhere else in the tree: the agent has seen the place once
that line has reached its context. The placebo is as many lines of other files that lie nearby. With --test, a commit also
has to bring tests which fail before the fix and pass after it; COMMAND holds {tests} for their paths. This runs the
repository's own code: do it in a container.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from data import export_tree
from vademecum.bench.history import MOST_HUNKS, MOST_LINES, may_be_asked, product_changes, question_of, spans_of
from vademecum.bench.queries import is_product
from vademecum.code.checkout.classify import file_kind
from vademecum.code.checkout.commits import Change, Commit, Hunk, hunks_of
from vademecum.types import FileKind

LEAST_MARK = 12  # characters of a line by which its place is known
MOST_PER_REPOSITORY = 10
TEST_SECONDS = 600
SAFE_DIFF = ("--no-color", "--no-ext-diff", "--no-textconv")
Row = dict[str, Any]
Place = tuple[str, tuple[tuple[int, int], ...]]  # a path and spans of its lines, from 1, inclusive


@dataclass(frozen=True)
class Task:
    """One task; `marks` are gold lines that stand nowhere else, `tests` the files of tests that the fix brought."""

    id: str
    repo: str
    mirror: str
    commit: str
    fix: str
    question: str
    gold: tuple[Place, ...]
    marks: tuple[str, ...]
    placebo: tuple[Place, ...]
    tests: tuple[str, ...] = ()
    test: str = ""


def git(git_dir: Path, *arguments: str, none_found: bool = False) -> str:
    """Run git on a git directory, without the user's configuration; `none_found` lets a search find nothing."""
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", f"--git-dir={git_dir}", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode not in {0, int(none_found)}:
        raise SystemExit(f"git failed in {git_dir}: {done.stderr.strip()}")
    return done.stdout


def read_lines(file: Path) -> Iterator[Row]:
    """Yield the records of a file of JSON lines."""
    return map(json.loads, file.read_text(encoding="utf-8").splitlines())


def commits(mirror: Path, newest: int) -> Iterator[Commit]:
    """Yield the newest commits that are no merges and have a parent."""
    options = ("-z", "--no-merges", "--min-parents=1", "--no-renames", "--no-show-signature", "--name-status")
    output = git(mirror, "log", *options, f"--max-count={newest}", "--format=%x01%H%x00%an%x00%s", "HEAD", "--")
    for record in output.split("\x01")[1:]:
        id_, author, subject, *rest = record.rstrip("\0").split("\0")
        changes = zip(rest[::2], rest[1::2], strict=False)
        yield Commit(id_, author, subject, tuple(Change(path, status.strip(), "", "") for status, path in changes))


def names_a_file(text: str, paths: Sequence[str]) -> bool:
    """Say whether a text names one of the files, in whatever case and without its ending.

    >>> [names_a_file(text, ["src/delay_queue.rs"]) for text in ("Wake `DelayQueue`", "See delay-queue.rs", "Delay it")]
    [True, True, False]
    """
    said = {re.sub(r"[_-]", "", word) for word in re.findall(r"[\w-]+", text.lower())}
    return any(re.sub(r"[_-]", "", PurePosixPath(path).stem.lower()) in said for path in paths)


def gold_of(mirror: Path, commit: Commit) -> tuple[list[Place], list[str]]:
    """Return the changed lines as they stood before the fix, and their texts; nothing where they are too many."""
    gold: list[Place] = []
    texts: list[str] = []
    every: list[Hunk] = []
    for change in product_changes(commit):
        before = git(mirror, "show", f"{commit.id}^:{change.path}")
        pair = (f"{commit.id}^", commit.id, "--", change.path)
        hunks = hunks_of(git(mirror, "diff", "-U0", *SAFE_DIFF, "--no-renames", *pair))
        every += hunks
        if spans := spans_of(hunks, before.encode()):
            gold.append((change.path, spans))
            lines = before.splitlines()
            texts += [lines[n - 1].strip() for first, last in spans for n in range(first, min(last, len(lines)) + 1)]
    size = sum(len(hunk.removed) + len(hunk.added) for hunk in every)
    return ([], []) if len(every) > MOST_HUNKS or size > MOST_LINES else (gold, texts)


def marks_of(mirror: Path, commit: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts that stand in one line of the whole tree."""
    asked = list(dict.fromkeys(text for text in texts if len(text) >= LEAST_MARK))
    if not asked:
        return ()
    wanted = [part for text in asked for part in ("-e", text)]
    found = git(mirror, "grep", "-F", "-h", "-I", *wanted, commit, "--", none_found=True).splitlines()
    return tuple(text for text in asked if sum(text in line for line in found) == 1)


def placebo_of(mirror: Path, commit: str, gold: Sequence[Place], seed: str) -> tuple[Place, ...]:
    """Draw as many lines of as many other files of code, the nearest ones first; () where there are too few."""
    paths = git(mirror, "ls-tree", "-r", "-z", "--name-only", commit).split("\0")
    taken = {path for path, _ in gold}
    drawn = random.Random(seed)
    found: list[Place] = []
    for path, spans in gold:
        suffix, parents = PurePosixPath(path).suffix, set(PurePosixPath(path).parents)
        others = [other for other in paths if other.endswith(suffix) and other not in taken and is_product(other)]
        drawn.shuffle(others)
        others.sort(key=lambda other: -len(parents & set(PurePosixPath(other).parents)))
        need = max(last for _, last in spans) - min(first for first, _ in spans) + 1
        for other in others[:50]:
            lines = git(mirror, "show", f"{commit}:{other}").count("\n")
            if lines >= need:
                shift = drawn.randint(1, lines - need + 1) - min(first for first, _ in spans)
                found.append((other, tuple((first + shift, last + shift) for first, last in spans)))
                taken.add(other)
                break
    return tuple(found) if len(found) == len(gold) else ()


def lay_out_tests(mirror: Path, fix: str, tests: Sequence[str], tree: Path) -> None:
    """Write the tests that the fix brought over those of a tree."""
    for path in tests:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(git(mirror, "show", f"{fix}:{path}"), encoding="utf-8")


def passes(tree: Path, command: str, tests: Sequence[str]) -> bool:
    """Run a task's tests in a tree."""
    words = [part for word in shlex.split(command) for part in (tests if word == "{tests}" else [word])]
    try:
        done = subprocess.run(words, cwd=tree, capture_output=True, check=False, timeout=TEST_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def tests_tell(mirror: Path, commit: Commit, command: str, tests: Sequence[str]) -> bool:
    """Say whether the tests fail before the fix and pass after it."""
    told = []
    for revision in (f"{commit.id}^", commit.id):
        with tempfile.TemporaryDirectory(prefix="agents-") as directory:
            tree = Path(directory) / "tree"
            export_tree(mirror, revision, tree)
            lay_out_tests(mirror, commit.id, tests, tree)
            told.append(passes(tree, command, tests))
    return told == [False, True]


def task_of(mirror: Path, commit: Commit, text: str, command: str) -> Task | None:
    """Make a task of a commit, or None where it makes none."""
    question = text or question_of(commit.subject)
    if not may_be_asked(commit) or names_a_file(question, [change.path for change in product_changes(commit)]):
        return None
    gold, texts = gold_of(mirror, commit)
    marks = marks_of(mirror, f"{commit.id}^", texts)
    placebo = placebo_of(mirror, f"{commit.id}^", gold, commit.id)
    kinds = {change.path: file_kind(change.path) for change in commit.changes if change.status != "D"}
    tests = tuple(path for path, kind in kinds.items() if kind is FileKind.TEST) if command else ()
    if not (marks and placebo) or (command and not (tests and tests_tell(mirror, commit, command, tests))):
        return None
    parent = git(mirror, "rev-parse", f"{commit.id}^").strip()
    repo = next(part for part in reversed(mirror.parts) if part not in {"repo", ".git"}).removesuffix(".git")
    about = (f"{repo}-{commit.id[:10]}", repo, str(mirror), parent, commit.id, question)
    return Task(*about, tuple(gold), marks, placebo, tests, command)


def tasks_of(mirror: Path, arguments: argparse.Namespace, texts: dict[str, str]) -> Iterator[Task]:
    """Yield a repository's tasks, the newest first, no two about one file."""
    seen: set[str] = set()
    for commit in commits(mirror, arguments.newest):
        asked = not texts or commit.id in texts
        task = task_of(mirror, commit, texts.get(commit.id, ""), arguments.test) if asked else None
        if task and seen.isdisjoint(path for path, _ in task.gold):
            seen |= {path for path, _ in task.gold}
            yield task


def main(argv: Sequence[str] | None = None) -> None:
    """Write the tasks of every mirror."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", type=Path, nargs="+", help="bare git repositories")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines to write, outside the project")
    parser.add_argument("--newest", type=int, default=3000, help="commits of each repository that are looked at")
    parser.add_argument("--most", type=int, default=MOST_PER_REPOSITORY, help="tasks of each repository")
    parser.add_argument(
        "--issues", type=Path, help='JSON lines of {"fix": commit, "text": issue}, which alone are asked'
    )
    parser.add_argument("--test", default="", help="command that runs {tests}; it decides what is solved")
    arguments = parser.parse_args(argv)
    texts = {row["fix"]: row["text"] for row in read_lines(arguments.issues)} if arguments.issues else {}
    with arguments.out.open("w", encoding="utf-8") as file:
        for mirror in arguments.mirrors:
            tasks = list(islice(tasks_of(mirror.resolve(), arguments, texts), arguments.most))
            file.writelines(json.dumps(asdict(task), ensure_ascii=False) + "\n" for task in tasks)
            print(f"{mirror.name}: {len(tasks)} tasks")


if __name__ == "__main__":
    main()

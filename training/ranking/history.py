"""Questions from the history of repositories: what a later commit says it does, and the lines it changed to do so.

    PYTHONPATH=training/embedding python training/ranking/history.py --repos 'DATA/repos.*.jsonl' --into DATA
        [--exclude LIST ...] [--only NAME] [--again]

What a commit changed and said is read by `training/embedding`, which learns from histories too.

Of each repository one commit some hundred before the newest is taken as its base. The questions are first lines (`commit`),
whole messages (`commit_body`) and titles of pull requests (`pr`) of what came after; the answers are the files they changed,
where those are the same in the base as right before the change. So each answer stands in the base, and no change does.

Written are `INTO/history/NAME.jsonl` and the tree of the base, `INTO/base/NAME`, with the history before it. What is written already is not made again.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from changes import Hunk, Span, answer_spans, is_product, is_under, parse_hunks
from messages import alike, clean_body, clean_subject, first_sentence, has_prose, objection_to_subject

LEAST_COMMITS = 80
# First-parent commits between the base and the newest; later ones are tried where the first give too little.
DEPTHS = (150, 200, 250, 300, 350, 400, 600, 800)
MOST_OF_HISTORY = 0.75  # of a short history lies after its base
MOST = {"commit": 12, "commit_body": 4, "pr": 6}  # questions of a repository
MOST_PER_FILE = 3  # questions of a category
MOST_FILES, MOST_HUNKS, MOST_LINES = 4, 8, 80
MOST_FILE_BYTES = 1_000_000
GIT_SECONDS = 300

_ROBOT = re.compile(
    r"\[bot\]|\bbot\b|dependabot|renovate|greenkeeper|github-actions|pre-commit|snyk|semantic-release", re.IGNORECASE
)
_PULL_REQUEST = re.compile(r"^Merge pull request #\d+ from \S+")
_LOG_FORMAT = "%x1e%H%x1f%P%x1f%aN%x1f%B%x1f"


@dataclass(frozen=True)
class Repository:
    """One line of the lists of repositories."""

    name: str
    full_name: str
    git_dir: str
    root: str


@dataclass(frozen=True)
class Change:
    """One file that a commit changed: git's letter for how, and the contents before and after by their hashes."""

    status: str
    path: str
    before: str
    after: str


@dataclass(frozen=True)
class Commit:
    """One commit with what it changed, for a merge against its first parent."""

    sha: str
    parents: tuple[str, ...]
    author: str
    message: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Base:
    """The commit whose tree answers, and the hash of each file in it."""

    sha: str
    root: str
    blobs: dict[str, str]


@dataclass(frozen=True)
class Question:
    """What one would ask, and the lines that answer, by file."""

    category: str
    sha: str
    query: str
    gold: dict[str, list[Span]]

    def line(self, repo: str, base: str) -> str:
        """Return its line of JSON."""
        gold = [{"path": path, "spans": spans} for path, spans in self.gold.items()]
        row = {
            "repo": repo,
            "category": self.category,
            "base": base,
            "sha": self.sha,
            "query": self.query,
            "gold": gold,
        }
        return json.dumps(row, ensure_ascii=False) + "\n"


@dataclass
class Harvest:
    """The questions of one repository so far, and how many commits were passed over for which reason."""

    questions: list[Question] = field(default_factory=list)
    passed: Counter[str] = field(default_factory=Counter)

    def count(self, category: str) -> int:
        """Return how many questions of a category there are."""
        return sum(question.category == category for question in self.questions)

    def offer(self, question: Question) -> None:
        """Take a question unless its category is full, its files are asked for often, or another asks the same."""
        rivals = [
            other
            for other in self.questions
            if (other.category == "commit_body") == (question.category == "commit_body")
        ]
        files = Counter(path for other in rivals if other.category == question.category for path in other.gold)
        if self.count(question.category) >= MOST[question.category]:
            reason = "full"
        elif any(files[path] >= MOST_PER_FILE for path in question.gold):
            reason = "same file"
        elif any(alike(question.query, other.query) for other in rivals):
            reason = "near duplicate"
        else:
            self.questions.append(question)
            return
        self.passed[f"{question.category}: {reason}"] += 1


def git(git_dir: str, *arguments: str) -> str:
    """Return what git says; a fetched repository brings no configuration, and this adds none but how paths are written."""
    command = ["git", f"--git-dir={git_dir}", "-c", "core.quotePath=false", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, timeout=GIT_SECONDS)
    return done.stdout.decode("utf-8", errors="replace")


def first_parents(git_dir: str) -> list[str]:
    """Return the commits on the main line, newest first."""
    return git(git_dir, "rev-list", "--first-parent", "HEAD").split()


def read_base(repository: Repository, sha: str) -> Base:
    """Return what stands in a commit; a root that was not there yet counts as none."""
    rows = (row.split("\t", 1) for row in git(repository.git_dir, "ls-tree", "-r", "--full-tree", sha).splitlines())
    blobs = {path: facts.split()[2] for facts, path in rows if facts.startswith("100")}
    there = any(is_product(path, repository.root) and is_under(path, repository.root) for path in blobs)
    return Base(sha, repository.root if there else "", blobs)


def commits_since(git_dir: str, base: str) -> Iterator[Commit]:
    """Yield the commits that the newest has and the base has not, those near the base first."""
    options = ("--reverse", "--date-order", "--raw", "--no-abbrev", "--no-renames", "--diff-merges=first-parent")
    text = git(git_dir, "log", *options, f"--format={_LOG_FORMAT}", f"{base}..HEAD")
    for record in text.split("\x1e")[1:]:
        sha, parents, author, message, raw = [*record.split("\x1f"), "", "", "", ""][:5]
        changes = []
        for line in raw.splitlines():
            facts, tab, path = line.partition("\t")
            if tab and facts.startswith(":"):
                _, _, before, after, status = facts.split(" ")
                changes.append(Change(status, path, before, after))
        yield Commit(sha, tuple(parents.split()), author, message, tuple(changes))


def product_changes(commit: Commit, base: Base) -> list[Change] | str:
    """Return the changes to the product, all of which must be answerable from the base, or why they are not."""
    product = [change for change in commit.changes if is_product(change.path, base.root)]
    if not product:
        return "no product file"
    if len(product) > MOST_FILES:
        return "many files"
    if any(change.status != "M" for change in product):
        return "adds or removes a file"
    if not all(is_under(change.path, base.root) for change in product):
        return "outside the root"
    if any(base.blobs.get(change.path) != change.before for change in product):
        return "changed since the base"
    return product


def find_gold(git_dir: str, changes: Iterable[Change]) -> dict[str, list[Span]] | str:
    """Return the changed lines by file as they count in the base, or why they are no answer."""
    hunks: dict[str, list[Hunk]] = {}
    gold = {}
    for change in changes:
        diff = git(git_dir, "diff", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", change.before, change.after)
        hunks[change.path] = parse_hunks(diff)
        text = git(git_dir, "cat-file", "blob", change.before)
        if not hunks[change.path] or len(text) > MOST_FILE_BYTES:
            return "binary or huge"
        if spans := answer_spans(hunks[change.path], change.path, text):
            gold[change.path] = spans
    every = [hunk for file_hunks in hunks.values() for hunk in file_hunks]
    if len(every) > MOST_HUNKS or sum(len(hunk.removed) + len(hunk.added) for hunk in every) > MOST_LINES:
        return "large change"
    return gold or "only comments, imports, layout or inline tests"


def texts_of(commit: Commit) -> tuple[str, str, str]:
    """Return the category of a commit, its first line and the rest; of a merged pull request the title and what follows."""
    subject, body = first_sentence(commit.message)
    if len(commit.parents) == 1:
        return "commit", subject, body
    if len(commit.parents) == 2 and _PULL_REQUEST.match(subject):
        return "pr", *first_sentence(body)
    return "", subject, body


def consider(git_dir: str, commit: Commit, base: Base, harvest: Harvest) -> None:
    """Offer the questions that a commit gives, or count why it gives none."""
    category, raw, body = texts_of(commit)
    query = clean_subject(raw)
    if not category or _ROBOT.search(commit.author):
        harvest.passed["merge or robot"] += 1
        return
    changes = product_changes(commit, base)
    gold = changes if isinstance(changes, str) else objection_to_subject(raw, query) or find_gold(git_dir, changes)
    if isinstance(gold, str):
        harvest.passed[gold] += 1
        return
    harvest.offer(Question(category, commit.sha, query, gold))
    prose = clean_body(body)
    if category == "commit" and has_prose(prose):
        harvest.offer(Question("commit_body", commit.sha, f"{query}\n\n{prose}", gold))


def harvest_from(repository: Repository, base: Base) -> Harvest:
    """Ask for all commits since a base, pull requests first: their titles are the rarer ones and repeat their commits'."""
    harvest = Harvest()
    commits = list(commits_since(repository.git_dir, base.sha))
    for commit in sorted(commits, key=lambda commit: len(commit.parents) < 2):
        if all(harvest.count(category) >= MOST[category] for category in ("commit", "commit_body")):
            break
        consider(repository.git_dir, commit, base, harvest)
    return harvest


def best_base(repository: Repository) -> tuple[Base, Harvest] | str:
    """Return the nearest base that gives all questions wanted, else the one that gives most, or why there is none."""
    line = first_parents(repository.git_dir)
    if len(line) < LEAST_COMMITS:
        return f"{len(line)} commits"
    best: tuple[Base, Harvest] | None = None
    for depth in sorted({min(depth, int(len(line) * MOST_OF_HISTORY)) for depth in DEPTHS}):
        base = read_base(repository, line[depth])
        harvest = harvest_from(repository, base)
        if best is None or len(harvest.questions) > len(best[1].questions):
            best = base, harvest
        if harvest.count("commit") >= MOST["commit"]:
            break
    return best or "no base"


def unpack(git_dir: str, blobs: dict[str, str], folder: Path) -> None:
    """Write the files of a commit as they were committed; one that the copy of the repository lacks is left out."""
    partly = folder.with_name(folder.name + ".part")
    shutil.rmtree(partly, ignore_errors=True)
    partly.mkdir(parents=True)
    with tempfile.TemporaryFile() as wanted:
        wanted.write("".join(f"{blob}\n" for blob in blobs.values()).encode())
        wanted.seek(0)
        command = ["git", f"--git-dir={git_dir}", "cat-file", "--batch"]
        with subprocess.Popen(command, stdin=wanted, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for path in blobs:
                facts = process.stdout.readline().split()
                if len(facts) != 3:
                    continue  # "HASH missing"
                data = process.stdout.read(int(facts[2]) + 1)[:-1]
                if not path.startswith('"') and not {"", ".", "..", ".git"} & set(path.split("/")):
                    (partly / path).parent.mkdir(parents=True, exist_ok=True)
                    (partly / path).write_bytes(data)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    shutil.rmtree(folder, ignore_errors=True)
    partly.rename(folder)


def check_out(git_dir: str, sha: str, tree: Path) -> None:
    """Make a tree a checkout of its commit, which borrows the objects: what was committed until then is known in it."""
    own = tree / ".git"
    (own / "refs").mkdir(parents=True)
    (own / "objects" / "info").mkdir(parents=True)
    (own / "objects" / "info" / "alternates").write_text(f"{Path(git_dir).resolve() / 'objects'}\n")
    (own / "HEAD").write_text(f"{sha}\n")
    git(str(own), "read-tree", sha)


def stands_in(tree: Path, question: Question) -> bool:
    """Say whether all lines of an answer are in the tree as it was written."""
    for path, spans in question.gold.items():
        file = tree / path
        if not file.is_file():
            return False
        data = file.read_bytes()
        if spans[-1][1] > data.count(b"\n") + (not data.endswith(b"\n")):
            return False
    return True


def make(repository: Repository, into: Path) -> str:
    """Write the questions and the tree of one repository; return one line about it."""
    found = best_base(repository)
    questions, sha, about = [], "", str(found)
    if not isinstance(found, str):
        base, harvest = found
        sha, tree = base.sha, into / "base" / repository.name
        if harvest.questions:
            unpack(repository.git_dir, base.blobs, tree)
            check_out(repository.git_dir, sha, tree)
        questions = [question for question in harvest.questions if stands_in(tree, question)]
        counts = Counter(question.category for question in questions)
        about = json.dumps({"questions": counts, "base": sha[:10], "passed": dict(harvest.passed.most_common())})
    file = into / "history" / f"{repository.name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    partly = file.with_suffix(".part")
    partly.write_text("".join(question.line(repository.name, sha) for question in questions), encoding="utf-8")
    os.replace(partly, file)
    return f"{repository.name}: {about}"


def read_repositories(pattern: str, excluded: frozenset[str]) -> Iterator[Repository]:
    """Yield the repositories of all lists; a line that is being written and what is excluded, by either name, is left out."""
    seen = set()
    for path in sorted(glob.glob(pattern)):
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
                repository = Repository(row["name"], row["repo"], row["git_dir"], _folder(row["root"]))
            except (json.JSONDecodeError, KeyError, TypeError):
                print(f"{path}: left out a line that is no repository: {line[:60]}", file=sys.stderr)
                continue
            full = repository.full_name.lower()
            if full in excluded or full.rpartition("/")[2] in excluded:
                print(f"{repository.full_name}: excluded", file=sys.stderr)
            elif repository.name not in seen and re.fullmatch(r"[\w.+-]*\w", repository.name):
                seen.add(repository.name)
                yield repository


def _folder(root: str | None) -> str:
    """Return a folder as paths of git begin with it; the whole tree is the empty one."""
    return "" if root in (None, ".", "./") else root.removeprefix("./").strip("/")


def read_excluded(paths: Iterable[str]) -> frozenset[str]:
    """Return the names of lists with one `owner/name` a line, with and without their owners, in lower case."""
    lines = [line.strip().lower() for path in paths for line in Path(path).read_text(encoding="utf-8").splitlines()]
    return frozenset(name for line in lines if line for name in (line, line.rpartition("/")[2]))


def main() -> None:
    """Make what is missing."""
    parser = argparse.ArgumentParser(description="Make questions from the history of repositories.")
    parser.add_argument("--repos", required=True, help="pattern of lists of repositories, JSON lines")
    parser.add_argument("--into", required=True, type=Path, help="folder to write history/ and base/ into")
    parser.add_argument("--exclude", action="append", default=[], help="list of owner/name to leave out")
    parser.add_argument("--only", action="append", default=[], help="name of a repository to make")
    parser.add_argument("--again", action="store_true", help="make also what is there already")
    arguments = parser.parse_args()
    for repository in read_repositories(arguments.repos, read_excluded(arguments.exclude)):
        there = (arguments.into / "history" / f"{repository.name}.jsonl").exists()
        if (there and not arguments.again) or (arguments.only and repository.name not in arguments.only):
            continue
        try:
            print(make(repository, arguments.into), flush=True)
        except (subprocess.SubprocessError, OSError) as problem:
            print(f"{repository.name}: not made, will be tried again: {problem}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

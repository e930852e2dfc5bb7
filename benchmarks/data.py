"""Read the questions and find the checkouts. Nothing here knows where on a machine they lie: paths are arguments."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from metrics import Target


@dataclass(frozen=True)
class Repository:
    """A public repository at a commit; only `root` below its top is indexed (empty: all of it)."""

    suite: str
    name: str
    snapshot: str
    commit: str = ""
    root: str = ""
    language: str = ""


@dataclass(frozen=True)
class Question:
    """A query and its right answers; `commit` is set where each question has a checkout of its own."""

    id: str
    repo: str
    language: str
    category: str
    query: str
    targets: tuple[Target, ...]
    commit: str = ""
    snapshot: str = ""
    functions: tuple[str, ...] = ()  # that the right answer changes, as path:Class.name

    @property
    def first_line(self) -> str:
        """The query up to its first line break: an issue's title."""
        return self.query.strip().splitlines()[0].strip()


def load_repositories(data: Path) -> list[Repository]:
    """Read `repos.json`."""
    rows = json.loads((data / "repos.json").read_text(encoding="utf-8"))
    return [
        Repository(
            suite=row["suite"],
            name=row.get("name", row["github"]),
            snapshot=row.get("snapshot", row["github"]),
            commit=row.get("commit", ""),
            root=row.get("root", ""),
            language=row.get("language", ""),
        )
        for row in rows
    ]


def load_questions(file: Path, roots: dict[str, str] | None = None) -> list[Question]:
    """Read a gzip JSON-lines file of questions; `roots` maps a repository to the sub-folder that is indexed.

    A label may name a file relative to that sub-folder; it is then given the path from the repository's top.
    """
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Question(
            id=row["id"],
            repo=row["repo"],
            language=row["language"],
            category=row.get("category", ""),
            query=row["query"],
            targets=tuple(_target(gold, (roots or {}).get(row["repo"], "")) for gold in row["gold"]),
            commit=row.get("commit", ""),
            snapshot=row.get("snapshot", ""),
            functions=tuple(row.get("functions", ())),
        )
        for row in rows
    ]


def _target(gold: dict[str, object], root: str) -> Target:
    path = str(gold["path"])
    if root and not path.startswith(root + "/"):
        path = f"{root}/{path}"
    return Target(path, tuple((int(start), int(end)) for start, end in gold.get("spans") or ()))


def mirror_of(mirrors: Path, snapshot: str) -> Path:
    """Find the git directory of `owner/name` among the layouts in use: owner+name/repo, owner/name.git, owner/name/.git."""
    candidates = (
        mirrors / snapshot.replace("/", "+") / "repo",
        mirrors / f"{snapshot}.git",
        mirrors / snapshot / ".git",
    )
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"no mirror of {snapshot} under {mirrors}: clone it as {candidates[1]}")


def export_tree(git_dir: Path, commit: str, into: Path, root: str = "", among: Collection[bytes] | None = None) -> None:
    """Write the files of a commit (below `root`, only those `among` some) as plain files, leaving the mirror as it is.

    A blob that the mirror lacks (a large binary, in stored snapshots) is left out.
    """
    into = into.resolve()  # git runs inside this folder
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        environment = os.environ | {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        git = ["git", f"--git-dir={git_dir}", f"--work-tree={into}"]
        subprocess.run([*git, "read-tree", commit], env=environment, check=True, capture_output=True)
        names = subprocess.run(
            [*git, "ls-files", "-z", "--", *([root] if root else [])],
            env=environment, check=True, capture_output=True, cwd=into,
        ).stdout  # fmt: skip
        if among is not None:
            names = b"".join(name + b"\0" for name in names.split(b"\0") if name in among)
        subprocess.run(
            [*git, "checkout-index", "-q", "-f", "-z", "--stdin"],
            env=environment, input=names, check=False, capture_output=True, cwd=into,
        )  # fmt: skip


def move_tree(git_dir: Path, commit: str, tree: Path) -> None:
    """Turn a tree that this function wrote into that of another commit, rewriting only what differs."""
    said = tree.with_name(f"{tree.name}.commit")
    changed: set[bytes] | None = None
    if said.exists():
        differing = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", said.read_text(encoding="utf-8"), commit]
        output = subprocess.run(["git", f"--git-dir={git_dir}", *differing], check=True, capture_output=True).stdout
        changed = {name for name in output.split(b"\0") if name}
    said.unlink(missing_ok=True)  # a tree whose move was cut short is written anew
    for name in changed or ():
        with suppress(IsADirectoryError):  # of a submodule
            Path(os.fsdecode(os.fsencode(tree) + b"/" + name)).unlink(missing_ok=True)
    if changed is None:
        shutil.rmtree(tree, ignore_errors=True)
    export_tree(git_dir, commit, tree, among=changed)
    said.write_text(commit, encoding="utf-8")


def borrow_history(git_dir: Path, commit: str, tree: Path) -> None:
    """Make a tree a checkout of its commit, with the mirror's objects: it knows what was committed until then."""
    own = tree / ".git"
    (own / "refs").mkdir(parents=True)
    (own / "objects" / "info").mkdir(parents=True)
    (own / "objects" / "info" / "alternates").write_text(f"{(git_dir / 'objects').resolve()}\n", encoding="utf-8")
    (own / "HEAD").write_text(f"{commit}\n", encoding="utf-8")
    subprocess.run(["git", f"--git-dir={own}", "read-tree", commit], check=True, capture_output=True)


@contextmanager
def checkout(git_dir: Path, commit: str) -> Iterator[Path]:
    """Give a temporary directory that holds the whole tree of a commit; it is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        tree = Path(directory) / "tree"
        export_tree(git_dir, commit, tree)
        yield tree


def export_functions(git_dir: Path, commit: str, into: Path) -> int:
    """Write CoSQA's functions as one file each, `NNN/fNNNNN.py` by their number, and say how many there are."""
    blob = f"{commit}:data/search/code_idx_map.txt"
    text = subprocess.run(
        ["git", f"--git-dir={git_dir}", "show", blob], check=True, capture_output=True, text=True
    ).stdout
    numbers: dict[str, int] = json.loads(text)
    for code, number in numbers.items():
        file = into / f"{number // 500:03d}" / f"f{number:05d}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code + "\n", encoding="utf-8")
    return len(numbers)

"""Questions from the history: what a commit says it does, asked of the tree as it was before it.

One commit some way back is the base, and its tree answers every question. A later commit is asked about only where each
product file that it changed is, right before the change, the same as in the base: so the answer stands in the base, line
for line, and no trace of the change does. Of several bases the nearest that gives enough questions is taken, else the one
that gives most.

The answer is the changed lines of one to four files. Changes of comments, imports and blanks alone do not count, and what
many files, hunks or lines changed for is not one place to find.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vademecum.bench.docstrings import is_product
from vademecum.bench.measures import Span, Target
from vademecum.bench.questions import HISTORY, LeftOut, Question, alike, draw
from vademecum.bench.subjects import is_robot, question_of
from vademecum.codebase import git
from vademecum.codebase.commits import (
    Change,
    Commit,
    Hunk,
    changed_lines,
    commits,
    commits_since,
    is_shallow,
    main_line,
)

MOST_COMMITS = 3_000  # that are read, newest first
DEPTHS = (50, 100, 150, 200, 300, 400, 600, 800, 1_200)  # first-parent commits between the base and the newest
MOST_OF_HISTORY = 0.75  # of a short history lies after its base
MOST_FILES, MOST_HUNKS, MOST_LINES = 4, 8, 80  # of a change
MOST_PER_FILE = 3  # questions
_NOT_CODE = re.compile(
    r"\s*(?:#(?!include|define|if|\[)|//|/\*|\*/|\*\s|--\s|;|<!--|\"\"\"|'''"  # comments
    r"|import\b|from\s+\S+\s+import\b|use\s+[\w\\:{]|using\s+[\w.=\s]+;|#\s*include\b|require\b|package\s+[\w.]+;?$"
    r"|[(){}\[\],;]*$)"
)


@dataclass(frozen=True, slots=True)
class Base:
    """The commit whose tree answers, and which content stands at each of its paths, by git blob id."""

    id: str
    blobs: dict[str, str]


@dataclass(frozen=True, slots=True)
class History:
    """Questions from commits, and the commit they are asked of."""

    base: str
    questions: list[Question]


def history_questions(root: git.Root, prefixes: Sequence[str], most: int, seed: int) -> History | LeftOut:
    """Return questions from the newest commits, or why there are none.

    Args:
        root: the repository.
        prefixes: only commits that change nothing but files below one of these; () for the whole.
        most: how many questions at most.
        seed: of the draw.

    Raises:
        GitError: git failed.
    """
    if root.git_dir is None:
        return LeftOut(HISTORY, "not a git repository")
    if not git.available():
        return LeftOut(HISTORY, "git is not installed, or not on PATH")
    told = [commit for commit in commits(root, MOST_COMMITS).unwrap() if may_be_asked(commit, prefixes)]
    if not told:
        return LeftOut(HISTORY, f"no commit says and changes what could be asked about{_shallowness(root)}")
    base, asked = best_base(root, told, most)
    questions = drawn_from(root, base, asked, most, seed)
    if not questions:
        return LeftOut(HISTORY, f"no commit's files are still as they were in one earlier commit{_shallowness(root)}")
    return History(base.id, questions)


def _shallowness(root: git.Root) -> str:
    return " (a shallow clone: `git fetch --unshallow` brings the rest of its history)" if is_shallow(root) else ""


def may_be_asked(commit: Commit, prefixes: Sequence[str] = ()) -> bool:
    """Whether a commit could be a question, from whatever base: what it says, and which files it changed how."""
    changes = product_changes(commit)
    return (
        0 < len(changes) <= MOST_FILES
        and all(change.status == "M" for change in changes)
        and all(is_below(change.path, prefixes) for change in changes)
        and not is_robot(commit.author)
        and question_of(commit.subject) != ""
    )


def product_changes(commit: Commit) -> list[Change]:
    """Return what a commit changed of the product; its tests, pages and settings do not matter."""
    return [change for change in commit.changes if is_product(change.path)]


def is_below(path: str, prefixes: Sequence[str]) -> bool:
    """Whether a path is, or lies below, one of some prefixes; everything does where there are none.

    >>> is_below("src/a.py", ()), is_below("src/a.py", ["src"]), is_below("srcs/a.py", ["src"])
    (True, True, False)
    """
    return not prefixes or any(path == prefix or path.startswith(f"{prefix}/") for prefix in prefixes)


def best_base(root: git.Root, told: Sequence[Commit], most: int) -> tuple[Base, list[Commit]]:
    """Return the nearest base that answers `most` commits, else the one that answers most, with these commits."""
    line = main_line(root, max(DEPTHS) + 1).unwrap()
    best: tuple[Base, list[Commit]] | None = None
    for depth in sorted({min(depth, int(len(line) * MOST_OF_HISTORY)) for depth in DEPTHS}):
        base = Base(line[depth], git.tree_ids(root, line[depth]).unwrap())
        later = set(commits_since(root, base.id).unwrap())
        asked = [commit for commit in told if commit.id in later and stands_in(base, commit)]
        if best is None or len(asked) > len(best[1]):
            best = base, asked
        if len(asked) >= 2 * most:  # some turn out to be no question when their lines are looked at
            break
    assert best is not None
    return best


def stands_in(base: Base, commit: Commit) -> bool:
    """Whether every product file that a commit changed was, right before, what it is in the base."""
    return all(base.blobs.get(change.path) == change.before for change in product_changes(commit))


def drawn_from(root: git.Root, base: Base, asked: Sequence[Commit], most: int, seed: int) -> list[Question]:
    """Draw questions: no two that say the same, and at most three about one file."""
    candidates: dict[str, list[Commit]] = {}
    for commit in asked:
        candidates.setdefault(product_changes(commit)[0].path, []).append(commit)
    drawn: list[Question] = []
    about: Counter[str] = Counter()

    def accept(commit: Commit) -> bool:
        """Whether to ask about it; if so it counts as drawn."""
        text = question_of(commit.subject)
        paths = [change.path for change in product_changes(commit)]
        if any(about[path] >= MOST_PER_FILE for path in paths) or any(alike(text, other.text) for other in drawn):
            return False
        targets = targets_of(root, commit, base)
        if targets:
            about.update(paths)
            drawn.append(Question(HISTORY, text, targets, commit.id))
        return bool(targets)

    draw(candidates, most, f"{seed}:{HISTORY}", accept)
    return drawn


def targets_of(root: git.Root, commit: Commit, base: Base) -> tuple[Target, ...]:
    """Return the lines that a commit changed, as they count in the base; () where they are too many, or no code."""
    changes = product_changes(commit)
    contents = dict(git.read_blobs(root, [change.before for change in changes]))
    hunks = {change.path: changed_lines(root, change).unwrap() for change in changes}
    every = [hunk for own in hunks.values() for hunk in own]
    size = sum(len(hunk.removed) + len(hunk.added) for hunk in every)
    if len(every) > MOST_HUNKS or size > MOST_LINES or any(change.before not in contents for change in changes):
        return ()
    found = ((path, spans_of(own, contents[base.blobs[path]])) for path, own in hunks.items())
    return tuple(Target(path, spans) for path, spans in found if spans)


def spans_of(hunks: Sequence[Hunk], content: bytes) -> tuple[Span, ...]:
    r"""Return the lines of a file before that hunks of code changed, in order, joined where they touch.

    >>> spans_of([Hunk(3, 1, ("x = 1",), ("x = 2",)), Hunk(4, 1, ("y()",), ()), Hunk(9, 1, ("# a",), ("# b",))], b"\n" * 12)
    ((3, 4),)
    """
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    spans: list[Span] = []
    for hunk in hunks:
        if is_no_code(hunk):
            continue
        first, last = hunk.span(lines)
        if spans and first <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], max(last, spans[-1][1]))
        else:
            spans.append((first, last))
    return tuple(spans)


def is_no_code(hunk: Hunk) -> bool:
    """Whether a hunk changes nothing that runs: blanks, comments, imports, brackets.

    >>> is_no_code(Hunk(1, 1, ("f( x )",), ("f(x)",))), is_no_code(Hunk(1, 0, (), ("import os", "# why")))
    (True, True)
    """
    if "".join("".join(hunk.removed).split()) == "".join("".join(hunk.added).split()):
        return True
    return all(_NOT_CODE.match(line) for line in (*hunk.removed, *hunk.added))

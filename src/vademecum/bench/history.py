"""Questions from commits, asked of the tree before them.

A few commits along the main line are bases, and their trees answer. A later commit is asked of the nearest base behind
it. It is asked only if each product file that it changed was, right before the change, the same as in that base: so the
base holds the answer, line for line, and no trace of the change. Few bases keep the cost bounded, and their common files
are indexed once. Their distance is chosen so that the newest history gives enough questions.

The answer is the changed lines of one to four files. Changes of comments, imports and blanks alone do not count. A change
of many files, hunks or lines is not one place to find.

The question is the commit's first line without tags, ticket numbers and links. Merges, reverts, releases, dependency
updates, formatting, tests, documentation and reviews are no questions about the product. Neither is a line that would fit
any other repository ("fix typo", "minor cleanup").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vademecum.bench.measures import Span, Target
from vademecum.bench.queries import HISTORY, LeftOut, Question, alike, draw, is_product
from vademecum.code.checkout import git
from vademecum.code.checkout.classify import words
from vademecum.code.checkout.commits import (
    Change,
    Commit,
    Hunk,
    changed_lines,
    commits,
    commits_since,
    is_shallow,
    main_line,
)
from vademecum.code.checkout.plumbing import available
from vademecum.code.checkout.root import Root
from vademecum.matching import is_below

MOST_COMMITS = 3_000  # commits to read, newest first
MOST_BASES = 8
APART = (10, 25, 50, 100, 200)  # first-parent commits from one base to the next
MOST_FILES, MOST_HUNKS, MOST_LINES = 4, 8, 80  # of a change
MOST_PER_FILE = 3  # questions
_NOT_CODE = re.compile(
    r"\s*(?:#(?!include|define|if|\[)|//|/\*|\*/|\*\s|--\s|;|<!--|\"\"\"|'''"  # comments
    r"|import\b|from\s+\S+\s+import\b|use\s+[\w\\:{]|using\s+[\w.=\s]+;|#\s*include\b|require\b|package\s+[\w.]+;?$"
    r"|(?:\w+\s+)?\"[\w./-]+\"$|\w*version\w*[\"']?\s*[:=]\s*[\"']?v?\d"  # Go's imports; a version's number
    r"|[(){}\[\],;]*$)"
)
LEAST_WORDS = 4
LEAST_TELLING = 2  # words that are specific to the repository
MOST_CHARACTERS = 160

_PASSED = (
    "docs?|documentation|style|tests?|testing|ci|build|release|deps|dependencies|lint|typo|wip|format|bench|i18n|l10n"
    "|meta|infra|website|examples?|revert|merge|changelog|translations?|fixup|squash|bot|automated|bump"
)
_KEPT = (
    "chore|feat|features?|fix(?:es)?|bug|bugfix|hotfix|perf|performance|refactor|improve(?:ment)?|security|types?|core"
)
_SCOPE = r"(?:\s*\([^)]*\))?!?\s*:"
_PASSED_TAG = re.compile(
    rf"^\W*(?:\[(?:{_PASSED})\b[^\]]*\]|(?:{_PASSED}){_SCOPE}|\w+\s*\((?:{_PASSED})\)!?:)", re.IGNORECASE
)
_TAG = re.compile(
    rf"^\s*(?:\[[^\]]{{1,40}}\]\s*[:-]?|\((?:{_KEPT})\)\s*[:-]?|:[a-z0-9_+]+:|(?:{_KEPT}){_SCOPE}"
    r"|[\w.*-]+/[\w.*/-]*:(?=\s)|[A-Z][A-Z0-9]+-\d+\b\s*[:-]?"  # `src/io.c: …`, `PROJ-12 …`
    r"|(?:(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|issue|bug|pr)\s+)?(?:gh-|#)\d+\s*[:,-]?)\s*",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"[(\[]?\s*(?:\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|see|issues?|prs?|pull request|re|for|from)\b[\s:,]*)*"
    r"(?:[\w.-]+/[\w.-]+)?(?:#|\bgh-)\d+(?:\s*(?:,|and|&)\s*#\d+)*\s*[)\]]?"
    r"|<?https?://\S+|\[(?:skip ci|ci skip|no ci)\]",
    re.IGNORECASE,
)
_CHORE_BEGINS = re.compile(
    r"^\W*(?:merge\b(?! sort)|revert|re-?(?:apply|land)|bump|roll\b|(?:fixup|squash|amend)!|wip\b|minor\b|misc\b|nit\b|polish"
    r"|tid(?:y|ied)|prepar\w+|releas\w+|version\b|v?\d+\.\d+|initial\b|address|apply\s.*\b(?:suggest|review|patch)"
    r"|(?:updat|upgrad|bump|pin|downgrad)\w*\b.*\b(?:dependenc\w*|deps?|packages?|lock|submodules?|requirements|version|latest|v?\d+\.\d[\d.]*)\b"
    r"|(?:some|more|small|various|further|code|several|few)\s+(?:\w+\s+)?(?:fix|clean|improve|tweak|refactor|change|update)"
    r"|clean|reorgani[sz]|restructur|reorder|sort\b|document\w*\b|clarif|explain|(?:auto[- ]?)?generat(?:e|ed)\b|regenerat|translat"
    r"|(?:add|fix|updat|improv|remov)\w*\b.*\bcomments?$|(?:silence|suppress|fix|avoid)\w*\b.*\bwarnings?$)",
    re.IGNORECASE,
)
_CHORE_HOLDS = re.compile(
    r"\b(?:typos?|white\s?spaces?|trailing spaces?|spelling|wording|lint(?:er|ing|s)?|prettier|eslint|clippy|rustfmt|gofmt|black"
    r"|ruff|isort|flake8|mypy|pyright|pylint|phpstan|rubocop|checkstyle|spotless|ktlint|scalafmt|swiftlint|shellcheck|codeql"
    r"|coverage|change-?logs?|readme|licen[cs]es?|copyright|docs?|documentation|docstrings?|java-?docs?|jsdocs?|doxygen"
    r"|code ?style|reformat\w*|format(?:ting|ted)?(?: code| fix)?$|indentation|ci|travis|appveyor|circleci|github actions?|dependabot|renovate|cherry-?pick\w*|backport\w*"
    r"|releas\w+ (?:of )?v?\d+|review|feedback|nits?|cosmetic|dead code|(?:unit|integration|flaky|failing)? ?tests?|specs|benchmarks?"
    r"|(?:previous|last|earlier) (?:commit|change)|this (?:pr|commit|change))\b",
    re.IGNORECASE,
)
_COMMON = words(
    "a about add added adding adds after all allow allows also always an and any are as at avoid be because been before"
    " better bug bugs but by call calls can case cases change changed changes check class cleanup code correct correctly"
    " could default do does done drop enable ensure error errors existing extra few file files fix fixed fixes fixing for"
    " from function functions get handle handled handling has have helper if implement improve improved improvements in"
    " instead into introduce is issue issues it its just less let like line lines logic make makes making method methods"
    " missing more most move moved moves name names necessary need needed new no not now of off old on once one only or"
    " other our out over part pass possible prevent problem problems proper properly public private refactor reduce"
    " remove removed removes removing rename renamed replace replaced restore return returns same set should show simple"
    " simplify simplified small so some something stop such support supported sure than that the their them then there"
    " these this those to too unnecessary unused update updated up use used uses using value values variable variables"
    " was way we were what when where which while with without work working works wrong you your"
)
_WORD = re.compile(r"[^\W_]+(?:['_.-][^\W_]+)*")
_ROBOT = re.compile(r"\[bot\]|\bbot\b|dependabot|renovate|greenkeeper|github-actions|pre-commit|snyk", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Base:
    """A commit whose tree answers, with the blob id of each path."""

    id: str
    blobs: dict[str, str]


def history_questions(root: Root, prefixes: Sequence[str], most: int, seed: int) -> list[Question] | LeftOut:
    """Return questions from the newest commits, or a reason for none.

    Each question names the commit whose tree is asked. With prefixes, all changes of a commit are below them.

    Raises:
        GitError: git failed.
    """
    if root.git_dir is None:
        return LeftOut(HISTORY, "not a git repository")
    if not available():
        return LeftOut(HISTORY, "git is not installed, or not on PATH")
    told = [commit for commit in commits(root, MOST_COMMITS).unwrap() if may_be_asked(commit, prefixes)]
    if not told:
        return LeftOut(HISTORY, f"no commit says and changes what could be asked about{_shallowness(root)}")
    questions = _drawn_from(root, _nearest_bases(root, told, most), most, seed)
    if not questions:
        return LeftOut(HISTORY, f"no commit's files were as they are in an earlier one{_shallowness(root)}")
    return questions


def _shallowness(root: Root) -> str:
    return " (a shallow clone: `git fetch --unshallow` brings the rest of its history)" if is_shallow(root) else ""


def may_be_asked(commit: Commit, prefixes: Sequence[str] = ()) -> bool:
    """Return whether a commit's subject and files allow a question."""
    changes = product_changes(commit)
    return (
        0 < len(changes) <= MOST_FILES
        and all(change.status == "M" for change in changes)
        and all(is_below(change.path, prefixes) for change in changes)
        and not is_robot(commit.author)
        and question_of(commit.subject) != ""
    )


def product_changes(commit: Commit) -> list[Change]:
    """Return a commit's changes of product code, without tests and pages."""
    return [change for change in commit.changes if is_product(change.path)]


def _nearest_bases(root: Root, told: Sequence[Commit], most: int) -> list[tuple[Base, list[Commit]]]:
    """Return the nearest bases with enough commits to ask about."""
    line = main_line(root, max(APART) * MOST_BASES + 1).unwrap()
    best: list[tuple[Base, list[Commit]]] = []
    for step in (1, *APART):
        found = list(_bases_along(root, line[step::step][:MOST_BASES], told))
        if sum(len(asked) for _, asked in found) > sum(len(asked) for _, asked in best):
            best = found
        if sum(len(asked) for _, asked in best) >= 2 * most:  # some commits drop out when their lines are read
            break
    return best


def _bases_along(root: Root, ids: Sequence[str], told: Sequence[Commit]) -> Iterator[tuple[Base, list[Commit]]]:
    """Yield bases, newest first, each with the commits up to the next."""
    newer: set[str] = set()
    for commit_id in ids:
        since = set(commits_since(root, commit_id).unwrap())
        base = Base(commit_id, git.tree_ids(root, commit_id).unwrap())
        yield base, [commit for commit in told if commit.id in since - newer and _is_answered(base, commit)]
        newer = since


def _is_answered(base: Base, commit: Commit) -> bool:
    """Return whether a base has a commit's files as before the commit."""
    return all(base.blobs.get(change.path) == change.before for change in product_changes(commit))


def _drawn_from(root: Root, bases: Sequence[tuple[Base, list[Commit]]], most: int, seed: int) -> list[Question]:
    """Draw distinct questions, at most three about one file."""
    candidates: dict[str, list[tuple[Base, Commit]]] = {}
    for base, asked in bases:
        for commit in asked:
            candidates.setdefault(product_changes(commit)[0].path, []).append((base, commit))
    drawn: list[Question] = []
    about: Counter[str] = Counter()

    def accept(candidate: tuple[Base, Commit]) -> bool:
        base, commit = candidate
        text = question_of(commit.subject)
        paths = [change.path for change in product_changes(commit)]
        if any(about[path] >= MOST_PER_FILE for path in paths) or any(alike(text, other.text) for other in drawn):
            return False
        targets = targets_of(root, commit)
        if targets:
            about.update(paths)
            drawn.append(Question(HISTORY, text, targets, commit.id, base.id))
        return bool(targets)

    draw(candidates, most, f"{seed}:{HISTORY}", accept)
    return drawn


def targets_of(root: Root, commit: Commit) -> tuple[Target, ...]:
    """Return the lines that a commit changed, numbered before it.

    () if there are too many lines, or no code.
    """
    changes = product_changes(commit)
    contents = dict(git.read_blobs(root, [change.before for change in changes]))
    hunks = {change.path: changed_lines(root, change).unwrap() for change in changes}
    every = [hunk for own in hunks.values() for hunk in own]
    size = sum(len(hunk.removed) + len(hunk.added) for hunk in every)
    if len(every) > MOST_HUNKS or size > MOST_LINES or any(change.before not in contents for change in changes):
        return ()
    found = ((change.path, spans_of(hunks[change.path], contents[change.before])) for change in changes)
    return tuple(Target(path, spans) for path, spans in found if spans)


def spans_of(hunks: Sequence[Hunk], content: bytes) -> tuple[Span, ...]:
    r"""Return a file's old lines that hunks of code changed.

    Spans are in order, and joined if adjacent.

    >>> spans_of([Hunk(3, 1, ("x = 1",), ("x = 2",)), Hunk(4, 1, ("y()",), ()), Hunk(9, 1, ("# a",), ("# b",))], b"\n" * 12)
    ((3, 4),)
    """
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    spans: list[Span] = []
    for hunk in hunks:
        if _is_no_code(hunk):
            continue
        first, last = hunk.span(lines)
        if spans and first <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], max(last, spans[-1][1]))
        else:
            spans.append((first, last))
    return tuple(spans)


def _is_no_code(hunk: Hunk) -> bool:
    """Return whether a hunk changes only blanks, comments, imports or brackets.

    >>> _is_no_code(Hunk(1, 1, ("f( x )",), ("f(x)",))), _is_no_code(Hunk(1, 0, (), ("import os", "# why")))
    (True, True)
    """
    if "".join("".join(hunk.removed).split()) == "".join("".join(hunk.added).split()):
        return True
    return all(_NOT_CODE.match(line) for line in (*hunk.removed, *hunk.added))


def question_of(subject: str) -> str:
    """Return a commit's first line as a question.

    "" if the line makes no question.

    >>> question_of("feat(router)!: match trailing slashes again (#12)")
    'match trailing slashes again'
    >>> question_of("[core] PROJ-7: src/io.c: close the socket on error, fixes #3")
    'close the socket on error'
    >>> [question_of(line) for line in ("Bump numpy from 1.2 to 1.3", "docs: explain the router", "Fix some small bugs here")]
    ['', '', '']
    """
    if _PASSED_TAG.search(subject):
        return ""
    question = _without_tags(subject)
    if _CHORE_BEGINS.search(question) or _CHORE_BEGINS.search(subject) or _CHORE_HOLDS.search(question):
        return ""
    found = _WORD.findall(question)
    telling = {word.lower() for word in found if len(word) > 2 and word.lower() not in _COMMON}
    usable = len(found) >= LEAST_WORDS and len(telling) >= LEAST_TELLING and len(question) <= MOST_CHARACTERS
    return question if usable and not question.endswith(("…", "...")) else ""


def _without_tags(subject: str) -> str:
    """Return a subject without leading tags and without references.

    >>> _without_tags(":bug: fix: GH-3 Keep the order of headers (closes #12, #13)")
    'Keep the order of headers'
    """
    before = ""
    while before != subject:
        before, subject = subject, _TAG.sub("", subject, count=1)
    return " ".join(_REFERENCE.sub(" ", subject).split()).strip(" ,;:-")


def is_robot(author: str) -> bool:
    """Return whether a commit's author is a program.

    >>> is_robot("dependabot[bot]"), is_robot("Ada Abbot")
    (True, False)
    """
    return _ROBOT.search(author) is not None

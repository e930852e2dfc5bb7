"""A commit's first line as a question, if it makes one.

Tags, ticket numbers and links are removed. Merges, reverts, releases, dependency updates, formatting, tests,
documentation and reviews are no questions about the product. Neither is a line that would fit any other repository ("fix
typo", "minor cleanup").
"""

from __future__ import annotations

import re

from vademecum.code.checkout.classify import words

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
    question = without_tags(subject)
    if _CHORE_BEGINS.search(question) or _CHORE_BEGINS.search(subject) or _CHORE_HOLDS.search(question):
        return ""
    found = _WORD.findall(question)
    telling = {word.lower() for word in found if len(word) > 2 and word.lower() not in _COMMON}
    usable = len(found) >= LEAST_WORDS and len(telling) >= LEAST_TELLING and len(question) <= MOST_CHARACTERS
    return question if usable and not question.endswith(("…", "...")) else ""


def without_tags(subject: str) -> str:
    """Return a subject without leading tags and without references.

    >>> without_tags(":bug: fix: GH-3 Keep the order of headers (closes #12, #13)")
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

"""What a commit message says, as a question: without tags, issue numbers and trailers, or the reason to pass it over."""

from __future__ import annotations

import re

LEAST_WORDS = 4
LEAST_TELLING_WORDS = 2  # words that are not as good in any other repository
LEAST_BODY_CHARACTERS = 200
MOST_BODY_CHARACTERS = 1600  # the length of a long issue; what comes later repeats itself
LEAST_WRAPPED_CHARACTERS = 55  # of a first line that goes on in the second
MOST_SUBJECT_CHARACTERS = 160
LEAST_ASCII = 0.9  # of the characters: the questions are English
ALIKE = 0.6  # shared words of all words, from which on two questions are one

_KINDS_PASSED = "docs?|documentation|style|tests?|testing|ci|build|release|deps|lint|typo|wip|format|bench|i18n|l10n|meta|internal|infra|website|site|examples?|revert|merge|changelog|translations?|fixup|squash"
_KINDS_KEPT = "chore|feat|features?|fix(?:es)?|bug|bugfix|hotfix|perf|performance|refactor|refact|ref|improve(?:ment)?|enhancement|change|security|types?|add|new|break(?:ing)?|core"
_SCOPE = r"(?:\s*\([^)]*\))?!?\s*:\s*"
_PASSED_TAG = re.compile(
    rf"^\W*(?:\[(?:{_KINDS_PASSED}|automated|bot|backport\w*)[^\]]*\]|(?:{_KINDS_PASSED}){_SCOPE}|\w+\s*\((?:{_KINDS_PASSED}|main|master)\)!?:)",
    re.IGNORECASE,
)
_EXTENSION = (
    r"\.(?:py|js|ts|tsx|jsx|go|rs|rb|php|java|kt|scala|swift|cs|cc?|cpp|hpp?|lua|sh|ex|exs|hs|zig|mjs|vue|svelte)"
)
_TAGS = re.compile(
    rf"""^\s*(?:
        \[[^\]]{{1,40}}\]\s*[:\-]?                       # [core]
      | \((?:{_KINDS_KEPT})\)\s*[:\-]?                   # (fix)
      | :[a-z0-9_+]+:                                   # :bug:
      | (?:{_KINDS_KEPT}){_SCOPE}                        # feat(router)!:
      | (?!(?-i:[A-Z]+/[A-Z\d.]+)\s*:)[\w.*{{}},-]*(?:/[\w.*{{}},/-]*|{_EXTENSION})\s*:(?=\s)  # src/router: or router.c:
      | [A-Z][A-Z0-9]+-\d+\b\s*[:\-]?                    # PROJ-12
      | (?:issue|bug|ticket|pr)\s+\d+\s*[:\-]            # Issue 12:
      | \w+\s+v?\d+\.\d+[.\d]*\s*:\s+                    # Name 1.2.3:
      | (?:(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|issue|bug|pr)\s+)?(?:gh-|\#)\d+\s*[:\-,]?   # Fix #12:
      | [^\w\s"'`(<$@./\\\-\[{{*&|!~=+%^,;:?>)]+           # signs and emoji
    )\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_REFERENCE = re.compile(
    r"""[\(\[]?\s*(?:\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|see|issues?|prs?|pull\ request|re|for|of|part\ of
        |related\ to|from|in|per|and|via|by|after|since|\#?follow[- ]?up\ (?:to|on|for))\b[\s:,]*)*
        (?:[\w.-]+/[\w.-]+)?(?:\#|\bgh-|(?<![\w&])!)\d+(?:\s*(?:,|and|&)\s*\#\d+)*\s*[\)\]]?""",
    re.IGNORECASE | re.VERBOSE,
)
_URL = re.compile(r"<?https?://\S+")
_CREDIT = re.compile(
    r"[,.]\s*(?:from|(?:(?:\w+\s+)?(?:reported|found|spotted|noticed|raised|suggested)\s+(?:by|in)|pointed\s+out\s+by|thanks\s+to)|github\s+issues?)\b[^,]*$",
    re.IGNORECASE,
)
_HASH = re.compile(
    r"(?:\b(?:in|since|by|of|from|see|commit|with)\s+)*\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b", re.IGNORECASE
)
_SKIP_CI = re.compile(r"\[(?:skip ci|ci skip|skip actions|no ci)\]", re.IGNORECASE)
_STARTS_PASSED = re.compile(
    r"""^\W*(?:merge\ commit | merge\b(?!\ (?:sort|of)\b).*\b(?:branch|pull|master|main|into|upstream|remote|tag)\b | revert | re-?(?:apply|land)
      | bump | roll\b | (?:fixup|squash|amend)! | wip\b | typo | minor\b | misc | nit\b | polish | tid(?:y|ied)
      | (?:prepare|preparing|prep|cut|start)\b.*\b(?:release|next|development|v?\d+\.\d+) | releas(?:e|ing)\s+(?:v?\d|version|notes)
      | (?:update|bump|set|change|increment|increase)\s+(?:\w+\s+)?version | version\b | v?\d+\.\d+
      | (?:bump|upgrade|updat|pin|downgrad)\w*\b.*\b(?:to|from)\s+(?:the\s+)?(?:latest|newest|v?\d)
      | (?:update|upgrade|bump|pin)\s.*\b(?:dependenc|deps?\b|package|lock|submodule|requirements|toolchain|msrv|copyright|baseline)
      | (?:some|more|small|minor|general|final|various|further|code|initial|quick|little|several|few|a\s+few)\s+(?:\w+\s+)?(?:fix|clean|improve|tweak|refactor|change|update|simplif|correct|optimi[sz])
      | (?:clean|simplif(?:y|ied|ies)\s+code|refactor(?:ing|ed)?\s+code|reorgani[sz]|restructur|reorder|sort\b|alphabeti)
      | also\b | and\b | but\b | same\b | again | oops | hopefully | try\b | attempt | follow[- ]?up | really\b | actually
      | part\s+\d | step\s+\d | first\b | initial\b | temporar | another\b | one\s+more | still\b | finish | continue | start\b
      | address | apply\s.*\b(?:suggest|review|feedback|patch|fix) | review\b | document(?:s|ed|ing)?\b | clarif | explain
      | (?:add|fix|updat|improv|correct|remov|tweak|expand|adjust|clean|delet|mov)\w*\b.*\bcomments?$
      | (?:silence|suppress|fix|address|resolve|remove|avoid)\w*\b.*\bwarnings?\b(?:\s+(?:in|from|with|on|about)\b.*)?$
      | zig\s+update | (?:updat|upgrad|adapt|migrat|port|prepar)\w*\s+(?:to|for)\b | (?:fix|add|ignore|disable)\w*\s+(?:\w+\s+)?(?:warnings?|suppress|false\s+positive)
      | (?:use|prefer|using|switch|replace|modernize|convert|change)\w*\b.*\b(?:instead\s+of|rather\s+than|in\s+favou?r\s+of|to\s+replace)\s+\S+$
      | by\b | replace\w*\s+(?:\w+\s+)?\S+\(\)\s+(?:with|by)\b | replace\w*\s+\S+\s+(?:with|by)\s+\S+$ | (?:add|remove)\s+(?:\w+\s+)?(?:parenthes|bracket|brace|semicolon|newline|empty\s+line|final|override|const\b|inline\b)
      | (?:remove|delete)\w*\s+(?:an?\s+|the\s+)?empty | move\w*\s+(?:\w+\s+)?lambda | convert\w*\s+to\b
      | (?:update|create|delete|rename)\s+\S+\.\w+$
      | (?:auto[- ]?)?generat(?:e|ed)\b | regenerat | sync\b | port\b.*\bfrom\b | translat | convert\b.*\bto\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_HOLDS_PASSED = re.compile(
    r"""\b(?:typos?|white\s?spaces?\s+(?:fix|clean|only)\w*|trailing\s+(?:white)?spaces?|spelling|misspell\w*|grammar\s+fix\w*|wording
      | lint(?:er|ing|s)?|prettier|eslint|clippy|rustfmt|gofmt|gofumpt|golangci|clang-(?:format|tidy)|isort|flake8|mypy|pyright|pylint
      | phpstan|psalm|rubocop|standardrb|checkstyle|spotless|ktlint|detekt|scalafmt|scalafix|swiftlint|swiftformat|stylua|luacheck|shellcheck
      | credo|dialyzer|hlint|sonar\w*|codeql|spotbugs|error\s?prone|coverity|codecov|coverage|fuzz\w*
      | change-?logs?|readme|licen[cs]es?|copyright|docs?|documentation|docstrings?|java-?docs?|rustdocs?|kdocs?|godocs?|scaladocs?|phpdocs?|doc-?blocks?|haddocks?
      | jsdocs?|doxygen|xml\s?docs?|tutorial|code\s?style|coding\s+(?:style|standard)s?|style\s+fix\w*|reformat\w*|indentation\s+fix\w*
      | ci|cd|travis|appveyor|circleci|gitlab|github\s+actions?|dependabot|renovate|cherry[- ]?pick\w*|backport\w*|forward[- ]?port\w*
      | code\s+review|review\s+(?:comments?|feedback|suggestions?)|(?:pr|review)\s+feedback|nits?|cosmetic|unused|redundant|superfluous|obsolete|advice|thanks|discussion|examples?|dead\s+code|todos?
      | (?:unit|integration|e2e|flaky|failing|broken)?\s*tests?|specs|test\w*|benchmarks?|this\s+(?:pr|commit|change|patch|branch)
      | (?:previous|last|earlier)\s+(?:commit|change|pr|fix)|tslint|build\s+(?:error|failure|fix|break)\w*|fix\w*\s+(?:the\s+)?(?:build|compil)\w*
      | copy-?paste|code\s+smells?|refactoring|boilerplate|magic\s+number|const\s?correctness)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_COMMON = frozenset(
    """a about add added adding adds after again all allow allows also always an and any are as at avoid be because been before being better
    both bug bugs but by call calls can case cases change changed changes check class cleanup code correct correctly could default do does don
    done drop edge enable ensure error errors existing extra few file files fix fixed fixes fixing for from function functions get gets got had
    handle handled handles handling has have helper hide if implement implementation implemented improve improved improvement improvements
    improves in instead into introduce is issue issues it its just keep less let like line lines little logic longer make makes making method
    methods minor missing more most move moved moves name names necessary need needed needs new no non not now of off old on once one only or
    other our out over part pass possible prevent problem problems proper properly public private internal refactor reduce remove removed removes
    removing rename renamed replace replaced replaces restore return returns same set should show simple simplify simplified small so some
    something stop stuff such support supported supports sure than that the their them then there these they thing things this those to too
    unnecessary update updated updates up use used uses using value values variable variables was way we were what when where which while will
    with without work working works would wrong you your""".split()  # noqa: SIM905 - a list of words reads as one
)
_WORD = re.compile(r"[^\W_]+(?:['_.-][^\W_]+)*")
_TRAILER = re.compile(
    r"""^\s*(?:[\w-]+-by|change-id|[\w-]*revid|cc|pr-url|link|reviewed-on|reviewed\sby|refs?|references|see(?:\salso)?|close[sd]?|fix(?:e[sd])?|resolve[sd]?
        |related(?:\sto)?|bug|issues?|ticket|test(?:ed)?|tests|differential\srevision|reviewers?|subscribers|tags|git-svn-id|release[\s-]notes?|type|changelog
        |backport\w*|original\spr|pull\s?request|gh|author|date|commit|part\sof|depends-on|stack|signed\soff\sby)(?:\s*:.*|\s+[\w./-]*\#?\d+\.?)?\s*$
      | ^\s*\(?(?:cherry[\s-]picked\sfrom|this\sreverts).*$ | ^\s*(?:[-*]\s*)?\[[\sx]\].*$ | ^\s*\#{1,6}\s.*$ | ^\s*[-=_*]{3,}\s*$ | ^\s*<!--.*-->\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
_LISTED = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def alike(one: str, other: str) -> bool:
    """Say whether two questions share so many words that they are one.

    >>> alike("Fix crash in the parser", "fix crash in parser")
    True
    """
    first, second = words_of(one), words_of(other)
    return len(first & second) >= ALIKE * len(first | second)


def without_references(text: str) -> str:
    """Remove issue numbers, links, marks for CI and who found it.

    >>> without_references("Keep order of headers (fixes #12, #13)")
    'Keep order of headers'
    >>> without_references("Free the format on -a, reported by A Person in GitHub issue 7.")
    'Free the format on -a'
    """
    for pattern in (_SKIP_CI, _URL, _REFERENCE, _CREDIT):
        text = pattern.sub(" ", text)
    text = re.sub(r"(?<=\s)\(\s*\)|\[\s*\]", " ", text)
    return re.sub(r"[ \t]+", " ", text).strip(" \t,;:-")


def first_sentence(message: str) -> tuple[str, str]:
    r"""Split a message into its first line and the rest; a line that was cut or wrapped is made whole.

    >>> first_sentence("Redraw the indicator because its format can be changed and so it may be\nwider. More.\n\nBody")
    ('Redraw the indicator because its format can be changed and so it may be wider.', 'More.\n\nBody')
    >>> first_sentence("Keep the order of head…\n\n…ers (#7)\n\nBody")
    ('Keep the order of headers (#7)', 'Body')
    """
    subject, _, body = message.strip().partition("\n")
    subject, body = subject.strip(), body.strip()
    if subject.endswith(("…", "...")) and body.startswith(("…", "...")):
        rest, _, body = body.lstrip("….").partition("\n")
        return subject.rstrip("….") + rest, body.strip()
    if len(subject) >= LEAST_WRAPPED_CHARACTERS and message.strip().partition("\n")[2][:1].islower():
        paragraph, _, body = body.partition("\n\n")
        sentence, stop, rest = f"{subject} {paragraph}".replace("\n", " ").partition(". ")
        return sentence + stop.strip(), f"{rest}\n\n{body}".strip()
    return subject, body


def clean_subject(subject: str) -> str:
    """Remove leading tags and all references from a first line.

    >>> clean_subject("feat(router)!: match trailing slashes again (#12)")
    'match trailing slashes again'
    >>> clean_subject("[core] PROJ-7: src/io.c: close the socket on error")
    'close the socket on error'
    >>> clean_subject("HTTP/3: limit the table of the encoder")
    'HTTP/3: limit the table of the encoder'
    """
    before = ""
    while before != subject:
        before, subject = subject, _TAGS.sub("", subject, count=1)
    return without_references(subject)


def objection_to_subject(raw: str, cleaned: str) -> str | None:
    """Say why nobody could be asked this, or None."""
    if _PASSED_TAG.search(raw):
        return "subject: kind"
    if _STARTS_PASSED.search(cleaned) or _STARTS_PASSED.search(raw) or _HOLDS_PASSED.search(cleaned):
        return "subject: chore"
    words = _WORD.findall(cleaned)
    if len(words) < LEAST_WORDS or len(cleaned) > MOST_SUBJECT_CHARACTERS or cleaned.endswith(("…", "...")):
        return "subject: length"
    if sum(character.isascii() for character in cleaned) < LEAST_ASCII * len(cleaned):
        return "subject: language"
    telling = {word.lower() for word in words if len(word) > 2 and word.lower() not in _COMMON}
    if len(telling) < LEAST_TELLING_WORDS or _HASH.search(cleaned):
        return "subject: says little"
    return None


def _mend_line(line: str) -> str:
    """Remove issue numbers from a line of prose; a link stays where the line says something beside it."""
    if "://" in line:
        return line if len(_WORD.findall(_URL.sub("", line))) > 3 else ""
    return re.sub(r"  +(?=\S)", " ", _REFERENCE.sub(" ", line)).strip(" ,;:") if _REFERENCE.search(line) else line


def clean_body(body: str) -> str:
    """Keep the prose of a message: no trailers, headings, check lists, references; cut after a paragraph when long."""
    body = re.sub(r"<!--.*?-->", "", body.replace("\r", ""), flags=re.DOTALL)
    kept = [line.rstrip() for line in body.split("\n") if not _TRAILER.match(line) and not _is_squashed(line)]
    text = "\n".join(_mend_line(line) for line in kept)
    text = re.sub(r"\n{3,}", "\n\n", _HASH.sub("", text)).strip().lstrip(".,;: ")
    while len(text) > MOST_BODY_CHARACTERS and "\n\n" in text:
        text = text.rpartition("\n\n")[0]
    if text.count("```") % 2:
        text = text.rpartition("```")[0]
    return text[:MOST_BODY_CHARACTERS].rstrip()


def has_prose(body: str) -> bool:
    """Say whether enough of a cleaned body is sentences rather than lists, code and tables."""
    prose = [
        line
        for line in body.split("\n")
        if not _LISTED.match(line) and not line.startswith(("    ", "\t", ">", "|", "```"))
    ]
    text = "\n".join(prose)
    ascii_enough = sum(character.isascii() for character in body) >= LEAST_ASCII * len(body)
    return (
        len(text) >= LEAST_BODY_CHARACTERS and len(_WORD.findall(text)) >= LEAST_BODY_CHARACTERS // 8 and ascii_enough
    )


def _is_squashed(line: str) -> bool:
    """Say whether a line of a list is the subject of a squashed commit that says nothing."""
    item = _LISTED.match(line)
    return item is not None and objection_to_subject(line[item.end() :], clean_subject(line[item.end() :])) is not None

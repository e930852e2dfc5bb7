"""Names of tests, the names they use, and the file they are about."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose import name_words

_MARKS = re.compile(
    r"(?:^|[._-])(?:tests?|spec|unittest|it)(?=$|[._-])|(?<=[a-z0-9])(?:Tests?|Spec|Suite|TestCase)$|^Test(?=[A-Z])"
)
_QUOTED = re.compile(
    r"""(?:\b(?:it|test|should|scenario|specify|TEST_CASE|SECTION|context)\b(?:\.\w+)*\s*\(?\s*|^\s*test\s+)(["'`])((?:(?!\1).){8,140})\1"""
    r"""|"([^"\n]{8,140})"\s+(?:in|should|must)\b""",
    re.MULTILINE,
)
_NAMED = re.compile(
    r"\b(?:def|fn|func|fun|function|void|Task|proc)\s+`?(?:\w+\.)?((?:test|Test|should|Should|when|it)[\w ]{6,120}|\w+_(?:should|when|returns?|throws?)_?\w+|[A-Z]\w*_\w+)`?\s*\("
    r"|TEST(?:_F|_P)?\(\s*\w+\s*,\s*(\w+)\)|(?:@Test|\[Fact\]|\[Theory\]|\[Test\])[^\n]*\n(?:\s*[@\[][^\n]*\n)*[^\n(]*?\b`?([\w ]{8,120}?)`?\s*\("
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{2,}[!?]?")
_FILLER = frozenset({"test", "tests", "should", "it", "spec"})


def stem_under_test(path: str) -> str:
    """Return the stem of the file that a test file is named for, lower-cased and without separators.

    >>> stem_under_test("a/test_http_server.py"), stem_under_test("b/HttpServerTest.java"), stem_under_test("c/http-server.spec.ts")
    ('httpserver', 'httpserver', 'httpserver')
    """
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return re.sub(r"[^a-z0-9]", "", _MARKS.sub("", stem).lower())


def cases_of(text: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the words of each test's name and the identifiers in its text, up to the next test."""
    found = [(match.start(), match[2] or match[3]) for match in _QUOTED.finditer(text)]
    for match in _NAMED.finditer(text):
        name = next(group for group in match.groups() if group)
        found.append((match.start(), " ".join(name_words(name))))
    found.sort()
    for (start, name), (end, _) in zip(found, [*found[1:], (len(text), "")], strict=False):
        words = [word for word in re.sub(r"[`'\"]", "", name).split() if word.lower() not in _FILLER]
        yield " ".join(words), set(_IDENTIFIER.findall(text[start : min(end, start + 6000)]))

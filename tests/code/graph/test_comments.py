"""What is comment, text or code is told by characters as the syntax tree tells it, or not at all."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from vademecum.code.graph.parse_cache import Examined, Lexed
from vademecum.code.graph.unresolved import is_code

WORD = re.compile(rb"[A-Za-z_]\w*")
NAME = re.compile(rb"\bname\b")

TOLD = [
    ("python", b"x = name  # name\n", [True, False]),
    ("python", b'"""Of a name."""\nname()\n', [False, True]),
    ("python", b"f('name', 'a name', \"name's\", r'name')\n", [True, False, True, True]),
    ("python", b"x = '''it's a name''' + \"#\" + name\n", [False, True]),
    ("python", b'return"a name"\n', [False]),
    ("go", b'x := name // name\ny := `a name`\nz := "name" + \'"\' + name /* name */ + name\n',
     [True, False, False, True, True, False, True]),
    ("java", b'String x = """\n  a "name"\n  """ + name; // name\nchar c = \'"\'; name();\n', [False, True, False, True]),
    ("typescript", b"const x = name / 2 // name\n/** `name */ name(`a name`, 'name')\n", [True, False, False, True, False, True]),
    ("typescript", b"const x = /[/'\"`] name/ + `${name} and a name ${f(`name`)}` + name\n", [True, True, False, True, True]),
    ("typescript", b"const x = `${{ a: '}' }.a}` + name // it's\n", [True]),
    ("javascript", b"const x = a < b, y = name\n", [True]),
]  # fmt: skip

UNTOLD = [
    ("ruby", b"name\n"),  # no lexical grammar of it is known here
    ("python", b"f(name=1)\n"),  # a parameter's name, or a local variable
    ("python", b'f"{name} of a name"\n'),  # code in a string
    ("python", b'f"{x["a"]}" + name\n'),  # a string in a string
    ("python", b"'a\\' name'\n"),  # a name may be part of what is escaped
    ("typescript", b"if (x) /'/.test(y); name('a')\n"),  # a regular expression after a bracket
    ("typescript", b"f(x) / 2; name\n"),
    ("typescript", b"<!-- name\n"),
    ("typescript", b"x = 'not closed\nname\n"),
    ("typescript", b"// x\rname\n"),  # lines that end otherwise
    ("javascript", b"<p>it's a name</p>\n"),
    ("tsx", b"<p>it's a name</p>\n"),
]


@pytest.mark.parametrize(("language", "content", "expected"), TOLD)
def test_names_in_code_in_comments_and_in_texts_are_told_apart(language, content, expected):
    lexed = Lexed(content, language)
    assert [lexed.is_code(*found.span()) for found in NAME.finditer(content)] == expected


@pytest.mark.parametrize(("language", "content"), UNTOLD)
def test_what_only_a_parser_tells_is_not_told(language, content):
    lexed = Lexed(content, language)
    assert {lexed.is_code(*found.span()) for found in NAME.finditer(content)} == {None}


def test_what_stands_before_a_doubt_is_told():
    """A file is read from its begin, so that what comes later cannot change what was."""
    content = b"name() // name\nf(x) / 2; name\n"
    lexed = Lexed(content, "typescript")
    found = [match.span() for match in NAME.finditer(content)]
    assert [lexed.is_code(*each) for each in reversed(found)] == [None, False, True]
    assert [lexed.is_code(*each) for each in found] == [True, False, None]


@pytest.mark.parametrize(
    ("language", "content"),
    [*((language, content) for language, content, _ in TOLD), ("python", Path(inspect.getfile(Lexed)).read_bytes())],
)
def test_the_syntax_tree_says_the_same_of_every_word(language, content):
    lexed, root = Lexed(content, language), Examined("a", content, language).root
    assert root is not None
    told = {word.start(): lexed.is_code(*word.span()) for word in WORD.finditer(content)}
    parsed = {at: is_code(root.descendant_for_byte_range(at, at + 1)) for at in told}
    surely = {at: is_told for at, is_told in told.items() if is_told is not None}
    assert len(surely) > len(told) / 2
    assert {at: parsed[at] for at in surely} == surely

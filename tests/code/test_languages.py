"""Which language a file is written in."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import vademecum
from vademecum.code import languages

PACKAGE = Path(vademecum.__file__).parent
# Modules in which the name of a language is no question about a file's language.
NAMES_IN_OTHER_SENSES = {
    "cli/admin.py": "shells that complete commands",
    "code/checkout/commits.py": "git's subcommands",
    "code/checkout/source.py": "kernels of notebooks",
    "code/graph/proofs.py": "d for days",
    "code/indexing/offline.py": "the language of a file that was not read",
    "code/search/rank.py": "names of features",
    "code/search/signals.py": "words of a question that ask for configuration",
    "testing.py": "made-up points for a store to filter",
    "index/tokenize.py": "vowels and consonants",
    "install/formats.py": "marks around a block of text, by the kind of file it is put into",
    "memory/extract/__init__.py": "words of a conversation",
    "memory/extract/subject.py": "words of a conversation",
    "memory/labels.py": "words of a conversation",
    "memory/words.py": "letters",
    "storage/postgres/statements.py": "the letter before a code of a type",
}


@pytest.mark.parametrize(
    ("path", "head", "expected"),
    [
        ("a/b.py", b"", "python"),
        ("a.d.ts", b"", "typescript"),
        ("A.TSX", b"", "tsx"),
        ("src\\win.rs", b"", "rust"),
        ("Makefile", b"", "makefile"),
        ("docker/Dockerfile.dev", b"", "dockerfile"),
        ("lib/makefile.rb", b"", "ruby"),
        ("Makefile.win", b"", "makefile"),
        ("CMakeLists.txt", b"", "cmake"),
        ("Gemfile", b"", "ruby"),
        ("Rakefile", b"", "ruby"),
        ("test/x.bats", b"", "bash"),
        (".zshrc", b"", "bash"),
        ("go.mod", b"", "go-mod"),
        ("bin/tool", b"#!/usr/bin/env python3\n", "python"),
        ("bin/tool", b"#! /bin/sh -e\n", "bash"),
        ("bin/tool", b"#!/usr/bin/env -S deno run\n", "typescript"),
        ("bin/tool", b"#!/usr/bin/python3.11\n", "python"),
        ("bin/tool", b"", "text"),
        ("notes.unknown", b"", "text"),
        ("x.h", b"#ifndef X\nstruct s { int a; };\n", "c"),
        ("x.h", b"#pragma once\nnamespace a {\n}\n", "cpp"),
        ("x.h", b"template <class T> T f(std::vector<T>);\n", "cpp"),
    ],
)
def test_a_file_is_recognised(path, head, expected):
    assert languages.language_of(path, head) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ts", "typescript"), ("C#", "csharp"), ("golang", "go"), ("sh", "bash"), (".kt", "kotlin"), ("md", "markdown")],
)
def test_what_people_type_is_understood(name, expected):
    assert languages.canonical(name) == expected


def test_an_unknown_name_is_not_guessed():
    assert languages.canonical("klingon") is None


def test_no_extension_name_or_alias_belongs_to_two_languages():
    for column in ("extensions", "names", "aliases", "interpreters"):
        values = [value for row in languages.every_language() for value in getattr(row, column)]
        assert sorted(values) == sorted(set(values)), column


def test_importing_the_table_loads_no_grammar():
    code = "import sys, vademecum.code.languages; print([m for m in sys.modules if m.startswith('tree_sitter')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("row", [row for row in languages.every_language() if row.module], ids=lambda row: row.id)
def test_every_grammar_loads_once(row):
    grammar = languages.grammar(row.id)
    assert grammar is not None
    assert languages.grammar(row.id) is grammar


def test_a_language_is_imported_when_asked_about():
    """Asking about Go imports no module of another language; recognising nothing imports none at all."""
    code = (
        "import sys; from vademecum.code import languages;"
        "loaded = lambda: sorted(i for i in languages.with_grammar() if f'vademecum.code.languages.{i}' in sys.modules);"
        "print(loaded()); languages.rules_of('go').imported('\"fmt\"'); print(loaded())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "['go']"]


def test_every_query_belongs_to_a_language():
    """Each `.scm` is read by a language: its name is that of a module beside it, or one of a language's queries."""
    folder = PACKAGE / "code" / "languages"
    read = {query for language in languages.every_language() for query in (*language.queries, language.id)}
    assert {path.name.partition(".")[0] for path in folder.glob("*.scm")} == read - {
        language.id for language in languages.every_language() if language.module is None
    }


def test_only_the_languages_know_their_names():
    """No module outside code/languages compares a language's name, or keeps a table by such names."""
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if path.parent != PACKAGE / "code" / "languages" and any(_compared(path))
    }
    assert found == set(NAMES_IN_OTHER_SENSES)


def _compared(path: Path) -> Iterator[str]:
    """Yield the languages' names that a module compares or collects: in code/ of any language, else of those with a grammar."""
    is_code = path.is_relative_to(PACKAGE / "code")
    names = {language.id for language in languages.every_language() if is_code or language.module}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        operands: list[ast.expr | None] = []
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            operands = [*node.keys]
        elif isinstance(node, ast.Set | ast.Tuple | ast.List):
            operands = [*node.elts]
        elif isinstance(node, ast.MatchValue):
            operands = [node.value]
        yield from (str(each.value) for each in operands if isinstance(each, ast.Constant) and each.value in names)

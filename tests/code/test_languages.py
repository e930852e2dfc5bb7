"""Which language a file is written in."""

from __future__ import annotations

import subprocess
import sys

import pytest

from vademecum.code import languages


@pytest.mark.parametrize(
    ("path", "head", "expected"),
    [
        ("a/b.py", b"", "python"),
        ("a.d.ts", b"", "typescript"),
        ("A.TSX", b"", "tsx"),
        ("src\\win.rs", b"", "rust"),
        ("Makefile", b"", "makefile"),
        ("docker/Dockerfile.dev", b"", "dockerfile"),
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
        values = [value for row in languages.LANGUAGES for value in getattr(row, column)]
        assert sorted(values) == sorted(set(values)), column


def test_importing_the_table_loads_no_grammar():
    code = "import sys, vademecum.code.languages; print([m for m in sys.modules if m.startswith('tree_sitter')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("row", [row for row in languages.LANGUAGES if row.module], ids=lambda row: row.id)
def test_every_grammar_loads_once(row):
    grammar = languages.grammar(row.id)
    assert grammar is not None
    assert languages.grammar(row.id) is grammar

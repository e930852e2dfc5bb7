"""What holds for the chunks of any file: order, exactness, coverage, size, and that cutting it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.code.chunking.chunk import chunk_file

SAMPLES = {
    path.stem: path.read_text("utf-8").split("=====\n")[0].replace("%%", "x" * 720)
    for path in (Path(__file__).parents[1] / "cases").glob("*.txt")
}
LANGUAGES = [*sorted(SAMPLES), "json", "yaml", "css", "html", "makefile", "text", "cobol"]


def check(content, language):
    """Assert every invariant of a file's chunks."""
    parsed = chunk_file(content, language)
    end, rest = 0, bytearray(content)
    for chunk in parsed.chunks:
        assert end <= chunk.start_byte < chunk.end_byte
        assert chunk.text == content[chunk.start_byte : chunk.end_byte].decode()
        assert chunk.start_line == 1 + content.count(b"\n", 0, chunk.start_byte)
        assert chunk.end_line == 1 + content.count(b"\n", 0, chunk.end_byte - 1)
        assert len(chunk.text) <= 4000
        end = chunk.end_byte
        rest[chunk.start_byte : end] = b" " * (end - chunk.start_byte)
    assert not rest.strip(), "some line is in no chunk"
    return parsed


@given(st.sampled_from(LANGUAGES), st.text(max_size=300))
def test_any_text_is_covered(language, text):
    check(text.encode("utf-8", "replace"), language)


@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_a_mutilated_file_is_covered(language, data):
    text = SAMPLES[language]
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 60)))
    put = data.draw(st.text(alphabet="(){}[]\"'`;:\n\r\t #/*é\f", max_size=6))
    text = text[:start] + put + text[stop:]
    check(text.encode(), language)


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_carriage_returns_and_byte_order_marks_change_no_line(language):
    plain = check(SAMPLES[language].encode(), language)
    crlf = check(SAMPLES[language].replace("\n", "\r\n").encode(), language)
    lines = [(c.start_line, c.end_line) for c in plain.chunks]
    if language not in {"bash", "haskell"}:  # their grammars do not take a carriage return for a blank
        assert [(c.start_line, c.end_line) for c in crlf.chunks] == lines
    check(b"\xef\xbb\xbf" + SAMPLES[language].encode(), language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("content", [b"", b"\n\n", b" \t\r\n\x0c\n"])
def test_a_blank_file_has_no_chunks(language, content):
    assert chunk_file(content, language).chunks == ()


@pytest.mark.parametrize(
    "language", ["python", "javascript", "go", "rust", "c", "json", "css", "markdown", "sql", "text"]
)
@pytest.mark.parametrize(
    "content",
    [
        b"(" * 5000,
        b"[\n" * 5000,
        b'"""never closed\n' + b"x\n" * 3000,
        b"/* never closed\n" + b"x\n" * 3000,
        b"# only comments ----------------------------\n" * 400,
        b"// only comments -- // -- # -- //\n" * 400,
        bytes(range(1, 128)) * 40,
        b"def f():\x0c\n  pass\x0c\ndef g(): pass",
        "é漢😀".encode() * 4000,
        b"{" * 2000 + b"}" * 2000,
    ],
)
def test_nasty_text_is_covered(language, content):
    check(content, language)


@pytest.mark.parametrize("language", ["text", "json", "markdown", "sql", "css"])
def test_one_line_of_five_megabytes_is_one_piece_after_another(language, bounded):
    content = b'{"a": [1, 2, "x;y"], ' * 250_000
    parsed = chunk_file(content, language)
    assert {(c.start_line, c.end_line) for c in parsed.chunks} == {(1, 1)}


def test_a_minified_script_is_covered(bounded):
    content = b"function f(a){return g(a)};" * 20_000
    check(content, "javascript")


@pytest.mark.parametrize(("language", "content"), [("cpp", b"a<b<" * 8000), ("javascript", b"f(function(){" * 3000)])
def test_absurd_nesting_is_covered(language, content, bounded):
    check(content, language)


def test_nothing_in_time_means_windows_and_a_note():
    parsed = chunk_file(b"x = " + b"[" * 3_000_000, "python", deadline_s=0.01)
    assert parsed.has_errors
    assert parsed.chunks[0].kind == "window"


def test_a_large_function_is_split_between_statements():
    body = "".join(f"    if a == {n}:\n        call_{n}(a)\n" for n in range(200))
    parsed = check(f'def f(a):\n    """Doc."""\n{body}'.encode(), "python")
    assert len(parsed.chunks) > 2
    for number, chunk in enumerate(parsed.chunks, 1):
        assert (chunk.name, chunk.kind, chunk.signature) == ("f", "function", "def f(a)")
        assert (chunk.metadata["part"], chunk.metadata["parts"]) == (number, len(parsed.chunks))
        assert chunk.doc == ("Doc." if number == 1 else "")
        assert chunk.text.lstrip().startswith("def" if number == 1 else "if")
        assert len(chunk.text) <= 3200
    assert [len(chunk.symbols) for chunk in parsed.chunks] == [1] + [0] * (len(parsed.chunks) - 1)


def test_a_small_class_stays_whole_with_its_methods_as_symbols():
    parsed = chunk_file(b"class A:\n    def m(self): ...\n    def n(self): ...\n", "python")
    assert [symbol.qualified for symbol in parsed.chunks[0].symbols] == ["A", "A.m", "A.n"]
    assert len(parsed.chunks) == 1


def test_a_comment_belongs_to_the_declaration_directly_below_only():
    parsed = chunk_file(b"# far\n\n# near\n# by\ndef f(): ...\nx = 1  # beside\ndef g(): ...\n", "python")
    assert [(c.name, c.doc, c.start_line) for c in parsed.chunks] == [
        ("", "", 1),
        ("f", "near\nby", 3),
        ("x", "", 6),
        ("g", "", 7),
    ]


def test_many_small_constants_share_a_few_blocks():
    parsed = check("".join(f"NAME_{n} = {n}\n" for n in range(200)).encode(), "python")
    assert len(parsed.chunks) < 10
    assert sum(len(chunk.symbols) for chunk in parsed.chunks) == 200
    assert all(len(chunk.text) <= 750 for chunk in parsed.chunks)


def test_out_of_line_and_prototype_definitions_name_their_scope():
    cpp = chunk_file(b"template <class T>\nint a::B<T>::m() { return 1; }\n", "cpp").chunks[0]
    assert (cpp.kind, cpp.scope, cpp.name) == ("method", "a.B", "m")
    script = chunk_file(b"A.prototype.m = function () { return 1; };\n", "javascript").chunks[0]
    assert (script.scope, script.name) == ("A", "m")


def test_a_fenced_heading_is_text_and_a_long_section_comes_in_parts():
    parsed = check(b"# A\n" + b"word " * 10 + b"\n```\n# no\n```\n" + b"line of text\n" * 400, "markdown")
    assert {chunk.name for chunk in parsed.chunks} == {"A"}
    assert [chunk.metadata["part"] for chunk in parsed.chunks] == list(range(1, len(parsed.chunks) + 1))


def test_sql_comment_lines_of_dashes_are_read_in_one_way() -> None:
    line = "-- " + "-" * 60
    text = f"{line}\n-- Records of role\n{line}\nINSERT INTO role VALUES (1);\n\n{line}\n/* a * b */\nCREATE TABLE role (id int);\n"
    chunks = chunk_file(text.encode(), "sql").chunks  # once took longer than anybody waits
    assert [(c.start_line, c.end_line, c.name) for c in chunks] == [(1, 4, ""), (6, 8, "role")]


def test_a_licence_is_no_part_of_the_first_sql_statement():
    """An answer that shows the statement would spend its lines on the licence."""
    head = "--\n-- This file is licensed under the AGPL.\n--\n/* Copyright 2021\n *\n */\n"
    table = "-- Tokens that make new tokens.\nCREATE TABLE refresh_tokens (id int);\n"
    chunks = check(f"{head}\n{table}".encode(), "sql").chunks
    assert [(c.start_line, c.end_line, c.name) for c in chunks] == [(1, 6, ""), (8, 9, "refresh_tokens")]
    assert check(table.encode(), "sql").chunks[0].start_line == 1  # a comment about the table stays with it


@pytest.mark.parametrize(
    ("language", "text", "signature"),
    [
        ("python", "def f(a):\n    #: What b is.\n    #: And more.\n    b = a\n    return b\n", "def f(a)"),
        ("python", "def f(\n    a,  # what it is about\n):  # noqa\n    return a\n", "def f( a, # what it is about )"),
        ("python", "class A(B):\n    # the fields\n    b = 1\n", "class A(B)"),
        ("ruby", "def f(a)\n  # what b is\n  b = a\nend\n", "def f(a)"),
    ],
)
def test_comments_of_a_body_are_no_part_of_the_signature(language, text, signature):
    """What stands between the head and the first statement belongs to the body."""
    [symbol, *_] = [s for chunk in chunk_file(text.encode(), language).chunks for s in chunk.symbols]
    assert symbol.signature == signature

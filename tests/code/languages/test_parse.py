"""Parsing is bounded in time and says why it gave up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vademecum.code import languages
from vademecum.code.chunking.chunk import chunk_file, references_of
from vademecum.code.languages.parse import parse
from vademecum.errors import ParseError
from vademecum.result import Err


def test_captures_are_byte_ranges_in_order_outer_first():
    captures = parse(b"class A:\n    def m(self): ...\n\ndef f(): ...\n", "python").unwrap().captures
    assert captures["function"] == [(13, 29), (31, 43)]
    assert captures["class"] == [(0, 29)]


def test_errors_are_noted_and_the_rest_is_kept():
    syntax = parse(b"def f(: pass\ndef g(): pass\n", "python").unwrap()
    assert syntax.has_errors
    assert (17, 18) in syntax.captures["name"]


def test_a_language_without_a_grammar_is_an_error_value():
    match parse(b"x", "cobol"):
        case Err(error):
            assert isinstance(error, ParseError)
            assert "cobol" in str(error)
        case other:
            pytest.fail(f"expected an error, got {other}")


def test_the_deadline_stops_a_slow_parse_and_the_parser_works_on(bounded):
    slow = b"x = " + b"[" * 3_000_000
    outcome = parse(slow, "python", deadline_s=0.05)
    assert isinstance(outcome, Err)
    assert not parse(b"x = 1\n", "python").unwrap().has_errors


@pytest.mark.parametrize(
    ("language", "content"),
    [
        (
            "c",
            b"/* DB_ENCODING " + b"we always defer the reply given that some fields might be expired " * 40 + b"*/\n",
        ),
        ("javascript", b"import" + b" " * 20_000 + b"{ a\n"),
        ("javascript", b"export" + b" " * 20_000 + b"{ a }\n"),
    ],
)
def test_prose_after_a_macro_and_long_blanks_are_read_at_once(bounded, language, content):
    """The patterns that read them never try one text in ever more ways."""
    assert chunk_file(content, language, references=True).chunks


def test_a_bats_test_is_read_in_place():
    content = b'@test "a (b)" {\n  run x\n}\n'
    assert parse(content, "bash").unwrap().captures["function"] == [(0, 25)]


def test_macros_that_c_has_no_place_for_do_not_hide_a_class():
    content = b"LIB_BEGIN_NAMESPACE\n\nclass LIB_API A : public B {\n  int x;\n};\n\nLIB_API void f(int a);\n"
    syntax = parse(content, "cpp").unwrap()
    assert not syntax.has_errors
    assert [content[start:end] for start, end in syntax.captures["name"]] == [b"A", b"x", b"f"]


def test_macros_among_fields_do_not_hide_what_follows():
    content = (
        b"struct handle {\n  /* public */\n  LIB_FIELDS\n  LIB_MORE_FIELDS\n  int x;\n  LIB_PRIVATE_FIELDS\n};\n\n"
        b"#define LIB_FIELDS \\\n  int a; \\\n  /* read-only */ \\\n  int b; \\\n  int c\n\n"
        b"enum level {\n  LIB_LOW,\n#define XX(a, b) LIB_##a,\n  LIB_MAP(XX)\n#undef XX\n  LIB_HIGH\n};\n\nvoid f(int a);\n"
    )
    syntax = parse(content, "c").unwrap()
    assert not syntax.has_errors
    names = [content[start:end] for start, end in syntax.captures["name"]]
    assert names == [b"handle", b"x", b"LIB_FIELDS", b"level", b"LIB_LOW", b"LIB_HIGH", b"f"]


def test_a_table_on_one_long_line_is_read():
    """Generated tables have thousands of comments on a line, and headers thousands of names of types."""
    comments = b"/* 0 */ 0, /* 1 */ 1, " * 3000
    table, macro = b"int table[] = {" + comments + b"};\n", b"#define TABLE \\\n" + comments + b"\\\n  0\n"
    types = b"void f(" + b"struct a *, " * 20_000 + b"int last);\n"
    for content in (table, macro, b"#define OPEN " + b"/* " * 20_000 + b"\\\n  0 */\n", types):
        syntax = parse(content + b"void g(int a);\n", "c", deadline_s=60.0).unwrap()
        start, end = syntax.captures["name"][-1]
        assert (content + b"void g(int a);\n")[start:end] == b"g"


def test_the_word_enum_in_a_comment_begins_no_body():
    content = (
        b'/* Every enum constant of the protocol */\n#ifdef __cplusplus\nextern "C" {\n#endif\n'
        b"#define API_TWICE(x) ((x) * 2)\nint api_open(void);\n#ifdef __cplusplus\n}\n#endif\n"
    )
    syntax = parse(content, "c").unwrap()
    assert b"API_TWICE" in [content[start:end] for start, end in syntax.captures["name"]]


def test_a_kotlin_constructor_on_the_next_line_does_not_hide_the_rest_of_the_file():
    content = (
        b"class Result<out T>\n@PublishedApi internal constructor(val held: Any?) {\n    fun one() = 1\n}\n\n"
        b'class B\r\n    @Inject(name = "x")\r\n    constructor(val a: Int) : Base() {\n    constructor(b: Long) : this(2)\n}\n\n'
        b"interface Channel<E> : Sender<E> {\n    fun three()\n}\n"
    )
    syntax = parse(content, "kotlin").unwrap()
    assert not syntax.has_errors
    names = [content[start:end] for start, end in syntax.captures["name"]]
    assert [name for name in names if name.istitle() or name == b"B"] == [b"Result", b"B", b"Channel"]


SHARED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from vademecum.code.chunking.chunk import chunk_file

sys.setswitchinterval(1e-6)  # threads take turns as often as they can
files = ["".join(f"def of_{n}_{m}(x):\\n    return other(x).go[{m}]\\n\\n" for m in range(60)).encode() for n in range(8)]
alone = [chunk_file(file, "python", references=True) for file in files]
with ThreadPoolExecutor(4) as threads:
    for _ in range(10):
        assert list(threads.map(lambda file: chunk_file(file, "python", references=True), files)) == alone
"""


def test_threads_parse_at_the_same_time():
    """A server reads several repositories at once; each thread gets its own file's syntax, and the process lives."""
    run = subprocess.run([sys.executable, "-c", SHARED], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr


CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.txt"))
REFERRING = [case for case in CASES if languages.has_references(case.stem)]


@pytest.mark.parametrize("case", REFERRING, ids=lambda case: case.stem)
def test_one_walk_finds_what_two_do(case):
    content, language = case.read_text("utf-8").split("=====\n")[0].replace("%%", "x").encode(), case.stem
    alone, both = (parse(content, language, references=asked).unwrap() for asked in (False, True))
    assert both.captures == alone.captures
    assert alone.referring is None
    assert both.referring
    assert chunk_file(content, language, references=True).references == references_of(content, language)


READ = {
    "a header that is asked for": "#if HAS_IT(<list>) && 1\n#include <list>\n#endif\n",
    "a branch within a value": "static const int size =\n#ifdef SIZE\n  (SIZE)\n#else\n  32768 // bytes\n#endif\n  - 1;\n",
    "branches that open and close a block": "void f() {\n#if A\n  try {\n#endif\n    g();\n#if A\n  } catch (int) {\n    h();\n  }\n#endif\n}\n",
    "branches with a head of their own": "#ifdef A\nint f(int a) {\n#else\nint f(long a) {\n#endif\n  return 1;\n}\n",
    "a macro with a text": 'class A {\npublic:\n  MY_DEPRECATED("use g()")\n  int f() const;\n  int g();\n};\n',
    "a macro before an operator": "MY_INLINE bool A::operator!() const { return true; }\n",
    "a macro before a pointer": "MY_INLINE FILE* open(const char* path) { return 0; }\n",
    "a macro before a constant": "MY_VAR const unsigned int most = 9;\n",
    "a macro behind a declaration": "struct A {\n  int size() MY_OVERRIDE;\n};\n",
}


@pytest.mark.parametrize("case", READ)
def test_what_the_grammar_of_cpp_does_not_know_is_no_error(case):
    assert not parse(READ[case].encode(), "cpp").unwrap().has_errors

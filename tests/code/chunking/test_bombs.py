"""Text made to blow up a grammar: what is kept of it grows with the text, and not faster."""

from __future__ import annotations

import pytest

from vademecum.code.chunking.chunk import chunk_file
from vademecum.code.languages import with_grammar

pytestmark = pytest.mark.once

DEEP, WIDE = 3_000, 30_000  # bytes
BOMBS = {
    "brackets": (b"([{", DEEP),
    "calls": (b"f(", DEEP),
    "blocks": (b"if (a) {\n", DEEP),
    "types of types": (b"a<b<", DEEP),
    "arrows": (b"(a) => (b, c) -> ", DEEP),
    "signs": (b"- ! ~ ", DEEP),
    "colons": (b"a: b ? c : d ? ", DEEP),
    "quotes": (b"'\"`'''", DEEP),
    "comments": (b"# // -- /* \n", DEEP),
    "documents": (b"<<A <<B\n", DEEP),
    "declarations": (b"class A { def f(a) { fn g() { func h() {\n", DEEP),
    "one line": (b"a1 = b(c, 'd') + e[2]; ", WIDE),
}


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("language", with_grammar())
def test_what_is_kept_of_a_bomb_is_bounded_by_its_size(language, bomb, bounded):
    """Chunks cover it once; names, signatures and references are no more than some times the text."""
    again, size = BOMBS[bomb]
    content = again * (size // len(again))
    parsed = chunk_file(content, language, references=True)
    left = bytearray(content)
    for chunk in parsed.chunks:
        left[chunk.start_byte : chunk.end_byte] = b" " * (chunk.end_byte - chunk.start_byte)
    assert not left.strip()
    assert sum(len(chunk.text) for chunk in parsed.chunks) <= len(content)
    assert len(parsed.chunks) <= 10 + len(content) / 100
    symbols = [symbol for chunk in parsed.chunks for symbol in chunk.symbols]
    assert sum(len(symbol.qualified) + len(symbol.signature) for symbol in symbols) <= 20 * len(content)
    assert len(parsed.references) <= 20 * len(content) + 1_000


MANY = 1_050  # Python goes 1,000 deep
NESTED = {
    "alternatives in Ruby": b"def f\n  x = " + b" || ".join([b"a"] * MANY) + b"\n  " + b" || ".join([b"b"] * MANY) + b"\nend\n",
    "alternatives in braces": b"function f() { const x = " + b" || ".join([b"a"] * MANY) + b"; return " + b" ?? ".join([b"b"] * MANY) + b"; }\n",
    "conditions": b"function f() { return " + b"a ? b : " * MANY + b"c; }\n",
    "sums": b"void f() { auto x = " + b" + ".join([b"a()"] * MANY) + b"; }\n",
    "calls of results": b"x = a" + b".b()" * MANY + b";\n",
    "patterns": b"const " + b"{a: " * MANY + b"a" + b"}" * MANY + b" = b;\n",
    "objects": b"x = " + b"{a: " * MANY + b"1" + b"}" * MANY + b";\n",
    "branches": b"def f\n" + b"if a\n" * MANY + b"B.new\n" + b"end\n" * MANY + b"end\n",
}  # fmt: skip


@pytest.mark.parametrize("text", NESTED)
@pytest.mark.parametrize("language", with_grammar())
def test_what_is_nested_deeper_than_python_goes_is_read(language, text):
    """It is right in some language, so that every rule looks at it; none ends with an error."""
    parsed = chunk_file(NESTED[text], language, references=True)
    assert b"".join(NESTED[text].split()).startswith("".join(parsed.chunks[0].text.split()).encode()[:20])

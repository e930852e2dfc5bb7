"""One small file per language, and what must come out of it.

`cases/<language>.txt` holds a sample, a ruled line, and its chunks as `first-last kind scope|name`. `%%` in a sample
stands for a long run of text, which makes a class too large to stay whole.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from vademecum.code.chunking.chunk import chunk_file
from vademecum.code.languages.references import References

pytestmark = pytest.mark.once

CASES = {
    path.stem: path.read_text("utf-8").split("=====\n") for path in (Path(__file__).parent / "cases").glob("*.txt")
}


def _chunks(language):
    return chunk_file(CASES[language][0].replace("%%", "x" * 720).encode(), language)


def _chunk(language, name, nth=0):
    return [chunk for chunk in _chunks(language).chunks if chunk.name == name][nth]


@pytest.mark.parametrize("language", sorted(CASES))
def test_every_language_yields_its_declarations(language):
    parsed = _chunks(language)
    found = [f"{c.start_line}-{c.end_line} {c.kind} {c.scope}|{c.name}" for c in parsed.chunks]
    assert found == CASES[language][1].splitlines()
    assert parsed.language == language


@pytest.mark.parametrize(
    ("language", "imports"),
    [
        ("python", ("os",)),
        ("javascript", ("a",)),
        ("typescript", ("./a",)),
        ("go", ("fmt",)),
        ("rust", ("a::b", "super::*")),
        ("java", ("a.b.C",)),
        ("c", ("stdio.h",)),
        ("csharp", ("System.Text",)),
        ("ruby", ("a/b",)),
        ("php", ("C\\D",)),
        ("kotlin", ("kotlin.math.max",)),
        ("scala", ("scala.collection.mutable",)),
        ("swift", ("Foundation",)),
        ("lua", ("a.b",)),
        ("bash", ("./lib.sh",)),
        ("elixir", ("X.Y",)),
        ("haskell", ("Data.Map",)),
        ("dart", ("package:a/b.dart", "a.g.dart")),
        ("zig", ("std",)),
    ],
)
def test_imports_are_kept_as_written(language, imports):
    assert _chunks(language).imports == imports


@pytest.mark.parametrize(
    ("language", "name", "signature", "doc"),
    [
        ("python", "outer", "def outer(a)", "Doc."),
        ("javascript", "add", "export const add = (a) =>", "Adds."),
        ("go", "M", "func (s *S[T]) M(a int) error", "M doc"),
        ("rust", "n", "fn n()", ""),
        ("java", "m", "public int m(int a)", "m"),
        ("c", "add", "static int *add(int a)", "doc"),
        ("cpp", "A", "template <typename T> class A : public B", "Doc."),
        ("csharp", "M", "public async Task<int> M(int a)", "m"),
        ("ruby", "A", "class A < Base", ""),
        ("php", "A", "abstract class A extends Base implements I", "Doc."),
        ("kotlin", "ext", "fun String.ext(): Int", ""),
        ("swift", "A", "public final class A<T>: Base, P", "Doc."),
        ("lua", "f", "function M.f(a)", "doc"),
        ("elixir", "f", "def f(a) when a > 0", "f doc"),
        ("haskell", "f", "f :: Int -> Int", "f doc"),
        ("dart", "add", "Future<void> add(int n)", "Adds n."),
        ("zig", "Stack", "pub fn Stack(comptime T: type) type", "A stack."),
    ],
)
def test_signature_and_doc_comment(language, name, signature, doc):
    chunk = _chunk(language, name)
    assert (chunk.signature, chunk.doc) == (signature, doc)


@pytest.mark.parametrize(
    ("language", "name", "calls"),
    [
        ("python", "m", ("self.store.get",)),
        ("javascript", "add", ("b.c",)),
        ("typescript", "m", ("this.x.y",)),
        ("rust", "m", ("self.x.y", "b::c")),
        ("php", "m", ("$this->foo->bar",)),
        ("cpp", "decl", ("std::max",)),
        ("csharp", "M", ("foo.Bar",)),
        ("dart", "add", ("save", "this.store.put")),
        ("zig", "Point", ("std.math.sqrt",)),
    ],
)
def test_calls_keep_their_plain_receiver(language, name, calls):
    assert _chunk(language, name).calls == calls


@pytest.mark.parametrize(
    ("language", "name", "key", "value"),
    [
        ("python", "outer", "decorators", ["cache"]),
        ("java", "A", "bases", ["B", "I"]),
        ("java", "m", "cyclomatic", 2),
        ("go", "M", "cyclomatic", 3),
        ("rust", "S", "decorators", ["derive(Debug)"]),
        ("csharp", "M", "decorators", ["Fact"]),
        ("typescript", "A", "bases", ["B", "C"]),
        ("ruby", "A", "bases", ["Base", "X"]),
        ("c", "add", "lines_of_code", 5),
    ],
)
def test_metadata(language, name, key, value):
    assert _chunk(language, name).metadata[key] == value


def test_a_block_names_all_it_defines():
    block = next(chunk for chunk in _chunks("go").chunks if chunk.kind == "constant")
    assert [(symbol.name, symbol.start_line) for symbol in block.symbols] == [("A", 6), ("B", 7)]


def test_nested_functions_are_symbols_of_their_parent_and_local_constants_are_not():
    parsed = chunk_file(b"def outer():\n    x = 1\n    def inner(): ...\n", "python")
    assert [symbol.qualified for symbol in parsed.chunks[0].symbols] == ["outer", "outer.inner"]


def test_an_extension_defines_its_methods_but_not_the_type():
    extension = _chunk("swift", "A", 1) if len([c for c in _chunks("swift").chunks if c.name == "A"]) > 1 else None
    assert extension is not None
    assert [symbol.qualified for symbol in extension.symbols] == ["A.g"]


def test_a_zig_type_holds_its_constants_and_types_but_not_its_own_name_or_imports():
    source = (
        b'const Pot = struct {\n    const Self = @This();\n    const lib = @import("lib");\n    pub const size = 4;\n'
        b"    const Lid = struct { x: u8 };\n};\nconst Kind = enum { a, const first = 1; };\n"
    )
    found = [symbol.qualified for chunk in chunk_file(source, "zig").chunks for symbol in chunk.symbols]
    assert found == ["Pot", "Pot.size", "Pot.Lid", "Pot.Lid.x", "Kind", "Kind.a", "Kind.first"]


def test_methods_of_dart_reach_to_the_end_of_their_bodies():
    source = (
        b"class A {\n  A.named() : x = 1;\n  int f() {\n    return 1;\n  }\n  void g();\n  operator ==(o) => true;\n}\n"
    )
    symbols = [symbol for chunk in chunk_file(source, "dart").chunks for symbol in chunk.symbols]
    assert [(each.qualified, each.start_line, each.end_line) for each in symbols] == [
        ("A", 1, 8), ("A.named", 2, 2), ("A.f", 3, 5), ("A.g", 6, 6),
    ]  # fmt: skip


def test_items_of_rust_that_a_macro_wraps_are_declarations_and_what_it_quotes_is_none():
    source = (
        b"cfg_net! {\n    /// A door.\n    pub struct Door {\n        x: u8,\n    }\n}\n\n"
        b"outer! { inner! { fn deep() {} } }\n\nfn made() {\n    quote! {\n        struct Not;\n    }\n}\n\n"
        b"table! { a => 1, b => 2 }\nbits! { struct Flags: u8 { const A = 1; } }\n"
    )
    parsed = chunk_file(source, "rust", references=True)
    symbols = [symbol for chunk in parsed.chunks for symbol in chunk.symbols]
    assert [(each.qualified, each.start_line) for each in symbols] == [
        ("Door", 3), ("Door.x", 4), ("deep", 8), ("made", 10),
    ]  # fmt: skip
    assert "".join(chunk.text for chunk in parsed.chunks).replace("\n", "") == source.decode().replace("\n", "")
    called = {call[2] for call in References.load(parsed.references).calls}
    assert {"cfg_net", "outer", "table", "bits", "quote"} <= called

"""One sentence per chunk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.code.chunking.enrich import MAX_CHARACTERS, first_sentence, summarise
from vademecum.types import Chunk, ChunkKind, Symbol


def chunk(kind: str = "function", **fields: object) -> Chunk:
    return Chunk(1, 1, 0, 0, kind, **{"text": "", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("doc", "sentence"),
    [
        ("Return it. Then more.", "Return it."),
        ("Return a value\nover two lines.\n\nDetails.", "Return a value over two lines."),
        ("No full stop", "No full stop"),
        ("Reads v1.2 files, e.g. old ones. Slow.", "Reads v1.2 files, e.g. old ones."),
        ("/**\n * Closes {@link Store it}.\n * @param x what\n */", "Closes Store it."),
        ("/** Gets <code>x</code> or <b>y</b>. */", "Gets x or y."),
        ("/// Opens the [`Store`]. Fast.", "Opens the `Store`."),
        ("//! Tools for [parsing](https://x.org/a).", "Tools for parsing."),
        ("# Closes it.\n# Really.", "Closes it."),
        ("-- | Adds two numbers.", "Adds two numbers."),
        ("--- Opens a file.\n-- @param path where", "Opens a file."),
        ("\\brief Closes it.\n\nDetails.", "Closes it."),
        ("@brief Closes it.", "Closes it."),
        ("<summary>\nGets <see cref=\"T:Store\"/>.\n</summary>\n<param name='x'>no</param>", "Gets Store."),
        ("Use :class:`~a.Store` or ``b``.", "Use a.Store or b."),
        ("Move it.\n\n:param x: what", "Move it."),
        ("Move it\n:param x: what", "Move it"),
        ("Move it\nArgs:\n    x: what", "Move it"),
        ("Moves it.\n# Panics\nnever", "Moves it."),
        ("@return the size", "Returns the size"),
        ("@returns {number} the size", "Returns the size"),
        (":returns: the size", "Returns the size"),
        ("@param x what", ""),
        ("{@inheritDoc}", ""),
        ("Copyright 2020 The Authors.", ""),
        ("SPDX-License-Identifier: MIT", ""),
        ("eslint-disable no-console", ""),
        ("go:generate stringer", ""),
        ("----------", ""),
        ("", ""),
        ("\u8fd4\u56de\u5927\u5c0f\u3002\u5f88\u6162\u3002", "\u8fd4\u56de\u5927\u5c0f\u3002"),
    ],
)
def test_the_first_sentence_of_a_comment(doc: str, sentence: str) -> None:
    assert first_sentence(doc) == sentence


@pytest.mark.parametrize(
    ("language", "name", "signature", "says"),
    [
        ("python", "close", "def close(self, path: str, *, force=(1, 2)) -> dict[str, int]:", "takes path, force; returns dict[str, int]."),
        ("go", "Close", "func (s *Store) Close(path string, opts map[string]int) (int, error) {", "takes path, opts; returns (int, error)."),
        ("rust", "open", "pub fn open<'a>(&mut self, p: &'a Path, f: impl Fn(u8) -> u8) -> Result<T, E> where T: X", "takes p, f; returns Result<T, E>."),
        ("java", "get", "public static Widget get(final String path, Map<String, Integer> m)", "takes path, m; returns Widget."),
        ("typescript", "add", "export const add = (a: number, b = 2): number =>", "takes a, b; returns number."),
        ("typescript", "run", "run(argv: string[], {strict = true}: Options = {}): Promise<Args>", "takes argv, strict; returns Promise<Args>."),
        ("cpp", "find", "int Store::find(const std::string &key, int (*cmp)(int, char)) const", "takes key, cmp; returns int."),
        ("c", "name", "static const char *name(struct item *it, size_t n[2])", "takes it, n; returns char*."),
        ("csharp", "Get", "public async Task<int> Get(string key, CancellationToken ct = default)", "takes key, ct; returns Task<int>."),
        ("php", "find", "public function find(int $id, ?string $name = null): ?Foo", "takes id, name; returns ?Foo."),
        ("swift", "move", "func move(from a: Int, to b: Int = 3) -> Bool", "takes a, b; returns Bool."),
        ("kotlin", "second", "fun <T> List<T>.second(x: Int = 1, f: (T) -> Int): T?", "takes x, f; returns T?."),
        ("ruby", "close", "def close(path, force: false, *rest)", "takes path, force, rest."),
        ("java", "close", "void close()", ""),
    ],
)  # fmt: skip
def test_signatures_are_read(language: str, name: str, signature: str, says: str) -> None:
    told = summarise(chunk("method", name=name, scope="Box", signature=signature), language)
    assert told == (f"Method `{name}` of `Box`: {says}" if says else f"Method `{name}` of `Box`.")


def test_metadata_comes_before_the_signature() -> None:
    metadata = {"parameters": [{"name": "self"}, {"name": "x"}], "returns": "None"}
    told = summarise(chunk(name="parseHTTPRequest", signature="def p(wrong)", metadata=metadata), "python")
    assert told == "Function `parseHTTPRequest` (parse http request): takes x."


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"kind": "class", "name": "Store", "metadata": {"bases": ["Base", "Sized"]}}, "Class `Store`, a kind of Base, Sized."),
        ({"kind": "class", "name": "Store", "signature": "class Store extends Base {"}, "Class `Store` extends Base."),
        ({"kind": "class", "name": "Store", "signature": "class Store : public Base"}, "Class `Store`, a kind of public Base."),
        ({"kind": "interface", "name": "Store", "signature": "interface Store"}, "Interface `Store`."),
        ({"kind": "constant", "name": "MAX_SIZE"}, "Constant `MAX_SIZE` (max size)."),
        ({"kind": "constant", "symbols": (Symbol("A", "A", "constant", 1, 1), Symbol("B", "B", "constant", 2, 2))}, "Constants `A`, `B`."),
        ({"kind": "module", "calls": ("setup", "main")}, "Top-level code: calls setup, main."),
        ({"kind": "module", "text": "\n import os\n"}, "Top-level code that begins: import os"),
        ({"kind": "section", "name": "Install", "text": "## Install\n\nRun *pip*. Wait.\n"}, "Install: Run *pip*."),
        ({"kind": "section", "name": "Install", "scope": "Guide", "text": "## Install\n"}, "Section `Guide.Install`."),
        ({"kind": "window", "text": "\n\n  some: text\n"}, "Text that begins: some: text"),
        ({"kind": "window"}, "Text, empty."),
        ({"kind": "function", "name": "f", "doc": "Do it."}, "Do it."),
    ],
)  # fmt: skip
def test_every_kind_is_told(fields: dict[str, object], says: str) -> None:
    assert summarise(chunk(**fields), "markdown") == says  # type: ignore[arg-type]


def test_long_sentences_are_cut_at_a_word() -> None:
    told = summarise(chunk(doc="word " * 100), "python")
    assert len(told) <= MAX_CHARACTERS
    assert told.endswith("word…")
    assert len(summarise(chunk(doc="x" * 1000), "python")) <= MAX_CHARACTERS


TEXT = st.one_of(st.text(max_size=60), st.text(st.sampled_from("ab(<[{:,*&=->)}]>. \n@/#`é"), max_size=60))


@given(
    st.sampled_from([*ChunkKind, "enum"]),
    TEXT,
    TEXT,
    TEXT,
    TEXT,
    st.sampled_from(["python", "go", "c", "markdown", ""]),
)
def test_any_chunk_gets_one_line(kind: str, name: str, signature: str, doc: str, text: str, language: str) -> None:
    one = chunk(kind, name=name.partition("\n")[0].strip(), signature=signature, doc=doc, text=text)
    told = summarise(one, language)
    assert told == summarise(one, language)
    assert 0 < len(told) <= MAX_CHARACTERS
    assert "\n" not in told

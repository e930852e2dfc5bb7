"""Analysis of a file: parse → chunk → metadata → enrich → terms → vectors.

Analysis is a pure function of content and language. Paths, branches and repositories play no part, so each distinct
content is analysed once and the result is never updated. Analysis runs in worker processes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from vademecum.code.checkout.classify import file_kind, is_generated
from vademecum.code.languages import rules_of
from vademecum.digests import blake2b
from vademecum.index.arrays import RunTable
from vademecum.index.query import symbol_keys
from vademecum.index.segment import FIELDS, INNER_TEST, KIND_CODES, BlobArrays, StoredChunk, quantise, stored_of
from vademecum.protocols import Embedder, Row
from vademecum.result import Err, Ok
from vademecum.types import Chunk, FileKind, ParsedFile, Passage, Symbol

_KIND_CODE = {str(kind): code for code, kind in enumerate(KIND_CODES)}
_MOST = 65_535
_MEMBERS = frozenset({"constant", "field", "property", "variable"})  # members of a type


FITTED = {"static:static-2": "ranker-1.json"}  # fitted weights, by the embedder they were fitted on
NO_SENTENCES: Mapping[str, str] = {}
Job = tuple[bytes, str]  # a file's UTF-8 content, and its language


class Task(StrEnum):
    """The results to compute for each file."""

    SEARCHED = "searched"  # everything a search needs
    LINKED = "linked"  # everything a search and a graph need
    REFERENCES = "references"  # only the references, for files already searchable


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings of an analysis.

    `embedder` is the name of the embedder to load; "" leaves the vectors to the caller.
    """

    embedder: str
    deadline_s: float
    processes: int
    task: Task = Task.SEARCHED


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of one content.

    Rows lack their leading blob id, which the store assigns.
    """

    language: str
    content: bytes
    imports: tuple[str, ...]
    problem: str  # the reason the file was cut by windows, or ""
    described: bool  # False where Python's own parser rejected the file
    has_errors: bool
    references: str
    chunks: tuple[Row, ...]
    symbols: tuple[Row, ...]
    passages: tuple[Passage, ...]  # texts still to be embedded outside the worker; () when done
    arrays: BlobArrays


def analyse(
    jobs: Sequence[Job],
    embedder: Embedder | None,
    deadline_s: float,
    terms: RunTable,
    *,
    references: bool = True,
    sentences: Mapping[str, str] = NO_SENTENCES,
) -> list[Analysis]:
    """Return the analysis of each file.

    A job is UTF-8 content and language. Files are analysed together because long arrays are faster; the results never
    depend on each other. Without an embedder the vectors are left to the caller. Without `references` the references
    are left for the graph to find. `sentences`, by chunk hash, replace the offline summaries.
    """
    from vademecum.code.chunking.chunk import chunk_file  # a search without new files does not load the chunker
    from vademecum.code.chunking.enrich import summarise

    parsed = [
        describe(chunk_file(content, language, deadline_s, references=references), content)
        for content, language in jobs
    ]
    sizes = [len(file.chunks) for file, _ in parsed]
    hashes = [digest for file, _ in parsed for digest in chunk_hashes(file.chunks, file.language)]
    chunks = [chunk for file, _ in parsed for chunk in file.chunks]
    languages = [file.language for file, _ in parsed for _ in file.chunks]
    summaries = [
        sentences.get(digest) or summarise(chunk, language)
        for chunk, language, digest in zip(chunks, languages, hashes, strict=True)
    ]
    passages = [passage_of(chunk, sentences.get(digest, "")) for chunk, digest in zip(chunks, hashes, strict=True)]
    generated = np.repeat(np.array([is_generated(content) for content, _ in jobs], np.uint8), sizes)
    generated[[_is_inner_test(*each) for each in zip(chunks, languages, strict=True)]] = INNER_TEST
    arrays = _arrays(chunks, languages, hashes, summaries, passages, embedder, generated=generated, terms=terms)
    analyses = []
    for (content, language), (file, described), (first, last) in zip(
        jobs, parsed, pairwise(accumulate(sizes, initial=0)), strict=True
    ):
        own = chunks[first:last]
        analyses.append(Analysis(
            language, content, file.imports, file.problem, described, file.has_errors,
            file.references,
            tuple(map(_chunk_row, range(last - first), own, summaries[first:last], hashes[first:last])),
            tuple(_symbol_rows(own)), () if embedder else tuple(passages[first:last]), _part(arrays, first, last),
        ))  # fmt: skip
    return analyses


def is_prose(language: str) -> bool:
    """Return whether people read files of a language."""
    return rules_of(language).is_prose


def passage_of(chunk: Chunk, sentence: str = "", *, prose: bool = False) -> Passage:
    """Return a chunk's text for an embedder, after any model's sentence."""
    return Passage(f"{sentence}\n{chunk.text}" if sentence else chunk.text, chunk.name, chunk.scope, prose)


@dataclass(frozen=True, slots=True)
class PathReader:
    """Functions that read a path's file kind and vector.

    `embedder` names the embedder of the vectors, "" for none; `embed` returns int8 (n, dim) and float32 (n,).
    """

    kind: Callable[[str], FileKind]
    embedder: str = ""
    embed: Callable[[Sequence[str]], tuple[NDArray[np.int8], NDArray[np.float32]]] = lambda paths: (
        np.zeros((len(paths), 0), np.int8),
        np.zeros(len(paths), np.float32),
    )


def path_reader(embedder: Embedder, judge: Callable[[str], FileKind] = file_kind) -> PathReader:
    """Return a reader of paths.

    Vectors are made only for an embedder on which the ranker was fitted. `judge` returns a file's kind.
    """
    if embedder.name not in FITTED:
        return PathReader(judge)

    def embed(paths: Sequence[str]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        return quantise(embedder.embed([passage_of_path(path) for path in paths], "document").unwrap())

    return PathReader(judge, embedder.name, embed)


def passage_of_path(path: str) -> Passage:
    """Return the text of a path for an embedder.

    >>> passage_of_path("src/http/client.py")
    Passage(text='', title='client', context='src/http', prose=False)
    """
    directory, _, name = path.rpartition("/")
    return Passage(text="", title=name.rpartition(".")[0] or name, context=directory)


def chunk_hashes(chunks: Iterable[Chunk], language: str) -> list[str]:
    """Return a hash of 16 hex digits for each chunk.

    The hash covers language, kind, scope, name and text, never lines: moving a function down a file keeps its hash. The
    same text twice in one scope gets two hashes.
    """
    seen: Counter[bytes] = Counter()
    found: list[str] = []
    for chunk in chunks:
        frame = f"{language}\0{chunk.kind}\0{chunk.scope}\0{chunk.name}\0{chunk.text}".encode("utf-8", "surrogatepass")
        digest = blake2b(frame, digest_size=8).digest()
        seen[digest] += 1
        twin = seen[digest]
        found.append((blake2b(frame, digest_size=8, salt=str(twin).encode()).digest() if twin > 1 else digest).hex())
    return found


def describe(parsed: ParsedFile, content: bytes) -> tuple[ParsedFile, bool]:
    """Add facts from Python's own parser to Python chunks.

    The flag is False where Python's parser rejects the file.
    """
    if not rules_of(parsed.language).is_described or not parsed.chunks or parsed.problem:
        return parsed, True
    from vademecum.code.chunking.metadata import describe_python

    match describe_python(content.decode("utf-8")):
        case Err():
            return parsed, False
        case Ok(module):
            definitions = module.declarations
    chunks = []
    for chunk in parsed.chunks:
        line = next((n for n in range(chunk.start_line, chunk.end_line + 1) if n in definitions), 0)
        known = definitions[line] if line and chunk.name else None
        if known is None or chunk.metadata.get("part", 1) != 1:
            chunks.append(chunk)
        else:
            chunks.append(replace(chunk, metadata={**chunk.metadata, **known}))
    return replace(parsed, chunks=tuple(chunks), imports=tuple(module.imports) or parsed.imports), True


def _part(arrays: BlobArrays, first: int, last: int) -> BlobArrays:
    """Return the arrays of chunks first … last - 1, numbered from 0."""
    rows, postings = slice(first, last), slice(*np.searchsorted(arrays.docs, [first, last]))
    stored = arrays.stored.part(first, last)
    return BlobArrays(
        arrays.lines[rows], arrays.kinds[rows], arrays.lengths[rows], arrays.keys[postings],
        arrays.docs[postings] - np.int32(first), arrays.tf[postings], arrays.vectors[rows], arrays.scales[rows],
        arrays.generated[rows], stored.offsets, stored.told,
    )  # fmt: skip


def _arrays(
    chunks: Sequence[Chunk],
    languages: Sequence[str],
    hashes: Sequence[str],
    summaries: Sequence[str],
    passages: Sequence[Passage],
    embedder: Embedder | None,
    *,
    generated: NDArray[np.uint8],
    terms: RunTable,
) -> BlobArrays:
    if embedder is None:
        vectors, scales = np.zeros((len(chunks), 0), np.int8), np.zeros(len(chunks), np.float32)
    else:
        vectors, scales = quantise(embedder.embed(passages, "document").unwrap())
    keys, docs, tf, lengths = _term_arrays(chunks, summaries, terms)
    names, defining = _symbol_postings(chunks, languages)
    once = np.zeros((len(names), len(FIELDS)), np.uint8)
    once[:, 0] = 1
    docs = np.concatenate((docs, defining))
    order = np.argsort(docs, kind="stable")
    stored = stored_of(map(_stored, chunks, summaries, hashes))
    return BlobArrays(
        lines=np.array([(c.start_line, c.end_line) for c in chunks], np.int32).reshape(-1, 2),
        kinds=np.array([_KIND_CODE[c.kind] for c in chunks], np.uint8),
        lengths=lengths,
        keys=np.concatenate((keys, names))[order],
        docs=docs[order],
        tf=np.concatenate((tf, once))[order],
        vectors=vectors,
        scales=scales,
        generated=generated,
        offsets=stored.offsets,
        told=stored.told,
    )


def _stored(chunk: Chunk, summary: str, digest: str) -> StoredChunk:
    return StoredChunk(chunk.start_byte, chunk.end_byte, digest, chunk.signature, summary, symbols_of(chunk))


def symbols_of(chunk: Chunk) -> tuple[str, ...]:
    """Return the qualified names that a chunk or its declaration defines."""
    if chunk.symbols:
        return tuple([symbol.qualified for symbol in chunk.symbols])
    return (chunk.qualified,) if chunk.name else ()


def _term_arrays(
    chunks: Sequence[Chunk], summaries: Sequence[str], terms: RunTable
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint16]]:
    """Return raw postings, and terms per chunk and field.

    Postings are keys, chunk numbers and occurrences per field.
    """
    texts = [chunk.text for chunk in chunks]
    texts += [f"{chunk.scope} {chunk.name}" for chunk in chunks]
    texts += [chunk.signature for chunk in chunks]
    texts += [
        summary if chunk.doc in summary else f"{chunk.doc} {summary}"
        for chunk, summary in zip(chunks, summaries, strict=True)
    ]
    counts = terms.count(texts)
    size = len(chunks)
    field, chunk = np.divmod(counts.text, max(size, 1))
    lengths = np.bincount(counts.text, weights=counts.count, minlength=len(texts)).reshape(len(FIELDS), size).T
    order = np.lexsort((counts.code, chunk))
    chunk, code, field, count = chunk[order], counts.code[order], field[order], counts.count[order]
    new = np.ones(len(chunk), bool)
    new[1:] = (chunk[1:] != chunk[:-1]) | (code[1:] != code[:-1])
    tf = np.zeros((int(new.sum()), len(FIELDS)), np.uint8)
    tf[np.cumsum(new) - 1, field] = np.minimum(count, 255)
    return counts.values[code[new]], chunk[new].astype(np.int32), tf, np.minimum(lengths, _MOST).astype(np.uint16)


def _symbol_postings(chunks: Sequence[Chunk], languages: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return symbol keys, and the chunk that defines each."""
    found = {
        (key, number): None
        for number, (chunk, language) in enumerate(zip(chunks, languages, strict=True))
        for symbol in chunk.symbols
        for key in symbol_keys(symbol.name, _how(symbol, chunk, language))
    }
    return (
        np.fromiter((key for key, _ in found), np.uint64, len(found)),
        np.fromiter((number for _, number in found), np.int32, len(found)),
    )


def _is_inner_test(chunk: Chunk, language: str) -> bool:
    """Return whether a chunk is in its file's module of tests."""
    modules = rules_of(language).inner_tests
    return bool(modules) and any(name.partition(".")[0] in modules for name in symbols_of(chunk)[:1])


def _how(symbol: Symbol, chunk: Chunk, language: str) -> str:
    """Return how a chunk defines a symbol, as `DEFINED` has it."""
    if symbol.kind in _MEMBERS and symbol.name != symbol.qualified:
        return "has"
    rules = rules_of(language)
    lines = chunk.text.split("\n")[symbol.start_line - chunk.start_line :] if rules.declares_apart else []
    text = "\n".join(lines[: symbol.end_line - symbol.start_line + 1])
    return "prototype" if lines and not rules.has_body(symbol.kind, symbol.name, text) else "declares"


_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
CHUNK_HASH = 10  # the column of the hash in a chunk's row


def _chunk_row(ordinal: int, chunk: Chunk, summary: str, digest: str) -> Row:
    return (
        ordinal, chunk.start_line, chunk.end_line, chunk.start_byte, chunk.end_byte, str(chunk.kind), chunk.name,
        chunk.scope, chunk.signature, summary, digest, "\n".join(chunk.calls),
        _encode(dict(chunk.metadata)) if chunk.metadata else "",
    )  # fmt: skip


def _symbol_rows(chunks: Sequence[Chunk]) -> Iterable[Row]:
    for ordinal, chunk in enumerate(chunks):
        for position, s in enumerate(chunk.symbols):
            yield (ordinal, position, s.name, s.qualified, str(s.kind), s.start_line, s.end_line, s.signature)
